"""Recognize rows that are not in the memory of this process as NumPy arrays, without importing what holds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from cluewise._dask import is_dask

__all__ = ["is_elsewhere", "is_tensor", "refuse_elsewhere"]


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor, or an array of CuPy, JAX or another library that offers DLPack.

    Examples
    --------
    >>> import numpy as np
    >>> is_tensor(np.ones((4, 2)))
    False
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(X, torch.Tensor):
        return True
    # Columns of data frames offer DLPack, too, but have no namespace.
    return hasattr(type(X), "__dlpack__") and hasattr(X, "ndim") and not isinstance(X, (np.ndarray, np.generic))


def is_elsewhere(X: Any) -> bool:
    """Whether rows of X are read in passes: in the chunks of a dask array, or on a device.

    Examples
    --------
    >>> import dask.array as da
    >>> is_elsewhere([[1.0]]), is_elsewhere(da.ones((4, 2)))
    (False, True)
    """
    return getattr(type(X), "elsewhere", False) is True or is_dask(X) or is_tensor(X)


def refuse_elsewhere(X: Any, who: str, what: str = "clues") -> None:
    """Refuse rows that are read in passes, where all of them would be brought into memory without a word.

    Examples
    --------
    >>> import dask.array as da
    >>> refuse_elsewhere(da.ones((4, 2)), "check")
    Traceback (most recent call last):
    ...
    TypeError: check does not take dask arrays and tensors; pass a sample of the rows with their clues.
    """
    if is_elsewhere(X):
        raise TypeError(f"{who} does not take dask arrays and tensors; pass a sample of the rows with their {what}.")
