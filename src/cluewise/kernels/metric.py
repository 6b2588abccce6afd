"""Compiled loops of metric learning: cyclic projections of a matrix onto the constraints of pairs of rows."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats
from cluewise.kernels._jit import fma

__all__ = ["project_pairs"]


@fma
def project_pairs(
    off: Floats, sign: Floats, give: Floats, A: Floats, multiplier: Floats, bound: Floats, turned: Floats
) -> float:
    """One Bregman projection of A for every pair in turn ([Davis2007]_); returns Σ|Δλ|.

    ``off`` holds the differences of the pairs, ``sign`` +1 for a must-link and −1 for a cannot-link, ``give`` 1/γ (0:
    the bound is hard). A, the multipliers λ and the bounds ξ are changed in place; ``turned`` is room for d numbers.
    A pair at distance 0 in the current metric is skipped: no projection can change its distance.
    """
    m, d = off.shape
    moved = 0.0
    for c in range(m):
        # A is symmetric: adding up its rows instead of taking dot products keeps the processor's lanes full, and four
        # rows at a time keep the sums in registers.
        for i in range(d):
            turned[i] = 0.0
        j = 0
        while j + 4 <= d:
            x0, x1, x2, x3 = off[c, j], off[c, j + 1], off[c, j + 2], off[c, j + 3]
            for i in range(d):
                turned[i] = (((turned[i] + A[j, i] * x0) + A[j + 1, i] * x1) + A[j + 2, i] * x2) + A[j + 3, i] * x3
            j += 4
        while j < d:
            x = off[c, j]
            for i in range(d):
                turned[i] += A[j, i] * x
            j += 1
        p = 0.0
        for i in range(d):
            p += turned[i] * off[c, i]
        if not p > 0:
            continue
        alpha = min(multiplier[c], sign[c] / (1 + give[c]) * (1 / p - 1 / bound[c]))
        if alpha == 0:
            continue
        beta = sign[c] * alpha / (1 - sign[c] * alpha * p)
        bound[c] /= 1 + sign[c] * alpha * bound[c] * give[c]
        multiplier[c] -= alpha
        moved += abs(alpha)
        scale = np.sqrt(abs(beta))
        for i in range(d):
            turned[i] *= scale
        # Products of two numbers do not depend on their order, so A stays symmetric to the last bit.
        if beta > 0:
            for i in range(d):
                x = turned[i]
                for j in range(d):
                    A[i, j] += x * turned[j]
        else:
            for i in range(d):
                x = turned[i]
                for j in range(d):
                    A[i, j] -= x * turned[j]
    return moved
