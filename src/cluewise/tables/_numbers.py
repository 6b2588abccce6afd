"""Text that looks like numbers becomes numbers, but only where nothing of it is lost."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise._typing import Array
from cluewise.tables._table import text_array

__all__ = ["is_number", "number", "typed", "typed_series"]

# A number written with a leading zero is a code (a postal code, "007"), which must keep its zeros.
_CODE = re.compile(r"(?:^|\n)\s*[+-]?0[0-9]")


def number(cell: str) -> float:
    """The number that a cell holds, nan when it holds none.

    Examples
    --------
    >>> from cluewise.tables import number
    >>> number(" 1.5"), number("red")
    (1.5, nan)
    """
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def is_number(cell: str) -> bool:
    """Whether a cell holds a number ("nan" is one, "" and "red" are not)."""
    return not math.isnan(number(cell)) or cell.strip().lower().lstrip("+-") == "nan"


def typed(cells: Sequence[str]) -> Array:
    """The cells of a text file as int64, float64 (empty = nan) or text.

    Examples
    --------
    >>> from cluewise.tables import typed
    >>> typed(["3", "-4"]).tolist(), typed(["3", "", "1e3"]).tolist(), typed(["007", "3"]).tolist()
    ([3, -4], [3.0, nan, 1000.0], ['007', '3'])
    """
    cells = list(cells)
    try:
        whole = list(map(int, cells))
    except ValueError:
        return _floats(cells)
    if list(map(str, whole)) != cells:
        return _floats(cells)
    try:
        return np.array(whole, dtype=np.int64)
    except OverflowError:
        return text_array(cells)


def _floats(cells: list[str]) -> Array:
    try:
        values = [float(cell) if cell else math.nan for cell in cells]
    except ValueError:
        return text_array(cells)
    joined = "\n".join(cells)
    if any(map(math.isinf, values)) and any(math.isinf(v) and "inf" not in c.lower() for c, v in zip(cells, values)):
        return text_array(cells)  # a number too long to be one
    if not joined.strip() or not joined.isascii() or "_" in joined or _CODE.search(joined):
        return text_array(cells)
    return np.array(values, dtype=np.float64)


def typed_series(series: Any) -> Array:
    """`typed` for a polars series of text: the same answer, without a Python object per cell."""
    import polars as pl

    if series.str.contains(r"^(?:0|-?[1-9][0-9]*)$").all():
        whole = series.cast(pl.Int64, strict=False)
        return np.array(whole.to_numpy()) if whole.null_count() == 0 else typed(series.to_list())
    values = series.cast(pl.Float64, strict=False)
    empty = int((series == "").sum())
    lossless = not series.str.contains(r"_|^\s*[+-]?0[0-9]").any()
    if values.null_count() == empty < len(series) and lossless and not values.is_infinite().any():
        return np.array(values.fill_null(math.nan).to_numpy())
    return typed(series.to_list())
