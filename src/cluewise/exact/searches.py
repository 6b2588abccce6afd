"""Three searches: branch and bound proves, tabu search finds valid labels, Kempe chains make valid labels cheaper.

Branch and bound and tabu search are states that can be left and entered again, so that they can take turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.kernels import branching, coloring, working_time

__all__ = [
    "SLICE",
    "Repair",
    "Shaker",
    "Tree",
    "improve",
    "keep_cheaper",
    "plant",
    "rounding",
    "start_repair",
    "total",
]

SLICE = 2_000_000  # kernel steps (some ten milliseconds) between two checks of the clock and of Ctrl-C
SWAPS = 500_000  # the same for Kempe chains, whose steps take longer
CHAIN = 500  # nodes of the longest Kempe chain
TURN = 0.1  # seconds that one shake may take
SHAKES = (0.05, 0.1, 0.2, 0.4)  # noise, in units of what a node pays on average for a wrong cluster


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
    nodes: Ints  # branches visited, per component; negative: stopped by the limit
    state: Ints

    @property
    def solved(self) -> Bools:
        """Components that were searched to the end: there is nothing better than ``best``."""
        return (self.nodes >= 0) & (np.arange(len(self.nodes)) < self.state[0])

    def grow(self, budget: int) -> bool:
        """Search on for ``budget`` steps; True when every component is solved or has reached its limit."""
        return branching.branch(*self, budget)

    def run(self, deadline: float) -> None:
        """Search until there is nothing left to do, or until the deadline."""
        while not self.grow(SLICE) and working_time() < deadline:
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


def total(costs: Floats, labels: Ints) -> float:
    """Cost of labels."""
    return float(costs[np.arange(len(costs)), labels].sum())


def rounding(costs: Floats) -> float:
    """What rounding may add to a sum of costs."""
    return 1e-12 * float(np.abs(costs[np.isfinite(costs)]).max(initial=0.0)) * len(costs)


def keep_cheaper(costs: Floats, part: Ints, old: Ints, new: Ints) -> Ints:
    """For each connected part the cheaper of two valid labelings, the old one when they cost the same."""
    rows = np.arange(len(costs))
    change = np.bincount(part, costs[rows, new] - costs[rows, old])
    return np.where((change < 0)[part], new, old)


def improve(costs: Floats, csr: tuple[Ints, Ints], labels: Ints, deadline: float) -> Ints:
    """Swap two clusters along Kempe chains until nothing gets cheaper.

    The nodes of two clusters fall into connected chains; when a whole chain swaps the two, no pair breaks.
    """
    labels = labels.copy()
    m = len(costs)
    queue, mark, state = np.empty(m, np.int32), np.zeros(m, np.int64), np.zeros(2, np.int64)
    tolerance = rounding(costs)
    while True:
        before, at = state[1], 0
        while at < m:
            at = coloring.kempe(*csr, costs, labels, at, CHAIN, tolerance, queue, mark, state, SWAPS)
            if working_time() > deadline:
                return labels
        if state[1] == before:
            return labels


class Shaker:
    """Improves labels again and again, from where they are best under slightly wrong costs."""

    def __init__(self, costs: Floats, csr: tuple[Ints, Ints], labels: Ints) -> None:
        self.costs, self.csr, self.labels = costs, csr, labels
        self.value = total(costs, labels)
        self._rng = np.random.default_rng(0)
        self._turns = 0
        excess = costs - costs.min(axis=1, keepdims=True)
        self._spread = np.where(np.isfinite(excess), excess, 0.0).mean(axis=1, keepdims=True)

    def shake(self) -> None:
        """One attempt."""
        noise = SHAKES[self._turns % len(SHAKES)] * self._rng.standard_normal(self.costs.shape)
        self._turns += 1
        moved = improve(self.costs + noise * self._spread, self.csr, self.labels, working_time() + TURN)
        labels = improve(self.costs, self.csr, moved, working_time() + TURN)
        value = total(self.costs, labels)
        if value < self.value:
            self.labels, self.value = labels, value
