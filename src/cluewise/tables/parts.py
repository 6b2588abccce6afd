"""Tables in parts: files with the same columns, whose rows follow each other, and a folder of parts as output.

A part that is a Parquet file is read by stretches of rows; one that is a text file is read as a whole.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cluewise._typing import Array
from cluewise.tables._columns import FileError, TableError
from cluewise.tables._files import read, write, writing
from cluewise.tables._formats import look_into_parquet, read_parquet_rows, write_beside_ids
from cluewise.tables._table import Table

__all__ = [
    "Part", "check_same_columns", "find_parts", "is_in_parts", "look_into", "new_folder", "read_rows", "write_part"
]  # fmt: skip

PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv", ".txt")
_NUMBERS = ("number", "single")


class Part(NamedTuple):
    """A file of a table in parts: its rows, and the kind of each column.

    Numbers are of the kind "number", or "single" if they have 32 bits; other kinds are names of types.

    Examples
    --------
    >>> from cluewise.tables.parts import Part
    >>> Part("rows-0.parquet", 1000, {"id": "String", "x": "single"}).rows
    1000
    """

    path: str
    rows: int
    kinds: Mapping[str, str]

    @property
    def name(self) -> str:
        """What messages call it."""
        return Path(self.path).name


def is_in_parts(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a table in parts: a folder, or a pattern such as ``rows-*.parquet``.

    Examples
    --------
    >>> from cluewise.tables.parts import is_in_parts
    >>> is_in_parts("rows-*.parquet"), is_in_parts("rows.parquet")
    (True, False)
    """
    return os.path.isdir(path) or (has_magic(os.fspath(path)) and not os.path.lexists(path))


def find_parts(path: str | os.PathLike[str]) -> list[Path]:
    """The files of a folder or pattern in the order of their names, in which numbers count: part 9 before part 10.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables.parts import find_parts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("rows-10.csv", "rows-9.csv", "_SUCCESS"):
    ...     (folder / name).touch()
    >>> [file.name for file in find_parts(folder)]
    ['rows-9.csv', 'rows-10.csv']
    """
    path = Path(path)
    if path.is_dir():
        known = [file for file in path.iterdir() if file.suffix.lower() in PARQUET + TEXT]
        found = [file for file in known if not file.name.startswith((".", "_"))]  # as Spark and Hive name their own
        if not found:
            raise FileError(f"the folder '{path}' holds no Parquet or CSV file.")
    else:
        found = [Path(name) for name in glob(os.fspath(path))]
        if not found:
            raise FileError(f"no file matches '{path}'.")
    found.sort(key=_natural)
    names: dict[str, Path] = {}
    for file in found:
        if file.is_dir():
            raise FileError(f"'{file}', which matches '{path}', is a folder, not a file.")
        if not file.is_file():  # to open a pipe might never end
            raise FileError(f"'{file}' is not an ordinary file.")
        if file.suffix.lower() not in PARQUET + TEXT:
            raise TableError(f"'{file}' is not a Parquet or CSV file; rows in parts are read from these only.")
        if names.setdefault(file.stem, file) != file:
            raise FileError(f"'{names[file.stem]}' and '{file}' would have the same name in the output.")
    return found


def _natural(path: Path) -> list[tuple[int, str]]:
    words = re.split(r"(\d{1,18})", path.name)
    return [(int(word), "") if word.isdigit() else (-1, word) for word in words]


def look_into(path: str | os.PathLike[str], ids: str | None = None) -> Part:
    r"""How many rows a file has, and which columns; of a Parquet file only its end is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables.parts import look_into
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("id,x\na17,1.5\nb3,2\n")
    >>> look_into(path)[1:]
    (2, {'id': 'text', 'x': 'number'})
    """
    path = Path(path)
    if path.suffix.lower() in PARQUET:
        with _opening(path):
            path.open("rb").close()
        return Part(str(path), *look_into_parquet(path))
    table = read(path, text=() if ids is None else (ids,))
    kinds = {name: "text" if column.dtype.kind == "O" else "number" for name, column in table.columns.items()}
    return Part(str(path), len(table), kinds)


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(f"'{path}' cannot be read: {(error.strerror or str(error)).lower()}.") from None


def check_same_columns(parts: Sequence[Part]) -> None:
    """Refuse parts whose columns are not those of the first one.

    Examples
    --------
    >>> from cluewise.tables.parts import Part, check_same_columns
    >>> check_same_columns([Part("a.csv", 1, {"x": "number"}), Part("b.csv", 1, {"y": "number"})])
    Traceback (most recent call last):
    ...
    cluewise.tables._columns.TableError: b.csv has no column 'x', which a.csv has.
    """
    first = parts[0]
    for part in parts[1:]:
        for one, other in ((first, part), (part, first)):
            missing = [name for name in one.kinds if name not in other.kinds]
            if missing:
                raise TableError(f"{other.name} has no column '{missing[0]}', which {one.name} has.")
        for name, kind in part.kinds.items():
            was = first.kinds[name]
            # In text files, a column of numbers with a word such as n/a in it is text for now.
            if (kind in _NUMBERS) != (was in _NUMBERS) and "text" not in (kind, was):
                raise TableError(f"column '{name}' is {_say(was)} in {first.name}, but {_say(kind)} in {part.name}.")


def _say(kind: str) -> str:
    return "a number" if kind in _NUMBERS else f"of type {kind}"


def read_rows(part: Part, columns: Sequence[str], start: int, stop: int, ids: str | None = None) -> Table:
    r"""Some columns of the rows from ``start`` to ``stop`` of a part; ``ids`` stays text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables.parts import look_into, read_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("id,x\na17,1.5\nb3,2\n")
    >>> read_rows(look_into(path), ["x"], 1, 2).columns["x"].tolist()
    [2.0]
    """
    path = Path(part.path)
    if path.suffix.lower() in PARQUET:
        frame = read_parquet_rows(path, columns, start, stop)
        return Table(frame.columns, path.name, numbers=np.arange(start, stop))
    table = read(path, text=() if ids is None else (ids,))
    if len(table) != part.rows or any(name not in table.columns for name in columns):
        raise TableError(f"{path.name} has changed while it was read.")
    lines = None if table.lines is None else table.lines[start:stop]
    return Table({name: table.columns[name][start:stop] for name in columns}, path.name, lines)


def write_part(folder: Path, part: Part, ids: str | None, start: int, columns: Mapping[str, Array]) -> None:
    r"""Write new columns for the rows of a part beside their ids, or their numbers from ``start``, as a Parquet file.

    The file has the name of the part. It is complete or not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from cluewise import tables
    >>> from cluewise.tables.parts import look_into, write_part
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows-0.csv").write_text("x\n1.5\n2\n")
    >>> write_part(folder, look_into(folder / "rows-0.csv"), None, 10, {"cluster": np.array([1, 0])})
    >>> tables.read(folder / "rows-0.parquet").columns["row"].tolist()
    [10, 11]
    """
    path = Path(part.path)
    target = folder / f"{path.stem}.parquet"
    if ids is None:
        write(target, {"row": np.arange(start, start + part.rows), **columns})
    elif path.suffix.lower() in PARQUET:
        aside = folder / f".{target.name}.{secrets.token_hex(8)}"  # two workers may write the same part
        with writing(target):
            write_beside_ids(aside, path, ids, columns)
            os.replace(aside, target)
    else:
        write(target, {ids: read_rows(part, [ids], 0, part.rows, ids).columns[ids], **columns})


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a folder aside and rename it when it is complete; a folder that is there is refused, and stays as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.tables.parts import new_folder
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clusters"
    >>> with new_folder(path) as aside:
    ...     (aside / "part.txt").touch()
    >>> [file.name for file in path.iterdir()]
    ['part.txt']
    """
    path = Path(path)
    _refuse_existing(path)
    aside = path.parent / f".cluewise-{secrets.token_hex(8)}"
    try:
        with writing(path):
            aside.mkdir()
        yield aside
        _refuse_existing(path)  # it may have come in the meantime
        with writing(path):
            aside.rename(path)
    except BaseException:  # also Ctrl-C: nothing half-written is left behind
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise FileError(f"'{path}' is there already; remove it, or choose another folder with --out.")
    if not path.parent.is_dir():
        raise FileError(f"'{path}' cannot be written: there is no folder '{path.parent}'.")
