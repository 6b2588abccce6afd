"""Ward's tree over all rows, or over small k-means clusters of them."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cluewise._typing import Bools, Floats, Ints
from cluewise.centroid import PCKMeans
from cluewise.clues import Clues
from cluewise.core.trees.linkage import tree_of
from cluewise.core.trees.linkage_means import means_of, merge_by_ward

__all__ = ["WardGroups"]

SWEEPS = 5
"""Iterations of k-means for small clusters, which need not be optimal."""


class WardGroups:
    """A tree of groups; its leaves are the rows if there are at most ``exact``, otherwise ``small`` clusters.

    Groups are numbered as in SciPy's linkage: leaves first, every group after its two parts, the last holds all rows.
    """

    def __init__(self, X: Floats, seed: int, *, exact: int = 12_000, small: int = 2_000) -> None:
        self.X = X
        leaf = np.arange(len(X)) if len(X) <= exact else _gather(X, small, seed)
        m = int(leaf.max()) + 1
        counts = np.bincount(leaf, minlength=m)
        order = np.argsort(leaf, kind="stable")
        sums = [np.bincount(leaf, weights=X[:, j], minlength=m) for j in range(X.shape[1])]
        means = np.column_stack(sums) / counts[:, None]
        given = means_of(means, Clues(m))._replace(size=counts.astype(np.float64))
        merges = merge_by_ward(given, lambda _: False)
        self.parts: Ints = tree_of(np.arange(m), merges).Z[:, :2].astype(np.int64)
        self.n_leaves = m
        self.size = np.concatenate([counts, np.zeros(m - 1, dtype=counts.dtype)]).astype(np.float64)
        self.mean = np.concatenate([means, np.zeros((m - 1, X.shape[1]))])
        for v, (a, b) in enumerate(self.parts.tolist(), start=m):
            self.size[v] = self.size[a] + self.size[b]
            self.mean[v] = (self.size[a] * self.mean[a] + self.size[b] * self.mean[b]) / self.size[v]
        self._place_rows(order, counts)

    def _place_rows(self, order: Ints, counts: Ints) -> None:
        """Order the rows so that every group is one slice of them."""
        self._start = np.zeros(len(self.size), dtype=np.int64)
        for v in range(len(self.size) - 1, self.n_leaves - 1, -1):
            a, b = self.parts[v - self.n_leaves]
            self._start[a] = self._start[v]
            self._start[b] = self._start[v] + int(self.size[a])
        first = np.cumsum(counts) - counts
        self._order = np.empty(len(order), dtype=np.int64)
        self._order[np.arange(len(order)) + np.repeat(self._start[: self.n_leaves] - first, counts)] = order
        self._place = np.empty(len(order), dtype=np.int64)
        self._place[self._order] = np.arange(len(order))

    @property
    def root(self) -> int:
        """The group of all rows."""
        return len(self.size) - 1

    def rows(self, v: int) -> Ints:
        """The rows of a group."""
        return self._order[self._start[v] : self._start[v] + int(self.size[v])]

    def holds(self, v: int, row: int) -> bool:
        """Whether a row is in a group."""
        return bool(0 <= self._place[row] - self._start[v] < self.size[v])

    def place(self, rows: Ints) -> Ints:
        """Where rows are in the order in which every group is one slice."""
        return self._place[rows]

    def start(self, v: int) -> int:
        """Where the slice of a group begins."""
        return int(self._start[v])

    def medoid(self, v: int, preferred: Bools) -> int:
        """The row closest to the mean of a group, of those preferred if it has any."""
        rows = self.rows(v)
        some = rows[preferred[rows]]
        rows = some if len(some) else rows
        apart = self.X[rows] - self.mean[v]
        return int(rows[np.einsum("ij,ij->i", apart, apart).argmin()])

    def squared(self, v: int, others: Ints) -> Floats:
        """Squared distances from the mean of a group to those of others."""
        apart = self.mean[others] - self.mean[v]
        return np.einsum("ij,ij->i", apart, apart)


def _gather(X: Floats, small: int, seed: int) -> Ints:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few sweeps are enough for groups
        model = PCKMeans(small, init="random", n_init=1, max_iter=SWEEPS, random_state=seed).fit(X)
    return np.unique(model.labels_, return_inverse=True)[1].reshape(-1)
