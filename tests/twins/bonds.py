"""The plain twin of the kernel in `bonds`."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["relax"]


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
    """Visit ``order[start:stop]``; see the compiled one."""
    moved = 0
    for i in order[start:stop]:
        own = labels[i]
        field = costs[i].copy()
        mine = slice(indptr[i], indptr[i + 1])
        np.add.at(field, labels[indices[mine]], pull[mine])
        among = slice(node_indptr[i], node_indptr[i + 1])
        for g, share in zip(groups[among], shares[among]):
            field += group_pull[g] * share * counts[g]
            field[own] -= group_pull[g] * share * share
        better = np.flatnonzero(field < field[own] - tolerance)
        if len(better):
            best = better[field[better].argmin()]
            counts[groups[among], own] -= shares[among]
            counts[groups[among], best] += shares[among]
            labels[i] = best
            moved += 1
    return moved
