"""Exact inference on a connected set of nodes by variable elimination.

Eliminating a node leaves a table over its remaining neighbors; the size of the largest table decides whether this is
feasible. A backward pass gives the probabilities of every node, or the most likely labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.mixture._potts import log_sum

__all__ = ["Elimination", "plan_elimination"]

DIMENSIONS = 24
"""Maximum number of axes of a table: NumPy limits the dimensions of an array."""


class Stage(NamedTuple):
    """A node to eliminate. Its table has one axis for the node and one for each neighbor that is left, in order."""

    node: int  # row of unary
    left: tuple[int, ...]  # stages of the remaining neighbors
    table: Floats  # sum of the scores of the edges to these neighbors
    up: int  # stage that receives the result; -1: no neighbor remains
    shape: tuple[int, ...]  # of the result, aligned with the axes of the table of that stage
    gone: tuple[int, ...]  # axes of that table that belong to other nodes


class Elimination(NamedTuple):
    """An order in which to eliminate the nodes of one connected component."""

    stages: tuple[Stage, ...]

    def marginalize(self, unary: Floats, marginals: Floats) -> float:
        """Log of the sum over all labels; the probabilities of the nodes are written into ``marginals``."""
        given: list[Any] = []
        tables, value = self._forward(unary, lambda table: log_sum(table, axis=0))
        # Table less total is the log probability of a node given its remaining neighbors; −∞ where they are impossible.
        for table, total in tables:
            with np.errstate(invalid="ignore"):
                given.append(np.exp(np.where(np.isinf(total), -np.inf, table - total)))
        # Neighbors are eliminated later, so in reverse order their joint probability is known when a node needs it.
        for i in range(len(self.stages) - 1, -1, -1):
            stage = self.stages[i]
            if stage.up >= 0:
                given[i] *= given[stage.up].sum(axis=stage.gone)
            marginals[stage.node] = given[i].sum(axis=tuple(range(1, given[i].ndim)))
        return value

    def maximize(self, unary: Floats, labels: Ints) -> float:
        """Log of the largest term, whose labels are written into ``labels``; ties go to the lowest label."""
        tables, value = self._forward(unary, lambda table: table.max(axis=0))
        for stage, (table, _) in zip(self.stages[::-1], tables[::-1]):
            known = tuple(labels[self.stages[j].node] for j in stage.left)
            labels[stage.node] = int(table[(slice(None), *known)].argmax())
        return value

    def _forward(self, unary: Floats, collect: Any) -> tuple[list[tuple[Floats, Floats]], float]:
        tables = [unary[stage.node].reshape((-1,) + (1,) * len(stage.left)) + stage.table for stage in self.stages]
        found, value = [], 0.0
        for i, stage in enumerate(self.stages):
            total = collect(tables[i])
            found.append((tables[i], total))
            if stage.up >= 0:
                tables[stage.up] += total.reshape(stage.shape)
            else:
                value += float(total)
        return found, value


def plan_elimination(nodes: Ints, ends: Ints, weights: Floats, k: int, limit: int) -> Elimination | None:
    """Stages for nodes joined by weighted edges; None when a table would exceed ``limit`` entries."""
    # Each edge belongs to the table of the end that is eliminated first, so in any order some table has at least
    # edges / nodes neighbors.
    hopeless = len(ends) / len(nodes) >= DIMENSIONS or k ** (1 + len(ends) / len(nodes)) > limit
    order = None if hopeless else _order(nodes.tolist(), ends.tolist(), k, limit)
    if order is None:
        return None
    place = {node: i for i, (node, _) in enumerate(order)}
    left = [tuple(sorted(place[u] for u in others)) for _, others in order]
    tables = [np.zeros((k,) * (1 + len(others))) for others in left]
    for (a, b), weight in zip(ends.tolist(), weights.tolist()):
        i, j = sorted((place[a], place[b]))
        axis = 1 + left[i].index(j)
        factor = np.where(np.eye(k, dtype=bool), weight, 0.0)
        tables[i] += factor.reshape([k if t in (0, axis) else 1 for t in range(1 + len(left[i]))])
    stages = []
    for i, (node, _) in enumerate(order):
        up = left[i][0] if left[i] else -1
        there = (up, *left[up]) if left[i] else ()
        shape = tuple(k if j in left[i] else 1 for j in there)
        gone = tuple(axis for axis, j in enumerate(there) if j not in left[i])
        stages.append(Stage(node, left[i], tables[i], up, shape, gone))
    return Elimination(tuple(stages))


def _order(nodes: Iterable[int], ends: list[list[int]], k: int, limit: int) -> list[tuple[int, set[int]]] | None:
    """Greedy order by minimum degree: each node with its remaining neighbors; None when a table is too large."""
    near: dict[int, set[int]] = {node: set() for node in nodes}
    for a, b in ends:
        near[a].add(b)
        near[b].add(a)
    heap = [(len(others), node) for node, others in near.items()]
    heapify(heap)
    order = []
    while heap:
        degree, node = heappop(heap)
        if node not in near or degree != len(near[node]):
            continue  # outdated entry: the node is gone, or its degree has changed since
        if k ** (degree + 1) > limit or degree >= DIMENSIONS:
            return None
        others = near.pop(node)
        order.append((node, others))
        for u in others:  # the new table makes all of them neighbors of each other
            near[u] |= others
            near[u] -= {u, node}
            heappush(heap, (len(near[u]), u))
    return order
