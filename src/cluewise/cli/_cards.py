"""What `cluewise list` shows of each card, read from the sources: importing every method takes seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from cluewise._homes import FAMILIES, homes

__all__ = ["DEFAULT", "Entry", "load_methods", "read_cards"]

DEFAULT = "Cluewise"
"""The method that is used unless another is asked for."""

_OTHER_BASES = {"ClueEstimator", "MetricLearner"}  # of methods that have a card and do not cluster


class Entry(NamedTuple):
    """A few fields of a card."""

    title: str
    accepts: frozenset[str]
    hard: bool = False
    cost: str = "O(nkd)"


def read_cards() -> dict[str, Entry]:
    """Entries of all clusterers: the default, then the others sorted by name."""
    try:
        files = [path for family in ("front", *FAMILIES) for path in _sources(f"cluewise.{family}")]
        found = dict(entry for path in files for entry in _entries(path))
    except (OSError, ValueError, TypeError):  # a card that is not written in literals
        found = {}
    return dict(sorted(found.items(), key=lambda entry: (entry[0] != DEFAULT, entry[0]))) or _load_cards()


def load_methods() -> dict[str, type[Any]]:
    """The clusterers themselves, in the same order."""
    from cluewise.catalogue import clusterers, get

    return {DEFAULT: get(DEFAULT)} | clusterers()


def _load_cards() -> dict[str, Entry]:
    """The same from the classes; for a library without sources, or with cards that cannot be read."""
    cards = {name: method.card for name, method in load_methods().items()}
    return {name: Entry(card.title, card.accepts, card.hard, card.cost) for name, card in cards.items()}


def _sources(package: str) -> Iterator[Path]:
    spec = find_spec(package)  # does not import the package
    for folder in (spec and spec.submodule_search_locations) or ():
        yield from Path(folder).rglob("*.py")


def _entries(path: Path) -> Iterator[tuple[str, Entry]]:
    """Names and cards of the public classes in a file."""
    source = path.read_text("utf-8")
    if " = Card(" not in source:
        return
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.ClassDef)
            and node.name in homes()
            and not _OTHER_BASES & set(map(ast.unparse, node.bases))
        ):
            values = [item.value for item in node.body if isinstance(item, (ast.Assign, ast.AnnAssign))]
            calls = [value for value in values if isinstance(value, ast.Call)]
            yield from ((node.name, _entry(call)) for call in calls if ast.unparse(call.func) == "Card")


def _entry(card: ast.Call) -> Entry:
    given = {word.arg: word.value for word in card.keywords if word.arg in Entry._fields}
    return Entry(**{str(name): _value(node) for name, node in given.items()})


def _value(node: ast.expr) -> Any:
    """A literal, or a frozenset of literals."""
    if isinstance(node, ast.Call):
        return frozenset(ast.literal_eval(node.args[0]) if node.args else ())
    return ast.literal_eval(node)
