"""Values and cells of text as columns: whole numbers, floats, truth values or text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cluewise._texts import HALF, as_line, short
from cluewise._typing import Array

__all__ = [
    "FileError",
    "TableError",
    "column_of",
    "columns_of",
    "is_number",
    "number",
    "typed",
    "typed_series",
]


# A number written with a leading zero is a code (a postal code, "007"), which must keep its zeros.
_CODE = re.compile(r"(?:^|\n)\s*[+-]?0[0-9]")


class TableError(ValueError):
    """A table that cannot be read or used as it is; one sentence that names the line or column.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.features(tables.Table({"color": ["red"], "x": [1.5]}, name="data.csv"))
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.TableError: column 'color' of data.csv is text (row 0: 'red'); name it with --id or
    leave it out with --columns.
    """

    def __init__(self, message: str) -> None:
        super().__init__(as_line(message))  # a cell may hold anything


class FileError(TableError, OSError):
    """A file that cannot be opened or written.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.read("no-such-file.csv")
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.FileError: there is no file 'no-such-file.csv'.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason  # what the system said

    def __reduce__(self) -> tuple[Any, ...]:
        # Of two built-in bases; tblib, with which dask sends errors from a worker, would make it by the wrong one.
        return type(self), (str(self), self.reason)


def columns_of(given: Mapping[str, Any], name: str) -> dict[str, Array]:
    """Columns in the types that `Table` promises, or an error when their lengths differ."""
    for key in given:
        if HALF.search(str(key)):
            raise TableError(f"the name of column {short(key)!a} of {name} holds half a character (a lone surrogate).")
    columns = {str(key): column_of(values, f"column '{short(key)}' of {name}") for key, values in given.items()}
    lengths = {key: len(column) for key, column in columns.items()}
    first = next(iter(lengths), "")
    for key, length in lengths.items():
        if length != lengths[first]:
            raise TableError(
                f"column '{short(key)}' of {name} has {length} rows, but column '{short(first)}' has {lengths[first]}."
            )
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
        if values.ndim != 1:
            raise TableError(f"{what} has {values.ndim} dimensions; a column has 1.")
        kind = values.dtype.kind
        if kind == "b":
            return values
        if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
            return values.astype(np.int64, copy=False)
        if kind in "uf":
            return values.astype(np.float64, copy=False)
        values = _texts(values, what)
    cells = list(values)
    if not set(map(type, cells)) <= {str}:
        return _from_values(cells, what)
    if not all(map(str.isascii, cells)):
        _refuse_halves(cells, what)
    return np.array(cells, dtype=object)


def _refuse_halves(cells: list[str], what: str) -> None:
    for i, cell in enumerate(cells):
        if HALF.search(cell):
            raise TableError(f"{what} holds half a character (a lone surrogate) in row {i}: {short(cell)!a}.")


def _texts(values: Array, what: str) -> list[str]:
    """Bytes, text of fixed width and dates as text."""
    if values.dtype.kind == "V":
        raise TableError(f"{what} holds records; a cell is a number or text.")
    if values.dtype.kind == "S":
        try:
            values = np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise TableError(f"{what} holds bytes that are not UTF-8.") from None
    try:
        cells: list[str] = values.astype(str).tolist()
    except (ValueError, SystemError):  # numbers that stand for no character
        raise TableError(f"{what} holds text that is not Unicode.") from None
    return cells


def _from_values(values: list[Any], what: str) -> Array:
    """Python objects of several types, or of one type that is not text."""
    plain = [_plain(v) for v in values]
    kinds = set(map(type, plain))
    if kinds == {bool}:
        return np.array(plain, dtype=bool)
    try:
        if kinds == {int}:
            return np.array(plain, dtype=np.int64)
        if kinds <= {int, float, type(None)} and kinds & {int, float}:
            return np.array([np.nan if v is None else float(v) for v in plain], dtype=np.float64)
    except OverflowError:  # a whole number that is too large stays as it is written
        return np.array([_text(v) for v in plain], dtype=object)
    plain = [_vector_text(value) for value in plain]
    for i, value in enumerate(plain):
        if isinstance(value, (list, tuple, dict, set)):
            raise TableError(f"{what} holds a {type(value).__name__} in row {i}; a cell is a number or text.")
    cells = [_text(v) for v in plain]
    _refuse_halves(cells, what)
    return np.array(cells, dtype=object)


def _vector_text(value: Any) -> Any:
    """A list of numbers as text, which `cluewise.Rows` reads again; any other value as it is."""
    numbers = isinstance(value, list | tuple) and all(isinstance(v, int | float) for v in value)
    return f"[{', '.join(map(repr, value))}]" if numbers else value


def _plain(value: Any) -> Any:
    # pandas' own marks for a missing value compare as neither true nor false.
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)


def number(cell: str) -> float:
    """The number that a cell holds, nan when it holds none.

    Examples
    --------
    >>> from cluewise.tables import number
    >>> number(" 1.5"), number("red")
    (1.5, nan)
    """
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def is_number(cell: str) -> bool:
    """Whether a cell holds a number ("nan" is one, "" and "red" are not)."""
    return not math.isnan(number(cell)) or cell.strip().lower().lstrip("+-") == "nan"


def typed(cells: Sequence[str]) -> Array:
    """The cells of a text file as int64, float64 (empty = nan) or text.

    Examples
    --------
    >>> from cluewise.tables import typed
    >>> typed(["3", "-4"]).tolist(), typed(["3", "", "1e3"]).tolist(), typed(["007", "3"]).tolist()
    ([3, -4], [3.0, nan, 1000.0], ['007', '3'])
    """
    cells = list(cells)
    try:
        whole = list(map(int, cells))
    except ValueError:
        return _floats(cells)
    if list(map(str, whole)) != cells:
        return _floats(cells)
    try:
        return np.array(whole, dtype=np.int64)
    except OverflowError:
        return np.array(cells, dtype=object)


def _floats(cells: list[str]) -> Array:
    try:
        values = [float(cell) if cell else math.nan for cell in cells]
    except ValueError:
        return np.array(cells, dtype=object)
    joined = "\n".join(cells)
    if any(map(math.isinf, values)) and any(math.isinf(v) and "inf" not in c.lower() for c, v in zip(cells, values)):
        return np.array(cells, dtype=object)  # a number too long to be one
    if not joined.strip() or not joined.isascii() or "_" in joined or _CODE.search(joined):
        return np.array(cells, dtype=object)
    return np.array(values, dtype=np.float64)


def typed_series(series: Any) -> Array:
    """`typed` for a polars series of text: the same answer, without a Python object per cell."""
    import polars as pl

    if series.str.contains(r"^(?:0|-?[1-9][0-9]*)$").all():
        whole = series.cast(pl.Int64, strict=False)
        return np.array(whole.to_numpy()) if whole.null_count() == 0 else typed(series.to_list())
    values = series.cast(pl.Float64, strict=False)
    empty = int((series == "").sum())
    lossless = not series.str.contains(r"_|^\s*[+-]?0[0-9]").any()
    if values.null_count() == empty < len(series) and lossless and not values.is_infinite().any():
        return np.array(values.fill_null(math.nan).to_numpy())
    return typed(series.to_list())
