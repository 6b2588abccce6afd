"""Big plain CSV files: through polars where it is installed, and in any case without a list per line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cluewise._typing import Array
from cluewise.tables._numbers import typed, typed_series
from cluewise.tables._table import text_array

__all__ = ["plain", "read"]


def plain(data: bytes, delimiter: str) -> tuple[bytes, int] | None:
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


def read(body: bytes, delimiter: str, names: Sequence[str], text: Collection[str]) -> dict[str, Array] | None:
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
    columns = {}
    for column, key in zip(names, schema):
        series = frame[key].fill_null("")
        columns[column] = text_array(series.to_list()) if column in text else typed_series(series)
    return columns


def _split(body: bytes, delimiter: str, names: Sequence[str], text: Collection[str]) -> dict[str, Array] | None:
    """The same without polars: all cells in one list, of which every column is a slice."""
    try:
        cells = body.decode("utf-8").removesuffix("\n").replace("\n", delimiter).split(delimiter)
    except UnicodeDecodeError:
        return None
    columns = {}
    for j, column in enumerate(names):
        mine = cells[j :: len(names)]
        columns[column] = text_array(mine) if column in text else typed(mine)
    return columns
