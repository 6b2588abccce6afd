"""Tables inside other files: compressed ones, archives, and the sheets of a workbook."""

from __future__ import annotations

import datetime
import gzip
import io
import warnings
import zipfile
from collections.abc import Sequence
from itertools import chain, compress, count, repeat
from operator import is_not
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cluewise._extras import install
from cluewise._texts import short
from cluewise._typing import Ints
from cluewise.exceptions import ColumnWarning
from cluewise.tables._archives import check_book, check_members, read_member
from cluewise.tables._columns import TableError
from cluewise.tables._csv import name_columns
from cluewise.tables._limits import check_size, limit
from cluewise.tables._table import Table

__all__ = ["parse_xlsx", "unpack"]

_CELL = 8  # bytes of a cell of a column, filled or not


def unpack(data: bytes, path: Path, suffixes: Sequence[str]) -> tuple[Path, bytes]:
    """The file inside a .gz or .zip file: its name and its content."""
    try:
        if path.suffix.lower() == ".zip":
            return _from_zip(data, path, suffixes)
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(limit() + 1)
    except (TableError, MemoryError):
        raise
    except Exception as error:  # unpacking fails in many ways on damaged files; the cause is kept
        raise TableError(f"{path.name} cannot be unpacked; is it cut off or damaged?") from error
    check_size(len(content), f"{path.name} unpacked")
    inner = path.with_suffix("")
    return (inner if inner.suffix else path.with_suffix(".csv")), content


def _from_zip(data: bytes, path: Path, suffixes: Sequence[str]) -> tuple[Path, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_members(archive, path.name)
        found = [info for info in archive.infolist() if Path(info.filename).suffix.lower() in suffixes]
        found = [info for info in found if not info.filename.startswith(("__MACOSX", "."))]
        if not found:
            raise TableError(f"{path.name} holds no table.")
        if len(found) > 1:
            warnings.warn(
                f"{path.name} holds {len(found)} tables; '{short(found[0].filename)}' is used. "
                "Unpack it to use another.",
                ColumnWarning,
            )
        check_size(found[0].file_size, f"{path.name} unpacked")
        return path.with_name(Path(found[0].filename).name), read_member(archive, found[0])


def parse_xlsx(data: bytes, name: str, sheet: str | None) -> Table:
    """The table in one sheet of an Excel file; its first row that is not empty names the columns."""
    try:
        import openpyxl
    except ImportError:
        raise TableError(f"reading {name} needs openpyxl: {install('io')}.") from None
    try:
        check_book(data, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and charts, which no table needs
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheets = {page.title: _records(page) for page in book.worksheets}
    except (TableError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on damaged files; the cause is kept
        raise TableError(f"{name} cannot be read; is it cut off or damaged?") from error
    filled = [title for title, records in sheets.items() if records]
    if sheet is not None and sheet not in sheets:
        raise TableError(f"{name} has no sheet '{short(sheet)}'; it has {_quoted(list(sheets))}.")
    if not filled or (sheet is not None and sheet not in filled):
        raise TableError(f"{name} is empty.")
    chosen = filled[0] if sheet is None else sheet
    if sheet is None and len(filled) > 1:
        others = _quoted([title for title in filled if title != chosen])
        warnings.warn(
            f"{name} has {len(filled)} sheets; '{short(chosen)}' is used (--sheet chooses {others}).", ColumnWarning
        )
    return _from_records(sheets[chosen], name)


class _Row(NamedTuple):
    """The cells of a row that are not empty."""

    number: int
    columns: tuple[int, ...]
    cells: tuple[Any, ...]


def _records(page: Any) -> list[_Row]:
    """Rows of a sheet that are not empty; of the others, and of empty cells, nothing is kept."""
    page.reset_dimensions()  # what a sheet says of itself may be anything
    known: dict[tuple[int, ...], tuple[int, ...]] = {}  # most rows have the same columns
    found = []
    for number, row in enumerate(page.iter_rows(values_only=True), 1):
        if columns := tuple(compress(count(), map(is_not, row, repeat(None)))):
            cells = row if len(columns) == len(row) else tuple(row[j] for j in columns)
            found.append(_Row(number, known.setdefault(columns, columns), cells))
    return found


def _from_records(records: Sequence[_Row], name: str) -> Table:
    kept = sorted(set(chain.from_iterable({row.columns for row in records})))
    check_size(_CELL * len(records) * len(kept), f"{name} unpacked")
    place = {column: j for j, column in enumerate(kept)}
    filled: list[list[Any]] = [[None] * len(records) for _ in kept]
    for i, row in enumerate(records):
        for column, cell in zip(row.columns, row.cells):
            filled[place[column]][i] = cell
    first = [column[0] for column in filled]
    if all(isinstance(cell, int | float) for cell in first):
        names, skip = [f"x{j}" for j in range(len(kept))], 0
    else:
        fields = ["" if cell is None else str(_plain(cell)).strip() for cell in first]
        names, skip = name_columns(fields, f"{name} line {records[0].number}"), 1
    columns: dict[str, Any] = {key: [_plain(cell) for cell in column[skip:]] for key, column in zip(names, filled)}
    return Table(columns, name, _numbers(records[skip:]))


def _numbers(records: Sequence[_Row]) -> Ints:
    return np.array([row.number for row in records], dtype=np.int64)


def _plain(cell: Any) -> Any:
    """A cell as a number or text; midnight is a date."""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        cell = cell.date()
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else cell


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{short(name)}'" for name in names[:10])
