"""The cheapest labels that break no hard cannot-link, and how far from the optimum they can be.

A node (must-link component) costs ``costs[i, c]`` in cluster c; nodes that exclude each other must not share one. Only
connected components that the cheapest labels break need work, and of those only what the conflicts reach:

1. valid labels: greedily in smallest-last order, where that fails by search (``clues._feasibility``), made cheaper by
   swaps along Kempe chains;
2. a relaxation that only knows the conflicts of nodes seen in trouble so far. Its optimum is a lower bound, and it
   is the answer as soon as it breaks nothing; else the nodes in trouble are added. Its components are mostly
   trees, settled exactly by folding leaves into their neighbours; the rest is left to branch and bound, and what
   that leaves open to integer programming.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.clues import _network
from cluewise.clues._certificates import two_coloring
from cluewise.clues._coloring import attempt
from cluewise.clues._feasibility import Witness, reduce
from cluewise.clues._network import Csr, Network
from cluewise.core.exact import _program, _relaxation
from cluewise.core.exact._local import improve
from cluewise.exceptions import Infeasible, Undecided

__all__ = ["Assignment", "Witness", "cheapest"]

FAR = 2**31  # no degree and no number of branches gets there
PROOF = 5.0  # seconds to make a witness small


class Assignment(NamedTuple):
    """Labels of all nodes, their cost, a proved lower bound, (cost − bound) / |cost|, "optimal" or "feasible"."""

    labels: Ints
    cost: float
    bound: float
    gap: float
    status: str


def cheapest(
    costs: Floats,
    graph: Csr,
    cliques: Csr,
    *,
    incumbent: Ints | None = None,
    time_limit: float = 30.0,
    gap: float = 1e-6,
) -> Assignment:
    """The cheapest cluster for each node such that no two nodes that exclude each other share one.

    The result is always valid and never dearer than ``incumbent`` (valid labels). A cost of ∞ forbids a cluster.
    ``status`` is "optimal" when the gap is at most ``gap``. The same input gives the same result as long as
    ``time_limit`` (seconds) is not reached. Ctrl-C is answered within some 0.2 s.

    Raises
    ------
    Infeasible
        There are no valid labels; ``witness`` holds nodes and edges that prove it, irreducible where that could be
        shown in time.
    Undecided
        None were found, nor a proof that there are none, within ``time_limit``.

    Examples
    --------
    Nodes 0–1, 0–3 and 2–3 exclude each other; each would rather be in the same cluster as its neighbour.

    >>> import numpy as np
    >>> costs = np.array([[0.0, 1], [1, 0], [100, 81], [121, 100]])
    >>> graph = np.array([0, 2, 3, 4, 6]), np.array([1, 3, 0, 3, 0, 2])
    >>> found = cheapest(costs, graph, (np.array([0]), np.array([], dtype=int)))
    >>> found.labels.tolist(), found.cost, found.status
    ([0, 1, 0, 1], 200.0, 'optimal')
    """
    deadline = monotonic() + time_limit
    costs = np.require(costs, np.float64, ["C", "W"])
    net = _network.network(graph, cliques)
    labels = costs.argmin(axis=1).astype(np.int32)
    rows = np.arange(len(costs))
    nowhere = np.flatnonzero(np.isinf(costs[rows, labels]))
    if len(nowhere):
        raise Infeasible(
            f"node {nowhere[0]} is allowed in no cluster.", Witness(nowhere[:1], np.empty((0, 2), np.int64))
        )
    if incumbent is not None and _network.broken(net, np.asarray(incumbent)).any():
        raise ValueError("incumbent gives two nodes that exclude each other the same cluster.")
    hot = _network.broken(net, labels)
    bound = costs[rows, labels]
    if hot.any():
        tour = _network.explore(net)
        concerned = np.zeros(tour.total, bool)
        concerned[tour.component[hot]] = True
        nodes = np.flatnonzero(concerned[tour.component])
        old = None if incumbent is None else np.asarray(incumbent)[nodes].astype(np.int32)
        part = _network.restrict(net, nodes)
        labels[nodes], low = _settle(costs[nodes], part, nodes, old, deadline, gap)
        bound[nodes] = 0.0
        bound[nodes[0]] = low
    return _result(labels, float(costs[rows, labels].sum()), float(bound.sum()), gap)


def _result(labels: Ints, cost: float, bound: float, gap: float) -> Assignment:
    bound = min(bound, cost)  # both are sums, rounded
    relative = 0.0 if cost == bound else (cost - bound) / max(abs(cost), 1e-300)
    return Assignment(labels, cost, bound, relative, "optimal" if relative <= gap else "feasible")


def _settle(
    costs: Floats, net: Network, names: Ints, incumbent: Ints | None, deadline: float, gap: float
) -> tuple[Ints, float]:
    """Labels and bound of the components that need work; ``names`` are the numbers of their nodes in messages."""
    k = costs.shape[1]
    if k == 2:
        labels = two_coloring(net, _network.explore(net), costs)
        if labels is not None and (labels != UNASSIGNED).all():
            return labels, float(costs[np.arange(len(costs)), labels].sum())
    if k == 2 or np.diff(net.clique_indptr).max(initial=0) > k:
        _require(costs, net, names, deadline)
    csr = _network.plain(net)
    start = improve(costs, csr, _valid(costs, net, names, incumbent, deadline), deadline)
    if incumbent is not None:
        start = _relaxation.cheaper(costs, net, incumbent, start)
    return _relaxation.exact(costs, net, csr, start, deadline, gap)


def _valid(costs: Floats, net: Network, names: Ints, incumbent: Ints | None, deadline: float) -> Ints:
    """Labels that break nothing: greedy, or the incumbent, or by search."""
    order, _ = _network.peel(net, floor=FAR, cap=costs.shape[1])
    labels = np.full(net.size, UNASSIGNED, np.int32)
    if _network.greedy(net, order[::-1].copy(), costs, labels) == 0:
        return labels
    component = _network.explore(net).component
    nodes = np.flatnonzero(np.isin(component, component[labels == UNASSIGNED]))
    if incumbent is not None:
        labels[nodes] = incumbent[nodes]
    else:
        labels[nodes] = _require(costs[nodes], _network.restrict(net, nodes), names[nodes], deadline)
    return labels


def _require(costs: Floats, net: Network, names: Ints, deadline: float) -> Ints:
    """Valid labels of a part, or the exception that says why there are none."""
    k = costs.shape[1]
    allowed = None if np.isfinite(costs).all() else np.isfinite(costs)
    now = monotonic()
    found = attempt(net, k, allowed, FAR, now + (deadline - now) / 2)
    if found.colors is not None:
        return found.colors
    nodes, edges, proof = found.nodes, found.edges, min(deadline, monotonic() + PROOF)
    if found.status == "undecided":
        solution = _program.solve(costs, net, None, deadline, np.inf)
        if solution.labels is not None:
            return solution.labels
        if solution.status != "infeasible":
            raise Undecided(
                f"no way to spread {net.size} nodes that exclude each other over {k} clusters was found in time."
            )
        nodes, proof = np.arange(net.size), 0.0  # what the search could not prove it cannot reduce
    assert nodes is not None
    if edges is None:
        nodes, edges, _ = reduce(net, nodes, k, FAR, proof, allowed)
    shown = ", ".join(map(str, names[nodes[:10]])) + (", …" if len(nodes) > 10 else "")
    raise Infeasible(f"nodes {shown} cannot be spread over {k} clusters.", Witness(names[nodes], names[edges]))
