"""Columns before they are encoded: numbers, points in time, vectors, or words; from any kind of table."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from cluewise._elsewhere import is_tensor
from cluewise._typing import Array, Ints
from cluewise.tables import MISSING, Table, TableError

__all__ = ["Cells", "Given", "Words", "read_columns", "words_of"]

_TIME = "datetime64[us]"
_NAT = -(2**63)  # what NumPy stores for a missing point in time


@dataclass(frozen=True)
class Words:
    """A column of text: its different values in alphabetical order, and which one each row has (-1: none)."""

    levels: list[str]
    codes: Ints

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> Ints:
        """How often each level occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))


Cells: TypeAlias = Array | Words
"""1-D float64 (nan: missing), 1-D datetime64 (NaT: missing), 2-D float64 (vectors; a row of nan: missing), or words."""


@dataclass(frozen=True)
class Given:
    """The columns of a table as cells, and what messages call the table and its rows."""

    columns: dict[str, Cells]
    n: int
    name: str = "the table"
    where: Callable[[int], str] = "row {}".format
    orders: dict[str, list[str]] = field(default_factory=dict)  # levels of columns that are declared as ordered
    named: bool = True  # the columns have names of their own


def read_columns(X: Any) -> Given:
    """The columns of a `Table`, a data frame, a mapping or a 2-D array."""
    if isinstance(X, Table):
        return _given({key: read_cells(values) for key, values in X.columns.items()}, X.name, X.where)
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # a sparse matrix may be a dict
        return _given({str(key): read_cells(values) for key, values in X.items()})
    if isinstance(X, str | PathLike):
        raise TableError(f"a table is needed, not a path; read it first: cluewise.tables.read({str(X)!r}).")
    if isinstance(X, np.ndarray | list | tuple):
        return _from_array(X)
    if is_tensor(X):  # what is made of it would not be on its device
        raise TypeError("Rows does not take tensors; pass X as a NumPy array.")
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except ValueError as error:  # pandas allows a name twice
        raise TableError(f"the frame cannot be used: {' '.join(str(error).split())}") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return _from_frame(frame, nw) if isinstance(frame, nw.DataFrame) else _from_array(X)


def _given(columns: dict[str, Cells], name: str = "the table", where: Any = "row {}".format, **more: Any) -> Given:
    lengths = {key: len(cells) for key, cells in columns.items()}
    n = next(iter(lengths.values()), 0)
    for key, length in lengths.items():
        if length != n:
            raise TableError(f"column '{key}' of {name} has {length} rows, but column '{next(iter(lengths))}' has {n}.")
    return Given(columns, n, name, where, **more)


def _from_array(X: Any) -> Given:
    from sklearn.utils import check_array

    if isinstance(X, list | tuple) and any(isinstance(cell, str) for row in X if isinstance(row, list) for cell in row):
        X = np.array(X, dtype=object)  # otherwise NumPy would make text of the numbers beside a word
    X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    return _given({f"x{j}": read_cells(X[:, j]) for j in range(X.shape[1])}, named=False)


def _from_frame(frame: Any, nw: Any) -> Given:
    columns: dict[str, Cells] = {}
    orders: dict[str, list[str]] = {}
    for key in frame.columns:
        series, name = frame.get_column(key), key if isinstance(key, str) else f"x{key}"
        dtype = series.dtype
        if nw.is_ordered_categorical(series):
            known = getattr(dtype, "categories", None)  # older versions of narwhals have another way
            orders[name] = list(map(str, series.cat.get_categories() if known is None else known))
        if dtype.is_numeric() and not dtype.is_decimal() and "128" not in str(dtype):
            plain = series.null_count() == 0
            columns[name] = read_cells(series.to_numpy() if plain else series.cast(nw.Float64).to_numpy())
        elif dtype in (nw.Datetime, nw.Date) and not getattr(dtype, "time_zone", None):
            stamps = series.cast(nw.Datetime("us")).dt.timestamp("us")  # polars 1.0 crashes on dates in NumPy 2
            columns[name] = stamps.fill_null(_NAT).to_numpy().astype(np.int64).view(_TIME)
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            columns[name] = _from_texts(series, nw)
        else:
            columns[name] = read_cells(series.to_list())
    return _given(columns, orders=orders)


def _from_texts(series: Any, nw: Any) -> Words:
    """A column of text; the library of the frame finds the codes if many rows have the same."""
    texts = series if series.dtype == nw.String else series.cast(nw.String)
    levels = texts.drop_nulls().unique().to_list()
    if not levels or len(levels) * 2 > len(texts):
        return words_of(texts.to_list())
    codes = texts.replace_strict(levels, list(range(len(levels))), return_dtype=nw.Int64)
    if texts.null_count():
        codes = codes.fill_null(len(levels))
    return _merge([*levels, None], codes.to_numpy().astype(np.int64))


def read_cells(values: Any) -> Cells:
    """One column as cells, whatever it holds."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        kind = values.dtype.kind
        if kind in "biuf":
            return values.astype(np.float64, copy=False)
        if kind == "M":
            return values.astype(_TIME)
        if kind == "m":
            return np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "s"))
        return words_of(values.astype(str).tolist())
    cells = list(values)
    kinds = set(map(type, cells))
    if kinds <= {str, type(None)}:
        return words_of(cells)
    plain = [_plain(cell) for cell in cells]
    kinds = set(map(type, plain)) - {type(None)}
    if not kinds:
        return words_of([None] * len(cells))
    if kinds <= {bool, int, float}:
        return np.array([np.nan if cell is None else _float(cell) for cell in plain], dtype=np.float64)
    if all(issubclass(kind, datetime.timedelta) for kind in kinds):
        return np.array([np.nan if cell is None else cell.total_seconds() for cell in plain])
    if all(issubclass(kind, datetime.date) for kind in kinds):
        return np.array([None if cell is None else _naive(cell) for cell in plain], dtype=_TIME)
    if kinds <= {list, tuple, np.ndarray}:
        found = stack_vectors(plain)
        if found is not None:
            return found
    return words_of([None if cell is None else str(cell) for cell in plain])


def stack_vectors(cells: Sequence[Any]) -> Array | None:
    """Vectors of the most frequent length as rows of a matrix (others become nan); None if they hold no numbers."""
    arrays = []
    for cell in cells:
        try:
            array = None if cell is None else np.asarray(cell, dtype=np.float64)
        except (TypeError, ValueError):
            return None
        arrays.append(array if array is not None and array.ndim == 1 and len(array) else None)
    lengths = np.array([0 if array is None else len(array) for array in arrays])
    if not lengths.any():
        return None
    width = int(np.bincount(lengths[lengths > 0]).argmax())
    matrix = np.full((len(arrays), width), np.nan)
    for row in np.flatnonzero(lengths == width):
        matrix[row] = arrays[row]
    matrix[~np.isfinite(matrix).all(axis=1)] = np.nan
    return matrix


def _plain(cell: Any) -> Any:
    """Scalars of NumPy and pandas as those of Python; missing values as None."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, decimal.Decimal):
        cell = float(cell)
    if isinstance(cell, float) and cell != cell:
        return None
    return cell


def _float(cell: float) -> float:
    try:
        return float(cell)
    except OverflowError:  # a whole number of more than 308 digits
        return np.inf if cell > 0 else -np.inf


def _naive(cell: datetime.date) -> datetime.date:
    return cell.replace(tzinfo=None) if isinstance(cell, datetime.datetime) else cell


def words_of(cells: Sequence[Any]) -> Words:
    """A column of text without the spaces around it; see `cluewise.tables.MISSING` for what counts as missing."""
    # Work is done once per different value, so that a million rows of ten cities are cheap.
    found = dict.fromkeys(cells)
    index = {cell: code for code, cell in enumerate(found)}
    return _merge(list(found), np.fromiter(map(index.__getitem__, cells), dtype=np.int64, count=len(cells)))


def _merge(found: Sequence[str | None], codes: Ints) -> Words:
    """The words of texts with spaces around them, and of texts that stand for missing values."""
    clean = ["" if cell is None else cell.strip() for cell in found]
    levels = sorted({text for text in clean if text.lower() not in MISSING})
    index = {level: code for code, level in enumerate(levels)}
    places = np.array([index.get(text, -1) for text in clean], dtype=np.int32)
    return Words(levels, places[codes])
