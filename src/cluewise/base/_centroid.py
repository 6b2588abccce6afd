"""The gate of the centroid methods: centers to start from, published results, new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.base._given import checked_data
from cluewise.base._started import Problem, StartedClusterer
from cluewise.clues import Clues
from cluewise.core import assign, lloyd, loop, objective, seeding
from cluewise.core.lloyd import State
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["CentroidClusterer"]


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StartedClusterer):
    """Base of the methods that describe each cluster by a center.

    A subclass has a ``card`` and implements ``_solve(problem)``.
    """

    def _slack(self, problem: Problem) -> float:
        return lloyd.rounding(problem.rows, problem.total)

    def _evaluate(self, rows: Rows, clues: Clues, state: State) -> float:
        """The objective of a state, by code of its own."""
        return objective.distortion(rows, state.centers, state.labels)

    def _fill_centers(self, problem: Problem, given: Floats) -> Floats:
        """Add rows until there are k centers: random ones for ``init="random"``, else by k-means++."""
        rows, k = problem.rows, problem.k
        if self.init == "random":
            picked = problem.rng.choice(rows.n, size=k - len(given), replace=False)
            return np.vstack([given, rows.dense(np.sort(picked))])
        return seeding.plus_plus(rows, given, k, problem.rng)

    def _publish_state(self, rows: Rows, state: State, trace: list[float]) -> None:
        super()._publish_state(rows, state, trace)
        self.cluster_centers_ = (state.centers + rows.shift).astype(rows.dtype)
        self._n_features_out = len(state.centers)

    def _publish(self, rows: Rows, clues: Clues, result: loop.Result[State]) -> None:
        super()._publish(rows, clues, result)
        self.objective_ = self._evaluate(rows, clues, result.state)
        self.margin_ = assign.lead(rows, result.state.centers, self.labels_)

    def predict(self, X: Any) -> Ints:
        """Cluster of the nearest center for new rows; clues play no part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        labels : ndarray of shape (m,)
            Cluster of each row.
        """
        rows = self._new_rows(X)
        labels = assign.nobody(rows.n)
        with one_blas_thread():
            assign.nearest(rows, self.cluster_centers_.astype(np.float64) - rows.shift, labels)
        return labels

    def transform(self, X: Any) -> Floats:
        """Distance of each row to each center.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        distances : ndarray of shape (m, n_clusters)
            Euclidean distances.
        """
        rows = self._new_rows(X)
        table = rows.table(self.cluster_centers_.astype(np.float64) - rows.shift)
        out = np.empty((rows.n, len(table.centers)), dtype=rows.dtype)

        def work(block: slice) -> None:
            out[block] = np.sqrt(rows.squared(rows.take(block), table)).T

        with one_blas_thread():
            for _ in map_blocks(work, rows.blocks(len(table.centers))):
                continue
        return out

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        return rows_of(checked_data(self, X, reset=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
