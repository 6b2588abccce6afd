"""From lines of text to links and groups; lines that cannot be used are set aside with the reason."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.clues.files import FIELDS, Names, parse_clues, split_kind
from cluewise.ensemble.scsc_folder import Reports
from cluewise.exceptions import ClueError
from cluewise.stream._journal import Line
from cluewise.tables import unguard

__all__ = ["Aside", "Reader", "Content", "cells_of"]


class Aside(NamedTuple):
    """A line that could not be used.

    Examples
    --------
    >>> from cluewise.stream import Aside
    >>> str(Aside("stdin", 3, "a,b,perhaps", "'perhaps' is not a kind of clue."))
    "stdin line 3: 'perhaps' is not a kind of clue."
    """

    source: str
    line: int
    text: str
    why: str

    def __str__(self) -> str:
        return f"{self.source} line {self.line}: {self.why}"


class Content(NamedTuple):
    """The content of some lines."""

    reports: Reports
    groups: Clues | None
    aside: list[Aside]
    counts: dict[str, int]  # lines of each kind


class Reader:
    """Reads lines about n rows, which go by their names or by their numbers.

    ``check`` raises if links and groups do not fit to what a model knows already.
    """

    def __init__(
        self,
        n: int,
        ids: Sequence[str] | None,
        accepts: frozenset[str],
        check: Callable[[Reports, Clues | None], None],
    ) -> None:
        self.n = n
        self.names = Names(ids, n)
        self.accepts = {"label" if kind == "labels" else kind for kind in accepts}
        self.check = check
        self.headers: dict[str, list[str]] = {}

    def read(self, lines: Sequence[Line]) -> Content:
        """What the lines add to what is known; lines that do not fit are set aside."""
        aside: list[Aside] = []
        rows: list[tuple[Line, list[str]]] = []
        for line in lines:
            try:
                cells = self._cells(line)
            except ClueError as error:
                aside.append(Aside(line.source, line.number, line.text, str(error)))
            else:
                if cells is not None:
                    rows.append((line, cells))
        good: list[tuple[Line, list[str]]] = []
        self._sort(rows, good, aside)
        reports, groups = self._parse(good)
        counts: dict[str, int] = {}
        for _, cells in good:
            kind = split_kind(cells[2])
            assert kind is not None
            counts[kind[0]] = counts.get(kind[0], 0) + 1
        return Content(reports, groups, sorted(aside, key=lambda bad: (bad.source, bad.line)), counts)

    def _cells(self, line: Line) -> list[str] | None:
        """The cells of a line in the order of `FIELDS`; None for a line without a clue, such as a header."""
        found = cells_of(line, self.headers)
        if found is None:
            return None
        kind = split_kind(found[2])
        if kind is not None and kind[0] == "rows":  # the first line of a file of `Clues.write` about rows without names
            if self.names.index is None and found[1] == str(self.n):
                return None
            raise ClueError("the rows have other names here." if self.names.index else f"there are {self.n} rows.")
        if kind is not None and kind[0] not in self.accepts:
            raise ClueError(f"clues of the kind {kind[0]} cannot be used here.")
        return found

    def _sort(self, rows: list[tuple[Line, list[str]]], good: list[Any], aside: list[Aside]) -> None:
        """Add lines to the good ones; if they do not fit together, try each half by itself."""
        try:
            self.check(*self._parse([*good, *rows]))
        except ValueError as error:
            if len(rows) == 1:
                line = rows[0][0]
                why = str(error).removeprefix(f"{line.source} line {line.number}: ")
                aside.append(Aside(line.source, line.number, line.text, why))
                return
            half = len(rows) // 2
            self._sort(rows[:half], good, aside)
            self._sort(rows[half:], good, aside)
            return
        good.extend(rows)

    def _parse(self, rows: list[tuple[Line, list[str]]]) -> tuple[Reports, Clues | None]:
        reports: list[Reports] = []
        groups: Clues | None = None
        for source in dict.fromkeys(line.source for line, _ in rows):
            mine = [(line, cells) for line, cells in rows if line.source == source]
            columns = {field: [cells[i] for _, cells in mine] for i, field in enumerate(FIELDS)}
            if not any(columns["source"]):
                del columns["source"]
            table = tables.Table(
                {field: tables.column_of(cells) for field, cells in columns.items()},
                source,
                np.array([line.number for line, _ in mine]),
            )
            said = parse_clues(table, self.names)
            reports += [_reports(said, kind) for kind in ("must", "cannot")]
            rest = {name: said[name] for name in ("labels", "label_source", "together", "apart") if name in said}
            if rest:
                own = Clues(self.n, **rest)
                groups = own if groups is None else groups | own
        joined = _reports({}, "must")
        for some in reports:
            joined = joined.join(some)
        return joined, groups


def cells_of(line: Line, headers: dict[str, list[str]]) -> list[str] | None:
    """The cells of a line in the order of `FIELDS`; None for an empty line and for a header, which is noted."""
    if not line.text.strip():
        return None
    try:
        cells = [unguard(cell.strip()) for cell in next(csv.reader([line.text], strict=True))]
    except (csv.Error, StopIteration):
        raise ClueError("the quotes do not match.") from None
    lowered = [cell.lower() for cell in cells]
    if {"a", "b", "kind"} <= set(lowered) <= set(FIELDS) and len(set(lowered)) == len(lowered):
        headers[line.key] = lowered
        return None
    order = headers.get(line.key, list(FIELDS))
    if not 3 <= len(cells) <= len(order):
        raise ClueError(f"{len(cells)} cells instead of {','.join(order[:3])} (up to {len(order)}).")
    placed = dict(zip(order, cells))
    return [placed.get(field, "") for field in FIELDS]


def _reports(said: dict[str, Any], kind: str) -> Reports:
    rows: Ints = np.sort(said.get(kind, np.empty((0, 2), dtype=np.int64)), axis=1)
    p = len(rows)
    sure: Floats = np.asarray(said.get(f"{kind}_confidence", np.empty(0)))
    weight = np.where(np.isnan(sure), said.get(f"{kind}_weight", np.empty(0)), 2 * sure - 1)
    source: Array = np.empty(p, dtype=object)
    source[:] = said.get(f"{kind}_source", [])
    links = rows[:, 0] != rows[:, 1]  # a row is always together with itself
    return Reports(rows, np.full(p, kind == "must"), weight, sure, source).take(links)
