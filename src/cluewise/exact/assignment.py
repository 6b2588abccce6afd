"""The cheapest labels that break no hard cannot-link, and how far from the optimum they can be.

A node (must-link component) costs ``costs[i, c]`` in cluster c; nodes that exclude each other must not share one. Only
connected components that the cheapest labels break need work, and of those only what the conflicts reach:

1. valid labels: greedily in smallest-last order, where that fails by search (``coloring``), made cheaper by swaps along
   Kempe chains (``local``);
2. a relaxation (``_relaxation``) that only knows the conflicts of nodes seen in trouble so far. Its optimum is a lower
   bound, and it is the answer as soon as it breaks nothing; otherwise the nodes in trouble are added. Its components
   are mostly trees, settled exactly by folding leaves into their neighbors; the rest is left to branch and bound, and
   what that leaves open to integer programming (``program``).
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.exact import program
from cluewise.exact._certificates import two_coloring
from cluewise.exact._relaxation import relax
from cluewise.exact.coloring import Decision, color
from cluewise.exact.feasibility import Witness, reduce
from cluewise.exact.local import improve, keep_cheaper
from cluewise.exact.network import Network
from cluewise.exceptions import Infeasible, Undecided

__all__ = ["Assignment", "cheapest"]

FAR = 2**31  # branches, more than there is time for
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
    net: Network,
    *,
    incumbent: Ints | None = None,
    time_limit: float = 30.0,
    gap: float = 1e-6,
) -> Assignment:
    """The cheapest cluster for each node such that no two nodes that exclude each other share one.

    The result is always valid and costs no more than ``incumbent`` (valid labels). A cost of ∞ forbids a cluster.
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
    Nodes 0–1, 0–3 and 2–3 exclude each other; each would rather be in the same cluster as its neighbor.

    >>> import numpy as np
    >>> costs = np.array([[0.0, 1], [1, 0], [100, 81], [121, 100]])
    >>> net = Network.of_pairs(4, np.array([[0, 1], [0, 3], [2, 3]]))
    >>> found = cheapest(costs, net)
    >>> found.labels.tolist(), found.cost, found.status
    ([0, 1, 0, 1], 200.0, 'optimal')
    """
    deadline = monotonic() + time_limit
    costs = np.require(costs, np.float64, ["C", "W"])
    labels = costs.argmin(axis=1).astype(np.int32)
    rows = np.arange(len(costs))
    nowhere = np.flatnonzero(np.isinf(costs[rows, labels]))
    if len(nowhere):
        raise Infeasible(
            f"node {nowhere[0]} is allowed in no cluster.", Witness(nowhere[:1], np.empty((0, 2), np.int64))
        )
    if incumbent is not None and net.broken(np.asarray(incumbent)).any():
        raise ValueError("incumbent gives two nodes that exclude each other the same cluster.")
    hot = net.broken(labels)
    bound = costs[rows, labels]
    if hot.any():
        nodes = net.around(hot)
        old = None if incumbent is None else np.asarray(incumbent)[nodes].astype(np.int32)
        labels[nodes], low = _settle(costs[nodes], net.restrict(nodes), nodes, old, deadline, gap)
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
        labels = two_coloring(net, net.explore(), costs)
        if labels is not None and (labels != UNASSIGNED).all():
            return labels, float(costs[np.arange(len(costs)), labels].sum())
    if k == 2 or len(net.largest_clique()) > k:
        _require(costs, net, names, deadline)  # raises
    csr = net.plain()
    start = improve(costs, csr, _valid(costs, net, names, incumbent, deadline), deadline)
    if incumbent is not None:
        start = keep_cheaper(costs, net.explore().component, incumbent, start)
    return relax(costs, net, csr, start, deadline, gap)


def _valid(costs: Floats, net: Network, names: Ints, incumbent: Ints | None, deadline: float) -> Ints:
    """Labels that break nothing: greedy, or the incumbent, or by search."""
    labels = np.full(net.size, UNASSIGNED, np.int32)
    if net.greedy(net.smallest_last(costs.shape[1]), costs, labels) == 0:
        return labels
    nodes = net.around(labels == UNASSIGNED)
    if incumbent is not None:
        labels[nodes] = incumbent[nodes]
    else:
        labels[nodes] = _require(costs[nodes], net.restrict(nodes), names[nodes], deadline)
    return labels


def _require(costs: Floats, net: Network, names: Ints, deadline: float) -> Ints:
    """Valid labels of a part, or the exception that says why there are none."""
    k = costs.shape[1]
    allowed = None if np.isfinite(costs).all() else np.isfinite(costs)
    now = monotonic()
    found = color(net, k, allowed, FAR, now + (deadline - now) / 2)
    if found.colors is not None:
        return found.colors
    proof = min(deadline, monotonic() + PROOF)
    if found.status == "undecided":
        solution = program.solve(costs, net, None, deadline, np.inf)
        if solution.labels is not None:
            return solution.labels
        if solution.status != "infeasible":
            raise Undecided(
                f"no way to spread {net.size} nodes that exclude each other over {k} clusters was found in time."
            )
        # What the search could not prove it cannot reduce, either: all nodes are the witness.
        found, proof = Decision("infeasible", "search", nodes=np.arange(net.size)), 0.0
    nodes, edges = found.nodes, found.edges
    assert nodes is not None
    if edges is None:
        nodes, edges, _ = reduce(net, nodes, k, FAR, proof, allowed)
    shown = ", ".join(map(str, names[nodes[:10]])) + (", …" if len(nodes) > 10 else "")
    raise Infeasible(f"nodes {shown} cannot be spread over {k} clusters.", Witness(names[nodes], names[edges]))
