"""Can k clusters satisfy the clues? Certificates first, then a search with limits, and a witness when they cannot.

Cannot-links between must-link components form a network that has to be coloured with k colours: easy for k ≤ 2,
NP-complete above. All functions here take the network as two CSR tuples: pairs of nodes, and cliques.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.clues import _network
from cluewise.clues._certificates import find_clique
from cluewise.clues._coloring import Decision, attempt
from cluewise.clues._network import Csr, Network
from cluewise.clues._sizes import sizes_feasible

__all__ = [
    "Decision",
    "Witness",
    "color",
    "decide",
    "find_clique",
    "irreducible",
    "reduce",
    "sizes_feasible",
]

_NO_CLIQUES = (np.zeros(1, np.int64), np.empty(0, np.int32))


class Witness(NamedTuple):
    """Nodes that cannot be spread over the clusters because of ``edges`` between them."""

    nodes: Ints
    edges: Ints


def decide(graph: Csr, cliques: Csr, k: int, *, node_limit: int = 100_000, time_limit: float = 2.0) -> Decision:
    """Decide, and say why.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = (np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]))
    >>> nothing = (np.array([0]), np.array([], dtype=int))
    >>> decide(triangle, nothing, 3).colors.tolist()
    [2, 1, 0]
    >>> decide(triangle, nothing, 2).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    deadline = monotonic() + time_limit
    names, *linked = _network.busy(graph, cliques)
    net = _network.network(*linked)
    found = attempt(net, k, None, node_limit, deadline)
    if found.status == "infeasible" and not found.irreducible:
        assert found.nodes is not None
        nodes, edges, complete = reduce(net, found.nodes, k, node_limit, deadline)
        reason = "clique" if len(nodes) == k + 1 else found.reason
        found = Decision("infeasible", None, nodes, edges, reason, complete)
    return _renamed(found, names, len(graph[0]) - 1)


def _renamed(found: Decision, names: Ints, size: int) -> Decision:
    """A decision about the nodes ``names`` of a network of ``size`` nodes, of which the others may be anywhere."""
    colors = None
    if found.colors is not None:
        colors = np.zeros(size, dtype=np.int32)
        colors[names] = found.colors
    nodes = None if found.nodes is None else names[found.nodes]
    edges = None if found.edges is None else names[found.edges]
    return found._replace(colors=colors, nodes=nodes, edges=edges)


def color(
    graph: Csr,
    cliques: Csr,
    k: int,
    *,
    allowed: Bools | None = None,
    node_limit: int = 100_000,
    time_limit: float = 2.0,
) -> tuple[str, Ints | None]:
    """Status and, when feasible, a cluster for each node; ``allowed`` (nodes × k) may forbid clusters.

    Examples
    --------
    >>> import numpy as np
    >>> path = (np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]))
    >>> status, colors = color(path, (np.array([0]), np.array([], dtype=int)), 2)
    >>> status, colors.tolist()
    ('feasible', [0, 1, 0])
    """
    net = _network.network(graph, cliques)
    found = attempt(net, k, allowed, node_limit, monotonic() + time_limit)
    return found.status, found.colors


def irreducible(
    graph: Csr, cliques: Csr, nodes: Ints, k: int, *, node_limit: int = 100_000, time_limit: float = 5.0
) -> tuple[Ints, Ints, bool]:
    """Nodes and edges of an infeasible part of ``nodes`` that is feasible without any one of them.

    The third value says whether that was proved for all of them within the limits; otherwise the part is infeasible
    but may be larger than needed.
    """
    net = _network.network(graph, cliques)
    return reduce(net, np.asarray(nodes), k, node_limit, monotonic() + time_limit)


def reduce(
    net: Network, nodes: Ints, k: int, node_limit: int, deadline: float, allowed: Bools | None = None
) -> tuple[Ints, Ints, bool]:
    """Deletion filter: leave out nodes in ever smaller lots, then single edges, as long as it stays infeasible."""
    part = _network.restrict(net, nodes)
    if np.diff(part.clique_indptr).max(initial=0) > k:
        # More members than this are never needed, and there may be too many to expand into pairs.
        first = part.clique_indptr[np.argmax(np.diff(part.clique_indptr))]
        nodes = nodes[part.clique_members[first : first + k + 1]]
        part = _network.restrict(net, nodes)
    pairs = _network.edges(_network.network(_network.plain(part), _NO_CLIQUES))
    filter_ = _Filter(k, node_limit, deadline, None if allowed is None else allowed[nodes])
    lot = max(1, len(nodes) // 2)
    while True:
        remaining = np.unique(pairs)
        for start in range(0, len(remaining), lot):
            first, second = np.isin(pairs, remaining[start : start + lot]).T
            pairs = filter_.without(pairs, first | second)
        if lot == 1:
            break
        lot = max(1, min(lot, len(np.unique(pairs))) // 2)
    for pair in pairs.copy():
        first, second = np.equal(pairs, pair).T
        pairs = filter_.without(pairs, first & second)
    edges = np.sort(nodes[pairs], axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    return np.unique(edges), edges, filter_.complete


class _Filter:
    """Leaves pairs out as long as the rest is provably infeasible."""

    def __init__(self, k: int, node_limit: int, deadline: float, allowed: Bools | None) -> None:
        self.k, self.node_limit, self.deadline, self.allowed = k, node_limit, deadline, allowed
        self.complete = True

    def without(self, pairs: Ints, gone: Bools) -> Ints:
        """An infeasible part of the other pairs, or all of ``pairs`` when there is none (or no proof)."""
        if not gone.any():
            return pairs
        if monotonic() > self.deadline:
            self.complete = False
            return pairs
        rest = pairs[~gone]
        names, local = np.unique(rest, return_inverse=True)
        net = _network.network(_network.from_edges(len(names), local.reshape(-1, 2)), _NO_CLIQUES)
        allowed = None if self.allowed is None else self.allowed[names]
        found = attempt(net, self.k, allowed, self.node_limit, self.deadline)
        if found.status != "infeasible":
            self.complete &= found.status == "feasible"
            return pairs
        return rest[np.isin(rest, names[found.nodes]).all(axis=1)]
