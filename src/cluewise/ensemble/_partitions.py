"""Base partitions: many quick runs of k-means or another clusterer, each on a few columns and from its own start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from sklearn.base import clone

from cluewise._docs import documented
from cluewise._typing import Array, Floats, Ints
from cluewise.base import generator
from cluewise.core.loop import Progress
from cluewise.core.partitions.base_clusterer import clone_with, size_name
from cluewise.core.threads import map_blocks, one_blas_thread, threads
from cluewise.ensemble._aligned import unsigned
from cluewise.kernels import consensus

__all__ = ["Partitioner", "make_partitioner", "partitions"]

Each: TypeAlias = Callable[[Iterable[Floats], int], Iterable[Floats]]

BLOCK = 4096
"""Rows labeled at once by all partitions of k-means."""

PREDICTED = 2**15
"""Rows that one given estimator labels at once."""

GROUP = 16
"""Fitted estimators that are kept at once; X is read once for each group."""

N_ROWS, MAX_ITER = 100_000, 30
"""Defaults of `partitions`."""


class Plan(NamedTuple):
    """What is drawn at random for one partition, before the rows are read."""

    columns: Ints  # (d̃,)
    directions: Floats  # (d̃, k): each center starts at the row ...
    quantiles: Floats  # (k,) ... at this quantile along its direction
    sample: int | None  # seed of the rows to learn from, whose numbers would fill the memory; None: all rows
    n_rows: int


class Partitioner(Protocol):
    """A function that makes base partitions: (m, n) integers from 0, one line per partition."""

    def __call__(self, X: Any, *, n_partitions: int, n_clusters: Any, random_state: Any) -> Array:
        """Partitions of the rows of X."""
        ...


@documented
def partitions(
    X: Any,
    *,
    n_partitions: int = 300,
    n_clusters: int | Sequence[int] = 8,
    n_columns: int | None = None,
    n_rows: int = N_ROWS,
    max_iter: int = MAX_ITER,
    estimator: Any = None,
    out: str | Path | None = None,
    random_state: Any = None,
) -> Array:
    """Partition the rows of X many times, each time on random columns and from a random start.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data; read block by block and never copied as a whole.
    n_partitions : int, default=300
        Number of partitions.
    n_clusters : int or (low, high), default=8
        Number of clusters of each partition, or a range to draw it from.
    n_columns : int, optional
        Number of columns that each partition uses, drawn without replacement; a twentieth by default.
    n_rows : int, default=100_000
        Maximum number of rows that each partition is learned from, drawn for it at random; then all rows are labeled.
    max_iter : int, default=30
        Maximum number of iterations of k-means; a given estimator has its own.
    estimator : clusterer, optional
        Makes the partitions instead of k-means: anything with scikit-learn's ``fit`` and ``predict``, such as
        `ApproxKernelKMeans`. One without ``predict`` has to learn from all rows. Each partition is made by a clone,
        with ``n_clusters`` (or ``n_components``) and ``random_state`` set where it has them. A clusterer inside a
        pipeline is refused, since its number of clusters cannot be set.
    out : str or path, optional
        File (``.npy``) to write the labels to, mapped into memory. By default they are kept in memory, n_partitions
        bytes for each row.
    {random_state}

    Returns
    -------
    ndarray of shape (n_partitions, n)
        Labels, in the smallest unsigned type that holds them; 16 bits for an estimator that finds the number of
        clusters by itself.

    Notes
    -----
    A start does not depend on the order of the rows: each center begins at the row at a random quantile along a random
    direction. A cluster without rows keeps its center, so a partition may use fewer labels. Rows are read and labels
    written block by block, so X may be a file mapped into memory. To use another clusterer in an `SCSC`, pass
    ``partitioner=functools.partial(partitions, estimator=...)``.

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
    return _partition(
        X,
        n_partitions=n_partitions,
        n_clusters=n_clusters,
        random_state=random_state,
        n_columns=n_columns,
        n_rows=n_rows,
        max_iter=max_iter,
        estimator=estimator,
        out=out,
    )


def make_partitioner(progress: Progress, *, n_columns: int | None = None) -> Partitioner:
    """Make a function that makes `partitions` by k-means and shows each of them to callbacks."""
    return partial(_partition, n_columns=n_columns, each=partial(progress.each, "partitions"))


def _partition(
    X: Any,
    *,
    n_partitions: int,
    n_clusters: int | Sequence[int],
    random_state: Any,
    n_columns: int | None = None,
    n_rows: int = N_ROWS,
    max_iter: int = MAX_ITER,
    estimator: Any = None,
    out: str | Path | None = None,
    each: Each | None = None,
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
    given = None if estimator is None else _check_estimator(estimator, n, n_rows)
    rng = generator(random_state)
    plans = [draw_plan(n, d, width, int(rng.integers(low, high + 1)), n_rows, rng) for _ in range(n_partitions)]
    by_column = rows.tocsc() if hasattr(X, "toarray") else rows
    labels = _allocate(n_partitions, n, unsigned(high) if given is None or size_name(given) else np.uint16, out)
    if given is None:
        centers: Iterable[Floats] = map_blocks(lambda own: find_centers(by_column, own, max_iter), plans)
        _label(rows, plans, list(centers if each is None else each(centers, n_partitions)), labels)
    else:
        seeds = rng.integers(2**31, size=n_partitions).tolist()
        label_rows(given, rows, by_column, plans, seeds, labels)
    return labels


def _allocate(m: int, n: int, dtype: Any, out: str | Path | None) -> Array:
    """Room for the labels, in memory or in a file."""
    if out is None:
        return np.empty((m, n), dtype=dtype)
    mapped: Array = np.lib.format.open_memmap(out, mode="w+", dtype=dtype, shape=(m, n))
    return mapped


def draw_plan(n: int, d: int, width: int, k: int, n_rows: int, rng: np.random.Generator) -> Plan:
    """Draw ``width`` of d columns, the starts of k clusters, and ``n_rows`` of n rows to learn from."""
    columns = np.sort(rng.choice(d, size=width, replace=False))
    sample = int(rng.integers(2**62)) if n > n_rows else None
    return Plan(columns, rng.normal(size=(width, k)), rng.random(k), sample, n_rows)


def _select(rows: Any, plan: Plan) -> Any:
    """Select the rows and columns that a partition learns from; sparse if the rows are."""
    if plan.sample is None:
        return rows[:, plan.columns]
    drawn = np.random.default_rng(plan.sample).choice(rows.shape[0], size=plan.n_rows, replace=False)
    drawn.sort()
    if isinstance(rows, np.ndarray):
        return rows[np.ix_(drawn, plan.columns)]  # all columns of these rows would be twenty times as much
    return rows[:, plan.columns][drawn]


def find_centers(rows: Any, plan: Plan, max_iter: int) -> Floats:
    """Run k-means on the rows and columns of a plan; return the centers, transposed."""
    some = _select(rows, plan)
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
        for start in range(0, n, 2**15):  # Ctrl-C works between two blocks
            block = slice(start, start + 2**15)
            moved += consensus.to_nearest(x[block], every, centers, labels[block], sums, mass)
        if not moved:
            break
        centers = np.where(mass > 0, sums / np.maximum(mass, 1), centers)
    return centers


def _label(rows: Any, plans: list[Plan], centers: list[Floats], labels: Array) -> None:
    """Assign all rows to their nearest centers, block by block: X is read once for all partitions."""

    columns = [plan.columns for plan in plans]

    def work(start: int) -> None:
        block = slice(start, start + BLOCK)
        some = rows[block]
        label_block(some.toarray() if hasattr(some, "toarray") else some, columns, centers, labels[:, block])

    for _ in map_blocks(work, range(0, rows.shape[0], BLOCK)):
        continue


def label_block(x: Any, columns: list[Ints], centers: list[Floats], labels: Array) -> None:
    """Assign some rows to the nearest centers of each partition."""
    x = np.ascontiguousarray(x)
    x = x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    for own, used, center in zip(labels, columns, centers):
        near = np.empty(len(x), dtype=labels.dtype)
        consensus.to_nearest(x, used, center, near, np.zeros_like(center), np.zeros(center.shape[1]))
        own[:] = near


def _check_estimator(estimator: Any, n: int, n_rows: int) -> Any:
    """Refuse an estimator that would have to label rows that it has not seen, but cannot."""
    model = clone(estimator)
    if n > n_rows and not hasattr(model, "predict"):
        raise ValueError(
            f"{type(model).__name__} has no predict, so it cannot learn from n_rows={n_rows} of {n} rows; "
            f"set n_rows={n} or choose another estimator."
        )
    return model


def label_rows(estimator: Any, rows: Any, by_column: Any, plans: list[Plan], seeds: list[int], labels: Array) -> None:
    """Label all rows by one clone for each plan; ``by_column`` holds the same rows, in a format that slices columns."""

    def learn(p: int) -> Any:
        model = clone_with(estimator, len(plans[p].quantiles), seeds[p])
        x = _select(by_column, plans[p])
        with threads(1), one_blas_thread():
            model.fit(x.tocsr() if hasattr(x, "tocsr") else np.ascontiguousarray(x))
        if plans[p].sample is None and hasattr(model, "labels_"):
            labels[p] = _check_labels(model.labels_, p, 0, labels.dtype)
            return None
        return model

    for start in range(0, len(plans), GROUP):
        group = range(start, min(start + GROUP, len(plans)))
        models = [(p, model) for p, model in zip(group, map_blocks(learn, group)) if model is not None]

        def predict(first: int, models: list[tuple[int, Any]] = models) -> None:
            block = slice(first, first + PREDICTED)
            some = rows[block]
            with threads(1), one_blas_thread():
                for p, model in models:
                    found = model.predict(some[:, plans[p].columns])
                    labels[p, block] = _check_labels(found, p, first, labels.dtype)

        if models:
            for _ in map_blocks(predict, range(0, rows.shape[0], PREDICTED)):
                continue


def _check_labels(found: Any, p: int, first: int, dtype: np.dtype[Any]) -> Array:
    """Check the labels that one estimator gave to the rows from ``first`` on."""
    own = np.asarray(found)
    top = np.iinfo(dtype).max
    bad = np.flatnonzero((own < 0) | (own >= top))
    if len(bad):
        raise ValueError(
            f"partition {p} gives row {first + bad[0]} the label {own[bad[0]]}; labels run from 0 to {top - 1}, "
            "and every row needs one."
        )
    return own
