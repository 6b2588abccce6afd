"""Can k clusters satisfy the clues? Certificates first, then a search with limits, and a witness when they cannot.

Cannot-links between must-link components form a network that has to be coloured with k colours: easy for k ≤ 2,
NP-complete above. What makes it easy in practice: a node with fewer than k neighbours never matters, so only the
k-core is searched (no k-core at all is the degeneracy certificate), one connected component at a time.
"""

from __future__ import annotations

from itertools import combinations
from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import _branch, _network
from cluewise.clues._certificates import find_clique, grow_clique, odd_cycle, two_coloring
from cluewise.clues._network import Csr, Network
from cluewise.clues._sizes import sizes_feasible

__all__ = [
    "Decision",
    "Witness",
    "attempt",
    "color",
    "decide",
    "find_clique",
    "irreducible",
    "odd_cycle",
    "reduce",
    "sizes_feasible",
    "two_coloring",
]

SLICE = 2_000_000  # kernel steps (some ten milliseconds) between two looks at the clock
TRY = 1_000  # branches after which a component gets a search of its own


class Decision(NamedTuple):
    """Whether k clusters are enough.

    ``status`` is "feasible" (``colors``: a cluster for each node), "infeasible" or "undecided". Of an infeasible
    network ``nodes`` and ``edges`` (pairs of nodes) are a part that is infeasible by itself; ``irreducible`` says
    that it would not be without any one of them. ``reason``: "clique" (these nodes all exclude each other), "odd
    cycle", "search"; of other answers "greedy", "search" or "limit".
    """

    status: str
    colors: Ints | None
    nodes: Ints | None
    edges: Ints | None
    reason: str
    irreducible: bool = False


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
    net = _network.network(graph, cliques)
    found = attempt(net, k, None, node_limit, deadline)
    if found.status != "infeasible" or found.irreducible:
        return found
    assert found.nodes is not None
    nodes, edges, complete = reduce(net, found.nodes, k, node_limit, deadline)
    reason = "clique" if len(nodes) == k + 1 else found.reason
    return Decision("infeasible", None, nodes, edges, reason, complete)


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


def attempt(net: Network, k: int, allowed: Bools | None, node_limit: int, deadline: float) -> Decision:
    """Like ``decide``; an infeasible part is a whole component unless ``irreducible`` says otherwise."""
    size = np.diff(net.clique_indptr)
    if size.max(initial=0) > k:
        first = net.clique_indptr[np.argmax(size)]
        return _clique(net.clique_members[first : first + k + 1])
    if k == 1 and len(net.indices):
        v = int(np.flatnonzero(np.diff(net.indptr))[0])
        return _clique(np.array([v, net.indices[net.indptr[v]]]))
    costs = np.zeros((net.size, k)) if allowed is None else np.where(allowed, 0.0, np.inf)
    if k == 2:
        return _two(net, costs)
    # A forbidden cluster is one choice less, like a neighbour that has it.
    extra = 0 if allowed is None else (~allowed).sum(axis=1)
    order, _ = _network.peel(net, floor=k, cap=k, extra=extra)
    colors = np.full(net.size, UNASSIGNED, np.int32)
    reason = "greedy"
    if len(order) < net.size:
        reason = "search"
        core = np.setdiff1d(np.arange(net.size), order)
        failed = _search_core(net, core, costs, colors, allowed is None, node_limit, deadline)
        if failed is not None:
            return failed
    _network.greedy(net, order[::-1].copy(), costs, colors)
    return Decision("feasible", colors, None, None, reason)


def _search_core(
    net: Network, core: Ints, costs: Floats, colors: Ints, symmetric: bool, node_limit: int, deadline: float
) -> Decision | None:
    """Colour the components of the k-core, in place; the decision when one of them cannot be, or not in time."""
    part, starts, inner = _network.blocks(_network.restrict(net, core))
    nodes, k = core[part], costs.shape[1]
    limit = min(node_limit, TRY)
    tree = _branch.plant(_network.plain(inner), costs[nodes], starts, symmetric=symmetric, limit=limit)
    while not _branch.grow(tree, SLICE) and monotonic() < deadline:
        pass
    ended = (tree.nodes >= 0) & (np.arange(len(tree.nodes)) < tree.state[0])
    colors[nodes] = tree.best
    by_size = np.argsort(np.diff(starts), kind="stable")
    for i in by_size[(ended & np.isinf(tree.value))[by_size]][:1]:
        return Decision("infeasible", None, nodes[starts[i] : starts[i + 1]], None, "search")
    undecided = None
    for i in by_size[~ended[by_size]]:
        block = np.arange(starts[i], starts[i + 1])
        csr = _network.plain(_network.restrict(inner, block))
        clique = grow_clique(csr, k + 1)
        if len(clique) > k:
            return _clique(nodes[block[clique]])
        status, found = _portfolio(csr, costs[nodes[block]], symmetric, node_limit, deadline)
        if status == "infeasible":
            return Decision("infeasible", None, nodes[block], None, "search")
        if status == "undecided":
            undecided = Decision("undecided", None, nodes[block], None, "limit")
            if monotonic() > deadline:
                break
        colors[nodes[block]] = found
    return undecided


def _portfolio(
    csr: tuple[Ints, Ints], costs: Floats, symmetric: bool, node_limit: int, deadline: float
) -> tuple[str, Ints]:
    """Branch and bound (which can prove) and tabu search (which finds more) take turns on one component."""
    tree = _branch.plant(csr, costs, np.array([0, len(costs)]), symmetric=symmetric, limit=node_limit)
    repair = _branch.start_repair(csr, costs, costs.argmin(axis=1))
    budget = SLICE // 10  # most components need no more
    while True:
        ended = _branch.grow(tree, budget)
        if np.isfinite(tree.value[0]):
            return "feasible", tree.best
        if ended and tree.nodes[0] >= 0:
            return "infeasible", tree.best
        if costs.min(axis=1).max() < np.inf and _branch.mend(repair, budget):
            return "feasible", repair.labels
        if ended or monotonic() > deadline:
            return "undecided", tree.best
        budget = SLICE


def _clique(nodes: Ints) -> Decision:
    nodes = np.sort(nodes).astype(np.int64)
    return Decision("infeasible", None, nodes, np.array(list(combinations(nodes, 2))), "clique", True)


def _two(net: Network, costs: Floats) -> Decision:
    tour = _network.explore(net)
    labels = two_coloring(net, tour, costs)
    if labels is None:
        cycle = odd_cycle(net, tour)
        edges = np.sort(np.column_stack([cycle, np.roll(cycle, -1)]), axis=1)
        edges = edges[np.lexsort(edges.T[::-1])]
        reason = "clique" if len(cycle) == 3 else "odd cycle"
        return Decision("infeasible", None, np.sort(cycle), edges, reason, True)
    if (labels == UNASSIGNED).any():
        nodes = np.flatnonzero(tour.component == tour.component[labels == UNASSIGNED][0])
        return Decision("infeasible", None, nodes, None, "search")
    return Decision("feasible", labels, None, None, "greedy")


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
    size = np.diff(part.clique_indptr)
    if size.max(initial=0) > k:
        first = part.clique_indptr[np.argmax(size)]
        found = _clique(nodes[part.clique_members[first : first + k + 1]])
        return found.nodes, found.edges, True  # type: ignore[return-value]
    pairs = _network.edges(_network.network(_network.plain(part), _NO_CLIQUES))
    filter_ = _Filter(k, node_limit, deadline, None if allowed is None else allowed[nodes])
    lot = max(1, len(nodes) // 2)
    while True:
        remaining = np.unique(pairs)
        for start in range(0, len(remaining), lot):
            gone = np.isin(pairs, remaining[start : start + lot]).any(axis=1)
            pairs = filter_.without(pairs, gone)
        if lot == 1:
            break
        lot = max(1, min(lot, len(np.unique(pairs))) // 2)
    for pair in pairs.copy():
        gone = np.asarray(pairs == pair).all(axis=1)
        pairs = filter_.without(pairs, gone)
    edges = np.sort(np.asarray(nodes)[pairs], axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    return np.unique(edges), edges, filter_.complete


_NO_CLIQUES = (np.zeros(1, np.int64), np.empty(0, np.int32))


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
