"""`Network`: nodes of which some exclude each other, and every question that takes linear time.

A node is whatever has to stay in one cluster, usually a must-link component; two nodes that exclude each other must not
share a cluster. Most exclusions are pairs. A set of nodes that all exclude each other (the faces in a photograph) stays
a clique: written out as pairs it would take the square of its size.

Kernels run in slices of some ten milliseconds, so that Ctrl-C is answered between two of them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.kernels import coloring, graphs

__all__ = ["NO_CLIQUES", "Csr", "Network", "Tour", "busy", "network_of"]

Csr: TypeAlias = tuple[Array, ...]
"""``indptr``, ``indices`` (or members), and whatever else; only the first two are read."""

NO_CLIQUES: Csr = (np.zeros(1, np.int64), np.empty(0, np.int32))

SLICE = 500_000  # kernel steps (some ten milliseconds) between two checks of Ctrl-C


class Tour(NamedTuple):
    """Breadth-first search: component, depth and parent of each node."""

    component: Ints
    depth: Ints
    parent: Ints
    total: int  # components


class Network(NamedTuple):
    """Which nodes exclude each other: six flat arrays, in the order in which the kernels take them."""

    indptr: Ints  # pairs of nodes that exclude each other, symmetric CSR
    indices: Ints
    clique_indptr: Ints  # sets of three or more nodes that all exclude each other
    clique_members: Ints
    node_indptr: Ints  # the cliques of each node
    node_cliques: Ints

    @classmethod
    def build(cls, graph: Csr, cliques: Csr = NO_CLIQUES) -> Network:
        """A network from a symmetric CSR of pairs and from cliques, as `Clues` has them.

        Cliques of two become pairs, smaller ones vanish.
        """
        indptr, indices, (clique_indptr, members) = graph[0], graph[1], cliques[:2]
        m = len(indptr) - 1
        size = np.diff(clique_indptr)
        if (size < 3).any():
            pairs = members[np.repeat(size == 2, size)].reshape(-1, 2)
            if len(pairs):
                known = np.column_stack([np.repeat(np.arange(m), np.diff(indptr)), indices])
                indptr, indices = _csr(m, np.vstack([known, pairs]))
            members = members[np.repeat(size > 2, size)]
            size = size[size > 2]
            clique_indptr = np.append(0, np.cumsum(size))
        owner = np.repeat(np.arange(len(size)), size)
        node_indptr = np.append(0, np.cumsum(np.bincount(members, minlength=m)))
        node_cliques = owner[np.argsort(members, kind="stable")]
        # One signature per kernel: writeable, contiguous, fixed types.
        wide = (np.require(a, np.int64, ["C", "W"]) for a in (indptr, clique_indptr, node_indptr))
        narrow = (np.require(a, np.int32, ["C", "W"]) for a in (indices, members, node_cliques))
        return cls(*(array for pair in zip(wide, narrow) for array in pair))

    @classmethod
    def of_pairs(cls, m: int, pairs: Ints, cliques: Csr = NO_CLIQUES) -> Network:
        """A network of ``m`` nodes from distinct pairs of them, and from cliques.

        Examples
        --------
        >>> import numpy as np
        >>> Network.of_pairs(3, np.array([[0, 1], [1, 2]])).indices.tolist()
        [1, 0, 2, 1]
        """
        first, second = np.ascontiguousarray(pairs.T, dtype=np.int64)
        return cls.build(graphs.adjacency(m, first, second, np.empty(len(first), np.int8)), cliques)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @property
    def cliques(self) -> Csr:
        """The sets of nodes that all exclude each other."""
        return self.clique_indptr, self.clique_members

    @property
    def edges(self) -> Ints:
        """Pairs (low, high) of nodes that exclude each other directly, cliques left out."""
        rows = np.repeat(np.arange(self.size), np.diff(self.indptr))
        kept = rows < self.indices
        return np.column_stack([rows[kept], self.indices[kept]])

    def largest_clique(self) -> Ints:
        """Members of the largest clique that was given as such; none where there is no clique."""
        size = np.diff(self.clique_indptr)
        if not len(size):
            return self.clique_members
        first = self.clique_indptr[np.argmax(size)]
        return self.clique_members[first : first + size.max()]

    def plain(self) -> tuple[Ints, Ints]:
        """Symmetric CSR with the cliques written out as pairs.

        Only for hard cores: there no clique has more than k members (else there is nothing to search), so this costs
        each member at most k entries per clique, no more than its row of costs.
        """
        if not len(self.clique_members):
            return self.indptr, self.indices
        found = [self.edges]
        size = np.diff(self.clique_indptr)
        for s in np.unique(size):
            first = self.clique_indptr[:-1][size == s]
            members = self.clique_members[first[:, None] + np.arange(s)]
            a, b = np.triu_indices(s, 1)
            found.append(np.column_stack([members[:, a].ravel(), members[:, b].ravel()]))
        return _csr(self.size, np.vstack(found))

    def restrict(self, nodes: Ints) -> Network:
        """The network among ``nodes``, which are numbered in the order given."""
        number = np.full(self.size, -1, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        pairs = number[self.edges]
        pairs = pairs[(pairs >= 0).all(axis=1)]
        if not len(self.clique_members):
            return Network.of_pairs(len(nodes), pairs)
        members = number[self.clique_members]
        inside = members >= 0
        size = np.bincount(self._owner()[inside], minlength=len(self.clique_indptr) - 1)
        cliques = np.append(0, np.cumsum(size)), members[inside]
        return Network.of_pairs(len(nodes), pairs, cliques)

    def touching(self, active: Bools) -> Network:
        """Only the pairs and cliques with an active node."""
        pairs = self.edges
        pairs = pairs[active[pairs].any(axis=1)]
        if not len(self.clique_members):
            return Network.of_pairs(self.size, pairs)
        size, owner = np.diff(self.clique_indptr), self._owner()
        kept = np.bincount(owner, active[self.clique_members], len(size)) > 0
        cliques = np.append(0, np.cumsum(size[kept])), self.clique_members[kept[owner]]
        return Network.of_pairs(self.size, pairs, cliques)

    def peel(self, floor: int, cap: int, extra: Ints | int = 0) -> tuple[Ints, int]:
        """Nodes in the order of ``kernels.peel`` while their degree is below ``floor``, and the largest degree met.

        With ``floor`` out of reach that is a smallest-last order and the degeneracy; with ``floor=k`` what is not
        in it is the k-core. ``extra`` is added to the degrees. A pair that occurs in several cliques counts as often,
        which keeps every conclusion valid.
        """
        m = self.size
        alive = np.diff(self.clique_indptr)
        owner = np.minimum(alive - 1, cap)[self.node_cliques]
        per_node = np.append(0, np.cumsum(owner))[self.node_indptr]
        degree = (np.diff(self.indptr) + np.diff(per_node) + extra).astype(np.int64)
        heap = np.sort((degree << coloring.SHIFT) + np.arange(m))
        position = np.empty(m, np.int32)
        position[heap & coloring.MASK] = np.arange(m, dtype=np.int32)
        order, state = np.empty(m, np.int32), np.array([m, 0, 0])
        while not coloring.peel(*self, alive, heap, position, order, state, cap, floor, SLICE):
            pass
        return order[: state[1]], int(state[2])

    def smallest_last(self, cap: int) -> Ints:
        """The order in which a greedy pass gets stuck least: each node sees few neighbors that come before it."""
        return self.peel(floor=2**31, cap=cap)[0][::-1].copy()  # no degree gets there

    def explore(self) -> Tour:
        """Components of the network, numbered by smallest member, with breadth-first trees."""
        m = self.size
        component = np.full(m, UNASSIGNED, np.int32)
        depth, parent, queue = (np.empty(m, np.int32) for _ in range(3))
        opened, state = np.zeros(len(self.clique_indptr) - 1, bool), np.zeros(4, np.int64)
        while not coloring.explore(*self, component, depth, parent, queue, opened, state, SLICE):
            pass
        return Tour(component, depth, parent, int(state[3]))

    def around(self, nodes: Ints | Bools) -> Ints:
        """All nodes of the components that these nodes are in."""
        tour = self.explore()
        meant = np.zeros(tour.total, bool)
        meant[tour.component[nodes]] = True
        return np.flatnonzero(meant[tour.component])

    def blocks(self) -> tuple[Ints, Ints, Network]:
        """Nodes sorted by component, where each component starts among them, and the network in that order."""
        component = self.explore().component
        nodes = np.argsort(component, kind="stable")
        return nodes, np.append(0, np.cumsum(np.bincount(component))), self.restrict(nodes)

    def greedy(self, order: Ints, costs: Floats, labels: Ints) -> int:
        """Label ``order`` greedily, in place; the number of nodes that found no cluster."""
        mark = np.full(costs.shape[1], -1, np.int32)
        stuck = 0
        rows = max(1, SLICE // costs.shape[1])
        for start in range(0, len(order), rows):
            stop = min(start + rows, len(order))
            stuck += coloring.greedy(*self, order, start, stop, costs, labels, mark)
        return stuck

    def broken(self, labels: Ints) -> Bools:
        """Which nodes share a cluster with a node they exclude (−1: in no cluster)."""
        wrong = np.zeros(self.size, bool)
        rows = np.repeat(np.arange(self.size), np.diff(self.indptr))
        wrong[rows[(labels[rows] == labels[self.indices]) & (labels[rows] != UNASSIGNED)]] = True
        if len(self.clique_members):
            taken = labels[self.clique_members].astype(np.int64)
            key = self._owner() * (int(labels.max()) + 2) + taken + 1
            _, which, count = np.unique(key, return_inverse=True, return_counts=True)
            wrong[self.clique_members[(count[which] > 1) & (taken != UNASSIGNED)]] = True
        return wrong

    def _owner(self) -> Ints:
        """The clique that each entry of ``clique_members`` belongs to."""
        return np.repeat(np.arange(len(self.clique_indptr) - 1), np.diff(self.clique_indptr))


def busy(graph: Csr, cliques: Csr) -> tuple[Ints, Network]:
    """The nodes that exclude any other, and the network among these alone.

    Most nodes are rows that no clue mentions: without them, time and memory depend only on the clues.
    """
    mask = graph[0][1:] > graph[0][:-1]
    mask[cliques[1]] = True
    nodes = np.flatnonzero(mask)
    return nodes, network_of(graph, cliques, nodes)


def network_of(graph: Csr, cliques: Csr, nodes: Ints) -> Network:
    """The network among some nodes (sorted), which must include all that exclude any other."""
    indptr, indices = graph[0], graph[1]
    place = np.empty(len(indptr) - 1, dtype=np.int32)  # of these nodes; the others are never looked up
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    # The nodes that are left out have no entries, so the pointers of the others still fit.
    pairs = np.append(indptr[nodes], indptr[-1:]), place[indices]
    return Network.build(pairs, (cliques[0], place[cliques[1]]))


def _csr(m: int, pairs: Ints) -> tuple[Ints, Ints]:
    """Symmetric CSR of pairs of nodes, each of which may be listed several times and either way round."""
    key = np.unique(pairs.min(axis=1).astype(np.int64) * m + pairs.max(axis=1))
    indptr, indices, _ = graphs.adjacency(m, key // m, key % m, np.empty(len(key), np.int8))
    return indptr, indices
