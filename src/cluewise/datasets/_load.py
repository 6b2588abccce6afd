"""Load data sets by name."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from cluewise._typing import Floats
from cluewise.datasets import _folder, _openml
from cluewise.datasets._dataset import Dataset, DatasetError, Listing

__all__ = ["BUNDLED", "available", "load"]

BUNDLED = {
    "breast_cancer": Listing(569, 30, 2, "scikit-learn"),
    "digits": Listing(1797, 64, 10, "scikit-learn"),
    "iris": Listing(150, 4, 3, "scikit-learn"),
    "wine": Listing(178, 13, 3, "scikit-learn"),
}
"""The data sets that come with scikit-learn."""


def load(name: str, *, standardize: bool = False) -> Dataset:
    """Load a labeled data set by name.

    The set is searched for in the folder named by the environment variable ``CLUEWISE_DATA`` (one ``.npz`` file with
    ``X`` and ``y`` per set), then among the sets that come with scikit-learn, then on OpenML. Sets from a folder with a
    manifest, or from OpenML, are checked; other data under a known name is an error. OpenML's files are text: mnist and
    covtype take about a minute to read.

    Parameters
    ----------
    name : str
        One of the names in :func:`available`.
    standardize : bool, default=False
        Shift and scale every column to mean 0 and variance 1 (constant columns to 0).

    Returns
    -------
    Dataset
        Points ``X``, true classes ``y``, and their source. Different sources of a set may number its classes
        differently.

    Examples
    --------
    >>> from cluewise.datasets import load
    >>> data = load("wine", standardize=True)
    >>> data.X.shape, len(data.class_names)
    ((178, 13), 3)
    """
    data = _find(name)
    return replace(data, X=_standardize(data.X)) if standardize else data


def available() -> dict[str, Listing]:
    """List the names that :func:`load` knows, with the sizes and sources of the sets.

    Returns
    -------
    dict of str to Listing
        Number of rows, columns and classes, and origin: ``"folder"``, ``"scikit-learn"`` or ``"OpenML"``
        (fetched over the network when first used, then kept on disk).

    Examples
    --------
    >>> from cluewise.datasets import available
    >>> available()["digits"].n
    1797
    """
    folder = _folder.data_folder()
    here = {} if folder is None else _folder.listings(folder)
    return dict(sorted((_openml.listings() | BUNDLED | here).items()))


def _find(name: str) -> Dataset:
    folder = _folder.data_folder()
    in_folder = [] if folder is None else _folder.names(folder)
    if folder is not None and name in in_folder:
        return _folder.read(folder, name)
    if name in BUNDLED:
        return _load_bundled(name)
    if name in _openml.OPENML:
        return _openml.fetch(name)
    close = get_close_matches(str(name), [*in_folder, *BUNDLED, *_openml.OPENML], n=3)
    hint = "cluewise.datasets.available() lists all."
    if close:
        hint = f"did you mean {' or '.join(repr(other) for other in dict.fromkeys(close))}?"
    raise DatasetError(f"there is no data set {name!r}; {hint}")


def _load_bundled(name: str) -> Dataset:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    return Dataset(
        name,
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target, dtype=np.int64),
        tuple(str(label) for label in bunch.target_names),
        tuple(str(column) for column in bunch.feature_names),
        "scikit-learn",
    )


def _standardize(X: Floats) -> Floats:
    centered = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    # The mean of equal numbers may have a rounding error, so a constant column is recognized by its range.
    constant = X.max(axis=0) == X.min(axis=0)
    return centered * ~constant / (deviation + constant)
