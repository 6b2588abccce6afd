"""Coordinates of the rows in a plot: two columns, or the first two principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._typing import Floats, Ints

__all__ = ["DRAWN", "View", "get_matrix", "make_view", "project"]

DRAWN = 20_000
"""Maximum number of rows in a plot, apart from the ends of links."""

_SMALL = 1000  # up to this size an eigenproblem is solved directly


class View(NamedTuple):
    """Coordinates of the rows in a plot."""

    rows: Ints  # (m,) row numbers, sorted
    xy: Floats  # (m, 2)
    names: tuple[str, str]  # of the axes
    n: int  # rows in all

    def place(self, rows: Ints) -> Floats:
        """Coordinates of some of these rows."""
        return self.xy[np.searchsorted(self.rows, rows)]


def make_view(X: Any, columns: Sequence[str | int] | None, required: Ints) -> View:
    """Make a view of all rows, or of `DRAWN` random ones and the required ones."""
    X, names = get_matrix(X)
    n = X.shape[0]
    rows = np.arange(n)
    if n > DRAWN:
        rows = np.random.default_rng(0).choice(n, DRAWN, replace=False)
        rows = np.unique(np.concatenate([rows, required]))
    X = X[rows]
    if columns is None and X.shape[1] == 2:
        columns = [0, 1]
    if columns is not None:
        xy, labels = _select_columns(X, names, columns)
    elif X.shape[1] == 1:
        # There is only one column; spread the points vertically so that they do not hide each other.
        xy = np.column_stack([_dense(X)[:, 0], (rows * 0.6180339887) % 1])
        labels = (names[0], "(spread out for visibility)")
    else:
        xy, shares = project(X)
        words = ("first", "second")
        labels = tuple(
            f"{word} principal component ({100 * share:.0f} % of the variance)" for word, share in zip(words, shares)
        )
    if not np.isfinite(xy).all():
        row = rows[np.flatnonzero(~np.isfinite(xy).all(axis=1))[0]]
        raise ValueError(f"X has nan or infinity in row {row}.")
    return View(rows, xy, (labels[0], labels[1]), n)


def project(X: Any) -> tuple[Floats, Floats]:
    """Project on the first two principal components, and return the share of the variance of each.

    Large sparse data stays sparse: the mean is subtracted from products, not from X.
    """
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    square = X.multiply(X).sum() if hasattr(X, "multiply") else np.einsum("ij,ij->", X, X, dtype=np.float64)
    total = float(square) - n * float(mean @ mean)
    if min(n, d) <= _SMALL:
        axes = _exact_axes(_dense(X) - mean)
    else:
        axes = _iterated_axes(X, mean)
    flip = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0) < 0
    axes = np.where(flip, -axes, axes)  # the sign is arbitrary, so fix it
    xy = X @ axes - mean @ axes
    return xy, (xy**2).sum(axis=0) / max(total, np.finfo(float).tiny)


def _exact_axes(centered: Floats) -> Floats:
    n, d = centered.shape
    if d <= n:
        return np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    vectors = np.linalg.eigh(centered @ centered.T)[1][:, ::-1][:, :2]
    return _orthonormal(centered.T @ vectors)


def _iterated_axes(X: Any, mean: Floats) -> Floats:
    """Subspace iteration with 12 directions and 10 rounds, which is accurate enough for a plot."""
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], 12)))[0]
    for _ in range(10):
        image = X @ basis - mean @ basis
        basis = np.linalg.qr(X.T @ image - np.outer(mean, image.sum(axis=0)))[0]
    image = X @ basis - mean @ basis
    return basis @ np.linalg.eigh(image.T @ image)[1][:, ::-1][:, :2]


def _orthonormal(vectors: Floats) -> Floats:
    if vectors.shape[1] < 2:
        vectors = np.column_stack([vectors, np.zeros(len(vectors))])
    norms = np.linalg.norm(vectors, axis=0)
    return vectors / np.where(norms > 0, norms, 1.0)


def get_matrix(X: Any) -> tuple[Any, list[str]]:
    """X as an array or a sparse matrix, and the names of its columns."""
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        values, _, names = tables.features(tables.from_frame(X, "X"))
        return values, names
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
    else:
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must have rows and columns; it has shape {X.shape}.")
    return X, [f"column {j}" for j in range(X.shape[1])]


def _select_columns(X: Any, names: list[str], columns: Sequence[str | int]) -> tuple[Floats, tuple[str, ...]]:
    if len(columns) != 2:
        raise ValueError(f"columns must name two columns; it names {len(columns)}.")
    numbers = []
    for column in columns:
        if column in names:
            numbers.append(names.index(str(column)))
        elif isinstance(column, (int, np.integer)) and 0 <= column < len(names):
            numbers.append(int(column))
        else:
            raise ValueError(f"X has no column {column!r}.")
    return _dense(X[:, numbers]), tuple(names[j] for j in numbers)


def _dense(X: Any) -> Floats:
    return X.toarray() if hasattr(X, "toarray") else X
