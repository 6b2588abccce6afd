"""The two searches on hard cores, both of which can be left and entered again: branch and bound, and tabu search."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.kernels import branching, coloring

__all__ = ["SLICE", "Repair", "Tree", "plant", "start_repair"]

SLICE = 2_000_000  # kernel steps (some ten milliseconds) between two looks at the clock and at Ctrl-C


class Tree(NamedTuple):
    """State of a branch and bound search, in the order in which the kernel takes it."""

    indptr: Ints
    indices: Ints
    costs: Floats  # (m, k), ∞ = not allowed
    starts: Ints  # components are starts[i]:starts[i + 1]
    symmetric: bool  # clusters are interchangeable
    tolerance: float
    limit: Ints  # branches, per component
    labels: Ints
    pick: Ints
    blocked: Ints
    left: Ints
    clash: Ints
    stack: Ints
    tried: Ints
    used: Ints
    bounds: Floats
    best: Ints  # (m,) best labels so far
    value: Floats  # their cost, per component; ∞ = none
    lower: Floats  # proved bound, per component
    nodes: Ints  # branches looked at, per component; negative: stopped by the limit
    state: Ints

    @property
    def solved(self) -> Bools:
        """Components that were searched to the end: there is nothing better than ``best``."""
        return (self.nodes >= 0) & (np.arange(len(self.nodes)) < self.state[0])

    def grow(self, budget: int) -> bool:
        """Search on for ``budget`` steps; True when every component is solved or has used up its limit."""
        return branching.branch(*self, budget)

    def run(self, deadline: float) -> None:
        """Search until there is nothing left to do, or until the deadline."""
        while not self.grow(SLICE) and monotonic() < deadline:
            pass


def plant(
    csr: tuple[Ints, Ints],
    costs: Floats,
    starts: Ints,
    *,
    best: Ints | None = None,
    value: Floats | None = None,
    symmetric: bool = False,
    tolerance: float = 0.0,
    limit: Ints | int = 2**62,
) -> Tree:
    """A search that has not begun; ``best`` of cost ``value`` (per component) is what it has to beat."""
    m, k = costs.shape
    count = len(starts) - 1
    return Tree(
        *csr,
        np.ascontiguousarray(costs, dtype=np.float64),
        np.asarray(starts, dtype=np.int64),
        symmetric,
        tolerance,
        np.maximum(np.broadcast_to(limit, count), 1).astype(np.int64),  # none at all would look like an answer
        labels=np.empty(m, np.int32),
        pick=np.empty(m, np.int32),
        blocked=np.empty((m, k), np.int32),
        left=np.empty(m, np.int32),
        clash=np.empty(m, np.int32),
        stack=np.empty(m + 1, np.int32),
        tried=np.empty(m + 1, np.int32),
        used=np.empty(m + 1, np.int32),
        bounds=np.empty(m + 1),
        best=np.full(m, UNASSIGNED, np.int32) if best is None else best.astype(np.int32),
        value=np.full(count, np.inf) if value is None else value.astype(np.float64),
        lower=np.add.reduceat(costs.min(axis=1), starts[:-1]),
        nodes=np.zeros(count, np.int64),
        state=np.zeros(3, np.int64),
    )


class Repair(NamedTuple):
    """State of a tabu search for labels that break no pair."""

    indptr: Ints
    indices: Ints
    costs: Floats
    labels: Ints
    near: Ints  # (m, k) neighbors of each node in each cluster
    until: Ints  # (m, k) step before which a node may not return
    wrong: Ints  # nodes with a broken pair
    place: Ints  # where each node stands in that list
    state: Ints  # step, broken pairs, fewest so far, lottery, length of that list

    def mend(self, budget: int) -> bool:
        """Search on for ``budget`` steps; True when no pair is broken any more."""
        return coloring.tabu(*self, budget)


def start_repair(csr: tuple[Ints, Ints], costs: Floats, labels: Ints) -> Repair:
    """Begin from ``labels``, all assigned and allowed."""
    indptr, indices = csr
    rows = np.repeat(np.arange(len(costs)), np.diff(indptr))
    near = np.zeros(costs.shape, np.int32)
    np.add.at(near, (rows, labels[indices]), 1)
    same = labels[rows] == labels[indices]
    bad = np.unique(rows[same])
    wrong, place = np.zeros(len(costs), np.int32), np.full(len(costs), -1, np.int32)
    wrong[: len(bad)] = bad
    place[bad] = np.arange(len(bad))
    state = np.array([0, same.sum() // 2, same.sum() // 2, 1, len(bad)], dtype=np.int64)
    until = np.zeros(costs.shape, np.int64)
    return Repair(indptr, indices, costs, labels.astype(np.int32), near, until, wrong, place, state)
