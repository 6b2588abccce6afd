"""Cells that a spreadsheet would run: in CSV files they begin with an apostrophe, which says that they are text."""

from __future__ import annotations

import re

from cluewise._typing import Array
from cluewise.tables._numbers import is_number
from cluewise.tables._table import text_array

__all__ = ["guard", "guard_column", "is_guarded", "unguard", "unguard_column"]

_RISKY = re.compile(r"'*[=+\-@\t\r]")
_MARK = re.compile(rb"'[=+\-@\t\r]")


def guard(cell: str) -> str:
    """A cell of text as it is written: with one apostrophe more if it looks like a formula and is no number.

    Cells that begin with apostrophes before a formula get one too, so that `unguard` gives every cell back.
    """
    return f"'{cell}" if _looks_risky(cell) else cell


def unguard(cell: str) -> str:
    """What `guard` was given."""
    return cell[1:] if cell.startswith("'") and _looks_risky(cell) else cell


def guard_column(column: Array) -> Array:
    """A column with its cells of text as they are written; numbers stay as they are."""
    return text_array(list(map(guard, column))) if column.dtype.kind == "O" else column


def unguard_column(column: Array) -> Array:
    """What `guard_column` was given."""
    return text_array(list(map(unguard, column))) if column.dtype.kind == "O" else column


def is_guarded(data: bytes) -> bool:
    """Whether any cell of a text file can be guarded; few files have one."""
    return _MARK.search(data) is not None


def _looks_risky(cell: str) -> bool:
    return _RISKY.match(cell) is not None and not is_number(cell.lstrip("'"))
