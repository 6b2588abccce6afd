"""Compiled loops over the columns of a table."""

from __future__ import annotations

from cluewise._typing import Floats
from cluewise.kernels._jit import kernel

__all__ = ["scan"]


@kernel
def scan(x: Floats, mean: Floats, squares: Floats, low: Floats, high: Floats) -> None:
    """Mean of every column, summed squared distances to it, and extremes, in double precision.

    ``mean`` and ``squares`` are zeros before, ``low`` and ``high`` infinite.
    """
    n, d = x.shape
    for i in range(n):
        for j in range(d):
            mean[j] += x[i, j]
            low[j] = min(low[j], x[i, j])
            high[j] = max(high[j], x[i, j])
    for j in range(d):
        mean[j] /= n
    for i in range(n):
        for j in range(d):
            rest = x[i, j] - mean[j]
            squares[j] += rest * rest
