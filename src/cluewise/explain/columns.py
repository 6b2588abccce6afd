"""The columns of a table as people see them: numbers, dates, categories and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.rows.parse import guess_style, is_code, parse_numbers

__all__ = ["Column", "Columns", "moment_of", "read_columns", "time_of"]

DATES = ("%d.%m.%Y", "%Y/%m/%d")
"""Formats of dates besides ISO 8601; ambiguous ones are left out."""

_START = datetime(1970, 1, 1, tzinfo=UTC)
_UNIQUE = "differs in every row"
_WORDS = 3  # a text has at least so many words on average
_NOTES = 50  # so many different texts are not levels of a category
_LEVELS = 1000  # most frequent levels of a category that are looked at


class Column(NamedTuple):
    """One column; a missing cell is nan or level -1."""

    name: str
    kind: str  # number, date, category or text
    values: Any  # numbers, days since 1970, or levels as whole numbers
    levels: list[str] = []  # of a category
    texts: list[str] = []  # row by row

    @property
    def missing(self) -> Bools:
        """Whether each cell is empty."""
        return np.isnan(self.values) if self.is_ordered else self.values < 0

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers or dates."""
        return self.kind in ("number", "date")


class Columns(NamedTuple):
    """What a table says about its rows."""

    columns: list[Column]
    names: list[str] | None  # of the rows
    left_out: dict[str, str]  # why a column is not used
    n: int


def read_columns(table: Any, columns: Sequence[str] | None) -> Columns:
    """Recognize the columns of a table; ids, constants and empty columns are left out."""
    if columns is not None and len(set(columns)) < len(columns):
        raise ValueError("columns names a column more than once.")
    opened = _open(table, columns)
    if not opened.columns:
        raise ValueError(f"{opened.name} has no columns.")
    wanted = list(opened.columns) if columns is None else list(columns)
    for name in wanted:
        if name not in opened.columns:
            raise ValueError(f"{opened.name} has no column '{name}'.")
    id_column = _find_ids(opened)
    found: list[Column] = []
    left_out: dict[str, str] = {}
    for name in wanted:
        if name == id_column:
            left_out[name] = "names the rows"
            continue
        column = _recognize(name, opened.columns[name])
        why = _why_useless(column)
        if why:
            left_out[name] = why
        else:
            found.append(column)
    if id_column is None:
        id_column = next((name for name, why in left_out.items() if why == _UNIQUE), None)
    names = None if id_column is None else tables.row_names(opened.columns[id_column])
    return Columns(found, names, left_out, len(opened))


def _open(table: Any, columns: Sequence[str] | None) -> tables.Table:
    if isinstance(table, tables.Table):
        return table
    if isinstance(table, Mapping):
        return tables.Table(table)
    if hasattr(table, "columns") or hasattr(table, "column_names"):
        return tables.from_frame(table, "the table")
    array = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"the table has {array.ndim} dimensions; pass a 2-D array, columns by name or a data frame.")
    names = [f"x{j}" for j in range(array.shape[1])] if columns is None else list(columns)
    if len(names) != array.shape[1]:
        raise ValueError(f"columns has {len(names)} names, but the table has {array.shape[1]} columns.")
    return tables.Table(dict(zip(names, array.T)))


def _find_ids(table: tables.Table) -> str | None:
    spelled = {name.lower(): name for name in reversed(list(table.columns))}
    for candidate in tables.ID_NAMES:
        name = spelled.get(candidate)
        if name is not None and table.columns[name].dtype.kind in "iO":
            names = tables.row_names(table.columns[name])
            if all(names) and len(set(names)) == len(names):
                return name
    return None


def _recognize(name: str, cells: Array) -> Column:
    if cells.dtype.kind in "if":
        return Column(name, "number", np.where(np.isfinite(cells), cells, np.nan).astype(np.float64))
    if cells.dtype.kind == "b":
        return Column(name, "category", cells.astype(np.int64), ["no", "yes"])
    distinct: dict[str, int] = {}
    codes = np.array([distinct.setdefault(cell, len(distinct)) for cell in cells.tolist()], dtype=np.int64)
    texts = list(distinct)
    present = np.array([text.strip().lower() not in tables.MISSING for text in texts], dtype=bool)
    filled = [text for text, here in zip(texts, present) if here]
    for kind, read in (("number", _read_numbers), ("date", _read_dates)):
        values = read(filled)
        if values is not None:
            spread = np.full(len(texts), np.nan)
            spread[present] = values
            return Column(name, kind, spread[codes])
    held = present[codes]
    words = sum(len(text.split()) for text in filled) / max(len(filled), 1)
    if words >= _WORDS and len(filled) > min(held.sum() / 2, _NOTES):
        rows = [texts[code] if here else "" for code, here in zip(codes.tolist(), held.tolist())]
        return Column(name, "text", np.where(held, 0, -1), texts=rows)
    return Column(name, "category", *_sort_levels(np.where(held, codes, -1), texts))


def _read_numbers(cells: list[str]) -> Floats | None:
    """The numbers; None unless every cell is one, perhaps with a unit, thousands separators or a decimal comma."""
    values = tables.typed(cells) if cells else np.empty(0, dtype=object)
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    cells = [cell.strip() for cell in cells]
    numbers = np.empty(0) if is_code(cells) else parse_numbers(cells, guess_style(cells))
    return numbers if len(numbers) and np.isfinite(numbers).all() else None


def _read_dates(cells: list[str]) -> Floats | None:
    """Days since 1970; None unless every cell is a date in the same format."""
    for form in ("iso", *DATES):
        try:
            return np.array([_read_date(cell.strip(), form) for cell in cells]) if cells else None
        except ValueError:
            continue
    return None


def _read_date(cell: str, form: str) -> float:
    if form == "iso" and "-" not in cell:
        raise ValueError(cell)  # 20240131 is rather a number
    moment = datetime.fromisoformat(cell) if form == "iso" else datetime.strptime(cell, form)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _START).total_seconds() / 86400


def time_of(days: float) -> str:
    """Days since 1970 as ISO text; with the time unless it is midnight."""
    moment = _START + timedelta(days=days)
    return moment.date().isoformat() if days == np.floor(days) else moment.replace(tzinfo=None).isoformat(" ")


def moment_of(days: float) -> str:
    """Days since 1970 as ISO text with the time, to the second."""
    return (_START + timedelta(seconds=round(days * 86400))).replace(tzinfo=None).isoformat(" ")


def _sort_levels(codes: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """The most frequent levels in the order of their names; rare ones beyond a limit share the level "other"."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    # Not by the order of the rows: what is said of a cluster must not depend on it.
    kept = sorted((code for code in range(len(texts)) if counts[code]), key=lambda code: (-counts[code], texts[code]))
    rare = kept[_LEVELS:]
    kept = sorted(kept[:_LEVELS], key=lambda code: texts[code])
    place = np.full(len(texts) + 1, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    place[rare] = len(kept)
    return place[codes], [texts[code].strip() for code in kept] + (["other"] if rare else [])


def _why_useless(column: Column) -> str:
    missing = column.missing
    if missing.all():
        return "is empty"
    if column.kind == "text":
        return ""
    held = column.values[~missing]
    if not missing.any() and (held == held[0]).all():
        return "is the same in all rows"
    n = len(held)
    if column.kind == "category" and n == len(missing) > 2 and len(np.unique(held)) == n:
        return _UNIQUE
    if len(column.levels) > _LEVELS and (held == _LEVELS).mean() > 0.9:  # most cells share the level "other"
        return "has too many levels"
    return ""
