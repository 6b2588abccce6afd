"""Two-level search: rows go to the nearest of some √m coarse cells, then to the nearest of that cell's points.

The list of a cell holds the points that were nearest to a sampled row in that cell. How often the nearest point of
another row is missing from the list follows from the pairs of cell and point that were seen exactly once: by the rule
of Good and Turing, their share of the sample estimates the probability of a pair that was not seen at all.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core import assign
from cluewise.core.rows import Rows, Table
from cluewise.core.threads import map_blocks
from cluewise.kernels import assignment
from cluewise.sketch._codebook import learn

__all__ = ["Cells", "divide", "find_grains", "find_nearest"]

MISSED = 0.015
"""Share of the rows that may miss their nearest point, as estimated; 2 % are promised."""

WORTH = 0.5
"""Largest share of the distances that two levels may compute: beyond it they save too little."""


class Cells(NamedTuple):
    """Coarse points, and the numbers of the points that belong to each."""

    coarse: Floats  # (c, d)
    lists: list[Ints]


def divide(sample: Rows, points: Floats, labels: Ints, rng: np.random.Generator) -> Cells | None:
    """Find cells for points, given a sample of rows and the nearest point of each; None if none are good enough.

    Points and cells are relative to the shift of the rows. Larger cells miss less and cost more, so several numbers of
    cells are tried, the largest first.
    """
    m = len(points)
    seeds = Rows(points, None, np.zeros(sample.d))
    for count in (round(sqrt(m)), round(sqrt(m) / 2), round(sqrt(m) / 4)):
        coarse, _ = learn(seeds, max(count, 1), rng)
        cell = assign.find_nearest(sample, coarse)
        pair, place = np.unique(cell.astype(np.int64) * m + labels, return_inverse=True)
        seen = np.bincount(place, weights=sample.weight)
        length = np.bincount(pair // m, minlength=len(coarse))
        cost = len(coarse) + float(np.average(length[cell], weights=sample.weight))
        if np.count_nonzero(seen == 1) <= MISSED * sample.mass and cost <= WORTH * m:
            lists = np.split(pair % m, np.cumsum(length)[:-1])
            return Cells(coarse, [found if len(found) else np.arange(m) for found in lists])
    return None


def find_nearest(rows: Rows, points: Floats, cells: Cells | None) -> Ints:
    """Number of the nearest point of each row: of all points, or of those on the list of the row's cell."""
    if cells is None:
        return assign.find_nearest(rows, points)
    coarse = rows.table(cells.coarse)
    tables = [rows.table(points[found]) for found in cells.lists]
    labels = assign.no_labels(rows.n)

    def work(block: slice) -> None:
        x = rows.take(block)
        cell = _nearest(rows, x, coarse)
        order = np.argsort(cell.astype(np.int16), kind="stable")  # numbers this small are sorted by counting
        ends = np.cumsum(np.bincount(cell, minlength=len(tables)))
        for table, numbers, mine in zip(tables, cells.lists, np.split(order, ends[:-1])):
            if len(mine):
                labels[block.start + mine] = numbers[_nearest(rows, x[mine], table)]

    for _ in map_blocks(work, rows.blocks(1)):
        continue
    return labels


def find_grains(rows: Rows, codebook: Floats, cells: Cells | None) -> Ints:
    """Number of the nearest point of each row, from absolute points and cells."""
    if cells is not None:
        cells = cells._replace(coarse=cells.coarse - rows.shift)
    return find_nearest(rows, codebook.astype(np.float64) - rows.shift, cells)


def _nearest(rows: Rows, x: Any, table: Table) -> Ints:
    near = np.empty(x.shape[0], dtype=np.int32)
    best = np.empty(x.shape[0], dtype=rows.dtype)
    assignment.assign_nearest(rows.scores(x, table), table.offset, best, near)
    return near
