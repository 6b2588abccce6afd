"""Clusters by the weighted vote of an ensemble, counted only when somebody asks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.base import Clusterer
from cluewise.clues.check import row_numbers
from cluewise.ensemble import _votes
from cluewise.ensemble._aligned import Aligned
from cluewise.ensemble._kmeans import kmeans

__all__ = ["Voted"]


class Voted(Clusterer):
    """Base of methods whose model is an ensemble and ``gamma_``, the weights of its partitions."""

    gamma_: Floats
    hard: str

    def _elect(self, ensemble: Aligned, dtype: Any) -> None:
        """Begin with the weights that there are; later labels are compared with theirs."""
        self._ensemble = ensemble
        self._dtype = dtype
        self._base = self.gamma_
        self._standing: _votes.Standing | None = None
        self._labels: Ints | None = None
        self._changed: Ints = np.empty(0, dtype=np.int64)
        self._counted = False  # whether the labels belong to the weights

    def memberships(self, rows: Any = None) -> Floats:
        """How much weight votes for each cluster.

        Parameters
        ----------
        rows : array-like, slice or mask, optional
            Which rows; all by default.

        Returns
        -------
        F : ndarray of shape (rows, n_clusters)
            Not negative, each line with sum 1.
        """
        check_is_fitted(self, "gamma_")
        n = self._ensemble.n
        picked = np.arange(n) if rows is None else row_numbers(rows, n)
        return _votes.soft(self._ensemble, self.gamma_, picked)

    @property
    def labels_(self) -> Ints:
        """Cluster of each row."""
        self._count()
        assert self._labels is not None
        return self._labels

    @property
    def changed_(self) -> Ints:
        """Rows whose label is not what it was when labels were counted before."""
        self._count()
        return self._changed

    @property
    def n_clusters_(self) -> int:
        """Number of clusters with rows."""
        return len(np.unique(self.labels_))

    @property
    def margin_(self) -> Floats:
        """Weight by which the chosen cluster leads; below 0 where k-means chose another than the largest."""
        labels = self.labels_
        lead = np.empty(len(labels), dtype=self._dtype)
        for start in range(0, len(labels), _votes.BLOCK):
            block = np.arange(start, min(start + _votes.BLOCK, len(labels)))
            votes = self.memberships(block)
            own = votes[np.arange(len(block)), labels[block]]
            votes[np.arange(len(block)), labels[block]] = -np.inf
            lead[block] = own - np.maximum(votes.max(axis=1), 0)
        return lead

    def _count(self) -> None:
        """Bring labels up to the weights."""
        check_is_fitted(self, "gamma_")
        if self._counted:
            return
        for gamma in (self._base, self.gamma_):
            if self._labels is None or gamma is self.gamma_:
                self._changed = self._labels_for(gamma)
        self._counted = True

    def _labels_for(self, gamma: Floats) -> Ints:
        """Count the votes; rows whose label changed."""
        if self.hard == "kmeans":
            every = np.arange(self._ensemble.n)
            new: Ints = kmeans(_votes.soft(self._ensemble, gamma, every))
            changed: Ints = np.flatnonzero(new != self._labels) if self._labels is not None else every[:0]
        elif self._standing is None:
            self._standing = _votes.count(self._ensemble, gamma)
            new, changed = self._standing.winner.astype(np.int32), self._changed[:0]
        else:
            self._standing, changed = _votes.recount(self._ensemble, self._standing, gamma)
            new = self._standing.winner.astype(np.int32)
        self._labels = new
        return changed
