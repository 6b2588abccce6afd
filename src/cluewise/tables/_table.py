"""The table itself: named columns of one length, and where each row stands in its file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluewise._typing import Array, Ints

__all__ = ["FileError", "Table", "TableError", "column_of", "columns_of", "from_frame", "reading"]

_LINE_ENDS = re.compile(r"[\r\n]+")
_HALF = re.compile("[\ud800-\udfff]")  # half a character: UTF-8 has no room for it, and files are UTF-8


class TableError(ValueError):
    """A table that cannot be read or used as it is; one sentence that names the line or column.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.features(tables.Table({"color": ["red"], "x": [1.5]}, name="data.csv"))
    Traceback (most recent call last):
    ...
    cluewise.tables._table.TableError: column 'color' of data.csv is text (row 0: 'red'); name it with --id or
    leave it out with --columns.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_LINE_ENDS.sub(" ", message))  # a cell may hold some


class FileError(TableError, OSError):
    """A file that cannot be opened or written.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.read("no-such-file.csv")
    Traceback (most recent call last):
    ...
    cluewise.tables._table.FileError: there is no file 'no-such-file.csv'.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason  # what the system said


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", columns_of(self.columns, self.name))
        if self.lines is not None:
            object.__setattr__(self, "lines", np.asarray(self.lines, dtype=np.int64))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """The place of a row in words: its line in the file, or else its number counted from 0."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"

    def sources(self) -> list[str]:
        """``file:line`` (or ``file:row``) of every row, as clues keep it."""
        numbers = range(len(self)) if self.lines is None else self.lines.tolist()
        return [f"{self.name}:{number}" for number in numbers]


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Say which file it was when a library that parses files fails, however it fails."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on damaged files; the cause stays for whoever looks
        raise TableError(f"{name} cannot be read; is it cut off or damaged?") from error


def columns_of(given: Mapping[str, Any], name: str) -> dict[str, Array]:
    """Columns in the types that `Table` promises, or an error when their lengths differ."""
    for key in given:
        if _HALF.search(str(key)):
            raise TableError(f"the name of column {key!a} of {name} holds half a character (a lone surrogate).")
    columns = {str(key): column_of(values, f"column '{key}' of {name}") for key, values in given.items()}
    lengths = {key: len(column) for key, column in columns.items()}
    first = next(iter(lengths), "")
    for key, length in lengths.items():
        if length != lengths[first]:
            raise TableError(f"column '{key}' of {name} has {length} rows, but column '{first}' has {lengths[first]}.")
    return columns


def column_of(values: Any, what: str = "the column") -> Array:
    """One column as int64, float64, bool or text.

    Examples
    --------
    >>> from cluewise.tables import column_of
    >>> column_of([1, None, 2.5]).tolist(), column_of([1, "red", None]).tolist()
    ([1.0, nan, 2.5], ['1', 'red', ''])
    """
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return _from_array(values, what)
    return _from_values(list(values), what)


def _from_array(values: Array, what: str) -> Array:
    if values.ndim != 1:
        raise TableError(f"{what} has {values.ndim} dimensions; a column has 1.")
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values.astype(np.int64, copy=False)
    if kind in "uf":
        return values.astype(np.float64, copy=False)
    if kind == "V":
        raise TableError(f"{what} holds records; a cell is a number or text.")
    if kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise TableError(f"{what} holds bytes that are not UTF-8.") from None
    try:
        cells = values.astype(str).tolist()
    except (ValueError, SystemError):  # numbers that stand for no character
        raise TableError(f"{what} holds text that is not Unicode.") from None
    return _whole_text(cells, what)


def _from_values(values: list[Any], what: str) -> Array:
    kinds = set(map(type, values))
    if kinds == {str}:
        return _whole_text(values, what)
    plain = [_plain(v) for v in values]
    kinds = set(map(type, plain))
    if kinds == {bool}:
        return np.array(plain, dtype=bool)
    if kinds == {int}:
        try:
            return np.array(plain, dtype=np.int64)
        except OverflowError:
            return text_array(list(map(str, plain)))
    if kinds <= {int, float, type(None)} and kinds & {int, float}:
        try:
            return np.array([np.nan if v is None else float(v) for v in plain], dtype=np.float64)
        except OverflowError:  # a whole number too large for a float stays as it is written
            return text_array([_text(v) for v in plain])
    for i, value in enumerate(plain):
        if isinstance(value, (list, tuple, dict, set)):
            raise TableError(f"{what} holds a {type(value).__name__} in row {i}; a cell is a number or text.")
    return _whole_text([_text(v) for v in plain], what)


def _whole_text(cells: list[str], what: str) -> Array:
    """Text that every format can hold, or an error that names the row."""
    if not all(map(str.isascii, cells)):
        for i, cell in enumerate(cells):
            if _HALF.search(cell):
                raise TableError(f"{what} holds half a character (a lone surrogate) in row {i}: {cell!a}.")
    return text_array(cells)


def _plain(value: Any) -> Any:
    # pandas' own marks for a missing value compare as neither true nor false.
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def text_array(cells: Sequence[str]) -> Array:
    """An object array of str: no cell is cut or padded to the length of another."""
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


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
    for key, series in zip(eager.columns, eager.iter_columns()):
        if series.dtype.is_nested():  # before the lists of each cell are unfolded
            raise TableError(f"column '{key}' of {name} holds lists or records; a cell is a number or text.")
        # NumPy has neither decimals nor whole numbers of 128 bits.
        numeric = series.dtype.is_numeric() and not series.dtype.is_decimal() and "128" not in str(series.dtype)
        whole = numeric and series.null_count() == 0
        values = series.to_numpy() if whole else series.to_list()
        # pandas numbers its columns when it has no names for them; a number is no name in a file.
        columns[key if isinstance(key, str) else f"x{key}"] = column_of(values, f"column '{key}' of {name}")
    return Table(columns, name)
