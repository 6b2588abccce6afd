"""Matrices of distances: checks of those given by users, and limits of memory and time for all pairs."""

from __future__ import annotations

import warnings

import numpy as np

from cluewise._typing import Bools, Floats

__all__ = ["require_distances", "require_memory", "warn_of_time"]

ROWS = 256
"""Rows per block of the check."""

ROUNDING = 1e-6
"""Share of the largest distance by which the two halves may differ: less than single precision loses."""

PER_SECOND = 1e9
"""Coordinates of pairs compared in a second: what Ward's linkage and a spanning tree did on a core of 2024."""

PATIENCE = 1.0
"""Minutes that a fit may take without a warning."""


def require_distances(D: Floats) -> None:
    """Check that X is a matrix of distances: square, not negative, symmetric, with zeros on its diagonal."""
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
        raise ValueError(f"X is not a matrix of distances: the entry in row {i + start}, column {j} {why}.")


def require_memory(needed: int, limit: float, what: str, instead: str) -> None:
    """Refuse what would need more than ``limit`` GiB."""
    if needed > limit * 2**30:
        raise MemoryError(
            f"{what} need {needed / 2**30:.3g} GiB, more than memory_limit={limit:g} GiB allows; {instead}."
        )


def warn_of_time(n: int, d: int, name: str, instead: str) -> None:
    """Warn before a method compares all pairs of n rows with d columns, where that takes more than a minute."""
    minutes = n * n * (d + 4) / PER_SECOND / 60
    if minutes > PATIENCE:
        warnings.warn(
            f"{name} compares all pairs of {n} rows, which takes about {minutes:.1f} minutes on one core; {instead}.",
            UserWarning,
            stacklevel=4,
        )
