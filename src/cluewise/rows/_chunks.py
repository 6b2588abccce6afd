"""Tables of dask: some of their rows, and a function on each of their parts; without an import of dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cluewise._dask import compute, is_frame, refuse_others
from cluewise._typing import Array, Floats, Ints

__all__ = ["draw_rows", "map_partitions"]

DRAWN = 100_000
"""Rows by which the columns are recognized."""


def draw_rows(X: Any, seed: int) -> Any:
    """Rows of a dask data frame or array drawn at random, in memory; all of them if there are few."""
    _check(X)
    if is_frame(X):
        n = sum(compute(X.map_partitions(len))[0])
        return compute(X.sample(frac=DRAWN / n, random_state=seed) if n > DRAWN else X)[0]
    whole = X.rechunk({1: -1})
    sizes = np.array(whole.chunks[0])
    if np.isnan(sizes).any():
        ones = ((1,) * len(sizes), (1,))
        empty = np.empty((0, 0), dtype=np.int64)
        sizes = compute(whole.map_blocks(_count, chunks=ones, dtype=empty.dtype, meta=empty))[0][:, 0]
    ends = np.cumsum(sizes)
    n = int(ends[-1])
    if n <= DRAWN:
        return compute(X)[0]
    rows = np.sort(np.random.default_rng(seed).choice(n, DRAWN, replace=False))
    parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
    own = [part - start for part, start in zip(parts, ends - sizes)]
    chunks = tuple(map(len, own)), (X.shape[1],)
    return compute(whole.map_blocks(_take, own=own, chunks=chunks, dtype=X.dtype, meta=X._meta))[0]


def map_partitions(X: Any, function: Callable[[Any], Floats], width: int) -> Any:
    """A dask array of what ``function`` makes of each part; nothing is computed yet."""
    _check(X)
    empty = np.empty((0, width))
    if not is_frame(X):
        whole = X.rechunk({1: -1})
        return whole.map_blocks(
            _call, function, width, chunks=(whole.chunks[0], (width,)), dtype=empty.dtype, meta=empty
        )
    import pandas as pd

    names = range(width)
    parts = X.map_partitions(_call_on_frame, function, width, meta=pd.DataFrame(empty, columns=names))
    return parts.to_dask_array()


def _check(X: Any) -> None:
    refuse_others(X, "Rows")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; it has {X.ndim}.")


# --- what runs where the parts are ------------------------------------------------------------------------------


def _count(chunk: Array) -> Ints:
    return np.array([[len(chunk)]])


def _take(chunk: Array, own: list[Ints], block_id: tuple[int, ...]) -> Array:
    return chunk[own[block_id[0]]]


def _call(part: Array, function: Callable[[Any], Floats], width: int) -> Floats:
    return function(part) if len(part) else np.empty((0, width))


def _call_on_frame(part: Any, function: Callable[[Any], Floats], width: int) -> Any:
    return type(part)(_call(part, function, width), columns=range(width), index=part.index)
