"""The price of a broken link, from the spread of the data and from how far links are believed.

In a mixture of spherical Gaussians of variance s², half a squared distance divided by s² is a log-likelihood,
and a link that is right with probability p weighs log p/(1 − p). So a broken link should cost s²·log p/(1 − p).
Columns that move together count as fewer: s² is the spread inside clusters per *effective* dimension.
"""

from __future__ import annotations

from math import log

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["LOG_ODDS", "effective_dimension", "typical_price"]

LOG_ODDS = log(9)
"""Links are taken to be right nine times out of ten."""

COLUMNS = 2000
"""Up to this many columns the covariance is built."""

ROWS = 2000
"""Beyond that, inner products of at most so many rows, evenly spaced, stand for it."""


def typical_price(rows: Rows, centers: Floats, labels: Ints, within: float, rounding: float = 0.0) -> float:
    """Variance inside clusters per effective dimension times the log-odds of a link; 1 when nothing varies.

    ``within`` is the weighted sum of squared distances to ``centers``, the means of the clusters; up to ``rounding``
    it is taken for zero.
    """
    if not within > rounding:
        return 1.0
    return LOG_ODDS * within / rows.mass / effective_dimension(rows, centers, labels)


def effective_dimension(rows: Rows, centers: Floats, labels: Ints) -> float:
    """(tr C)²/tr C² of the covariance C inside clusters, between 1 and the number of columns."""
    trace, squared = (_by_columns if rows.d <= COLUMNS else _by_rows)(rows, centers, labels)
    return float(np.clip(trace**2 / squared, 1, rows.d)) if squared > 0 else 1.0


def _by_columns(rows: Rows, centers: Floats, labels: Ints) -> tuple[float, float]:
    """Tr C and tr C² from the d × d covariance."""
    near = centers.astype(rows.dtype)

    def work(block: slice) -> Floats:
        rest = rows.dense(block) - near[labels[block]]
        weighted = rest if rows.weight is None else rest * rows.weights(block)[:, None]
        return (weighted.T @ rest).astype(np.float64)

    covariance = sum(map_blocks(work, rows.blocks(rows.d)), start=np.zeros((rows.d, rows.d))) / rows.mass
    return float(np.trace(covariance)), float((covariance**2).sum())


def _by_rows(rows: Rows, centers: Floats, labels: Ints) -> tuple[float, float]:
    """The same from inner products of rows: tr C² = Σ_ij w_i w_j (e_i·e_j)²."""
    sample = np.arange(0, rows.n, -(-rows.n // ROWS))
    x, own = rows.take(sample), labels[sample]
    inner = x @ x.T
    inner = (inner if isinstance(inner, np.ndarray) else inner.toarray()).astype(np.float64)
    cross = np.asarray(x @ centers.T, dtype=np.float64)[:, own]
    inner += (centers @ centers.T)[np.ix_(own, own)] - cross - cross.T
    weight = np.ones(len(sample)) if rows.weight is None else rows.weights(sample).astype(np.float64)
    weight = weight / max(weight.sum(), np.finfo(float).tiny)
    return float(weight @ np.diag(inner)), float(weight @ inner**2 @ weight)
