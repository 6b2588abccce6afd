"""Bounds on sizes as numbers of rows, and refilling empty clusters within them."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._sized.flow import Bounds
from cluewise.clues import Clues
from cluewise.core import centers
from cluewise.core.centers import Tally
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueError, Infeasible

__all__ = ["bounds_of", "refill"]


def bounds_of(clues: Clues, k: int, rows: Rows) -> Bounds | None:
    """Minimum and maximum number of rows of each cluster; None if the clues do not bound sizes.

    Bounds on summed weight become bounds on rows if all rows have the same weight; otherwise they are an error.
    """
    if clues.sizes is None:
        return None
    if clues.sizes.ndim == 2 and len(clues.sizes) != k:
        raise Infeasible(f"sizes are given for {len(clues.sizes)} clusters, but there are {k}.", clues.only(["sizes"]))
    unit = _unit(clues, rows)
    slack = 1e-9 * rows.n  # sums of weights are not exact
    bounds = np.broadcast_to(clues.sizes / unit, (k, 2))
    lower = np.ceil(bounds[:, 0] - slack).astype(np.int64)
    upper = np.floor(np.minimum(bounds[:, 1], rows.n) + slack).astype(np.int64)
    if (lower > upper).any() or not lower.sum() <= rows.n <= upper.sum():
        raise Infeasible(
            f"the bounds on sizes allow from {lower.sum()} to {upper.sum()} rows"
            + (f" of weight {unit:g}" if unit != 1 else "")
            + f", but there are {rows.n}.",
            clues.only(["sizes"]),
        )
    return Bounds(lower, upper)


def _unit(clues: Clues, rows: Rows) -> float:
    """Weight of one row in the unit of the bounds."""
    if clues.size_unit == "points" or rows.weight is None:
        return 1.0
    weight = rows.weight.astype(np.float64)
    odd = np.flatnonzero(np.abs(weight - weight[0]) > 1e-9 * weight[0])
    if len(odd):
        raise ClueError(
            f"bounds on summed weight require rows of equal weight: row 0 has weight {weight[0]:g}, row {odd[0]} "
            f"has weight {weight[odd[0]]:g}; bound the number of points instead."
        )
    return float(weight[0])


def refill(rows: Rows, found: Tally, at: Floats, labels: Ints, bounds: Bounds) -> Tally:
    """Like `centers.refill`, but only if all sizes stay within their bounds; changes labels in place."""
    vacant = found.mass == 0
    if not vacant.any():
        return found
    count = np.bincount(labels, minlength=len(at))
    if (count[vacant] >= bounds.upper[vacant]).any():
        return found  # the cluster must stay empty, or has only rows without weight
    giving = count - bounds.lower >= vacant.sum()  # even if all rows come from one cluster
    return centers.refill(rows, found, at, labels, np.flatnonzero(giving[labels]))[0]
