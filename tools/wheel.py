"""Hatch's hook: the wheel contains the page of `cluewise web`, which is built first, and complete docstrings.

Docstrings take entries that many classes share from `cluewise._docs` when they are imported. Editors read source text
and import nothing, so in the wheel these entries are written out.
"""

from __future__ import annotations

import ast
import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import page

SOURCE = Path(__file__).resolve().parents[1] / "src"
WITHOUT = "CLUEWISE_WITHOUT_PAGE"

# By its path: the library and what it needs are not installed where the wheel is built.
DOCS = runpy.run_path(str(SOURCE / "cluewise" / "_docs.py"))
FILL, ENTRIES = DOCS["fill"], DOCS["ENTRIES"]
ESCAPED = {name: entry.replace("\\", r"\\") for name, entry in ENTRIES.items()}


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds to the wheel what is not in the repository; an editable install has neither page nor other docstrings."""

    def dependencies(self) -> list[str]:
        """Node from PyPI where there is none."""
        return [] if self._is_left_out() or page.find_node() else [page.NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write docstrings out, build the page unless the user does without, and add both to the wheel."""
        self._folder = TemporaryDirectory()
        if version == "editable":
            return
        for path in sorted(SOURCE.rglob("*.py")):
            text = path.read_text("utf-8")
            filled = fill_docstrings(text)
            if filled != text:
                inside = path.relative_to(SOURCE)
                copy = Path(self._folder.name, inside)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(filled, "utf-8")
                build_data["force_include"][str(copy)] = str(inside)
        if not self._is_left_out():
            page.build()
            build_data["artifacts"].append("src/cluewise/web/static/**")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies that are now in the wheel."""
        self._folder.cleanup()

    def _is_left_out(self) -> bool:
        return bool(os.environ.get(WITHOUT))


def fill_docstrings(text: str) -> str:
    """Write out the shared entries in the docstrings of a module, given as source text."""
    lines = text.split("\n")
    found = [
        node.body[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    ]
    for docstring in sorted(found, key=lambda one: one.lineno, reverse=True):  # those above keep their lines
        part = slice(docstring.lineno - 1, docstring.end_lineno)
        given = "\n".join(lines[part])
        raw = given.lstrip().startswith("r")
        lines[part] = FILL(given, ENTRIES if raw else ESCAPED).split("\n")
    return "\n".join(lines)
