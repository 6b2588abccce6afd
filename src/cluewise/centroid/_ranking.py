"""Ranking: the order in which nodes that exclude each other are placed, the most constrained first [Zhang2008]_."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._exclusions import SLICE, Exclusions, degrees
from cluewise.kernels import closures

__all__ = ["Ranking", "extended_degree", "peel", "rank"]


class Ranking(NamedTuple):
    """Nodes in order of priority, then nodes in no particular order."""

    first: Ints
    rest: Ints

    def draw(self, rng: np.random.Generator) -> Ints:
        """Return all nodes; the order of the rest is drawn anew each time."""
        return np.concatenate([self.first, rng.permutation(self.rest)]) if len(self.rest) else self.first


def extended_degree(
    degree: Ints, mass: Floats, total: float, *, degree_weight: float = 1.0, size_weight: float = 1.0
) -> Floats:
    """Eq. (3): (1 + w₁ d_i/D)(1 + w₂ N_i/N) d_i, with D edges in all and the mass N of all rows."""
    edges = max(degree.sum() / 2, 1)
    return (1 + degree_weight * degree / edges) * (1 + size_weight * mass / total) * degree


def peel(exclusions: Exclusions, value: Floats, which: Ints) -> Ints:
    """Order the nodes ``which`` by repeatedly removing the one of lowest value, the lowest number on ties.

    Each removal lowers the value of the remaining neighbors by 1.
    """
    left = value.astype(np.float64)
    heap = which[np.lexsort((which, left[which]))].astype(np.int64)
    position = np.full(exclusions.size, -1, dtype=np.int64)
    position[heap] = np.arange(len(heap))
    order, state = np.empty(len(heap), dtype=np.int64), np.array([len(heap), 0])
    while not closures.peel_extended(*exclusions, left, heap, position, order, state, SLICE):
        continue
    return order


def rank(
    exclusions: Exclusions,
    mass: Floats,
    total: float,
    *,
    degree_weight: float = 1.0,
    size_weight: float = 1.0,
    threshold: float | str = 0.0,
) -> Ranking:
    """Rank the nodes that exclude others, in reverse order of removal, if their extended degree exceeds the threshold.

    ``total`` is the mass of all rows; the threshold "mean" is the mean extended degree of the nodes in the ranking.
    """
    degree = degrees(exclusions)
    value = extended_degree(degree, mass, total, degree_weight=degree_weight, size_weight=size_weight)
    constrained = np.flatnonzero(degree)
    if isinstance(threshold, str):
        threshold = float(value[constrained].mean()) if len(constrained) else 0.0
    priority = peel(exclusions, value, constrained)[::-1]
    high = value[priority] > threshold
    return Ranking(priority[high], np.sort(priority[~high]))
