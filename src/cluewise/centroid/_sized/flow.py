"""The cheapest labels with bounds on the size of each cluster: minimum-cost flow with one node per cluster.

Every row has a cost in every cluster. Moving the cheapest row from cluster a to cluster b is an arc of length ``min
over rows of a of costs[i, b] − costs[i, a]``; one more node absorbs what the bounds leave open. Rows are shifted along
successive shortest paths from clusters with too many rows to clusters with too few. Each cluster has a price, and every
row is in the cluster where cost minus price is lowest. The prices therefore prove that the labels are optimal, and the
prices of a similar problem are a good start.

Costs are in double precision and not rounded to integers. The prices give a lower bound on the cost of any labels
within the bounds; `Placement.gap` is the distance to it. Only rounding keeps the gap from 0: a path adds at most a few
units in the last place to the error of a price, so the gap is below ``4 n (paths + 1) 2⁻⁵² (largest cost + largest
price)``. It is computed, not assumed, and is usually 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.kernels import flow as kernel

__all__ = ["BUDGET", "Bounds", "Lanes", "Placement", "cheapest", "costs_of", "distances"]

BUDGET = 1_000_000  # steps of a kernel between two checks for Ctrl-C, some 20 ms
BLOCK = 8192
FEW = 50  # one row in so many
SAMPLE = 256  # rows of a cluster that show which are cheap to move
DEPTH = 4  # of them are in a lane at first


class Bounds(NamedTuple):
    """How many rows each cluster may have."""

    lower: Ints  # (k,) int64
    upper: Ints  # (k,) int64, at most n


class Placement(NamedTuple):
    """Labels within the bounds, prices that prove them optimal, and the gap that remains."""

    labels: Ints  # (n,) int32
    prices: Floats  # (k + 1,), the last one of the node that absorbs what the bounds leave open
    gap: float  # cost of the labels − lower bound
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


def cheapest(costs: Floats, bounds: Bounds, prices: Floats | None = None) -> Placement:
    """The cheapest labels with ``lower`` to ``upper`` rows per cluster; ``prices`` of a similar problem speed it up.

    The bounds must leave room for all rows: Σ lower ≤ n ≤ Σ upper. Ctrl-C takes effect within some 50 ms.

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
    begin = None if prices is None else _start(costs, _clean_prices(prices, lower, upper, n, costs), lower, upper)
    if begin is None or FEW * np.abs(begin.excess).sum() > n:  # these prices are of little use, if any
        free = _start(costs, np.zeros(k + 1), lower, upper)
        if begin is None or np.abs(free.excess).sum() <= np.abs(begin.excess).sum():
            begin = free
    labels, price, size, excess = begin
    state = np.zeros(2, np.int64)
    if excess.any():
        _shift(costs, labels, lower, upper, size, excess, price, state)
    return Placement(labels, price, _gap(costs, labels, price, lower, upper), int(state[1]))


def _clean_prices(prices: Floats, lower: Ints, upper: Ints, n: int, costs: Floats) -> Floats:
    """Drop prices that cannot be right: a cluster without a lower (upper) bound has no positive (negative) price."""
    price = prices - prices[-1]
    k = len(lower)
    price[:k][(upper >= n) & (price[:k] < 0)] = 0
    price[:k][(lower <= 0) & (price[:k] > 0)] = 0
    price[np.abs(price) <= 1e-9 * np.abs(costs).max(initial=0)] = 0  # rounding, not a reason to fill a cluster
    return price


class _Start(NamedTuple):
    """Labels that are optimal for their own sizes."""

    labels: Ints
    price: Floats
    size: Ints  # (k,) number of rows that each cluster should have
    excess: Ints  # (k + 1,) number of rows beyond that; the last one balances the others


def _start(costs: Floats, price: Floats, lower: Ints, upper: Ints) -> _Start:
    """Assign every row to the cluster where cost minus price is lowest (lowest index on ties), ignoring the bounds."""
    n, k = costs.shape
    labels = np.empty(n, np.int32)
    for block in _blocks(costs):
        kernel.choose(costs[block], price[:k], labels[block])
    count = np.bincount(labels, minlength=k)
    # By complementary slackness, a cluster with a price must meet a bound exactly; others only have to be within.
    size = np.where(price[:k] > price[k], lower, np.where(price[:k] < price[k], upper, np.clip(count, lower, upper)))
    return _Start(labels, price, size, np.append(count - size, size.sum() - n))


def _shift(
    costs: Floats, labels: Ints, lower: Ints, upper: Ints, size: Ints, excess: Ints, price: Floats, state: Ints
) -> None:
    """Shift rows until no cluster has too many or too few; changes labels, size, excess and price in place."""
    lanes = Lanes(costs, labels, size, sparse=True)
    while True:
        status = kernel.augment(
            costs, labels, lower, upper, size, excess, price, *lanes.place, *lanes.heaps, state, BUDGET
        )
        if status == kernel.DONE:
            return
        if status == kernel.FULL:
            lanes.make_room(labels, size, int(state[0]))
        elif status == kernel.THIN:
            lanes.complete(labels, size, int(state[0]))
        elif status == kernel.STUCK:
            raise ValueError(f"bounds from {lower.tolist()} to {upper.tolist()} have no room for {len(costs)} rows.")


class Lanes:
    """One heap of rows for each ordered pair of clusters, with room for rows that arrive.

    ``sparse``: at first it holds only the rows that are cheapest to move, some dozens, as far as a sample can tell.
    """

    def __init__(self, costs: Floats, labels: Ints, size: Ints, *, sparse: bool = False) -> None:
        self.costs = costs
        self.sparse = sparse
        self.lay_out(labels, size)

    def lay_out(self, labels: Ints, size: Ints) -> None:
        """Allocate room for the current or future rows of each cluster and a quarter more, and fill the heaps."""
        k = self.costs.shape[1]
        count = np.bincount(labels, minlength=k)
        capacity = np.maximum(count, size) * 5 // 4 + 32
        start = np.append(0, np.cumsum(capacity * k))
        order = labels.astype(np.int16 if k < 2**15 else np.int32).argsort(kind="stable")  # 16 bits: radix sort
        indptr = np.append(0, np.cumsum(count))
        self.place = start[:k], capacity
        self.limit = self._find_limits(indptr, order)
        heaps = np.zeros((k, k), np.int64), np.empty(start[-1]), np.empty(start[-1], np.int32), np.empty((k, k))
        self.heaps: tuple[Any, Any, Any, Any, Any] = (*heaps, self.limit)
        self._fill(np.arange(k), indptr, order)

    def _find_limits(self, indptr: Ints, members: Ints) -> Floats:
        """Keys that few rows of a cluster are below, by an even sample of it; infinite for small clusters."""
        k = self.costs.shape[1]
        limit = np.full((k, k), np.inf)
        for a in range(k if self.sparse else 0):
            rows = members[indptr[a] : indptr[a + 1]]
            if len(rows) >= 4 * SAMPLE:
                some = self.costs[rows[:: len(rows) // SAMPLE]]
                limit[a] = np.partition(some - some[:, a, None], DEPTH, axis=0)[DEPTH]
        return limit

    def make_room(self, labels: Ints, size: Ints, cluster: int) -> None:
        """Remove the rows that have left a cluster from its heaps; allocate anew if that is not enough."""
        members = np.flatnonzero(labels == cluster)
        if len(members) * 9 // 8 + 16 > self.place[1][cluster]:
            self.lay_out(labels, size)
        else:
            self._fill(np.array([cluster]), np.array([0, len(members)]), members)

    def complete(self, labels: Ints, size: Ints, cluster: int) -> None:
        """Fill the heaps of a cluster with all its rows."""
        self.limit[cluster] = np.inf
        self.make_room(labels, size, cluster)

    def _fill(self, clusters: Ints, indptr: Ints, members: Ints) -> None:
        state = np.zeros(2, np.int64)
        while not kernel.fill(self.costs, clusters, indptr, members, *self.place, *self.heaps, state, BUDGET):
            continue


def _gap(costs: Floats, labels: Ints, price: Floats, lower: Ints, upper: Ints) -> float:
    """Cost of the labels − Σ_i min_h (cost − price) − the smallest sum of prices within the bounds (the dual bound)."""
    k = len(lower)
    total = 0.0
    for block in _blocks(costs):
        total += kernel.sum_regret(costs[block], price[:k], labels[block])
    worth = price[:k] - price[k]
    least, rest = lower.copy(), len(costs) - int(lower.sum())
    for h in np.argsort(worth, kind="stable"):
        more = min(rest, int(upper[h] - lower[h]))
        least[h] += more
        rest -= more
    return total + float(worth @ (np.bincount(labels, minlength=k) - least))


def _blocks(costs: Array) -> list[slice]:
    return [slice(i, i + BLOCK) for i in range(0, len(costs), BLOCK)]
