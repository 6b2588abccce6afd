"""New rows that are tensors: twins of the functions of this package that look at a chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._squares import require_squares
from cluewise._typing import Floats
from cluewise.base._input import _describe_infinite
from cluewise.core.tensors import find_twin
from cluewise.gpu.arrays import numpy_type
from cluewise.gpu.rows import DeviceRows, scan_columns


def check_and_call(chunk: Any, function: Any, shared: tuple[Any, ...], start: int, number: int) -> Any:
    if len(chunk):
        found = scan_columns(chunk)
        if found.bad is not None:
            raise ValueError(_describe_infinite(*found.bad, found.n_bad))
        size = float(np.maximum(-found.low, found.high).max())
        require_squares(size, numpy_type(chunk), "X", small=False)
    return find_twin(function)(chunk, *shared)


def label_chunk(chunk: Any, at: Floats) -> Any:
    rows, near = DeviceRows.near(chunk, at)
    return rows.find_nearest(near)


def measure_chunk(chunk: Any, at: Floats) -> Any:
    rows, near = DeviceRows.near(chunk, at)
    found = chunk.new_empty((rows.n, len(at)), dtype=rows.dtype)
    for block in rows.blocks(2 * len(at)):
        found[block] = rows.square(rows.take(block), near).sqrt_()
    return found


def square_chunk(chunk: Any, at: Floats) -> Any:
    rows, near = DeviceRows.near(chunk, at)
    found = chunk.new_empty(rows.n, dtype=rows.dtype)
    for block in rows.blocks(2 * len(at)):
        found[block] = rows.square(rows.take(block), near).min(dim=1).values
    return found
