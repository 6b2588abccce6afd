"""Compiled loops of the methods that find the number of clusters: divergences, and a sweep that opens clusters.

Divergences are computed in one way only, term by term in double precision: a cluster cost that was read off the
data is *equal* to a divergence met later, and two roundings of one number would decide differently.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["divergences", "divergences_to_own", "sweep"]

TINY = 1e-300
"""Weight of a row that does not count: among clusters that clues leave equal it still goes to the nearest."""


@kernel
def _divergence(x: Floats, center: Floats, code: int) -> float:
    """Codes: 0 squared Euclidean, 1 Kullback-Leibler, 2 generalized I, 3 Itakura-Saito, 4 Euclidean."""
    total = 0.0
    if code == 0 or code == 4:
        for j in range(x.shape[0]):
            difference = x[j] - center[j]
            total += difference * difference
        return np.sqrt(total) if code == 4 else total
    for j in range(x.shape[0]):
        if x[j] > 0 and not center[j] > 0:
            return np.inf
        if code == 3:
            ratio = x[j] / center[j]
            total += ratio - np.log(ratio) - 1
            continue
        if x[j] > 0:
            total += x[j] * np.log(x[j] / center[j])
        if code == 2:
            total += center[j] - x[j]
    return max(total, 0.0)


@kernel
def divergences(x: Floats, centers: Floats, code: int, out: Floats) -> None:
    """Divergence of every row from every center: ``out[h, i]``."""
    if code == 0 or code == 4:
        # The same sums in the same order, with the loop over rows inside, where it vectorizes.
        columns = x.T.copy()
        for h in range(centers.shape[0]):
            out[h] = 0.0
            for j in range(x.shape[1]):
                for i in range(x.shape[0]):
                    difference = columns[j, i] - centers[h, j]
                    out[h, i] += difference * difference
        if code == 4:
            out[:] = np.sqrt(out)
        return
    for h in range(centers.shape[0]):
        for i in range(x.shape[0]):
            out[h, i] = _divergence(x[i], centers[h], code)


@kernel
def divergences_to_own(x: Floats, centers: Floats, labels: Ints, code: int, out: Floats) -> None:
    """Divergence of every row from the center of its cluster."""
    for i in range(x.shape[0]):
        out[i] = _divergence(x[i], centers[labels[i]], code)


@kernel
def sweep(
    x: Floats,
    known: Floats,
    near: Ints,
    weight: Floats,
    rows: Ints,
    places: Ints,
    start: int,
    labels: Ints,
    centers: Floats,
    n_clusters: int,
    code: int,
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
    gain: float,
    cluster_cost: float,
    last: bool,
) -> tuple[int, int, int, float]:
    """Visit the rows of the block from ``start`` on; each joins the cheapest cluster or opens one at itself.

    ``known[h, r]`` are divergences from the first centers and ``near[r]`` is the closest of these; divergences from
    centers that were opened since are computed here. A row costs weight·divergence + gain·(pull of the rows in the
    cluster); ``places[r]`` is where it stands among the tied rows, −1 for a free row. A cluster is opened when every
    one costs at least ``cluster_cost`` (as often as the weight exceeds 1, so that a heavy row does what equal rows do
    one after the other). Ties go to the first cluster, or to the last. Returns the row where it stopped because
    ``centers`` is full (else the number of rows), the number of clusters, the number of moves and the summed
    weight·divergence of the rows visited.
    """
    capacity = centers.shape[0]
    weighted = weight.shape[0] > 0
    cost = np.zeros(capacity)
    touched = np.empty(capacity, np.int64)
    marked = np.zeros(capacity, np.bool_)
    moved = 0
    spent = 0.0
    for r in range(start, rows.shape[0]):
        i, t = rows[r], places[r]
        old = labels[i]
        met = 0
        everywhere = False
        if t >= 0:
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
                    for h in range(n_clusters):
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
        w = np.float64(weight[r]) if weighted else 1.0
        factor = w if w > 0 else TINY
        best = near[r]
        nearest = known[best, r]
        lowest = factor * nearest + gain * cost[best]
        for h in range(known.shape[0] if t < 0 else 0, n_clusters):
            d = known[h, r] if h < known.shape[0] else _divergence(x[r], centers[h], code)
            value = factor * d + gain * cost[h]
            if value < lowest or (value == lowest and (h > best if last else h < best)):
                lowest = value
                best = h
                nearest = d
        if everywhere:
            cost[:] = 0.0
        for c in range(met):
            cost[touched[c]] = 0.0
            marked[touched[c]] = False
        if w > 0 and not lowest < cluster_cost * max(w, 1.0):
            if n_clusters == capacity:
                return r, n_clusters, moved, spent
            for j in range(x.shape[1]):
                centers[n_clusters, j] = x[r, j]
            best = n_clusters
            nearest = 0.0
            n_clusters += 1
        if w > 0:
            spent += w * nearest
        if best != old:
            moved += 1
            labels[i] = best
            if t >= 0:
                for e in range(group_indptr[t], group_indptr[t + 1]):
                    slot = group_slot[groups[e]]
                    if slot >= 0:
                        counts[slot, old] -= 1
                        counts[slot, best] += 1
    return rows.shape[0], n_clusters, moved, spent
