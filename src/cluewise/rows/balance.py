"""Units of variance: every column of a table counts the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluewise._typing import Floats

__all__ = ["moments", "spreads", "standardize"]


def moments(X: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each column; the variance of a constant column is 0.

    The same numbers as scikit-learn's ``StandardScaler``, whose package takes longer to import than most fits.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.rows.balance import moments
    >>> mean, variance = moments(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), variance.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    n, eps = len(X), np.finfo(np.float64).eps
    mean = X.sum(axis=0) / n
    centered = X - mean
    # The second term corrects the variance for the rounding of the mean.
    variance = ((centered**2).sum(axis=0) - centered.sum(axis=0) ** 2 / n) / n
    # Within the rounding error of the variance, a column is constant.
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    return mean, np.where(constant, 0.0, variance)


def spreads(variance: Floats, parts: Sequence[tuple[int, float]], weight: float) -> Floats:
    """What the columns of a block are divided by: its variance becomes ``weight``, shared out among its parts.

    A part that does not vary has an infinite spread, so that it becomes 0, and gives its share to the others.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.rows.balance import spreads
    >>> spreads(np.array([4.0, 1.0, 1.0, 0.0]), [(1, 0.3), (2, 0.3), (1, 0.4)], weight=1.0).round(3).tolist()
    [2.828, 2.0, 2.0, inf]
    """
    ends = np.cumsum([width for width, _ in parts])
    totals = np.array([variance[end - width : end].sum() for end, (width, _) in zip(ends, parts)])
    shares = np.array([share for _, share in parts]) * (totals > 0)
    wanted = weight * shares / max(shares.sum(), np.finfo(float).tiny)
    found = np.sqrt(np.divide(totals, wanted, out=np.full(len(parts), np.inf), where=wanted > 0))
    return np.repeat(found, [width for width, _ in parts])


def standardize(X: Floats) -> Floats:
    """Every column with mean 0 and variance 1; constant columns become 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.rows.balance import standardize
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    mean, variance = moments(X)
    standardized: Floats = (X - mean) / np.sqrt(np.where(variance > 0, variance, 1.0))
    return standardized
