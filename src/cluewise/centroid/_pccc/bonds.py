"""Bonds: clues between nodes as forces. A negative pull attracts, a positive one repels, an infinite one forbids.

A node is a component of hard must-links. Node i in cluster h costs its distance plus the pull of every neighbor in h.
Up to a constant, the sum of the pulls is the price of the broken links. Groups of more than `LARGE` nodes are not
expanded to pairs, so memory is O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.views import broken_weight, list_memberships
from cluewise.exact.network import Network, network_of

__all__ = ["Bonds", "bonds_of", "fold", "keep_hard", "find_parts", "price_of", "set_price", "find_violated"]

LARGE = 32  # number of nodes up to which a soft group is expanded to pairs


class Bonds(NamedTuple):
    """Forces between nodes; nodes that exclude each other are in the network ``net``, too."""

    indptr: Ints  # (m + 1,) symmetric CSR
    indices: Ints
    pull: Floats
    node_indptr: Ints  # (m + 1,) large groups of each node
    groups: Ints
    shares: Floats  # number of rows of the group in the node
    group_pull: Floats  # (g,)
    net: Network  # hard exclusions only
    constant: float  # price of the broken links minus the sum of pulls, the same for all labels
    soft: bool  # whether there are finite forces

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    def counts(self, labels: Ints, k: int) -> Floats:
        """(g, k) shares of the large groups in every cluster."""
        out = np.zeros((len(self.group_pull), k))
        node = np.repeat(np.arange(self.size), np.diff(self.node_indptr))
        np.add.at(out, (self.groups, labels[node]), self.shares)
        return out


def bonds_of(hard: Clues, soft: Clues | None, component: Ints) -> Bonds:
    """Bonds between some components (sorted) of the hard clues, at a price of 1 per unit of soft weight."""
    net = network_of(hard.graph, hard.cliques, component)
    if soft is None:
        return keep_hard(net)
    m = len(component)
    number = np.full(hard.n_components, -1, dtype=np.int64)
    number[component] = np.arange(m)
    node = number[hard.components]
    ends = [node[soft.must], node[soft.cannot]]
    pull = [-soft.must_weight, soft.cannot_weight]
    members, owner, shares, strength = _groups(soft, node)
    size = np.bincount(owner, minlength=len(strength))
    for s in np.unique(size[(size > 1) & (size <= LARGE)]):
        table = np.flatnonzero(size[owner] == s).reshape(-1, s)
        a, b = np.triu_indices(s, 1)
        first, second = table[:, a].ravel(), table[:, b].ravel()
        ends.append(np.column_stack([members[first], members[second]]))
        pull.append(strength[owner[first]] * shares[first] * shares[second])
    kept = size[owner] > LARGE
    number_of_group = np.cumsum(size > LARGE) - 1
    by_node = np.argsort(members[kept], kind="stable")
    pairs, pulls = np.concatenate(ends), np.concatenate(pull)
    forces = _csr(m, pairs, pulls, net.plain())
    made = Bonds(
        *forces,
        _pointers(members[kept], m),
        number_of_group[owner[kept]][by_node],
        shares[kept][by_node],
        strength[size > LARGE],
        net,
        0.0,
        bool(kept.any() or np.isfinite(forces[2]).any()),
    )
    # The constant is the same for all labels, so it can be read off from all rows in one cluster. Hard links do not
    # contribute to either sum.
    everything = float(pulls[pairs[:, 0] != pairs[:, 1]].sum()) + _sum_group_pulls(made, np.zeros(m, dtype=np.int32))
    return made._replace(constant=broken_weight(soft, np.zeros(soft.n, dtype=np.int32)) - everything)


def _groups(soft: Clues, node: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """(node, group, rows) of every membership, sorted by group and node, and the pull of every group."""
    row, group, pull = list_memberships(soft)
    key, shares = np.unique(group * (len(node) + 1) + node[row], return_counts=True)
    return key % (len(node) + 1), key // (len(node) + 1), shares.astype(np.float64), pull


def _csr(m: int, ends: Ints, pull: Floats, hard: tuple[Ints, Ints]) -> tuple[Ints, Ints, Floats]:
    """All pairs as one CSR matrix; parallel pairs are added up, pulls of 0 dropped."""
    from scipy.sparse import coo_array

    rows = np.repeat(np.arange(m), np.diff(hard[0]))
    apart = ends[:, 0] != ends[:, 1]
    ends, pull = ends[apart], pull[apart]
    first = np.concatenate([ends[:, 0], ends[:, 1], rows])
    second = np.concatenate([ends[:, 1], ends[:, 0], hard[1]])
    value = np.concatenate([pull, pull, np.full(len(rows), np.inf)])
    made = coo_array((value, (first, second)), shape=(m, m)).tocsr()
    made.sum_duplicates()
    made.eliminate_zeros()
    return made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data


def set_price(bonds: Bonds, penalty: float) -> Bonds:
    """Multiply the soft pulls by the price of a unit of weight; a price of 0 leaves only the hard links."""
    if penalty > 0:
        return bonds._replace(
            pull=bonds.pull * penalty, group_pull=bonds.group_pull * penalty, constant=bonds.constant * penalty
        )
    return keep_hard(bonds.net)


def keep_hard(net: Network) -> Bonds:
    """Bonds of a network without soft links."""
    indptr, indices = net.plain()
    pull, none = np.full(len(indices), np.inf), np.empty(0)
    return Bonds(indptr, indices, pull, np.zeros_like(indptr), indptr[:0], none, none, net, 0.0, False)


def price_of(bonds: Bonds, labels: Ints) -> float:
    """Price of the soft links that labels break; infinite if they break a hard one."""
    if bonds.net.broken(labels).any():
        return float("inf")
    return max(bonds.constant + _sum_pulls(bonds, labels), 0.0)


def _sum_pulls(bonds: Bonds, labels: Ints) -> float:
    """Sum of the finite pulls between nodes in the same cluster."""
    row = np.repeat(np.arange(bonds.size), np.diff(bonds.indptr))
    same = (labels[row] == labels[bonds.indices]) & np.isfinite(bonds.pull)
    return 0.5 * float(bonds.pull[same].sum()) + _sum_group_pulls(bonds, labels)


def _sum_group_pulls(bonds: Bonds, labels: Ints) -> float:
    counts = bonds.counts(labels, int(labels.max(initial=0)) + 1)
    alone = np.bincount(bonds.groups, weights=bonds.shares**2, minlength=len(counts))
    return 0.5 * float(bonds.group_pull @ ((counts**2).sum(axis=1) - alone))


def find_violated(bonds: Bonds, labels: Ints, k: int) -> Bools:
    """Nodes that share a cluster with a node that repels them, or not with one that attracts them."""
    row = np.repeat(np.arange(bonds.size), np.diff(bonds.indptr))
    same = labels[row] == labels[bonds.indices]
    wrong = np.zeros(bonds.size, dtype=bool)
    wrong[row[same == (bonds.pull > 0)]] = True
    if len(bonds.groups):
        node = np.repeat(np.arange(bonds.size), np.diff(bonds.node_indptr))
        counts = bonds.counts(labels, k)
        around = counts[bonds.groups, labels[node]]
        split = around < counts.sum(axis=1)[bonds.groups]
        # A node breaks a repelling group if others of the group are in its cluster, an attracting one if any is not.
        wrong[node[np.where(bonds.group_pull[bonds.groups] > 0, around > bonds.shares, split)]] = True
    return wrong


def find_parts(bonds: Bonds) -> Ints:
    """Number of the connected part of every node."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    m, g = bonds.size, len(bonds.group_pull)
    pointers = np.concatenate([bonds.indptr + bonds.node_indptr, np.full(g, len(bonds.indices) + len(bonds.groups))])
    target = np.empty(pointers[-1], np.int64)
    # Groups are additional vertices of this graph: each node lists its neighbors, then its groups.
    at = np.arange(len(bonds.indices)) + np.repeat(bonds.node_indptr[:-1], np.diff(bonds.indptr))
    target[at] = bonds.indices
    at = np.arange(len(bonds.groups)) + np.repeat(bonds.indptr[1:], np.diff(bonds.node_indptr))
    target[at] = m + bonds.groups
    graph = csr_array((np.ones(len(target), np.int8), target, pointers), shape=(m + g, m + g))
    return connected_components(graph, directed=False)[1][:m]


def fold(bonds: Bonds, costs: Floats, labels: Ints, nodes: Ints) -> tuple[Floats, Bonds]:
    """Restrict the problem to some nodes while all others keep their labels, which must be known.

    Pulls from the other nodes become costs of the clusters they are in; the other nodes' own costs are left out.
    """
    k = costs.shape[1]
    number = np.full(bonds.size, -1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    out = costs[nodes].copy()
    row = number[np.repeat(np.arange(bonds.size), np.diff(bonds.indptr))]
    other = number[bonds.indices]
    outward = (row >= 0) & (other < 0)
    np.add.at(out, (row[outward], labels[bonds.indices[outward]]), bonds.pull[outward])
    inward = (row >= 0) & (other >= 0)
    order = np.argsort(row[inward], kind="stable")
    member = number[np.repeat(np.arange(bonds.size), np.diff(bonds.node_indptr))]
    mine = member >= 0
    if mine.any():
        counts = bonds.counts(labels, k)
        np.subtract.at(counts, (bonds.groups[mine], labels[nodes][member[mine]]), bonds.shares[mine])
        strength = bonds.group_pull[bonds.groups[mine]] * bonds.shares[mine]
        np.add.at(out, member[mine], strength[:, None] * counts[bonds.groups[mine]])
    by_node = np.argsort(member[mine], kind="stable")
    pull = bonds.pull[inward][order]
    return out, Bonds(
        _pointers(row[inward], len(nodes)),
        other[inward][order].astype(np.int32),
        pull,
        _pointers(member[mine], len(nodes)),
        bonds.groups[mine][by_node],
        bonds.shares[mine][by_node],
        bonds.group_pull,
        bonds.net.restrict(nodes),
        0.0,
        bool(mine.any() or np.isfinite(pull).any()),
    )


def _pointers(owner: Ints, m: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=m))]).astype(np.int64)
