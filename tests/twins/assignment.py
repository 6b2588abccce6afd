"""Plain NumPy twins of ``kernels.assignment``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

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


def half_distances(x: Floats, centers: Floats, out: Floats) -> None:
    """½‖x − center‖²."""
    out[:] = ((x[None, :, :] - centers[:, None, :]) ** 2).sum(axis=2) / 2


def square_scores(scores: Floats, offset: Floats, norms: Floats, out: Floats) -> None:
    """‖x − center‖² = ‖x‖² + 2 · score, never below 0."""
    out[:] = np.maximum(2 * (scores + offset[:, None]) + norms, 0).T


def assign_nearest(scores: Floats, offset: Floats, best: Floats, labels: Ints) -> None:
    """The lowest score of every row; argmin takes the lowest index on ties."""
    values = scores + offset[:, None]
    labels[:] = values.argmin(axis=0)
    best[:] = values.min(axis=0)


def add_rows(x: Floats, weight: Floats, labels: Ints, sums: Floats, mass: Floats) -> None:
    """Weighted sum of rows and mass per cluster."""
    w = weight.astype(np.float64) if len(weight) else np.ones(len(x))
    np.add.at(sums, labels, w[:, None] * x)
    np.add.at(mass, labels, w)


def read_ahead(labels: Ints, neighbors: Ints, first: int, last: int) -> int:
    """Sum of the labels of some neighbors."""
    return int(labels[neighbors[first:last]].sum())


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
    """Visit the rows in turn; each counts its linked rows and the other members of its groups in every cluster."""
    k = len(offset)
    moved, change = 0, 0.0
    for c, i, t in zip(columns, rows, places):
        links = slice(indptr[t], indptr[t + 1])
        mine = groups[group_indptr[t] : group_indptr[t + 1]]
        cost = np.bincount(labels[neighbors[links]], weights=pull[links], minlength=k)
        for g in mine:
            group = members[member_indptr[g] : member_indptr[g + 1]]
            cost = cost + group_pull[g] * np.bincount(labels[group[group != i]], minlength=k)
        w = float(weight[c]) if len(weight) else 1.0
        value = w * (scores[:, c] + offset) + penalty * cost
        old, best = int(labels[i]), int(value.argmin())
        if value[best] < value[old]:
            moved += 1
            change += float(cost[best] - cost[old])
            labels[i] = best
            for slot in group_slot[mine]:
                if slot >= 0:
                    counts[slot, [old, best]] += -1, 1
    return moved, change


def margins(scores: Floats, offset: Floats, labels: Ints, out: Floats) -> None:
    """Best score of another cluster minus the score of the own one."""
    values = scores + offset[:, None]
    every = np.arange(len(labels))
    own = values[labels, every]
    values[labels, every] = np.inf
    out[:] = values.min(axis=0) - own


def squared_to_own(x: Floats, centers: Floats, labels: Ints, out: Floats) -> None:
    """‖x − center of its cluster‖² in double precision."""
    out[:] = ((x.astype(np.float64) - centers.astype(np.float64)[labels]) ** 2).sum(axis=1)
