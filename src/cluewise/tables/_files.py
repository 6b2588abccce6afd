"""Files: opened with clear refusals, written aside and then renamed."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cluewise._typing import Array
from cluewise.tables import _csv, _formats, _packed
from cluewise.tables._columns import FileError, TableError, columns_of
from cluewise.tables._limits import check_size
from cluewise.tables._table import Table

__all__ = ["atomic", "peek", "read", "read_bytes", "read_json", "write", "writing"]

_TEXT = (".csv", ".tsv", ".txt")
_ARRAYS = (".npz", ".npy")
_PARQUET = (".parquet", ".pq")
READS = (*_TEXT, ".xlsx", *_PARQUET, *_ARRAYS, ".json")

_WRITERS: dict[str, Callable[[Path, Mapping[str, Array]], None]] = {
    ".parquet": _formats.write_parquet,
    ".npz": _formats.write_npz,
    ".json": _formats.write_json,
}


def read(
    path: str | os.PathLike[str],
    *,
    header: Sequence[str] | None = None,
    text: Collection[str] = (),
    sheet: str | None = None,
) -> Table:
    r"""Read a table from CSV, TSV, XLSX, Parquet, NPZ, NPY or JSON, also inside .gz or .zip.

    Parameters
    ----------
    path : str or path
        The suffix tells the format. Text files are UTF-8, separated by comma, semicolon or tab. Their first
        line names the columns; if it holds nothing but numbers it is data, and the columns are x0, x1, ...
    header : sequence of str, optional
        Names for the columns of a text file that has no header line.
    text : collection of str
        Columns of a text file that stay text even if they hold only numbers. Columns that are called like
        names of rows (id, name, row, ...) always do.
    sheet : str, optional
        The sheet of an XLSX file; by default the first that holds a table.

    Returns
    -------
    Table

    Notes
    -----
    A text file that is not UTF-8 is read as Latin-1. A column without a name, or with that of another, gets a new one.
    A `ColumnWarning` says so.

    In a text file, an apostrophe before ``=``, ``+``, ``-``, ``@``, a tab or a carriage return is not part of the cell:
    spreadsheets and `write` mark text with it that would be taken for a formula otherwise.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import tables
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("id;x;color\na17;1.5;red\nb3;2;blue\n")
    >>> tables.read(path).columns["x"].tolist()
    [1.5, 2.0]
    """
    path, data = _unpacked(path)
    suffix = path.suffix.lower()
    if sheet is not None and suffix != ".xlsx":
        raise TableError(f"{path.name} has no sheets; leave '{sheet}' out.")
    if suffix == ".xlsx":
        return _packed.parse_xlsx(data, path.name, sheet)
    if suffix in _TEXT:
        return _csv.parse_csv(data, path, header, text)
    if suffix in _ARRAYS:
        return _formats.parse_arrays(data, path.name)
    if suffix in _PARQUET:
        return _formats.parse_parquet(data, path.name)
    if suffix == ".json":
        return _formats.from_json(_formats.parse_json(data, path.name), path.name)
    raise _unknown_format(path, "reads", READS)


def _unpacked(path: str | os.PathLike[str]) -> tuple[Path, bytes]:
    """The name and content of a file, or of the one inside it that matters."""
    path, data = Path(path), read_bytes(path)
    if path.suffix.lower() in (".gz", ".zip"):
        return _packed.unpack(data, path, READS)
    return path, data


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read the value in a JSON file, whatever it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import tables
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.json"
    >>> _ = path.write_text('{"must": [["a17", "b3"]]}')
    >>> tables.read_json(path)
    {'must': [['a17', 'b3']]}
    """
    return _formats.parse_json(read_bytes(path), Path(path).name)


def peek(path: str | os.PathLike[str], count: int = 1) -> list[list[str]]:
    r"""The fields of the first records of a text file, before anybody decides whether they are a header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import tables
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _ = path.write_text("a17,b3,must\nb3,c,cannot\n")
    >>> tables.peek(path, 2)
    [['a17', 'b3', 'must'], ['b3', 'c', 'cannot']]
    """
    inner, data = _unpacked(path)
    return _csv.first_records(data, inner, count)


def write(path: str | os.PathLike[str], table: Table | Mapping[str, Any], *, raw_cells: bool = False) -> None:
    r"""Write a table as CSV, Parquet, NPZ or JSON, whole or not at all.

    Parameters
    ----------
    path : str or path
        The suffix tells the format. An old file stays as it is until the new one is complete.
    table : Table or mapping of str to sequence
        The columns. Text that looks like a number comes back from CSV as a number; from the other formats
        everything comes back as it was.
    raw_cells : bool, default=False
        Write text into CSV as it is here. Otherwise text that a spreadsheet would run as a formula (it begins
        with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return and is not a number) gets an apostrophe in
        front, which `read` takes away again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import tables
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> tables.write(path, {"id": ["a17", "b3"], "cluster": [0, 1]})
    >>> path.read_text()
    'id,cluster\na17,0\nb3,1\n'
    """
    path = Path(path)
    columns = table.columns if isinstance(table, Table) else columns_of(table, path.name)
    suffix = path.suffix.lower()
    if suffix != ".csv" and suffix not in _WRITERS:
        raise _unknown_format(path, "writes", (".csv", *_WRITERS))
    with atomic(path) as aside, writing(path):
        if suffix == ".csv":
            _csv.write_csv(aside, columns, raw_cells=raw_cells)
        else:
            _WRITERS[suffix](aside, columns)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name a file when it cannot be written, although another file is written in its place.

    Examples
    --------
    >>> from cluewise import tables
    >>> with tables.writing("labels.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.FileError: 'labels.csv' cannot be written: no space left on device.
    """
    try:
        yield
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {_reason(error)}.", _reason(error)) from None


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file aside and rename it when it is complete; on any error the old file stays as it was.

    Parameters
    ----------
    path : str or path
        The file to write.

    Yields
    ------
    Path
        A new file in the same folder, with the same suffix, to write into.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import tables
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.json"
    >>> with tables.atomic(path) as aside:
    ...     _ = aside.write_text("{}")
    >>> path.read_text()
    '{}'
    """
    target = Path(os.path.realpath(path))  # a link stays a link to the new content
    mode = _writable_mode(target, path)
    aside = target.with_name(f".cluewise-{secrets.token_hex(8)}{target.suffix}")
    try:  # before the file is there: Ctrl-C may come as soon as it is
        with writing(path):
            os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield aside
        with writing(path):
            if mode is not None:
                os.chmod(aside, mode)
            _sync(aside)
            os.replace(aside, target)
    except BaseException:  # also Ctrl-C: nothing half-written is left behind
        with suppress(OSError):
            aside.unlink()
        raise
    with suppress(OSError):  # not every system can sync a folder
        _sync(target.parent)


def _writable_mode(target: Path, path: str | os.PathLike[str]) -> int | None:
    """Permissions of the file that is replaced (None: there is none), or a refusal."""
    if target.is_symlink():  # after all links were followed
        raise FileError(f"'{path}' is a link that leads back to itself.")
    if target.is_dir():
        raise FileError(f"'{path}' is a folder, not a file.")
    if not target.parent.is_dir():
        raise FileError(f"'{path}' cannot be written: there is no folder '{target.parent}'.")
    if not target.exists():
        return None
    if not target.is_file():
        raise FileError(f"'{path}' is not an ordinary file.")
    if not os.access(target, os.W_OK):
        raise FileError(f"'{path}' is write-protected.")
    return stat.S_IMODE(target.stat().st_mode)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_bytes(path: str | os.PathLike[str], start: int = 0) -> bytes:
    """What an ordinary file holds behind its first ``start`` bytes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables import read_bytes
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _ = path.write_bytes(b"a17,b3,must")
    >>> read_bytes(path, 7)
    b'must'
    """
    path = Path(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"'{path}' is a folder, not a file.")
        if not stat.S_ISREG(status.st_mode):  # reading it might never end
            raise FileError(f"'{path}' is a pipe, a socket or a device; copy its content into a file and read that.")
        check_size(status.st_size - start, f"'{path}'")
        with path.open("rb") as stream:
            stream.seek(start)
            return stream.read()
    except TableError:
        raise
    except FileNotFoundError:
        raise FileError(f"there is no file '{path}'.") from None
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {_reason(error)}.") from None
    except ValueError:
        raise FileError(f"{str(path)!r} is not the name of a file.") from None


def _unknown_format(path: Path, verb: str, known: Sequence[str]) -> TableError:
    called = f"'{path.suffix.lower()}' is" if path.suffix else "a name without suffix is"
    choice = f"{', '.join(known[:-1])} or {known[-1]}"
    return TableError(f"'{path}': {called} not a format that cluewise {verb}; use {choice}.")


def _reason(error: OSError) -> str:
    if isinstance(error, FileError) and error.reason:
        return error.reason
    return (error.strerror or str(error)).lower()
