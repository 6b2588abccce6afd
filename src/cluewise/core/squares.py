"""Squares: whether squared distances between rows are numbers at all."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["require_squares"]


def require_squares(X: Any, *, from_origin: bool = False) -> None:
    """Refuse rows, dense or sparse, whose summed squared distances (``from_origin``: lengths) exceed all numbers.

    Infinite ones would be taken for something else: for rows that nothing may join, or for neighbors nobody has.
    """
    low, high = (_row(extreme) for extreme in (X.min(axis=0), X.max(axis=0)))
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(over="ignore"):
        width = size if from_origin else high - low
        sums = X.shape[0] * np.array([(width**2).sum(), size.max()])
    if not np.isfinite(sums).all():
        j = int(np.argmax(width if not np.isfinite(sums[0]) else size))
        raise ValueError(
            f"column {j} of X, from {low[j]:.3g} to {high[j]:.3g}, is too large to be squared and summed; "
            "scale the columns."
        )


def _row(extreme: Any) -> Any:
    dense = extreme if isinstance(extreme, np.ndarray) else extreme.toarray()
    return dense.ravel().astype(np.float64)
