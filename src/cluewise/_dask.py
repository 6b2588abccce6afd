"""Recognize dask collections without importing dask."""

from __future__ import annotations

from typing import Any

__all__ = ["is_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, data frame or another of dask's collections.

    Examples
    --------
    >>> import dask.array as da
    >>> is_dask([[1.0]]), is_dask(da.ones((4, 2)))
    (False, True)
    """
    return hasattr(type(X), "__dask_graph__") and X.__dask_graph__() is not None
