"""Exact labels of one hard component: by assignment when it is a clique, else by integer programming."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.exact import highs
from cluewise.exact.network import Network
from cluewise.exact.searches import Shaker, total
from cluewise.kernels import working_time

__all__ = ["Solution", "cover", "solve"]

MERGE = 20_000  # pairs; above it looking for cliques among them takes longer than it saves


class Solution(NamedTuple):
    """``status`` is "optimal", "infeasible" or "limit"; ``labels`` the best found, or None; ``bound`` proved."""

    status: str
    labels: Ints | None
    bound: float


def solve(costs: Floats, net: Network, best: Ints | None, deadline: float, slack: float) -> Solution:
    """Cheapest labels of a network without isolated nodes, to within ``slack``, given valid labels ``best``.

    Without ``best`` the first valid labels will do.
    """
    csr = net.plain()
    m = len(costs)
    if len(csr[1]) == m * (m - 1):
        return _assignment(costs)
    least = costs.min(axis=1)
    excess = costs - least[:, None]
    # A cluster whose excess alone uses up the room of the known labels cannot be part of anything better.
    room = np.inf if best is None else float(excess[np.arange(m), best].sum())
    open_ = excess <= room * (1 + 1e-9)
    open_ &= np.isfinite(costs)
    _dominate(csr, excess, open_)
    scale = float(excess[open_].max(initial=0.0)) or 1.0
    program, node, cluster = _program(excess / scale, cover(net), open_, room / scale)
    gap = 1.0 if best is None else min(1.0, slack / max(room, 1e-300))
    shaker = None if best is None else Shaker(costs, csr, best)
    answer = highs.solve(program, deadline - working_time(), max(gap, 1e-9), None if shaker is None else shaker.shake)
    bound = float(least.sum()) + scale * max(answer.bound, 0.0)
    labels = None if answer.x is None else _read(net, answer.x > 0.5, node, cluster)
    if answer.status == "optimal" and labels is not None:
        return Solution("optimal", labels, bound)
    if shaker is not None and (labels is None or shaker.value < total(costs, labels)):
        labels = shaker.labels
    return Solution("infeasible" if answer.status == "infeasible" else "limit", labels, bound)


def _read(net: Network, chosen: Bools, node: Ints, cluster: Ints) -> Ints | None:
    """Labels from the variables of a program; None when they are not valid (a solver has tolerances)."""
    labels = np.full(net.size, UNASSIGNED, np.int32)
    labels[node[chosen]] = cluster[chosen]
    return None if (labels == UNASSIGNED).any() or net.broken(labels).any() else labels


def _assignment(costs: Floats) -> Solution:
    """All nodes exclude each other: at most one per cluster."""
    from scipy.optimize import linear_sum_assignment

    try:
        nodes, clusters = linear_sum_assignment(costs)
    except ValueError:
        return Solution("infeasible", None, np.inf)
    if len(nodes) < len(costs):
        return Solution("infeasible", None, np.inf)
    return Solution("optimal", clusters.astype(np.int32), float(costs[nodes, clusters].sum()))


def _dominate(csr: tuple[Ints, Ints], excess: Floats, open_: Bools) -> None:
    """Close clusters that an optimum can do without: those that cost more than one that no neighbor can take."""
    indptr, indices = csr
    while True:
        taken = np.logical_or.reduceat(open_[indices], indptr[:-1], axis=0)  # no row of the CSR is empty
        safe = np.where(open_ & ~taken, excess, np.inf).min(axis=1)
        closed = open_ & (excess > safe[:, None])
        if not closed.any():
            return
        open_ &= ~closed


def cover(net: Network) -> list[Ints]:
    """Cliques that cover all pairs: larger cliques make fewer rows and a much better bound."""
    cliques: list[Ints] = [
        net.clique_members[a:b].astype(np.int64) for a, b in zip(net.clique_indptr[:-1], net.clique_indptr[1:])
    ]
    pairs = net.edges
    if len(pairs) > MERGE:
        return cliques + list(pairs)
    around = [set(net.indices[a:b].tolist()) for a, b in zip(net.indptr[:-1], net.indptr[1:])]
    covered: set[tuple[int, int]] = set()
    for a, b in pairs.tolist():
        if (a, b) in covered:
            continue
        clique, common = [a, b], around[a] & around[b]
        while common:
            v = min(common)
            clique.append(v)
            common &= around[v]
        clique.sort()
        covered.update((u, v) for i, u in enumerate(clique) for v in clique[i + 1 :])
        cliques.append(np.array(clique))
    return cliques


def _program(excess: Floats, cliques: list[Ints], open_: Bools, ceiling: float) -> tuple[highs.Program, Ints, Ints]:
    """One variable per open (node, cluster); a row per node, and one per clique and cluster that two could take."""
    number = np.full(open_.shape, -1, np.int64)
    number[open_] = np.arange(open_.sum())
    node, cluster = np.nonzero(open_)
    lists = [row[row >= 0] for row in number]
    exact = len(lists)  # one cluster for each node; at most one node of a clique in each cluster
    for clique in cliques:
        lists += [column[column >= 0] for column in number[clique].T if (column >= 0).sum() > 1]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    indices = np.concatenate(lists)
    least = np.where(np.arange(len(lists)) < exact, 1.0, -np.inf)
    ones = np.ones(max(len(indices), len(lists)))
    program = highs.Program(
        excess[open_], indptr, indices, ones[: len(indices)], least, ones[: len(lists)], ones[: len(node)], ceiling
    )
    return program, node, cluster
