"""Plain twins of the kernels in `consensus`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints

__all__ = ["add_agreements", "add_votes", "count_pairs", "pick", "quick_vote", "sift", "to_nearest"]


def quick_vote(
    labels: Array,
    active: Ints,
    spelled: Array,
    shares: Array,
    start: int,
    unit: Any,
    slack: Any,
    board: Array,
    winner: Array,
    lead: Array,
) -> None:
    """Winner of the rows from ``start`` on, as many as ``winner`` has, by whole votes."""
    n, r = len(winner), spelled.shape[1]
    board[:, :n] = 0
    for j, k in enumerate(active):
        for h in range(r):
            board[h, :n][labels[k, start : start + n] == spelled[j, h]] += shares[j]
    votes = board[:r, :n]
    winner[:] = votes.argmax(axis=0)
    ranked = np.sort(np.vstack([votes, np.zeros_like(votes[:1])]), axis=0)  # a single cluster leads before nobody
    lead[:] = (ranked[-1] - ranked[-2]).astype(np.float32) * unit - slack


def add_votes(labels: Array, active: Ints, clusters: Array, weights: Floats, rows: Ints, votes: Floats) -> None:
    """Add ``weights[j]`` to ``votes[i, c]``, where partition ``active[j]`` puts row ``rows[i]`` into cluster c."""
    for j, k in enumerate(active):
        votes[np.arange(len(rows)), clusters[j][labels[k, rows]]] += weights[j]


def pick(labels: Array, active: Ints, rows: Ints, out: Array, at: int) -> None:
    """``out[j, at + i]`` becomes what partition ``active[j]`` calls the cluster of row ``rows[i]``."""
    out[: len(active), at : at + len(rows)] = labels[active][:, rows]


def sift(lead: Floats, drift: float, alpha: float, lower: Floats, rows: Ints) -> int:
    """List the rows that lead by ``drift`` or less, and count them; of the others this much of the lead is left."""
    rest = lead.astype(np.float64) - drift
    found = np.flatnonzero(~(rest > 0))
    lower[:] = np.where(rest > 0, alpha * (1 - 1e-6) * rest, 0.0)
    rows[: len(found)] = found
    return len(found)


def count_pairs(first: Array, second: Array, counts: Ints) -> None:
    """Add to ``counts[a, b]`` the rows with label a in the first and b in the second partition."""
    np.add.at(counts, (first, second), 1)


def add_agreements(first: Array, second: Array, sign: int, total: Ints) -> None:
    """Add the first lines of the matrices UUᵀ (``sign`` = −1) or VVᵀ (+1) of some pairs to ``total``."""
    mine = slice(len(total))
    for a, b in zip(first, second):
        same = (a[mine, None] == a).astype(total.dtype) + (b[mine, None] == b)
        cross = (a[mine, None] == b).astype(total.dtype) + (b[mine, None] == a)
        total += same + sign * cross


def to_nearest(x: Floats, columns: Ints, centers: Floats, labels: Array, sums: Floats, mass: Floats) -> int:
    """Label the rows by their nearest center in some columns of ``x``; how many labels changed."""
    some = x[:, columns].astype(np.float64)
    far = np.zeros((len(x), centers.shape[1]))
    for j, center in enumerate(centers):
        far += (some[:, j, None] - center) ** 2
    new = far.argmin(axis=1)
    moved = int((new != labels).sum())
    labels[:] = new
    for i, h in enumerate(new):
        mass[h] += 1
        sums[:, h] += some[i]
    return moved
