"""Centers: sums per cluster, means, and what happens to a cluster that has lost all its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["Tally", "distortion", "means", "refill", "rounding", "scatter", "tally", "tally_of", "within"]


class Tally(NamedTuple):
    """Sufficient statistics of a labelling: weighted sum of rows and mass of every cluster."""

    sums: Floats  # (k, d) float64, relative to the shift
    mass: Floats  # (k,) float64

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(self.sums + other.sums, self.mass + other.mass)


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


def distortion(rows: Rows, centers: Floats, labels: Ints) -> float:
    """Σ w‖x − center of its cluster‖², in difference form and double precision."""

    def work(block: slice) -> float:
        squared = rows.to_own(rows.take(block), centers, labels[block])
        return float(squared.sum() if rows.weight is None else squared @ rows.weights(block))

    return sum(map_blocks(work, rows.blocks(len(centers))))


def scatter(rows: Rows) -> float:
    """Σ w‖x‖² relative to the shift: the part of the objective that no labelling changes."""
    return distortion(rows, np.zeros((1, rows.d)), np.zeros(rows.n, dtype=np.int32))


def rounding(rows: Rows, total: float) -> float:
    """How far rounding may raise an objective: scores are computed in the precision of X."""
    eps: Any = np.finfo(rows.dtype).eps
    return 64 * float(eps) * (1.0 + total)


def within(total: float, found: Tally) -> float:
    """Σ w‖x − mean of its cluster‖², from the scatter and the sums alone."""
    full = found.mass > 0
    between = np.einsum("hj,hj->h", found.sums[full], found.sums[full]) / found.mass[full]
    return max(total - float(between.sum()), 0.0)


def refill(rows: Rows, found: Tally, centers: Floats, labels: Ints, free: Array | None) -> tuple[Tally, int]:
    """Move the worst free rows into the empty clusters; this can only lower the squared error.

    ``centers`` are those that the rows were just assigned to; ``free`` rows (a list or a mask; None: all) may be moved,
    because no clue speaks of them. A cluster stays empty when no free row lies off its center in a cluster of its own.
    Returns the new tally and the number of rows moved; ``labels`` is changed in place.
    """
    vacant = np.flatnonzero(found.mass == 0)
    if not len(vacant):
        return found, 0
    candidates = np.arange(rows.n)[slice(None) if free is None else free]
    cost = np.empty(len(candidates))
    start = 0
    for block in rows.blocks(len(centers), candidates):
        cost[start : start + len(block)] = rows.to_own(rows.take(block), centers, labels[block])
        start += len(block)
    if rows.weight is not None:
        cost *= rows.weight[candidates]
    counted = labels if rows.weight is None else labels[rows.weight > 0]  # rows without weight hold no center
    members = np.bincount(counted, minlength=len(centers))
    sums, mass = found.sums.copy(), found.mass.copy()
    moved = 0
    order = iter(np.argsort(-cost, kind="stable"))
    for cluster in vacant:
        for c in order:
            row = candidates[c]
            if cost[c] > 0 and members[labels[row]] > 1:
                x = rows.dense(np.array([row]))[0].astype(np.float64)
                weight = 1.0 if rows.weight is None else float(rows.weight[row])
                old = labels[row]
                sums[old] -= weight * x
                mass[old] -= weight
                sums[cluster], mass[cluster] = weight * x, weight
                members[old] -= 1
                members[cluster] = 1
                labels[row] = cluster
                moved += 1
                break
    return Tally(sums, mass), moved
