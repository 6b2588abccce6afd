"""Centers: sums per cluster, means, the spread around them, and clusters that have lost all their rows.

The spread sets the price of a broken link. In a mixture of spherical Gaussians of variance s², half a squared distance
divided by s² is a log-likelihood, and a link that is right with probability p weighs log p/(1 − p). So a broken link
should cost s²·log p/(1 − p). Columns that move together count as fewer: s² is the spread inside clusters per
*effective* dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.rows import Rows, Worst
from cluewise.core.threads import map_blocks

__all__ = [
    "LOG_ODDS",
    "Tally",
    "add_tallies",
    "distortion",
    "effective_dimension",
    "empty_tally",
    "group_means",
    "mean_variance",
    "means",
    "pair_up",
    "refill",
    "rounding",
    "scatter",
    "tally",
    "tally_of",
    "typical_price",
    "within",
]

LOG_ODDS = log(9)
"""Links are taken to be right nine times out of ten."""

COLUMNS = 2000
"""Up to this many columns the covariance is built."""

ROWS = 2000
"""Beyond that, inner products of at most so many rows, evenly spaced, stand for it."""


class Tally(NamedTuple):
    """Sufficient statistics of a labelling: weighted sum of rows and mass of every cluster."""

    sums: Floats  # (k, d) float64, relative to the shift
    mass: Floats  # (k,) float64

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(self.sums + other.sums, self.mass + other.mass)


def add_tallies(parts: Sequence[Tally]) -> Tally:
    """All together, one after the other."""
    total = parts[0]
    for part in parts[1:]:
        total = total.plus(part)
    return total


def empty_tally(k: int, d: int) -> Tally:
    """Nothing in any cluster."""
    return Tally(np.zeros((k, d)), np.zeros(k))


def tally(rows: Rows, labels: Ints, k: int) -> Tally:
    """Sums and masses of the clusters of a given labelling; one pass, one table, k may be large."""
    total = empty_tally(k, rows.d)
    for block in rows.big_blocks():
        rows.add(rows.take(block), block, labels[block], total.sums, total.mass)
    return total


def tally_of(rows: Rows, labels: Ints, which: Ints, k: int) -> Tally:
    """Sums and masses of the clusters among some rows only."""
    total = empty_tally(k, rows.d)
    for block in rows.blocks(1, which):
        rows.add(rows.take(block), block, labels[block], total.sums, total.mass)
    return total


def means(found: Tally, previous: Floats) -> Floats:
    """Mean of every cluster; a cluster without mass keeps its previous center."""
    full = found.mass > 0
    centers = previous.copy()
    centers[full] = found.sums[full] / found.mass[full, None]
    return centers


def group_means(rows: Rows, codes: Ints, count: int) -> tuple[Floats, Floats]:
    """Weighted mean and mass of the rows of each code (−1 = none)."""
    found = tally_of(rows, codes, np.flatnonzero(codes >= 0), count)
    np.divide(found.sums, np.maximum(found.mass, np.finfo(float).tiny)[:, None], out=found.sums)
    return found.sums, found.mass


def distortion(rows: Rows, centers: Floats, labels: Ints | None) -> float:
    """Σ w‖x − center of its cluster‖², in difference form and double precision; without labels, of the first center."""
    rest = 0.0 if rows.crowd is None or labels is None else rows.crowd.distort(centers)

    def work(block: slice) -> float:
        # Zeros for a block only: for all rows they would be as large as the result of a fit.
        own = np.zeros(block.stop - block.start, dtype=np.int32) if labels is None else labels[block]
        squared = rows.to_own(rows.take(block), centers, own)
        return float(squared.sum() if rows.weight is None else squared @ rows.weights(block))

    return sum(map_blocks(work, rows.blocks(len(centers))), start=rest)


def scatter(rows: Rows) -> float:
    """Σ w‖x‖² relative to the shift: the part of the objective that no labelling changes."""
    if rows.crowd is not None:
        return rows.crowd.scatter
    return distortion(rows, np.zeros((1, rows.d)), None)


def mean_variance(rows: Rows, total: float) -> float:
    """Variance of a column, averaged over the columns; ``total`` is the scatter of the rows."""
    if rows.crowd is not None:
        mean = rows.crowd.mean
    else:
        whole = tally(rows, np.zeros(rows.n, dtype=np.int32), 1)
        mean = whole.sums[0] / whole.mass[0]
    return max(total / rows.mass - float(mean @ mean), 0.0) / rows.d


def rounding(rows: Rows, total: float) -> float:
    """How far rounding may raise an objective: scores are computed in the precision of X."""
    eps: Any = np.finfo(rows.dtype).eps
    return 64 * float(eps) * (1.0 + total)


def within(total: float, found: Tally) -> float:
    """Σ w‖x − mean of its cluster‖², from the scatter and the sums alone."""
    full = found.mass > 0
    between = np.einsum("hj,hj->h", found.sums[full], found.sums[full]) / found.mass[full]
    return max(total - float(between.sum()), 0.0)


def typical_price(rows: Rows, centers: Floats, labels: Ints, within: float, rounding: float = 0.0) -> float:
    """Variance inside clusters per effective dimension times the log-odds of a link; 1 when nothing varies.

    ``within`` is the weighted sum of squared distances to ``centers``, the means of the clusters; up to ``rounding``
    it is taken for zero.
    """
    if not within > rounding:
        return 1.0
    return LOG_ODDS * within / rows.mass / effective_dimension(rows, centers, labels)


def effective_dimension(rows: Rows, centers: Floats, labels: Ints) -> float:
    """(tr C)²/tr C² of the covariance C inside clusters, between 1 and the number of columns."""
    if rows.d > COLUMNS:
        trace, squared = _traces_by_rows(rows, centers, labels)
    else:
        near = centers.astype(rows.dtype)

        def work(block: slice) -> Floats:
            rest = rows.dense(block) - near[labels[block]]
            weighted = rest if rows.weight is None else rest * rows.weights(block)[:, None]
            return (weighted.T @ rest).astype(np.float64)

        rest = np.zeros((rows.d, rows.d)) if rows.crowd is None else rows.crowd.covary(centers)
        covariance = sum(map_blocks(work, rows.blocks(rows.d)), start=rest) / rows.mass
        trace, squared = float(np.trace(covariance)), float((covariance**2).sum())
    return float(np.clip(trace**2 / squared, 1, rows.d)) if squared > 0 else 1.0


def _traces_by_rows(rows: Rows, centers: Floats, labels: Ints) -> tuple[float, float]:
    """Tr C and tr C² from inner products of rows: tr C² = Σ_ij w_i w_j (e_i·e_j)²."""
    sample = np.arange(0, rows.n_all, -(-rows.n_all // ROWS))
    if rows.crowd is None:
        x, own = rows.take(sample), labels[sample]
    else:
        x = rows.crowd.take(sample)
        own = rows.crowd.label(x, sample, labels)
    inner = x @ x.T
    inner = (inner if isinstance(inner, np.ndarray) else inner.toarray()).astype(np.float64)
    cross = np.asarray(x @ centers.T, dtype=np.float64)[:, own]
    inner += (centers @ centers.T)[np.ix_(own, own)] - cross - cross.T
    given = (None if rows.weight is None else rows.weight[sample]) if rows.crowd is None else rows.crowd.weights(sample)
    weight = np.ones(len(sample)) if given is None else given.astype(np.float64)
    weight = weight / max(weight.sum(), np.finfo(float).tiny)
    return float(weight @ np.diag(inner)), float(weight @ inner**2 @ weight)


def refill(rows: Rows, found: Tally, centers: Floats, labels: Ints, free: Array | None) -> tuple[Tally, int]:
    """Move the worst free rows into the empty clusters; this can only lower the squared error.

    ``centers`` are those that the rows were just assigned to; ``free`` rows (a list or a mask; None: all) may be moved,
    because no clue mentions them. A cluster stays empty when every free row lies on its center or is alone in its
    cluster. Returns the new tally and the number of rows moved; ``labels`` is changed in place.
    """
    vacant = np.flatnonzero(found.mass == 0)
    if not len(vacant):
        return found, 0
    worst = _find_worst(rows, centers, labels, free, len(vacant) + len(centers))
    counted = labels if rows.weight is None else labels[rows.weight > 0]  # rows without weight hold no center
    members = np.bincount(counted, minlength=len(centers)).astype(np.float64)
    if rows.crowd is not None:
        members += rows.crowd.count_members()
    sums, mass = found.sums.copy(), found.mass.copy()
    moves = pair_up(vacant, worst, members)
    for cluster, c in moves:
        old, row = worst.label[c], worst.number[c]
        weight = 1.0 if rows.weight is None else float(worst.weight[c])
        x = weight * worst.x[c].astype(np.float64)
        sums[old] -= x
        mass[old] -= weight
        sums[cluster], mass[cluster] = x, weight
        if rows.crowd is None:
            labels[row] = cluster
        else:
            rows.crowd.move(int(row), int(cluster), labels)
    return Tally(sums, mass), len(moves)


def pair_up(vacant: Ints, worst: Worst, members: Floats) -> list[tuple[int, int]]:
    """Empty clusters and the rows, by their places among the worst ones, that move there; ``members`` is changed."""
    moves, rest = [], iter(range(len(worst.cost)))
    for cluster in vacant.tolist():
        for c in rest:
            if worst.cost[c] > 0 and members[worst.label[c]] > 1:
                members[worst.label[c]] -= 1
                members[cluster] = 1
                moves.append((cluster, c))
                break
    return moves


def _find_worst(rows: Rows, centers: Floats, labels: Ints, free: Array | None, count: int) -> Worst:
    """The free rows farthest from their centers, the farthest first and the lower number on ties.

    The last row of each cluster must stay, so one for each cluster and one for each move are enough.
    """
    candidates = np.arange(rows.n)[slice(None) if free is None else free]
    cost = np.empty(len(candidates))
    start = 0
    for block in rows.blocks(len(centers), candidates):
        cost[start : start + len(block)] = rows.to_own(rows.take(block), centers, labels[block])
        start += len(block)
    weight = np.ones(len(candidates)) if rows.weight is None else rows.weight[candidates]
    cost *= weight
    order = np.argsort(-cost, kind="stable")[:count]
    near = candidates[order]
    worst = Worst(cost[order], near, labels[near], rows.dense(near), weight[order])
    return worst if rows.crowd is None else rows.crowd.find_worst(centers, worst, count)
