"""The cheapest labels of nodes under hard and soft links, and how far from the optimum they can be.

Only connected parts that the nearest clusters break need work. There the hard links alone are settled (`exact`),
which is a start and a lower bound; moves and shakes make it cheaper (`moves`); where it has to be as good as can
be, integer programs prove small parts optimal and improve large ones a few nodes at a time.
"""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.centroid._pccc import soft_program
from cluewise.centroid._pccc.bonds import Bonds, fold, parts, troubled
from cluewise.centroid._pccc.frustration import frustration
from cluewise.centroid._pccc.moves import Moves, values
from cluewise.exact.assignment import cheapest
from cluewise.exact.feasibility import Witness
from cluewise.exceptions import Infeasible

__all__ = ["Settled", "settle"]

GAP = 1e-6
FEW = 300  # nodes under hard links that are always settled exactly
PASSING = 1e-2  # gap with which more of them are left at first, where a greedy pass ends in a dead end
SHAKES, MANY = (6, 3), (300, 60)  # attempts to leave a local optimum, and how many in vain: in passing, in earnest
BATCH = 1_500  # entries of a program that is mostly solved in some ten milliseconds
WHOLE = 4_000  # entries of a part that is worth an attempt at a proof
PROOF = 0.1  # share of the time left that such an attempt may take
VAIN = 10  # programs on a few nodes in a row that change nothing


class Settled(NamedTuple):
    """Labels of all nodes, what they cost (distances and pulls), and a lower bound on what any cost."""

    labels: Ints
    cost: float
    bound: float


def settle(costs: Floats, bonds: Bonds, incumbent: Ints | None, deadline: float, earnest: bool) -> Settled:
    """Labels that break no hard link and cost no more than ``incumbent`` (valid labels).

    ``earnest`` takes the time it needs up to ``deadline``; otherwise a good answer is enough. Raises as
    `cheapest` does.
    """
    k = costs.shape[1]
    labels = costs.argmin(axis=1).astype(np.int32)
    hot = troubled(bonds, labels, k)
    if not hot.any():
        cost = float(values(costs, bonds, labels).sum())
        return Settled(labels, cost, cost)
    part = parts(bonds)
    nodes = np.flatnonzero(np.isin(part, part[hot]))
    some, inner = fold(bonds, costs, labels, nodes)
    old = None if incumbent is None else incumbent[nodes]
    try:
        labels[nodes], low = _settle(some, inner, old, deadline, earnest)
    except Infeasible as error:
        witness = Witness(nodes[error.witness.nodes], nodes[error.witness.edges])
        raise Infeasible(str(error), witness) from None
    calm = np.ones(len(costs), dtype=bool)
    calm[nodes] = False
    each = values(costs, bonds, labels)
    return Settled(labels, float(each.sum()), min(float(each[calm].sum()) + low, float(each.sum())))


def _settle(costs: Floats, bonds: Bonds, old: Ints | None, deadline: float, earnest: bool) -> tuple[Ints, float]:
    start, low = _under_hard_links(costs, bonds, old, deadline, earnest)
    if not bonds.soft and (earnest or _few(costs)):
        return start, low
    moves = Moves(costs, bonds, start, deadline)
    moves.descend()
    if old is not None:
        moves.descend(old)
        moves.offer(old)
    low += _attraction(bonds)
    if bonds.soft:
        moves.shake(*SHAKES)
    if bonds.soft and earnest:
        low = max(low + frustration(bonds, costs.shape[1]), _prove(moves, costs.min(axis=1)))
        if moves.cost - low > GAP * abs(moves.cost):
            moves.shake(*MANY)
            _reopen(moves)
    return moves.labels, low


def _few(costs: Floats) -> bool:
    """Whether hard links are settled exactly even in passing; with two clusters that takes no search."""
    return len(costs) <= FEW or costs.shape[1] == 2


def _under_hard_links(
    costs: Floats, bonds: Bonds, old: Ints | None, deadline: float, earnest: bool
) -> tuple[Ints, float]:
    """Labels that break no hard link, and what any cost at least: the cheapest in earnest, else a good start."""
    net, gap = bonds.net, GAP
    if not (earnest or _few(costs)):
        labels = np.full(len(costs), UNASSIGNED, np.int32)
        stuck = net.greedy(net.smallest_last(costs.shape[1]), costs, labels)
        if not stuck or old is not None:
            return (old.astype(np.int32) if stuck and old is not None else labels), float(costs.min(axis=1).sum())
        gap = PASSING
    left = max(deadline - monotonic(), 0.0)
    found = cheapest(costs, net, incumbent=old, time_limit=left, gap=gap)
    return found.labels.astype(np.int32), found.bound


def _attraction(bonds: Bonds) -> float:
    """What pulls come to at least: every attraction holds and no repelled pair shares a cluster."""
    pairs = 0.5 * float(bonds.pull[bonds.pull < 0].sum())
    total = np.bincount(bonds.groups, weights=bonds.shares, minlength=len(bonds.group_pull))
    alone = np.bincount(bonds.groups, weights=bonds.shares**2, minlength=len(bonds.group_pull))
    return pairs + 0.5 * float(np.minimum(bonds.group_pull, 0.0) @ (total**2 - alone))


def _prove(moves: Moves, least: Floats) -> float:
    """Solve the parts that are small enough, several in one program; the sum of all lower bounds."""
    bonds, work = moves.bonds, _work(moves)
    order = np.argsort(work, kind="stable")
    small = order[work[order] <= WHOLE]
    batch = np.cumsum(work[small]) // BATCH
    low = 0.0
    for number in np.unique(batch):
        nodes = np.flatnonzero(np.isin(moves.part, small[batch == number]))
        costs, inner = fold(bonds, moves.costs, moves.labels, nodes)
        until = moves.deadline  # small ones do not take long
        if work[small[batch == number]].sum() > BATCH:
            until = monotonic() + PROOF * max(moves.deadline - monotonic(), 0.0)
        slack = GAP * abs(float(values(costs, inner, moves.labels[nodes]).sum()))
        found = soft_program.solve(costs, inner, moves.labels[nodes], until, slack)
        low += max(found.bound, float(least[nodes].sum()) + _attraction(inner))
        if found.labels is not None:
            labels = moves.labels.copy()
            labels[nodes] = found.labels
            moves.offer(labels)
    nodes = np.flatnonzero(np.isin(moves.part, order[work[order] > WHOLE]))
    if len(nodes):
        inner = fold(bonds, moves.costs, moves.labels, nodes)[1]
        low += float(least[nodes].sum()) + _attraction(inner)
    return low


def _work(moves: Moves) -> Floats:
    """About how many entries a program for each part has."""
    bonds = moves.bonds
    size = np.bincount(bonds.groups, minlength=len(bonds.group_pull))
    node = np.repeat(np.arange(bonds.size), np.diff(bonds.node_indptr))
    met = np.diff(bonds.indptr) + np.bincount(node, weights=size[bonds.groups], minlength=bonds.size)
    return np.bincount(moves.part, weights=moves.costs.shape[1] * (1 + 2 * met)).astype(np.float64)


def _reopen(moves: Moves) -> None:
    """Large parts: open a troubled node and those that it pulls at most, solve for them, until that is in vain."""
    bonds, k = moves.bonds, moves.costs.shape[1]
    work = _work(moves)
    rng = np.random.default_rng(0)
    vain = 0
    while vain < VAIN and not moves.late:
        hot = troubled(bonds, moves.labels, k) & (work > WHOLE)[moves.part]
        if not hot.any():
            return
        nodes = _around(bonds, rng.choice(np.flatnonzero(hot)), k)
        costs, inner = fold(bonds, moves.costs, moves.labels, nodes)
        found = soft_program.solve(costs, inner, moves.labels[nodes], min(moves.deadline, monotonic() + 1.0), 0.0)
        labels = moves.labels.copy()
        if found.labels is not None:
            labels[nodes] = found.labels
        vain = 0 if moves.offer(labels) else vain + 1


def _around(bonds: Bonds, seed: int, k: int) -> Ints:
    """A node and its neighbors, strongest pull first, then theirs, as many as make a small program."""
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
