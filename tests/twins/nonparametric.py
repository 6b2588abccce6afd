"""Plain NumPy twins of ``kernels.nonparametric``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["divergences", "divergences_to_own", "sweep"]


def _terms(x: Floats, y: Floats, code: int) -> Floats:
    """The terms of the divergence, column by column; 0·log 0 = 0."""
    if code in (0, 4):
        return (x - y) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        if code == 3:
            return x / y - np.log(x / y) - 1
        logs = np.where(x > 0, x * np.log(x / y), 0.0)
    return logs if code == 1 else logs + y - x


def divergences(x: Floats, centers: Floats, code: int, out: Floats) -> None:
    """Sum of the terms, for every center and row."""
    total = _terms(x[None, :, :], centers[:, None, :], code).sum(axis=2)
    out[:] = np.sqrt(total) if code == 4 else np.maximum(total, 0)


def divergences_to_own(x: Floats, centers: Floats, labels: Ints, code: int, out: Floats) -> None:
    """Pick each row's own cluster from all divergences."""
    every = np.empty((len(centers), len(x)))
    divergences(x, centers, code, every)
    out[:] = every[labels, np.arange(len(x))]


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
    """Visit the rows in turn; each counts its linked rows and the other members of its groups in every cluster."""
    moved, spent = 0, 0.0
    for r in range(start, len(rows)):
        i, t = rows[r], places[r]
        cost = np.zeros(n_clusters)
        mine = groups[group_indptr[t] : group_indptr[t + 1]] if t >= 0 else groups[:0]
        if t >= 0:
            links = slice(indptr[t], indptr[t + 1])
            np.add.at(cost, labels[neighbors[links]], pull[links])
        for g in mine:
            group = members[member_indptr[g] : member_indptr[g + 1]]
            np.add.at(cost, labels[group[group != i]], group_pull[g])
        w = float(weight[r]) if len(weight) else 1.0
        d = np.empty((n_clusters, 1))
        divergences(x[r : r + 1], centers[:n_clusters], code, d)
        d[: len(known), 0] = known[:, r]
        value = (w if w > 0 else 1e-300) * d[:, 0] + gain * cost
        best = n_clusters - 1 - int(value[::-1].argmin()) if last else int(value.argmin())
        nearest = d[best, 0]
        if w > 0 and not value[best] < cluster_cost * max(w, 1.0):
            if n_clusters == len(centers):
                return r, n_clusters, moved, spent
            centers[n_clusters] = x[r]
            best, nearest = n_clusters, 0.0
            n_clusters += 1
        spent += w * nearest if w > 0 else 0.0
        if best != labels[i]:
            moved += 1
            for slot in group_slot[mine]:
                if slot >= 0:
                    counts[slot, [labels[i], best]] += -1, 1
            labels[i] = best
    return len(rows), n_clusters, moved, spent
