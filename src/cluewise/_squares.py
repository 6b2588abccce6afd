"""Squares: which numbers can be squared, multiplied and summed without overflow or underflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, Bools

__all__ = ["largest", "negligible", "require_squares"]

LARGEST = {"float64": 1e60, "float32": 1e12}
"""The largest number that is taken, and one over the smallest: methods that square squared distances and sum them
over all rows, or that square differences of one unit in the last place, stay far from the ends of the precision."""

BLOCK = 2**17
"""Numbers that are looked at together; they stay in the caches between the lowest and the highest."""


def largest(values: Array) -> float:
    """Largest magnitude in an array, without a copy of it; NaN where one of the numbers is."""
    found = 0.0
    size = max(BLOCK * len(values) // max(values.size, 1), 1)
    for start in range(0, len(values) if values.size else 0, size):
        block = values[start : start + size]
        # np.maximum, unlike max, never loses a NaN.
        found = np.maximum(found, np.maximum(-block.min(), block.max()))
    return float(found)


def negligible(variance: Array, dtype: Any) -> Bools:
    """Columns so narrow beside the others that one over their variance is no number: they count as constant."""
    return variance < LARGEST[np.dtype(dtype).name] ** -2


def require_squares(size: float, dtype: Any, name: str, *, small: bool = True) -> None:
    """Refuse numbers of largest magnitude ``size`` (finite) whose squares would overflow, or, if ``small``, vanish.

    Infinite or vanished distances would be taken for something else: for rows that nothing may join, or for equal rows.
    """
    kind = np.dtype(dtype).name
    limit = LARGEST[kind]
    if size > limit:
        why = f"{name} reaches {size:.3g}, and squares of numbers beyond {limit:g} may overflow {kind}"
    elif small and 0 < size < 1 / limit:
        why = f"{name} stays within {size:.3g} of zero, and squares of numbers below {1 / limit:g} may vanish in {kind}"
    else:
        return
    way = "convert it to float64 or divide" if kind == "float32" else "divide"
    raise ValueError(f"{why}; {way} it by {size:.3g} first.")
