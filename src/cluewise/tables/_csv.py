"""CSV and its relatives: comma, semicolon or tab, quoted fields, and messages that name the line."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from cluewise._texts import short
from cluewise._typing import Array, Ints
from cluewise.exceptions import ColumnWarning
from cluewise.tables._columns import TableError, is_number, number, typed, typed_series
from cluewise.tables._table import ID_NAMES, Table

__all__ = ["decode", "first_records", "name_columns", "parse_csv", "unguard", "write_csv"]

BIG = 5_000_000  # bytes; from here on the fast reader is worth its start-up time
_BOM = b"\xef\xbb\xbf"
_SPECIAL = re.compile(r'[,;\t"\r\n]')
_RISKY = re.compile(r"'*[=+\-@\t\r]")  # a formula, after any apostrophes
_MARK = re.compile(rb"'[=+\-@\t\r]")
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATORS = {";": "Fields are separated by semicolons.", "\t": "Fields are separated by tabs."}
_WIDEST = 200_000  # columns that are looked at one by one; more take minutes
_LONGEST = 2**31 - 1  # what the csv module takes as a limit on every system


def parse_csv(data: bytes, path: Path, header: Sequence[str] | None, text: Collection[str]) -> Table:
    """The table in the bytes of a text file.

    ``header`` names the columns of a file that has no header line; columns in ``text`` stay text.
    """
    data = _as_utf8(data.removeprefix(_BOM), path.name)
    delimiter = _delimiter(data, path)
    notes = (_SEPARATORS[delimiter],) if delimiter in _SEPARATORS else ()
    table = _parse_fast(data, path.name, delimiter, header, text) if len(data) > BIG else None
    if table is None:
        records, lines = _records(decode(data, path.name), path.name, delimiter)
        names, skip = _header(records[0], path.name, int(lines[0]), header)
        if set(map(len, records)) != {len(names)}:
            raise _ragged(records, lines, len(names), path.name, whole=data.endswith((b"\n", b"\r")))
        kept = _text_columns(names, text)
        columns: dict[str, Any] = {}
        for j, name in enumerate(names):
            cells = list(map(itemgetter(j), records[skip:]))
            columns[name] = cells if name in kept else typed(cells)
        table = Table(columns, path.name, lines[skip:])
    object.__setattr__(table, "notes", notes)  # nobody else has seen it yet
    if not _MARK.search(data):  # few files hold a cell that is guarded
        return table
    columns = {
        name: list(map(unguard, column)) if column.dtype.kind == "O" else column
        for name, column in table.columns.items()
    }
    return Table(columns, table.name, table.lines, notes=notes)


def first_records(data: bytes, path: Path, count: int) -> list[list[str]]:
    """The fields of the first records; fewer when the file ends or its quotes go wrong before."""
    data = _as_utf8(data.removeprefix(_BOM), path.name)
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


def _as_utf8(data: bytes, name: str) -> bytes:
    """The text in UTF-8: what is not, is taken for Latin-1 as Windows writes it, which holds any text of the West."""
    if data.isascii() or b"\0" in data:
        return data
    try:
        data.decode("utf-8")
        return data
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(data[: error.start])) + 1
    warnings.warn(f"{name} line {line}: the text is not UTF-8, so the file is read as Latin-1.", ColumnWarning)
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.encode("utf-8")


def _text_columns(names: Sequence[str], text: Collection[str]) -> set[str]:
    """Columns that stay text. Names of rows do: as text, 1.10 and 1.1 differ."""
    given = set(text)  # it may hold as many names as there are columns
    return {name for name in names if name in given or name.lower() in ID_NAMES}


def _delimiter(data: bytes, path: Path) -> str:
    """The separator that splits the first line into the most fields."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    head = _LINE_END.split(data.lstrip(b"\r\n"), maxsplit=1)[0].decode("utf-8", errors="replace")
    # Of equal counts the first wins: a comma where there is nothing to split.
    return max(",;\t", key=lambda mark: len(next(_reader(head, mark, strict=False), [])))


def _reader(text: str, delimiter: str, *, strict: bool = True) -> Any:
    # The csv module has one limit for the whole process. It only ever grows here, so that readers in several
    # threads cannot take it away from each other.
    longest = min(len(text), _LONGEST)
    if csv.field_size_limit() < longest:
        csv.field_size_limit(longest)
    stream = io.StringIO(text, newline="")
    return csv.reader(stream, delimiter=delimiter, skipinitialspace=strict, strict=strict)


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
        open_quote = "unexpected end" in str(error)
        problem = "a quote is opened here and never closed; does the file end in the middle?"
        raise TableError(
            f"{name} line {ends[-1] + 1}: {problem if open_quote else f'the quotes are malformed ({error}).'}"
        ) from None
    lines = np.array(ends[:-1], dtype=np.int64) + 1
    filled = np.fromiter(map(bool, records), dtype=bool, count=len(records))
    if not filled.any():
        raise TableError(f"{name} is empty.")
    if not filled.all():
        records = [record for record in records if record]
    return records, lines[filled]


def _header(first: list[str], name: str, line: int, given: Sequence[str] | None) -> tuple[list[str], int]:
    """Names of the columns and the number of records (0 or 1) that they take."""
    if len(first) > _WIDEST:
        raise TableError(f"{name} has {len(first)} columns, more than {_WIDEST}; are its rows and columns exchanged?")
    if given is not None:
        return list(given), 0
    fields = [field.strip() for field in first]
    if all(is_number(field) for field in fields):
        return [f"x{j}" for j in range(len(fields))], 0
    for field in fields:
        if not float(number(field)).is_integer() and is_number(field):
            raise TableError(
                f"{name} line {line}: '{short(field)}' is not a column name; the first line names the columns."
            )
    return name_columns([unguard(field) for field in fields], f"{name} line {line}"), 1


def name_columns(fields: Sequence[str], place: str) -> list[str]:
    """Names for all columns: those that have none or that of another get one, and a warning says so."""
    names: dict[str, None] = {}
    given = set(fields)
    taken: dict[str, int] = {}  # the last number that a name got
    for j, field in enumerate(fields):
        wanted = field or ("row" if j == 0 else f"column_{j + 1}")  # pandas leaves the name of its index empty
        name, number = wanted, taken.get(wanted, 1)
        while name in names or (name != field and name in given):
            number += 1
            name = f"{wanted}_{number}"
        taken[wanted] = number
        if field and name != field:
            warnings.warn(
                f"{place}: column name '{short(field)}' appears twice; the second is called '{short(name)}'.",
                ColumnWarning,
            )
        elif not field and j:
            warnings.warn(f"{place}: column {j + 1} has no name; it is called '{name}'.", ColumnWarning)
        names[name] = None
    return list(names)


def _ragged(records: list[list[str]], lines: Ints, width: int, name: str, *, whole: bool) -> TableError:
    """The error about the first record that has too few or too many fields."""
    i, found = next((i, len(record)) for i, record in enumerate(records) if len(record) != width)
    fields = "1 field" if found == 1 else f"{found} fields"
    message = f"{name} line {lines[i]} has {fields}, but there are {width} columns"
    cut = i == len(records) - 1 and found < width and not whole
    return TableError(message + ("; does the file end in the middle?" if cut else "."))


def _parse_fast(
    data: bytes, name: str, delimiter: str, header: Sequence[str] | None, text: Collection[str]
) -> Table | None:
    """The same table faster; None when the file is not plain enough for that."""
    plain = _plain(data, delimiter)
    if plain is None:
        return None
    data, width = plain
    first, _, body = data.partition(b"\n")
    names, skip = _header(decode(first, name).split(delimiter), name, 1, header)
    if len(names) != width:
        return None
    columns = _read_plain(body if skip else data, delimiter, names, _text_columns(names, text))
    if columns is None:
        return None
    rows = len(next(iter(columns.values())))
    return Table(columns, name, np.arange(rows, dtype=np.int64) + 1 + skip)


def _plain(data: bytes, delimiter: str) -> tuple[bytes, int] | None:
    """The file with Unix line ends and its number of columns, if every line is a record of that many fields.

    Anything else (quotes, blank or ragged lines, spaces after the separator) is left to the careful reader,
    which knows the line of each record and so can say what is wrong.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")  # the latter as old Macs wrote
    mark = delimiter.encode()
    if any(odd in data for odd in (b'"', b"\0", mark + b" ", b"\n ")) or data.startswith(b" "):
        return None
    buffer = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(buffer == ord("\n"))
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    marks = np.flatnonzero(buffer == ord(delimiter))
    gaps = int(np.searchsorted(marks, ends[0]))
    if len(marks) != gaps * len(ends):
        return None
    if gaps == 0:
        return None if np.diff(ends, prepend=-1).min() == 1 else (data, 1)
    grid = marks.reshape(len(ends), gaps)
    aligned = (grid[:, -1] < ends).all() and (grid[1:, 0] > ends[:-1]).all()
    return (data, gaps + 1) if aligned else None


def _read_plain(body: bytes, delimiter: str, names: Sequence[str], text: Collection[str]) -> dict[str, Any] | None:
    """Columns of a plain file without its header; None when polars does not like the file."""
    try:
        import polars as pl
    except ImportError:
        return _split(body, delimiter, names, text)
    rows = body.count(b"\n") + (not body.endswith(b"\n"))
    schema = {f"c{j}": pl.String for j in range(len(names))}
    try:
        frame = pl.read_csv(body, has_header=False, separator=delimiter, quote_char=None, schema=schema)
    except pl.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    columns: dict[str, Any] = {}
    for column, key in zip(names, schema):
        series = frame[key].fill_null("")
        columns[column] = series.to_list() if column in text else typed_series(series)
    return columns


def _split(body: bytes, delimiter: str, names: Sequence[str], text: Collection[str]) -> dict[str, Any] | None:
    """The same without polars: all cells in one list, of which every column is a slice."""
    try:
        cells = body.decode("utf-8").removesuffix("\n").replace("\n", delimiter).split(delimiter)
    except UnicodeDecodeError:
        return None
    columns: dict[str, Any] = {}
    for j, column in enumerate(names):
        mine = cells[j :: len(names)]
        columns[column] = mine if column in text else typed(mine)
    return columns


def write_csv(path: Path, columns: Mapping[str, Array], *, raw_cells: bool) -> None:
    """Comma-separated text with a header; empty = nan, numbers so that they read back exactly."""
    names = np.array(list(columns), dtype=object)
    header, *cells = (_cells(column, raw_cells) for column in (names, *columns.values()))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(header) + "\n")
        rows: Iterable[str] = map(",".join, zip(*cells))
        if len(cells) == 1:
            rows = (row or '""' for row in rows)  # a blank line would not count as a row
        file.writelines(f"{row}\n" for row in rows)


def _cells(column: Array, raw_cells: bool) -> list[str]:
    values = column.tolist()
    if column.dtype.kind == "O":
        if not raw_cells and any(map(_RISKY.match, values)):
            values = list(map(guard, values))
        safe = _SPECIAL.search("\x1f".join(values)) is None and not any(v.startswith(" ") for v in values)
        return values if safe else list(map(_quote, values))
    cells = list(map(repr, values))
    if column.dtype.kind == "f":
        for i in np.flatnonzero(np.isnan(column)):
            cells[i] = ""
    return cells


def _quote(cell: str) -> str:
    # A leading space is quoted too, because the reader drops spaces after a separator.
    if cell.startswith(" ") or _SPECIAL.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def guard(cell: str) -> str:
    """A cell of text as it is written: with one more apostrophe if a spreadsheet would run it as a formula.

    Cells that begin with apostrophes before a formula get one too, so that `unguard` gives every cell back.
    """
    return f"'{cell}" if _RISKY.match(cell) and not is_number(cell.lstrip("'")) else cell


def unguard(cell: str) -> str:
    """What `guard` was given.

    Examples
    --------
    >>> from cluewise.tables import unguard
    >>> unguard("'=A1"), unguard("'s")
    ('=A1', "'s")
    """
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) and not is_number(cell.lstrip("'")) else cell
