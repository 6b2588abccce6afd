"""Networks of nodes (must-link components) of which some must not share a cluster, and drivers of their kernels.

The drivers call the kernels in slices of some ten milliseconds, so that Ctrl-C is answered between them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.kernels import coloring, graphs

__all__ = [
    "Csr",
    "Network",
    "Tour",
    "blocks",
    "broken",
    "edges",
    "explore",
    "from_edges",
    "greedy",
    "network",
    "peel",
    "plain",
    "restrict",
]

Csr: TypeAlias = tuple[Array, ...]
"""``indptr``, ``indices`` (or members), and whatever else; only the first two are read."""

SLICE = 500_000  # kernel steps (some ten milliseconds) between two looks at Ctrl-C


class Network(NamedTuple):
    """Six flat arrays, in the order in which the kernels take them."""

    indptr: Ints  # pairs of nodes that exclude each other, symmetric CSR
    indices: Ints
    clique_indptr: Ints  # sets of three or more nodes that all exclude each other
    clique_members: Ints
    node_indptr: Ints  # the cliques of each node
    node_cliques: Ints

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1


class Tour(NamedTuple):
    """Breadth-first search: component, depth and parent of each node."""

    component: Ints
    depth: Ints
    parent: Ints
    total: int  # components


def busy(graph: Csr, cliques: Csr) -> tuple[Ints, Csr, Csr]:
    """The nodes that exclude any other, and the same graph and cliques among these alone.

    Most nodes are rows that no clue speaks of: left out, time and memory go by the clues alone.
    """
    indptr, indices = graph[0], graph[1]
    mask = indptr[1:] > indptr[:-1]
    mask[cliques[1]] = True
    nodes = np.flatnonzero(mask)
    place = np.empty(len(mask), dtype=np.int32)  # of these nodes; the others are never looked up
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return nodes, (np.append(indptr[nodes], indptr[-1:]), place[indices]), (cliques[0], place[cliques[1]])


def network(graph: Csr, cliques: Csr) -> Network:
    """Pairs and cliques as the library stores them, in the form the kernels want.

    Cliques of two become pairs, smaller ones vanish.
    """
    indptr, indices = graph[0], graph[1]
    m = len(indptr) - 1
    clique_indptr, members = cliques[0], cliques[1]
    size = np.diff(clique_indptr)
    if (size < 3).any():
        pairs = members[np.repeat(size == 2, size)].reshape(-1, 2)
        if len(pairs):
            indptr, indices = from_edges(m, _distinct(m, np.vstack([_upper(indptr, indices), pairs])))
        members = members[np.repeat(size > 2, size)]
        clique_indptr = np.concatenate([[0], np.cumsum(size[size > 2])])
    return _with_cliques(indptr, indices, clique_indptr, members)


def _with_cliques(indptr: Ints, indices: Ints, clique_indptr: Ints, members: Ints) -> Network:
    m = len(indptr) - 1
    owner = np.repeat(np.arange(len(clique_indptr) - 1), np.diff(clique_indptr))
    node_indptr = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=m))])
    cliques = owner[np.argsort(members, kind="stable")]
    # One signature per kernel: writeable, contiguous, fixed types.
    wide = (np.require(a, np.int64, ["C", "W"]) for a in (indptr, clique_indptr, node_indptr))
    narrow = (np.require(a, np.int32, ["C", "W"]) for a in (indices, members, cliques))
    return Network(*(array for pair in zip(wide, narrow) for array in pair))


def from_edges(m: int, pairs: Ints) -> tuple[Ints, Ints]:
    """Symmetric CSR of distinct pairs of nodes."""
    first, second = np.ascontiguousarray(pairs.T, dtype=np.int64)
    indptr, indices, _ = graphs.adjacency(m, first, second, np.empty(len(first), np.int8))
    return indptr, indices


def _distinct(m: int, pairs: Ints) -> Ints:
    key = np.unique(pairs.min(axis=1).astype(np.int64) * m + pairs.max(axis=1))
    return np.column_stack([key // m, key % m])


def _upper(indptr: Ints, indices: Ints) -> Ints:
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    kept = rows < indices
    return np.column_stack([rows[kept], indices[kept]])


def edges(net: Network) -> Ints:
    """Pairs (low, high) of nodes that exclude each other directly, cliques left out."""
    return _upper(net.indptr, net.indices)


def plain(net: Network) -> tuple[Ints, Ints]:
    """Symmetric CSR with the cliques expanded.

    Only for hard cores: there no clique has more than k members (else there is nothing to search), so this costs each
    member at most k entries per clique, no more than its row of costs.
    """
    found = [edges(net)]
    size = np.diff(net.clique_indptr)
    for s in np.unique(size):
        first = net.clique_indptr[:-1][size == s]
        members = net.clique_members[first[:, None] + np.arange(s)]
        a, b = np.triu_indices(s, 1)
        found.append(np.column_stack([members[:, a].ravel(), members[:, b].ravel()]))
    if len(found) == 1:
        return net.indptr, net.indices
    return from_edges(net.size, _distinct(net.size, np.vstack(found)))


def restrict(net: Network, nodes: Ints) -> Network:
    """The network among ``nodes``, which are numbered in the order given."""
    number = np.full(net.size, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    pairs = number[edges(net)]
    indptr, indices = from_edges(len(nodes), pairs[(pairs >= 0).all(axis=1)])
    inside = number[net.clique_members] >= 0
    owner = np.repeat(np.arange(len(net.clique_indptr) - 1), np.diff(net.clique_indptr))
    size = np.bincount(owner[inside], minlength=len(net.clique_indptr) - 1)
    members = number[net.clique_members[inside]]
    return network((indptr, indices), (np.concatenate([[0], np.cumsum(size)]), members))


def peel(net: Network, floor: int, cap: int, extra: Ints | int = 0) -> tuple[Ints, int]:
    """Nodes in the order of ``kernels.peel`` while their degree is below ``floor``, and the largest degree met.

    With ``floor`` out of reach that is a smallest-last order and the degeneracy; with ``floor=k`` what is not
    in it is the k-core. ``extra`` is added to the degrees (a cluster that is forbidden counts like a
    neighbour). A pair that occurs in several cliques counts as often, which keeps every conclusion valid.
    """
    m = net.size
    alive = np.diff(net.clique_indptr)
    owner = np.minimum(alive - 1, cap)[net.node_cliques]
    per_node = np.concatenate([[0], np.cumsum(owner)])[net.node_indptr]
    degree = (np.diff(net.indptr) + np.diff(per_node) + extra).astype(np.int64)
    heap = np.sort((degree << coloring.SHIFT) + np.arange(m))
    position = np.empty(m, np.int32)
    position[heap & coloring.MASK] = np.arange(m, dtype=np.int32)
    order, state = np.empty(m, np.int32), np.array([m, 0, 0])
    while not coloring.peel(*net, alive, heap, position, order, state, cap, floor, SLICE):
        pass
    return order[: state[1]], int(state[2])


def explore(net: Network) -> Tour:
    """Components of the network, numbered by smallest member, with breadth-first trees."""
    m = net.size
    component = np.full(m, UNASSIGNED, np.int32)
    depth, parent, queue = (np.empty(m, np.int32) for _ in range(3))
    opened, state = np.zeros(len(net.clique_indptr) - 1, bool), np.zeros(4, np.int64)
    while not coloring.explore(*net, component, depth, parent, queue, opened, state, SLICE):
        pass
    return Tour(component, depth, parent, int(state[3]))


def blocks(net: Network) -> tuple[Ints, Ints, Network]:
    """Nodes sorted by component, where each component starts among them, and the network in that order."""
    component = explore(net).component
    nodes = np.argsort(component, kind="stable")
    return nodes, np.concatenate([[0], np.cumsum(np.bincount(component))]), restrict(net, nodes)


def greedy(net: Network, order: Ints, costs: Floats, labels: Ints) -> int:
    """Label ``order`` greedily, in place; the number of nodes that found no cluster."""
    mark = np.full(costs.shape[1], -1, np.int32)
    stuck = 0
    rows = max(1, SLICE // costs.shape[1])
    for start in range(0, len(order), rows):
        stop = min(start + rows, len(order))
        stuck += coloring.greedy(*net, order, start, stop, costs, labels, mark)
    return stuck


def broken(net: Network, labels: Ints) -> Bools:
    """Which nodes share a cluster with a node they exclude (cluster −1 is nobody's)."""
    wrong = np.zeros(net.size, bool)
    rows = np.repeat(np.arange(net.size), np.diff(net.indptr))
    wrong[rows[(labels[rows] == labels[net.indices]) & (labels[rows] != UNASSIGNED)]] = True
    if len(net.clique_members):
        owner = np.repeat(np.arange(len(net.clique_indptr) - 1), np.diff(net.clique_indptr))
        taken = labels[net.clique_members].astype(np.int64)
        key = owner * (int(labels.max()) + 2) + taken + 1
        count = np.unique(key, return_inverse=True, return_counts=True)
        wrong[net.clique_members[(count[2][count[1]] > 1) & (taken != UNASSIGNED)]] = True
    return wrong
