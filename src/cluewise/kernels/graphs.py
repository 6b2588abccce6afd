"""Compiled loops over links: sorting, adjacency, union-find. Linear in rows and links, no recursion."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Ints
from cluewise.kernels._jit import kernel

__all__ = ["adjacency", "join_groups", "join_pairs", "number_roots", "sort_pairs"]


@kernel
def sort_pairs(first: Ints, second: Ints, n: int) -> Ints:
    """Order that sorts pairs of numbers below ``n`` by (first, second): two counting sorts, stable."""
    m = first.shape[0]
    half = np.empty(m, np.int64)
    order = np.empty(m, np.int64)
    start = np.zeros(n + 1, np.int64)
    for p in range(m):
        start[second[p] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    for p in range(m):
        half[start[second[p]]] = p
        start[second[p]] += 1
    start[:] = 0
    for p in range(m):
        start[first[p] + 1] += 1
    for v in range(n):
        start[v + 1] += start[v]
    for q in range(m):
        p = half[q]
        order[start[first[p]]] = p
        start[first[p]] += 1
    return order


@kernel
def adjacency(n: int, first: Ints, second: Ints, value: Array) -> tuple[Array, Array, Array]:
    """Symmetric CSR of an edge list; rows come out sorted when the edges are sorted with first < second."""
    m = first.shape[0]
    indptr = np.zeros(n + 1, np.int64)
    for p in range(m):
        indptr[first[p] + 1] += 1
        indptr[second[p] + 1] += 1
    for v in range(n):
        indptr[v + 1] += indptr[v]
    fill = indptr[:-1].copy()
    indices = np.empty(2 * m, np.int32)
    data = np.empty(2 * m, value.dtype)
    for p in range(m):
        a, b = first[p], second[p]
        indices[fill[a]] = b
        data[fill[a]] = value[p]
        fill[a] += 1
        indices[fill[b]] = a
        data[fill[b]] = value[p]
        fill[b] += 1
    return indptr, indices, data


@kernel
def _join(parent: Ints, a: int, b: int) -> None:
    """Join two trees; the smallest member stays the root (path halving)."""
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    while parent[b] != b:
        parent[b] = parent[parent[b]]
        b = parent[b]
    if a < b:
        parent[b] = a
    else:
        parent[a] = b


@kernel
def join_pairs(parent: Ints, first: Ints, second: Ints) -> None:
    """Union-find: join the two ends of every pair."""
    for p in range(first.shape[0]):
        _join(parent, first[p], second[p])


@kernel
def join_groups(parent: Ints, codes: Ints, n_groups: int) -> None:
    """Union-find: join all rows of one group (code −1: no group)."""
    head = np.full(n_groups, -1, np.int64)
    for i in range(codes.shape[0]):
        g = codes[i]
        if g < 0:
            continue
        if head[g] < 0:
            head[g] = i
            continue
        _join(parent, head[g], i)


@kernel
def number_roots(parent: Ints) -> tuple[Array, int]:
    """Component of every row, numbered by smallest member, and how many there are."""
    n = parent.shape[0]
    component = np.empty(n, np.int32)
    count = 0
    for i in range(n):
        a = parent[i]
        while parent[a] != a:
            a = parent[a]
        # The root is the smallest member, so it is numbered before any other member is visited.
        parent[i] = a
        if a == i:
            component[i] = count
            count += 1
        else:
            component[i] = component[a]
    return component, count
