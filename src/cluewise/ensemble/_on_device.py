"""The ensemble of `SCSC` as a tensor: its labels stay on their device, where the votes are counted."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.ensemble._aligned import Ensemble, find_reference, match_tables, unsigned
from cluewise.ensemble._chunks import Recipe
from cluewise.gpu.arrays import as_rows, give_back, join, one_thread
from cluewise.gpu.votes import (
    as_partitions,
    count_pairs,
    count_used,
    find_winners,
    label_columns,
    list_changed,
    pick,
    translate,
    vote,
)

__all__ = ["DeviceElection", "DeviceEnsemble", "label_rows"]


class DeviceEnsemble:
    """An `Ensemble` whose labels stay on their device; there are no codes, which only the processor needs.

    The clusters of the partitions are matched as `align` does.
    """

    def __init__(self, given: Any, n_clusters: int | None, like: Any = None) -> None:
        """Results are of the kind of ``given``, or of ``like``."""
        self.labels = as_partitions(given)
        self.n = int(self.labels.shape[1])
        self._give_back = give_back(given if like is None else like)
        with one_thread(self.labels):
            used = count_used(self.labels)
            self.r = int(used.max()) if n_clusters is None else n_clusters
            reference = find_reference(used, self.r)
            tables = count_pairs(self.labels, reference, self.r, int(used.max()))
            self.clusters, codes = match_tables(tables, used, reference, self.r, unsigned(int(used.max())))
            if codes is None:
                self.labels = translate(self.labels, self.clusters)
                self.clusters = np.tile(np.arange(self.r, dtype=self.clusters.dtype), (len(self.labels), 1))

    def take(self, rows: Ints) -> Ensemble:
        """Partitions of some rows, in the memory of this process."""
        labels = pick(self.labels, rows).astype(unsigned(self.clusters.shape[1]))
        return Ensemble(labels, self.clusters, np.empty((0, self.r), dtype=labels.dtype))

    def elect(self, gamma: Floats) -> DeviceElection:
        """An election with these weights."""
        return DeviceElection(self, gamma, self._give_back)


def label_rows(X: Any, recipe: Recipe, r: int) -> DeviceEnsemble:
    """The partitions of all rows, on the device of X."""
    return DeviceEnsemble(label_columns(as_rows(X), recipe.columns, recipe.centers), r, like=X)


class DeviceElection:
    """An election on a device: as `Election`, but every count is about all rows, and labels are tensors."""

    def __init__(self, ensemble: DeviceEnsemble, gamma: Floats, give_back: Any) -> None:
        self.ensemble, self.n = ensemble, ensemble.n
        self.gamma = gamma
        self.base = gamma
        self._give_back = give_back
        self._labels: Any = None
        self._changed: Ints = np.empty(0, dtype=np.int64)
        self._counted = False

    def _get_saved_state(self) -> dict[str, Any]:
        raise ValueError("an SCSC whose partitions are a tensor cannot be saved; make it of a NumPy array.")

    def gather(self, pairs: Pairs) -> tuple[Ensemble, Pairs]:
        """Partitions of the rows in the pairs, and the pairs with numbers among these rows."""
        rows, ends = np.unique(pairs.ends, return_inverse=True)
        ends = ends.reshape(-1, 2)
        few = pairs._replace(must=ends[: len(pairs.must)], cannot=ends[len(pairs.must) :])
        return self.ensemble.take(rows), few

    def reweigh(self, gamma: Floats, hard: str) -> DeviceElection:
        """The election with new weights."""
        new = copy(self)
        new.gamma, new._counted = gamma, False
        return new

    @property
    def labels(self) -> Any:
        """Cluster of each row."""
        self._count()
        return self._give_back(self._labels)

    @property
    def changed(self) -> Ints:
        """Rows whose label differs from the one that was counted before."""
        self._count()
        return self._changed

    def memberships(self, rows: Ints | None) -> Any:
        """The weight that votes for each cluster: of some rows, or of all."""
        return self._give_back(join(list(self._vote(self.gamma, rows))))

    def margin(self) -> Any:
        """Lead of each row's cluster."""
        leads = []
        for votes in self._vote(self.gamma):
            top = votes.topk(min(2, votes.shape[1]), dim=1).values
            leads.append(top[:, 0] - top[:, 1] if top.shape[1] > 1 else top[:, 0])
        return self._give_back(join(leads))

    def count_clusters(self) -> int:
        """Number of clusters that have rows."""
        self._count()
        return len(self._labels.unique())

    def find_labels(self, clues: Clues) -> Ints:
        """Labels of the rows that the clues mention, in the memory of this process; 0 for others, which break none."""
        self._count()
        every = np.zeros(self.n, dtype=np.int32)
        every[clues.tied] = pick(self._labels[None], clues.tied)[0]
        return every

    def _count(self) -> None:
        if self._counted:
            return
        if self._labels is None and self.base is not self.gamma:
            self._labels = self._find_winners(self.base)
        before, self._labels = self._labels, self._find_winners(self.gamma)
        self._changed = self._changed[:0] if before is None else list_changed(self._labels, before)
        self._counted = True

    def _find_winners(self, gamma: Floats) -> Any:
        ensemble = self.ensemble
        with one_thread(ensemble.labels):
            return find_winners(ensemble.labels, ensemble.clusters, gamma, ensemble.r)

    def _vote(self, gamma: Floats, rows: Ints | None = None) -> Any:
        ensemble = self.ensemble
        with one_thread(ensemble.labels):
            yield from vote(ensemble.labels, ensemble.clusters, gamma, ensemble.r, rows)
