"""How many clusters there are, if nobody says so."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from cluewise.clues import Clues
from cluewise.exact.network import Network
from cluewise.front._ground import Ground

__all__ = ["choose_count", "count_at_least", "count_at_most", "count_by_gap"]

MOST = 30
"""Clusters that are tried without clues about more."""

CONNECTED = 0.01
"""Distance of an eigenvalue from 1 that is as good as none."""

LADDER = (2, 3, 4, 5, 7, 10, 14, 20, 28)
"""Numbers that are tried first."""


def count_at_least(clues: Clues, demands: Clues) -> int:
    """Clusters that the clues require: classes of labels, and components that all exclude each other.

    What has to hold (``demands``) may require more, where components that exclude each other form no clique.
    """
    classes = len(np.unique(clues.labels[clues.labels >= 0]))
    net = Network.build(clues.graph, clues.cliques)
    least = max(classes, len(net.largest_clique()), _grow_clique(net), 1)
    if clues.sizes is not None and clues.sizes.ndim == 1 and clues.size_unit == "points":
        least = max(least, ceil(clues.n / clues.sizes[1]))
    links = demands.only(demands.kinds - {"sizes"})
    while least < clues.n and links.feasible(least) is False:
        least += 1
    return least


def count_at_most(clues: Clues) -> int:
    """Clusters for which there are enough rows, given how many each has at least."""
    if clues.sizes is None or clues.sizes.ndim == 2 or clues.size_unit != "points":
        return clues.n
    return int(clues.n // max(clues.sizes[0], 1))


def _grow_clique(net: Network) -> int:
    """Size of a clique of the cannot-links, grown greedily from the component with the most of them."""
    indptr, indices = net.indptr, net.indices
    degree = np.diff(indptr)
    if not len(degree) or not degree.max():
        return 1
    at = int(degree.argmax())
    size, common = 1, indices[indptr[at] : indptr[at + 1]]
    while len(common):
        at = int(common[degree[common].argmax()])
        size, common = size + 1, np.intersect1d(common, indices[indptr[at] : indptr[at + 1]])
    return size


def count_by_gap(ground: Ground, least: int) -> int:
    """The number of leading eigenvalues of the graph that is followed by the largest gap, relative to what is before.

    Eigenvalues within a cluster fall faster the fewer dimensions it has, so that absolute gaps mislead: of 144 sets of
    two to eight separate normal clusters in a plane this finds the number in 99 %, the absolute gap in 46 %.
    """
    least = max(least, min(2, ground.m))
    most = min(max(MOST, least), ground.m - 1)
    if most <= least:
        return min(least, ground.m)
    left = 1 - ground.values + CONNECTED
    return least + int((left[least : most + 1] / left[least - 1 : most]).argmax())


def choose_count(score: Callable[[int], float], least: int, most: int, likely: int) -> int:
    """The number of clusters with the highest score: along a ladder, then around the best one."""
    found: dict[int, float] = {}

    def look(numbers: list[int]) -> int:
        for k in numbers:
            if least <= k <= most and k not in found:
                found[k] = score(k)
        return max(found, key=lambda k: (found[k], k == likely, -k))

    # What is likely comes first: a time limit may leave no time for others.
    best = look([likely, least, *LADDER])
    while True:
        step = look([best - 1, best + 1, best - 2, best + 2])
        if step == best:
            return best
        best = step
