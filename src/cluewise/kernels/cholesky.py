"""Compiled rank-one changes of a Cholesky factor. Factors are upper triangles U of UᵀU; what is below is not read."""

from __future__ import annotations

import math

from cluewise._typing import Floats
from cluewise.kernels._jit import kernel

__all__ = ["downdate", "solve", "update"]


@kernel
def update(upper: Floats, vector: Floats) -> None:
    """Factor of UᵀU + vvᵀ, in place, by rotations; the vector is overwritten."""
    d = vector.shape[0]
    for j in range(d):
        old = upper[j, j]
        new = math.hypot(old, vector[j])
        c, s = old / new, vector[j] / new
        upper[j, j] = new
        for column in range(j + 1, d):
            before = upper[j, column]
            upper[j, column] = c * before + s * vector[column]
            vector[column] = c * vector[column] - s * before


@kernel
def downdate(upper: Floats, vector: Floats) -> bool:
    """Factor of UᵀU − vvᵀ, in place; v is overwritten. False, with U invalid, if it is not positive definite."""
    d = vector.shape[0]
    for j in range(d):
        old = upper[j, j]
        square = (old - vector[j]) * (old + vector[j])
        if not square > 0:
            return False
        new = math.sqrt(square)
        c, s = new / old, vector[j] / old
        upper[j, j] = new
        for column in range(j + 1, d):
            upper[j, column] = (upper[j, column] - s * vector[column]) / c
            vector[column] = c * vector[column] - s * upper[j, column]
    return True


@kernel
def solve(upper: Floats, vector: Floats) -> float:
    """Squared length of U⁻ᵀv, which is vᵀ(UᵀU)⁻¹v; the vector becomes U⁻ᵀv."""
    d = vector.shape[0]
    total = 0.0
    for j in range(d):
        # Column by column, not by inner products: the inner loop has no sum, so it vectorizes in any order.
        vector[j] /= upper[j, j]
        value = vector[j]
        total += value * value
        for column in range(j + 1, d):
            vector[column] -= value * upper[j, column]
    return total
