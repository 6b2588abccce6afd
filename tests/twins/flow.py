"""Plain NumPy twins of ``kernels.flow``: sorted lanes instead of heaps, every arc looked up among all rows."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["augment", "choose", "fill", "sum_regret"]


def choose(costs: Floats, price: Floats, labels: Ints) -> None:
    """The lowest entry of each row."""
    labels[:] = (costs - price).argmin(axis=1)


def sum_regret(costs: Floats, price: Floats, labels: Ints) -> float:
    """Own entries less the lowest ones."""
    left = costs - price
    return float((left[np.arange(len(costs)), labels] - left.min(axis=1)).sum())


def fill(
    costs: Floats,
    clusters: Ints,
    indptr: Ints,
    members: Ints,
    start: Ints,
    capacity: Ints,
    sizes: Ints,
    keys: Floats,
    items: Ints,
    tops: Floats,
    limit: Floats,
    state: Ints,
    budget: int,
) -> bool:
    """Every lane in order, the smallest key first; a sorted array is a heap."""
    k = costs.shape[1]
    for q, a in enumerate(clusters):
        rows = members[indptr[q] : indptr[q + 1]]
        for b in range(k):
            key = costs[rows, b] - costs[rows, a]
            size = 0 if a == b else int((key <= limit[a, b]).sum())
            order = np.lexsort((rows, key))[:size]
            lane = slice(start[a] + b * capacity[a], start[a] + b * capacity[a] + size)
            keys[lane], items[lane] = key[order], rows[order]
            sizes[a, b] = size
            tops[a, b] = keys[lane][0] if size else np.inf
    state[0] = len(clusters)
    return True


def augment(
    costs: Floats,
    labels: Ints,
    lower: Ints,
    upper: Ints,
    flow: Ints,
    excess: Ints,
    price: Floats,
    start: Ints,
    capacity: Ints,
    sizes: Ints,
    keys: Floats,
    items: Ints,
    tops: Floats,
    limit: Floats,
    state: Ints,
    budget: int,
) -> int:
    """Shortest paths on a table of all arcs that is made anew for every path; lanes are not looked at."""
    k = costs.shape[1]
    while (excess > 0).any():
        length, top = _arcs(costs, labels, flow, lower, upper)
        reduced = np.maximum(length + price[:, None] - price, 0)
        distance = np.where(excess > 0, 0.0, np.inf)
        parent = np.full(k + 1, -1)
        settled = np.zeros(k + 1, bool)
        while True:
            u = int(np.argmin(np.where(settled, np.inf, distance)))
            if settled[u] or np.isinf(distance[u]):
                return 3
            settled[u] = True
            if excess[u] < 0:
                break
            closer = ~settled & (distance[u] + reduced[u] < distance)
            distance[closer] = distance[u] + reduced[u, closer]
            parent[closer] = u
        price[settled] += distance[settled] - distance[u]
        excess[u] += 1
        while parent[u] >= 0:
            v, u = u, int(parent[u])
            if v == k:
                flow[u] += 1
            elif u == k:
                flow[v] -= 1
            else:
                labels[top[u, v]] = v
        excess[u] -= 1
        state[1] += 1
    return 0


def _arcs(costs: Floats, labels: Ints, flow: Ints, lower: Ints, upper: Ints) -> tuple[Floats, Ints]:
    """Length of every arc, ∞ where there is none, and the row that is shifted along it."""
    k = costs.shape[1]
    length = np.full((k + 1, k + 1), np.inf)
    top = np.full((k, k), -1)
    for a in range(k):
        rows = np.flatnonzero(labels == a)
        for b in range(k):
            if a != b and len(rows):
                key = costs[rows, b] - costs[rows, a]
                length[a, b], top[a, b] = key.min(), rows[key.argmin()]
    length[:k, k] = np.where(flow < upper, 0.0, np.inf)
    length[k, :k] = np.where(flow > lower, 0.0, np.inf)
    return length, top
