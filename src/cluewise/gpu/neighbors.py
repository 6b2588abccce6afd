"""Nearest points of rows on a device, of those in the cells around each row: the search of `kernels.neighbors`.

Rows of a cell look at the same points, so they are compared with these by one product of matrices. All is relative to
the center of the cell, which keeps digits; the few points that are left are compared once more, in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from cluewise._typing import Floats, Ints
from cluewise.gpu.rows import DeviceRows

__all__ = ["Around", "blend", "nearest_listed"]

SPARE = 8
"""Points beyond those that are wanted, so that rounding cannot push out one of them."""


class Around(NamedTuple):
    """Cells, and the points in them."""

    centers: Floats  # (m, d)
    listed: Ints  # (m, w) cells around each, itself first
    first: Ints  # (m + 1,) the points of cell a are first[a] to first[a + 1]
    points: Floats  # (p, d)
    visits: int  # cells in which a row looks: the nearest of those listed


def nearest_listed(rows: DeviceRows, own: torch.Tensor, around: Around, keep: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, keep) numbers and squared distances of the nearest points of each row, the nearest first.

    If there are too few points, the nearest one is repeated.
    """
    near = rows.x.new_empty((rows.n, keep), dtype=torch.int64)
    squared = rows.x.new_empty((rows.n, keep), dtype=torch.float64)
    order = torch.argsort(own, stable=True)
    ends = np.cumsum(own.bincount(minlength=len(around.centers)).cpu().numpy())
    lists = _Lists(rows, around)
    for cell, (start, stop) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist())):
        if start < stop:
            _search_cell(rows, order[start:stop], cell, lists, near, squared)
    return near, squared


class _Lists:
    """Cells, points and the points listed for each cell, on the device: work would wait for lists sent one by one."""

    def __init__(self, rows: DeviceRows, around: Around) -> None:
        sizes = np.diff(around.first)[around.listed]
        count = sizes.ravel()
        before = np.cumsum(count) - count
        points = np.repeat(around.first[around.listed].ravel() - before, count) + np.arange(count.sum())
        homes = np.tile(np.arange(around.listed.shape[1]), len(sizes))
        self.visits = min(around.visits, around.listed.shape[1])
        self.centers = rows.load(around.centers, torch.float64)
        self.points = rows.load(around.points, torch.float64)
        self.cells = rows.load_numbers(around.listed)
        self._listed = rows.load_numbers(points)
        self._home = rows.load_numbers(np.repeat(homes, count))
        self._ends = np.append(0, np.cumsum(sizes.sum(axis=1))).tolist()

    def take(self, cell: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Points listed for a cell, and the place of the cell of each among those listed."""
        own = slice(self._ends[cell], self._ends[cell + 1])
        return self._listed[own], self._home[own]


def _search_cell(
    rows: DeviceRows, mine: torch.Tensor, cell: int, lists: _Lists, near: torch.Tensor, squared: torch.Tensor
) -> None:
    """Write the lines of the rows of a cell."""
    at, home = lists.take(cell)
    points, middle = lists.points, lists.centers[cell]
    middles = (lists.centers[lists.cells[cell]] - middle).to(rows.dtype)
    candidates = (points[at] - middle).to(rows.dtype)
    lengths = 0.5 * (candidates * candidates).sum(dim=1)
    keep, most = near.shape[1], min(near.shape[1] + SPARE, len(at))
    for block in rows.blocks(3 * len(at), len(mine)):
        here = mine[block]
        x = rows.take(here).double()
        close = (x - middle).to(rows.dtype)
        away = torch.cdist(close, middles, compute_mode="donot_use_mm_for_euclid_dist")
        visited = torch.zeros_like(away, dtype=torch.bool)
        visited.scatter_(1, torch.topk(away, lists.visits, largest=False).indices, True)
        scores = torch.addmm(lengths, close, candidates.T, alpha=-1)
        scores.masked_fill_(~visited[:, home], float("inf"))
        best = torch.topk(scores, most, largest=False)
        exact = ((x[:, None] - points[at[best.indices]]) ** 2).sum(dim=2)
        exact.masked_fill_(torch.isinf(best.values), float("inf"))
        found = torch.sort(exact, dim=1, stable=True)
        names = at[best.indices].gather(1, found.indices)[:, :keep]
        exact = found.values[:, :keep]
        if most < keep:
            names = torch.cat([names, names[:, :1].expand(-1, keep - most)], dim=1)
            exact = torch.cat([exact, exact[:, :1].expand(-1, keep - most)], dim=1)
        none = torch.isinf(exact)
        near[here] = torch.where(none, names[:, :1], names)
        squared[here] = torch.where(none, exact[:, :1], exact)


def blend(rows: DeviceRows, own: torch.Tensor, centers: Floats, listed: Ints, keep: int) -> tuple[Any, Any]:
    """The nearest centers of each row among those listed for its own center, and shares by 1 / distance²."""
    middles, lists = rows.load(centers, torch.float64), rows.load_numbers(listed)
    near = rows.x.new_empty((rows.n, keep), dtype=torch.int64)
    share = rows.x.new_empty((rows.n, keep), dtype=torch.float32)
    for block in rows.blocks(4 * rows.d * listed.shape[1]):
        candidates = lists[own[block].long()]
        squared = ((rows.take(block).double()[:, None] - middles[candidates]) ** 2).sum(dim=2)
        found = torch.sort(squared, dim=1, stable=True)
        near[block] = candidates.gather(1, found.indices)[:, :keep]
        kept = found.values[:, :keep]
        part = torch.where(kept > 0, kept[:, :1] / kept, torch.zeros_like(kept))
        part[:, 0] = 1.0
        share[block] = part / part.sum(dim=1, keepdim=True)
    return near, share
