"""Compiled loop over nodes that pull at each other: each takes the cluster where it costs least, given the others."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["relax"]


@kernel
def relax(
    indptr: Ints,
    indices: Ints,
    pull: Floats,
    node_indptr: Ints,
    groups: Ints,
    shares: Floats,
    group_pull: Floats,
    costs: Floats,
    order: Ints,
    start: int,
    stop: int,
    tolerance: float,
    labels: Ints,
    counts: Floats,
) -> int:
    """Visit ``order[start:stop]``; labels and counts change in place. Returns the number of nodes that moved.

    Node i pays ``costs[i, h]`` in cluster h, ``pull`` for each neighbor that is there (negative attracts, infinite
    forbids), and for each of its groups ``group_pull`` times its share times that of the others there; ``counts`` holds
    the shares by group and cluster. It moves to gain more than ``tolerance``; the lowest index on ties.
    """
    k = costs.shape[1]
    field = np.empty(k)
    moved = 0
    for place in range(start, stop):
        i = order[place]
        own = labels[i]
        for h in range(k):
            field[h] = costs[i, h]
        for e in range(indptr[i], indptr[i + 1]):
            field[labels[indices[e]]] += pull[e]
        for e in range(node_indptr[i], node_indptr[i + 1]):
            g = groups[e]
            strength = group_pull[g] * shares[e]
            for h in range(k):
                field[h] += strength * counts[g, h]
            field[own] -= strength * shares[e]
        best = own
        for h in range(k):
            if field[h] < field[own] - tolerance and (best == own or field[h] < field[best]):
                best = h
        if best == own:
            continue
        for e in range(node_indptr[i], node_indptr[i + 1]):
            counts[groups[e], own] -= shares[e]
            counts[groups[e], best] += shares[e]
        labels[i] = best
        moved += 1
    return moved
