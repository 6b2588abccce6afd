"""Extent of the data, against which the cost of a broken cannot-link is measured."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["box", "diameter", "farthest_pair"]

EXTREME = 2048
"""Number of rows, those farthest from the mean, whose pairs are all compared; the other pairs are bounded."""


def box(rows: Rows, counted: Ints) -> tuple[Floats, Floats]:
    """Smallest and largest value of every column among some rows."""

    def work(block: Ints) -> tuple[Floats, Floats]:
        x = rows.take(block)
        if isinstance(x, np.ndarray):
            return x.min(axis=0), x.max(axis=0)
        return x.min(axis=0).toarray().ravel(), x.max(axis=0).toarray().ravel()

    low, high = np.full(rows.d, np.inf), np.full(rows.d, -np.inf)
    for lowest, highest in map_blocks(work, rows.blocks(1, counted)):
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
    return low.astype(np.float64), high.astype(np.float64)


def diameter(rows: Rows, counted: Ints) -> float:
    """Largest distance between two of some rows: exact for up to `EXTREME` of them, else an upper bound.

    By the triangle inequality, the distance of two rows is at most the sum of their distances from the mean.
    """
    center = sum(rows.take(block).sum(axis=0) for block in rows.blocks(1, counted)) / len(counted)
    table = rows.table(np.asarray(center, dtype=np.float64).reshape(1, rows.d))
    radius = np.concatenate([rows.squared(rows.take(block), table)[0] for block in rows.blocks(1, counted)])
    radius = np.sqrt(radius.astype(np.float64))
    order = np.argsort(-radius, kind="stable")
    inside = float(radius[order[0]] + radius[order[EXTREME]]) if len(order) > EXTREME else 0.0
    extreme = counted[np.sort(order[:EXTREME])]
    return max(farthest_pair(rows, extreme)[2], inside)


def farthest_pair(rows: Rows, which: Ints, root: Floats | None = None) -> tuple[int, int, float]:
    """The first pair of rows that are farthest apart, and their distance, in O(n² d).

    ``root`` defines the metric: a vector scales the columns, a matrix transforms the rows.
    """

    def seen(block: Ints) -> Floats:
        x = rows.dense(block).astype(np.float64)
        return x if root is None else x * root if root.ndim == 1 else x @ root

    blocks = rows.blocks(rows.d, which)
    best = 0, 0, -1.0
    for b, first in enumerate(blocks):
        x = seen(first)
        norms = np.einsum("ij,ij->i", x, x)
        for second in blocks[b:]:
            z = seen(second)
            squared = norms[:, None] + np.einsum("ij,ij->i", z, z) - 2 * x @ z.T
            i, j = np.unravel_index(np.argmax(squared), squared.shape)
            if squared[i, j] > best[2]:
                best = int(first[i]), int(second[j]), float(squared[i, j])
    one, other, _ = best
    a, z = seen(np.array([one, other]))
    return one, other, float(np.sqrt(((a - z) ** 2).sum()))
