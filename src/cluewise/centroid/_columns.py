"""Categorical columns, separated from the numeric ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Bools, Ints
from cluewise.clues import Clues

__all__ = ["Categories", "categories_of", "chosen_columns", "numbers_of"]


class Categories(NamedTuple):
    """One categorical column."""

    codes: Ints  # (n,) int32, −1 = missing
    values: Array  # the categories that the codes stand for


def chosen_columns(X: Any, given: Any) -> Bools:
    """Convert a mask, names or positions to a mask over the columns of X."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    width = len(names) if names is not None else _shape(X)[1]
    columns = np.atleast_1d(np.asarray(given))
    mask = np.zeros(width, dtype=bool)
    if columns.dtype == bool:
        if columns.shape != (width,):
            raise ValueError(f"categorical_features is a mask of shape {columns.shape}, but X has {width} columns.")
        mask |= columns
    elif columns.dtype.kind in "US":
        if names is None:
            raise ValueError("categorical_features holds names, but X is not a data frame with named columns.")
        for name in columns.tolist():
            if name not in names:
                raise ValueError(f"categorical_features names the column {name!r}, which X does not have.")
            mask[names.index(name)] = True
    elif columns.dtype.kind in "iu" or not len(columns):
        for j in columns.astype(int).tolist():
            if not -width <= j < width:
                raise ValueError(f"categorical_features holds the position {j}, but X has {width} columns.")
            mask[j] = True
    else:
        raise ValueError(f"categorical_features must be a mask, names or positions of columns, not {given!r}.")
    if mask.all():
        raise ValueError("categorical_features covers every column of X; at least one must be numeric.")
    return mask


def numbers_of(X: Any, categorical: Bools) -> Any:
    """The numeric columns, in a container of the same type as X."""
    numeric = np.flatnonzero(~categorical)
    if hasattr(X, "columns"):
        return X[[list(X.columns)[j] for j in numeric]]
    if hasattr(X, "tocsr"):
        return X.tocsr()[:, numeric]
    return _array(X)[:, numeric]


def categories_of(X: Any, categorical: Bools) -> list[Categories]:
    """The categorical columns as codes; NaN, None, "" and −1 are missing."""
    found = []
    for j in np.flatnonzero(categorical):
        if hasattr(X, "columns"):
            column = X[list(X.columns)[j]]
        elif hasattr(X, "tocsr"):
            column = X.tocsr()[:, [j]].toarray().ravel()
        else:
            column = _array(X)[:, j]
        known = Clues.from_labels(column)
        found.append(Categories(known.labels, known.classes_))
    return found


def _array(X: Any) -> Array:
    """X as an array; lists that mix numbers and strings become objects, so numbers stay numbers."""
    if isinstance(X, np.ndarray):
        return X
    plain = np.asarray(X)
    return plain if plain.dtype.kind in "biuf" else np.asarray(X, dtype=object)


def _shape(X: Any) -> tuple[int, int]:
    shape = X.shape if hasattr(X, "shape") else np.shape(_array(X))
    if len(shape) != 2:
        raise ValueError(f"X must have two dimensions to have categorical_features; it has {len(shape)}.")
    return shape[0], shape[1]
