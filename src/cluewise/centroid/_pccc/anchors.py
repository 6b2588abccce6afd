"""Anchors: groups of rows that clues hold together and keep apart from each other, as first centers.

Nodes that attract each other more than they repel are merged, the strongest attraction first (greedy additive edge
contraction); then a large group is taken, then the largest that clues keep apart from all taken ones, and so on. Of
several such sets the one with most rows counts.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.core.views import Nodes

__all__ = ["anchors", "merged"]

PAIRS = 100_000  # links, above which nodes are not merged
FIRST = 20  # groups that are tried as the first


def anchors(nodes: Nodes, bonds: Bonds, k: int) -> Floats:
    """Means of at most k groups, largest first; the caller fills up the rest."""
    if not bonds.size:
        return np.empty((0, nodes.rows.d))
    group, pulls = merged(bonds) if len(bonds.indices) <= 2 * PAIRS else (np.arange(bonds.size), None)
    weight = nodes.rows.weights(nodes.bound).astype(np.float64)
    mass = np.bincount(group, weights=weight)
    order = [g for g in np.argsort(-mass, kind="stable").tolist() if mass[g] > 0]
    rank = {g: place for place, g in enumerate(order)}
    sets = [_apart(first, rank, bonds, pulls, k) for first in order[:FIRST]]
    taken = max(sets, key=lambda found: mass[found].sum(), default=[])
    x = nodes.rows.dense(nodes.bound).astype(np.float64) * weight[:, None]
    sums = np.zeros((len(mass), nodes.rows.d))
    np.add.at(sums, group, x)
    return sums[taken] / mass[taken, None]


def _apart(first: int, rank: dict[int, int], bonds: Bonds, pulls: list[dict[int, float]] | None, k: int) -> list[int]:
    """A group, and by rank those that clues keep apart from all before."""
    taken, candidates = [first][:k], set(rank)
    while len(taken) < k and candidates:
        felt = _around(bonds, taken[-1]) if pulls is None else pulls[taken[-1]]
        candidates = {g for g, pull in felt.items() if pull > 0 and g in candidates}
        if candidates:
            taken.append(min(candidates, key=rank.__getitem__))
    return taken


def merged(bonds: Bonds) -> tuple[Ints, list[dict[int, float]]]:
    """Group of every node, and the pulls between groups."""
    m = bonds.size
    around = [_around(bonds, i) for i in range(m)]
    home = np.arange(m)
    heap = [(pull, i, j) for i in range(m) for j, pull in around[i].items() if i < j and pull < 0]
    heapify(heap)
    while heap:
        pull, i, j = heappop(heap)
        if around[i].get(j) != pull:
            continue  # one of them has been merged since, or what they feel has changed
        if len(around[i]) < len(around[j]):
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


def _around(bonds: Bonds, i: int) -> dict[int, float]:
    span = slice(bonds.indptr[i], bonds.indptr[i + 1])
    return dict(zip(bonds.indices[span].tolist(), bonds.pull[span].tolist()))
