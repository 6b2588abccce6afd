"""The cells of a clue file: names of rows, kinds of clues, names of classes and groups, weights and sources.

`Lines` checks a table one column at a time. `Names` knows how the file refers to the rows.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cluewise import tables
from cluewise._texts import short
from cluewise._typing import Array, Floats, Ints
from cluewise.exceptions import ClueError

__all__ = ["FIELDS", "Lines", "Mentioned", "Names", "factorize", "spell", "split_kind", "values_of"]

FIELDS = ("a", "b", "kind", "weight", "confidence", "source")

_KINDS = {
    **dict.fromkeys(("must", "ml", "must-link", "must_link", "mustlink", "1", "+1"), "must"),
    **dict.fromkeys(("cannot", "cl", "cannot-link", "cannot_link", "cannotlink", "-1"), "cannot"),
    **{kind: kind for kind in ("label", "together", "apart", "partition", "avoid", "size", "rows")},
    "0": "0",  # known, so that it can be refused with a reason
}
_NAMED = ("together", "apart", "partition", "avoid", "size")  # kinds that may go on with a colon and a name
_SEARCHED = 5000  # names looked through for the closest one; difflib is slow
_ROW = 32  # bytes that clues need for each row at least: a label, its source, a component
_TRUTH = {"True": True, "False": False}


def split_kind(cell: str) -> tuple[str, str] | None:
    """The kind of clue and the name behind its colon; None when the cell is not a kind."""
    word, _, name = cell.strip().partition(":")
    kind = _KINDS.get(word.strip().lower())
    if kind is None or (name and kind not in _NAMED) or (kind == "size" and name not in ("", "weight")):
        return None
    return kind, name.strip()


class Lines:
    """The columns of a clue table, checked and ready to be picked by kind."""

    def __init__(self, table: tables.Table) -> None:
        self.table = table
        columns = {name.lower(): column for name, column in table.columns.items()}
        for field in columns:
            if field not in FIELDS:
                raise ClueError(f"{table.name} has a column '{short(field)}'; clues have {', '.join(FIELDS)}.")
        for field in ("a", "b"):
            if field not in columns and columns:
                raise ClueError(f"{table.name} has a column kind, but no column {field}.")
        cells = {field: tables.row_names(column) for field, column in columns.items()}
        self.a, self.b = (tables.column_of(cells.get(field, [])) for field in ("a", "b"))
        self.codes, spelled = factorize(cells.get("kind", []))
        self.kinds: list[tuple[str, str]] = []
        for code, word in enumerate(spelled):
            pair = split_kind(word)
            if pair is None or pair[0] == "0":
                raise self._unknown_kind(word, code)
            self.kinds.append(pair)
        self.weight = self.confidence = np.full(len(table), np.nan)
        if "weight" in cells:
            self.weight = self._numbers("weight", cells["weight"])
        if "confidence" in cells:
            self.confidence = self._numbers("confidence", cells["confidence"])
        if "weight" in cells or "confidence" in cells:
            self._check_weights()
        self.source = tables.column_of(table.sources())
        self.has_source = any(cells.get("source", ()))
        if self.has_source:
            said = tables.column_of(cells["source"])
            self.source = np.where(said == "", self.source, said)

    def error(self, line: int, problem: str) -> ClueError:
        """The error that names a line."""
        return ClueError(f"{self.table.name} {self.table.where(int(line))}: {problem}")

    def of(self, kind: str) -> Ints:
        """Positions of the lines of one kind."""
        mask = np.array([k == kind for k, _ in self.kinds] + [False])
        return np.flatnonzero(mask[self.codes])

    def columns(self, kind: str) -> list[Ints]:
        """Positions of the lines of one kind, apart for each name behind the colon."""
        names: dict[str, int] = {}
        column = [names.setdefault(name, len(names)) if k == kind else -1 for k, name in self.kinds]
        found = np.array([*column, -1])[self.codes]
        order = np.argsort(found, kind="stable")
        ends = np.searchsorted(found[order], np.arange(len(names) + 1))
        return [order[start:end] for start, end in pairwise(ends.tolist())]

    def _unknown_kind(self, word: str, code: int) -> ClueError:
        line = int(np.flatnonzero(self.codes == code)[0])
        if split_kind(word) is not None:
            return self.error(
                line, "kind 0 is ambiguous ('cannot' in some files, 'unknown' in others); write cannot (or -1)."
            )
        known = "must, cannot, label, together, apart, partition, avoid or size"
        return self.error(line, f"'{short(word)}' is not a kind of clue; use {known}.")

    def _numbers(self, field: str, cells: list[str]) -> Floats:
        """The numbers of a column, nan where the cell is empty."""
        column = tables.typed(cells)
        if column.dtype == object:
            column = np.array([tables.number(cell) for cell in cells], dtype=np.float64)
        values = column.astype(np.float64)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            if cells[i]:
                raise self.error(i, f"{field} '{short(cells[i])}' is not a number.")
        return values

    def _check_weights(self) -> None:
        weight, sure = self.weight, self.confidence
        no_weight, unsure = np.isnan(weight), np.isnan(sure)
        linked = np.array([k in ("must", "cannot") for k, _ in self.kinds] + [False])[self.codes]
        grouped = np.array([k in ("together", "apart") for k, _ in self.kinds] + [False])[self.codes]
        doubled = ~unsure & ~no_weight & ~np.isclose(weight, 2 * sure - 1)
        for bad, problem, values in (
            (weight < 0, "weight {:g} is negative.", weight),
            (~unsure & ~((sure > 0.5) & (sure <= 1)), "confidence {:g} is not in (0.5, 1].", sure),
            (doubled, "weight {:g} is not 2 * confidence - 1; give one of the two.", weight),
            (~linked & ~unsure, "confidence {:g} is only for must and cannot.", sure),
            (~no_weight & (weight != 1) & ~linked & ~grouped, "weight {:g} is only for links and groups.", weight),
        ):
            if bad.any():
                line = int(np.flatnonzero(bad)[0])
                raise self.error(line, problem.format(values[line]))


class Names:
    """How a file refers to the n rows: by their names, or by their numbers from 0."""

    def __init__(self, ids: Any = None, n: int | None = None) -> None:
        self.n = n
        self.index: dict[str, int] | None = None
        if ids is None:
            return
        if isinstance(ids, Mapping):  # of many rows, only those that the file names
            self.index = dict(ids)
            return
        given = tables.row_names(tables.column_of(ids, "ids"))
        if n is not None and n != len(given):
            raise ClueError(f"there are {len(given)} ids for {n} rows.")
        self.n = len(given)
        self.index = dict(zip(given, range(len(given))))
        if len(self.index) < len(given) or "" in self.index:
            _refuse_ids(given)

    def state(self, n: int, name: str, *, numbered: bool = False) -> None:
        """Take over what a file says about the number of rows and whether they are numbered."""
        if self.n is not None and self.n != n:
            raise ClueError(f"{name} is about {n} rows, but there are {self.n}.")
        if self.n is None and n * _ROW > tables.limit():
            raise ClueError(
                f"{name} is about {n} rows, more than fit in memory; if there really are that many, give n or ids."
            )
        self.n = n
        if numbered:
            self.index = None

    def listed(self) -> list[str]:
        """The names in the order of the rows."""
        if self.index is not None and len(self.index) != self.n:
            raise ClueError("a value for each row, without names, needs the names of all rows.")
        return list(map(str, range(self.n or 0))) if self.index is None else list(self.index)

    def knows(self, cell: str) -> bool:
        """Whether a cell can name a row."""
        return cell.isdecimal() if self.index is None else cell in self.index

    def rows(self, cells: Sequence[str], table: tables.Table, at: Ints) -> Ints:
        """Row numbers of the rows that the cells name; ``at`` says where in the table each cell stands."""
        if self.index is None:
            return self._numbered(cells, table, at)
        find = self.index.get
        found = np.array([find(cell, -1) for cell in cells], dtype=np.int64)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            i = int(unknown[0])
            if not cells[i]:
                raise ClueError(f"{_place(table, at[i])}: a row is missing.")
            close = difflib.get_close_matches(cells[i][:100], list(self.index)[:_SEARCHED], n=1)
            hint = f"; did you mean '{short(close[0])}'?" if close else "."
            raise ClueError(f"{_place(table, at[i])}: no row is called '{short(cells[i])}'{hint}")
        return found

    def _numbered(self, cells: Sequence[str], table: tables.Table, at: Ints) -> Ints:
        found = tables.typed(cells)
        if found.dtype != np.int64:
            i = next(i for i, cell in enumerate(cells) if tables.typed([cell]).dtype != np.int64)
            if not cells[i]:
                raise ClueError(f"{_place(table, at[i])}: a row is missing.")
            raise ClueError(
                f"{_place(table, at[i])}: '{short(cells[i])}' is not a row number; rows that have names need ids."
            )
        wrong = np.flatnonzero((found < 0) | (found >= (np.inf if self.n is None else self.n)))
        if len(wrong):
            i = int(wrong[0])
            known = "" if self.n is None else f"; there are {self.n}, counted from 0"
            raise ClueError(f"{_place(table, at[i])}: there is no row {found[i]}{known}.")
        return found


class Mentioned(Names):
    """Names as they come in a file: each gets a number, whether there is such a row or not."""

    def __init__(self, *, headless: bool) -> None:
        super().__init__({})
        self.headless = headless

    def knows(self, cell: str) -> bool:
        """Whether the first line is a clue, if that has to be asked."""
        return self.headless

    def rows(self, cells: Sequence[str], table: tables.Table, at: Ints) -> Ints:
        """Numbers of the names in the order in which they came."""
        if self.index is None:  # the file says that rows are numbered
            return super().rows(cells, table, at)
        return np.array([self.index.setdefault(cell, len(self.index)) for cell in cells], dtype=np.int64)


def _refuse_ids(given: list[str]) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(given):
        if not name:
            raise ClueError(f"the id of row {row} is empty.")
        if seen.setdefault(name, row) != row:
            raise ClueError(f"id '{short(name)}' is the name of row {seen[name]} and of row {row}; ids must differ.")


def _place(table: tables.Table, row: int) -> str:
    return f"{table.name} {table.where(int(row))}"


def factorize(cells: Iterable[str]) -> tuple[Ints, list[str]]:
    """A code for every cell, and the distinct cells in order of appearance."""
    seen: dict[str, int] = {}
    codes = np.array([seen.setdefault(cell, len(seen)) for cell in cells], dtype=np.int64)
    return codes, list(seen)


def values_of(cells: Sequence[str]) -> Array:
    """What distinct cells stand for: whole numbers, numbers, truth values or text, in an object array."""
    quoted = [len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells]
    bare = [cell for cell, q in zip(cells, quoted) if not q]
    meant: list[Any]
    if bare and all(cell in _TRUTH for cell in bare):
        meant = [_TRUTH[cell] for cell in bare]
    else:
        meant = tables.typed(bare).tolist()
    rest = iter(meant)
    values = np.empty(len(cells), dtype=object)
    values[:] = [cell[1:-1] if q else next(rest) for cell, q in zip(cells, quoted)]
    return values


def spell(values: Iterable[Any]) -> list[str]:
    """Cells that `values_of` turns into the same values.

    Text goes into quotes when it could be taken for something else.
    """
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = set(map(type, plain))
    strange = kinds - {str, int, float, bool}
    if strange:
        called = min(kind.__name__ for kind in strange)
        raise ClueError(f"a class or group of type {called} cannot be written to a file; use text or numbers.")
    if bool in kinds and len(kinds - {str}) > 1:
        plain = [int(value) if isinstance(value, bool) else value for value in plain]  # True is 1
    mixed = str in kinds and len(kinds) > 1
    return [_spelled(value, mixed) if isinstance(value, str) else str(value) for value in plain]


def _spelled(value: str, mixed: bool) -> str:
    odd = mixed or value in _TRUTH or value != value.strip() or value.startswith('"')
    return f'"{value}"' if odd or tables.typed([value]).dtype != object else value
