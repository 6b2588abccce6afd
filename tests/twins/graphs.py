"""Plain NumPy twins of ``kernels.graphs``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Ints

__all__ = ["adjacency", "join_groups", "join_pairs", "number_roots", "sort_pairs"]


def sort_pairs(first: Ints, second: Ints, n: int) -> Ints:
    """Order that sorts pairs by (first, second)."""
    return np.lexsort((second, first))


def adjacency(n: int, first: Ints, second: Ints, value: Array) -> tuple[Array, Array, Array]:
    """Symmetric CSR of an edge list."""
    rows = np.column_stack([first, second]).ravel()
    columns = np.column_stack([second, first]).ravel()
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    return indptr, columns[order].astype(np.int32), np.repeat(value, 2)[order]


def _root(parent: Ints, i: int) -> int:
    while parent[i] != i:
        i = int(parent[i])
    return i


def join_pairs(parent: Ints, first: Ints, second: Ints) -> None:
    """Join the two ends of every pair."""
    for a, b in zip(first, second):
        low, high = sorted((_root(parent, int(a)), _root(parent, int(b))))
        parent[high] = low


def join_groups(parent: Ints, codes: Ints, n_groups: int) -> None:
    """Join all rows of one group."""
    for g in range(n_groups):
        members = np.flatnonzero(codes == g)
        join_pairs(parent, members[:1].repeat(len(members)), members)


def number_roots(parent: Ints) -> tuple[Array, int]:
    """Component of every row, numbered by smallest member."""
    roots = np.array([_root(parent, i) for i in range(len(parent))], dtype=np.int64)
    parent[:] = roots
    unique, component = np.unique(roots, return_inverse=True)
    return component.astype(np.int32), len(unique)
