"""Plain twin of the kernel in `hmrf`, straight from the objective."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["visit_linked"]


def visit_linked(
    order: Ints,
    ends: Ints,
    must: Floats,
    cannot: Floats,
    indptr: Ints,
    incident: Ints,
    between: Floats,
    ceiling: Floats,
    alone: Floats,
    labels: Ints,
) -> int:
    """Every row to the cluster where it and its links cost least; it stays on ties."""
    k = alone.shape[1]
    phi = np.broadcast_to(between, (len(ends), k))
    top = np.broadcast_to(ceiling, (k,))
    moved = 0
    for t in order:
        cost = alone[t].copy()
        for e in incident[indptr[t] : indptr[t + 1]]:
            q = labels[ends[e].sum() - t]
            for h in range(k):
                if h == q:
                    cost[h] += cannot[e] * (top[h] - phi[e, h])
                else:
                    cost[h] += must[e] * 0.5 * (phi[e, h] + phi[e, q])
        if cost.min() < cost[labels[t]]:
            labels[t] = np.argmin(cost)
            moved += 1
    return moved
