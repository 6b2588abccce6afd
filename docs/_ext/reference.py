"""Writes ``api/index.md``: every public name, package by package, from their ``__all__``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "api" / "index.md"
AFTER = (
    "rows",
    "sketch",
    "stream",
    "metrics",
    "datasets",
    "exceptions",
    "advice",
    "explain",
    "active",
    "store",
    "web",
    "models",
    "adapters",
    "plots",
    "checks",
)
BESIDE = ("clusterers", "catalogue.get", "Card", "base.MetricThen", "threads")  # from packages that are not for users
ASIDE = {"clues.Cliques", "clues.Graph", "plots.require_matplotlib"}  # for the library's own use

HEAD = """# API reference

Everything that is public. A name without a package is an attribute of cluewise itself: `import cluewise as cw`, then
`cw.Clues`, `cw.PCKMeans` and so on.
"""


def packages() -> Iterator[tuple[str, str, list[str]]]:
    """Every public package: its name, what it says of itself, and its names as people write them."""
    from cluewise._homes import FAMILIES, homes

    for package in ("clues", "front", *FAMILIES, *AFTER):
        module = import_module(f"cluewise.{package}")
        things = {name: getattr(module, name) for name in module.__all__}
        names = [name for name, thing in things.items() if inspect.isclass(thing) or inspect.isfunction(thing)]
        full = [name if homes().get(name) == f"cluewise.{package}" else f"{package}.{name}" for name in names]
        yield f"cluewise.{package}", _first_sentence(module), [name for name in full if name not in ASIDE]
    yield "All methods, cards, threads", "", list(BESIDE)


def _first_sentence(module: Any) -> str:
    return " ".join(module.__doc__.split("\n\n")[0].split()).replace("``", "`")


def page() -> str:
    """The whole page."""
    sections = [HEAD, "```{eval-rst}\n.. currentmodule:: cluewise\n```\n"]
    for title, words, names in packages():
        entries = "".join(f"   {name}\n" for name in names)
        table = f"```{{eval-rst}}\n.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{entries}```\n"
        sections += [f"## {title}\n", *([f"{words}\n"] if words else []), table]
    return "\n".join(sections)


def write(*_: Any) -> None:
    """Write the page, if there is anything new: autosummary looks for names in files, before directives are run."""
    PAGE.parent.mkdir(exist_ok=True)
    text = page()
    if not PAGE.exists() or PAGE.read_text("utf-8") != text:
        PAGE.write_text(text, "utf-8")
    listed = {f"cluewise.{name}.rst" for _, _, names in packages() for name in names}
    for file in (PAGE.parent / "generated").glob("*.rst"):  # those that an earlier build left of names that are gone
        if file.name not in listed:
            file.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Have the page written before Sphinx looks for pages."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
