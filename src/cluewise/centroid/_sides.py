"""Side information as partial labelings: the cost of a labeled row in a cluster, and the labels of a cluster.

A labeling covers some rows and gives each a code; a cluster is described by the *shares* of the codes among its
covered rows, one line of a (k, codes) table. A covered row with code j costs ‖e_j − shares‖² = 1 − 2·shares_j +
‖shares‖² in a cluster, times the weight of the labeling: one number per code and cluster, for any number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.assign import Assigned, nearest
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.kernels import sides as kernel

__all__ = [
    "Side",
    "impurity",
    "nearest_with",
    "label_cost",
    "prices",
    "shares_of",
    "shares_of_starts",
    "side_of",
]


class Side(NamedTuple):
    """One labeling of some of the rows."""

    rows: Ints  # covered rows, increasing
    codes: Ints  # (len(rows),) int32, label of each
    size: int  # number of labels
    weight: float  # cost of disagreement, in squared distances


def side_of(column: Ints, size: int, weight: float) -> Side:
    """A labeling from a column of codes; −1 is a row that is not covered."""
    rows = np.flatnonzero(column >= 0)
    return Side(rows, column[rows].astype(np.int32), size, weight)


def prices(side: Side, shares: Floats) -> Floats:
    """(k, codes) half the cost of a row with each code in each cluster, minus its smallest cost.

    Half, because scores are half squared distances. The minimum is subtracted because in single precision a large
    weight would swallow the digits of the distances.
    """
    table = 0.5 * side.weight * (1 - 2 * shares + (shares * shares).sum(axis=1, keepdims=True))
    return table - table.min(axis=0)


def nearest_with(rows: Rows, centers: Floats, labels: Ints, sides: list[Side], shares: list[Floats]) -> Assigned:
    """Assign every row to the cluster where distance and labels together cost least; lowest index on ties."""
    priced = [(side, prices(side, share).astype(rows.dtype)) for side, share in zip(sides, shares)]

    def surcharge(block: slice, scores: Floats) -> None:
        for side, price in priced:
            first, last = np.searchsorted(side.rows, (block.start, block.stop))
            kernel.add_prices(scores, side.rows[first:last], block.start, side.codes[first:last], price)

    return nearest(rows, centers, labels, surcharge=surcharge)


def shares_of(rows: Rows, side: Side, labels: Ints, previous: Floats) -> tuple[Floats, float]:
    """Shares of the codes in every cluster, and their impurity Σ_k m_k (1 − ‖shares_k‖²).

    A cluster without a covered row keeps its previous shares, which do not affect the objective.
    """
    k = len(previous)
    place = labels[side.rows].astype(np.int64) * side.size + side.codes
    weight = None if rows.weight is None else rows.weight[side.rows]
    held = np.bincount(place, weights=weight, minlength=k * side.size).reshape(k, side.size)
    mass = held.sum(axis=1)
    full = mass > 0
    shares = previous.copy()
    shares[full] = held[full] / mass[full, None]
    return shares, impurity(held[full], mass[full])


def impurity(held: Floats, mass: Floats) -> float:
    """Size-weighted Gini impurity of clusters, given their mass of each code."""
    return max(float((mass - np.einsum("hj,hj->h", held, held / mass[:, None])).sum()), 0.0)


def label_cost(rows: Rows, side: Side, labels: Ints, shares: Floats) -> float:
    """Σ w‖e − shares of its cluster‖² over the covered rows, computed row by row."""
    own = labels[side.rows]
    norms = (shares * shares).sum(axis=1)
    each = 1 - 2 * shares[own, side.codes] + norms[own]
    return float(each.sum() if rows.weight is None else each @ rows.weight[side.rows].astype(np.float64))


def shares_of_starts(rows: Rows, sides: list[Side], centers: Floats) -> list[Floats]:
    """Initial shares: a center that is a covered row has that row's label, other centers have no label."""
    shares: list[Floats] = [np.zeros((len(centers), side.size)) for side in sides]
    covered = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(side.rows for side in sides)]))
    if not len(covered):
        return shares
    closest = _closest(rows, covered, centers)
    on = (rows.dense(closest) == centers.astype(rows.dtype)).all(axis=1)
    for side, share in zip(sides, shares):
        place = np.searchsorted(side.rows, closest)
        known = np.flatnonzero(on & (np.append(side.rows, -1)[place] == closest))
        share[known, side.codes[place[known]]] = 1.0
    return shares


def _closest(rows: Rows, which: Ints, centers: Floats) -> Ints:
    """For each center, the closest of the rows ``which``; the first on ties."""
    table = rows.table(centers)
    best, closest = np.full(len(centers), np.inf), np.zeros(len(centers), dtype=np.int64)

    def work(block: Ints) -> tuple[Floats, Ints]:
        squared = rows.squared(rows.take(block), table)
        nearest = squared.argmin(axis=1)
        return squared[np.arange(len(centers)), nearest], block[nearest]

    for distance, row in map_blocks(work, rows.blocks(len(centers), which)):
        closer = distance < best
        best[closer], closest[closer] = distance[closer], row[closer]
    return closest
