"""Orders: in which sequence rows are visited by a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Bools, Ints

__all__ = ["others", "permutation", "visiting_order"]


def visiting_order(order: Any, rows: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Positions in ``rows`` in the order of visit: by index, at random, or as a permutation of all n rows says."""
    if isinstance(order, str):
        return rng.permutation(len(rows)) if order == "random" else np.arange(len(rows))
    rank = np.empty(n, dtype=np.int64)
    rank[permutation(order, n, "'index', 'random'")] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")


def permutation(order: Any, n: int, names: str) -> Ints:
    """An order that the user has written out, checked; ``names`` are those that could stand in its place."""
    given = np.asarray(order)
    # Truth values and fractions sort like row numbers, but pick other rows or none.
    whole = given.dtype.kind in "iu"
    if not whole or given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise ValueError(f"order is {names} or a permutation of the {n} row numbers, as whole numbers.")
    return given.astype(np.int64)


def others(rows: Ints, n: int) -> Bools:
    """Mask of the rows that are not in ``rows``."""
    mask = np.ones(n, dtype=bool)
    mask[rows] = False
    return mask
