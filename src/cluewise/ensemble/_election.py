"""An election: every partition votes for the cluster of each row, and the labels are counted when they are read."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.core import centers, lloyd, loop
from cluewise.core.rows import rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.ensemble import _votes
from cluewise.ensemble._aligned import Ensemble

__all__ = ["Election"]

MAX_ITER = 300
"""Maximum number of iterations of k-means on memberships."""


class Election:
    """An ensemble, the weights of its partitions, and the labels that follow from them.

    New weights make a new election (`reweigh`) that remembers the labels of the earlier one, so that only rows whose
    label can change are counted again. Counting changes nothing that can be seen from outside.
    """

    def __init__(
        self, ensemble: Ensemble, gamma: Floats, *, hard: str, dtype: Any, standing: _votes.Standing | None = None
    ) -> None:
        self.ensemble = ensemble
        self.gamma = gamma
        self.hard = hard  # "rounding" or "kmeans"
        self.dtype = np.dtype(dtype)  # of the margin
        self.base = gamma  # changes are counted from these weights until labels are read for the first time
        self.standing = standing  # the last count, if clusters are those with the most votes
        self._labels: Ints | None = None if standing is None else standing.winner.astype(np.int32)
        self._changed: Ints = np.empty(0, dtype=np.int64)
        self._counted = False  # whether the labels follow from `gamma`
        self.partitions_file: str | None = None  # where the ensemble was saved,
        self.votes_file: str | None = None  # and the standing

    @classmethod
    def restore(cls, attributes: dict[str, Any]) -> Election:
        """The election of an old pickle, taken out of the attributes of its model."""
        ensemble, dtype = attributes.pop("_ensemble"), attributes.pop("_dtype")
        election = cls(ensemble, attributes["gamma_"], hard=attributes["hard"], dtype=dtype)
        election.base, election.standing = attributes.pop("_base"), attributes.pop("_standing")
        for name in ("_labels", "_changed", "_counted"):
            setattr(election, name, attributes.pop(name))
        return election

    def reweigh(self, gamma: Floats, hard: str) -> Election:
        """The election with new weights."""
        new = copy(self)
        new.gamma, new.hard, new._counted = gamma, hard, False
        return new

    @property
    def labels(self) -> Ints:
        """Cluster of each row."""
        self._count()
        assert self._labels is not None
        return self._labels

    @property
    def changed(self) -> Ints:
        """Rows whose label differs from the one that was counted before."""
        self._count()
        return self._changed

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.ensemble.n

    def gather(self, pairs: Pairs) -> tuple[Ensemble, Pairs]:
        """Partitions of the rows in the pairs, and the pairs with numbers among these rows."""
        return self.ensemble, pairs

    def find_labels(self, clues: Clues) -> Ints:
        """Labels of all rows; those that the clues mention matter."""
        return self.labels

    def count_clusters(self) -> int:
        """Number of clusters that have rows."""
        return len(np.unique(self.labels))

    def memberships(self, rows: Ints | None) -> Floats:
        """Rows of F = Σ γ_k P_k: the weight that votes for each cluster; all by default."""
        return _votes.sum_votes(self.ensemble, self.gamma, np.arange(self.n) if rows is None else rows)

    def margin(self) -> Floats:
        """Lead of each row's cluster in F; negative where k-means chose another cluster than the largest."""
        labels = self.labels
        lead = np.empty(len(labels), dtype=self.dtype)
        for start in range(0, len(labels), _votes.BLOCK):  # F as a whole may be larger than memory
            block = np.arange(start, min(start + _votes.BLOCK, len(labels)))
            votes, every = self.memberships(block), np.arange(len(block))
            own = votes[every, labels[block]]
            votes[every, labels[block]] = -np.inf
            lead[block] = own - np.maximum(votes.max(axis=1), 0)
        return lead

    def _count(self) -> None:
        """Bring the labels up to date with the weights."""
        if self._counted:
            return
        if self._labels is None and self.base is not self.gamma:
            self._count_with(self.base)
        self._changed = self._count_with(self.gamma)
        self._counted = True

    def _count_with(self, gamma: Floats) -> Ints:
        """Count the votes; return the rows whose label changed."""
        nothing: Ints = np.empty(0, dtype=np.int64)
        if self.hard == "kmeans":
            before = self._labels
            self._labels = _kmeans(_votes.sum_votes(self.ensemble, gamma, np.arange(self.ensemble.n)))
            return nothing if before is None else np.flatnonzero(self._labels != before)
        standing, changed = self.standing, nothing
        if standing is None:
            standing = _votes.count(self.ensemble, gamma)
        else:
            standing, changed = _votes.recount(self.ensemble, standing, gamma)
        if standing is not self.standing:
            self.standing, self.votes_file = standing, None
        self._labels = standing.winner.astype(np.int32)
        return changed


def _kmeans(memberships: Floats) -> Ints:
    """Cluster the rows of F by k-means, from the means of the rounded clusters (a corner where one is empty)."""
    rounded = memberships.argmax(axis=1).astype(np.int32)
    k = memberships.shape[1]
    rows = rows_of(memberships)
    sizes = np.bincount(rounded, minlength=k)
    sums = np.stack([np.bincount(rounded, weights=column, minlength=k) for column in memberships.T], axis=1)
    means = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.eye(k))
    start = lloyd.State(rounded, means - rows.shift)
    with one_blas_thread():
        move = partial(lloyd.step, rows=rows, total=centers.scatter(rows))
        result = loop.run(move, start, loop.Limits(MAX_ITER, 0.0))
    return result.state.labels
