"""Tables and files: the only place that reads and writes them.

`read` brings CSV, TSV, XLSX, Parquet, NPZ, NPY and JSON files into a `Table`, `from_frame` any data frame;
`features` makes the matrix and the names of its rows out of it; `write` and `atomic` leave either a complete
file or the old one. An error is one sentence that names the line and the column.
"""

from __future__ import annotations

from cluewise.tables._columns import FileError, TableError, column_of, number, typed
from cluewise.tables._csv import unguard
from cluewise.tables._files import atomic, peek, read, read_bytes, read_json, write, writing
from cluewise.tables._formats import from_json
from cluewise.tables._limits import limit
from cluewise.tables._table import (
    ID_NAMES,
    MISSING,
    Table,
    choose_columns,
    features,
    find_ids,
    from_frame,
    names_of,
    row_names,
    unknown_column,
)

__all__ = [
    "ID_NAMES",
    "MISSING",
    "FileError",
    "Table",
    "TableError",
    "atomic",
    "choose_columns",
    "column_of",
    "features",
    "find_ids",
    "from_frame",
    "from_json",
    "limit",
    "names_of",
    "number",
    "peek",
    "read",
    "read_bytes",
    "read_json",
    "row_names",
    "typed",
    "unguard",
    "unknown_column",
    "write",
    "writing",
]
