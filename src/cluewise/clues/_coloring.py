"""Colour a network with k colours: what is easy is settled first, a search with limits does the rest.

A node with fewer than k neighbours never matters, so only the k-core is searched (no k-core at all is the degeneracy
certificate), one connected component at a time.
"""

from __future__ import annotations

from itertools import combinations
from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import _branch, _network
from cluewise.clues._certificates import grow_clique, odd_cycle, two_coloring
from cluewise.clues._network import Network

__all__ = ["Decision", "attempt"]

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
