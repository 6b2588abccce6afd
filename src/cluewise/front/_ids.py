"""Ids of clusters that stay the same from one fit to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Ints
from cluewise.base import class_clusters
from cluewise.clues import Clues

__all__ = ["follow", "keep_ids", "list_classes", "list_ids", "name_clusters"]

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
        Names of the rows of both fits, if rows came or went; each names one row. Without them rows are matched by
        position.

    Returns
    -------
    estimator
        ``model``. Each of its clusters has the id of the earlier cluster that it shares most rows with, or a new one.
        The cluster of a class of labels keeps its id, if both fits know the clusters of classes, as `Cluewise` does.

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
    new, old = _classes_of(model, k), _classes_of(previous, len(ids))
    found = follow(labels, before, ids, k, fresh, {new[name]: old[name] for name in new.keys() & old.keys()})
    model.cluster_ids_, model._next_id = found  # type: ignore[attr-defined]
    return model


def list_classes(clues: Clues, k: int) -> dict[Any, int]:
    """Cluster of each class that has a label."""
    clusters = class_clusters(clues, k).tolist()
    return {clues.classes_[code]: clusters[code] for code in np.unique(clues.labels[clues.labels >= 0])}


def _classes_of(model: Any, k: int) -> dict[Any, int]:
    """Cluster of each class; empty for methods that do not tell."""
    told = hasattr(model, "clues_") and model.card.named
    return list_classes(model.clues_, k) if told else {}


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
        repeated = next((name for name, times in Counter(given).items() if times > 1), None)
        if repeated is not None:
            raise ValueError(f"{what} has '{repeated}' more than once; a name has to tell its row from all others.")
    place = {name: number for number, name in enumerate(previous_names)}
    return np.array([before[place[name]] if name in place else -1 for name in names], dtype=np.int64)


def list_ids(model: Any) -> Ints:
    """Ids of the clusters of a fit; their numbers if it has none.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.front import list_ids
    >>> list_ids(cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]])).tolist()
    [0, 1]
    """
    if hasattr(model, "cluster_ids_"):
        ids = np.asarray(model.cluster_ids_)
    else:
        ids = np.arange(int(np.max(model.labels_, initial=-1)) + 1)
    # A cluster without rows has no id yet, but new rows may be in it.
    more = max(0, (getattr(model, "n_clusters", 0) or 0) - len(ids))
    fresh = getattr(model, "_next_id", int(ids.max(initial=-1)) + 1)
    return np.append(ids, fresh + np.arange(more))


def name_clusters(model: Any, clues: Clues, before: Mapping[int, str]) -> dict[int, str]:
    """Names of clusters by id: those from before, and those of classes, which come first.

    A cluster is named after a class if most labels in it are of that class, and most of these are in it.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise.front import name_clusters
    >>> clues = cw.Clues(4, labels=["low", None, None, "high"])
    >>> model = cw.Cluewise(2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]], clues=clues)
    >>> name_clusters(model, clues, {})
    {0: 'high', 1: 'low'}
    """
    ids = list_ids(model)
    names = {i: before[i] for i in ids.tolist() if i in before}
    for cluster, name in _name_by_labels(model.labels_, clues).items():
        names = {i: other for i, other in names.items() if other != name} | {int(ids[cluster]): name}
    return dict(sorted(names.items()))


def _name_by_labels(labels: Ints, clues: Clues) -> dict[int, str]:
    known = (clues.labels >= 0) & (labels >= 0)
    if not known.any():
        return {}
    counts = np.zeros((int(labels.max()) + 1, len(clues.classes_)), dtype=np.intp)
    np.add.at(counts, (labels[known], clues.labels[known]), 1)
    own, home = counts.argmax(axis=1), counts.argmax(axis=0)
    named = [j for j in range(len(counts)) if counts[j].any() and home[own[j]] == j]
    return {j: str(clues.classes_[own[j]]) for j in named}
