"""Orders: in which sequence rows are visited by a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Bools, Ints

__all__ = ["others", "visiting_order"]


def visiting_order(order: Any, rows: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Positions in ``rows`` in the order of visit: by index, at random, or as a permutation of all n rows says."""
    if isinstance(order, str):
        return rng.permutation(len(rows)) if order == "random" else np.arange(len(rows))
    given = np.asarray(order)
    if given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise ValueError(f"order is 'index', 'random' or a permutation of the {n} row numbers.")
    rank = np.empty(n, dtype=np.int64)
    rank[given] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")


def others(rows: Ints, n: int) -> Bools:
    """Mask of the rows that are not in ``rows``."""
    mask = np.ones(n, dtype=bool)
    mask[rows] = False
    return mask
