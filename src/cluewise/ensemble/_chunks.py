"""An election of rows in chunks: partitions are centers, from which the labels of a chunk are made whenever it is read.

The labels themselves, a byte for each row and partition, would be larger than the rows. Clues need those of the rows
that they mention, which are in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.core.chunks import Chunks
from cluewise.core.threads import map_blocks
from cluewise.ensemble import _votes
from cluewise.ensemble._aligned import Ensemble, match_tables, unsigned
from cluewise.ensemble._partitions import MAX_ITER, N_ROWS, Each, draw_plan, find_centers, label_block
from cluewise.kernels import consensus

__all__ = ["ChunkElection", "hold_election", "learn_recipe"]


class Recipe(NamedTuple):
    """How to label rows: the columns of each partition and its centers, and the cluster that each label means."""

    columns: list[Ints]
    centers: list[Floats]
    clusters: Array  # as in `Ensemble`
    codes: Array

    def label(self, x: Floats) -> Ensemble:
        """Partitions of some rows."""
        labels = np.empty((len(self.centers), len(x)), dtype=self.codes.dtype)
        label_block(x, self.columns, self.centers, labels)
        return Ensemble(labels, self.clusters, self.codes)


def hold_election(chunks: Chunks, m: int, r: int, gamma: Floats, rng: np.random.Generator, each: Each) -> ChunkElection:
    """Learn m partitions, and match their clusters in one pass."""
    recipe = learn_recipe(chunks, m, r, rng, each)
    counts = chunks.reduce(_count_pairs, _add, recipe, r)
    used = np.array([int(np.flatnonzero(own.sum(axis=0))[-1]) + 1 for own in counts])
    clusters, codes = match_tables(counts, used, 0, r, unsigned(r))
    assert codes is not None  # no partition has more than r labels
    return ChunkElection(chunks, recipe._replace(clusters=clusters, codes=codes), gamma)


def learn_recipe(chunks: Chunks, m: int, r: int, rng: np.random.Generator, each: Each) -> Recipe:
    """Learn m partitions from a sample of the rows, the same for all; their clusters are not matched yet."""
    n, d = chunks.shape
    drawn = np.arange(n) if n <= N_ROWS else np.sort(rng.choice(n, N_ROWS, replace=False))
    sample = chunks.take(drawn)
    # In the order in which `partitions` draws, so that few rows have the partitions that they would have in memory.
    plans = [draw_plan(len(sample), d, -(-d // 20), int(rng.integers(r, r + 1)), N_ROWS, rng) for _ in range(m)]
    centers = list(each(map_blocks(lambda plan: find_centers(sample, plan, MAX_ITER), plans), m))
    none = np.empty((m, 0), dtype=unsigned(r))
    return Recipe([plan.columns for plan in plans], centers, none, none)


class ChunkElection:
    """The votes of partitions on rows in chunks; as `Election`, but labels and margins are dask arrays."""

    hard = "rounding"

    def __init__(self, chunks: Chunks, recipe: Recipe, gamma: Floats) -> None:
        self._chunks, self._recipe = chunks, recipe
        self.n, self.gamma = chunks.n, gamma
        self.base = gamma  # changes are counted from these weights until labels are read for the first time
        self._read: Floats | None = None  # weights when labels were last read, and before
        self._before: Floats = gamma

    def _get_saved_state(self) -> dict[str, Any]:
        raise ValueError("an SCSC of a dask array cannot be saved, as its partitions are made from the chunks.")

    def reweigh(self, gamma: Floats, hard: str) -> ChunkElection:
        """The election with new weights."""
        new = copy(self)
        new.gamma = gamma
        return new

    def gather(self, pairs: Pairs) -> tuple[Ensemble, Pairs]:
        """Partitions of the rows in the pairs, and the pairs with numbers among these rows."""
        rows, ends = np.unique(pairs.ends, return_inverse=True)
        ends = ends.reshape(-1, 2)
        few = pairs._replace(must=ends[: len(pairs.must)], cannot=ends[len(pairs.must) :])
        return self._take(rows), few

    def _take(self, rows: Ints) -> Ensemble:
        return self._recipe.label(self._chunks.take(rows))

    @property
    def labels(self) -> Any:
        """Cluster of each row, as a dask array."""
        self._note()
        return self._chunks.map(_label_chunk, self._recipe, self.gamma, dtype=np.int32)

    @property
    def changed(self) -> Ints:
        """Rows whose label differs from the one that was read before; takes a pass."""
        self._note()
        if np.array_equal(self._before, self.gamma):
            return np.empty(0, dtype=np.int64)
        each = [(start,) for start in self._chunks.starts[:-1].tolist()]
        return self._chunks.reduce(_find_changes, _join, self._recipe, self._before, self.gamma, each=each)

    def _note(self) -> None:
        """Note that labels were read."""
        if self._read is not self.gamma:
            self._before, self._read = self.base if self._read is None else self._read, self.gamma

    def find_labels(self, clues: Clues) -> Ints:
        """Labels of the rows that the clues mention; 0 for others, which break none."""
        labels = np.zeros(self.n, dtype=np.int32)
        labels[clues.tied] = _vote(self._take(clues.tied), self.gamma)
        return labels

    def count_clusters(self) -> int:
        """Number of clusters that have rows; takes a pass."""
        return int(np.count_nonzero(self._chunks.reduce(_count_labels, _add, self._recipe, self.gamma)))

    def memberships(self, rows: Ints | None) -> Any:
        """Weight that votes for each cluster: of some rows, or of all as a dask array."""
        if rows is not None:
            return _sum_votes(self._take(rows), self.gamma)
        width = self._recipe.codes.shape[1]
        return self._chunks.map(_sum_chunk, self._recipe, self.gamma, dtype=np.float64, width=width)

    def margin(self) -> Any:
        """Lead of each row's cluster, as a dask array."""
        return self._chunks.map(_find_margin, self._recipe, self.gamma, dtype=self._chunks.dtype)


# --- what runs where the chunks are -----------------------------------------------------------------------------


def _add(parts: Sequence[Any]) -> Any:
    return sum(parts)


def _join(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts)


def _count_pairs(chunk: Floats, recipe: Recipe, r: int) -> Ints:
    """For each partition, rows by their cluster in the first partition and in this one."""
    counts = np.zeros((len(recipe.centers), r, r), dtype=np.int64)
    for x in _cut(chunk):
        labels = recipe.label(x).labels
        for own, table in zip(labels, counts):
            consensus.count_pairs(labels[0], own, table)
    return counts


def _cut(chunk: Floats) -> list[Floats]:
    """A chunk in blocks whose labels need little memory."""
    return [chunk[start : start + _votes.BLOCK] for start in range(0, len(chunk), _votes.BLOCK)]


def _vote(ensemble: Ensemble, gamma: Floats) -> Ints:
    return _votes.count(ensemble, gamma).winner.astype(np.int32) if ensemble.n else np.empty(0, dtype=np.int32)


def _sum_votes(ensemble: Ensemble, gamma: Floats) -> Floats:
    return _votes.sum_votes(ensemble, gamma, np.arange(ensemble.n))


def _label_chunk(chunk: Floats, recipe: Recipe, gamma: Floats) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int32), *(_vote(recipe.label(x), gamma) for x in _cut(chunk))])


def _find_changes(chunk: Floats, recipe: Recipe, before: Floats, gamma: Floats, first: int) -> Ints:
    return first + np.flatnonzero(_label_chunk(chunk, recipe, before) != _label_chunk(chunk, recipe, gamma))


def _count_labels(chunk: Floats, recipe: Recipe, gamma: Floats) -> Ints:
    return np.bincount(_label_chunk(chunk, recipe, gamma), minlength=recipe.codes.shape[1])


def _sum_chunk(chunk: Floats, recipe: Recipe, gamma: Floats) -> Floats:
    width = recipe.codes.shape[1]
    return np.concatenate([np.empty((0, width)), *(_sum_votes(recipe.label(x), gamma) for x in _cut(chunk))])


def _find_margin(chunk: Floats, recipe: Recipe, gamma: Floats) -> Floats:
    votes = np.sort(_sum_chunk(chunk, recipe, gamma), axis=1)
    return (votes[:, -1] - (votes[:, -2] if votes.shape[1] > 1 else 0)).astype(chunk.dtype)
