"""A file for Embedding Atlas: the rows with their clusters and places on the map."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from cluewise._typing import Floats
from cluewise.tables import Table, from_frame, write

__all__ = ["write_atlas"]


def write_atlas(path: str | PathLike[str], data: Any, model: Any, *, X: Any = None, coordinates: Any = None) -> None:
    """Write rows, clusters and coordinates as a Parquet file for ``embedding-atlas FILE --x x --y y``.

    The columns of the data, then ``cluster`` (text, so that colors are for categories), ``margin`` if the model tells
    how sure each row is, ``x`` and ``y``.

    Parameters
    ----------
    path : path
        The file, which ends in ``.parquet``.
    data : data frame or mapping
        The rows, by column.
    model : estimator
        A fitted clusterer.
    X : array-like of shape (n, d), optional
        The numbers that were clustered; coordinates are their first two principal components.
    coordinates : array-like of shape (n, 2), optional
        Coordinates on the map, instead of X.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cluewise as cw
    >>> X = [[0.0, 1.0], [1.0, 0.0], [8.0, 9.0], [9.0, 8.0]]
    >>> model = cw.Cluewise(2, random_state=0).fit(X)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> cw.adapters.write_atlas(path, {"name": ["a", "b", "c", "d"]}, model, X=X)
    >>> list(cw.tables.read(path).columns)
    ['name', 'cluster', 'margin', 'x', 'y']
    """
    if (X is None) == (coordinates is None):
        raise ValueError("pass X, whose principal components are the map, or coordinates.")
    table = Table(data) if isinstance(data, Mapping) else from_frame(data)
    places = _project(X) if coordinates is None else np.asarray(coordinates, dtype=np.float64)
    n = len(model.labels_)
    if places.shape != (n, 2) or len(table) != n:
        raise ValueError(f"the model has {n} rows, the data {len(table)}, and the coordinates {places.shape}.")
    new: dict[str, Any] = {"cluster": [str(label) for label in np.asarray(model.labels_).tolist()]}
    if hasattr(model, "margin_"):
        new["margin"] = np.asarray(model.margin_, dtype=np.float64)
    new |= {"x": places[:, 0], "y": places[:, 1]}
    taken = [name for name in new if name in table.columns]
    if taken:
        raise ValueError(f"the data have a column {taken[0]!r} already; rename it.")
    write(path, {**table.columns, **new})


def _project(X: Any) -> Floats:
    rows = np.asarray(X, dtype=np.float64)
    count = min(2, *rows.shape)
    found: Floats = PCA(count, random_state=0).fit_transform(rows)
    return np.hstack([found, np.zeros((len(rows), 2 - count))])
