"""Rows in chunks for methods that move centers: rows with clues are in memory, and the others are read in passes.

A row without clues is in the cluster of the nearest center, so that its chunk can work out what it adds to sums, and
nothing has to be kept for it from one pass to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.assign import find_nearest, lead, score_block
from cluewise.core.centers import Tally, add_tallies, empty_tally
from cluewise.core.chunks import Chunks
from cluewise.core.rows import Rows, Worst

__all__ = ["Crowd", "Placed", "split_rows"]

ROUNDS, OVERSAMPLING = 5, 2
"""Of k-means‖: in each round, this many times k rows are drawn."""


class Placed(NamedTuple):
    """Where the rows without clues are: with the nearest of these centers, but for some that fill empty clusters."""

    centers: Floats
    tally: Tally  # before some were moved
    rows: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()


class Crowd:
    """Rows of a dask array that no clue mentions: each is in the cluster of the nearest of the centers it last saw.

    What is summed over all rows asks the crowd for its share. ``placed`` is where its rows are: the state of a method
    keeps it beside the labels of the rows in memory. Numbers of rows are those in the dask array.
    """

    def __init__(self, chunks: Chunks, numbers: Ints) -> None:
        found, shift = chunks.scan(), chunks.shift
        self.n = chunks.n  # all rows, those in memory among them
        self.X = chunks.array
        self.mean: Floats = found.mean - shift
        self.variance: Floats = found.squares / found.n
        self.scatter = float((found.squares + found.n * self.mean**2).sum())
        self.numbers = numbers  # of the rows in memory
        self.placed: Placed | None = None
        self._chunks = chunks
        self._shift = shift
        self._tied = [(rows,) for rows in chunks.split(numbers)]
        self._candidates: Rows | None = None

    @property
    def _last(self) -> Placed:
        assert self.placed is not None
        return self.placed

    def place(self, centers: Floats) -> tuple[Tally, int]:
        """Put every row into the cluster of its nearest center; a count of 0 if none has moved."""
        tally = self._chunks.reduce(_sum_chunk, add_tallies, self._shift, centers, each=self._tied)
        # Rows that move change the sums; nobody needs to remember where each was.
        same = self.placed is not None and np.array_equal(tally.sums, self.placed.tally.sums)
        self.placed = Placed(centers, tally)
        return Tally(tally.sums.copy(), tally.mass.copy()), 0 if same else 1

    def find_worst(self, centers: Floats, near: Worst, count: int) -> Worst:
        """Find the rows that are farthest from their centers, among all and those in memory that are given."""
        each = [(start, *tied) for start, tied in zip(self._chunks.starts[:-1].tolist(), self._tied)]
        merge = partial(_merge_worst, count=count)
        far = self._chunks.reduce(_find_worst, merge, self._shift, centers, count, each=each)
        return merge([near._replace(number=self.numbers[near.number]), far])

    def move(self, number: int, cluster: int, labels: Ints) -> None:
        """Put one of all rows into another cluster; ``labels`` are those of the rows in memory."""
        place = int(np.searchsorted(self.numbers, number))
        if place < len(self.numbers) and self.numbers[place] == number:
            labels[place] = cluster
        else:
            last = self._last
            self.placed = last._replace(rows=(*last.rows, number), clusters=(*last.clusters, cluster))

    def count_members(self) -> Floats:
        """Number of rows in every cluster, before any was moved."""
        return self._last.tally.mass

    def count_clusters(self, labels: Ints) -> int:
        """Number of clusters that have rows."""
        # A row that fills an empty cluster leaves one with others.
        mass = self._last.tally.mass + np.bincount(labels, minlength=len(self._last.centers))
        mass[list(self._last.clusters)] += 1
        return int(np.count_nonzero(mass))

    def distort(self, centers: Floats, labels: Ints) -> float:
        """Σ‖x − center of its cluster‖² over all rows, given the labels of those in memory."""
        return self._chunks.reduce(_distort_chunk, _add, *self._seen, centers, each=self._known(labels))

    def covary(self, centers: Floats, labels: Ints) -> Floats:
        """Σ(x − center of its cluster)(x − center of its cluster)ᵀ over all rows."""
        return self._chunks.reduce(_covary_chunk, _add, *self._seen, centers, each=self._known(labels))

    def find_covariance(self) -> Floats:
        """Covariance of all rows around their mean, in double precision."""
        return self._chunks.reduce(_scatter_chunk, _add, self._shift, self.mean) / self.n

    def take(self, numbers: Ints) -> Floats:
        """Some of all rows, relative to the shift."""
        return self._chunks.take(numbers) - self._shift

    def label(self, x: Floats, numbers: Ints, labels: Ints) -> Ints:
        """Labels of some of all rows, given those of the rows in memory."""
        found = find_nearest(Rows(x, None, np.zeros_like(self._shift)), self._last.centers)
        _, here, there = np.intersect1d(numbers, self.numbers, assume_unique=True, return_indices=True)
        found[here] = labels[there]
        return found

    def find_candidates(self, k: int, rng: np.random.Generator) -> Rows:
        """Weighted rows that stand for all, from which k centers are drawn: k-means‖ [Bahmani2012]_.

        All starts draw from the same ones. In each round ``OVERSAMPLING`` · k rows are drawn without replacement, with
        probability proportional to their squared distance to those drawn before; then each row counts for the nearest.
        """
        if self._candidates is None:
            points = self._chunks.take(rng.integers(self.n, size=1))
            count, each = OVERSAMPLING * k, [(start,) for start in self._chunks.starts[:-1].tolist()]
            merge = partial(_merge_drawn, count=count)
            for _ in range(ROUNDS):
                shared = self._shift, points, int(rng.integers(2**63)), count
                points = np.concatenate([points, self._chunks.reduce(_draw, merge, *shared, each=each).x])
            mass = self._chunks.reduce(_count_nearest, _add, self._shift, points)
            self._candidates = Rows(points, mass.astype(points.dtype), self._shift)
        return self._candidates

    # --- results ------------------------------------------------------------------------------------------------

    def spread_labels(self, labels: Ints) -> Any:
        """Labels of all rows, as a dask array, given those of the rows in memory."""
        return self._chunks.map(_label_chunk, *self._seen, each=self._known(labels), dtype=np.int32)

    def spread_lead(self, centers: Floats, labels: Ints) -> Any:
        """How much farther the best other center is from each row, as a dask array."""
        known = self._known(labels)
        return self._chunks.map(_lead_chunk, *self._seen, centers, each=known, dtype=self._chunks.dtype)

    def fill_up(self, labels: Ints) -> Ints:
        """Labels of the rows in memory, and zeros for all others: no clue mentions these, so they break none."""
        every = np.zeros(self.n, dtype=np.int32)
        every[self.numbers] = labels
        return every

    @property
    def _seen(self) -> tuple[Floats, Floats]:
        return self._shift, self._last.centers

    def _known(self, labels: Ints) -> list[tuple[Ints, Ints]]:
        """For each chunk, the rows that need not be with their nearest centers, and their labels."""
        rows = np.concatenate([self.numbers, np.array(self._last.rows, dtype=np.int64)])
        own = np.concatenate([labels, np.array(self._last.clusters, dtype=np.int32)])
        order = np.argsort(rows)
        rows = rows[order]
        return list(
            zip(self._chunks.split(rows), np.split(own[order], np.searchsorted(rows, self._chunks.starts[1:-1])))
        )


def split_rows(chunks: Chunks, tied: Ints) -> Rows:
    """The rows with clues, in memory, and the others as their crowd."""
    rows = Rows(chunks.take(tied), None, chunks.shift)
    rows.crowd = Crowd(chunks, tied)
    rows.mass = float(chunks.n)
    return rows


# --- what runs where the chunks are -----------------------------------------------------------------------------


def _add(parts: Sequence[Any]) -> Any:
    return sum(parts)


def _sum_chunk(chunk: Floats, shift: Floats, centers: Floats, tied: Ints) -> Tally:
    rows, k = Rows(chunk, None, shift), len(centers)
    table, found, blocks = rows.table(centers), empty_tally(k + 1, rows.d), rows.blocks(k)
    room = np.empty(k * max((block.stop - block.start for block in blocks), default=0), dtype=rows.dtype)
    for block in blocks:
        x, _, near = score_block(rows, table, block, room=room)
        first, last = np.searchsorted(tied, (block.start, block.stop))
        near[tied[first:last] - block.start] = k  # rows with clues go into a cluster that is dropped
        rows.add(x, block, near, found.sums, found.mass)
    return Tally(found.sums[:k], found.mass[:k])


def _label_chunk(chunk: Floats, shift: Floats, seen: Floats, known: Ints, own: Ints) -> Ints:
    labels = find_nearest(Rows(chunk, None, shift), seen)
    labels[known] = own
    return labels


def _lead_chunk(chunk: Floats, shift: Floats, seen: Floats, centers: Floats, known: Ints, own: Ints) -> Floats:
    return lead(Rows(chunk, None, shift), centers, _label_chunk(chunk, shift, seen, known, own))


def _distort_chunk(chunk: Floats, shift: Floats, seen: Floats, centers: Floats, known: Ints, own: Ints) -> float:
    rows, labels = Rows(chunk, None, shift), _label_chunk(chunk, shift, seen, known, own)
    return sum(float(rows.to_own(rows.take(block), centers, labels[block]).sum()) for block in rows.blocks(1))


def _covary_chunk(chunk: Floats, shift: Floats, seen: Floats, centers: Floats, known: Ints, own: Ints) -> Floats:
    rows, labels = Rows(chunk, None, shift), _label_chunk(chunk, shift, seen, known, own)
    near, total = centers.astype(rows.dtype), np.zeros((rows.d, rows.d))
    for block in rows.blocks(rows.d):
        rest = rows.take(block) - near[labels[block]]
        total += rest.T @ rest
    return total


def _scatter_chunk(chunk: Floats, shift: Floats, mean: Floats) -> Floats:
    rows = Rows(chunk, None, shift)
    total = np.zeros((rows.d, rows.d))
    for block in rows.blocks(rows.d):
        off = rows.take(block).astype(np.float64) - mean
        total += off.T @ off
    return total


def _find_worst(chunk: Floats, shift: Floats, centers: Floats, count: int, start: int, tied: Ints) -> Worst:
    rows = Rows(chunk, None, shift)
    labels, cost = find_nearest(rows, centers), np.empty(rows.n)
    for block in rows.blocks(len(centers)):
        cost[block] = rows.to_own(rows.take(block), centers, labels[block])
    cost[tied] = -1.0
    order = np.argsort(-cost, kind="stable")[:count]
    order = order[cost[order] >= 0]
    return Worst(cost[order], start + order, labels[order], rows.take(order))


def _merge_worst(parts: Sequence[Worst], count: int) -> Worst:
    cost, number, label, x = (np.concatenate(column) for column in zip(*parts))
    order = np.lexsort((number, -cost))[:count]
    return Worst(cost[order], number[order], label[order], x[order])


class _Drawn(NamedTuple):
    """Rows with the smallest keys, ascending: those that come first in a race."""

    key: Floats
    x: Floats


def _draw(chunk: Floats, shift: Floats, points: Floats, seed: int, count: int, start: int) -> _Drawn:
    rows = Rows(chunk, None, shift)
    table, squared = rows.table(points.astype(np.float64) - shift), np.empty(rows.n)
    for block in rows.blocks(len(points)):
        squared[block] = rows.squared(rows.take(block), table).min(axis=0)
    # Each row has the same number in this race whatever the chunks are.
    uniform = np.random.Generator(np.random.PCG64(seed).advance(start)).random((rows.n,))
    able = np.flatnonzero(squared)
    key = -np.log1p(-uniform[able]) / squared[able]
    order = np.argsort(key)[:count]
    return _Drawn(key[order], chunk[able[order]])


def _merge_drawn(parts: Sequence[_Drawn], count: int) -> _Drawn:
    key, x = (np.concatenate(column) for column in zip(*parts))
    order = np.argsort(key, kind="stable")[:count]
    return _Drawn(key[order], x[order])


def _count_nearest(chunk: Floats, shift: Floats, points: Floats) -> Floats:
    near = find_nearest(Rows(chunk, None, shift), points.astype(np.float64) - shift)
    return np.bincount(near, minlength=len(points)).astype(np.float64)
