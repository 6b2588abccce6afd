"""Check the arguments of `Clues`: counts, sources, size bounds, rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.exceptions import ClueError

__all__ = ["FEW", "count", "places_among", "row_numbers", "size_bounds", "source_list"]

FEW = 16
"""Rows are looked up by bisection if there are so many times as many rows in all, else in a table of all rows."""


def count(n: Any) -> int:
    """The number of rows."""
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)) or n < 0:
        raise ClueError(f"n is the number of rows, a whole number; it is {n!r}.")
    return int(n)


def source_list(given: Any, n: int) -> Array:
    """Sources of labels, one per row."""
    if len(given) != n:
        raise ClueError(f"label_source needs one entry per row ({n}); it has {len(given)}.")
    sources = np.empty(n, dtype=object)
    sources[:] = [str(s) for s in given]
    return sources


def size_bounds(sizes: Any) -> Floats | None:
    """Lower and upper bounds, of shape (2,) or (k, 2); None and nan leave a side open."""
    if sizes is None:
        return None
    try:
        bounds = np.array(np.asarray(sizes, dtype=object), dtype=np.float64)  # None becomes nan
    except (TypeError, ValueError):
        raise ClueError("sizes is (lower, upper) for all clusters, or one such pair per cluster.") from None
    if bounds.ndim not in (1, 2) or bounds.shape[-1] != 2:
        raise ClueError("sizes is (lower, upper) for all clusters, or one such pair per cluster.")
    lower, upper = bounds[..., 0], bounds[..., 1]
    lower[np.isnan(lower)] = 0
    upper[np.isnan(upper)] = np.inf
    if (lower < 0).any() or (lower > upper).any():
        raise ClueError("sizes needs 0 <= lower <= upper for every cluster.")
    return bounds


def row_numbers(rows: Any, n: int) -> Ints:
    """The rows that a mask, a slice or a list of row numbers picks, none of them twice."""
    if isinstance(rows, slice):
        return np.arange(n)[rows]
    picked = np.asarray(rows)
    if picked.ndim != 1 or (picked.size and picked.dtype.kind not in "iub"):
        raise ClueError("clues are sliced by a mask, a slice or a list of row numbers.")
    if picked.dtype == bool:
        if len(picked) != n:
            raise ClueError(f"this mask has {len(picked)} entries, but the clues are about {n} rows.")
        return np.flatnonzero(picked)
    picked = picked.astype(np.int64) if picked.size else np.empty(0, dtype=np.int64)
    if picked.size and (picked.min() < -n or picked.max() >= n):
        row = int(picked[(picked < -n) | (picked >= n)][0])
        raise ClueError(f"there is no row {row}: the clues are about {n} rows.")
    picked = np.where(picked < 0, picked + n, picked)
    if (picked[1:] > picked[:-1]).all():
        return picked
    repeated = np.flatnonzero(np.bincount(picked, minlength=n) > 1)
    if len(repeated):
        raise ClueError(
            f"row {repeated[0]} is listed twice; a row can be picked only once, so resample rows without replacement."
        )
    return picked


def places_among(picked: Ints, n: int) -> Callable[[Ints], Ints]:
    """A function that tells where rows are among those that were picked of n rows; −1 if they are not."""
    if len(picked) * FEW < n and (picked[1:] > picked[:-1]).all():
        wanted = np.append(picked, n)

        def search(rows: Ints) -> Ints:
            place = np.searchsorted(wanted, rows)
            return np.where(wanted[place] == rows, place, -1)

        return search
    table = np.full(n, -1, dtype=np.int64)
    table[picked] = np.arange(len(picked))
    return table.__getitem__
