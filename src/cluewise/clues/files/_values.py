"""Names of rows and of classes, between files and memory."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Ints
from cluewise.exceptions import ClueError

__all__ = ["Names", "factorize", "spell", "values_of"]

_SEARCHED = 5000  # names looked through for the closest one; difflib is slow
_ROW = 32  # bytes that clues need for each row at least: a label, its source, a component
_TRUTH = {"True": True, "False": False}


class Names:
    """How a file refers to the n rows: by their names, or by their numbers from 0."""

    def __init__(self, ids: Any = None, n: int | None = None) -> None:
        self.n = n
        self.index: dict[str, int] | None = None
        if ids is None:
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
            hint = f"; did you mean '{close[0]}'?" if close else "."
            raise ClueError(f"{_place(table, at[i])}: no row is called '{cells[i]}'{hint}")
        return found

    def _numbered(self, cells: Sequence[str], table: tables.Table, at: Ints) -> Ints:
        found = tables.typed(cells)
        if found.dtype != np.int64:
            i = next(i for i, cell in enumerate(cells) if tables.typed([cell]).dtype != np.int64)
            if not cells[i]:
                raise ClueError(f"{_place(table, at[i])}: a row is missing.")
            raise ClueError(f"{_place(table, at[i])}: '{cells[i]}' is not a row number; rows that have names need ids.")
        wrong = np.flatnonzero((found < 0) | (found >= (np.inf if self.n is None else self.n)))
        if len(wrong):
            i = int(wrong[0])
            known = "" if self.n is None else f"; there are {self.n}, counted from 0"
            raise ClueError(f"{_place(table, at[i])}: there is no row {found[i]}{known}.")
        return found


def _refuse_ids(given: list[str]) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(given):
        if not name:
            raise ClueError(f"the id of row {row} is empty.")
        if seen.setdefault(name, row) != row:
            raise ClueError(f"id '{name}' is the name of row {seen[name]} and of row {row}; ids must differ.")


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
