"""The cheapest labels of nodes and free rows within bounds on the sizes of clusters.

Given the labels of the nodes, free rows are assigned optimally by minimum-cost flow (`flow`). The prices of the flow
say what a place in each cluster is worth; the nodes are assigned again with their mass at these prices, and so on a
few times. The same prices give a Lagrangian lower bound. Because nodes differ in mass, this is bin packing: an integer
program solves small problems, and improves the nodes and rows with the smallest lead of large ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.centroid._pccc import soft_program
from cluewise.centroid._pccc.bonds import Bonds, fold, keep_hard
from cluewise.centroid._pccc.mixed import GAP, settle
from cluewise.centroid._pccc.moves import move_costs, node_costs
from cluewise.centroid._pccc.soft_program import Room
from cluewise.centroid._sized import flow
from cluewise.centroid._sized.capacities import capacities_of
from cluewise.centroid._sized.sizes import bounds_of
from cluewise.clues import Clues
from cluewise.core.rows import Rows
from cluewise.exact.network import Network
from cluewise.exceptions import Infeasible, Undecided
from cluewise.kernels import working_time

__all__ = ["SizedAssignment", "Items", "Limits", "fill", "items_of", "limits_of"]

ROUNDS = 5
SMALL = 1_500  # maximum number of entries of a program that is solved in every step
OPEN = 20_000  # maximum number of entries of the program at the end
TURN = 5.0  # time limit of a program in every step, in seconds; it usually needs a hundredth of that
PROOF = 0.3  # share of the remaining time for a program in a thorough assignment


class Limits(NamedTuple):
    """Bounds on the mass of each cluster, and the mass of every row (None: 1)."""

    lower: Floats  # (k,)
    upper: Floats  # (k,)
    mass: Floats | None


class Items(NamedTuple):
    """Everything that is assigned: nodes with their bonds, and free rows; made by `items_of`."""

    costs: Floats  # (m, k) of the nodes
    bonds: Bonds
    mass: Floats  # (m,)
    free: Floats  # (f, k) costs of the free rows, each of mass 1

    def cost(self, nodes: Ints, free: Ints) -> float:
        """Distances and pulls of the labels of nodes and free rows."""
        rows = self.free[np.arange(len(free)), free]
        return float(node_costs(self.costs, self.bonds, nodes).sum()) + float(rows.sum())


class SizedAssignment(NamedTuple):
    """Labels within the limits, their cost, and a lower bound on the cost of any labels."""

    nodes: Ints
    free: Ints
    cost: float
    bound: float


def limits_of(clues: Clues, k: int, rows: Rows) -> Limits | None:
    """Bounds on sizes, in rows or, for rows of unequal weight, in weight; None if the clues do not bound sizes."""
    capacities = capacities_of(clues, k, rows)
    if capacities is not None:
        return Limits(*capacities)
    bounds = bounds_of(clues, k, rows)
    return None if bounds is None else Limits(bounds.lower.astype(float), bounds.upper.astype(float), None)


def items_of(costs: Floats, bonds: Bonds, mass: Floats, free: Floats, free_mass: Floats | None) -> Items:
    """Nodes and free rows; free rows of unequal mass become nodes, because flow needs units."""
    if free_mass is None:
        return Items(costs, bonds, mass, free)
    wide = _with_isolated(bonds, len(free))
    return Items(np.vstack([costs, free]), wide, np.concatenate([mass, free_mass]), free[:0])


def fill(
    items: Items, limits: Limits, previous: tuple[Ints, Ints] | None, deadline: float, thorough: bool
) -> SizedAssignment:
    """Labels within the limits that break no hard link and cost no more than ``previous`` (valid labels).

    Raises
    ------
    Infeasible
        There are no such labels.
    Undecided
        Neither labels nor a proof that there are none were found in time.
    """
    room = Room(items.mass, limits.lower, limits.upper, float(len(items.free)))
    best = None if previous is None else SizedAssignment(*previous, items.cost(*previous), -np.inf)
    best = _by_prices(items, room, best, deadline)
    if best.cost - best.bound <= GAP * abs(best.cost):
        return best
    size = soft_program.count_entries(items.bonds, items.costs.shape[1]) + items.free.size
    if size <= SMALL or thorough:
        left = max(deadline - working_time(), 0.0)
        return _by_program(items, room, best, working_time() + (PROOF * left if thorough else min(left, TURN)))
    return best


def _by_prices(items: Items, room: Room, best: SizedAssignment | None, deadline: float) -> SizedAssignment:
    """Alternate between nodes at given prices and free rows by flow, which gives new prices; labels are valid."""
    price: Floats = np.zeros(items.costs.shape[1])
    every, bound = np.ones(len(items.costs), dtype=bool), -np.inf
    for _ in range(ROUNDS):
        old = None if best is None else best.nodes
        found = settle(items.costs - items.mass[:, None] * price, items.bonds, old, deadline, False)
        bound = max(bound, found.bound + _bound_rest(items, room, price))
        around = _place_by_flow(items, room, found.labels, every if room.holds(found.labels) else _find_fixed(items))
        if around is None and best is None:
            around = _place_by_flow(items, room, _pack(items, room, deadline), every)
        if around is None:
            break
        if best is None or around[0].cost < best.cost:
            best = around[0]
        if np.array_equal(around[1], price) or working_time() > deadline:
            break
        price = around[1]
    assert best is not None
    # Now let the light nodes, too, move with the flow.
    for _ in range(ROUNDS if items.bonds.soft else 0):
        around = _place_by_flow(items, room, best.nodes, _find_fixed(items))
        if around is None or around[0].cost >= best.cost or working_time() > deadline:
            break
        best = around[0]
    return best._replace(bound=min(bound, best.cost))


def _find_fixed(items: Items) -> Bools:
    """Nodes that a flow cannot move: those with hard links and those of several rows."""
    hard = np.isinf(items.bonds.pull)
    row = np.repeat(np.arange(items.bonds.size), np.diff(items.bonds.indptr))
    return (np.bincount(row[hard], minlength=items.bonds.size) > 0) | (items.mass != 1)


def _place_by_flow(items: Items, room: Room, nodes: Ints, stay: Bools) -> tuple[SizedAssignment, Floats] | None:
    """Assign free rows, and nodes that need not stay, optimally given the others; return prices of places, too.

    Soft links of moving nodes are priced as if their neighbors stayed, which makes the result heuristic. None if there
    is no room.
    """
    k, slack = items.costs.shape[1], room.slack
    moving = np.flatnonzero(~stay)
    costs = np.vstack([move_costs(items.costs, items.bonds, nodes)[moving], items.free])
    load = np.bincount(nodes[stay], weights=items.mass[stay], minlength=k)
    lower = np.ceil(np.maximum(room.lower - load, 0.0) - slack)
    upper = np.floor(np.minimum(room.upper - load, len(costs)) + slack)
    if (upper < 0).any() or (lower > upper).any() or not lower.sum() <= len(costs) <= upper.sum():
        return None
    if not len(costs):
        return SizedAssignment(nodes, nodes[:0], items.cost(nodes, nodes[:0]), -np.inf), np.zeros(k)
    placed = flow.cheapest(costs, flow.Bounds(lower.astype(np.int64), upper.astype(np.int64)))
    new, free = nodes.copy(), placed.labels[len(moving) :]
    new[moving] = placed.labels[: len(moving)]
    return SizedAssignment(new, free, items.cost(new, free), -np.inf), placed.prices[:k] - placed.prices[k]


def _bound_rest(items: Items, room: Room, price: Floats) -> float:
    """Lagrangian bound without the nodes: free rows at their prices, and the smallest sum of prices within limits."""
    rows = float((items.free - price).min(axis=1).sum()) if len(items.free) else 0.0
    size, left = room.lower.copy(), float(room.mass.sum()) + room.loose - float(room.lower.sum())
    for h in np.argsort(price, kind="stable"):
        more = min(left, float(room.upper[h] - room.lower[h]))
        size[h] += more
        left -= more
    return rows + float(price @ size)


def _pack(items: Items, room: Room, deadline: float) -> Ints:
    """Assign nodes so that the free rows have room, by a program with the hard links only."""
    found = soft_program.solve(items.costs, keep_hard(items.bonds.net), None, deadline, 0.0, room)
    if found.labels is not None:
        return found.labels
    if found.status == "infeasible":
        raise Infeasible("no clustering satisfies the links and the bounds on sizes together.", items)
    raise Undecided("no clustering that satisfies the links and the bounds on sizes was found in time.")


def _by_program(items: Items, room: Room, best: SizedAssignment, deadline: float) -> SizedAssignment:
    """Solve an integer program for the nodes and the free rows with the smallest lead; the others stay."""
    m, k = items.costs.shape
    f = len(items.free)
    costs = np.vstack([items.costs, items.free])
    labels = np.concatenate([best.nodes, best.free])
    whole = Room(np.concatenate([room.mass, np.ones(f)]), room.lower, room.upper)
    bonds = _with_isolated(items.bonds, f)
    lead = np.partition(costs, min(1, k - 1), axis=1)[:, min(1, k - 1)] - costs[np.arange(m + f), labels]
    lead[:m] -= np.abs(lead).max(initial=0.0) + 1.0  # nodes first
    weight = k * (1 + 2 * np.diff(bonds.indptr))
    order = np.argsort(lead, kind="stable")
    nodes = np.sort(order[np.cumsum(weight[order]) <= OPEN])
    if not len(nodes):
        return best
    some, inner = fold(bonds, costs, labels, nodes)
    slack = GAP * abs(best.cost)
    found = soft_program.solve(some, inner, labels[nodes], deadline, slack, whole.without(labels, nodes))
    if found.labels is not None:
        new = labels.copy()
        new[nodes] = found.labels
        cost = items.cost(new[:m], new[m:])
        if cost < best.cost:
            best = SizedAssignment(new[:m], new[m:], cost, best.bound)
    if len(nodes) == m + f:
        best = best._replace(bound=min(max(best.bound, found.bound), best.cost))
    return best


def _with_isolated(bonds: Bonds, more: int) -> Bonds:
    """Add nodes without bonds at the end."""
    net, m = bonds.net, bonds.size + more

    def longer(indptr: Ints) -> Ints:
        return np.append(indptr, np.full(more, indptr[-1]))

    wide = Network.build((longer(net.indptr), net.indices), net.cliques)
    assert wide.size == m
    return bonds._replace(indptr=longer(bonds.indptr), node_indptr=longer(bonds.node_indptr), net=wide)
