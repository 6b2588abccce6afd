"""Can k clusters hold a network? If not, a witness says why, as small as can be.

Deciding this is coloring a graph with k colors: easy for k ≤ 2, NP-complete above. What is easy is settled first, a
search with limits does the rest. A node with fewer than k neighbors can always be colored last, so only the k-core is
searched, one connected component at a time; where there is no k-core a greedy pass is the answer.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.exact._certificates import grow_clique, odd_cycle, two_coloring
from cluewise.exact.network import Network
from cluewise.exact.searches import SLICE, plant, start_repair
from cluewise.kernels import working_time

__all__ = ["Decision", "Witness", "color", "decide", "reduce"]

TRY = 1_000  # branches after which a component gets a search of its own


class Decision(NamedTuple):
    """Whether k clusters are enough.

    ``status`` is "feasible" (``colors``: a cluster for each node), "infeasible" or "undecided". Of an infeasible
    network ``nodes`` and ``edges`` (pairs of nodes) are a part that is infeasible by itself; ``irreducible`` says
    that it would not be without any one of them. ``reason``: "clique" (these nodes all exclude each other), "odd
    cycle", "search"; of other answers "greedy", "search" or "limit".
    """

    status: str
    reason: str
    colors: Ints | None = None
    nodes: Ints | None = None
    edges: Ints | None = None
    irreducible: bool = False


class Witness(NamedTuple):
    """Nodes that cannot be spread over the clusters because of ``edges`` between them."""

    nodes: Ints
    edges: Ints


def decide(net: Network, k: int, *, node_limit: int = 100_000, time_limit: float = 2.0) -> Decision:
    """Decide, and say why.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = Network.of_pairs(3, np.array([[0, 1], [0, 2], [1, 2]]))
    >>> decide(triangle, 3).colors.tolist()
    [2, 1, 0]
    >>> decide(triangle, 2).edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    deadline = working_time() + time_limit
    found = color(net, k, None, node_limit, deadline)
    if found.status == "infeasible" and found.edges is None:
        assert found.nodes is not None
        nodes, edges, complete = reduce(net, found.nodes, k, node_limit, deadline)
        reason = "clique" if len(nodes) == k + 1 else found.reason
        return Decision("infeasible", reason, nodes=nodes, edges=edges, irreducible=complete)
    return found


def color(net: Network, k: int, allowed: Bools | None, node_limit: int, deadline: float) -> Decision:
    """Color a network, or say which part of it cannot be; ``allowed`` (nodes × k) may forbid clusters.

    The part is a whole component (without ``edges``) unless ``irreducible`` says otherwise.
    """
    if not net.size:
        return Decision("feasible", "greedy", np.empty(0, np.int32))
    largest = net.largest_clique()
    if len(largest) > k:
        return _clique(largest[: k + 1])
    if k == 1 and len(net.indices):
        v = int(np.flatnonzero(np.diff(net.indptr))[0])
        return _clique(np.array([v, net.indices[net.indptr[v]]]))
    costs = np.zeros((net.size, k)) if allowed is None else np.where(allowed, 0.0, np.inf)
    if k == 2:
        return _two(net, costs)
    # A forbidden cluster is one choice less, like a neighbor that has it.
    extra = 0 if allowed is None else (~allowed).sum(axis=1)
    order, _ = net.peel(floor=k, cap=k, extra=extra)
    colors = np.full(net.size, UNASSIGNED, np.int32)
    reason = "greedy"
    if len(order) < net.size:
        reason = "search"
        core = np.setdiff1d(np.arange(net.size), order)
        failed = _search_core(net, core, costs, colors, allowed is None, node_limit, deadline)
        if failed is not None:
            return failed
    # In reverse order each node has fewer than k colored neighbors, so a color is left for it.
    net.greedy(order[::-1].copy(), costs, colors)
    return Decision("feasible", reason, colors)


def _search_core(
    net: Network, core: Ints, costs: Floats, colors: Ints, symmetric: bool, node_limit: int, deadline: float
) -> Decision | None:
    """Color the components of the k-core, in place; the decision when one of them cannot be, or not in time."""
    part, starts, inner = net.restrict(core).blocks()
    nodes, k = core[part], costs.shape[1]
    tree = plant(inner.plain(), costs[nodes], starts, symmetric=symmetric, limit=min(node_limit, TRY))
    tree.run(deadline)
    solved = tree.solved
    colors[nodes] = tree.best
    by_size = np.argsort(np.diff(starts), kind="stable")  # the smallest impossible part makes the best witness
    for i in by_size[(solved & np.isinf(tree.value))[by_size]][:1]:
        return Decision("infeasible", "search", nodes=nodes[starts[i] : starts[i + 1]])
    undecided = None
    for i in by_size[~solved[by_size]]:
        block = np.arange(starts[i], starts[i + 1])
        csr = inner.restrict(block).plain()
        clique = grow_clique(csr, k + 1)
        if len(clique) > k:
            return _clique(nodes[block[clique]])
        status, found = _portfolio(csr, costs[nodes[block]], symmetric, node_limit, deadline)
        if status == "infeasible":
            return Decision("infeasible", "search", nodes=nodes[block])
        if status == "undecided":
            undecided = Decision("undecided", "limit")
            if working_time() > deadline:
                break
        colors[nodes[block]] = found
    return undecided


def _portfolio(
    csr: tuple[Ints, Ints], costs: Floats, symmetric: bool, node_limit: int, deadline: float
) -> tuple[str, Ints]:
    """Branch and bound (which can prove) and tabu search (which finds more) take turns on one component."""
    tree = plant(csr, costs, np.array([0, len(costs)]), symmetric=symmetric, limit=node_limit)
    repair = start_repair(csr, costs, costs.argmin(axis=1))
    budget = SLICE // 10  # most components need no more
    while True:
        ended = tree.grow(budget)
        if np.isfinite(tree.value[0]):
            return "feasible", tree.best
        if ended and tree.nodes[0] >= 0:
            return "infeasible", tree.best
        if costs.min(axis=1).max() < np.inf and repair.mend(budget):
            return "feasible", repair.labels
        if ended or working_time() > deadline:
            return "undecided", tree.best
        budget = SLICE


def _clique(nodes: Ints) -> Decision:
    nodes = np.sort(nodes).astype(np.int64)
    edges = np.array(list(combinations(nodes, 2)))
    return Decision("infeasible", "clique", nodes=nodes, edges=edges, irreducible=True)


def _two(net: Network, costs: Floats) -> Decision:
    tour = net.explore()
    labels = two_coloring(net, tour, costs)
    if labels is None:
        cycle = odd_cycle(net, tour)
        edges = np.sort(np.column_stack([cycle, np.roll(cycle, -1)]), axis=1)
        edges = edges[np.lexsort(edges.T[::-1])]
        reason = "clique" if len(cycle) == 3 else "odd cycle"
        return Decision("infeasible", reason, nodes=np.sort(cycle), edges=edges, irreducible=True)
    if (labels == UNASSIGNED).any():
        nodes = np.flatnonzero(tour.component == tour.component[labels == UNASSIGNED][0])
        return Decision("infeasible", "search", nodes=nodes)
    return Decision("feasible", "greedy", labels)


def reduce(
    net: Network, nodes: Ints, k: int, node_limit: int, deadline: float, allowed: Bools | None = None
) -> tuple[Ints, Ints, bool]:
    """Nodes and edges of an infeasible part of ``nodes`` that is feasible without any one of them.

    A deletion filter: leave out nodes in ever smaller lots, then single edges, as long as the rest stays infeasible.
    The third value says whether every step was decided within the limits; otherwise the part is infeasible but may be
    larger than needed.
    """
    part = net.restrict(nodes)
    largest = part.largest_clique()
    if len(largest) > k:
        # More members than this are never needed, and there may be too many to expand into pairs.
        nodes = nodes[largest[: k + 1]]
        part = net.restrict(nodes)
    pairs = Network.build(part.plain()).edges
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
        if working_time() > self.deadline:
            self.complete = False
            return pairs
        rest = pairs[~gone]
        names, local = np.unique(rest, return_inverse=True)
        net = Network.of_pairs(len(names), local.reshape(-1, 2))
        allowed = None if self.allowed is None else self.allowed[names]
        found = color(net, self.k, allowed, self.node_limit, self.deadline)
        if found.status != "infeasible":
            self.complete &= found.status == "feasible"
            return pairs
        return rest[np.isin(rest, names[found.nodes]).all(axis=1)]
