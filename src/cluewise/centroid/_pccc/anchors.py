"""Anchors: groups of rows that clues hold together and keep apart from each other, as initial centers.

Nodes that attract each other are merged, the strongest attraction first (greedy additive edge contraction). Then a
large group is chosen, then the largest one that clues keep apart from all chosen groups, and so on. This is repeated
from several first groups, and the set with the most rows is kept.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.core.views import Nodes

__all__ = ["find_anchors", "merge_nodes"]

PAIRS = 100_000  # maximum number of links with which nodes are merged
FIRST = 20  # number of groups that are tried as the first


def find_anchors(nodes: Nodes, bonds: Bonds, k: int) -> Floats:
    """Means of at most k groups; the caller adds the missing centers."""
    if not len(nodes.bound):
        return np.empty((0, nodes.rows.d))
    group: Ints = np.arange(len(nodes.bound))
    pulls = None
    if bonds.soft and len(bonds.indices) <= 2 * PAIRS:  # hard links only repel
        group, pulls = merge_nodes(bonds)
    weight = nodes.rows.weights(nodes.bound).astype(np.float64)
    mass = np.bincount(group, weights=weight)
    order = [g for g in np.argsort(-mass, kind="stable").tolist() if mass[g] > 0]
    rank = {g: place for place, g in enumerate(order)}
    sets = [_grow_apart(first, rank, bonds, pulls, k) for first in order[:FIRST]]
    taken = max(sets, key=lambda found: mass[found].sum(), default=[])
    x = nodes.rows.dense(nodes.bound).astype(np.float64) * weight[:, None]
    sums = np.zeros((len(mass), nodes.rows.d))
    np.add.at(sums, group, x)
    return sums[taken] / mass[taken, None]


def _grow_apart(
    first: int, rank: dict[int, int], bonds: Bonds, pulls: list[dict[int, float]] | None, k: int
) -> list[int]:
    """Extend a first group by the groups that clues keep apart from all before, in order of rank."""
    taken, candidates = [first][:k], set(rank)
    while len(taken) < k and candidates:
        around = _neighbors(bonds, taken[-1]) if pulls is None else pulls[taken[-1]]
        candidates = {g for g, pull in around.items() if pull > 0 and g in candidates}
        if candidates:
            taken.append(min(candidates, key=rank.__getitem__))
    return taken


def merge_nodes(bonds: Bonds) -> tuple[Ints, list[dict[int, float]]]:
    """Merge nodes by greedy additive edge contraction: the group of every node, and the pulls between groups."""
    m = bonds.size
    around = [_neighbors(bonds, i) for i in range(m)]
    home = np.arange(m)
    heap = [(pull, i, j) for i in range(m) for j, pull in around[i].items() if i < j and pull < 0]
    heapify(heap)
    while heap:
        pull, i, j = heappop(heap)
        if around[i].get(j) != pull:
            continue  # outdated: one of the nodes has been merged, or their pull has changed
        if len(around[i]) < len(around[j]):  # fewer neighbors to rewire
            i, j = j, i
        del around[i][j], around[j][i]
        for other, more in around[j].items():
            del around[other][j]
            both = around[i].get(other, 0.0) + more
            around[i][other] = around[other][i] = both
            if both < 0:
                heappush(heap, (both, min(i, other), max(i, other)))
        around[j] = {}
        home[j] = i
    for i in range(m):
        while home[i] != home[home[i]]:
            home[i] = home[home[i]]
    names, group = np.unique(home, return_inverse=True)
    number = {int(name): g for g, name in enumerate(names)}
    return group, [{number[j]: pull for j, pull in around[name].items()} for name in names.tolist()]


def _neighbors(bonds: Bonds, i: int) -> dict[int, float]:
    span = slice(bonds.indptr[i], bonds.indptr[i + 1])
    return dict(zip(bonds.indices[span].tolist(), bonds.pull[span].tolist()))
