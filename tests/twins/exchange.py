"""Plain NumPy twins of ``kernels.exchange``: rounds of proposals over all rows, tables of arcs made anew."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["exchange", "propose"]


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
    """All waiting rows ask their next center at once; each center sorts whom it holds and who asks."""
    k = costs.shape[1]
    wishes = np.argsort(costs, axis=1, kind="stable")
    tried = np.array([0 if h < 0 else list(wishes[i]).index(h) + 1 for i, h in enumerate(asked)])
    holds = [list(held[start[h] : start[h] + size[h]]) for h in range(k)]
    active = list(waiting[: state[0]])
    while active:
        active = [i for i in active if tried[i] < k]
        for i in active:
            asked[i] = wishes[i, tried[i]]
            tried[i] += 1
            holds[asked[i]].append(i)
        active = []
        for h in range(k):
            ranked = sorted(holds[h], key=lambda i: (costs[i, h], i))
            holds[h], turned_down = ranked[: quota[h]], ranked[quota[h] :]
            active += turned_down
    for h in range(k):
        size[h] = len(holds[h])
        held[start[h] : start[h] + size[h]] = holds[h][::-1]
    state[0] = 0
    return True


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
    """The best move, else a cycle, on a table of all arcs that is made anew every time; lanes are not looked at."""
    k = costs.shape[1]
    while True:
        length, top = np.full((k, k), np.inf), np.full((k, k), -1)
        for a in range(k):
            rows = np.flatnonzero(labels == a)
            for b in range(k):
                if a != b and len(rows):
                    key = costs[rows, b] - costs[rows, a]
                    length[a, b], top[a, b] = key.min(), rows[key.argmin()]
        allowed = np.where((count > lower)[:, None] & (count < upper), length, np.inf)
        arcs = [divmod(int(allowed.argmin()), k)] if allowed.min() < -least else _cycle(length, least)
        if not arcs:
            return 0
        for a, b in arcs:
            labels[top[a, b]] = b
            count[a] -= 1
            count[b] += 1
        state[1] += 1


def _cycle(length: Floats, least: float) -> list[tuple[int, int]]:
    """Arcs of a cycle that is shorter than 0, or none."""
    k = len(length)
    distance, before = np.zeros(k), np.full(k, -1)
    last = -1
    for _ in range(k):
        last = -1
        for a, b in np.ndindex(k, k):
            if distance[a] + length[a, b] < distance[b] - least:
                distance[b], before[b], last = distance[a] + length[a, b], a, b
        if last < 0:
            return []
    for _ in range(k):
        last = int(before[last])
    arcs = [(int(before[last]), last)]
    while arcs[-1][0] != last:
        b = arcs[-1][0]
        arcs.append((int(before[b]), b))
    return arcs
