"""Proofs that need no search: two clusters, odd cycles, cliques."""

from __future__ import annotations

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.exact.network import Network, Tour

__all__ = ["grow_clique", "odd_cycle", "two_coloring"]

STARTS = 1_000  # nodes from which a clique is grown
CROWD = 200  # candidates up to which it is worth counting what each of them keeps


def two_coloring(net: Network, tour: Tour, costs: Floats) -> Ints | None:
    """The cheaper of the two ways to label each component with two clusters; None when one has an odd cycle.

    A component keeps −1 when neither way is allowed.
    """
    side = tour.depth % 2
    pairs = net.edges
    if len(net.clique_members) or (side[pairs[:, 0]] == side[pairs[:, 1]]).any():
        return None
    rows = np.arange(net.size)
    price = [np.bincount(tour.component, costs[rows, (side + flip) % 2], tour.total) for flip in (0, 1)]
    flip = (price[1] < price[0]).astype(np.int32)
    labels = (side + flip[tour.component]) % 2
    labels[np.minimum(*price)[tour.component] == np.inf] = UNASSIGNED
    return labels.astype(np.int32)


def odd_cycle(net: Network, tour: Tour) -> Ints:
    """A cycle of odd length without chords, as nodes in order, in a network of pairs that has one.

    A pair of nodes at equal depth (or equal parity) closes an odd cycle with the two ways up to their common ancestor.
    """
    pairs = net.edges
    side = tour.depth[pairs] % 2
    clash = pairs[side[:, 0] == side[:, 1]]
    a, b = clash[np.argmin(tour.depth[clash].sum(axis=1))]
    left, right = [int(a)], [int(b)]
    while left[-1] != right[-1]:
        longer = left if tour.depth[left[-1]] >= tour.depth[right[-1]] else right
        longer.append(int(tour.parent[longer[-1]]))
    cycle = left + right[-2::-1]
    while (shorter := _cut(net, cycle)) is not None:
        cycle = shorter
    return np.array(cycle)


def _cut(net: Network, cycle: list[int]) -> list[int] | None:
    """The odd one of the two cycles into which a chord cuts an odd cycle; None without a chord."""
    place = {v: i for i, v in enumerate(cycle)}
    for i, v in enumerate(cycle):
        for u in net.indices[net.indptr[v] : net.indptr[v + 1]]:
            j = place.get(int(u), i)
            if j - i > 1 and (i, j) != (0, len(cycle) - 1):
                inner = cycle[i : j + 1]
                return inner if len(inner) % 2 else cycle[: i + 1] + cycle[j:]
    return None


def grow_clique(csr: tuple[Ints, Ints], enough: int) -> Ints:
    """Add the neighbor of all so far that keeps most others, from many starts; stop at ``enough`` nodes."""
    indptr, indices = csr
    degree = np.diff(indptr)
    known: dict[int, set[int]] = {}

    def around(v: int) -> set[int]:
        if v not in known:
            known[v] = set(indices[indptr[v] : indptr[v + 1]].tolist())
        return known[v]

    best: list[int] = []
    for start in np.argsort(-degree, kind="stable")[:STARTS].tolist():
        clique, common = [start], around(start)
        while common and len(clique) + len(common) > len(best):
            if len(common) > CROWD:
                v = max(common, key=lambda u: (degree[u], -u))
            else:
                v = max(common, key=lambda u: (len(common & around(u)), -u))
            clique.append(v)
            common = common & around(v)
        if len(clique) > len(best):
            best = clique
        if len(best) >= enough:
            break
    return np.array(best[:enough], dtype=np.int64)
