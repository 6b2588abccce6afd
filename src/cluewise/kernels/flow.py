"""Compiled loops of the exact assignment with bounds on sizes: heaps for pairs of clusters, shortest paths.

Cluster a has one *lane* for every other cluster b: a binary heap of its rows by ``costs[i, b] − costs[i, a]``, then
by row number, at ``start[a] + b · capacity[a]`` of ``keys`` and ``items``. Rows that have left a stay in its lanes
until they come to the top; the top of a lane is always a row of a, and its key is ``tops[a, b]``. Few rows ever come to
the top, so a lane holds only those with keys up to ``limit[a, b]``; when none is left, `augment` asks for the others.

Both loops stop after ``budget`` steps (10⁶ take some 10 ms) and carry on from where they were when called again.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["augment", "choose", "fill", "sum_regret"]

DONE, MORE, FULL, STUCK, THIN = 0, 1, 2, 3, 4
"""Results of `augment`: nothing left to do, call again, make room in the lanes of ``state[0]``, no path, fill those
lanes with the rows that were left out."""


@kernel
def choose(costs: Floats, price: Floats, labels: Ints) -> None:
    """Put every row into the cluster where its cost minus the price is lowest, the lowest number on ties."""
    for i in range(costs.shape[0]):
        best, own = costs[i, 0] - price[0], 0
        for h in range(1, costs.shape[1]):
            value = costs[i, h] - price[h]
            if value < best:
                best, own = value, h
        labels[i] = own


@kernel
def sum_regret(costs: Floats, price: Floats, labels: Ints) -> float:
    """By how much cost minus price is higher in the clusters of the rows than in the best ones, in all."""
    total = 0.0
    for i in range(costs.shape[0]):
        best = costs[i, 0] - price[0]
        for h in range(1, costs.shape[1]):
            best = min(best, costs[i, h] - price[h])
        total += costs[i, labels[i]] - price[labels[i]] - best
    return total


@kernel
def _rise(keys: Floats, items: Ints, base: int, place: int, key: float, item: int) -> None:
    """Let an entry rise from ``place`` of the heap at ``base``."""
    while place > 0:
        above = (place - 1) >> 1
        if keys[base + above] < key or (keys[base + above] == key and items[base + above] <= item):
            break
        keys[base + place] = keys[base + above]
        items[base + place] = items[base + above]
        place = above
    keys[base + place] = key
    items[base + place] = item


@kernel
def _sink(keys: Floats, items: Ints, base: int, size: int, place: int, key: float, item: int) -> None:
    """Let an entry sink from ``place`` of the heap at ``base``."""
    while 2 * place + 1 < size:
        below = 2 * place + 1
        one, other = base + below, base + below + 1
        if below + 1 < size and (keys[other] < keys[one] or (keys[other] == keys[one] and items[other] < items[one])):
            below += 1
            one = other
        if key < keys[one] or (key == keys[one] and item <= items[one]):
            break
        keys[base + place] = keys[one]
        items[base + place] = items[one]
        place = below
    keys[base + place] = key
    items[base + place] = item


@kernel
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
    """Fill the lanes of some clusters; ``state`` is the next cluster and its next row. True when all are full.

    The rows of ``clusters[q]`` are ``members[indptr[q]:indptr[q + 1]]``.
    """
    k = costs.shape[1]
    work = 0
    while state[0] < len(clusters):
        q = state[0]
        a = clusters[q]
        if state[1] == 0:
            sizes[a] = 0
        while state[1] < indptr[q + 1] - indptr[q]:
            if work >= budget:
                return False
            item = members[indptr[q] + state[1]]
            for b in range(k):
                key = costs[item, b] - costs[item, a]
                if b != a and key <= limit[a, b]:
                    _rise(keys, items, start[a] + b * capacity[a], sizes[a, b], key, item)
                    sizes[a, b] += 1
                    work += 12
            work += k
            state[1] += 1
        for b in range(k):
            tops[a, b] = keys[start[a] + b * capacity[a]] if sizes[a, b] > 0 else np.inf
        state[0] += 1
        state[1] = 0
    return True


@kernel
def _shortest(tops: Floats, flow: Ints, lower: Ints, upper: Ints, excess: Ints, price: Floats, parent: Ints) -> int:
    """Dijkstra from all nodes with too much to the nearest one with too little, which is returned; −1: none.

    Nodes are the clusters and, last, what the bounds leave open. Prices are lowered so that no arc gains by them.
    """
    k = len(flow)
    # Arc lengths minus the differences of prices (Johnson's potentials) are never negative on a cheapest flow, so
    # Dijkstra's algorithm works although tops may be negative. max(…, 0) takes rounding away.
    distance = np.full(k + 1, np.inf)
    settled = np.zeros(k + 1, np.bool_)
    for v in range(k + 1):
        parent[v] = -1
        if excess[v] > 0:
            distance[v] = 0.0
    target = -1
    while target < 0:
        u = -1
        for v in range(k + 1):
            if not settled[v] and distance[v] < np.inf and (u < 0 or distance[v] < distance[u]):
                u = v
        if u < 0:
            return -1
        settled[u] = True
        if excess[u] < 0:
            target = u
        elif u == k:
            for v in range(k):
                if flow[v] > lower[v]:
                    way = distance[u] + max(price[u] - price[v], 0.0)
                    if way < distance[v]:
                        distance[v] = way
                        parent[v] = u
        else:
            for v in range(k):
                way = distance[u] + max(tops[u, v] + price[u] - price[v], 0.0)
                if way < distance[v] and not settled[v]:
                    distance[v] = way
                    parent[v] = u
            way = distance[u] + max(price[u] - price[k], 0.0)
            if flow[u] < upper[u] and way < distance[k] and not settled[k]:
                distance[k] = way
                parent[k] = u
    # Nodes beyond the target keep their prices, as if their distance were that of the target.
    for v in range(k + 1):
        if settled[v]:
            price[v] += distance[v] - distance[target]
    return target


@kernel
def _enter(
    costs: Floats,
    item: int,
    b: int,
    start: Ints,
    capacity: Ints,
    sizes: Ints,
    keys: Floats,
    items: Ints,
    tops: Floats,
    limit: Floats,
) -> None:
    """Put a row into the lanes of its new cluster."""
    for c in range(costs.shape[1]):
        key = costs[item, c] - costs[item, b]
        if c != b and key <= limit[b, c]:
            base = start[b] + c * capacity[b]
            _rise(keys, items, base, sizes[b, c], key, item)
            sizes[b, c] += 1
            tops[b, c] = keys[base]


@kernel
def _clean(
    labels: Ints, a: int, start: Ints, capacity: Ints, sizes: Ints, keys: Floats, items: Ints, tops: Floats
) -> None:
    """Take rows that have left cluster a off the tops of its lanes."""
    for c in range(sizes.shape[0]):
        base = start[a] + c * capacity[a]
        while sizes[a, c] > 0 and labels[items[base]] != a:
            last = sizes[a, c] - 1
            sizes[a, c] = last
            if last > 0:
                _sink(keys, items, base, last, 0, keys[base + last], items[base + last])
        tops[a, c] = keys[base] if sizes[a, c] > 0 else np.inf


@kernel
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
    """Successive shortest paths: shift a row along every arc of a path from too much to too little, until none is left.

    ``flow`` is the size that a cluster is to have, ``excess`` how many rows it has beyond that; the last entry of
    ``excess`` and ``price`` belongs to the node that takes what the bounds leave open. ``state[1]`` counts the paths.
    """
    k = costs.shape[1]
    parent = np.empty(k + 1, np.int64)
    moving = np.empty(k + 1, np.int64)
    work = 0
    while True:
        idle = True
        for v in range(k + 1):
            idle = idle and excess[v] <= 0
        if idle:
            return DONE
        if work >= budget:
            return MORE
        for a in range(k):
            for b in range(k):
                if sizes[a, b] == 0 and a != b and limit[a, b] < np.inf:
                    state[0] = a
                    return THIN
        target = _shortest(tops, flow, lower, upper, excess, price, parent)
        if target < 0:
            return STUCK
        work += k * k
        v = target
        while parent[v] >= 0:  # first look whether there is room, and which rows stand on top
            u = parent[v]
            if u < k and v < k:
                for c in range(k):
                    if sizes[v, c] >= capacity[v]:
                        state[0] = v
                        return FULL
                moving[v] = items[start[u] + v * capacity[u]]
            v = u
        # v is now the start of the path. Shifting along a cheapest path keeps the assignment optimal.
        excess[v] -= 1
        excess[target] += 1
        state[1] += 1
        v = target
        while parent[v] >= 0:
            u = parent[v]
            if v == k:
                flow[u] += 1
            elif u == k:
                flow[v] -= 1
            else:
                labels[moving[v]] = v
                _enter(costs, moving[v], v, start, capacity, sizes, keys, items, tops, limit)
                work += 16 * k
            v = u
        v = target
        while parent[v] >= 0:
            u = parent[v]
            if u < k and v < k:
                _clean(labels, u, start, capacity, sizes, keys, items, tops)
            v = u
