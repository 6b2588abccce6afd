"""The base of the centroid methods: published results, new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.base._clusterer import Attributes, Clusterer, Problem
from cluewise.base._given import checked_data
from cluewise.core import assign, centers, loop
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["CentroidClusterer", "new_rows"]


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base of the methods that describe each cluster by a center.

    A subclass has a ``card`` and implements ``_solve(problem)``.
    """

    cluster_centers_: Floats

    def _evaluate(self, problem: Problem, state: Any) -> Attributes:
        """The objective of a state, and parts of it that are published, by code of its own."""
        return {"objective_": centers.distortion(problem.rows, state.centers, state.labels)}

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        rows = problem.rows
        found = super()._state_attributes(problem, state, trace)
        return found | {"cluster_centers_": (state.centers + rows.shift).astype(rows.dtype)}

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        found = super()._attributes(problem, result) | self._evaluate(problem, result.state)
        return found | {"margin_": assign.lead(problem.rows, result.state.centers, found["labels_"])}

    def predict(self, X: Any) -> Ints:
        """Cluster of the nearest center for new rows; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
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
        {X_new}

        Returns
        -------
        ndarray of shape (m, n_clusters)
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
        return new_rows(self, X)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def new_rows(estimator: Any, X: Any) -> Rows:
    """Checked rows for a fitted estimator."""
    check_is_fitted(estimator)
    return rows_of(checked_data(estimator, X, reset=False))
