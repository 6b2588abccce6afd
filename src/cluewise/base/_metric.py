"""The base of the metric learners: checked rows and clues in, a root of the Mahalanobis matrix out."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._elsewhere import is_elsewhere
from cluewise._sklearn import Interval, fit_context
from cluewise._typing import Floats
from cluewise.base._clusterer import Attributes, ClueEstimator
from cluewise.base._input import checked_chunks, checked_data, map_new_chunks
from cluewise.base._then import MetricThen
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.chunks import Chunks
from cluewise.core.crowd import split_rows
from cluewise.core.distances import metric
from cluewise.core.loop import Progress
from cluewise.core.rows import rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.exceptions import ClueWarning

__all__ = ["MetricLearner", "from_components"]


def from_components(L: Floats, dtype: Any) -> Attributes:
    """Publish a root of the matrix as it is."""
    return {"components_": L.astype(dtype), "n_components_": len(L)}


def from_trace(trace: list[float]) -> Attributes:
    """Publish the objective after every step."""
    return {"n_iter_": len(trace), "trace_": np.array(trace), "objective_": trace[-1]}


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClueEstimator):
    """Base of the transformers that learn a Mahalanobis metric from clues.

    A subclass has a ``card`` and implements ``_learn(X, clues)``, which returns what is published. An iterative one has
    ``max_iter`` and ``tol``, passes its step to `_run`, and implements ``_metric_of(state, dtype)``: an interrupted fit
    publishes the metric of the last complete state.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    n_components: int | None
    shrinkage: float | str
    max_iter: int
    tol: float
    components_: Floats
    n_components_: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
        """Learn a metric for the rows of X from clues.

        Parameters
        ----------
        {X_dense}
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        if self.card.chunks and is_elsewhere(X):
            X = checked_chunks(self, X)
        else:
            X = checked_data(self, X, reset=True, sparse=False)
        if self.n_components is not None and self.n_components > X.shape[1]:
            raise ValueError(f"n_components={self.n_components} is larger than the number of columns, {X.shape[1]}.")
        known = self._check_clues(clues, X.shape[0])
        if self.card.hard and known.contradictions:
            known.require(known.n)
        with one_blas_thread():
            self._write(self._learn(X, known))
        return self

    def _learn(self, X: Any, clues: Clues) -> Attributes:
        """Learn from checked rows, or from `Chunks` if the card says so, and from clues of the kinds on the card."""
        raise TypeError(f"{type(self).__name__} does not implement _learn.")

    def _shrunk(self, C: Floats, freedom: int) -> Floats:
        """Shrink a covariance of standardized columns, or their variances, towards the identity by ``shrinkage``."""
        share = self.shrinkage
        if isinstance(share, str):
            share = metric.shrinkage_for(len(C) if C.ndim == 2 else 1, freedom)
        return metric.shrunk(C, share)

    def _from_matrix(self, M: Floats, dtype: Any) -> Attributes:
        """Publish a positive semidefinite matrix by its leading eigenvectors."""
        return from_components(metric.root(metric.leading(metric.eigen(M), self.n_components)), dtype)

    def _from_root(self, L: Floats, dtype: Any) -> Attributes:
        """Publish LᵀL by its leading eigenvectors, more accurately than from the product."""
        return from_components(metric.root(metric.leading(metric.eigen_of_root(L), self.n_components)), dtype)

    def _plain(self, X: Floats | Chunks, why: str) -> Attributes:
        """Warn that nothing can be learned; keep Euclidean distance, on the leading principal axes if fewer."""
        warnings.warn(f"{why}; {type(self).__name__} keeps Euclidean distance.", ClueWarning, stacklevel=5)
        d, count = X.shape[1], self.n_components
        if count is None or count == d:
            L: Floats = np.eye(d)
        else:
            rows = split_rows(X, np.arange(0)) if isinstance(X, Chunks) else rows_of(X)
            _, vectors = np.linalg.eigh(metric.covariance(rows))
            L = metric.root(metric.Spectrum(np.ones(count), metric.signed(vectors[:, ::-1][:, :count])))
        found = from_components(L, X.dtype)
        return found | from_trace([0.0]) if hasattr(self, "max_iter") else found

    def _run(
        self, step: Any, state: Any, dtype: Any, slack: float | None, tol: float | None = None
    ) -> loop.Result[Any]:
        """Improve a state by ``step`` until it stops improving, and inform the callbacks.

        ``tol`` defaults to the parameter of that name; a step that decides itself when to stop passes its own.
        """
        tol = self.tol if tol is None else tol
        callbacks = getattr(self, "_skl_callbacks", ())
        with Progress(self, callbacks, 1, self.max_iter) as progress:
            progress.begin_start(0)
            try:
                slack = slack if self.card.descends else None
                result = loop.run(step, state, loop.Limits(self.max_iter, tol, progress), slack)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(self._from_state(*progress.last, dtype))
                raise
            progress.end_start()
            self._warn_unless_converged(result, progress)
        return result

    def _from_state(self, state: Any, trace: list[float], dtype: Any) -> Attributes:
        """Results of an iterative method."""
        return from_trace(trace) | self._metric_of(state, dtype)

    def _metric_of(self, state: Any, dtype: Any) -> Attributes:
        """The metric of a state of an iterative method."""
        raise TypeError(f"{type(self).__name__} does not implement _metric_of.")

    def transform(self, X: Any) -> Floats:
        """Transform rows so that their Euclidean distances are the learned distances.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the training data or new ones.

        Returns
        -------
        ndarray of shape (n, n_components)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        if self.card.chunks and is_elsewhere(X):
            return map_new_chunks(self, X, metric.seen, self.components_, width=self.n_components_)
        return metric.seen(checked_data(self, X, reset=False, sparse=False), self.components_)

    def get_mahalanobis_matrix(self) -> Floats:
        """Return the learned matrix.

        Returns
        -------
        ndarray of shape (d, d)
            Symmetric, positive semidefinite: ``components_.T @ components_``, of rank ``n_components_``.
        """
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, A: Any, B: Any) -> Floats:
        """Compute the learned distance between each row of A and the row of B with the same number.

        Parameters
        ----------
        A, B : array-like of shape (m, d)
            First and second rows of the pairs; for pairs of rows of X: ``pair_distance(X[i], X[j])``.

        Returns
        -------
        ndarray of shape (m,)
            The square roots of ``(a - b) @ M @ (a - b)``.
        """
        check_is_fitted(self)
        A, B = (checked_data(self, rows, reset=False, sparse=False) for rows in (A, B))
        if len(A) != len(B):
            raise ValueError(f"A and B must have the same number of rows; A has {len(A)} rows and B has {len(B)}.")
        dtype = np.result_type(A, B)
        out = np.empty(len(A), dtype=dtype)
        for part in metric.blocks(len(A), A.shape[1]):
            out[part] = metric.distances(A[part].astype(dtype) - B[part], self.components_)
        return out

    def then(self, clusterer: Any, random_state: Any = None) -> MetricThen:
        """Chain this metric and a clusterer of the transformed rows into one estimator.

        Parameters
        ----------
        clusterer : estimator
            Any clusterer; if its ``fit`` accepts clues, it gets them, too.
        random_state : int, numpy Generator or RandomState, default=None
            Seed from which those of both steps are drawn. None: each step uses its own ``random_state``.

        Returns
        -------
        MetricThen
            A clusterer with the parameters ``metric``, ``clusterer`` and ``random_state``; ``fit(X, clues=...)`` fits
            copies of both.
        """
        return MetricThen(self, clusterer, random_state)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_
