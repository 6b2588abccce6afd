"""Compiled loops of balanced clustering: rows propose to centers, and rows trade places.

Both loops stop after ``budget`` steps and carry on from where they were when called again. Lanes are those of
``kernels.flow``.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel
from cluewise.kernels.flow import DONE, FULL, MORE, _clean, _enter

__all__ = ["exchange", "propose"]


@kernel
def _next(costs: Floats, row: int, last: int) -> int:
    """The next cluster that a row would like: by cost, then by number; −1 after the last one."""
    best = -1
    for h in range(costs.shape[1]):
        later = last < 0 or costs[row, h] > costs[row, last] or (costs[row, h] == costs[row, last] and h > last)
        if later and (best < 0 or costs[row, h] < costs[row, best]):
            best = h
    return best


@kernel
def _worse(costs: Floats, h: int, one: int, other: int) -> bool:
    """Whether center h would rather have ``other`` than ``one``."""
    return costs[one, h] > costs[other, h] or (costs[one, h] == costs[other, h] and one > other)


@kernel
def propose(
    costs: Floats,
    quota: Ints,
    start: Ints,
    held: Ints,
    size: Ints,
    waiting: Ints,
    asked: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Stable matching: each row asks the centers in turn, nearest first; a center holds the nearest that have asked.

    ``waiting[:state[0]]`` are rows that still have to ask, ``asked[i]`` is the last center that row i has asked (−1:
    none). Center h holds ``held[start[h] : start[h] + size[h]]``, the farthest one first (a heap), at most
    ``quota[h]``. Rows that all centers turn down are held by none. True when no row is waiting.
    """
    work = 0
    while state[0] > 0:
        if work >= budget:
            return False
        work += costs.shape[1] + 16
        row = waiting[state[0] - 1]
        h = _next(costs, row, asked[row])
        if h < 0:
            state[0] -= 1
            continue
        asked[row] = h
        base = start[h]
        if size[h] < quota[h]:
            state[0] -= 1
            place = size[h]
            size[h] += 1
            while place > 0 and _worse(costs, h, row, held[base + ((place - 1) >> 1)]):
                held[base + place] = held[base + ((place - 1) >> 1)]
                place = (place - 1) >> 1
            held[base + place] = row
        # Deferred acceptance (Gale and Shapley): a full center gives up its farthest row for a nearer one. A row that
        # is turned down stays on the waiting list and asks its next center in the next step.
        elif quota[h] > 0 and _worse(costs, h, held[base], row):
            waiting[state[0] - 1] = held[base]  # the farthest one has to ask elsewhere
            place = 0
            while 2 * place + 1 < size[h]:
                below = 2 * place + 1
                if below + 1 < size[h] and _worse(costs, h, held[base + below + 1], held[base + below]):
                    below += 1
                if _worse(costs, h, row, held[base + below]):
                    break
                held[base + place] = held[base + below]
                place = below
            held[base + place] = row
    return True


@kernel
def _best_move(tops: Floats, count: Ints, lower: Ints, upper: Ints, least: float, after: Ints) -> bool:
    """The single move within the bounds that gains most, as ``after[a] = b``; False when none gains ``least``."""
    best = -least
    from_, to = -1, -1
    for a in range(len(count)):
        if count[a] > lower[a]:
            for b in range(len(count)):
                if tops[a, b] < best and count[b] < upper[b]:
                    best = tops[a, b]
                    from_, to = a, b
    after[:] = -1
    if from_ >= 0:
        after[from_] = to
    return from_ >= 0


@kernel
def _cycle(tops: Floats, least: float, after: Ints) -> bool:
    """A cycle of moves that gains, as ``after[a] = b`` for its arcs: Bellman and Ford; False when there is none."""
    k = len(after)
    distance = np.zeros(k)
    before = np.full(k, -1)
    last = -1
    # Clusters are the nodes, and moving the top row from a to b is an arc of length tops[a, b]. A negative cycle
    # moves one row along each arc: sizes stay, the cost falls. All distances start at 0, so any cycle is found.
    for _ in range(k):
        last = -1
        for a in range(k):
            for b in range(k):
                if distance[a] + tops[a, b] < distance[b] - least:
                    distance[b] = distance[a] + tops[a, b]
                    before[b] = a
                    last = b
        if last < 0:
            break
    after[:] = -1
    if last < 0:
        return False
    for _ in range(k):  # far enough back to be on the cycle
        last = before[last]
    b = last
    while True:
        after[before[b]] = b
        b = before[b]
        if b == last:
            return True


@kernel
def exchange(
    costs: Floats,
    labels: Ints,
    lower: Ints,
    upper: Ints,
    count: Ints,
    least: float,
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
    """Move the row that gains most while sizes allow it, else along a cycle that gains; until nothing gains ``least``.

    Returns what ``flow.augment`` returns; ``state[0]`` is the cluster without room, ``state[1]`` counts the rounds.
    Lanes hold all rows: their limits are infinite.
    """
    k = costs.shape[1]
    after = np.empty(k, np.int64)
    moving = np.empty(k, np.int64)
    work = 0
    while work < budget:
        work += k * k
        if not _best_move(tops, count, lower, upper, least, after):
            work += k * k * k
            if not _cycle(tops, least, after):
                return DONE
        # All rows are read before any of them moves: moving one changes the tops of lanes.
        for a in range(k):
            b = after[a]
            if b >= 0:
                for c in range(k):
                    if sizes[b, c] >= capacity[b]:
                        state[0] = b
                        return FULL
                moving[a] = items[start[a] + b * capacity[a]]
        state[1] += 1
        for a in range(k):
            b = after[a]
            if b >= 0:
                labels[moving[a]] = b
                count[a] -= 1
                count[b] += 1
                _enter(costs, moving[a], b, start, capacity, sizes, keys, items, tops, limit)
                work += 16 * k
        # Rows that have left are taken off only where they are on top; deeper ones wait until they get there.
        for a in range(k):
            if after[a] >= 0:
                _clean(labels, a, start, capacity, sizes, keys, items, tops)
    return MORE
