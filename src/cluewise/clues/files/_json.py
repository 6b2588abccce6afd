"""Clues written by hand as one JSON object: what it says, unfolded into the long table."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from reprlib import repr  # a short one: a value may be long or deep
from typing import Any

from cluewise import tables
from cluewise._texts import short
from cluewise.clues.files._lines import Names, spell
from cluewise.exceptions import ClueError

__all__ = ["is_table", "unfold"]

_KEYS = (
    "n", "labels", "must", "cannot", "together", "apart", "partitions", "avoid", "sizes", "size_unit"
)  # fmt: skip
_LINK = ("a", "b", "weight", "confidence", "source")


@dataclass(frozen=True, eq=False)
class _Unfolded(tables.Table):
    """A table that names its rows by their place in the object."""

    places: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        return short(self.places[row])

    def sources(self) -> list[str]:
        return [f"{self.name}:{place}" for place in self.places]


def is_table(value: Any) -> bool:
    """Whether a JSON value is a table: a list of records, or an object of columns."""
    if isinstance(value, dict):
        return "kind" in value or isinstance(value.get("label"), list)
    return isinstance(value, list)


def unfold(value: Any, names: Names, name: str) -> tuple[tables.Table, int | None]:
    """The long table that a hand-written object stands for, and the number of rows if it is given.

    Examples
    --------
    >>> from cluewise.clues.files._json import unfold
    >>> from cluewise.clues.files._lines import Names
    >>> known = {"labels": {"a17": "red"}, "must": [["a17", "b3"]]}
    >>> table, n = unfold(known, Names(["a17", "b3"]), "clues.json")
    >>> table.columns["kind"].tolist(), table.sources()
    (['must', 'label'], ['clues.json:must[0]', 'clues.json:labels.a17'])
    """
    if not isinstance(value, dict):
        raise ClueError(f"{name} holds neither a table of clues nor an object with labels, must, cannot, ...")
    for key in value:
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean '{close[0]}'" if close else f"use {', '.join(_KEYS)}"
            raise ClueError(f"{name} has an entry '{short(key)}'; {hint}.")
    n = value.get("n")
    if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 0):
        raise ClueError(f"{name} n: {repr(n)} is not a number of rows.")
    lines = [*_all_lines(value, names, name)]
    columns = {field: [line.get(field) for line in lines] for field in ("kind", *_LINK)}
    places = tuple(str(line["place"]) for line in lines)
    as_text = {field: tables.column_of(cells, f"{field} in {name}") for field, cells in columns.items()}
    return _Unfolded(as_text, name, places=places), n


def _all_lines(value: dict[str, Any], names: Names, name: str) -> Iterator[dict[str, Any]]:
    for kind in ("must", "cannot"):
        yield from _links(value.get(kind, []), kind, name)
    if value.get("labels") is not None:
        yield from _assigned(value["labels"], "label", "labels", names, name)
    for kind in ("together", "apart"):
        yield from _grouped(value.get(kind), kind, name)
    for kind, key in (("partition", "partitions"), ("avoid", "avoid")):
        yield from _clusterings(value.get(key), kind, key, names, name)
    if value.get("sizes") is not None:
        yield from _sizes(value["sizes"], value.get("size_unit", "points"), name)


def _links(given: Any, kind: str, name: str) -> Iterator[dict[str, Any]]:
    if not isinstance(given, list):
        raise ClueError(f"{name} {kind}: links are a list of pairs.")
    for i, link in enumerate(given):
        place = f"{kind}[{i}]"
        if isinstance(link, dict) and {"a", "b"} <= set(link) <= set(_LINK):
            yield {**link, "kind": kind, "place": place}
        elif isinstance(link, list) and len(link) in (2, 3):
            yield {**dict(zip(_LINK, link)), "kind": kind, "place": place}
        else:
            raise ClueError(f"{name} {short(place)}: a link is [row, row] or [row, row, weight].")


def _assigned(given: Any, kind: str, key: str, names: Names, name: str) -> Iterator[dict[str, Any]]:
    """One value per row: an object from row to value, or a list in the order of the rows."""
    if isinstance(given, list):
        if names.n is not None and len(given) != names.n:
            raise ClueError(f"{name} {short(key)} has {len(given)} entries, but there are {names.n} rows.")
        called = names.listed() if names.n is not None else list(map(str, range(len(given))))
        pairs = [(row, value, f"{key}[{i}]") for i, (row, value) in enumerate(zip(called, given))]
    elif isinstance(given, dict):
        pairs = [(row, value, f"{key}.{row}") for row, value in given.items()]
    else:
        raise ClueError(f"{name} {short(key)}: write an object from row to value, or a list with a value for each row.")
    known = [pair for pair in pairs if not _unknown(pair[1])]
    for _, value, place in known:
        if not isinstance(value, (str, int, float)):
            raise ClueError(f"{name} {short(place)}: {repr(value)} is neither text nor a number.")
    for (row, _, place), cell in zip(known, spell(value for _, value, _ in known)):
        yield {"a": row, "b": cell, "kind": kind, "place": place}


def _unknown(value: Any) -> bool:
    # In a list of codes -1 means unknown, as in the arguments of `Clues`.
    return value is None or value == "" or value != value or (value == -1 and not isinstance(value, bool))


def _grouped(given: Any, kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Groups as an object from name to rows or as a list of lists; a list of objects is a list of columns."""
    for column, suffix, key in _several(given, kind, kind, dict):
        if isinstance(column, list):
            column = {str(g): members for g, members in enumerate(column)}
        if not isinstance(column, dict) or not all(isinstance(rows, list) for rows in column.values()):
            raise ClueError(
                f"{name} {short(key)}: groups are an object from the name of a group to the list of its rows."
            )
        for group, rows in column.items():
            for i, row in enumerate(rows):
                yield {"a": row, "b": group, "kind": suffix, "place": f"{key}.{group}[{i}]"}


def _clusterings(given: Any, kind: str, key: str, names: Names, name: str) -> Iterator[dict[str, Any]]:
    for one, suffix, place in _several(given, kind, key, (list, dict)):
        yield from _assigned(one, suffix, place, names, name)


def _several(given: Any, kind: str, key: str, types: Any) -> Iterator[tuple[Any, str, str]]:
    """The columns in a value, each with its kind and place: a list of such ``types`` is several, the rest one."""
    if isinstance(given, list) and given and all(isinstance(one, types) for one in given):
        yield from ((one, f"{kind}:{t + 1}", f"{key}[{t}]") for t, one in enumerate(given))
    elif given is not None:
        yield given, kind, key


def _sizes(given: Any, unit: Any, name: str) -> Iterator[dict[str, Any]]:
    if unit not in ("points", "weight"):
        raise ClueError(f"{name} size_unit: {repr(unit)} is neither 'points' nor 'weight'.")
    kind = "size" if unit == "points" else "size:weight"
    each = isinstance(given, list) and bool(given) and all(isinstance(bounds, list) for bounds in given)
    for c, bounds in enumerate(given if each else [given]):
        place = f"sizes[{c}]" if each else "sizes"
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise ClueError(f"{name} {short(place)}: sizes are [lower, upper], or one such pair for each cluster.")
        low, high = ("" if bound in (None, math.inf) else _cell(bound) for bound in bounds)
        yield {"a": str(c) if each else "*", "b": f"{low}..{high}", "kind": kind, "place": place}


def _cell(bound: Any) -> str:
    return str(bound) if isinstance(bound, (str, int, float)) else repr(bound)
