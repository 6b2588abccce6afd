"""JSON, NPZ and Parquet in and out."""

from __future__ import annotations

import io
import json
import math
import os
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from cluewise._extras import install
from cluewise._interrupts import deferred
from cluewise._texts import short
from cluewise._typing import Array
from cluewise.tables._archives import check_members, open_member
from cluewise.tables._columns import TableError, column_of
from cluewise.tables._csv import decode
from cluewise.tables._limits import check_size, limit
from cluewise.tables._table import Table, from_frame

__all__ = [
    "from_json",
    "parse_arrays",
    "parse_json",
    "look_into_parquet",
    "parse_parquet",
    "read_parquet_rows",
    "write_beside_ids",
    "write_json",
    "write_npz",
    "write_parquet",
]


_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_ZIP = b"PK"
_MAGIC, _MAGIC_LENGTH = b"\x93NUMPY", 8
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_CELL = 8  # bytes of a number in the matrix
_STDERR = 2
_alone = threading.Lock()  # two threads that swap the same file number would not find it again


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Name the file when a library that parses files fails, however it fails."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
        raise TableError(f"{name} cannot be read; is it cut off or damaged?") from error


def parse_json(data: bytes, name: str) -> Any:
    """The value in a JSON file, or an error that names the line."""
    text = decode(data.removeprefix(b"\xef\xbb\xbf"), name)
    with _reading(name):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
            problem = "the file ends in the middle" if cut else f"this is not JSON ({error.msg})"
            raise TableError(f"{name} line {error.lineno}: {problem}.") from None
        except RecursionError:
            raise TableError(f"{name} is nested too deeply for a table.") from None
        except ValueError:
            raise TableError(f"{name} holds a number with too many digits.") from None


def from_json(value: Any, name: str = "the table") -> Table:
    """A table from a list of records or from an object of columns.

    Examples
    --------
    >>> from cluewise.tables import from_json
    >>> table = from_json([{"x": 1, "color": "red"}, {"x": 2.5}])
    >>> table.columns["x"].tolist(), table.columns["color"].tolist()
    ([1.0, 2.5], ['red', ''])
    """
    if isinstance(value, list):
        for i, record in enumerate(value):
            if not isinstance(record, dict):
                raise TableError(f"{name} row {i} is not an object with one entry per column.")
        keys = dict.fromkeys(key for record in value for key in record)
        check_size(_CELL * len(keys) * len(value), name)  # records need not share any key
        value = {key: [record.get(key) for record in value] for key in keys}
    if isinstance(value, dict) and all(isinstance(column, list) for column in value.values()):
        given: dict[str, Any] = {key: _with_infinity(column) for key, column in value.items()}
        return Table(given, name)
    raise TableError(f"{name} holds neither a list of records nor an object of columns.")


def _with_infinity(column: list[Any]) -> list[Any]:
    """The column with the numbers that JSON can only hold as text; text of other kinds is left alone."""
    words = {cell for cell in column if isinstance(cell, str)}
    if not words or not words <= _INFINITE.keys():
        return column
    return [_INFINITE[cell] if isinstance(cell, str) else cell for cell in column]


def parse_arrays(data: bytes, name: str) -> Table:
    """The table in an NPZ or NPY file: ``X``, and every other array with one value per row."""
    arrays = _members(data, name) if data.startswith(_ZIP) else {"X": _array(io.BytesIO(data), len(data), "X", name)}
    points = arrays.get("X")
    if points is None or points.ndim == 1:
        return Table(arrays, name)
    if points.ndim != 2:
        raise TableError(f"X in {name} has {points.ndim} dimensions; it needs rows and columns.")
    if points.size == 0:  # before a name is made for each of a billion columns
        raise TableError(f"{name} has no {'columns' if len(points) else 'rows'}.")
    names = _feature_names(arrays, name)
    columns = dict(zip(names, points.T))
    for key, array in arrays.items():
        if key not in ("X", "feature_names", "class_names") and array.shape == (len(points),):
            if key in columns:
                raise TableError(f"'{short(key)}' in {name} is both an array and one of the feature_names.")
            columns[key] = array
    return Table(columns, name, points=tuple(names))


def _feature_names(arrays: Mapping[str, Array], name: str) -> list[str]:
    d = arrays["X"].shape[1]
    given = arrays.get("feature_names")
    names = [f"x{j}" for j in range(d)] if given is None else column_of(given, f"feature_names of {name}").tolist()
    if len(names) != d:
        raise TableError(f"{name} has {len(names)} feature_names, but X has {d} columns.")
    seen: set[str] = set()
    for feature in map(str, names):
        if feature in seen:
            raise TableError(f"'{short(feature)}' appears twice in the feature_names of {name}.")
        seen.add(feature)
    return list(map(str, names))


def _members(data: bytes, name: str) -> dict[str, Array]:
    """The arrays of an NPZ file, if all of them together are not too large."""
    arrays = {}
    with _reading(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_members(archive, name)
        check_size(sum(info.file_size for info in archive.infolist()), f"{name} unpacked")
        for info in archive.infolist():
            key = info.filename.removesuffix(".npy")
            if key in arrays:
                raise TableError(f"'{short(key)}' appears twice in {name}.")
            with open_member(archive, info) as file:
                arrays[key] = _array(file, info.file_size, key, name)
    return arrays


def _array(file: IO[bytes], size: int, key: str, name: str) -> Array:
    """One array of ``size`` bytes with its header; what the header declares is checked before it is believed."""
    damaged = TableError(f"{name} cannot be read; is it cut off or damaged?")
    with _reading(name):
        magic = file.read(_MAGIC_LENGTH)
        if not magic.startswith(_MAGIC):
            raise TableError(f"'{short(key)}' in {name} is not an array.") if size and key != "X" else damaged
        read_header = _HEADERS.get((magic[-2], magic[-1]))
        if read_header is None:
            raise damaged
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that Python 2 wrote the header
                shape, by_column, dtype = read_header(file)
        except MemoryError:  # Python's parser says so of a header with too many brackets
            raise damaged from None
        if dtype.hasobject:
            raise TableError(f"{name} holds Python objects; save text as an array of str.")
        if dtype.itemsize == 0 or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - file.tell():
            raise damaged
        left = size - file.tell()
        content = file.read(left + 1)  # zipfile looks at the checksum when the end is reached
        if len(content) != left:
            raise damaged
        return np.ndarray(shape, dtype, bytearray(content), order="F" if by_column else "C")


def parse_parquet(data: bytes, name: str) -> Table:
    """The table in a Parquet file."""
    pl = _polars(f"reading {name}")
    with _reading_parquet(name):
        width = len(pl.read_parquet_schema(io.BytesIO(data)))
        most = limit() // (_CELL * max(width, 1))
        frame = pl.read_parquet(io.BytesIO(data), n_rows=most + 1)  # a few bytes can stand for a billion rows
        check_size(max(_CELL * width * frame.height, int(frame.estimated_size())), name)
        return from_frame(frame, name)


def look_into_parquet(path: Path) -> tuple[int, dict[str, str]]:
    """Number of rows of a Parquet file, and the kind of each column, from the end of the file alone."""
    pl = _polars(f"reading {path.name}")
    with _reading_parquet(path.name):
        types = pl.read_parquet_schema(path)
        return int(pl.scan_parquet(path).select(pl.len()).collect().item()), {
            name: "single" if kind == pl.Float32 else "number" if kind.is_numeric() or kind == pl.Boolean else str(kind)
            for name, kind in types.items()
        }


def read_parquet_rows(path: Path, columns: Sequence[str], start: int, stop: int) -> Table:
    """Some rows of a Parquet file, without reading the others."""
    pl = _polars(f"reading {path.name}")
    with _reading_parquet(path.name):
        return from_frame(_rows_of(pl, path, columns, start, stop), path.name)


def write_beside_ids(target: Path, path: Path, ids: str, columns: Mapping[str, Array]) -> None:
    """A Parquet file with the ids of another one, as they are there, and new columns."""
    pl = _polars(f"reading {path.name}")
    with _reading_parquet(path.name):
        frame = _rows_of(pl, path, [ids], 0, len(next(iter(columns.values()))))
    _write_frame(frame.with_columns(pl.Series(name, column) for name, column in columns.items()), target)


def _rows_of(pl: Any, path: Path, columns: Sequence[str], start: int, stop: int) -> Any:
    frame = pl.scan_parquet(path).select(columns).slice(start, stop - start).collect()
    if frame.height != stop - start:
        raise TableError(f"{path.name} has changed while it was read.")
    return frame


@contextmanager
def _reading_parquet(name: str) -> Iterator[None]:
    with _quiet_panics(), _reading(name):
        try:
            yield
        except (Exception, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of polars is not an Exception
            raise TableError(f"{name} cannot be read; is it cut off or damaged?") from error


def _polars(doing: str) -> Any:
    try:
        import polars
    except ImportError:
        raise TableError(f"{doing} needs polars: {install('io')}.") from None
    return polars


def write_json(path: Path, columns: Mapping[str, Array]) -> None:
    """A list of records, one per line; empty = null, infinite = the text "inf"."""
    values = [[_plain(v) for v in column.tolist()] for column in columns.values()]
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for i, record in enumerate(zip(*values)):
            line = json.dumps(dict(zip(columns, record)), ensure_ascii=False, allow_nan=False)
            file.write(f"{',' if i else ''}\n{line}")
        file.write("\n]\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def write_npz(path: Path, columns: Mapping[str, Array]) -> None:
    """One array per column."""
    # Not numpy.savez: its own argument names cannot be names of columns.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, column in columns.items():
            array = column.astype(str) if column.dtype.kind == "O" else column
            # Ctrl-C waits for the end of an entry: zipfile cannot close an archive that was interrupted.
            with deferred(), archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def write_parquet(path: Path, columns: Mapping[str, Array]) -> None:
    """One Parquet column per column."""
    pl = _polars(f"writing '{path.suffix}'")
    series = [
        pl.Series(
            name,
            column.tolist() if column.dtype.kind == "O" else np.ascontiguousarray(column),
            dtype=pl.String if column.dtype.kind == "O" else None,
        )
        for name, column in columns.items()
    ]
    _write_frame(pl.DataFrame(series), path)


def _write_frame(frame: Any, path: Path) -> None:
    content = io.BytesIO()  # because polars says of a full disk that the file is out of specification
    frame.write_parquet(content)
    path.write_bytes(content.getbuffer())


def _renew() -> None:
    global _alone
    _alone = threading.Lock()


if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(after_in_child=_renew)


@contextmanager
def _quiet_panics() -> Iterator[None]:
    """Hold back what is written to standard error, and show it at the end unless the block fails.

    Polars prints its panics before it raises them; users get one sentence instead.
    """
    with _alone, ExitStack() as stack:
        try:
            held = stack.enter_context(tempfile.TemporaryFile())
            kept = os.dup(_STDERR)
        except OSError:  # no place for a temporary file, or standard error is closed
            yield
            return
        os.dup2(held.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
        held.seek(0)
        with suppress(OSError):
            os.write(_STDERR, held.read())
