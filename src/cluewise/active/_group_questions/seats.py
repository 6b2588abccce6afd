"""Which rows each row that was asked about stands for: parts of Ward's tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from cluewise._typing import Floats, Ints
from cluewise.active._pairs_at_stake.ward_groups import WardGroups

__all__ = ["Half", "Seats"]

NEIGHBORS = 8
"""Number of neighbors that say to which cluster a super-instance may belong."""

CHUNK = 1000
"""Number of super-instances whose distances are computed at once."""


class Half(NamedTuple):
    """A part of the tree in which no row was asked about; it follows a seat in the part beside it for now."""

    node: int
    seat: int
    beside: int


class Seats:
    """Super-instances: each row that was asked about stands for the largest part of the tree that holds no other.

    A part without such a row, next to one with several, follows the closest of these. So every row has a seat, whatever
    rows were asked about, in whatever order.
    """

    def __init__(self, groups: WardGroups, rows: Ints) -> None:
        self.groups = groups
        self.rows: Ints = rows[np.argsort(groups.place(rows))]  # in the order of the tree
        self.node: Ints = np.zeros(len(rows), dtype=np.int64)
        self.halves: list[Half] = []
        self._owned: list[tuple[int, int]] = []  # parts of the tree and their seats
        places = groups.place(self.rows)
        stack = [(groups.root, 0, len(rows))] if len(rows) else []
        while stack:
            stack += self._divide(places, *stack.pop())
        self.size: Floats = np.zeros(len(rows))
        for v, seat in self._owned:
            self.size[seat] += groups.size[v]
        self.size = np.maximum(self.size, 1.0)
        self.mean: Floats = groups.mean[self.node]

    def _divide(self, places: Ints, v: int, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Give a part of the tree to its only seat, or return its halves."""
        groups = self.groups
        if v < groups.n_leaves:
            self.node[start:stop] = v
            self._owned.append((v, start))  # a leaf of many rows goes to the first; the others stand for themselves
            return []
        a, b = groups.parts[v - groups.n_leaves].tolist()
        middle = int(np.searchsorted(places, groups.start(b)))
        if stop - start == 1:
            self.node[start] = v
            self._owned.append((v, start))
            self.halves.append(Half(a, start, b) if middle == start else Half(b, start, a))
            return []
        if start < middle < stop:
            return [(a, start, middle), (b, middle, stop)]
        empty, full = (a, b) if middle == start else (b, a)
        near = ((groups.X[self.rows[start:stop]] - groups.mean[empty]) ** 2).sum(axis=1).argmin()
        self._owned.append((empty, start + int(near)))
        self.halves.append(Half(empty, start + int(near), full))
        return [(full, start, stop)]

    def spread(self, values: Ints) -> Ints:
        """For each row of the data the value of its seat."""
        found = np.zeros(len(self.groups.X), dtype=np.int64)
        for v, seat in self._owned:
            found[self.groups.rows(v)] = values[seat]
        found[self.rows] = values
        return found

    def neighbors(self, points: Floats, *, itself: bool) -> sparse.csr_array:
        """Weights of the closest seats of some points: 1, ½, ⅓, … of the first, divided by their sum.

        Ranks and not distances, so that a point among others that are all far away has neighbors, too. If the points
        are the seats ``itself``, no seat is its own neighbor.
        """
        m = len(self.mean)
        count = min(NEIGHBORS, m - itself)
        if count <= 0:
            return sparse.csr_array((len(points), m))
        weight = 1.0 / np.arange(1, count + 1)
        closest = np.empty((len(points), count), dtype=np.int64)
        square = (self.mean**2).sum(axis=1)
        for start in range(0, len(points), CHUNK):
            some = points[start : start + CHUNK]
            far = square - 2.0 * some @ self.mean.T
            if itself:
                far[np.arange(len(some)), np.arange(start, start + len(some))] = np.inf
            closest[start : start + len(some)] = np.argsort(far, axis=1, kind="stable")[:, :count]
        cells = np.tile(weight / weight.sum(), len(points)), closest.ravel(), np.arange(len(points) + 1) * count
        return sparse.csr_array(cells, shape=(len(points), m))
