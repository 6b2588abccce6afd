"""Assignment: free rows in parallel blocks, tied rows in a given order, both into one tally."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.core.centers import Tally, add_tallies, empty_tally, tally_of
from cluewise.core.rows import Rows, Table
from cluewise.core.threads import map_blocks
from cluewise.core.views import Forces, Nodes
from cluewise.kernels import assignment

__all__ = [
    "Assigned",
    "Scored",
    "Swept",
    "around",
    "clamped",
    "costs",
    "find_margin",
    "find_nearest",
    "lead",
    "nearest",
    "no_labels",
    "order_nodes",
    "others",
    "penalized",
    "permutation",
    "relabel",
    "score_block",
    "sweep",
    "visiting_order",
]

MOST = 8
"""Nearly all are all but one of so many."""


class Assigned(NamedTuple):
    """What an assignment did, beside changing the labels in place."""

    tally: Tally
    moved: int


def no_labels(n: int) -> Ints:
    """Labels before the first assignment."""
    return np.full(n, UNASSIGNED, dtype=np.int32)


def nearest(
    rows: Rows,
    centers: Floats,
    labels: Ints,
    which: Array | None = None,
    surcharge: Callable[[Any, Floats], None] | None = None,
) -> Assigned:
    """Put rows (all, or those in ``which``, a list or a mask) into the cluster of the nearest center.

    The lowest index wins on ties. ``surcharge(block, scores)`` may add to the scores of a block of rows what
    clusters cost them beside distance.
    """
    table = rows.table(centers)
    k = len(centers)
    mask = which if which is not None and which.dtype == bool else None
    free = 0 if mask is None else np.count_nonzero(mask) + rows.n_all - rows.n
    # A block is scored as a whole if nearly all are free: that costs as much, and rows in chunks get the same scores.
    whole = mask is not None and MOST * free >= (MOST - 1) * rows.n_all

    def work(block: Any) -> Assigned:
        if mask is None:
            x, _, new = score_block(rows, table, block, surcharge)
        else:
            here = np.flatnonzero(mask[block])
            if whole and len(here):
                x, _, new = score_block(rows, table, block, surcharge)
                if len(here) < len(new):
                    x, new, block = x[here], new[here], block.start + here
            else:
                block = block.start + here
                x, _, new = score_block(rows, table, block, surcharge)
        moved = int(np.count_nonzero(labels[block] != new))
        labels[block] = new
        part = empty_tally(k, rows.d)
        rows.add(x, block, new, part.sums, part.mass)
        return Assigned(part, moved)

    (sums, mass), moved = _place_crowd(rows, centers) if which is None or mask is not None else _nobody(k, rows.d)
    for part in map_blocks(work, rows.blocks(k, which if mask is None else None)):
        sums += part.tally.sums
        mass += part.tally.mass
        moved += part.moved
    return Assigned(Tally(sums, mass), moved)


def _place_crowd(rows: Rows, centers: Floats) -> Assigned:
    """What the rows that are not in memory add; no clue mentions them, so all are free."""
    return _nobody(len(centers), rows.d) if rows.crowd is None else Assigned(*rows.crowd.place(centers))


def _nobody(k: int, d: int) -> Assigned:
    return Assigned(empty_tally(k, d), 0)


def find_nearest(rows: Rows, centers: Floats) -> Ints:
    """Number of the nearest center of every row, lowest on ties; no tally, so there may be thousands of centers."""
    table = rows.table(centers)
    labels = no_labels(rows.n)

    def work(block: slice) -> None:
        labels[block] = score_block(rows, table, block).near

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue
    return labels


def relabel(rows: Rows, centers: Floats, labels: Ints, free: Bools) -> int:
    """Give the free rows the numbers of their nearest centers, in place, which needs no memory; how many change."""
    table = rows.table(centers)

    def work(block: slice) -> int:
        new = np.where(free[block], score_block(rows, table, block).near, labels[block])
        moved = int(np.count_nonzero(labels[block] != new))
        labels[block] = new
        return moved

    return sum(map_blocks(work, rows.blocks(len(centers))))


def clamped(rows: Rows, centers: Floats, labels: Ints, free: Bools, fixed: Tally) -> Assigned:
    """Put the free rows into their nearest cluster; the others keep their labels and add a constant tally."""
    assigned = nearest(rows, centers, labels, free)
    return Assigned(assigned.tally.plus(fixed), assigned.moved)


def around(rows: Rows, centers: Floats, labels: Ints, free: Bools) -> Assigned:
    """Put the free rows into their nearest cluster, and add up all rows; the others keep the labels that they have."""
    others = np.flatnonzero(~free)
    if 2 * len(others) > rows.n:
        found = nearest(rows, centers, labels, free)
        return Assigned(found.tally.plus(tally_of(rows, labels, others, len(centers))), found.moved)
    # One pass that scores some rows in vain is cheaper than two that pick rows.
    table, k = rows.table(centers), len(centers)

    def work(block: slice) -> Assigned:
        x, _, near = score_block(rows, table, block)
        new = np.where(free[block], near, labels[block])
        moved = int(np.count_nonzero(labels[block] != new))
        labels[block] = new
        part = empty_tally(k, rows.d)
        rows.add(x, block, new, part.sums, part.mass)
        return Assigned(part, moved)

    parts = list(map_blocks(work, rows.blocks(k)))
    return Assigned(add_tallies([part.tally for part in parts]), sum(part.moved for part in parts))


class Swept(NamedTuple):
    """What a penalized sweep did, beside changing labels and counts in place."""

    tally: Tally
    moved: int
    broken: float  # change of the weight of broken clues


def sweep(
    rows: Rows, centers: Floats, labels: Ints, free: Bools, order: Ints, pulls: Forces, counts: Ints, penalty: float
) -> Swept:
    """All rows: the free ones to their nearest centers, the tied ones as in `penalized`."""
    if not (order[1:] > order[:-1]).all():
        freed = nearest(rows, centers, labels, free)
        swept = penalized(rows, centers, labels, order, pulls, counts, penalty)
        return Swept(freed.tally.plus(swept.tally), freed.moved + swept.moved, swept.broken)
    # In the order of the rows one pass over X is enough: threads score blocks ahead, and the tied rows of each block
    # are settled one by one while the block is in the cache.
    table, k = rows.table(centers), len(centers)
    (total, moved), broken = _place_crowd(rows, centers), 0.0
    blocks = rows.blocks(k)
    cuts = np.searchsorted(pulls.rows, [block.start for block in blocks] + [rows.n])
    places = np.arange(len(pulls.rows))
    scores = map_blocks(partial(score_block, rows, table), blocks, 1)
    for block, scored, first, last in zip(blocks, scores, cuts[:-1], cuts[1:]):
        new = np.where(free[block], scored.near, labels[block])
        moved += int(np.count_nonzero(labels[block] != new))
        labels[block] = new
        tied, here = pulls.rows[first:last], places[first:last]
        assignment.read_ahead(labels, pulls.neighbors, pulls.indptr[first], pulls.indptr[last])
        weights = rows.weights(block)
        visited = scored.scores, table.offset, scored.near, weights, tied - block.start, tied, here, labels
        some, change = assignment.assign_penalized(*visited, *pulls.arrays, counts, penalty)
        moved += some
        broken += change
        rows.add(scored.x, block, labels[block], total.sums, total.mass)
    return Swept(total, moved, broken)


def penalized(
    rows: Rows, centers: Floats, labels: Ints, order: Ints, pulls: Forces, counts: Ints, penalty: float
) -> Swept:
    """One sweep over the tied rows in the given order (positions among the tied rows), each given all others."""
    table, k = rows.table(centers), len(centers)
    total, moved, broken = empty_tally(k, rows.d), 0, 0.0
    start = 0
    blocks = rows.blocks(k, pulls.rows[order])
    for block, scored in zip(blocks, map_blocks(partial(score_block, rows, table), blocks, 1)):
        here = order[start : start + len(block)]
        start += len(block)
        weights = rows.weights(block)
        visited = scored.scores, table.offset, scored.near, weights, np.arange(len(block)), block, here, labels
        some, change = assignment.assign_penalized(*visited, *pulls.arrays, counts, penalty)
        moved += some
        broken += change
        rows.add(scored.x, block, labels[block], total.sums, total.mass)
    return Swept(total, moved, broken)


class Scored(NamedTuple):
    """Some rows and what each cluster costs them."""

    x: Any
    scores: Floats
    near: Ints  # nearest cluster of each row


def score_block(
    rows: Rows, table: Table, block: slice | Ints, surcharge: Callable[[Any, Floats], None] | None = None
) -> Scored:
    """Some rows, their scores and their nearest clusters; may run ahead in threads."""
    x, scores = rows.score(block, table)
    if surcharge is not None:
        surcharge(block, scores)
    n = x.shape[0]
    near = rows.scratch("near", (n,), np.int32)
    assignment.assign_nearest(scores, table.offset, rows.scratch("best", (n,)), near)
    return Scored(x, scores, near)


def costs(rows: Rows, centers: Floats, which: Ints) -> Floats:
    """(rows, k) weighted squared distances of some rows, scored in the precision of X."""
    table = rows.table(centers)
    out = np.empty((len(which), len(centers)))
    start = 0
    for block in rows.blocks(len(centers), which):
        squared = rows.squared(rows.take(block), table)
        out[start : start + len(block)] = (squared if rows.weight is None else squared * rows.weights(block)).T
        start += len(block)
    return out


def lead(rows: Rows, centers: Floats, labels: Ints) -> Floats:
    """Per row, how much farther the best other center is: half the difference of squared distances."""
    table = rows.table(centers)
    out = np.full(rows.n, np.inf, dtype=rows.dtype)
    if len(centers) == 1:
        return out

    def work(block: slice) -> None:
        _, scores = rows.score(block, table)
        assignment.margins(scores, table.offset, labels[block], out[block])

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue
    return out


def find_margin(P: Floats) -> Floats:
    """Probability of the most probable cluster of each row minus that of the next."""
    if P.shape[1] == 1:
        return P[:, 0]
    top = np.partition(P, -2, axis=1)[:, -2:]
    return top[:, 1] - top[:, 0]


def visiting_order(order: Any, rows: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Positions in ``rows`` in the order of visit: by index, at random, or by a permutation of all n rows."""
    if isinstance(order, str):
        return rng.permutation(len(rows)) if order == "random" else np.arange(len(rows))
    rank = np.empty(n, dtype=np.int64)
    rank[permutation(order, n, "'index', 'random'")] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")


def order_nodes(order: Any, nodes: Nodes, rng: np.random.Generator) -> Ints:
    """Positions of the bound nodes in an order of the rows; a node stands where its first row stands."""
    n = nodes.n
    first = np.full(nodes.rows.n, n, dtype=np.int64)
    if isinstance(order, str):
        np.minimum.at(first, nodes.of_tied, nodes.tied)
        return visiting_order(order, first[nodes.bound], n, rng)
    place = np.empty(n, dtype=np.int64)
    place[visiting_order(order, np.arange(n), n, rng)] = np.arange(n)
    np.minimum.at(first, nodes.of_tied, place[nodes.tied])
    return np.argsort(first[nodes.bound], kind="stable")


def permutation(order: Any, n: int, names: str) -> Ints:
    """An order that the user has written out, checked; ``names`` are those that could stand in its place."""
    given = np.asarray(order)
    # Truth values and fractions sort like row numbers, but pick other rows or none.
    whole = given.dtype.kind in "iu"
    if not whole or given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise ValueError(f"order is {names} or a permutation of the {n} row numbers, as whole numbers.")
    return given.astype(np.int64)


def others(rows: Ints, n: int) -> Bools:
    """Mask of the rows that are not in ``rows``."""
    mask = np.ones(n, dtype=bool)
    mask[rows] = False
    return mask
