"""The base of the methods that find the number of clusters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Clusterer, Problem, new_rows
from cluewise.centroid._dp import opening
from cluewise.centroid._dp.divergences import NAMES, Divergence, divergence_of, pairwise
from cluewise.centroid._dp.opening import Points
from cluewise.core import loop
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["OpeningClusterer", "State"]

ROUNDING = 1e-10
"""Rise of the objective, relative to its first value, that counts as rounding."""


class State(NamedTuple):
    """What the next sweep needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the points
    cluster_cost: float


class OpeningClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Base of the methods that open clusters as needed; ``n_clusters`` only determines the cost of a cluster."""

    n_init = 1  # the only start is the mean
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "cluster_cost": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "divergence": [StrOptions(set(NAMES)), "array-like"],
        "smoothing": [Interval(Real, 0, None, closed="left"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    cluster_cost: float | str
    divergence: Any
    smoothing: float | None
    cluster_centers_: Floats
    inertia_: float
    margin_: Floats
    cluster_cost_: float

    def _check_count(self, n: int) -> None:
        if self._automatic:
            super()._check_count(n)

    @property
    def _automatic(self) -> bool:
        return isinstance(self.cluster_cost, str)

    def _n_starts(self, problem: Problem) -> int:
        return 1

    def _divergence(self, d: int) -> Divergence:
        return divergence_of(self.divergence, d, self.smoothing)

    def _points(self, rows: Rows) -> Points:
        return Points(rows.X, rows.weight, rows.shift, self._divergence(rows.d))

    def _begin(self, problem: Problem) -> tuple[Points, State]:
        """Check the rows, put all of them into one cluster at their mean, and fix the cost of a cluster."""
        points = self._points(problem.rows)
        points.check()
        center = opening.mean(points)
        cost = self._cost_from(points, center, problem.k) if self._automatic else float(self.cluster_cost)
        return points, State(np.zeros(points.n, dtype=np.int32), center, cost)

    def _cost_from(self, points: Points, center: Floats, k: int) -> float:
        """Cost of a cluster if about k are expected."""
        return float(opening.furthest_first(points, center, k)[0][-1])

    def _settle(self, problem: Problem, best: loop.Result[Any], *, stopping: bool = False) -> loop.Result[Any]:
        state, points = best.state, self._points(problem.rows)
        at = self._publish_centers(problem.rows, state).astype(np.float64) - points.shift
        found = np.empty(points.n, dtype=np.int32)
        opening.closest(points, at, found)
        found[problem.clues.tied] = state.labels[problem.clues.tied]
        if np.array_equal(found, state.labels):
            return best
        before, after = (opening.distortion(points, state.centers, labels) for labels in (state.labels, found))
        used, labels = np.unique(found, return_inverse=True)
        saved = before - after + state.cluster_cost * (len(state.centers) - len(used))
        settled = state._replace(labels=labels.astype(np.int32), centers=state.centers[used])
        return best.settle(settled, best.trace[-1] - saved)

    def _publish_centers(self, rows: Rows, state: Any) -> Floats:
        return (state.centers + self._points(rows).shift).astype(rows.dtype)

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {
            "cluster_centers_": self._publish_centers(problem.rows, state),
            "cluster_cost_": state.cluster_cost,
        }

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        rows, state = problem.rows, result.state
        points = self._points(rows)
        lead = _lead(points, state.centers, state.labels)
        inertia = opening.distortion(points, state.centers, state.labels)
        return super()._attributes(problem, result) | {"inertia_": inertia, "margin_": lead.astype(rows.dtype)}

    def predict(self, X: Any) -> Ints:
        """Assign new rows to the center of smallest divergence; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        points, centers = self._new_points(X)
        labels = np.empty(points.n, dtype=np.int32)
        with one_blas_thread():
            opening.closest(points, centers, labels)
        return labels

    def transform(self, X: Any) -> Floats:
        """Compute the distance of each row to each center.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, k)
            Euclidean or Mahalanobis distances, or divergences that are not squared distances.
        """
        points, centers = self._new_points(X)
        out = np.empty((points.n, len(centers)), dtype=self.cluster_centers_.dtype)

        def work(block: Ints) -> None:
            table = pairwise(points.take(block), centers, points.divergence).T
            out[block] = np.sqrt(table) if points.divergence.code == 0 else table

        with one_blas_thread():
            for _ in map_blocks(work, points.blocks(len(centers))):
                continue
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _new_points(self, X: Any) -> tuple[Points, Floats]:
        points = self._points(new_rows(self, X))
        points.check()
        return points, self.cluster_centers_.astype(np.float64) - points.shift


def _lead(points: Points, centers: Floats, labels: Ints) -> Floats:
    """Divergence of each row from the best other center minus that from its own."""
    out = np.full(points.n, np.inf)
    if len(centers) == 1:
        return out

    def work(block: Ints) -> None:
        table = pairwise(points.take(block), centers, points.divergence)
        own = table[labels[block], np.arange(len(block))]
        table[labels[block], np.arange(len(block))] = np.inf
        out[block] = table.min(axis=0) - own

    for _ in map_blocks(work, points.blocks(len(centers))):
        continue
    return out
