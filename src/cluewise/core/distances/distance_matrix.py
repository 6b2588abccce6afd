"""Matrices of distances: those that users hand over, and how much memory one may take."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats

__all__ = ["require_distances", "require_memory"]

ROWS = 256
"""Rows checked at once."""

ROUNDING = 1e-6
"""Share of the largest distance by which the two halves may differ: less than single precision loses."""


def require_distances(D: Floats) -> None:
    """Refuse what is no matrix of distances: square, not negative, symmetric, with zeros on its diagonal."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"metric='precomputed' needs a square matrix of distances; X has shape {D.shape}.")
    slack = ROUNDING * float(np.abs(D).max())
    for start in range(0, len(D), ROWS):
        rows = slice(start, start + ROWS)
        _refuse(D[rows] < 0, start, "is negative")
        _refuse(np.abs(D[rows] - D[:, rows].T) > slack, start, "differs from its mirror image")
    _refuse(np.diag(np.abs(D.diagonal()) > slack), 0, "is the distance of a row from itself, which is zero")


def _refuse(bad: Bools, start: int, why: str) -> None:
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(f"X is no matrix of distances: the entry in row {i + start}, column {j} {why}.")


def require_memory(needed: int, limit: float, what: str, instead: str) -> None:
    """Refuse what would need more than ``limit`` GiB."""
    if needed > limit * 2**30:
        raise MemoryError(
            f"{what} need {needed / 2**30:.3g} GiB, more than memory_limit={limit:g} GiB allows; {instead}."
        )
