"""The table: named columns of one length, and the matrix and row names made from it."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluewise._texts import short
from cluewise._typing import Array, Floats, Ints
from cluewise.tables._columns import TableError, column_of, columns_of, is_number, number

__all__ = [
    "ID_NAMES",
    "MISSING",
    "Table",
    "choose_columns",
    "features",
    "find_ids",
    "from_frame",
    "names_of",
    "row_names",
    "unknown_column",
]

ID_NAMES = ("id", "name", "key", "row", "index", "row_id", "rowid", "sample_id")
"""Columns that are taken for the names of the rows unless a column is given."""

MISSING = frozenset({"", "-", "?", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null"})
"""Texts that stand for a missing value, in lower case; "none" is a word, as in "allergy: none"."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, in order, with the place of each row in the file they came from.

    Parameters
    ----------
    columns : dict of str to array
        Numbers are int64 or float64 (nan = empty), truth values are bool, text is an object array of str.
    name : str
        What messages call the table; the name of the file.
    lines : array of shape (n,) or None
        The line on which each record starts, for files that have lines.
    points : tuple of str or None
        The columns that are known to be features (the array ``X`` of an NPZ file).
    notes : tuple of str
        How the file is written, where that is not the usual way.
    numbers : array of shape (n,) or None
        The number of each row, if they are some of the rows of a larger table.

    Examples
    --------
    >>> from cluewise.tables import Table
    >>> table = Table({"x": [1, 2], "color": ["red", "blue"]}, name="data.csv", lines=[2, 3])
    >>> len(table), table.columns["x"].dtype.name, table.where(1)
    (2, 'int64', 'line 3')
    """

    columns: Mapping[str, Array]
    name: str = "the table"
    lines: Ints | None = None
    points: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    numbers: Ints | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", columns_of(self.columns, self.name))
        if self.lines is not None:
            object.__setattr__(self, "lines", np.asarray(self.lines, dtype=np.int64))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """The place of a row in words: its line in the file, or else its number counted from 0."""
        if self.lines is not None:
            return f"line {self.lines[row]}"
        return f"row {row if self.numbers is None else self.numbers[row]}"

    def sources(self) -> list[str]:
        """``file:line`` (or ``file:row``) of every row, as clues keep it."""
        numbers = range(len(self)) if self.lines is None else self.lines.tolist()
        return [f"{self.name}:{number}" for number in numbers]


def from_frame(frame: Any, name: str = "the frame") -> Table:
    """Turn a data frame of any kind (pandas, polars, pyarrow, ...) into a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from cluewise import tables
    >>> tables.from_frame(pd.DataFrame({"x": [1.0, None], "name": ["a", "b"]})).columns["name"].tolist()
    ['a', 'b']
    """
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise TableError(f"{name} is a {type(frame).__name__}, not a data frame.") from None
    except ValueError as error:
        raise TableError(f"{name} cannot be used: {str(error).splitlines()[0]}") from None
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    columns: dict[str, Array] = {}
    for key in eager.columns:
        series = eager.get_column(key)
        # Lists of numbers are vectors; nothing else that is nested is unfolded.
        if series.dtype.is_nested() and not getattr(getattr(series.dtype, "inner", None), "is_numeric", bool)():
            raise TableError(f"column '{short(key)}' of {name} holds lists or records; a cell is a number or text.")
        # NumPy has neither decimals nor whole numbers of 128 bits.
        numeric = series.dtype.is_numeric() and not series.dtype.is_decimal() and "128" not in str(series.dtype)
        whole = numeric and series.null_count() == 0
        values = series.to_numpy() if whole else series.to_list()
        # pandas numbers its columns when it has no names for them; a number is not a name in a file.
        columns[key if isinstance(key, str) else f"x{key}"] = column_of(values, f"column '{short(key)}' of {name}")
    return Table(columns, name)


def features(
    table: Table,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
) -> tuple[Floats, Array | None, list[str]]:
    """The numbers of a table as a matrix, the names of its rows, and the names of its columns.

    Parameters
    ----------
    table : Table
        What `read` or `from_frame` returned.
    id_column : str, optional
        The column that names the rows. Without it a column called id, name, row, ... is taken if it names
        every row once.
    columns : sequence of str, optional
        The columns to use; all but ids and labels unless given.
    label_column : str, optional
        A column of known labels, which is not a feature.

    Returns
    -------
    X : array of shape (n, d), float64
    ids : object array of n str, or None
    feature_names : list of d str

    Examples
    --------
    >>> from cluewise import tables
    >>> table = tables.Table({"id": ["a17", "b3"], "x": [1, 2], "y": [0.5, 0.25]})
    >>> X, ids, feature_names = tables.features(table)
    >>> X.tolist(), ids.tolist(), feature_names
    ([[1.0, 0.5], [2.0, 0.25]], ['a17', 'b3'], ['x', 'y'])
    """
    ids, names = choose_columns(table, id_column, columns, label_column)
    X = np.empty((len(table), len(names)), dtype=np.float64)
    for j, name in enumerate(names):
        X[:, j] = _numbers(table, name)
    return X, ids, names


def choose_columns(
    table: Table,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    label_column: str | None = None,
) -> tuple[Array | None, list[str]]:
    """The names of the rows, and the columns to cluster by; parameters are those of `features`.

    Examples
    --------
    >>> from cluewise import tables
    >>> ids, names = tables.choose_columns(tables.Table({"id": ["a17", "b3"], "x": [1, 2], "color": ["red", "blue"]}))
    >>> ids.tolist(), names
    (['a17', 'b3'], ['x', 'color'])
    """
    if len(table) == 0:
        raise TableError(f"{table.name} has no rows.")
    for name in [id_column, label_column, *(columns or ())]:
        if name is not None and name not in table.columns:
            raise unknown_column(table, name)
    if columns is not None and len(set(columns)) < len(columns):
        twice = next(name for name, count in Counter(columns).items() if count > 1)
        raise TableError(f"column '{short(twice)}' of {table.name} is named more than once; it can count only once.")
    id_column = find_ids(table) if id_column is None else id_column
    ids = None if id_column is None else names_of(table, id_column)
    if columns is None:
        given = table.points if table.points is not None else tuple(table.columns)
        columns = [name for name in given if name not in (id_column, label_column)]
    if not columns:
        raise TableError(f"{table.name} has no column left to cluster by.")
    return ids, list(columns)


def names_of(table: Table, column: str) -> Array:
    """The names of the rows in one column; every row needs one, and no two the same.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.names_of(tables.Table({"who": [3, 1]}), "who").tolist()
    ['3', '1']
    """
    if column not in table.columns:
        raise unknown_column(table, column)
    names = row_names(table.columns[column])
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"{table.name} {table.where(i)}: the id in column '{short(column)}' is empty.")
        first = seen.setdefault(name, i)
        if first != i:
            raise TableError(
                f"{table.name} {table.where(i)}: id '{short(name)}' is already the id of {table.where(first)}."
            )
    return np.array(names, dtype=object)


def row_names(column: Array) -> list[str]:
    """Names of rows as text without spaces around them; a whole number is named without a decimal point.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import tables
    >>> tables.row_names(np.array([3.0, 1.0])), tables.row_names(np.array(["a17 "], dtype=object))
    (['3', '1'], ['a17'])
    """
    values = column.tolist()
    if column.dtype.kind == "f":
        return ["" if math.isnan(v) else str(int(v)) if v.is_integer() else repr(v) for v in values]
    if column.dtype.kind == "O":
        return list(map(str.strip, values))
    return list(map(str, values))


def unknown_column(table: Table, name: str) -> TableError:
    """An error that names the column, and one with a similar name if there is any."""
    close = difflib.get_close_matches(name, list(table.columns)[:1000], n=1)
    hint = f"; did you mean '{short(close[0])}'?" if close else "."
    return TableError(f"{table.name} has no column '{short(name)}'{hint}")


def find_ids(table: Table) -> str | None:
    """The column that names the rows by the look of it, if any; only a column called id has to.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.find_ids(tables.Table({"x": [1.5, 2.5], "key": ["a17", "b3"]}))
    'key'
    """
    spelled = {name.lower(): name for name in reversed(list(table.columns))}
    for candidate in ID_NAMES:
        name = spelled.get(candidate)
        if name is None or name in (table.points or ()):
            continue
        names = row_names(table.columns[name])
        measured = all(is_number(cell) for cell in names) and not all(number(cell).is_integer() for cell in names)
        if candidate == "id" or (len(set(names)) == len(names) and all(names) and not measured):
            return name
    return None


def _numbers(table: Table, name: str) -> Floats:
    """A column as finite numbers, or an error that names the line."""
    column = table.columns[name]
    place = f"column '{short(name)}' of {table.name}"
    if column.dtype.kind == "O":
        column = _from_text(table, name, place)
    values = column.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        problem = "is empty" if np.isnan(values[bad[0]]) else "is infinite"
        raise TableError(f"{place} {problem} in {table.where(int(bad[0]))}.")
    return values


def _from_text(table: Table, name: str, place: str) -> Floats:
    cells = table.columns[name].tolist()
    values = np.array([number(cell) for cell in cells], dtype=np.float64)
    words = [i for i in np.flatnonzero(np.isnan(values)).tolist() if cells[i].strip() and not is_number(cells[i])]
    if words:
        where = f"{table.where(words[0])}: '{short(cells[words[0]])}'"
        if np.isnan(values).all():
            raise TableError(f"{place} is text ({where}); name it with --id or leave it out with --columns.")
        raise TableError(f"{place} holds something that is not a number ({where}).")
    return values
