"""Parts of grains: clues that cannot hold inside a grain divide it.

Rows that hard clues mention leave their grains: those of one component in one grain are a part. So the parts can keep
every set of hard clues that the rows can keep. The other rows of a grain stay together, unless a cannot-link joins two
of them: then the grain is divided by 2-means that starts from the two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import Tally, means, tally_of
from cluewise.core.rows import Rows

__all__ = [
    "Division",
    "Parts",
    "Split",
    "divide_grains",
    "find_division",
    "find_inside",
    "follow_splits",
    "settle_parts",
]

STEPS = 3
"""Steps of 2-means."""


class Parts(NamedTuple):
    """Grains and pieces of them, as weighted points."""

    of_row: Ints  # (n,) int32
    grain: Ints  # (m,) grain that each part comes from
    centers: Floats  # (m, d)
    sizes: Floats  # (m,)


class Split(NamedTuple):
    """Parts that were divided, the two points of each, and the number of the first new part."""

    parts: Ints  # (p,)
    points: Floats  # (2p, d) relative to the shift: the side that stays, the side that leaves
    new: int


class Division(NamedTuple):
    """How grains are divided into parts."""

    part: Ints  # of each row
    grain: Ints  # of each part
    splits: list[Split]  # what rows without hard clues went through


def divide_grains(rows: Rows, grains: Parts, hard: Clues, soft: Clues) -> Parts:
    """Divide grains where clues demand it; cannot-links of soft clues make at most as many parts as there are grains.

    Those that are still inside a part then cannot be kept.
    """
    part, grain, _ = find_division(rows, grains.of_row, len(grains.sizes), hard, soft)
    return grains if len(grain) == len(grains.sizes) else _measure(rows, grains, part, grain)


def find_division(rows: Rows, of_row: Ints, count: int, hard: Clues, soft: Clues) -> Division:
    """Divide ``count`` grains as above, without their centers and sizes."""
    part, grain, splits = of_row.copy(), np.arange(count), []
    if len(hard.tied):
        key = part[hard.tied].astype(np.int64) * hard.n_components + hard.components[hard.tied]
        cell, piece = np.unique(key, return_inverse=True)
        part[hard.tied] = count + piece
        grain = np.append(grain, cell // hard.n_components)
    tied, most = len(grain), len(grain) + count
    while len(grain) < most:
        # A soft cannot-link within a hard component cannot be kept, so those parts stay as they are.
        ends = find_inside(soft, part, range(count, tied))[: most - len(grain)]
        if not len(ends):
            break
        origin = part[ends[:, 0]]
        splits.append(Split(origin, _bisect(rows, part, ends, len(grain)), len(grain)))
        grain = np.append(grain, grain[origin])
    return Division(part, grain, splits)


def follow_splits(rows: Rows, part: Ints, splits: list[Split]) -> Ints:
    """Part of each row, given its grain: at each split the nearer of the two points decides."""
    part = part.copy()
    for split in splits:
        slot = np.full(split.new, -1, dtype=np.int32)
        slot[split.parts] = np.arange(len(split.parts), dtype=np.int32)
        for block in rows.blocks(1, np.flatnonzero(slot[part] >= 0)):
            x, own = rows.take(block), slot[part[block]]
            moved = rows.to_own(x, split.points, 2 * own + 1) < rows.to_own(x, split.points, 2 * own)
            part[block[moved]] = split.new + own[moved]
    return part


def find_inside(soft: Clues, part: Ints, fixed: range) -> Ints:
    """Two rows that must be apart for every part that has such rows, except fixed parts: (parts, 2)."""
    heaviest_first = np.argsort(-soft.cannot_weight, kind="stable")
    pairs = [soft.cannot[heaviest_first[soft.cannot_weight[heaviest_first] > 0]]]
    for column in soft.apart:
        rows = np.flatnonzero(np.append(column.weights > 0, False)[column.codes])
        rows = rows[np.lexsort((part[rows], column.codes[rows]))]
        same = column.codes[rows[1:]] == column.codes[rows[:-1]]
        pairs.append(np.column_stack([rows[:-1], rows[1:]])[same])
    ends = np.concatenate(pairs)
    home = part[ends]
    ends = ends[(home[:, 0] == home[:, 1]) & ~((home[:, 0] >= fixed.start) & (home[:, 0] < fixed.stop))]
    return ends[np.unique(part[ends[:, 0]], return_index=True)[1]]


def _bisect(rows: Rows, part: Ints, ends: Ints, new: int) -> Floats:
    """Divide the part of each pair of rows in two by 2-means; the side of the second row gets a new number, in place.

    Returns the two points of each part.

    The two rows are on different sides in any case, even if they are equal.
    """
    slot = np.full(new, -1, dtype=np.int32)
    slot[part[ends[:, 0]]] = np.arange(len(ends), dtype=np.int32)
    which = np.flatnonzero(slot[part] >= 0)
    side = np.full(rows.n, -1, dtype=np.int32)  # 2·pair, and 1 more on the side of its second row
    points: Floats = rows.dense(ends.ravel()).astype(np.float64)
    for step in range(STEPS):
        if step:
            points = means(tally_of(rows, side, which, len(points)), points)
        for block in rows.blocks(1, which):
            x, first = rows.take(block), 2 * slot[part[block]]
            side[block] = first + (rows.to_own(x, points, first + 1) < rows.to_own(x, points, first))
        side[ends.ravel()] = np.arange(2 * len(ends), dtype=np.int32)
    moved = which[side[which] % 2 == 1]
    part[moved] = new + side[moved] // 2
    return points


def _measure(rows: Rows, grains: Parts, part: Ints, grain: Ints) -> Parts:
    """Centers and sizes of parts, those without rows left out."""
    count = len(grains.sizes)
    changed = np.zeros(count, dtype=bool)
    changed[grain[count:]] = True
    which = np.flatnonzero(changed[grains.of_row])
    found = tally_of(rows, part, which, len(grain))
    held = ~changed[grain] | (np.bincount(part[which], minlength=len(grain)) > 0)
    return settle_parts(grains, part, grain, changed, found, held, rows.shift)


def settle_parts(
    grains: Parts, part: Ints, grain: Ints, changed: Bools, found: Tally, held: Bools, shift: Floats
) -> Parts:
    """Parts with centers and sizes, given the tally of the rows of changed grains, and which parts have rows."""
    centers, some = grains.centers[grain], np.flatnonzero(changed[grain])
    near = centers[some].astype(np.float64) - shift
    centers[some] = means(Tally(found.sums[some], found.mass[some]), near) + shift
    sizes = np.append(np.where(changed, 0.0, grains.sizes), np.zeros(len(grain) - len(changed))) + found.mass
    number = np.cumsum(held, dtype=np.int32) - 1
    return Parts(number[part], grain[held], centers[held], sizes[held])
