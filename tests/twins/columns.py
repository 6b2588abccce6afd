"""Plain NumPy twins of ``kernels.columns``: same names, same signatures, obvious code."""

from __future__ import annotations

from cluewise._typing import Floats

__all__ = ["scan"]


def scan(x: Floats, mean: Floats, squares: Floats, low: Floats, high: Floats) -> None:
    """Moments and extremes of every column."""
    mean[:] = x.mean(axis=0, dtype=float)
    squares[:] = ((x - mean) ** 2).sum(axis=0)
    low[:], high[:] = x.min(axis=0), x.max(axis=0)
