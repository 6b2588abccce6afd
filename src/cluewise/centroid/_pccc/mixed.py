"""Cheap labels of nodes under hard and soft links, and a lower bound on the optimum.

Only connected parts in which the nearest clusters break a link need work. There, a search under the hard links alone
(`exact`) gives a start and a lower bound, and local moves and random restarts lower the cost (`moves`). A thorough
assignment also uses integer programs, which prove small parts optimal and improve large ones a few nodes at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.centroid._pccc import soft_program
from cluewise.centroid._pccc.bonds import Bonds, find_parts, find_violated, fold
from cluewise.centroid._pccc.frustration import bound_frustration
from cluewise.centroid._pccc.moves import Moves, node_costs
from cluewise.exact.assignment import cheapest
from cluewise.exact.feasibility import Witness
from cluewise.exact.network import Network
from cluewise.exceptions import Infeasible
from cluewise.kernels import working_time

__all__ = ["Assignment", "settle"]

GAP = 1e-6
FEW = 300  # number of nodes up to which hard links are always solved exactly
QUICK_GAP = 1e-2  # gap of the search for more nodes in a quick assignment, if the greedy pass reaches a dead end
SHAKES, MANY = (6, 3), (300, 60)  # attempts to leave a local optimum, and how many may fail in a row: quick, thorough
BATCH = 1_500  # entries of a program that is usually solved in about ten milliseconds
WHOLE = 4_000  # maximum number of entries of a part to prove optimal
PROOF = 0.1  # share of the remaining time for one such proof
PATIENCE = 10  # number of programs on a few nodes that may fail in a row


class Assignment(NamedTuple):
    """Labels of all nodes, their cost (distances and pulls), and a lower bound on the cost of any labels."""

    labels: Ints
    cost: float
    bound: float


def settle(costs: Floats, bonds: Bonds, incumbent: Ints | None, deadline: float, thorough: bool) -> Assignment:
    """Labels that break no hard link and cost no more than ``incumbent`` (valid labels).

    A ``thorough`` assignment takes the time it needs up to ``deadline``; otherwise a good one is enough. Raises the
    errors of `cheapest`.
    """
    k = costs.shape[1]
    labels = costs.argmin(axis=1).astype(np.int32)
    hot = find_violated(bonds, labels, k)
    if not hot.any():
        cost = float(node_costs(costs, bonds, labels).sum())
        return Assignment(labels, cost, cost)
    part = find_parts(bonds)
    nodes = np.flatnonzero(np.isin(part, part[hot]))
    some, inner = fold(bonds, costs, labels, nodes)
    old = None if incumbent is None else incumbent[nodes]
    exact = thorough or len(nodes) <= FEW or k == 2  # two clusters need no search
    try:
        labels[nodes], low = _solve_hard_links(some, inner.net, old, deadline, exact)
    except Infeasible as error:
        witness = Witness(nodes[error.witness.nodes], nodes[error.witness.edges])
        raise Infeasible(str(error), witness) from None
    if inner.soft or not exact:
        moves = Moves(some, inner, labels[nodes], deadline)
        low = _improve(moves, old, low + _bound_pulls(inner), thorough)
        labels[nodes] = moves.labels
    calm = np.ones(len(costs), dtype=bool)
    calm[nodes] = False
    each = node_costs(costs, bonds, labels)
    return Assignment(labels, float(each.sum()), min(float(each[calm].sum()) + low, float(each.sum())))


def _solve_hard_links(
    costs: Floats, net: Network, old: Ints | None, deadline: float, exact: bool
) -> tuple[Ints, float]:
    """Labels that break no hard link, optimal if ``exact`` and else a good start, and a lower bound on their cost."""
    if not exact:
        labels = np.full(len(costs), UNASSIGNED, np.int32)
        stuck = net.greedy(net.smallest_last(costs.shape[1]), costs, labels)
        if not stuck or old is not None:
            return (old if stuck and old is not None else labels), float(costs.min(axis=1).sum())
    left = max(deadline - working_time(), 0.0)
    found = cheapest(costs, net, incumbent=old, time_limit=left, gap=GAP if exact else QUICK_GAP)
    return found.labels, found.bound


def _improve(moves: Moves, old: Ints | None, low: float, thorough: bool) -> float:
    """Lower the cost by moves, from the labels of ``moves`` and from old ones; return a bound, at least ``low``."""
    moves.descend()
    if old is not None:
        moves.descend(old)
        moves.offer(old)
    if not moves.bonds.soft:
        return low
    moves.shake(*SHAKES)
    if thorough:
        costs = moves.costs
        low = max(low + bound_frustration(moves.bonds, costs.shape[1]), _prove(moves, costs.min(axis=1)))
        if moves.cost - low > GAP * abs(moves.cost):
            moves.shake(*MANY)
            _improve_large_parts(moves)
    return low


def _bound_pulls(bonds: Bonds) -> float:
    """Lower bound on the sum of pulls: every attraction holds and no repelling pair shares a cluster."""
    pairs = 0.5 * float(bonds.pull[bonds.pull < 0].sum())
    total = np.bincount(bonds.groups, weights=bonds.shares, minlength=len(bonds.group_pull))
    alone = np.bincount(bonds.groups, weights=bonds.shares**2, minlength=len(bonds.group_pull))
    return pairs + 0.5 * float(np.minimum(bonds.group_pull, 0.0) @ (total**2 - alone))


def _prove(moves: Moves, least: Floats) -> float:
    """Solve the parts that are small enough, several in one program; return the sum of all lower bounds."""
    bonds, work = moves.bonds, _program_sizes(moves)
    order = np.argsort(work, kind="stable")
    small = order[work[order] <= WHOLE]
    batch = np.cumsum(work[small]) // BATCH
    low = 0.0
    for number in np.unique(batch):
        nodes = np.flatnonzero(np.isin(moves.part, small[batch == number]))
        costs, inner = fold(bonds, moves.costs, moves.labels, nodes)
        until = moves.deadline  # small programs do not take long
        if work[small[batch == number]].sum() > BATCH:
            until = working_time() + PROOF * max(moves.deadline - working_time(), 0.0)
        slack = GAP * abs(float(node_costs(costs, inner, moves.labels[nodes]).sum()))
        found = soft_program.solve(costs, inner, moves.labels[nodes], until, slack)
        low += max(found.bound, float(least[nodes].sum()) + _bound_pulls(inner))
        if found.labels is not None:
            labels = moves.labels.copy()
            labels[nodes] = found.labels
            moves.offer(labels)
    nodes = np.flatnonzero(np.isin(moves.part, order[work[order] > WHOLE]))
    if len(nodes):
        inner = fold(bonds, moves.costs, moves.labels, nodes)[1]
        low += float(least[nodes].sum()) + _bound_pulls(inner)
    return low


def _program_sizes(moves: Moves) -> Floats:
    """Approximate number of entries of a program for each part."""
    bonds = moves.bonds
    size = np.bincount(bonds.groups, minlength=len(bonds.group_pull))
    node = np.repeat(np.arange(bonds.size), np.diff(bonds.node_indptr))
    met = np.diff(bonds.indptr) + np.bincount(node, weights=size[bonds.groups], minlength=bonds.size)
    return np.bincount(moves.part, weights=moves.costs.shape[1] * (1 + 2 * met)).astype(np.float64)


def _improve_large_parts(moves: Moves) -> None:
    """Solve again for a node with a broken link and its strongest neighbors, in large parts, until that fails often."""
    bonds, k = moves.bonds, moves.costs.shape[1]
    work = _program_sizes(moves)
    rng = np.random.default_rng(0)
    vain = 0
    while vain < PATIENCE and not moves.late:
        hot = find_violated(bonds, moves.labels, k) & (work > WHOLE)[moves.part]
        if not hot.any():
            return
        nodes = _neighborhood(bonds, rng.choice(np.flatnonzero(hot)), k)
        costs, inner = fold(bonds, moves.costs, moves.labels, nodes)
        found = soft_program.solve(costs, inner, moves.labels[nodes], min(moves.deadline, working_time() + 1.0), 0.0)
        labels = moves.labels.copy()
        if found.labels is not None:
            labels[nodes] = found.labels
        vain = 0 if moves.offer(labels) else vain + 1


def _neighborhood(bonds: Bonds, seed: int, k: int) -> Ints:
    """A node, its neighbors, strongest pull first, then theirs, up to the size of a small program."""
    taken, size, queue = {int(seed)}, 0, [int(seed)]
    while queue and size < BATCH:
        i = queue.pop(0)
        span = slice(bonds.indptr[i], bonds.indptr[i + 1])
        near = bonds.indices[span][np.argsort(-np.abs(bonds.pull[span]), kind="stable")]
        for j in near.tolist():
            if j not in taken and size < BATCH:
                taken.add(j)
                queue.append(j)
                size = k * (len(taken) + len(taken) ** 2)
    return np.array(sorted(taken))
