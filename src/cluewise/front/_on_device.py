"""Rows that are tensors: twins of the functions of this package that look at a chunk.

Everything that is learned stays in memory, as it does not grow with the rows: grains, their graph, references. Rows
find their references, and get their probabilities, on their device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.tensors import find_twin
from cluewise.front._ground import BLENDED, Ground, Scores
from cluewise.front._references import VISITED, References
from cluewise.front._signature import _find_factors
from cluewise.gpu.arrays import SINGLE, as_numpy
from cluewise.gpu.neighbors import Around, blend, nearest_listed
from cluewise.gpu.rows import DeviceRows


def project(chunk: Any, projection: Any) -> Any:
    return _as_rows(chunk).rotate(projection.components_)


def predict_chunk(chunk: Any, ground: Ground, scores: Scores) -> Any:
    rows = _as_rows(chunk)
    P = chunk.new_empty((rows.n, scores.k), dtype=SINGLE)
    for block, part in _predict(chunk, ground, scores):
        P[block] = part
    return P


def find_labels(chunk: Any, ground: Ground, scores: Scores, outcome: Any = None) -> Any:
    return _know(chunk, ground, scores, outcome)[:, 0].int()


def find_margins(chunk: Any, ground: Ground, scores: Scores, outcome: Any = None) -> Any:
    return _know(chunk, ground, scores, outcome)[:, 1].contiguous()


def _know(chunk: Any, ground: Ground, scores: Scores, outcome: Any) -> Any:
    return find_outcome(chunk, ground, scores) if outcome is None else outcome.to(chunk.device)


def find_outcome(chunk: Any, ground: Ground, scores: Scores) -> Any:
    found = chunk.new_empty((len(chunk), 2), dtype=SINGLE)
    for block, P in _predict(chunk, ground, scores):
        top = P.topk(min(2, scores.k), dim=1).values
        found[block, 0] = P.argmax(dim=1).to(SINGLE)
        found[block, 1] = top[:, 0] - top[:, 1] if scores.k > 1 else top[:, 0]
    return found


def find_no_doubt(chunk: Any, outcome: Any) -> Any:
    return chunk.new_full((len(chunk),), np.nan, dtype=SINGLE)


def sum(rows: Any, n: int, start: int) -> tuple[Floats, Floats]:
    near = _as_rows(rows)
    factors = _find_factors(n, start, start + near.n)
    return near.add_up_by(factors)


def look_at(chunk: Any, look: Any, shared: tuple[Any, ...], rows: Ints, own: Any, outcome: Any) -> Any:
    found, here = find_twin(look)(chunk, *shared, outcome), _as_rows(chunk)
    known = here.load_as_is(own)
    found = found.to(known.dtype)
    found[here.load_numbers(rows)] = known
    return found


def _predict(chunk: Any, ground: Ground, scores: Scores) -> Iterator[tuple[slice, Any]]:
    """Probabilities of the clusters, in single precision, for blocks of rows."""
    rows = _as_rows(chunk if ground._projection is None else project(chunk, ground._projection))
    near, share = _locate(rows, ground)
    by_reference = rows.load(scores.by_reference)
    if scores.similar is None or scores.columns is None:
        for block in rows.blocks(2 * near.shape[1] * scores.k):
            yield block, (share[block, :, None] * by_reference[near[block]]).sum(dim=1)
        return
    marks = len(ground._landmarks)
    weights, straight, level = rows.load(scores.similar), rows.load(scores.columns), rows.load(ground._level)
    centered = DeviceRows(rows.x, ground._mean)
    landmarks = ground._landmarks - ground._mean
    for block in rows.blocks(4 * marks + 2 * near.shape[1] * scores.k):
        x = centered.take(block)
        alike = (-ground._gamma * centered.square(x, landmarks)).exp_() - level
        found = alike @ weights + x @ straight
        found += (share[block, :, None] * by_reference[near[block]]).sum(dim=1)
        yield block, found.softmax(dim=1)


def _locate(rows: DeviceRows, ground: Ground) -> tuple[Any, Any]:
    """The nearest references of each row, or the nearest grains if there are no references, and their shares."""
    close, points = DeviceRows.near(rows.x, ground._grains.codebook_)
    own = rows.look_up(ground._number, close.find_nearest(points))
    references = ground._references
    if references is None:
        return blend(rows, own, ground.centers, ground._listed, min(BLENDED, ground.m))
    return _find_references(rows, own, references)


def search_graph(rows: Any, references: References) -> tuple[Ints, Floats]:
    every = _as_rows(rows)
    some = _as_rows(every.take(every.load_numbers(references._chosen)))
    near, squared = nearest_listed(some, some.load_numbers(references.grain), _around(references), references._width)
    return as_numpy(near).astype(np.int32), as_numpy(squared)


def _around(references: References) -> Around:
    points = np.ascontiguousarray(references._columns.T)
    return Around(references._centers, references._listed, references._first, points, VISITED)


def _find_references(rows: DeviceRows, own: Any, references: References) -> tuple[Any, Any]:
    near, squared = nearest_listed(rows, own, _around(references), references._width)
    scale, gap = rows.load(references._scale).double(), squared.sqrt()
    least = gap[:, -1:].clamp(min=float(references._scale.min()))
    far = (gap / least) * (gap / scale[near])
    share = (far.amin(dim=1, keepdim=True) - far).exp()
    return near, (share / share.sum(dim=1, keepdim=True)).to(rows.dtype)


def _as_rows(chunk: Any) -> DeviceRows:
    """The rows where they are, not shifted."""
    return DeviceRows(chunk, np.zeros(chunk.shape[1]))
