"""Plain NumPy twins of ``kernels.cholesky``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["downdate", "solve", "update"]


def update(upper: Floats, vector: Floats) -> None:
    """Multiply out, add, factor again."""
    whole = np.triu(upper)
    upper[:] = np.linalg.cholesky(whole.T @ whole + np.outer(vector, vector)).T


def downdate(upper: Floats, vector: Floats) -> bool:
    """Multiply out, subtract, factor again."""
    whole = np.triu(upper)
    try:
        upper[:] = np.linalg.cholesky(whole.T @ whole - np.outer(vector, vector)).T
    except np.linalg.LinAlgError:
        return False
    return True


def solve(upper: Floats, vector: Floats) -> float:
    """Solve with the whole matrix."""
    vector[:] = np.linalg.solve(np.triu(upper).T, vector)
    return float(vector @ vector)
