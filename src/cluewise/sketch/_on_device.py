"""Grains of rows that are tensors: twins of the functions of this package that look at a chunk.

Every row is compared with all points of the codebook: cells, which save a processor work, would cost a device time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.core.centers import Tally
from cluewise.gpu.arrays import as_numpy
from cluewise.gpu.rows import DeviceRows, find_equal, find_firsts
from cluewise.sketch._chunks import _Distinct, _PartSums, _Sums
from cluewise.sketch._codebook import hash_key
from cluewise.sketch._parts import Split


def find_in_chunk(chunk: Any, codebook: Floats, cells: Any) -> Any:
    rows, points = DeviceRows.near(chunk, codebook)
    return rows.find_nearest(points)


def predict_chunk(chunk: Any, label_of_grain: Ints, codebook: Floats, cells: Any) -> Any:
    return _as_rows(chunk).look_up(label_of_grain, find_in_chunk(chunk, codebook, cells))


def find_places(chunk: Any, codebook: Floats, cells: Any, shift: Floats, distinct: bool) -> Any:
    rows = DeviceRows(chunk, shift)
    if distinct:
        return find_equal(rows.x, rows.load(codebook), hash_key(rows.d))
    return rows.find_nearest(codebook.astype(np.float64) - shift)


def list_distinct(chunk: Any, most: int) -> _Distinct:
    return _Distinct(as_numpy(_as_rows(chunk).take(find_firsts(chunk, hash_key(chunk.shape[1]))[: most + 1])), most)


def sum_chunk(chunk: Any, codebook: Floats, cells: Any, shift: Floats, distinct: bool, start: int, n: int) -> _Sums:
    rows, m = DeviceRows(chunk, shift), len(codebook)
    labels = find_places(chunk, codebook, cells, shift, distinct)
    found = rows.add_up(labels, m, codebook.astype(np.float64) - shift)
    return _Sums(Tally(found.sums, found.mass), found.squares, rows.find_first(labels, m, start, n))


def look_up(chunk: Any, values: Any, number: Ints, splits: list[Split], *rest: Any) -> Any:
    *table, tied, own = rest
    return _as_rows(chunk).look_up(values[number], _find_parts(chunk, splits, tuple(table), tied, own)[1])


def tally_parts(chunk: Any, changed: Bools, count: int, splits: list[Split], *rest: Any) -> _PartSums:
    *table, tied, own = rest
    rows = DeviceRows(chunk, table[2])
    grain, part = _find_parts(chunk, splits, tuple(table), tied, own)
    found = rows.add_up(part, count, which=rows.look_up(changed, grain))
    return _PartSums(Tally(found.sums, found.mass), found.mass)


def _find_parts(chunk: Any, splits: list[Split], table: tuple[Any, ...], tied: Ints, own: Ints) -> tuple[Any, Any]:
    """Grain and part of each row."""
    rows, grain = DeviceRows(chunk, table[2]), find_places(chunk, *table)
    part = grain.clone()
    for split in splits:
        slot = np.full(split.new, -1, dtype=np.int64)
        slot[split.parts] = np.arange(len(split.parts))
        pair = rows.look_up(slot, part)
        mine = (pair >= 0).nonzero()[:, 0]
        near = DeviceRows(rows.take(mine), np.zeros(rows.d))
        pair = pair[mine]
        moved = near.to_own(split.points, 2 * pair + 1) < near.to_own(split.points, 2 * pair)
        part[mine[moved]] = (split.new + pair[moved]).to(part.dtype)
    part[rows.load_numbers(tied)] = rows.load(own, part.dtype)
    return grain, part


def _as_rows(chunk: Any) -> DeviceRows:
    """The rows where they are, not shifted."""
    return DeviceRows(chunk, np.zeros(chunk.shape[1]))
