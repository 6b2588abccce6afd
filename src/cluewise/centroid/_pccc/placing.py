"""The assignment of all rows and nodes to given centers, and moving a center that is of little use."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.centroid._pccc.bonds import Bonds
from cluewise.centroid._pccc.filling import Limits, fill, items_of
from cluewise.centroid._pccc.mixed import settle
from cluewise.clues import Clues
from cluewise.clues.diagnosis import infeasible
from cluewise.core import assign, centers
from cluewise.core.centers import Tally, typical_price
from cluewise.core.rows import Rows
from cluewise.core.views import Nodes
from cluewise.exact.feasibility import Witness
from cluewise.exceptions import Infeasible

__all__ = ["Frame", "Placement", "choose_price", "place", "move_center"]

TIE = 1e-6
"""Costs that differ by less than this share count as equal."""


class Frame(NamedTuple):
    """What does not change during a run."""

    rows: Rows
    nodes: Nodes
    free: Bools  # rows outside of all nodes
    bonds: Bonds  # between the bound nodes, with their prices
    limits: Limits | None
    hard: Clues
    total: float  # scatter of the rows


class Placement(NamedTuple):
    """Labels of rows and nodes, their tally, and their relative optimality gap."""

    labels: Ints
    nodes: Ints
    tally: Tally
    gap: float


def place(frame: Frame, at: Floats, labels: Ints, nodes: Ints, seconds: float, thorough: bool) -> Placement:
    """Find a cheap assignment to the centers ``at``, at most as costly as the previous labels (-1: none yet).

    A ``thorough`` assignment takes up to ``seconds`` to find and prove an optimum.
    """
    new, of_node = labels.copy(), nodes.copy()
    deadline = monotonic() + seconds
    try:
        if frame.limits is None:
            tally, gap = _place_freely(frame, at, new, of_node, deadline, thorough)
        else:
            tally, gap = _place_within(frame, frame.limits, at, new, of_node, deadline, thorough)
    except Infeasible as error:
        raise _in_terms_of_rows(error, frame, len(at)) from None
    new[frame.nodes.tied] = of_node[frame.nodes.of_tied]
    able = _find_movable(frame, new, len(at)) if (tally.mass == 0).any() else frame.free
    return Placement(new, of_node, centers.refill(frame.rows, tally, at, new, able)[0], gap)


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
    labels = assign.nobody(rows.n)
    found = assign.nearest(rows, first, labels).tally
    within = centers.within(frame.total, found)
    return 2 * typical_price(rows, centers.means(found, first), labels, within, 1e-12 * frame.total)


def _place_freely(
    frame: Frame, at: Floats, labels: Ints, of_node: Ints, deadline: float, thorough: bool
) -> tuple[Tally, float]:
    """Without bounds on sizes: assign free rows and loose nodes independently, bound nodes by their bonds."""
    nodes, bound = frame.nodes, frame.nodes.bound
    tally = assign.nearest(frame.rows, at, labels, frame.free).tally
    tally = tally.plus(assign.nearest(nodes.rows, at, of_node, nodes.loose).tally)
    if not len(bound):
        return tally, 0.0
    known = None if (of_node[bound] == UNASSIGNED).any() else of_node[bound]
    found = settle(assign.costs(nodes.rows, at, bound), frame.bonds, known, deadline, thorough)
    of_node[bound] = found.labels
    tally = tally.plus(centers.tally_of(nodes.rows, of_node, bound, len(at)))
    return tally, _share(found.cost - found.bound, found.cost + frame.bonds.constant)


def _place_within(
    frame: Frame, limits: Limits, at: Floats, labels: Ints, of_node: Ints, deadline: float, thorough: bool
) -> tuple[Tally, float]:
    """With bounds on sizes: assign everything together, because all share the room; all nodes are bound here."""
    nodes, rows = frame.nodes, frame.rows
    every, free = np.arange(nodes.rows.n), np.flatnonzero(frame.free)
    counted = np.ones(len(nodes.of_tied)) if limits.mass is None else limits.mass[nodes.tied]
    mass = np.bincount(nodes.of_tied, weights=counted, minlength=len(every)).astype(np.float64)
    costs, beside = assign.costs(nodes.rows, at, every), assign.costs(rows, at, free)
    items = items_of(costs, frame.bonds, mass, beside, None if limits.mass is None else limits.mass[free])
    both = np.concatenate([of_node, labels[free]])
    cut = len(items.costs)
    known = None if (both == UNASSIGNED).any() else (both[:cut], both[cut:])
    found = fill(items, limits, known, deadline, thorough)
    both = np.concatenate([found.nodes, found.free])
    of_node[:], labels[free] = both[: len(every)], both[len(every) :]
    tally = centers.tally_of(rows, labels, free, len(at))
    tally = tally.plus(centers.tally_of(nodes.rows, of_node, every, len(at)))
    return tally, _share(found.cost - found.bound, found.cost + frame.bonds.constant)


def _share(gap: float, cost: float) -> float:
    return max(gap, 0.0) / cost if gap > 1e-12 * abs(cost) and cost > 0 else 0.0


def _find_movable(frame: Frame, labels: Ints, k: int) -> Bools:
    """Rows that may move into an empty cluster: free rows whose cluster can spare them."""
    if frame.limits is None:
        return frame.free
    if frame.limits.mass is not None:
        return np.zeros(frame.rows.n, dtype=bool)
    count = np.bincount(labels, minlength=k)
    vacant = count == 0
    spare = count - frame.limits.lower >= vacant.sum()  # even if all rows come from one cluster
    return frame.free & spare[labels] & bool((frame.limits.upper[vacant] >= 1).all())


def _in_terms_of_rows(error: Infeasible, frame: Frame, k: int) -> Infeasible:
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
    free = np.flatnonzero(frame.free)
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
