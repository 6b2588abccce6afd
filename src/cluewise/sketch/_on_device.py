"""Grains of rows that are tensors: twins of the functions of this package that look at a chunk.

Every row is compared with all points of the codebook: cells, which save a processor work, would cost a device time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.core.centers import Tally, empty_tally, pair_up
from cluewise.core.rows import Worst
from cluewise.gpu.arrays import as_numpy
from cluewise.gpu.rows import DeviceRows, find_distinct, find_equal
from cluewise.sketch._chunks import _Distinct, _Own, _PartSums, _Sums
from cluewise.sketch._codebook import STEPS, hash_key
from cluewise.sketch._parts import Split


def find_in_chunk(chunk: Any, codebook: Floats, cells: Any) -> Any:
    rows, points = DeviceRows.near(chunk, codebook)
    return rows.find_nearest(points)


def predict_chunk(chunk: Any, label_of_grain: Ints, codebook: Floats, cells: Any) -> Any:
    return _as_rows(chunk).look_up(label_of_grain, find_in_chunk(chunk, codebook, cells))


def find_places(chunk: Any, codebook: Floats, cells: Any, shift: Floats, distinct: bool, known: Any = None) -> Any:
    if known is not None:
        return known.to(chunk.device)
    rows = DeviceRows(chunk, shift)
    if distinct:
        return find_equal(rows.x, rows.load(codebook), hash_key(rows.d))
    return rows.find_nearest(codebook.astype(np.float64) - shift)


def count_distinct(sample: Any, weight: None) -> tuple[Ints, Ints]:
    first, code = find_distinct(sample, hash_key(sample.shape[1]))
    return as_numpy(first), as_numpy(code.bincount())


def learn_codebook(
    sample: Any, first: Ints, mass: Ints | Floats, shift: Floats, count: int, rng: np.random.Generator, whole: bool
) -> tuple[Floats, Any]:
    """On the device: equal rows count as often as they are there, but a point starts from one of them."""
    rows, code = DeviceRows(sample, shift), None
    if len(first) < len(sample):
        code = find_distinct(sample, hash_key(rows.d))[1].long()
        rows = DeviceRows(sample[rows.load_numbers(first)], shift)
    chance = mass.astype(np.float64).astype(rows.numpy_type)
    chance = chance / chance.sum(dtype=np.float64)
    drawn = rng.choice(rows.n, size=min(count, rows.n), replace=False, p=chance)
    points = rows.take(rows.load_numbers(np.sort(drawn))).double()
    whole_rows = DeviceRows(sample, shift)
    for _ in range(STEPS):
        labels = rows.find_nearest(points)
        every = labels if code is None else labels[code]
        sums, held, _ = whole_rows.add_on_device(every, len(points))
        if bool((held == 0).any()):
            _refill(rows, labels, sums, held, points, mass)
        points = (sums / held[:, None]).where(held[:, None] > 0, points)
    used = rows.find_nearest(points).unique()
    return whole_rows.as_codebook(points[used.long()]), None


def _refill(rows: DeviceRows, labels: Any, sums: Any, held: Any, points: Any, mass: Ints | Floats) -> None:
    """Move the worst rows into the empty clusters, as in memory; sums and masses are changed."""
    vacant = np.flatnonzero(as_numpy(held) == 0)
    cost = rows.to_own(points, labels)
    worst = rows.find_farthest(cost, len(vacant) + len(points))
    x, number = rows.take(worst), as_numpy(worst)
    near = Worst(as_numpy(cost[worst]), number, as_numpy(labels[worst]), as_numpy(x), mass[number] * 1.0)
    members = as_numpy(labels.bincount(minlength=len(points))).astype(np.float64)
    for cluster, c in pair_up(vacant, near, members):
        old, weight = int(near.label[c]), float(near.weight[c])
        moved = weight * x[c].double()
        sums[old] -= moved
        held[old] -= weight
        sums[cluster], held[cluster] = moved, weight


def list_distinct(chunk: Any, most: int) -> _Distinct:
    first, _ = find_distinct(chunk, hash_key(chunk.shape[1]))
    return _Distinct(as_numpy(_as_rows(chunk).take(first[: most + 1])), most)


def sum_chunk(
    chunk: Any, codebook: Floats, cells: Any, shift: Floats, distinct: bool, start: int, n: int, known: Any
) -> _Sums:
    rows, m = DeviceRows(chunk, shift), len(codebook)
    labels = find_places(chunk, codebook, cells, shift, distinct, known)
    found = rows.add_up(labels, m, codebook.astype(np.float64) - shift)
    return _Sums(Tally(found.sums, found.mass), found.squares, rows.find_first(labels, m, start, n))


def take_placed(
    sample: Any, wanted: Bools | None, known: Any, codebook: Floats, cells: Any, shift: Floats, distinct: bool
) -> tuple[Ints, Floats, Ints]:
    rows, grain = _as_rows(sample), find_places(sample, codebook, cells, shift, distinct, known)
    if wanted is None:
        return np.arange(rows.n), as_numpy(rows.take(slice(None))), as_numpy(grain)
    which = rows.look_up(wanted, grain).nonzero()[:, 0]
    return as_numpy(which), as_numpy(rows.take(which)), as_numpy(grain[which])


def find_parts(chunk: Any, splits: list[Split], table: tuple[Any, ...], own: _Own) -> Any:
    if own.part is not None:
        return own.part.to(chunk.device)
    codebook, cells, shift, distinct = table
    rows, part = DeviceRows(chunk, shift), find_places(chunk, codebook, cells, shift, distinct, own.grain).clone()
    for split in splits:
        slot = np.full(split.new, -1, dtype=np.int64)
        slot[split.parts] = np.arange(len(split.parts))
        pair = rows.look_up(slot, part)
        mine = (pair >= 0).nonzero()[:, 0]
        for block in rows.blocks(8 * rows.d, len(mine)):  # as all rows may be in grains that are divided
            here = mine[block]
            near, two = DeviceRows(rows.take(here), np.zeros(rows.d)), pair[here]
            moved = near.to_own(split.points, 2 * two + 1) < near.to_own(split.points, 2 * two)
            part[here[moved]] = (split.new + two[moved]).to(part.dtype)
    part[rows.load_numbers(own.tied)] = rows.load(own.parts, part.dtype)
    return part


def look_up(chunk: Any, values: Any, number: Ints, splits: list[Split], table: tuple[Any, ...], own: _Own) -> Any:
    return _as_rows(chunk).look_up(values[number], find_parts(chunk, splits, table, own))


def tally_parts(chunk: Any, changed: Bools, splits: list[Split], table: tuple[Any, ...], own: _Own) -> _PartSums:
    part = find_parts(chunk, splits, table, own)
    rows, some = DeviceRows(chunk, table[2]), np.flatnonzero(changed)
    number = rows.look_up(np.cumsum(changed, dtype=np.int32) - 1, part)
    which = rows.look_up(changed, part).nonzero()[:, 0]
    found, total = rows.add_up(number, len(some), which=which), empty_tally(len(changed), rows.d)
    total.sums[some], total.mass[some] = found.sums, found.mass
    return _PartSums(total, total.mass)


def _as_rows(chunk: Any) -> DeviceRows:
    """The rows where they are, not shifted."""
    return DeviceRows(chunk, np.zeros(chunk.shape[1]))
