"""Exact labels by a relaxation that learns which conflicts matter; see ``search``."""

from __future__ import annotations

from time import monotonic

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.clues import _branch, _network
from cluewise.clues._network import Network
from cluewise.core.exact import _program
from cluewise.core.exact._local import improve, rounding, total
from cluewise.kernels import coloring

__all__ = ["cheaper", "exact"]

SLICE = 2_000_000  # kernel steps (some ten milliseconds) between two looks at the clock and at Ctrl-C
BRANCHES, WORK = 20_000, 20_000_000  # branch and bound per component: branches, and branches × nodes
ROUNDS = 30  # after so many rounds the relaxation gets all conflicts at once


def exact(
    costs: Floats, net: Network, csr: tuple[Ints, Ints], start: Ints, deadline: float, gap: float
) -> tuple[Ints, float]:
    """Cheapest valid labels (or the best in time) and a lower bound of their cost; ``start`` are valid labels.

    The relaxation knows the conflicts of ``active`` nodes only. Labels that break something break it between two nodes
    that are not active yet, so every round adds some and there is an end.
    """
    best = start
    labels: Ints = costs.argmin(axis=1).astype(np.int32)
    lower = costs.min(axis=1)  # by node; that of a solved component stands at one of its nodes
    active = np.zeros(net.size, bool)
    rounds = 0
    while True:
        hot = _network.broken(net, labels)
        if not hot.any():
            return cheaper(costs, net, best, labels), float(lower.sum())
        best = cheaper(costs, net, best, _repaired(costs, net, csr, labels, hot, best, deadline))
        slack = gap * abs(total(costs, best))
        if total(costs, best) - lower.sum() <= slack or monotonic() > deadline:
            return best, float(lower.sum())
        rounds += 1
        active |= hot | (rounds > ROUNDS)
        known = _touching(net, active)
        component = _network.explore(known).component
        nodes = np.flatnonzero(np.isin(component, component[hot]))
        parts = _network.restrict(known, nodes), _network.restrict(net, nodes)
        labels[nodes], lower[nodes] = _solve(costs[nodes], *parts, best[nodes], lower[nodes], deadline, slack)


def cheaper(costs: Floats, net: Network, old: Ints, new: Ints) -> Ints:
    """For each component the cheaper of two valid labellings, the old one when they cost the same."""
    tour = _network.explore(net)
    rows = np.arange(net.size)
    change = np.bincount(tour.component, costs[rows, new] - costs[rows, old], tour.total)
    return np.where((change < 0)[tour.component], new, old)


def _repaired(
    costs: Floats, net: Network, csr: tuple[Ints, Ints], labels: Ints, hot: Bools, best: Ints, deadline: float
) -> Ints:
    """Valid labels near ``labels``: greedy for the nodes in trouble, tabu search for those still stuck, or ``best``."""
    near: Ints = np.where(hot, UNASSIGNED, labels).astype(np.int32)
    if _network.greedy(net, np.flatnonzero(hot).astype(np.int32), costs, near):
        repair = _branch.start_repair(csr, costs, np.where(near == UNASSIGNED, labels, near))
        if not _branch.mend(repair, SLICE):
            return best
        near = repair.labels
    return improve(costs, csr, near, deadline)


def _touching(net: Network, active: Bools) -> Network:
    """Only the pairs and cliques with an active node."""
    pairs = _network.edges(net)
    csr = _network.from_edges(net.size, pairs[active[pairs].any(axis=1)])
    size = np.diff(net.clique_indptr)
    owner = np.repeat(np.arange(len(size)), size)
    kept = np.bincount(owner, active[net.clique_members], len(size)) > 0
    indptr = np.concatenate([[0], np.cumsum(size[kept])])
    return _network.network(csr, (indptr, net.clique_members[kept[owner]]))


def _solve(
    costs: Floats, net: Network, full: Network, best: Ints, known: Floats, deadline: float, slack: float
) -> tuple[Ints, Floats]:
    """Cheapest labels of every component, and lower bounds (by node, like those ``known`` from the round before).

    Integer programs, which are slow anyway, get all conflicts between their nodes (from ``full``) at once.
    """
    order, _ = _network.peel(net, floor=2, cap=2)
    csr = _network.plain(net)
    folded, removed = costs.copy(), np.zeros(net.size, bool)
    rows = max(1, SLICE // (2 * costs.shape[1]))
    for at in range(0, len(order), rows):
        coloring.fold(*csr, order, at, min(at + rows, len(order)), folded, removed)
    labels = np.where(removed, UNASSIGNED, best).astype(np.int32)
    loose: list[tuple[Ints, float]] = []
    if len(order) < net.size:
        core = np.flatnonzero(~removed)
        parts = _network.restrict(net, core), _network.restrict(full, core)
        labels[core], loose = _solve_cores(folded[core], *parts, best[core], deadline, slack)
        loose = [(core[nodes], bound) for nodes, bound in loose]
    _network.greedy(net, order[::-1].copy(), folded, labels)
    lower = costs[np.arange(net.size), labels]
    if loose:
        component = _network.explore(net).component
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
    nodes, starts, net = _network.blocks(net)
    costs, best = costs[nodes], best[nodes]
    value = np.add.reduceat(costs[np.arange(len(costs)), best], starts[:-1])
    limit = np.clip(WORK // np.diff(starts), 100, BRANCHES)
    tolerance = rounding(costs)
    csr = _network.plain(net)
    tree = _branch.plant(csr, costs, starts, best=best, value=value, tolerance=tolerance, limit=limit)
    while not _branch.grow(tree, SLICE) and monotonic() < deadline:
        pass
    unsolved = np.flatnonzero((tree.nodes < 0) | (np.arange(len(value)) >= tree.state[0]))
    loose = []
    for i in unsolved[np.argsort(np.diff(starts)[unsolved], kind="stable")]:
        part = np.arange(starts[i], starts[i + 1])
        found = _program.solve(
            costs[part], _network.restrict(full, nodes[part]), tree.best[part], deadline, slack / len(unsolved)
        )
        if found.labels is not None and total(costs[part], found.labels) < tree.value[i]:
            tree.best[part] = found.labels
        bound = max(found.bound, float(tree.lower[i]))
        if bound < total(costs[part], tree.best[part]):
            loose.append((nodes[part], bound))
    labels = np.empty(len(nodes), np.int32)
    labels[nodes] = tree.best
    return labels, loose
