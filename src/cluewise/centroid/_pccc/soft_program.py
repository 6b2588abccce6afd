"""The assignment of nodes as an integer program: hard and soft links, groups and sizes in one model.

The model of [Baumann2024]_: minimize Σ d_il x_il + Σ p_ij y_ij + Σ p_ij z_ij, where a soft cannot-link costs y when
both ends share a cluster and a soft must-link costs z when they do not. Sets of nodes that exclude each other are
one row per cluster, far stronger than a row per pair. For each node only those clusters are kept that a solution as
good as the known one can use: what is dearer than its nearest by more than there is to be gained, no optimum needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.exact import highs
from cluewise.exact.program import Solution, cover

__all__ = ["Room", "Solution", "entries", "solve"]

UNITS = 1e4  # of weight in all, so that the tolerances of HiGHS are small beside it


class Room(NamedTuple):
    """How much mass the clusters take: so much from each node, and from rows that may go anywhere."""

    mass: Floats  # (m,)
    lower: Floats  # (k,)
    upper: Floats  # (k,)
    loose: float = 0.0

    @property
    def slack(self) -> float:
        """What rounding may add to a sum of masses."""
        return 1e-9 * (float(self.mass.sum()) + self.loose)

    def load(self, labels: Ints) -> Floats:
        """Mass of the nodes in each cluster."""
        return np.bincount(labels, weights=self.mass, minlength=len(self.lower)).astype(np.float64)

    def holds(self, labels: Ints) -> bool:
        """Whether the clusters are within their bounds, or can be once the loose rows are placed."""
        load, slack = self.load(labels), self.slack
        lacking = np.maximum(self.lower - load, 0).sum()
        spare = np.maximum(self.upper - load, 0).sum()
        return bool(
            (load <= self.upper + slack).all() and lacking <= self.loose + slack and self.loose <= spare + slack
        )

    def without(self, labels: Ints, nodes: Ints) -> Room:
        """What is left for some nodes while the others stay."""
        kept = np.ones(len(labels), dtype=bool)
        kept[nodes] = False
        filled = np.bincount(labels[kept], weights=self.mass[kept], minlength=len(self.lower))
        return Room(self.mass[nodes], self.lower - filled, self.upper - filled, self.loose)


class _Rows:
    """Rows of a program as they are collected."""

    def __init__(self) -> None:
        self.row: list[Ints] = []
        self.column: list[Ints] = []
        self.value: list[Floats] = []
        self.least: list[Floats] = []
        self.most: list[Floats] = []
        self.count = 0

    def add(self, count: int, least: Floats | float, most: Floats | float) -> int:
        """The number of the first of some new rows."""
        self.least.append(np.broadcast_to(np.asarray(least, dtype=float), count))
        self.most.append(np.broadcast_to(np.asarray(most, dtype=float), count))
        self.count += count
        return self.count - count

    def put(self, row: Ints, column: Ints, value: Floats | float) -> None:
        """Entries."""
        self.row.append(row)
        self.column.append(column)
        self.value.append(np.broadcast_to(np.asarray(value, dtype=float), len(row)))

    def program(self, cost: Floats, whole: Floats, ceiling: float) -> highs.Program:
        """All of it."""
        row, column, value = (np.concatenate(part) for part in (self.row, self.column, self.value))
        order = np.argsort(row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.count))])
        least, most = np.concatenate(self.least), np.concatenate(self.most)
        return highs.Program(cost, indptr, column[order], value[order], least, most, whole, ceiling)


def entries(bonds: Bonds, k: int) -> int:
    """About how large a program is."""
    size = np.bincount(bonds.groups, minlength=1)
    return k * (bonds.size + 2 * len(bonds.indices) + int((size * size).sum()))


def solve(
    costs: Floats, bonds: Bonds, best: Ints | None, deadline: float, slack: float, room: Room | None = None
) -> Solution:
    """Cheapest labels to within ``slack``, given valid labels ``best``; without them the first valid ones will do.

    ``Solution.bound`` is a lower bound on distances plus broken links, what ``bonds.constant`` says left out.
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
    answer = highs.solve(program, deadline, max(gap, 1e-9), None)
    attracted = float(pull[pull < 0].sum())  # pulls of must-links that hold are below zero, broken ones cost nothing
    bound = float(least.sum()) + scale * max(answer.bound, 0.0) + attracted
    labels = None if answer.x is None else _read(answer.x[: open_.sum()], open_, bonds, room)
    if answer.status == "optimal" and labels is None:
        return Solution("limit", None, bound)
    return Solution(answer.status, labels, bound)


def _pairs(bonds: Bonds) -> tuple[Ints, Floats]:
    """Soft links written out, each once, those of large groups too."""
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
    price = count + np.arange(len(pairs))  # y and z: what a link costs
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
    """Labels from the variables of a program; None when they are not valid (a solver has tolerances)."""
    labels = np.full(len(open_), UNASSIGNED, np.int32)
    node, cluster = np.nonzero(open_)
    chosen = x > 0.5
    labels[node[chosen]] = cluster[chosen]
    wrong = (labels == UNASSIGNED).any() or bonds.net.broken(labels).any()
    return None if wrong or not (room is None or room.holds(labels)) else labels
