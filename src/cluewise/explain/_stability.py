"""How sure are the clusters? Cluster parts of the rows again and again, and see which clusters come back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._notebook import Report
from cluewise._typing import Floats, Ints
from cluewise.base import as_clues, generator
from cluewise.clues.words import plural
from cluewise.core.loop import Progress
from cluewise.exceptions import ClueError, ClueWarning
from cluewise.metrics.matching import match_labels

__all__ = ["RECOVERED", "Stability", "stability"]

RECOVERED = 0.75
"""Jaccard similarity from which on a cluster has come back (Hennig, 2007)."""


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Report):
    """Which clusters come back when parts of the rows are clustered again; print it to read it.

    Attributes
    ----------
    clusters : ndarray of shape (k,)
        Numbers of the clusters.
    similarity : ndarray of shape (n_resamples, k)
        Jaccard similarity of each cluster, as far as it was drawn, to the most similar cluster of each resample; nan if
        no row of it was drawn.
    rows : ndarray of shape (n,)
        For each row the share of the resamples with this row in which it stays in its cluster, after the best matching
        of clusters; nan for noise and for rows that were never drawn.
    n_clusters : ndarray of shape (n_resamples,)
        Number of clusters of each resample.
    failed : int
        Number of resamples that could not be clustered, for instance because the clues left no way.

    Examples
    --------
    >>> import cluewise as cw
    >>> X = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4], [9.0], [9.2], [9.4]]
    >>> model = cw.PCKMeans(3, random_state=0).fit(X)
    >>> found = cw.stability(model, X, n_resamples=10, random_state=0)
    >>> found.jaccard.tolist(), found.recovered.tolist()
    ([1.0, 1.0, 1.0], [10, 10, 10])
    """

    clusters: Ints
    similarity: Floats
    rows: Floats
    n_clusters: Ints
    failed: int

    @property
    def jaccard(self) -> Floats:
        """Mean similarity of each cluster; Hennig calls one below 0.6 unstable and one from 0.85 on highly stable."""
        held = ~np.isnan(self.similarity)
        return np.where(held, self.similarity, 0.0).sum(axis=0) / np.maximum(held.sum(axis=0), 1)

    @property
    def drawn(self) -> Ints:
        """Number of resamples with rows of each cluster."""
        return (~np.isnan(self.similarity)).sum(axis=0)

    @property
    def recovered(self) -> Ints:
        """Number of resamples in which each cluster comes back, with a similarity of 0.75 or more."""
        return (np.nan_to_num(self.similarity) >= RECOVERED).sum(axis=0)

    def __str__(self) -> str:
        lines = [
            f"Cluster {cluster} comes back in {back} of {plural(drawn, 'resample')} (similarity {similarity:.2f})."
            for cluster, back, drawn, similarity in zip(
                self.clusters.tolist(), self.recovered.tolist(), self.drawn.tolist(), self.jaccard.tolist()
            )
        ]
        if self.failed:
            lines.append(f"{plural(self.failed, 'resample')} could not be clustered.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything about the clusters as plain data, for JSON."""
        columns = zip(self.clusters.tolist(), self.recovered.tolist(), self.drawn.tolist(), self.jaccard.tolist())
        return {
            "resamples": len(self.similarity),
            "failed": self.failed,
            "clusters": [dict(zip(("cluster", "recovered", "drawn", "jaccard"), line)) for line in columns],
        }


@documented
def stability(
    model: Any,
    X: Any,
    clues: Any = None,
    *,
    n_resamples: int = 50,
    share: float = 0.8,
    time_limit: float | None = None,
    random_state: Any = None,
    callbacks: Sequence[Any] = (),
) -> Stability:
    """Find out how sure each cluster and each row is, by clustering parts of the rows again.

    Each resample draws a share of the rows without replacement, and the method clusters them with the clues among
    them. A cluster comes back if some cluster of the resample has nearly the same rows.

    Parameters
    ----------
    model : clusterer
        A fitted clusterer, whose clusters are judged; one that is not fitted is fitted first. It is cloned.
    {X}
    clues : Clues or array-like of shape (n,), optional
        The clues of the fit; by default those that the model keeps (``clues_``). Most methods keep none; a warning
        tells if the fit had clues.
    n_resamples : int, default=50
        Number of resamples.
    share : float, default=0.8
        Share of the rows in each.
    time_limit : float, optional
        Seconds after which no further resample begins; there is at least one.
    {random_state}
    callbacks : sequence of callbacks, default=()
        Scikit-learn callbacks; each resample is a start. One that asks to stop ends the resampling.

    Returns
    -------
    Stability
        ``print`` shows it; ``plots.stability`` draws it.

    Notes
    -----
    This is the clusterwise stability of [Hennig2007]_ by subsets. Rows are not repeated as in a bootstrap, because
    copies of a row would count as evidence for a cluster. Every resample has a seed of its own, so that the chance of
    a start counts, too.

    Weights of rows cannot be passed: every row counts the same, even if the fit had a ``sample_weight``.

    A stable cluster need not be a true one: a method that always cuts a cloud in the same way is stable.

    References
    ----------
    .. [Hennig2007] C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics and Data
       Analysis 52, 2007.

    Examples
    --------
    >>> import cluewise as cw
    >>> wine = cw.datasets.load("wine", standardize=True)
    >>> model = cw.PCKMeans(3, random_state=0).fit(wine.X)
    >>> print(cw.stability(model, wine.X, n_resamples=20, random_state=0))
    Cluster 0 comes back in 20 of 20 resamples (similarity 0.98).
    Cluster 1 comes back in 20 of 20 resamples (similarity 0.99).
    Cluster 2 comes back in 20 of 20 resamples (similarity 0.97).
    """
    if n_resamples < 1 or not 0 < share < 1:
        raise ValueError(f"n_resamples={n_resamples} and share={share} need n_resamples >= 1 and 0 < share < 1.")
    refuse_elsewhere(X, "stability")
    table = X if hasattr(X, "shape") else np.asarray(X)
    if hasattr(table, "tocsr"):
        table = table.tocsr()  # other sparse formats have no rows to take
    n = table.shape[0]
    if n < 2:
        raise ValueError(f"stability needs at least 2 rows to draw from; X has {n}.")
    if clues is None and not hasattr(model, "clues_") and _had_clues(model):
        warnings.warn(
            f"{type(model).__name__} does not keep the clues of its fit, so parts are clustered without them; pass "
            "clues=.",
            ClueWarning,
            stacklevel=2,
        )
    known = as_clues(getattr(model, "clues_", None) if clues is None else clues, n)
    if not hasattr(model, "labels_"):
        model = clone(model).fit(X, clues=known)
    labels = np.asarray(model.labels_, dtype=np.int64)
    if len(labels) != n:
        raise ValueError(f"X has {n} rows, but the model was fitted on {len(labels)}.")
    rng = generator(random_state)
    clusters = np.unique(labels[labels >= 0])
    if not len(clusters):
        raise ValueError("there are no clusters to judge: all rows are noise.")
    similarity: list[Floats] = []
    counts: list[int] = []
    stays, draws = np.zeros(n), np.zeros(n)
    failure: Exception | None = None
    failed, until = 0, np.inf if time_limit is None else perf_counter() + time_limit
    with Progress(model, callbacks, n_resamples, 1) as progress:
        for number in range(n_resamples):
            if number and perf_counter() > until:
                break
            rows = np.sort(rng.choice(n, max(2, round(share * n)), replace=False))
            progress.begin_start(number)
            try:
                found = _fit_part(model, _take(table, rows), known[rows], int(rng.integers(2**31)))
            except (ClueError, ValueError) as error:  # too few rows or no way to keep the clues
                failed, failure = failed + 1, error
            else:
                similarity.append(_compare(labels[rows], found, clusters))
                counts.append(len(np.unique(found[found >= 0])))
                draws[rows] += labels[rows] >= 0
                stays[rows] += (match_labels(found, labels[rows]) == labels[rows]) & (labels[rows] >= 0)
            if progress.end_start():
                break
    if failure is not None and not similarity:
        raise ValueError(f"none of {plural(failed, 'resample')} could be clustered: {failure}") from failure
    by_row = np.where(draws > 0, stays / np.maximum(draws, 1), np.nan)
    return Stability(clusters, np.array(similarity), by_row, np.array(counts), failed)


def _had_clues(model: Any) -> bool:
    return bool(getattr(getattr(model, "clusterer_", model), "_had_clues", False))


def _take(X: Any, rows: Ints) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _fit_part(model: Any, X: Any, clues: Any, seed: int) -> Ints:
    part = clone(model)
    if "random_state" in part.get_params(deep=False):
        part.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit on all rows has told them
        return np.asarray(part.fit(X, clues=clues).labels_, dtype=np.int64)


def _compare(labels: Ints, found: Ints, clusters: Ints) -> Floats:
    """Jaccard similarity of each cluster to the most similar one of another clustering; nan if it has no rows."""
    k, m = len(clusters), int(found.max(initial=-1)) + 1
    codes = np.searchsorted(clusters, labels)
    inside, both = labels >= 0, (labels >= 0) & (found >= 0)
    shared = np.bincount(codes[both] * max(m, 1) + found[both], minlength=k * max(m, 1)).reshape(k, -1)
    size, other = np.bincount(codes[inside], minlength=k), np.bincount(found[found >= 0], minlength=max(m, 1))
    union = size[:, None] + other - shared
    best = (shared / np.maximum(union, 1)).max(axis=1)
    return np.where(size > 0, best, np.nan)
