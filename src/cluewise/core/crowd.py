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
from cluewise.core.centers import Tally, add_tallies, empty_tally, scatter, tally
from cluewise.core.chunks import Chunks
from cluewise.core.rows import Rows, Seats, Worst

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

    def __init__(self, chunks: Chunks, tied: Rows, numbers: Ints) -> None:
        found, shift = chunks.scan(), chunks.shift
        self.n = chunks.n  # all rows, those in memory among them
        self.X = chunks.array
        self.mean: Floats = found.mean - shift
        self.variance: Floats = found.squares / found.n
        self.scatter = float((found.squares + found.n * self.mean**2).sum())
        self.mass = float(self.n)
        self.numbers = numbers  # of the rows in memory
        self.placed: Placed | None = None
        self._chunks = chunks
        self._shift = shift
        each = zip(chunks.starts[:-1].tolist(), chunks.split(numbers))
        self._parts = [(_Part(self.n, first, mine),) for first, mine in each]
        self._candidates: Rows | None = None
        if chunks.weight is not None:
            added = chunks.reduce(_weigh_chunk, add_tallies, shift, each=self._parts)
            self.mass, self.scatter = float(added.mass[0]), float(added.sums[1].sum())
            mean = added.sums[0] / self.mass
            self.variance, self.mean = self.variance + (self.mean - mean) ** 2, mean  # equal rows count alike
        self._own_scatter = self.scatter - scatter(tied)

    @property
    def _last(self) -> Placed:
        assert self.placed is not None
        return self.placed

    def place(self, centers: Floats) -> tuple[Tally, int]:
        """Put every row into the cluster of its nearest center; a count of 0 if none has moved."""
        found = self._chunks.reduce(_sum_chunk, add_tallies, self._shift, centers, each=self._parts)
        # Rows that move change the sums; nobody needs to remember where each was.
        same = self.placed is not None and np.array_equal(found.sums, self.placed.tally.sums)
        self.placed = Placed(centers, found)
        return Tally(found.sums.copy(), found.mass.copy()), 0 if same else 1

    def find_worst(self, centers: Floats, near: Worst, count: int) -> Worst:
        """Find the rows that are farthest from their centers, among all and those in memory that are given."""
        merge = partial(_merge_worst, count=count)
        far = self._chunks.reduce(_find_worst, merge, self._shift, centers, count, each=self._parts)
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
        """Number of rows with weight in every cluster, before any was moved."""
        return self._count(True)

    def count_clusters(self, labels: Ints) -> int:
        """Number of clusters that have rows."""
        # A row that fills an empty cluster leaves one with others.
        count = self._count(False) + np.bincount(labels, minlength=len(self._last.centers))
        count[list(self._last.clusters)] += 1
        return int(np.count_nonzero(count))

    def _count(self, positive: bool) -> Floats:
        if self._chunks.weight is None:
            return self._last.tally.mass
        return self._chunks.reduce(_count_chunk, _add, *self._seen, positive, each=self._parts)

    def distort(self, centers: Floats) -> float:
        """Σ‖x − center of its cluster‖² over the crowd, from its sums."""
        held = self._hold()
        norms = np.einsum("hj,hj->h", centers, centers)
        return max(self._own_scatter - 2 * float((held.sums * centers).sum()) + float(held.mass @ norms), 0.0)

    def covary(self, centers: Floats) -> Floats:
        """Σ(x − center of its cluster)(x − center of its cluster)ᵀ over the crowd."""
        held, total = self._hold(), self._chunks.reduce(_square_chunk, _add, self._shift, each=self._parts)
        cross = held.sums.T @ centers
        return total - cross - cross.T + (held.mass[:, None] * centers).T @ centers

    def _hold(self) -> Tally:
        """Sums and masses of the crowd, with the rows that have filled empty clusters where they are now."""
        centers, (sums, mass), rows, clusters = self._last
        if not rows:
            return Tally(sums, mass)
        numbers = np.array(rows)
        moved = Rows(self.take(numbers), self.weights(numbers), np.zeros_like(self._shift))
        before, after = self.label(moved.X, numbers), np.array(clusters, dtype=np.int32)
        leaving, coming = (tally(moved, own, len(centers)) for own in (before, after))
        return Tally(sums - leaving.sums + coming.sums, mass - leaving.mass + coming.mass)

    def find_covariance(self) -> Floats:
        """Covariance of all rows around their mean, in double precision."""
        return self._chunks.reduce(_scatter_chunk, _add, self._shift, self.mean) / self.n

    def take(self, numbers: Ints) -> Floats:
        """Some of all rows, relative to the shift."""
        return self._chunks.take(numbers) - self._shift

    def weights(self, numbers: Ints) -> Floats | None:
        """Weights of some of all rows."""
        return self._chunks.take_weight(numbers)

    def label(self, x: Floats, numbers: Ints, labels: Ints | None = None) -> Ints:
        """Nearest of the centers last seen for some of all rows, but for those in memory, if their labels are given."""
        rows = Rows(x, None, np.zeros_like(self._shift))
        rows.seats = Seats(self.n, numbers=numbers)
        found = find_nearest(rows, self._last.centers)
        if labels is not None:
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
            count = OVERSAMPLING * k
            merge = partial(_merge_drawn, count=count)
            for _ in range(ROUNDS):
                shared = self._shift, points, int(rng.integers(2**63)), count
                points = np.concatenate([points, self._chunks.reduce(_draw, merge, *shared, each=self._parts).x])
            mass = self._chunks.reduce(_count_nearest, _add, self._shift, points, each=self._parts)
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

    def _known(self, labels: Ints) -> list[tuple[_Part, Ints]]:
        """For each chunk, the rows that need not be with their nearest centers, and their labels."""
        rows = np.concatenate([self.numbers, np.array(self._last.rows, dtype=np.int64)])
        own = np.concatenate([labels, np.array(self._last.clusters, dtype=np.int32)])
        order = np.argsort(rows)
        rows, own = rows[order], own[order]
        parts = zip(self._parts, self._chunks.split(rows))
        cuts = np.searchsorted(rows, self._chunks.starts[1:-1])
        return [(part._replace(tied=mine), its) for ((part,), mine), its in zip(parts, np.split(own, cuts))]


def split_rows(chunks: Chunks, tied: Ints) -> Rows:
    """The rows with clues, in memory, and the others as their crowd."""
    rows = Rows(chunks.take(tied), chunks.take_weight(tied), chunks.shift)
    rows.seats = Seats(chunks.n, numbers=tied)
    crowd = Crowd(chunks, rows, tied)
    rows.crowd, rows.mass = crowd, crowd.mass
    return rows


# --- what runs where the chunks are -----------------------------------------------------------------------------


def _add(parts: Sequence[Any]) -> Any:
    return sum(parts)


class _Part(NamedTuple):
    """Which rows a chunk has."""

    n: int  # all rows
    first: int  # number of its first row
    tied: Ints  # rows of the chunk that are in memory, or whose labels are known


def _read(chunk: Floats, shift: Floats, part: _Part, weight: Floats | None) -> Rows:
    """The rows of a chunk, for one thread."""
    rows = Rows(chunk, weight, shift)
    rows.seats, rows.alone = Seats(part.n, part.first), True
    return rows


def _weigh_chunk(chunk: Floats, shift: Floats, part: _Part, weight: Floats) -> Tally:
    """Weighted sums of all rows and of their squares, and their weight."""
    rows, total = _read(chunk, shift, part, weight), empty_tally(2, chunk.shape[1])
    for block in rows.blocks(1):
        x, w = rows.take(block).astype(np.float64), rows.weights(block).astype(np.float64)
        total.sums[0] += w @ x
        total.sums[1] += w @ (x * x)
        total.mass[0] += w.sum()
    return total


def _sum_chunk(chunk: Floats, shift: Floats, centers: Floats, part: _Part, weight: Floats | None = None) -> Tally:
    rows, k = _read(chunk, shift, part, weight), len(centers)
    table, found = rows.table(centers), empty_tally(k + 1, rows.d)
    for block in rows.blocks(k):
        x, _, near = score_block(rows, table, block)
        first, last = np.searchsorted(part.tied, (block.start, block.stop))
        near[part.tied[first:last] - block.start] = k  # rows with clues go into a cluster that is dropped
        rows.add(x, block, near, found.sums, found.mass)
    return Tally(found.sums[:k], found.mass[:k])


def _count_chunk(chunk: Floats, shift: Floats, seen: Floats, positive: bool, part: _Part, weight: Floats) -> Floats:
    labels = find_nearest(_read(chunk, shift, part, weight), seen)
    counted = weight > 0 if positive else np.ones(len(weight), dtype=bool)
    counted[part.tied] = False
    return np.bincount(labels[counted], minlength=len(seen)).astype(np.float64)


def _label_chunk(chunk: Floats, shift: Floats, seen: Floats, part: _Part, own: Ints) -> Ints:
    labels = find_nearest(_read(chunk, shift, part, None), seen)
    labels[part.tied] = own
    return labels


def _lead_chunk(chunk: Floats, shift: Floats, seen: Floats, centers: Floats, part: _Part, own: Ints) -> Floats:
    return lead(_read(chunk, shift, part, None), centers, _label_chunk(chunk, shift, seen, part, own))


def _square_chunk(chunk: Floats, shift: Floats, part: _Part, weight: Floats | None = None) -> Floats:
    """Σ xxᵀ over the rows that are not in memory."""
    rows, total = _read(chunk, shift, part, weight), np.zeros((chunk.shape[1],) * 2)
    for block in (*rows.blocks(rows.d), part.tied):
        sign = 1.0 if isinstance(block, slice) else -1.0
        x = rows.take(block)
        double = rows.scratch("double", x.shape, np.float64)
        np.copyto(double, x)
        if weight is not None:
            double *= np.sqrt(rows.weights(block).astype(np.float64))[:, None]
        total += sign * (double.T @ double)
    return total


def _scatter_chunk(chunk: Floats, shift: Floats, mean: Floats) -> Floats:
    rows = Rows(chunk, None, shift)
    total = np.zeros((rows.d, rows.d))
    for block in rows.blocks(rows.d):
        off = rows.take(block).astype(np.float64) - mean
        total += off.T @ off
    return total


def _find_worst(
    chunk: Floats, shift: Floats, centers: Floats, count: int, part: _Part, weight: Floats | None = None
) -> Worst:
    rows = _read(chunk, shift, part, weight)
    labels, cost = find_nearest(rows, centers), np.empty(rows.n)
    for block in rows.blocks(len(centers)):
        cost[block] = rows.to_own(rows.take(block), centers, labels[block])
    every = np.ones(rows.n) if weight is None else weight
    cost *= every
    cost[part.tied] = -1.0
    order = np.argsort(-cost, kind="stable")[:count]
    order = order[cost[order] >= 0]
    return Worst(cost[order], part.first + order, labels[order], rows.take(order), every[order])


def _merge_worst(parts: Sequence[Worst], count: int) -> Worst:
    cost, number, label, x, weight = (np.concatenate(column) for column in zip(*parts))
    order = np.lexsort((number, -cost))[:count]
    return Worst(cost[order], number[order], label[order], x[order], weight[order])


class _Drawn(NamedTuple):
    """Rows with the smallest keys, ascending: those that come first in a race."""

    key: Floats
    x: Floats


def _draw(
    chunk: Floats, shift: Floats, points: Floats, seed: int, count: int, part: _Part, weight: Floats | None = None
) -> _Drawn:
    rows = _read(chunk, shift, part, weight)
    table, squared = rows.table(points.astype(np.float64) - shift), np.empty(rows.n)
    for block in rows.blocks(len(points)):
        squared[block] = rows.squared(rows.take(block), table).min(axis=0)
    if weight is not None:
        squared *= weight
    # Each row has the same number in this race whatever the chunks are.
    uniform = np.random.Generator(np.random.PCG64(seed).advance(part.first)).random((rows.n,))
    able = np.flatnonzero(squared)
    key = -np.log1p(-uniform[able]) / squared[able]
    order = np.argsort(key)[:count]
    return _Drawn(key[order], chunk[able[order]])


def _merge_drawn(parts: Sequence[_Drawn], count: int) -> _Drawn:
    key, x = (np.concatenate(column) for column in zip(*parts))
    order = np.argsort(key, kind="stable")[:count]
    return _Drawn(key[order], x[order])


def _count_nearest(chunk: Floats, shift: Floats, points: Floats, part: _Part, weight: Floats | None = None) -> Floats:
    near = find_nearest(_read(chunk, shift, part, weight), points.astype(np.float64) - shift)
    return np.bincount(near, weights=weight, minlength=len(points)).astype(np.float64)
