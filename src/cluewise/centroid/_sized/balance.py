"""Steps of balanced clustering: the size of the sample, populating clusters, and exchanging rows between them."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.centroid._sized.flow import BUDGET, Bounds, Lanes
from cluewise.kernels import exchange, flow

__all__ = ["populate", "refine", "sample_size"]


def sample_size(k: int, *, members: int = 50, smallest: float | None = None, failure: float = 0.05) -> int:
    """Number of rows to draw for every cluster to have ``members`` among them with probability 1 − ``failure``.

    ``smallest`` is the share of rows in the smallest cluster, by default 1/(2k). Chernoff bounds of the k clusters are
    combined by the union bound.

    Examples
    --------
    >>> sample_size(5, members=10, smallest=0.1)
    253
    """
    share = 1 / (2 * k) if smallest is None else smallest
    chance = log(k / failure)
    return ceil((members + chance + sqrt(chance**2 + 2 * members * chance)) / share)


def populate(distances: Floats, bounds: Bounds) -> Ints:
    """Labels within the bounds, by a stable matching of rows with the places that the lower bounds require.

    Rows prefer near centers and centers prefer near rows; in a stable matching, no row and center both prefer each
    other to their partners. The remaining rows take the nearest center that has room.

    Examples
    --------
    >>> import numpy as np
    >>> distances = np.array([[0.0, 9], [1, 8], [2, 4], [5, 6]])
    >>> populate(distances, Bounds(np.array([0, 2]), np.array([4, 4])))
    array([0, 0, 1, 1], dtype=int32)
    """
    distances = np.require(distances, np.float64, ["C"])
    n = len(distances)
    upper = np.minimum(bounds.upper, n)
    labels = _match(distances, bounds.lower)
    rest = np.flatnonzero(labels == UNASSIGNED)
    if (upper >= n).all():
        labels[rest] = distances[rest].argmin(axis=1)
    elif len(rest):
        labels[rest] = _match(distances[rest], np.minimum(upper - bounds.lower, len(rest)))
    return labels


def _match(distances: Floats, quota: Ints) -> Ints:
    """Find a stable matching with at most ``quota[h]`` rows for center h; −1 for rows that all centers reject."""
    n, k = distances.shape
    start = np.append(0, np.cumsum(quota))
    held, size = np.empty(start[-1], np.int32), np.zeros(k, np.int64)
    waiting, latest = np.arange(n, dtype=np.int32), np.full(n, UNASSIGNED, np.int32)
    state = np.array([n])
    while not exchange.propose(distances, quota, start, held, size, waiting, latest, state, BUDGET):
        continue
    labels = np.full(n, UNASSIGNED, np.int32)
    for h in range(k):
        labels[held[start[h] : start[h] + size[h]]] = h
    return labels


def refine(costs: Floats, labels: Ints, bounds: Bounds) -> int:
    """Move and exchange rows within the bounds until no move or cycle of moves lowers the cost; labels in place.

    The best single move comes first; if sizes forbid it, rows are exchanged along a cycle of clusters. Every round
    lowers the cost. Returns the number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.array([0, 1, 0, 1], dtype=np.int32)
    >>> costs = np.array([[0.0, 9], [1, 8], [7, 4], [9, 0]])
    >>> refine(costs, labels, Bounds(np.array([2, 2]), np.array([4, 4]))), labels
    (1, array([0, 0, 1, 1], dtype=int32))
    """
    costs = np.require(costs, np.float64, ["C"])
    n, k = costs.shape
    upper = np.minimum(bounds.upper, n)
    count = np.bincount(labels, minlength=k)
    least = 64 * k * 2.0**-52 * float(np.abs(costs).max(initial=0))  # smaller gains are rounding
    lanes = Lanes(costs, labels, count)
    state = np.zeros(2, np.int64)
    while True:
        status = exchange.exchange(
            costs, labels, bounds.lower, upper, count, least, *lanes.place, *lanes.heaps, state, BUDGET
        )
        if status == flow.DONE:
            return int(state[1])
        if status == flow.FULL:
            lanes.make_room(labels, count, int(state[0]))
