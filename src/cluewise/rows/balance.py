"""Units of variance: every column of a table counts the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluewise._typing import Floats

__all__ = ["moments", "scales", "standardize"]


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


def scales(variance: Floats, parts: Sequence[tuple[int, float]], weight: float) -> Floats:
    """Factors of columns that give a block the variance ``weight``, divided among its parts by their shares.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.rows.balance import scales
    >>> scales(np.array([4.0, 1.0, 1.0]), [(1, 0.5), (2, 0.5)], weight=1.0).round(3).tolist()
    [0.354, 0.5, 0.5]
    """
    ends = np.cumsum([width for width, _ in parts])
    totals = np.array([variance[end - width : end].sum() for end, (width, _) in zip(ends, parts)])
    shares = np.array([share for _, share in parts]) * (totals > 0)
    if not shares.any():
        return np.zeros(len(variance))
    factors = np.sqrt(weight * shares / shares.sum() / np.where(totals > 0, totals, 1.0))
    return np.repeat(factors, [width for width, _ in parts])


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
