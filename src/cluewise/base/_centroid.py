"""The base of the centroid methods: parameters, published results, prediction for new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._elsewhere import is_elsewhere
from cluewise._typing import Bools, Floats, Ints
from cluewise.base._clusterer import Attributes, Clusterer, Problem
from cluewise.base._input import checked_data, checked_weight, map_new_chunks
from cluewise.core import assign, centers, loop
from cluewise.core.crowd import Placed
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["CentroidClusterer", "new_rows"]


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base of the methods that describe each cluster by a center, with the parameters of K-means.

    A subclass has a ``card`` and implements ``_solve(problem)``. Its ``__init__``, if it has more parameters, sets
    those and passes the others on.
    """

    cluster_centers_: Floats
    inertia_: float
    margin_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _find_free(self, problem: Problem) -> Bools:
        """Mask of the rows that go to the nearest center: those without clues, and none within bounds on sizes."""
        free = np.full(problem.rows.n, problem.clues.sizes is None)
        free[problem.clues.tied] = False
        return free

    def _settle(self, problem: Problem, best: loop.Result[Any], *, stopping: bool = False) -> loop.Result[Any]:
        rows, state, free = problem.rows, best.state, self._find_free(problem)
        at = self._publish_centers(rows, state).astype(np.float64) - rows.shift  # as `predict` sees them
        if not assign.relabel(rows, at, state.labels, free) and rows.crowd is None:
            return best
        if rows.crowd is not None and stopping:
            # Labels are worked out when somebody asks for them; the objective is that of the last iteration.
            return best._replace(state=state._replace(placed=Placed(at, state.placed.tally)))
        if rows.crowd is not None:
            rows.crowd.placed = state.placed
            rows.crowd.place(at)
            state = state._replace(placed=rows.placed)
        return best.settle(state, self._evaluate(problem, state)["objective_"])

    def _publish_centers(self, rows: Rows, state: Any) -> Floats:
        return (state.centers + rows.shift).astype(rows.dtype)

    def _evaluate(self, problem: Problem, state: Any) -> Attributes:
        """The objective of a state and its published parts, computed independently of the loop."""
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": spread, "inertia_": spread}

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        rows = problem.rows
        found = super()._state_attributes(problem, state, trace)
        return found | {"cluster_centers_": self._publish_centers(rows, state)}

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        found = super()._attributes(problem, result) | self._evaluate(problem, result.state)
        rows, state = problem.rows, result.state
        if rows.crowd is None:
            return found | {"margin_": assign.lead(rows, state.centers, found["labels_"])}
        return found | {"margin_": rows.crowd.spread_lead(state.centers, state.labels)}

    def predict(self, X: Any) -> Ints:
        """Assign new rows to the cluster with the nearest center; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        if self.card.chunks and is_elsewhere(X):
            return self._map_new_chunks(X, _label_chunk, dtype=np.int32)
        return _find_labels(self._new_rows(X), self.cluster_centers_)

    def transform(self, X: Any) -> Floats:
        """Compute the distance of each row to each center.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Euclidean distances.
        """
        if self.card.chunks and is_elsewhere(X):
            return self._map_new_chunks(X, _measure_chunk, width=self.n_clusters)
        return _find_distances(self._new_rows(X), self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score new rows as scikit-learn's ``KMeans`` does: by their distances to the nearest centers, clues aside.

        Parameters
        ----------
        {X_new}
        {y}
        sample_weight : array-like of shape (m,), optional
            Weight of each row.

        Returns
        -------
        float
            The sum of squared distances to the nearest centers, negative: higher is better.
        """
        if self.card.chunks and is_elsewhere(X):
            squared = self._map_new_chunks(X, _square_chunk, dtype=np.float64)
            return -float((squared if sample_weight is None else squared * sample_weight).sum())
        rows = self._new_rows(X)
        if sample_weight is not None:
            rows = rows_of(rows.X, checked_weight(sample_weight, rows.X).astype(rows.dtype, copy=False))
        at = self.cluster_centers_.astype(np.float64) - rows.shift
        with one_blas_thread():
            return -centers.distortion(rows, at, assign.find_nearest(rows, at))

    def _new_rows(self, X: Any) -> Rows:
        return new_rows(self, X)

    def _map_new_chunks(self, X: Any, function: Any, dtype: Any = None, width: int | None = None) -> Any:
        check_is_fitted(self)
        return map_new_chunks(self, X, function, self.cluster_centers_, dtype=dtype, width=width)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def new_rows(estimator: Any, X: Any) -> Rows:
    """Check new rows for a fitted estimator."""
    check_is_fitted(estimator)
    return rows_of(checked_data(estimator, X, reset=False))


def _find_labels(rows: Rows, at: Floats) -> Ints:
    with one_blas_thread():
        return assign.find_nearest(rows, at.astype(np.float64) - rows.shift)


def _find_distances(rows: Rows, at: Floats) -> Floats:
    table = rows.table(at.astype(np.float64) - rows.shift)
    out = np.empty((rows.n, len(at)), dtype=rows.dtype)

    def work(block: slice) -> None:
        out[block] = np.sqrt(rows.squared(rows.take(block), table)).T

    with one_blas_thread():
        for _ in map_blocks(work, rows.blocks(len(at))):
            continue
    return out


def _label_chunk(chunk: Floats, at: Floats) -> Ints:
    return _find_labels(rows_of(chunk), at) if len(chunk) else np.empty(0, dtype=np.int32)


def _measure_chunk(chunk: Floats, at: Floats) -> Floats:
    return _find_distances(rows_of(chunk), at) if len(chunk) else np.empty((0, len(at)), dtype=chunk.dtype)


def _square_chunk(chunk: Floats, at: Floats) -> Floats:
    return _measure_chunk(chunk, at).min(axis=1).astype(np.float64) ** 2
