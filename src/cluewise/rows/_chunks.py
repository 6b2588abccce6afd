"""Tables of dask: some of their rows, and a function on each of their parts; without an import of dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cluewise._typing import Array, Floats

__all__ = ["draw_rows", "map_partitions"]

DRAWN = 100_000
"""Rows by which the columns are recognized."""


def draw_rows(X: Any, seed: int) -> Any:
    """Rows of a dask data frame or array drawn at random, in memory; all of them if there are few."""
    _check(X)
    if not hasattr(X, "to_dask_array"):
        if np.isnan(X.shape[0]):
            X = X.copy()
            X.compute_chunk_sizes()
        n = X.shape[0]
        chosen = np.sort(np.random.default_rng(seed).choice(n, DRAWN, replace=False)) if n > DRAWN else slice(None)
        return X[chosen].compute()
    n = len(X)
    return (X.sample(frac=DRAWN / n, random_state=seed) if n > DRAWN else X).compute()


def map_partitions(X: Any, function: Callable[[Any], Floats], width: int) -> Any:
    """A dask array of what ``function`` makes of each part; nothing is computed yet."""
    _check(X)
    empty = np.empty((0, width))
    if not hasattr(X, "to_dask_array"):
        whole = X.rechunk({1: -1})
        return whole.map_blocks(
            _call, function, width, chunks=(whole.chunks[0], (width,)), dtype=empty.dtype, meta=empty
        )
    import pandas as pd

    names = range(width)
    parts = X.map_partitions(_call_on_frame, function, width, meta=pd.DataFrame(empty, columns=names))
    return parts.to_dask_array()


def _check(X: Any) -> None:
    if not (hasattr(X, "to_dask_array") or hasattr(X, "map_blocks")):
        raise TypeError(f"X is a {type(X).__name__}; of dask's collections, Rows takes data frames and arrays.")


# --- what runs where the parts are ------------------------------------------------------------------------------


def _call(part: Array, function: Callable[[Any], Floats], width: int) -> Floats:
    return function(part) if len(part) else np.empty((0, width))


def _call_on_frame(part: Any, function: Callable[[Any], Floats], width: int) -> Any:
    return type(part)(_call(part, function, width), columns=range(width), index=part.index)
