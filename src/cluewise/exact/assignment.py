"""The cheapest labels that break no hard cannot-link, and how far from the optimum they can be.

A node (must-link component) costs ``costs[i, c]`` in cluster c; nodes that exclude each other must not share one. Only
connected components that the cheapest labels break need work, and of those only what the conflicts reach:

1. valid labels: greedily in smallest-last order, where that fails by search (``feasibility``), made cheaper by swaps
   along Kempe chains;
2. a relaxation that only knows the conflicts of nodes seen in trouble so far. Its optimum is a lower
   bound, and it is the answer as soon as it breaks nothing; otherwise the nodes in trouble are added. Its components
   are mostly trees, settled exactly by folding leaves into their neighbors; the rest is left to branch and bound, and
   what that leaves open to integer programming (``program``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.exact import program
from cluewise.exact._certificates import two_coloring
from cluewise.exact.feasibility import Decision, Witness, color, reduce
from cluewise.exact.network import Network
from cluewise.exact.searches import SLICE, improve, keep_cheaper, plant, rounding, start_repair, total
from cluewise.exceptions import Infeasible, Undecided
from cluewise.kernels import coloring, working_time

__all__ = ["Assignment", "cheapest"]

FAR = 2**31  # branches, more than there is time for
PROOF = 5.0  # seconds to make a witness small
BRANCHES, WORK = 20_000, 20_000_000  # branch and bound per component: branches, and branches × nodes
ROUNDS = 30  # after so many rounds the relaxation gets all conflicts at once


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
    deadline = working_time() + time_limit
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
    cost = float(costs[rows, labels].sum())
    low = min(float(bound.sum()), cost)  # both are sums, rounded
    relative = 0.0 if cost == low else (cost - low) / max(abs(cost), 1e-300)
    return Assignment(labels, cost, low, relative, "optimal" if relative <= gap else "feasible")


def _settle(
    costs: Floats, net: Network, names: Ints, incumbent: Ints | None, deadline: float, gap: float
) -> tuple[Ints, float]:
    """Labels and bound of the components that need work; ``names`` are the numbers of their nodes in messages."""
    k = costs.shape[1]
    if k == 2:
        labels = two_coloring(net, net.explore(), costs)
        if labels is not None and (labels != UNASSIGNED).all():
            return labels, total(costs, labels)
    if k == 2 or len(net.largest_clique()) > k:
        _require(costs, net, names, deadline)  # raises
    # 1. Valid labels: an upper bound, and the answer when time runs out.
    labels = np.full(net.size, UNASSIGNED, np.int32)
    if net.greedy(net.smallest_last(k), costs, labels):
        stuck = net.around(labels == UNASSIGNED)
        if incumbent is not None:
            labels[stuck] = incumbent[stuck]
        else:
            labels[stuck] = _require(costs[stuck], net.restrict(stuck), names[stuck], deadline)
    csr, part = net.plain(), net.explore().component
    best = improve(costs, csr, labels, deadline)
    if incumbent is not None:
        best = keep_cheaper(costs, part, incumbent, best)
    # 2. A relaxation that knows the conflicts of active nodes only. Labels that break something break it between two
    # nodes that are not active yet, so every round adds some and there is an end.
    labels = costs.argmin(axis=1).astype(np.int32)
    lower = costs.min(axis=1)  # by node; that of a solved component is kept at one of its nodes
    active = np.zeros(net.size, bool)
    rounds = 0
    while (hot := net.broken(labels)).any():
        best = keep_cheaper(costs, part, best, _repair(costs, net, csr, labels, hot, best, deadline))
        slack = gap * abs(total(costs, best))
        if total(costs, best) - lower.sum() <= slack or working_time() > deadline:
            return best, float(lower.sum())
        rounds += 1
        active |= hot | (rounds > ROUNDS)
        known = net.touching(active)
        nodes = known.around(hot)
        parts = known.restrict(nodes), net.restrict(nodes)
        labels[nodes], lower[nodes] = _solve(costs[nodes], *parts, best[nodes], lower[nodes], deadline, slack)
    return keep_cheaper(costs, part, best, labels), float(lower.sum())


def _repair(
    costs: Floats, net: Network, csr: tuple[Ints, Ints], labels: Ints, hot: Bools, best: Ints, deadline: float
) -> Ints:
    """Valid labels near ``labels``: greedy for the nodes in trouble, tabu search for those still stuck, or ``best``."""
    near: Ints = np.where(hot, UNASSIGNED, labels).astype(np.int32)
    if net.greedy(np.flatnonzero(hot).astype(np.int32), costs, near):
        repair = start_repair(csr, costs, np.where(near == UNASSIGNED, labels, near))
        if not repair.mend(SLICE):
            return best
        near = repair.labels
    return improve(costs, csr, near, deadline)


def _solve(
    costs: Floats, net: Network, full: Network, best: Ints, known: Floats, deadline: float, slack: float
) -> tuple[Ints, Floats]:
    """Cheapest labels of every component, and lower bounds (by node, like those ``known`` from the round before).

    Integer programs, which are slow anyway, get all conflicts between their nodes (from ``full``) at once.
    """
    # Nodes with one neighbor left are leaves of a tree: folded into that neighbor, they need no search.
    order, _ = net.peel(floor=2, cap=2)
    csr = net.plain()
    folded, removed = costs.copy(), np.zeros(net.size, bool)
    rows = max(1, SLICE // (2 * costs.shape[1]))
    for at in range(0, len(order), rows):
        coloring.fold(*csr, order, at, min(at + rows, len(order)), folded, removed)
    labels = np.where(removed, UNASSIGNED, best).astype(np.int32)
    loose: list[tuple[Ints, float]] = []
    if len(order) < net.size:
        core = np.flatnonzero(~removed)
        parts = net.restrict(core), full.restrict(core)
        labels[core], loose = _solve_cores(folded[core], *parts, best[core], deadline, slack)
        loose = [(core[nodes], bound) for nodes, bound in loose]
    net.greedy(order[::-1].copy(), folded, labels)
    lower = costs[np.arange(net.size), labels]
    if loose:
        component = net.explore().component
        for nodes, bound in loose:
            whole = component == component[nodes[0]]
            lower[whole] = 0.0
            lower[nodes[0]] = max(bound, float(known[whole].sum()))
    return labels, lower


def _solve_cores(
    costs: Floats, net: Network, full: Network, best: Ints, deadline: float, slack: float
) -> tuple[Ints, list[tuple[Ints, float]]]:
    """Branch and bound on every component, integer programming on those it leaves open.

    Returns labels and, of components whose labels are not proved to be the cheapest, nodes and lower bound.
    """
    nodes, starts, net = net.blocks()
    costs, best = costs[nodes], best[nodes]
    value = np.add.reduceat(costs[np.arange(len(costs)), best], starts[:-1])
    limit = np.clip(WORK // np.diff(starts), 100, BRANCHES)
    tree = plant(net.plain(), costs, starts, best=best, value=value, tolerance=rounding(costs), limit=limit)
    tree.run(deadline)
    unsolved = np.flatnonzero(~tree.solved)
    loose = []
    for i in unsolved[np.argsort(np.diff(starts)[unsolved], kind="stable")]:
        part = np.arange(starts[i], starts[i + 1])
        whole = full.restrict(nodes[part])
        found = program.solve(costs[part], whole, tree.best[part], deadline, slack / len(unsolved))
        if found.labels is not None and total(costs[part], found.labels) < tree.value[i]:
            tree.best[part] = found.labels
        bound = max(found.bound, float(tree.lower[i]))
        if bound < total(costs[part], tree.best[part]):
            loose.append((nodes[part], bound))
    labels = np.empty(len(nodes), np.int32)
    labels[nodes] = tree.best
    return labels, loose


def _require(costs: Floats, net: Network, names: Ints, deadline: float) -> Ints:
    """Valid labels of a part, or the exception that says why there are none."""
    k = costs.shape[1]
    allowed = None if np.isfinite(costs).all() else np.isfinite(costs)
    now = working_time()
    found = color(net, k, allowed, FAR, now + (deadline - now) / 2)
    if found.colors is not None:
        return found.colors
    proof = min(deadline, working_time() + PROOF)
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
