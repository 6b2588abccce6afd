"""Data sets and their errors, and what all sources of data share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, RandomState

from cluewise._typing import Array, Floats, Ints

__all__ = ["Dataset", "DatasetError", "Listing", "as_floats", "make_generator", "number_classes"]


class DatasetError(ValueError):
    """A data set that is unknown, cannot be fetched, or is not as expected.

    Examples
    --------
    >>> from cluewise.datasets import load
    >>> load("irsi")
    Traceback (most recent call last):
    ...
    cluewise.datasets._dataset.DatasetError: there is no data set 'irsi'; did you mean 'iris'?
    """


class Listing(NamedTuple):
    """One line of :func:`cluewise.datasets.available`: size, number of classes and source.

    Parameters
    ----------
    n, d, k : int
        Number of rows, columns and classes.
    origin : str
        ``"folder"``, ``"scikit-learn"`` or ``"OpenML"``.

    Examples
    --------
    >>> from cluewise.datasets import available
    >>> available()["breast_cancer"]
    Listing(n=569, d=30, k=2, origin='scikit-learn')
    """

    n: int
    d: int
    k: int
    origin: str


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points with their true classes.

    Parameters
    ----------
    name : str
        Name for :func:`cluewise.datasets.load`.
    X : ndarray of shape (n, d)
        The points, floating point and finite.
    y : ndarray of shape (n,)
        The class of each point, 0 to k − 1.
    class_names : tuple of str
        Name of each class.
    feature_names : tuple of str
        Names of the columns; empty if the source has none.
    source : str
        Where the data come from.
    extra : dict of str to ndarray
        Other arrays of the source, such as the split into training and test rows.

    Examples
    --------
    >>> from cluewise.datasets import load
    >>> data = load("breast_cancer")
    >>> data
    Dataset('breast_cancer', 569 × 30, 2 classes)
    >>> data.X.shape, data.y[:3].tolist(), data.class_names
    ((569, 30), [0, 0, 0], ('malignant', 'benign'))
    """

    name: str
    X: Floats
    y: Ints
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    source: str
    extra: Mapping[str, Array] = field(default_factory=dict)

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}, {n} × {d}, {len(self.class_names)} classes)"


def as_floats(X: Array, where: str) -> Floats:
    """Convert to a finite floating-point matrix, and keep single precision; ``where`` begins the error message."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DatasetError(f"{where}: X must be a matrix of numbers, not {X.dtype} in shape {X.shape}.")
    floats = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    finite = np.isfinite(floats)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise DatasetError(f"{where}: X has {floats[row, column]} in row {row}, column {column}.")
    return floats


def number_classes(values: Array) -> tuple[Ints, tuple[str, ...]]:
    """Number classes from 0 to k − 1, and list their names; numeric names are sorted as numbers."""
    names, codes = np.unique(values, return_inverse=True)
    try:
        order = np.argsort(names.astype(np.float64), kind="stable")
    except ValueError:
        order = np.arange(len(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return rank[codes], tuple(str(name) for name in names[order])


def make_generator(random_state: int | Generator | RandomState | None) -> Generator:
    """Make a generator from a seed; a RandomState is used in the same way with every version of NumPy."""
    if isinstance(random_state, RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
