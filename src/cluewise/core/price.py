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

__all__ = ["LOG_ODDS", "effective_dimension", "typical_price"]

LOG_ODDS = log(9)
"""Links are taken to be right nine times out of ten."""

SAMPLE = 500
"""At most so many rows, evenly spaced, are looked at to find the effective dimension."""


def typical_price(rows: Rows, centers: Floats, labels: Ints, within: float) -> float:
    """Variance inside clusters per effective dimension times the log-odds of a link; 1 when nothing varies.

    ``within`` is the weighted sum of squared distances to ``centers``, the means of the clusters.
    """
    if not within > 0:
        return 1.0
    return LOG_ODDS * within / rows.mass / effective_dimension(rows, centers, labels)


def effective_dimension(rows: Rows, centers: Floats, labels: Ints) -> float:
    """(tr C)²/tr C² of the covariance C inside clusters, between 1 and the number of columns.

    Both traces come from the inner products of the rows' distances to their centers, so that C is never built:
    tr C² = Σ_ij w_i w_j (e_i·e_j)² for weights that sum to 1.
    """
    sample = np.arange(0, rows.n, -(-rows.n // SAMPLE))
    x, own = rows.take(sample), labels[sample]
    inner = x @ x.T
    inner = (inner if isinstance(inner, np.ndarray) else inner.toarray()).astype(np.float64)
    cross = np.asarray(x @ centers.T, dtype=np.float64)[:, own]
    inner += (centers @ centers.T)[np.ix_(own, own)] - cross - cross.T
    weight = np.ones(len(sample)) if rows.weight is None else rows.weights(sample).astype(np.float64)
    weight = weight / weight.sum() if weight.any() else np.full(len(sample), 1 / len(sample))
    squared = weight @ inner**2 @ weight
    if not squared > 0:
        return 1.0
    return float(np.clip((weight @ np.diag(inner)) ** 2 / squared, 1, rows.d))
