"""Compiled loops that put rows into clusters.

Every kernel sees a block of *scores*: ``scores[h, i] + offset[h]`` is half the squared distance of row i to
center h, up to a constant of the row. Clusters come first, so that the loop over rows vectorizes without
reordering anything. Rows come with their sample weight; an empty array means weight 1.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import fma, kernel

__all__ = [
    "add_rows",
    "assign_nearest",
    "assign_penalized",
    "half_distances",
    "margins",
    "read_ahead",
    "square_scores",
    "squared_to_own",
]


@fma
def half_distances(x: Floats, centers: Floats, out: Floats) -> None:
    """Half squared distances in difference form: exact where the expanded form would cancel."""
    for h in range(centers.shape[0]):
        for i in range(x.shape[0]):
            total = x.dtype.type(0)
            for j in range(x.shape[1]):
                difference = x[i, j] - centers[h, j]
                total += difference * difference
            out[h, i] = total / 2


@kernel
def square_scores(scores: Floats, offset: Floats, norms: Floats, out: Floats) -> None:
    """Squared distances, rows first, from the scores of a block and the squared norms of its rows."""
    tile = 128  # rows that are turned around while they are in the cache
    for start in range(0, out.shape[0], tile):
        stop = min(start + tile, out.shape[0])
        for h in range(out.shape[1]):
            for i in range(start, stop):
                # Rounding may leave a little less than nothing.
                out[i, h] = max(2 * (scores[h, i] + offset[h]) + norms[i], 0.0)


@kernel
def assign_nearest(scores: Floats, offset: Floats, best: Floats, labels: Ints) -> None:
    """Nearest cluster of every row of the block, lowest index on ties; ``best`` is scratch."""
    for i in range(labels.shape[0]):
        best[i] = scores[0, i] + offset[0]
        labels[i] = 0
    for h in range(1, scores.shape[0]):
        shift = offset[h]
        for i in range(labels.shape[0]):
            value = scores[h, i] + shift
            better = value < best[i]
            best[i] = value if better else best[i]
            labels[i] = h if better else labels[i]


@kernel
def add_rows(x: Floats, weight: Floats, labels: Ints, sums: Floats, mass: Floats) -> None:
    """Add every row of the block to the sum and the mass of its cluster, in double precision."""
    d = x.shape[1]
    weighted = weight.shape[0] > 0
    for i in range(x.shape[0]):
        h = labels[i]
        if weighted:
            w = np.float64(weight[i])  # a product of two float32 would be rounded before it is added
            mass[h] += w
            for j in range(d):
                sums[h, j] += w * x[i, j]
        else:
            mass[h] += 1.0
            for j in range(d):
                sums[h, j] += x[i, j]


@kernel
def read_ahead(labels: Ints, neighbors: Ints, first: int, last: int) -> int:
    """Sum of the labels of ``neighbors[first:last]``, and with it those labels in the cache.

    They lie far apart: in a plain loop they arrive together, while a sweep would wait for every one of them. That makes
    sweeps over many links twice as fast.
    """
    total = 0
    for e in range(first, last):
        total += labels[neighbors[e]]
    return total


@kernel
def assign_penalized(
    scores: Floats,
    offset: Floats,
    nearest: Ints,
    weight: Floats,
    columns: Ints,
    rows: Ints,
    places: Ints,
    labels: Ints,
    indptr: Ints,
    neighbors: Ints,
    pull: Floats,
    group_indptr: Ints,
    groups: Ints,
    group_pull: Floats,
    group_slot: Ints,
    member_indptr: Ints,
    members: Ints,
    counts: Ints,
    penalty: float,
) -> tuple[int, float]:
    """One sweep of iterated conditional modes over some rows of the block, in their order.

    ``columns[r]`` is where row ``rows[r]`` stands in the block, whose scores, nearest clusters and weights are given.
    ``places[r]`` is where row ``rows[r]`` stands among the tied rows, which alone have links and groups.
    A row moves to the cluster with the lowest weight·score + penalty·(broken clues), given the current labels
    of all other rows; it stays where it is on ties. A neighbor with ``pull`` < 0 attracts, one with ``pull``
    > 0 repels; so do the members of a group. Groups that have a slot in ``counts`` (members per cluster) are
    read there, the others member by member. Returns the number of moves and the change of the penalty.
    """
    k = offset.shape[0]
    weighted = weight.shape[0] > 0
    cost = np.zeros(k)
    touched = np.empty(k, np.int64)
    marked = np.zeros(k, np.bool_)
    moved = 0
    change = 0.0
    for r in range(rows.shape[0]):
        i, t, column = rows[r], places[r], columns[r]
        old = labels[i]
        met = 0
        everywhere = False
        for e in range(indptr[t], indptr[t + 1]):
            h = labels[neighbors[e]]
            cost[h] += pull[e]
            if not marked[h]:
                marked[h] = True
                touched[met] = h
                met += 1
        for e in range(group_indptr[t], group_indptr[t + 1]):
            g = groups[e]
            slot = group_slot[g]
            if slot >= 0:
                everywhere = True
                for h in range(k):
                    cost[h] += group_pull[g] * counts[slot, h]
                cost[old] -= group_pull[g]
                continue
            for m in range(member_indptr[g], member_indptr[g + 1]):
                if members[m] != i:
                    h = labels[members[m]]
                    cost[h] += group_pull[g]
                    if not marked[h]:
                        marked[h] = True
                        touched[met] = h
                        met += 1
        w = weight[column] if weighted else 1.0
        best = old
        lowest = penalty * cost[old] + w * (scores[old, column] + offset[old])
        near = nearest[column]
        if everywhere or w == 0 or cost[near] > 0:
            for h in range(k):
                value = penalty * cost[h] + w * (scores[h, column] + offset[h])
                if value < lowest:
                    lowest = value
                    best = h
        else:
            # No clue speaks against the nearest cluster, so it beats every cluster without linked rows.
            for c in range(-1, met):
                h = near if c < 0 else touched[c]
                value = penalty * cost[h] + w * (scores[h, column] + offset[h])
                if value < lowest or (value == lowest and best != old and h < best):
                    lowest = value
                    best = h
        if best != old:
            moved += 1
            change += cost[best] - cost[old]
            labels[i] = best
            for e in range(group_indptr[t], group_indptr[t + 1]):
                slot = group_slot[groups[e]]
                if slot >= 0:
                    counts[slot, old] -= 1
                    counts[slot, best] += 1
        if everywhere:
            cost[:] = 0.0
        for c in range(met):
            cost[touched[c]] = 0.0
            marked[touched[c]] = False
    return moved, change


@kernel
def margins(scores: Floats, offset: Floats, labels: Ints, out: Floats) -> None:
    """Lead of each row's own cluster over the best other one: difference of half squared distances."""
    for i in range(labels.shape[0]):
        out[i] = np.inf
    for h in range(offset.shape[0]):
        shift = offset[h]
        for i in range(labels.shape[0]):
            value = scores[h, i] + shift
            closer = (value < out[i]) & (labels[i] != h)
            out[i] = value if closer else out[i]
    for i in range(labels.shape[0]):
        out[i] -= scores[labels[i], i] + offset[labels[i]]


@kernel
def squared_to_own(x: Floats, centers: Floats, labels: Ints, out: Floats) -> None:
    """Squared distance of each row to the center of its cluster, in double precision."""
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            difference = np.float64(x[i, j]) - np.float64(centers[labels[i], j])
            total += difference * difference
        out[i] = total
