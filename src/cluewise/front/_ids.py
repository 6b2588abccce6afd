"""Ids of clusters that stay the same from one fit to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Ints

__all__ = ["follow", "keep_ids"]

M = TypeVar("M")


def follow(labels: Ints, before: Ints, ids: Ints, k: int, fresh: int, named: Mapping[int, int]) -> tuple[Ints, int]:
    """Ids of clusters 0 … k − 1, and the first id that was never used.

    A cluster takes the id of the earlier cluster that it shares most rows with, the largest overlap first; ties go to
    the lower id. Clusters in ``named`` stand for a class and take the id of its earlier cluster. Rows that have no
    cluster, here or before, are marked by -1.
    """
    both = (labels >= 0) & (before >= 0)
    shared = np.zeros((k, len(ids)), dtype=np.int64)
    np.add.at(shared, (labels[both], before[both]), 1)
    found = np.full(k, -1, dtype=np.int64)
    taken = np.zeros(len(ids), dtype=bool)
    for j, b in named.items():
        found[j], taken[b] = ids[b], True
    new, old = np.nonzero(shared)
    for at in np.lexsort([new, ids[old], -shared[new, old]]):
        j, b = new[at], old[at]
        if found[j] < 0 and not taken[b]:
            found[j], taken[b] = ids[b], True
    open_ = np.flatnonzero(found < 0)
    found[open_] = fresh + np.arange(len(open_))
    return found, fresh + len(open_)


def keep_ids(model: M, previous: Any, *, names: Any = None, previous_names: Any = None) -> M:
    """Give the clusters of a new fit the ids of the clusters of an earlier one.

    Parameters
    ----------
    model : estimator
        A fitted clusterer; gets ``cluster_ids_``.
    previous : estimator
        An earlier fit, of the same rows or of others. Its clusters have the ids ``cluster_ids_``, or 0, 1, … if it
        has none.
    names, previous_names : array-like of shape (n,), optional
        Names of the rows of both fits, if rows came or went. Without them rows are matched by position.

    Returns
    -------
    estimator
        ``model``. Each of its clusters has the id of the earlier cluster that it shares most rows with, or a new one.

    Examples
    --------
    >>> import cluewise as cw
    >>> old = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])
    >>> new = cw.PCKMeans(3, random_state=0).fit([[0.0], [1.0], [8.0], [9.0], [50.0]])
    >>> ids = cw.keep_ids(new, old).cluster_ids_[new.labels_]
    >>> ids[:4].tolist() == old.labels_.tolist(), int(ids[4])
    (True, 2)
    """
    check_is_fitted(model)
    check_is_fitted(previous)
    labels = np.asarray(model.labels_)  # type: ignore[attr-defined]
    before = _match_rows(len(labels), np.asarray(previous.labels_), names, previous_names)
    ids = np.asarray(getattr(previous, "cluster_ids_", np.arange(int(before.max(initial=-1)) + 1)))
    fresh = getattr(previous, "_next_id", int(ids.max(initial=-1)) + 1)
    k = int(labels.max(initial=-1)) + 1
    k = max(k, len(getattr(model, "cluster_ids_", ())))
    found = follow(labels, before, ids, k, fresh, {})
    model.cluster_ids_, model._next_id = found  # type: ignore[attr-defined]
    return model


def _match_rows(n: int, before: Ints, names: Any, previous_names: Any) -> Ints:
    """Earlier cluster of each row, -1 for new rows."""
    if (names is None) != (previous_names is None):
        raise ValueError("pass the names of the rows of both fits, or of neither.")
    if names is None:
        out = np.full(n, -1, dtype=np.int64)
        out[: min(n, len(before))] = before[:n]
        return out
    for given, count, what in ((names, n, "names"), (previous_names, len(before), "previous_names")):
        if len(given) != count:
            raise ValueError(f"{what} has {len(given)} entries, but that fit has {count} rows.")
    place = {name: number for number, name in enumerate(previous_names)}
    return np.array([before[place[name]] if name in place else -1 for name in names], dtype=np.int64)
