"""A contract for import-linter: a module or folder with a leading underscore serves its own package only.

``cluewise.clues._links`` may be imported anywhere below ``cluewise.clues`` and nowhere else; ``cluewise._typing`` may
be imported anywhere below ``cluewise``. What other packages need is exported by the package or has a plain name.
"""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class PrivateModules(Contract):
    """Nobody imports a private module of another package."""

    type_name = "private"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that cross the border of a package."""
        found = []
        for module in sorted(name for name in graph.modules if name.startswith("cluewise.")):
            home = home_of(module)
            if home is not None:
                users = graph.find_modules_that_directly_import(module)
                found += [(user, module) for user in sorted(users) if not f"{user}.".startswith(f"{home}.")]
        return ContractCheck(kept=not found, metadata={"imports": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Name every such import."""
        imports: list[Any] = check.metadata["imports"]
        for user, module in imports:
            output.print_error(f"{user} imports {module}, which is private to {home_of(module)}.")


def home_of(module: str) -> str | None:
    """The top-level package below the root to which a private module belongs; None for a module that is not private."""
    parts = module.split(".")
    names = [name for name in parts if name.startswith("_") and not name.startswith("__")]
    if len(parts) == 1 or not names:
        return None
    return ".".join(parts[:1] if parts[1].startswith("_") else parts[:2])
