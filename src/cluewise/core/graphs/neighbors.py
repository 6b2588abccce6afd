"""Neighbors: the exact nearest rows of every row, by a tree in few columns and by blocks of products in many.

Products are taken in single precision, which is fast and not exact; a few more candidates than requested are kept,
their distances are computed again in double precision, and rows whose neighbors these might miss are searched plainly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._squares import largest
from cluewise._typing import Floats, Ints
from cluewise.core.rows import coarse_mean
from cluewise.core.threads import map_blocks, one_blas_thread, usable_threads
from cluewise.kernels import neighbors as kernels

__all__ = ["Neighbors", "nearest_rows"]

TREE = 8
"""Up to this many columns a tree finds neighbors sooner than products of blocks do."""

FEW = 500
"""Up to this many rows all are compared plainly."""

LINES, COLUMNS = 256, 2048
"""Shape of a block of scores: two megabytes, which the caches hold."""

SPARE = 8
"""Candidates beyond the requested neighbors."""

SLICE = 2**23
"""Distances per call of the plain search, so that Ctrl-C is answered."""


class Neighbors(NamedTuple):
    """The nearest other rows of each row, the nearest first; of equally near ones those of lower number."""

    rows: Ints  # (n, k) int32
    squared: Floats  # (n, k) squared distances, float64


def nearest_rows(X: Floats, k: int) -> Neighbors:
    """The k nearest other rows of every row of a dense matrix (all others where there are no k)."""
    n, d = X.shape
    k = min(k, n - 1)
    found = Neighbors(np.empty((n, k), dtype=np.int32), np.empty((n, k)))
    if k == 0:
        return found
    moved = np.subtract(X, coarse_mean(X), order="C", dtype=np.float64)
    # By a power of two to a size of which single precision has all squares: no digit changes.
    unit = np.ldexp(1.0, int(np.frexp(largest(moved))[1]))
    moved /= unit
    doubtful: Ints
    if n <= FEW or k > n // 8:
        doubtful = np.arange(n)
    elif d <= TREE:
        doubtful = _by_tree(moved, found)
    else:
        doubtful = _by_products(moved, found)
    _plainly(moved, doubtful, found)
    found.squared[:] *= unit**2
    return found


def _by_tree(X: Floats, found: Neighbors) -> Ints:
    """Ask a k-d tree; returns the rows where more than k others are equally near."""
    from scipy.spatial import KDTree

    n, k = found.rows.shape
    tree = KDTree(X)
    doubtful = []
    for start in range(0, n, 8192):
        block = slice(start, min(start + 8192, n))
        x = X[block]
        own = np.arange(block.start, block.stop)
        distance, names = tree.query(x, k + 2, workers=usable_threads())
        here = names == own[:, None]
        # The row itself goes last; where many equal rows have kept it out, it does so in spirit.
        distance[here] = np.inf
        order = np.argsort(distance, axis=1, kind="stable")
        distance, names = (np.take_along_axis(part, order, axis=1) for part in (distance, names))
        close = distance[:, k - 1] * (1 + 1e-12) >= distance[:, k]
        doubtful.append(own[close | ~here.any(axis=1)])
        names = names[:, :k]
        squared = np.zeros(names.shape)
        for c in range(X.shape[1]):
            squared += (x[:, c, None] - X[names, c]) ** 2
        order = np.lexsort([names, squared])
        found.rows[block] = np.take_along_axis(names, order, axis=1)
        found.squared[block] = np.take_along_axis(squared, order, axis=1)
    return np.concatenate(doubtful)


def _by_products(X: Floats, found: Neighbors) -> Ints:
    """Scores ½‖y‖² − x·y in blocks, the lowest of each row kept; returns the rows that need a plain search."""
    n, k = found.rows.shape
    d = X.shape[1]
    m = k + SPARE
    norms = 0.5 * np.einsum("ij,ij->i", X, X, dtype=np.float64)
    right = np.vstack([-X.T.astype(np.float32), norms[None].astype(np.float32)])
    tiles = [np.ascontiguousarray(right[:, start : start + COLUMNS]) for start in range(0, n, COLUMNS)]
    # Rounding of the inputs, of d + 1 products and of their sum: each by half an ulp of at most (‖x‖ + ‖x − y‖)².
    slack = (d + 8) * float(np.finfo(np.float32).eps)

    def work(start: int) -> Ints:
        block = slice(start, min(start + LINES, n))
        left = np.ones((block.stop - start, d + 1), dtype=np.float32)
        left[:, :d] = X[block]
        best = np.full((len(left), m), np.inf, dtype=np.float32)
        who = np.full((len(left), m), -1, dtype=np.int32)
        scores = np.empty((len(left), COLUMNS), dtype=np.float32)
        # The rows around this block first: data are often sorted, and near ones found early save work.
        for t in np.roll(np.arange(len(tiles)), -(start // COLUMNS)):
            tile = tiles[t]
            part = scores[:, : tile.shape[1]]
            np.matmul(left, tile, out=part)
            kernels.select_lowest(part, int(t) * COLUMNS, start, best, who)
        near, squared = found.rows[block], found.squared[block]
        if kernels.recheck(X, start, best, who, slack, near, squared):
            return start + np.flatnonzero(near[:, 0] < 0)
        return np.empty(0, dtype=np.int64)

    with one_blas_thread():
        return np.concatenate(list(map_blocks(work, range(0, n, LINES))))


def _plainly(X: Floats, rows: Ints, found: Neighbors) -> None:
    """Compare some rows with all."""
    size = max(SLICE // X.size, 1)

    def work(some: Any) -> None:
        k = found.rows.shape[1]
        near, squared = np.empty((len(some), k), dtype=np.int32), np.empty((len(some), k))
        kernels.nearest_exactly(X, some, near, squared)
        found.rows[some], found.squared[some] = near, squared

    for _ in map_blocks(work, [rows[start : start + size] for start in range(0, len(rows), size)]):
        continue
