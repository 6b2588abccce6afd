"""The cheapest labels with so many rows in each cluster: minimum-cost flow on one node per cluster.

Every row has a cost in every cluster; the sizes of the clusters have lower and upper bounds. A move of the cheapest row
from cluster a to cluster b is an arc of length ``min over rows of a of costs[i, b] − costs[i, a]``, one more node takes
what the bounds leave open, and rows are shifted along successive shortest paths from clusters with too many rows to
clusters with too few. Each cluster has a price, and every row is where cost minus price is lowest: so prices prove
that labels are the cheapest, and prices of a similar problem are a start.

Costs are used as they are, in double precision: nothing is rounded to whole numbers. The prices give a lower bound on
the cost of any labels within the bounds; `Placed.gap` is how far the labels are above it. Rounding is all that keeps it
from 0: a path adds at most a few units in the last place to the error of a price, so the gap is below
``4 n (paths + 1) 2⁻⁵² (largest cost + largest price)``. It is computed, not assumed, and mostly comes out as 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.kernels import flow as kernel

__all__ = ["BUDGET", "Bounds", "Lanes", "Placed", "cheapest", "costs_of", "distances"]

BUDGET = 1_000_000  # steps of a kernel between two looks at the keyboard, some 20 ms
BLOCK = 8192


class Bounds(NamedTuple):
    """How many rows each cluster may have."""

    lower: Ints  # (k,) int64
    upper: Ints  # (k,) int64, at most n


class Placed(NamedTuple):
    """Labels within the bounds, what proves them the cheapest, and by how much they may miss it."""

    labels: Ints  # (n,) int32
    prices: Floats  # (k + 1,), the last one of the node that takes what the bounds leave open
    gap: float  # cost of the labels − lower bound on the cost of any
    paths: int  # number of shortest paths


def distances(rows: Rows, centers: Floats) -> Floats:
    """(n, k) squared distances in double precision."""
    table = rows.table(centers)
    out = np.empty((rows.n, len(centers)))

    def work(block: slice) -> None:
        out[block] = rows.squared(rows.take(block), table).T

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue
    return out


def costs_of(rows: Rows, centers: Floats) -> Floats:
    """(n, k) weighted squared distances in double precision."""
    out = distances(rows, centers)
    if rows.weight is not None:
        out *= rows.weight[:, None]
    return out


def cheapest(costs: Floats, bounds: Bounds, prices: Floats | None = None) -> Placed:
    """The cheapest labels with ``lower`` to ``upper`` rows in each cluster; ``prices`` of a similar problem help.

    The bounds must leave room for all rows: Σ lower ≤ n ≤ Σ upper. Ctrl-C is answered within some 50 ms.

    Examples
    --------
    >>> import numpy as np
    >>> costs = np.array([[0.0, 9], [1, 8], [2, 4], [9, 0]])
    >>> cheapest(costs, Bounds(np.array([2, 2]), np.array([2, 2]))).labels
    array([0, 0, 1, 1], dtype=int32)
    """
    costs = np.require(costs, np.float64, ["C"])
    n, k = costs.shape
    lower, upper = bounds.lower, np.minimum(bounds.upper, n)
    begin = _begin(costs, np.zeros(k + 1), lower, upper)
    if prices is not None and begin.excess.any():
        again = _begin(costs, _sound(prices, lower, upper, n, costs), lower, upper)
        if np.abs(again.excess).sum() < np.abs(begin.excess).sum():
            begin = again
    labels, price, size, excess = begin
    state = np.zeros(2, np.int64)
    if excess.any():
        _shift(costs, labels, lower, upper, size, excess, price, state)
    return Placed(labels, price, _gap(costs, labels, price, lower, upper), int(state[1]))


def _sound(prices: Floats, lower: Ints, upper: Ints, n: int, costs: Floats) -> Floats:
    """Given prices, less what cannot be right: a cluster that nothing bounds on a side has no price on that side."""
    price = prices - prices[-1]
    k = len(lower)
    price[:k][(upper >= n) & (price[:k] < 0)] = 0
    price[:k][(lower <= 0) & (price[:k] > 0)] = 0
    price[np.abs(price) <= 1e-9 * np.abs(costs).max(initial=0)] = 0  # rounding, not a reason to fill a cluster
    return price


class _Begin(NamedTuple):
    """Labels that are the cheapest for their own sizes."""

    labels: Ints
    price: Floats
    size: Ints  # (k,) what each cluster is to have
    excess: Ints  # (k + 1,) what it has beyond that; the last one balances the others


def _begin(costs: Floats, price: Floats, lower: Ints, upper: Ints) -> _Begin:
    """Every row where cost minus price is lowest (the lowest index on ties), whatever the bounds say."""
    n, k = costs.shape
    labels = np.empty(n, np.int32)
    for block in _blocks(costs):
        labels[block] = (costs[block] - price[:k]).argmin(axis=1)
    count = np.bincount(labels, minlength=k)
    # Where there is a price a bound is to be met exactly, elsewhere the size may stay as it is within the bounds.
    size = np.where(price[:k] > price[k], lower, np.where(price[:k] < price[k], upper, np.clip(count, lower, upper)))
    return _Begin(labels, price, size, np.append(count - size, size.sum() - n))


def _shift(
    costs: Floats, labels: Ints, lower: Ints, upper: Ints, size: Ints, excess: Ints, price: Floats, state: Ints
) -> None:
    """Shift rows until no cluster has too many or too few; changes labels, size, excess and price in place."""
    lanes = Lanes(costs, labels, size)
    while True:
        told = kernel.augment(
            costs, labels, lower, upper, size, excess, price, *lanes.place, *lanes.heaps, state, BUDGET
        )
        if told == kernel.DONE:
            return
        if told == kernel.FULL:
            lanes.make_room(labels, size, int(state[0]))
        elif told == kernel.STUCK:
            raise ValueError(f"bounds from {lower.tolist()} to {upper.tolist()} have no room for {len(costs)} rows.")


class Lanes:
    """The heaps of all pairs of clusters, with some room for rows that arrive."""

    def __init__(self, costs: Floats, labels: Ints, size: Ints) -> None:
        self.costs = costs
        self.lay_out(labels, size)

    def lay_out(self, labels: Ints, size: Ints) -> None:
        """Room for the rows that each cluster has or is to have and a quarter more, and all rows in it."""
        k = self.costs.shape[1]
        count = np.bincount(labels, minlength=k)
        capacity = np.maximum(count, size) * 5 // 4 + 32
        start = np.append(0, np.cumsum(capacity * k))
        self.place = start[:k], capacity
        self.heaps = np.zeros((k, k), np.int64), np.empty(start[-1]), np.empty(start[-1], np.int32), np.empty((k, k))
        order = labels.astype(np.int16 if k < 2**15 else np.int32).argsort(kind="stable")  # 16 bits: radix sort
        self._fill(np.arange(k), np.append(0, np.cumsum(count)), order)

    def make_room(self, labels: Ints, size: Ints, cluster: int) -> None:
        """Drop the rows that have left a cluster from its lanes; more room if that is not enough."""
        members = np.flatnonzero(labels == cluster)
        if len(members) * 9 // 8 + 16 > self.place[1][cluster]:
            self.lay_out(labels, size)
        else:
            self._fill(np.array([cluster]), np.array([0, len(members)]), members)

    def _fill(self, clusters: Ints, indptr: Ints, members: Ints) -> None:
        state = np.zeros(2, np.int64)
        while not kernel.fill(self.costs, clusters, indptr, members, *self.place, *self.heaps, state, BUDGET):
            continue


def _gap(costs: Floats, labels: Ints, price: Floats, lower: Ints, upper: Ints) -> float:
    """Cost of the labels − Σ_i min_h (cost − price) − the least that prices can come to within the bounds."""
    k = len(lower)
    total = 0.0
    for block in _blocks(costs):
        left = costs[block] - price[:k]
        own = np.take_along_axis(left, labels[block, None], axis=1)[:, 0]
        total += float((own - left.min(axis=1)).sum())
    worth = price[:k] - price[k]
    least, rest = lower.copy(), len(costs) - int(lower.sum())
    for h in np.argsort(worth, kind="stable"):
        more = min(rest, int(upper[h] - lower[h]))
        least[h] += more
        rest -= more
    return total + float(worth @ (np.bincount(labels, minlength=k) - least))


def _blocks(costs: Array) -> list[slice]:
    return [slice(i, i + BLOCK) for i in range(0, len(costs), BLOCK)]
