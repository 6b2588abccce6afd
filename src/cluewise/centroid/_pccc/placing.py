"""The assignment of all rows and nodes to given centers, and moving a center that is of little use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.centroid._clock import Clock
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.centroid._pccc.filling import Limits, fill, items_of
from cluewise.centroid._pccc.mixed import FEW, GAP, settle
from cluewise.clues import Clues
from cluewise.clues.diagnosis import infeasible
from cluewise.core import assign, centers
from cluewise.core.centers import Tally, typical_price
from cluewise.core.rows import Rows
from cluewise.core.views import Nodes
from cluewise.exact.assignment import cheapest
from cluewise.exact.feasibility import Witness
from cluewise.exceptions import Infeasible
from cluewise.kernels import working_time

__all__ = ["Frame", "choose_price", "find_movable", "move_center", "place_freely", "place_within", "translate"]

TIE = 1e-6
"""Costs that differ by less than this share count as equal."""


class Frame(NamedTuple):
    """What all starts share."""

    rows: Rows
    nodes: Nodes
    bonds: Bonds  # between the bound nodes, at a price of 1
    limits: Limits | None  # bounds on sizes
    hard: Clues
    soft: Clues | None  # None: all clues are hard
    total: float  # scatter of the rows
    anchors: Floats  # centers from clues, not drawn at random
    clock: Clock  # of the whole fit


class Placement(NamedTuple):
    """Tally of an assignment, its cost (distances and pulls), and a lower bound on the cost of any assignment."""

    tally: Tally
    cost: float
    bound: float


def choose_price(frame: Frame, first: Floats, rule: float | str) -> float:
    """Price of a broken link of weight 1, in squared distances; "auto" and "mean" depend on the first centers."""
    if not isinstance(rule, str):
        return float(rule)
    if not frame.bonds.soft:
        return 0.0
    rows = frame.rows
    if rule == "mean":
        mean = centers.tally(rows, np.zeros(rows.n, np.int32), 1)
        x = mean.sums[0] / mean.mass[0]
        spread = frame.total / mean.mass[0] - float(x @ x)
        return max(spread + float(((first - x) ** 2).sum(axis=1).mean()), 0.0) or 1.0
    labels = assign.no_labels(rows.n)
    found = assign.nearest(rows, first, labels).tally
    within = centers.within(frame.total, found)
    return 2 * typical_price(rows, centers.means(found, first), labels, within, 1e-12 * frame.total)


def place_freely(
    frame: Frame, bonds: Bonds, at: Floats, labels: Ints, of_node: Ints, deadline: float, thorough: bool
) -> Placement:
    """Assign rows and nodes to the centers ``at``, without bounds on sizes; labels change in place.

    Free rows and loose nodes go to the nearest center, bound nodes as the bonds allow, at most as costly as before (-1:
    no labels yet). A ``thorough`` assignment takes the time until ``deadline`` to find and prove an optimum.
    """
    nodes, bound = frame.nodes, frame.nodes.bound
    tally = assign.nearest(frame.rows, at, labels, nodes.free).tally
    tally = tally.plus(assign.nearest(nodes.rows, at, of_node, nodes.loose).tally)
    if not len(bound):
        return Placement(tally, 0.0, 0.0)
    known = None if (of_node[bound] == UNASSIGNED).any() else of_node[bound]
    costs = assign.costs(nodes.rows, at, bound)
    # Hard links alone are solved exactly, unless there are many of them and a good assignment is enough.
    if bonds.soft or not (thorough or len(bound) <= FEW or len(at) == 2):
        of_node[bound], cost, low = settle(costs, bonds, known, deadline, thorough)
    else:
        left = max(deadline - working_time(), 0.0)
        of_node[bound], cost, low, *_ = cheapest(costs, bonds.net, incumbent=known, time_limit=left, gap=GAP)
    tally = tally.plus(centers.tally_of(nodes.rows, of_node, bound, len(at)))
    return Placement(tally, cost, low)


def place_within(
    frame: Frame, bonds: Bonds, at: Floats, labels: Ints, of_node: Ints, deadline: float, thorough: bool
) -> Placement:
    """The same within bounds on sizes: everything together, because all share the room; all nodes are bound here."""
    nodes, rows, limits = frame.nodes, frame.rows, frame.limits
    assert limits is not None
    every, free = np.arange(nodes.rows.n), np.flatnonzero(nodes.free)
    counted = np.ones(len(nodes.of_tied)) if limits.mass is None else limits.mass[nodes.tied]
    mass = np.bincount(nodes.of_tied, weights=counted, minlength=len(every)).astype(np.float64)
    costs, beside = assign.costs(nodes.rows, at, every), assign.costs(rows, at, free)
    items = items_of(costs, bonds, mass, beside, None if limits.mass is None else limits.mass[free])
    both = np.concatenate([of_node, labels[free]])
    cut = len(items.costs)
    known = None if (both == UNASSIGNED).any() else (both[:cut], both[cut:])
    found = fill(items, limits, known, deadline, thorough)
    both = np.concatenate([found.nodes, found.free])
    of_node[:], labels[free] = both[: len(every)], both[len(every) :]
    tally = centers.tally_of(rows, labels, free, len(at))
    tally = tally.plus(centers.tally_of(nodes.rows, of_node, every, len(at)))
    return Placement(tally, found.cost, found.bound)


def find_movable(frame: Frame, labels: Ints, k: int) -> Bools:
    """Rows that may move into an empty cluster: free rows whose cluster can spare them."""
    free, limits = frame.nodes.free, frame.limits
    if limits is None:
        return free
    if limits.mass is not None:
        return np.zeros(frame.rows.n, dtype=bool)
    count = np.bincount(labels, minlength=k)
    vacant = count == 0
    spare = count - limits.lower >= vacant.sum()  # even if all rows come from one cluster
    return free & spare[labels] & bool((limits.upper[vacant] >= 1).all())


def translate(error: Infeasible, frame: Frame, k: int) -> Infeasible:
    """The same error in terms of rows instead of nodes."""
    if not isinstance(error.witness, Witness):
        return Infeasible(str(error), frame.hard)
    component = frame.nodes.component[frame.nodes.bound]
    return infeasible(frame.hard, k, *(component[part] for part in error.witness))


def move_center(frame: Frame, labels: Ints, at: Floats, of_node: Ints) -> Floats:
    """Move the center whose removal costs least to the row or node that costs most."""
    rows, nodes, k = frame.rows, frame.nodes, len(at)
    lead = np.maximum(assign.lead(rows, at, labels).astype(np.float64), 0.0)
    weight = np.ones(rows.n) if rows.weight is None else rows.weight.astype(np.float64)
    cost = np.bincount(labels, weights=lead * weight, minlength=k)
    useless = int(np.argmax(cost <= cost.min() * (1 + TIE)))  # the first on ties up to rounding
    most, place_of_most = 0.0, at[useless]
    free = np.flatnonzero(nodes.free)
    for table, which, own in ((rows, free, labels), (nodes.rows, np.arange(nodes.rows.n), of_node)):
        for block in table.blocks(k, which):
            x = table.take(block)
            paid = table.to_own(x, at, own[block])
            if table.weight is not None:
                paid = paid * table.weights(block)
            if len(block) and paid.max() > most * (1 + TIE):
                most = float(paid.max())
                # Two rows alone in a cluster cost the same up to rounding. Take the one farther from all centers, which
                # does not depend on the order of the rows or on how they are stored.
                tied = np.flatnonzero(paid >= most * (1 - TIE))
                far = [table.to_own(x[tied], at, np.full(len(tied), h, dtype=np.int32)) for h in range(k)]
                place_of_most = table.dense(block[tied[[int(np.sum(far, axis=0).argmax())]]])[0].astype(np.float64)
    new = at.copy()
    new[useless] = place_of_most
    return new
