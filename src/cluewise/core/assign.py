"""Assignment: free rows in parallel blocks, tied rows in sequence, both into one tally."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.core.centers import Tally, empty_tally
from cluewise.core.pulls import Pulls
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.kernels import assignment

__all__ = ["Assigned", "Swept", "clamped", "costs", "lead", "nearest", "nobody", "penalized"]


class Assigned(NamedTuple):
    """What an assignment did, beside changing the labels in place."""

    tally: Tally
    moved: int


def nobody(n: int) -> Ints:
    """Labels before the first assignment."""
    return np.full(n, UNASSIGNED, dtype=np.int32)


def nearest(rows: Rows, centers: Floats, labels: Ints, which: Ints | None = None) -> Assigned:
    """Put rows (all, or those in ``which``) into the cluster of the nearest center; lowest index on ties."""
    table = rows.table(centers)
    k = len(centers)

    def work(block: slice | Ints) -> Assigned:
        x = rows.take(block)
        scores = rows.scores(x, table)
        new = np.empty(x.shape[0], dtype=np.int32)
        assignment.assign_nearest(scores, table.offset, np.empty(x.shape[0], dtype=rows.dtype), new)
        moved = int(np.count_nonzero(labels[block] != new))
        labels[block] = new
        part = empty_tally(k, rows.d)
        rows.add(x, block, new, part.sums, part.mass)
        return Assigned(part, moved)

    total, moved = empty_tally(k, rows.d), 0
    for part in map_blocks(work, rows.blocks(k, which)):
        total = total.plus(part.tally)
        moved += part.moved
    return Assigned(total, moved)


def clamped(rows: Rows, centers: Floats, labels: Ints, free: Ints, fixed: Tally) -> Assigned:
    """Put the free rows into their nearest cluster; the others keep their labels and add a constant tally."""
    assigned = nearest(rows, centers, labels, free)
    return Assigned(assigned.tally.plus(fixed), assigned.moved)


class Swept(NamedTuple):
    """What a penalized sweep did, beside changing labels and counts in place."""

    tally: Tally
    moved: int
    broken: float  # change of the weight of broken clues


def penalized(
    rows: Rows, centers: Floats, labels: Ints, order: Ints, pulls: Pulls, counts: Ints, penalty: float
) -> Swept:
    """One sweep over the tied rows in the given order (positions among the tied rows), each given all others."""
    table = rows.table(centers)
    k = len(centers)
    total, moved, broken = empty_tally(k, rows.d), 0, 0.0
    start = 0
    for block in rows.blocks(k, pulls.rows[order]):
        places = order[start : start + len(block)]
        start += len(block)
        x = rows.take(block)
        scores = rows.scores(x, table)
        near = np.empty(len(block), dtype=np.int32)
        assignment.assign_nearest(scores, table.offset, np.empty(len(block), dtype=rows.dtype), near)
        block_moved, change = assignment.assign_penalized(
            scores,
            table.offset,
            near,
            rows.weights(block),
            block,
            places,
            labels,
            *pulls.arrays,
            counts,
            penalty,
        )
        moved += block_moved
        broken += change
        rows.add(x, block, labels[block], total.sums, total.mass)
    return Swept(total, moved, broken)


def costs(rows: Rows, centers: Floats, which: Ints) -> Floats:
    """(rows, k) weighted squared distances of some rows, in double precision."""
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
        scores = rows.scores(rows.take(block), table)
        assignment.margins(scores, table.offset, labels[block], out[block])

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue
    return out
