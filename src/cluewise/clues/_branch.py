"""Drivers of the two searches on hard cores: branch and bound, and repair by tabu search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.kernels import branching, coloring

__all__ = ["Repair", "Tree", "grow", "mend", "plant", "start_repair"]


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


def grow(tree: Tree, budget: int) -> bool:
    """Search on for ``budget`` steps; True when every component is solved or has used up its limit."""
    return branching.branch(*tree, budget)


class Repair(NamedTuple):
    """State of a tabu search for labels that break no pair."""

    indptr: Ints
    indices: Ints
    costs: Floats
    labels: Ints
    near: Ints  # (m, k) neighbours of each node in each cluster
    until: Ints  # (m, k) step before which a node may not return
    wrong: Ints  # nodes with a broken pair
    place: Ints  # where each node stands in that list
    state: Ints  # step, broken pairs, fewest so far, lottery, length of that list


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


def mend(repair: Repair, budget: int) -> bool:
    """Search on for ``budget`` steps; True when no pair is broken any more."""
    return coloring.tabu(*repair, budget)
