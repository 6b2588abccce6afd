"""CSV and its relatives: comma, semicolon or tab, quoted fields, and messages that name the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from cluewise._typing import Array, Ints
from cluewise.tables import _fast
from cluewise.tables._formulas import is_guarded, unguard, unguard_column
from cluewise.tables._numbers import is_number, number, typed
from cluewise.tables._table import Table, TableError, text_array

__all__ = ["ID_NAMES", "first_records", "parse_text"]

BIG = 5_000_000  # bytes; from here on the fast reader is worth its start-up time

ID_NAMES = ("id", "name", "key", "row", "index", "row_id", "rowid", "sample_id")
"""Columns that are taken for the names of the rows when nobody says which column is."""

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n?|\n")
_LONGEST = 2**31 - 1  # what the csv module takes as a limit on every system


def parse_text(data: bytes, path: Path, header: Sequence[str] | None, text: Collection[str]) -> Table:
    """The table in the bytes of a text file.

    ``header`` names the columns of a file that has no header line; columns in ``text`` stay text.
    """
    data = data.removeprefix(_BOM)
    delimiter = _delimiter(data, path)
    text = frozenset(text)
    table = _parse_fast(data, path.name, delimiter, header, text) if len(data) > BIG else None
    if table is None:
        table = _parse(data, path, delimiter, header, text)
    if not is_guarded(data):
        return table
    return Table({name: unguard_column(column) for name, column in table.columns.items()}, table.name, table.lines)


def _parse(data: bytes, path: Path, delimiter: str, header: Sequence[str] | None, text: Collection[str]) -> Table:
    records, lines = _records(decode(data, path.name), path.name, delimiter)
    names, skip = _header(records[0], path.name, int(lines[0]), header)
    _refuse_ragged(records, lines, len(names), path.name, whole=data.endswith((b"\n", b"\r")))
    kept = records[skip:]
    columns: dict[str, Array] = {}
    for j, column in enumerate(names):
        cells = list(map(itemgetter(j), kept))
        columns[column] = text_array(cells) if _stays_text(column, text) else typed(cells)
    return Table(columns, path.name, lines[skip:])


def first_records(data: bytes, path: Path, count: int) -> list[list[str]]:
    """The fields of the first records; fewer when the file ends or its quotes go wrong before."""
    data = data.removeprefix(_BOM)
    reader = _reader(decode(data, path.name), _delimiter(data, path))
    found: list[list[str]] = []
    with suppress(csv.Error):  # reading the whole file says what is wrong
        found.extend(islice(filter(None, reader), count))
    return [[unguard(field.strip()) for field in record] for record in found]


def decode(data: bytes, name: str) -> str:
    """The text in a file, or an error that names the line where it is not UTF-8."""
    if b"\0" in data:
        raise TableError(f"{name} is not a text file (it holds a zero byte).")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start])) + 1
        raise TableError(f"{name} line {line}: the text is not UTF-8; save the file as UTF-8.") from None


def _stays_text(column: str, text: Collection[str]) -> bool:
    # Names of rows are compared as text: 1.10 and 1.1 are two of them.
    return column in text or column.lower() in ID_NAMES


def _delimiter(data: bytes, path: Path) -> str:
    """The separator that splits the first line into the most fields."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    head = _LINE_END.split(data.lstrip(b"\r\n"), maxsplit=1)[0].decode("utf-8", errors="replace")
    _allow_fields(len(head))
    best, most = ",", 1
    for delimiter in ",;\t":
        fields = next(csv.reader([head], delimiter=delimiter), [])
        if len(fields) > most:
            best, most = delimiter, len(fields)
    return best


def _allow_fields(length: int) -> None:
    # The csv module has one limit for the whole process. It only ever grows here, so that readers in several
    # threads cannot take it away from each other.
    if csv.field_size_limit() < min(length, _LONGEST):
        csv.field_size_limit(min(length, _LONGEST))


def _reader(text: str, delimiter: str) -> Any:
    _allow_fields(len(text))
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)


def _records(text: str, name: str, delimiter: str) -> tuple[list[list[str]], Ints]:
    """All records but blank lines, and the line on which each begins."""
    reader = _reader(text, delimiter)
    records: list[list[str]] = []
    ends = [0]
    try:
        for record in reader:
            records.append(record)
            ends.append(reader.line_num)
    except csv.Error as error:
        raise TableError(f"{name} line {ends[-1] + 1}: {_csv_problem(str(error))}") from None
    lines = np.array(ends[:-1], dtype=np.int64) + 1
    filled = np.fromiter(map(bool, records), dtype=bool, count=len(records))
    if not filled.any():
        raise TableError(f"{name} is empty.")
    if not filled.all():
        records = [record for record in records if record]
    return records, lines[filled]


def _csv_problem(message: str) -> str:
    if "unexpected end" in message:
        return "a quote is opened here and never closed; does the file end in the middle?"
    return f"the quotes are not as they should be ({message})."


def _header(first: list[str], name: str, line: int, given: Sequence[str] | None) -> tuple[list[str], int]:
    """Names of the columns and the number of records (0 or 1) that they take."""
    if given is not None:
        return list(given), 0
    fields = [field.strip() for field in first]
    if all(is_number(field) for field in fields):
        return [f"x{j}" for j in range(len(fields))], 0
    fields = [unguard(field) for field in fields]
    if not fields[0]:
        fields[0] = "row"  # pandas leaves the name of its index empty
    seen: set[str] = set()
    for j, field in enumerate(fields):
        if not field:
            raise TableError(f"{name} line {line}: column {j + 1} has no name.")
        if not float(number(field)).is_integer() and is_number(field):
            raise TableError(f"{name} line {line}: '{field}' is no column name; the first line names the columns.")
        if field in seen:
            raise TableError(f"{name} line {line}: column name '{field}' is there twice.")
        seen.add(field)
    return fields, 1


def _refuse_ragged(records: list[list[str]], lines: Ints, width: int, name: str, *, whole: bool) -> None:
    widths = np.fromiter(map(len, records), dtype=np.int64, count=len(records))
    wrong = np.flatnonzero(widths != width)
    if not len(wrong):
        return
    i = int(wrong[0])
    message = f"{name} line {lines[i]} has {_count(int(widths[i]))}, but there are {width} columns"
    cut = i == len(records) - 1 and widths[i] < width and not whole
    raise TableError(message + ("; does the file end in the middle?" if cut else "."))


def _count(fields: int) -> str:
    return f"{fields} field" if fields == 1 else f"{fields} fields"


def _parse_fast(
    data: bytes, name: str, delimiter: str, header: Sequence[str] | None, text: Collection[str]
) -> Table | None:
    """The same table faster; None when the file is not plain enough for that."""
    plain = _fast.plain(data, delimiter)
    if plain is None:
        return None
    data, width = plain
    first, _, body = data.partition(b"\n")
    names, skip = _header(decode(first, name).split(delimiter), name, 1, header)
    if len(names) != width:
        return None
    columns = _fast.read(
        body if skip else data, delimiter, names, {column for column in names if _stays_text(column, text)}
    )
    if columns is None:
        return None
    rows = len(next(iter(columns.values())))
    return Table(columns, name, np.arange(rows, dtype=np.int64) + 1 + skip)
