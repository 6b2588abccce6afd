"""Opening: sweeps in which a row that is far from every center becomes a center, and the cost of a new center.

Rows are read in blocks and compared in parallel with the centers that exist when the sweep begins. Then they are
visited one by one, because a row may join a center that an earlier row has opened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.centroid._dp.divergences import Divergence, pairwise
from cluewise.clues import Clues
from cluewise.core.threads import map_blocks
from cluewise.core.views import Forces, build_forces, count_members
from cluewise.kernels import assignment, nonparametric

__all__ = ["Points", "Sweep", "closest", "distortion", "furthest_first", "kth_from_mean", "mean", "sweep"]

BLOCK_BYTES = 2**20
"""Size of a block of rows with its divergences."""


class Points:
    """Rows in blocks, dense and in double precision, as the divergence needs them; X itself is never copied."""

    def __init__(self, X: Any, weight: Floats | None, shift: Floats, divergence: Divergence) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.weight = weight
        self.divergence = divergence
        self.shift = np.asarray(shift, dtype=np.float64) if divergence.is_distance else np.zeros(self.d)

    def blocks(self, k: int, order: Ints | None = None) -> list[Ints]:
        """Row numbers in blocks, in the given order."""
        size = min(max(BLOCK_BYTES // (8 * (self.d + k)), 1), 8192)
        rows = np.arange(self.n) if order is None else order
        return [rows[start : start + size] for start in range(0, self.n, size)]

    def take(self, block: Ints) -> Floats:
        """Some rows, relative to the shift."""
        return self.divergence.read(self.X[block], block) - self.shift

    def weights(self, block: Ints) -> Floats:
        """Sample weights of some rows; an empty array means that all weights are 1."""
        return np.empty(0) if self.weight is None else self.weight[block]

    def check(self) -> None:
        """Raise an error if a row is outside the domain of the divergence."""
        if not self.divergence.is_distance:
            for block in self.blocks(1):
                self.divergence.check(self.take(block), block)


def mean(points: Points) -> Floats:
    """(1, d) weighted mean of all rows."""
    sums, mass = np.zeros((1, points.d)), np.zeros(1)
    for block in points.blocks(1):
        assignment.add_rows(points.take(block), points.weights(block), np.zeros(len(block), np.int32), sums, mass)
    return sums / mass


def closest(points: Points, centers: Floats, number: Ints | None = None) -> Floats:
    """Divergence of every row from its closest center, whose number is written to ``number``."""
    out = np.empty(points.n)

    def work(block: Ints) -> None:
        table = pairwise(points.take(block), centers, points.divergence)
        out[block] = table.min(axis=0)
        if number is not None:
            number[block] = table.argmin(axis=0)

    for _ in map_blocks(work, points.blocks(len(centers))):
        continue
    return out


def distortion(points: Points, centers: Floats, labels: Ints) -> float:
    """Σ w·D(x, center of its cluster)."""
    at = points.divergence.view(centers)

    def work(block: Ints) -> float:
        own = np.empty(len(block))
        view = points.divergence.view(points.take(block))
        nonparametric.divergences_to_own(view, at, labels[block], points.divergence.code, own)
        if points.weight is None:
            return float(own.sum())
        counted = points.weight[block] > 0  # a row without weight may be infinitely far away
        return float(own[counted] @ points.weight[block][counted])

    return sum(map_blocks(work, points.blocks(1)))


def furthest_first(points: Points, start: Floats, k: int) -> tuple[Floats, Ints]:
    """Walk furthest-first from ``start``: divergences and numbers of k rows, each the furthest from all before it."""
    far, distances, chosen = closest(points, start), np.empty(k), np.empty(k, dtype=np.int64)
    if points.weight is not None:
        far[points.weight == 0] = 0
    for r in range(k):
        chosen[r] = np.argmax(far)
        distances[r] = far[chosen[r]]
        if not distances[r] > 0:
            raise ValueError(
                f"n_clusters={k} is too many: of n_samples={points.n} rows only {r} differ from the mean and from each "
                "other; choose fewer clusters or set cluster_cost."
            )
        if r + 1 < k:
            np.minimum(far, closest(points, points.take(chosen[r : r + 1])), out=far)
    return distances, chosen


def kth_from_mean(points: Points, start: Floats, k: int) -> float:
    """The k-th largest divergence from the mean, the rule behind the printed tables of [Khashabi2015]_."""
    return float(np.sort(closest(points, start))[-k])


class Sweep(NamedTuple):
    """Result of a sweep."""

    labels: Ints  # (n,) int32, numbered without gaps
    centers: Floats  # (k, d) means, relative to the shift
    moved: int
    spent: float  # Σ w·D from the centers of the sweep, before the means are updated


def sweep(
    points: Points,
    labels: Ints,
    centers: Floats,
    *,
    order: Ints,
    cluster_cost: float,
    clues: Clues | None = None,
    gain: float = 0.0,
    last: bool = False,
) -> Sweep:
    """Visit all rows once, opening clusters; then drop the empty ones and update means.

    ``gain`` is the value of a link of weight 1; ``last`` breaks ties in favor of the last cluster, as published.
    """
    labels, k = labels.copy(), len(centers)
    table = _GrowingTable(points, labels, centers, clues if gain else None)
    fixed = table.views[:k].copy()
    code = points.divergence.code
    moved, spent = 0, 0.0

    def work(block: Ints) -> tuple[Ints, Floats, Floats, Floats, Ints]:
        x = points.take(block)
        view = points.divergence.view(x)
        known, near = np.empty((k, len(block))), np.empty(len(block), dtype=np.int32)
        nonparametric.divergences(view, fixed, code, known)
        assignment.assign_nearest(known[::-1] if last else known, np.zeros(k), np.empty(len(block)), near)
        return block, x, view, known, k - 1 - near if last else near

    # `known` covers the centers that existed before the sweep; the kernel compares with newer ones itself. It returns
    # early when the tables are full, and continues from `start` once they have grown.
    for block, x, view, known, near in map_blocks(work, points.blocks(k, order)):
        weight, start = points.weights(block), 0
        while start < len(block):
            start, table.used, more, cost = nonparametric.sweep(
                view,
                known,
                near,
                weight,
                block,
                table.places[block],
                start,
                labels,
                table.views,
                table.used,
                code,
                *table.pulls.arrays,
                table.counts,
                gain,
                cluster_cost,
                last,
            )
            moved += more
            spent += cost
            if start < len(block):
                table.grow()
        assignment.add_rows(x, weight, labels[block], table.sums, table.mass)
    return _tidy(points, labels, table, moved, spent)


class _GrowingTable:
    """Tables with one line per cluster, which double in length whenever a sweep fills them."""

    def __init__(self, points: Points, labels: Ints, centers: Floats, clues: Clues | None) -> None:
        self.clues = Clues(points.n) if clues is None else clues
        self.labels = labels
        self.used = len(centers)
        self.views = points.divergence.view(centers)
        self.sums, self.mass = np.zeros_like(centers), np.zeros(len(centers))
        self.places = np.full(points.n, UNASSIGNED, dtype=np.int64)
        self.grow()

    def grow(self) -> None:
        """Make room for more clusters.

        The pulls are built anew: a group counts as large, and is counted per cluster, depending on the number of lines.
        """
        room = 2 * len(self.mass) + 8
        more = room - len(self.mass)
        self.views = np.pad(self.views, ((0, more), (0, 0)))
        self.sums = np.pad(self.sums, ((0, more), (0, 0)))
        self.mass = np.pad(self.mass, (0, more))
        self.pulls: Forces = build_forces(self.clues, room)
        self.places[self.pulls.rows] = np.arange(len(self.pulls.rows))
        self.counts = count_members(self.pulls, self.labels, room)


def _tidy(points: Points, labels: Ints, table: _GrowingTable, moved: int, spent: float) -> Sweep:
    """Drop clusters without mass, renumber the others, update means."""
    full = table.mass > 0
    number = np.where(full, np.cumsum(full) - 1, UNASSIGNED).astype(np.int32)
    labels = number[labels]
    means = table.sums[full] / table.mass[full][:, None]
    lost = np.flatnonzero(labels < 0)  # only rows without weight can be left in a cluster without mass
    for block in np.array_split(lost, 1 + len(lost) // 1024) if len(lost) else ():
        labels[block] = pairwise(points.take(block), means, points.divergence).argmin(axis=0)
    return Sweep(labels, means, moved, spent)
