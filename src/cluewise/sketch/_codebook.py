"""The codebook of a sketch: distinct rows drawn from a sample, improved by a few steps of k-means."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core import assign, centers
from cluewise.core.rows import Rows, SparseRows

__all__ = ["draw_sample", "find_distinct", "hash_key", "learn", "take_rows"]

STEPS = 4
"""Steps of k-means. Four leave about 1 % more scatter than ten, and cost 40 % of the time."""

HASHED = 2**16
"""Numbers that are hashed at a time."""


def draw_sample(n: int, weight: Floats | None, count: int, rng: np.random.Generator) -> Ints:
    """Row numbers, ascending, one from each of ``count`` parts of equal weight; heavy rows may come up repeatedly.

    Rows that follow each other are often alike, so this is a better sample than independent draws.
    """
    places = (np.arange(count) + rng.random(count)) / count
    if weight is None:
        return np.minimum((places * n).astype(np.int64), n - 1)
    ends = np.cumsum(weight, dtype=np.float64)
    return np.minimum(np.searchsorted(ends, places * ends[-1], side="right"), np.flatnonzero(weight)[-1])


def find_distinct(X: Any, which: Ints | None = None) -> tuple[Ints, Ints]:
    """The first of every set of equal rows, in their order, and for each row its place among those.

    Only for rows ``which`` if given, numbered in their order.

    Examples
    --------
    >>> import numpy as np
    >>> [found.tolist() for found in find_distinct(np.array([[5.0], [0.0], [5.0], [-0.0]]))]
    [[0, 1], [0, 1, 0, 1]]
    """
    _, first, code = np.unique(_hash_rows(X, which), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.int32)
    place[order] = np.arange(len(first), dtype=np.int32)
    return first[order], place[code]


def _hash_rows(X: Any, which: Ints | None) -> Ints:
    """64 bits for each row, the same for equal rows, dense or sparse.

    Two of 10,000 different rows share them with a probability of 10⁻¹²; they would be one grain.
    """
    key = hash_key(X.shape[1])
    if not isinstance(X, np.ndarray):
        X = X if which is None else X[which]
        ends = np.append(np.uint64(0), np.cumsum(_mix(X.data, key[X.indices])))
        return ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    out = np.empty(len(X) if which is None else len(which), dtype=np.uint64)
    size = max(HASHED // X.shape[1], 1)
    for start in range(0, len(out), size):
        block = slice(start, start + size)
        out[block] = _mix(X[block] if which is None else X[which[block]], key).sum(axis=1)
    return out


def hash_key(d: int) -> Ints:
    """A number for each column, by which equal values in different columns differ."""
    return np.random.default_rng(0).integers(2**63, size=d, dtype=np.uint64)


def _mix(values: Floats, key: Ints) -> Ints:
    """What each number adds to the hash of its row: nothing for a zero, so that sparse rows need no other numbers."""
    bits = (values + np.zeros(1)).view(np.uint64)  # in double precision, and -0.0 becomes 0.0
    # Short decimals and whole numbers differ in their leading bits only; those have to reach all the others, and meet
    # all bits of the key.
    bits = (bits ^ (bits >> np.uint64(32))) * (2 * key + np.uint64(1))
    return (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)


def take_rows(rows: Rows, which: Ints, weight: Floats) -> Rows:
    """Some rows, ascending and none twice, with weights of their own; relative to the same shift."""
    X, weight = rows.X if len(which) == rows.n else rows.X[which], weight.astype(rows.dtype)
    return SparseRows(X, weight) if isinstance(rows, SparseRows) else Rows(X, weight, rows.shift)


def learn(rows: Rows, count: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Find at most ``count`` points near which the rows lie, by k-means from random rows, which should be distinct.

    Returns the points, relative to the shift of the rows, and the nearest of them for each row; none is without rows.
    """
    chance = None if rows.weight is None else rows.weight / rows.weight.sum(dtype=np.float64)
    drawn = rng.choice(rows.n, size=min(count, rows.n), replace=False, p=chance)
    points: Floats = rows.dense(np.sort(drawn)).astype(np.float64)
    for _ in range(STEPS):
        # Not `lloyd.step`, which has a table of sums for every block: here such a table is larger than a block.
        labels = assign.find_nearest(rows, points)
        found, _ = centers.refill(rows, centers.tally(rows, labels, len(points)), points, labels, None)
        points = centers.means(found, points)
    used, labels = np.unique(assign.find_nearest(rows, points), return_inverse=True)
    return points[used], labels.astype(np.int32)
