"""Local clusterings: a clusterer fitted to some rows and extended to all others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from cluewise._typing import Array, Floats, Ints
from cluewise.core.assign import nearest, no_labels
from cluewise.core.partitions.base_clusterer import clone_with
from cluewise.core.rows import rows_of

__all__ = ["Local", "codes_of", "groups_of", "local_clustering"]

VOTERS = 5
"""Number of neighbors that vote if a clusterer has no ``predict``."""


class Local(NamedTuple):
    """One local clustering, extended to all rows."""

    estimator: Any
    rule: Any  # has `predict`: the estimator, or a vote of neighbors
    labels: Ints  # (n,) codes, -1 where the rule gives no label
    names: Ints  # label of the rule for each code
    size: int  # number of rows that it was fitted to


def codes_of(found: Any, names: Ints) -> Ints:
    """Codes of the labels of a rule; -1 for noise and for unknown labels."""
    found = np.asarray(found)
    if not len(names):
        return np.full(len(found), -1, dtype=np.int32)
    place = np.minimum(np.searchsorted(names, found), len(names) - 1)
    return np.where(names[place] == found, place, -1).astype(np.int32)


def groups_of(known: Sequence[Array], key: Floats, k: int = 2) -> list[Ints]:
    """Rows of each group in the product of the known clusterings; rows that one of them does not cover are in no group.

    Rows are sorted by ``key`` and groups by its mean, so that results depend neither on the order of the rows nor on
    the names of groups. Groups of one row are left out; there are no groups if the others have fewer than k rows.
    """
    cells = np.zeros(len(key), dtype=np.intp)
    if known:
        distinct, place = np.unique(np.column_stack(known), axis=0, return_inverse=True)
        whole = np.asarray((distinct >= 0).all(axis=1))
        cells = np.where(whole[place.ravel()] | (not whole.any()), place.ravel(), -1)
    order = np.argsort(key, kind="stable")
    order = order[np.argsort(cells[order], kind="stable")]
    order = order[np.searchsorted(cells[order], 0) :]  # rows in no group come first
    groups = np.split(order, np.flatnonzero(np.diff(cells[order])) + 1)
    groups = [rows for rows in groups if len(rows) > 1]
    if sum(map(len, groups)) < k:
        return []
    return sorted(groups, key=lambda rows: float(key[rows].mean()))


def local_clustering(base: Any, X: Any, rows: Ints, k: int, seed: int) -> Local:
    """A clone of ``base`` with k clusters, fitted to some rows and extended to all by its rule (E36, E37)."""
    model = clone_with(base, min(k, len(rows)), seed)
    with warnings.catch_warnings(), threadpool_limits(1, user_api="openmp"):  # same result for any number of threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # a group may have fewer distinct rows than clusters
        model.fit(X[rows])
        if not hasattr(model, "predict") and not hasattr(model, "labels_"):
            raise TypeError(f"estimator={base!r} has neither predict nor labels_, so it cannot label rows.")
        rule = _rule_of(model, X, rows)
        found = np.array(rule.predict(X), dtype=np.int64)
    if hasattr(model, "labels_"):
        found[rows] = model.labels_
    names = np.unique(found[found >= 0])
    return Local(model, rule, codes_of(found, names), names, len(rows))


class _Nearest(NamedTuple):
    """Assigns rows to the nearest center, precisely even far from the origin, unlike scikit-learn's k-means."""

    centers: Floats

    def predict(self, X: Any) -> Ints:
        """Number of the center of each row."""
        rows = rows_of(X)
        labels = no_labels(rows.n)
        nearest(rows, self.centers.astype(np.float64) - rows.shift, labels)
        return labels


def _rule_of(model: Any, X: Any, rows: Ints) -> Any:
    from sklearn.cluster import KMeans

    if isinstance(model, KMeans):
        return _Nearest(model.cluster_centers_)
    return model if hasattr(model, "predict") else _vote(X[rows], model.labels_)


def _vote(X: Any, labels: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(min(VOTERS, X.shape[0])).fit(X, labels)
