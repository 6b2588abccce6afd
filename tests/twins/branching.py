"""Plain Python twin of ``kernels.branching``: the same search by recursion, every quantity from its definition."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["branch"]


class _Stop(Exception):
    """The limit is reached."""


def branch(
    indptr: Ints,
    indices: Ints,
    costs: Floats,
    starts: Ints,
    symmetric: bool,
    tolerance: float,
    limit: Ints,
    labels: Ints,
    pick: Ints,
    blocked: Ints,
    left: Ints,
    clash: Ints,
    stack: Ints,
    tried: Ints,
    used: Ints,
    bounds: Floats,
    best: Ints,
    value: Floats,
    lower: Floats,
    nodes: Ints,
    state: Ints,
    budget: int,
) -> bool:
    """Solve each component in one go (``budget`` is not looked at)."""
    for i in range(len(starts) - 1):
        part = range(starts[i], starts[i + 1])

        def prices(given: dict[int, int], v: int) -> Floats:
            price = costs[v].copy()
            price[[given[u] for u in indices[indptr[v] : indptr[v + 1]].tolist() if u in given]] = np.inf
            return price

        def descend(given: dict[int, int], i: int = i, part: range = part) -> None:
            nodes[i] += 1
            price = {v: prices(given, v) for v in part}
            picks = {v: given.get(v, int(price[v].argmin())) for v in part}
            bound = sum(price[v][picks[v]] for v in part)
            v = -1
            if bound < value[i] - tolerance:
                v = choose(given, price, picks)
                if v < 0:
                    value[i] = bound
                    best[part.start : part.stop] = [picks[v] for v in part]
            if nodes[i] >= limit[i]:
                raise _Stop
            if v < 0:
                return
            colors = min(costs.shape[1], max(given.values(), default=-1) + 2) if symmetric else costs.shape[1]
            for c in np.argsort(price[v], kind="stable").tolist():
                if c >= colors or price[v][c] == np.inf:
                    continue
                if bound + price[v][c] - price[v][picks[v]] >= value[i] - tolerance:
                    return
                descend(given | {v: c})

        def choose(given: dict[int, int], price: dict[int, Floats], picks: dict[int, int]) -> int:
            open_ = [v for v in picks if v not in given]
            clashes = {v: sum(picks[u] == picks[v] for u in indices[indptr[v] : indptr[v + 1]].tolist()) for v in open_}
            choices = {v: int(np.isfinite(price[v]).sum()) for v in open_}
            wanted = [v for v in open_ if clashes[v] > 0 or choices[v] == 1]
            if not any(clashes[v] for v in wanted):
                return -1
            return min(wanted, key=lambda v: (choices[v], -clashes[v], v))

        nodes[i] = 0
        lower[i] = costs[part.start : part.stop].min(axis=1).sum()
        try:
            descend({})
            lower[i] = value[i]
        except _Stop:
            nodes[i] = -nodes[i]
        state[0] += 1
    return True
