"""Which rows are near which: by a k-d tree, or by comparing with all rows where there are many columns.

Pairs are visited in blocks and never stored: there may be as many as n².
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["Search", "nearest_distance"]

TREE_COLUMNS = 20
"""Up to this many columns a k-d tree beats comparing all rows with all rows."""

BLOCK = 2**18
"""Pairs (or distances) held in memory at a time."""

CROWD = 2000
"""Rows of larger groups are better searched by `Search.outside` than by `Search.pairs`."""

WIDER = 1 + 1e-9
"""Trees round differently: their radius is a little larger, and exact distances decide."""


def nearest_distance(X: Floats) -> Floats:
    """Distance of every row to the nearest other row; there must be two rows at least."""
    if X.shape[1] <= TREE_COLUMNS:
        from scipy.spatial import cKDTree

        near = cKDTree(X).query(X, k=2)[1]
        here = np.arange(len(X))
        # Of rows in one place the tree may name two others.
        other = np.where(near[:, 0] == here, near[:, 1], near[:, 0])
        return _length(X - X[other])
    nearest = np.empty(len(X))
    for rows, distance in _blocks(X, np.arange(len(X))):
        distance[np.arange(len(rows)), rows] = np.inf
        nearest[rows] = distance.min(axis=1)
    return nearest


class Search:
    """Rows near given rows, by a k-d tree or by comparing with all rows."""

    def __init__(self, X: Floats) -> None:
        self.X = X
        self.tree: Any = None
        self.crowd: float = np.inf  # without a tree every row costs the same
        if X.shape[1] <= TREE_COLUMNS and len(X):
            from scipy.spatial import cKDTree

            self.tree = cKDTree(X)
            self.crowd = CROWD

    def pairs(self, rows: Ints, radius: float) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Pairs (i, j) of these rows and all rows, with every pair within ``radius``, and their distances."""
        if self.tree is None:
            for some, distance in _blocks(self.X, rows):
                i, j = np.nonzero(distance <= radius)
                yield some[i], j, distance[i, j]
            return
        wide = radius * WIDER
        found = self.tree.query_ball_point(self.X[rows], wide, return_length=True)
        for some in np.split(rows, np.flatnonzero(np.diff(np.cumsum(found) // BLOCK)) + 1):
            lists = self.tree.query_ball_point(self.X[some], wide)
            sizes = np.array([len(near) for near in lists])
            i = np.repeat(some, sizes)
            j = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(sizes.sum()))
            yield i, j, _length(self.X[i] - self.X[j])

    def outside(self, rows: Ints, radius: float) -> tuple[Ints, Ints, Floats]:
        """For each of these rows the nearest row (i, j) that is not among them, if within ``radius``."""
        from scipy.spatial import cKDTree

        others = np.delete(np.arange(len(self.X)), rows)
        at = cKDTree(self.X[others]).query(self.X[rows], distance_upper_bound=radius * WIDER)[1]
        found = at < len(others)
        i, j = rows[found], others[at[found]]
        return i, j, _length(self.X[i] - self.X[j])

    def nearest(self, row: int, radius: float) -> int | None:
        """The nearest other row within ``radius``, the first of them if there are several, or None."""
        look = radius
        if self.tree is not None:  # one of the two nearest rows is another row, and ties are no farther away
            look = min(look, float(self.tree.query(self.X[row], k=2)[0][1]) * WIDER)
        _, j, distance = next(self.pairs(np.array([row]), look))
        other = (j != row) & (distance <= radius)
        j, distance = j[other], distance[other]
        return int(j[distance == distance.min()].min()) if len(j) else None


def _blocks(X: Floats, rows: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Distances of some rows to all rows, some rows at a time."""
    from scipy.spatial.distance import cdist

    step = max(1, BLOCK // max(1, len(X)))
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        yield some, cdist(X[some], X)


def _length(difference: Floats) -> Floats:
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))
