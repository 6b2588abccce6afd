"""The assignment of nodes as an integer program: hard and soft links, groups and sizes in one model.

The model of [Baumann2024]_: minimize Σ d_il x_il + Σ p_ij y_ij + Σ p_ij z_ij, where y_ij is 1 if the ends of a soft
cannot-link share a cluster and z_ij is 1 if the ends of a soft must-link do not. A clique of nodes that exclude each
other is one constraint per cluster, which is much stronger than one per pair. The variable of a node in a cluster is
dropped if that alone costs more, compared to the node's nearest cluster, than the known labels cost in all: no optimum
uses it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.exact import highs
from cluewise.exact.program import Solution, cover
from cluewise.kernels import working_time

__all__ = ["Room", "Solution", "count_entries", "solve"]

UNITS = 1e4  # total weight after scaling: the tolerances of HiGHS are small in comparison


class Room(NamedTuple):
    """Bounds on the mass of clusters, and the mass of each node and of the rows that may go anywhere (``loose``)."""

    mass: Floats  # (m,)
    lower: Floats  # (k,)
    upper: Floats  # (k,)
    loose: float = 0.0

    @property
    def slack(self) -> float:
        """Tolerance for rounding in sums of masses."""
        return 1e-9 * (float(self.mass.sum()) + self.loose)

    def load(self, labels: Ints) -> Floats:
        """Mass of the nodes in each cluster."""
        return np.bincount(labels, weights=self.mass, minlength=len(self.lower)).astype(np.float64)

    def holds(self, labels: Ints) -> bool:
        """Whether the clusters are within their bounds, or can be after the loose rows are assigned."""
        load, slack = self.load(labels), self.slack
        lacking = np.maximum(self.lower - load, 0).sum()
        spare = np.maximum(self.upper - load, 0).sum()
        return bool(
            (load <= self.upper + slack).all() and lacking <= self.loose + slack and self.loose <= spare + slack
        )

    def without(self, labels: Ints, nodes: Ints) -> Room:
        """The room that remains for some nodes while the others stay."""
        kept = np.ones(len(labels), dtype=bool)
        kept[nodes] = False
        filled = np.bincount(labels[kept], weights=self.mass[kept], minlength=len(self.lower))
        return Room(self.mass[nodes], self.lower - filled, self.upper - filled, self.loose)


class _Rows:
    """Constraints of a program, collected piece by piece."""

    def __init__(self) -> None:
        self.row: list[Ints] = []
        self.column: list[Ints] = []
        self.value: list[Floats] = []
        self.least: list[Floats] = []
        self.most: list[Floats] = []
        self.count = 0

    def add(self, count: int, least: Floats | float, most: Floats | float) -> int:
        """Add constraints and return the number of the first."""
        self.least.append(np.broadcast_to(np.asarray(least, dtype=float), count))
        self.most.append(np.broadcast_to(np.asarray(most, dtype=float), count))
        self.count += count
        return self.count - count

    def put(self, row: Ints, column: Ints, value: Floats | float) -> None:
        """Set coefficients."""
        self.row.append(row)
        self.column.append(column)
        self.value.append(np.broadcast_to(np.asarray(value, dtype=float), len(row)))

    def program(self, cost: Floats, whole: Floats, ceiling: float) -> highs.Program:
        """The program with these constraints."""
        row, column, value = (np.concatenate(part) for part in (self.row, self.column, self.value))
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.count))])
        least, most = np.concatenate(self.least), np.concatenate(self.most)
        return highs.Program(cost, indptr, column[order], value[order], least, most, whole, ceiling)


def count_entries(bonds: Bonds, k: int) -> int:
    """Approximate number of coefficients of a program."""
    size = np.bincount(bonds.groups, minlength=1)
    return k * (bonds.size + 2 * len(bonds.indices) + int((size * size).sum()))


def solve(
    costs: Floats, bonds: Bonds, best: Ints | None, deadline: float, slack: float, room: Room | None = None
) -> Solution:
    """Optimal labels to within ``slack``, given valid labels ``best``; without them, any valid labels.

    ``Solution.bound`` is a lower bound on distances plus pulls, without ``bonds.constant``.
    """
    m = len(costs)
    least = costs.min(axis=1, initial=np.inf)
    if np.isinf(least).any():
        return Solution("infeasible", None, np.inf)
    excess = costs - least[:, None]
    pairs, pull = _pairs(bonds)
    ceiling = np.inf
    if best is not None:
        same = best[pairs[:, 0]] == best[pairs[:, 1]]
        ceiling = float(excess[np.arange(m), best].sum()) + float(np.abs(pull[same == (pull > 0)]).sum())
    open_ = (excess <= ceiling * (1 + 1e-9)) & np.isfinite(costs)
    scale = max(float(excess[open_].max(initial=0.0)), float(np.abs(pull).max(initial=0.0))) or 1.0
    program = _build(excess / scale, open_, bonds, pairs, pull / scale, room, ceiling / scale)
    gap = 1.0 if best is None else min(1.0, slack / max(ceiling, 1e-300))
    answer = highs.solve(program, deadline - working_time(), max(gap, 1e-9), None)
    attracted = float(pull[pull < 0].sum())  # the program charges broken must-links; pulls reward those that hold
    bound = float(least.sum()) + scale * max(answer.bound, 0.0) + attracted
    labels = None if answer.x is None else _read(answer.x[: open_.sum()], open_, bonds, room)
    if answer.status == "optimal" and labels is None:
        return Solution("limit", None, bound)
    return Solution(answer.status, labels, bound)


def _pairs(bonds: Bonds) -> tuple[Ints, Floats]:
    """All soft links as pairs, each once, including those of large groups."""
    row = np.repeat(np.arange(bonds.size), np.diff(bonds.indptr))
    once = (row < bonds.indices) & np.isfinite(bonds.pull)
    ends, pulls = [np.column_stack([row[once], bonds.indices[once]])], [bonds.pull[once]]
    node = np.repeat(np.arange(bonds.size), np.diff(bonds.node_indptr))
    for g in np.unique(bonds.groups):
        among = np.flatnonzero(bonds.groups == g)
        a, b = np.triu_indices(len(among), 1)
        ends.append(np.column_stack([node[among[a]], node[among[b]]]))
        pulls.append(bonds.group_pull[g] * bonds.shares[among[a]] * bonds.shares[among[b]])
    return np.concatenate(ends), np.concatenate(pulls)


def _build(
    excess: Floats, open_: Bools, bonds: Bonds, pairs: Ints, pull: Floats, room: Room | None, ceiling: float
) -> highs.Program:
    m, k = open_.shape
    count = int(open_.sum())
    number = np.full(open_.shape, UNASSIGNED, np.int64)
    number[open_] = np.arange(count)
    node, cluster = np.nonzero(open_)
    price = count + np.arange(len(pairs))  # columns of y and z
    rows = _Rows()
    rows.put(rows.add(m, 1.0, 1.0) + node, number[open_], 1.0)
    for clique in cover(bonds.net):
        at, member = np.nonzero(number[clique].T >= 0)
        several = np.flatnonzero(np.bincount(at, minlength=k) > 1)
        place = np.full(k, UNASSIGNED)
        place[several] = rows.add(len(several), -np.inf, 1.0) + np.arange(len(several))
        kept = place[at] >= 0
        rows.put(place[at[kept]], number[clique[member[kept]], at[kept]], 1.0)
    for repels in (True, False):
        which = np.flatnonzero((pull > 0) == repels)
        first, second = number[pairs[which, 0]], number[pairs[which, 1]]
        link, at = np.nonzero((first >= 0) & ((second >= 0) | (not repels)))
        begin = rows.add(len(link), -np.inf, 1.0 if repels else 0.0) + np.arange(len(link))
        shared = second[link, at] >= 0
        rows.put(begin, first[link, at], 1.0)
        rows.put(begin[shared], second[link, at][shared], 1.0 if repels else -1.0)
        rows.put(begin, price[which[link]], -1.0)
    cost, whole = [excess[open_], np.abs(pull)], [np.ones(count), np.zeros(len(pairs))]
    if room is not None:
        unit = UNITS / max(float(room.mass.sum()) + room.loose, 1e-300)
        begin = rows.add(k, room.lower * unit, room.upper * unit) + np.arange(k)
        rows.put(begin[cluster], number[open_], room.mass[node] * unit)
        if room.loose > 0:
            share = count + len(pairs) + np.arange(k)
            rows.put(begin, share, room.loose * unit)
            rows.put(np.full(k, rows.add(1, 1.0, 1.0)), share, 1.0)
            cost.append(np.zeros(k))
            whole.append(np.zeros(k))
    return rows.program(np.concatenate(cost), np.concatenate(whole), ceiling)


def _read(x: Floats, open_: Bools, bonds: Bonds, room: Room | None) -> Ints | None:
    """Labels from the variables of a program; None if they are invalid, because of the solver's tolerances."""
    labels = np.full(len(open_), UNASSIGNED, np.int32)
    node, cluster = np.nonzero(open_)
    chosen = x > 0.5
    labels[node[chosen]] = cluster[chosen]
    wrong = (labels == UNASSIGNED).any() or bonds.net.broken(labels).any()
    return None if wrong or not (room is None or room.holds(labels)) else labels
