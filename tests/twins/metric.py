"""Plain twin of `cluewise.kernels.metric`: slow, and easy to compare with the paper."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["project_pairs"]


def project_pairs(
    off: Floats, sign: Floats, give: Floats, A: Floats, multiplier: Floats, bound: Floats, turned: Floats
) -> float:
    """One Bregman projection of A for every pair in turn ([Davis2007]_); returns Σ|Δλ|."""
    moved = 0.0
    for c, v in enumerate(off):
        turned[:] = A @ v
        p = v @ turned
        if not p > 0:
            continue
        delta = sign[c]
        alpha = min(multiplier[c], delta / (1 + give[c]) * (1 / p - 1 / bound[c]))
        beta = delta * alpha / (1 - delta * alpha * p)
        bound[c] = 1 / (1 / bound[c] + delta * alpha * give[c])
        multiplier[c] -= alpha
        moved += abs(alpha)
        A += beta * np.outer(turned, turned)
    return float(moved)
