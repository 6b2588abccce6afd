"""Passes over rows that are tensors: twins of functions of this package that look at a chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.centers import Tally
from cluewise.core.chunks import Scan
from cluewise.core.crowd import _Drawn, _Part
from cluewise.core.rows import Worst
from cluewise.gpu.arrays import as_numpy
from cluewise.gpu.rows import DeviceRows, race, scan_columns


def pick(chunk: Any, rows: Ints) -> Array:
    near = DeviceRows(chunk, np.zeros(chunk.shape[1]))
    return as_numpy(near.take(near.load_numbers(rows)))


def scan(chunk: Any, number: int) -> tuple[list[int], Scan]:
    mean, squares, low, high, bad, n_bad = scan_columns(chunk)
    n = len(chunk)
    return [n], Scan(n, mean, squares, low, high, None if bad is None else (number, *bad), n_bad)


def sum_chunk(chunk: Any, shift: Floats, centers: Floats, part: _Part) -> Tally:
    found = DeviceRows(chunk, shift).step(centers, part.tied)
    return Tally(found.sums, found.mass)


def label_chunk(chunk: Any, shift: Floats, seen: Floats, part: _Part, own: Ints) -> Any:
    rows = DeviceRows(chunk, shift)
    labels = rows.find_nearest(seen)
    labels[rows.load_numbers(part.tied)] = rows.load(own, labels.dtype)
    return labels


def lead_chunk(chunk: Any, shift: Floats, seen: Floats, centers: Floats, part: _Part, own: Ints) -> Any:
    return DeviceRows(chunk, shift).lead(centers, label_chunk(chunk, shift, seen, part, own))


def square_chunk(chunk: Any, shift: Floats, part: _Part) -> Floats:
    rows, origin = DeviceRows(chunk, shift), np.zeros(len(shift))
    tied = DeviceRows(rows.take(rows.load_numbers(part.tied)), origin)
    return rows.covary(origin) - tied.covary(origin)


def scatter_chunk(chunk: Any, shift: Floats, mean: Floats) -> Floats:
    return DeviceRows(chunk, shift).covary(mean)


def find_worst(chunk: Any, shift: Floats, centers: Floats, count: int, part: _Part) -> Worst:
    rows = DeviceRows(chunk, shift)
    labels = rows.find_nearest(centers)
    cost = rows.to_own(centers, labels)
    cost[rows.load_numbers(part.tied)] = -1.0
    order = rows.find_farthest(cost, count)
    order = order[cost[order] >= 0]
    x, number = as_numpy(rows.take(order)), as_numpy(order)
    return Worst(as_numpy(cost[order]), part.first + number, as_numpy(labels[order]), x, np.ones(len(x)))


def draw(chunk: Any, shift: Floats, points: Floats, seed: int, count: int, part: _Part) -> _Drawn:
    rows = DeviceRows(chunk, shift)
    near = points.astype(np.float64) - shift
    squared = chunk.new_empty(rows.n, dtype=rows.dtype)
    for block in rows.blocks(2 * len(points)):
        squared[block] = rows.square(rows.take(block), near).amin(dim=1)
    key, numbers = race(squared, seed, count, part.first)
    return _Drawn(key, as_numpy(chunk[numbers].to(rows.dtype)))


def count_nearest(chunk: Any, shift: Floats, points: Floats, part: _Part) -> Floats:
    near = DeviceRows(chunk, shift).find_nearest(points.astype(np.float64) - shift)
    return as_numpy(near.bincount(minlength=len(points))).astype(np.float64)


def seen(X: Any, L: Floats) -> Any:
    return DeviceRows(X, np.zeros(X.shape[1])).rotate(L)
