"""Exact labels by a relaxation that learns which conflicts matter; see ``assignment``."""

from __future__ import annotations

from time import monotonic

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.exact import program
from cluewise.exact._searches import SLICE, plant, start_repair
from cluewise.exact.local import improve, keep_cheaper, rounding, total
from cluewise.exact.network import Network
from cluewise.kernels import coloring

__all__ = ["relax"]

BRANCHES, WORK = 20_000, 20_000_000  # branch and bound per component: branches, and branches × nodes
ROUNDS = 30  # after so many rounds the relaxation gets all conflicts at once


def relax(
    costs: Floats, net: Network, csr: tuple[Ints, Ints], start: Ints, deadline: float, gap: float
) -> tuple[Ints, float]:
    """Cheapest valid labels (or the best in time) and a lower bound of their cost; ``start`` are valid labels.

    The relaxation knows the conflicts of ``active`` nodes only. Labels that break something break it between two nodes
    that are not active yet, so every round adds some and there is an end.
    """
    best, part = start, net.explore().component
    labels: Ints = costs.argmin(axis=1).astype(np.int32)
    lower = costs.min(axis=1)  # by node; that of a solved component is kept at one of its nodes
    active = np.zeros(net.size, bool)
    rounds = 0
    while True:
        hot = net.broken(labels)
        if not hot.any():
            return keep_cheaper(costs, part, best, labels), float(lower.sum())
        best = keep_cheaper(costs, part, best, _repair(costs, net, csr, labels, hot, best, deadline))
        slack = gap * abs(total(costs, best))
        if total(costs, best) - lower.sum() <= slack or monotonic() > deadline:
            return best, float(lower.sum())
        rounds += 1
        active |= hot | (rounds > ROUNDS)
        known = net.touching(active)
        nodes = known.around(hot)
        parts = known.restrict(nodes), net.restrict(nodes)
        labels[nodes], lower[nodes] = _solve(costs[nodes], *parts, best[nodes], lower[nodes], deadline, slack)


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
