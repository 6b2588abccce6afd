"""Base partitions: many quick runs of k-means or another method, each in a few columns and from its own start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.base import generator
from cluewise.core.loop import Progress
from cluewise.core.partitions.given import size_name
from cluewise.core.threads import map_blocks
from cluewise.ensemble._aligned import unsigned
from cluewise.ensemble._learned import checked_estimator, label_by
from cluewise.ensemble._plans import Plan, planned, studied
from cluewise.kernels import consensus

__all__ = ["Partitioner", "partitions", "watched_by"]

Each: TypeAlias = Callable[[Iterable[Floats], int], Iterable[Floats]]

BLOCK = 4096
"""Rows labelled at once by all partitions."""


class Partitioner(Protocol):
    """Whoever makes base partitions: (m, n) whole numbers from 0, one line per partition."""

    def __call__(self, X: Any, *, n_partitions: int, n_clusters: Any, random_state: Any) -> Array:
        """Partitions of the rows of X."""
        ...


def partitions(
    X: Any,
    *,
    n_partitions: int = 300,
    n_clusters: int | Sequence[int] = 8,
    n_columns: int | None = None,
    n_rows: int = 100_000,
    max_iter: int = 30,
    estimator: Any = None,
    out: str | Path | None = None,
    random_state: Any = None,
) -> Array:
    """Partition the rows of X many times, each time in random columns and from a random start.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data, finite numbers; read block by block and never copied as a whole.
    n_partitions : int, default=300
        How many partitions.
    n_clusters : int or (low, high), default=8
        Clusters of each partition; from a range a number is drawn for each.
    n_columns : int, optional
        Columns that each partition looks at, drawn without replacement; a twentieth of them by default.
    n_rows : int, default=100_000
        Each partition is learned from at most this many rows, drawn anew for it; then all rows are labelled.
    max_iter : int, default=30
        Iterations of k-means; an estimator has its own.
    estimator : clusterer, optional
        Makes the partitions instead of k-means: anything with scikit-learn's ``fit`` and ``predict``, such as
        `ApproxKernelKMeans`. One without ``predict`` can only learn from all rows. Each partition is made by a clone,
        with ``n_clusters`` (or ``n_components``) and ``random_state`` set where it has them; one that is inside a
        pipeline cannot be told its number and is refused.
    out : str or path, optional
        File (``.npy``) to write the labels to, mapped into memory. Without it they are kept in memory, n_partitions
        bytes for each row; no file is ever made that nobody asked for.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    ndarray of shape (n_partitions, n)
        Labels, in the smallest unsigned type that holds them; 16 bits for an estimator that finds the number of
        clusters by itself.

    Notes
    -----
    A start does not depend on the order of the rows: each center begins at the row that stands at a random place in
    the order along a random direction. A cluster without rows keeps its center, so a partition may use fewer labels.
    Rows are read and labels written block by block, so X may be a file mapped into memory. For the ensemble of an
    `SCSC` give it ``partitioner=functools.partial(partitions, estimator=...)``.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise.ensemble import partitions
    >>> X = np.array([[0.0, 5.0], [0.1, 5.2], [9.0, 1.0], [9.1, 1.1]])
    >>> partitions(X, n_partitions=3, n_clusters=2, random_state=0).shape
    (3, 4)
    >>> from sklearn.mixture import GaussianMixture
    >>> partitions(X, n_partitions=3, n_clusters=2, estimator=GaussianMixture(), random_state=0).shape
    (3, 4)
    """
    return _partitions(
        X,
        n_partitions,
        n_clusters,
        n_columns,
        n_rows,
        max_iter,
        estimator,
        out,
        random_state,
        lambda made, _: made,
    )


def watched_by(progress: Progress, *, n_columns: int | None = None) -> Partitioner:
    """Makes the same `partitions`; callbacks see each of them."""
    each: Each = partial(progress.each, "partitions")

    def make(X: Any, *, n_partitions: int, n_clusters: int | Sequence[int], random_state: Any) -> Array:
        return _partitions(X, n_partitions, n_clusters, n_columns, 100_000, 30, None, None, random_state, each)

    return make


def _partitions(
    X: Any,
    n_partitions: int,
    n_clusters: int | Sequence[int],
    n_columns: int | None,
    n_rows: int,
    max_iter: int,
    estimator: Any,
    out: str | Path | None,
    random_state: Any,
    each: Each,
) -> Array:
    rows: Any = X if hasattr(X, "toarray") else np.asarray(X)
    n, d = rows.shape
    low, high = (n_clusters, n_clusters) if isinstance(n_clusters, (int, np.integer)) else n_clusters
    if not 1 <= low <= high or high > n:
        raise ValueError(f"n_clusters={n_clusters} does not fit {n} rows; it needs 1 <= low <= high <= n.")
    width = -(-d // 20) if n_columns is None else n_columns
    if not 1 <= width <= d:
        raise ValueError(f"n_columns={n_columns} does not fit {d} columns.")
    if n_rows < high:
        raise ValueError(f"n_rows={n_rows} is too few rows to find {high} clusters in.")
    given = None if estimator is None else checked_estimator(estimator, n, n_rows)
    rng = generator(random_state)
    plans = [planned(n, d, width, int(rng.integers(low, high + 1)), n_rows, rng) for _ in range(n_partitions)]
    by_column = rows.tocsc() if hasattr(X, "toarray") else rows
    labels = _room(n_partitions, n, unsigned(high) if given is None or size_name(given) else np.dtype(np.uint16), out)
    if given is None:
        made = map_blocks(lambda own: _centers(by_column, own, max_iter), plans)
        centers = list(each(made, n_partitions))
        _label(rows, plans, centers, labels)
    else:
        label_by(given, rows, by_column, plans, rng.integers(2**31, size=n_partitions).tolist(), labels)
    return labels


def _room(m: int, n: int, dtype: np.dtype[Any], out: str | Path | None) -> Array:
    """Where the labels go."""
    if out is None:
        return np.empty((m, n), dtype=dtype)
    mapped: Array = np.lib.format.open_memmap(out, mode="w+", dtype=dtype, shape=(m, n))
    return mapped


def _centers(rows: Any, plan: Plan, max_iter: int) -> Floats:
    """Centers of k-means in the columns of a plan, transposed."""
    some = studied(rows, plan)
    x = np.ascontiguousarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
    n, k = len(x), len(plan.quantiles)
    places = (plan.quantiles * n).astype(np.int64)
    starts = [int(np.argpartition(x @ own, at)[at]) for own, at in zip(plan.directions.T, places.tolist())]
    centers = np.ascontiguousarray(x[starts].T)
    labels = np.full(n, k, dtype=unsigned(k))
    every = np.arange(x.shape[1])
    for _ in range(max_iter):
        sums, mass = np.zeros_like(centers), np.zeros(k)
        moved = 0
        for start in range(0, n, 2**15):  # Ctrl-C is heard between two blocks
            block = slice(start, start + 2**15)
            moved += consensus.to_nearest(x[block], every, centers, labels[block], sums, mass)
        if not moved:
            break
        centers = np.where(mass > 0, sums / np.maximum(mass, 1), centers)
    return centers


def _label(rows: Any, plans: list[Plan], centers: list[Floats], labels: Array) -> None:
    """Nearest centers of all rows, block by block: each block of X is read once for all partitions."""

    def work(start: int) -> None:
        block = slice(start, start + BLOCK)
        some = rows[block]
        x = np.ascontiguousarray(some.toarray() if hasattr(some, "toarray") else some)
        x = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
        for own, plan, center in zip(labels, plans, centers):
            near = np.empty(len(x), dtype=labels.dtype)
            consensus.to_nearest(x, plan.columns, center, near, np.zeros_like(center), np.zeros(center.shape[1]))
            own[block] = near

    for _ in map_blocks(work, range(0, rows.shape[0], BLOCK)):
        continue
