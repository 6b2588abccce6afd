"""What methods with a learned metric share: the distortion, results in that metric, new rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.base import Problem
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.counts import GeneralizedI, unmoved_rows
from cluewise.centroid._hmrf.directions import Cosine, unit_rows
from cluewise.centroid._hmrf.distortions import Found, Metric, none_broken
from cluewise.centroid._hmrf.mahalanobis import SquaredEuclidean
from cluewise.centroid._starts import NeighborhoodStart
from cluewise.clues import Clues
from cluewise.core import loop, seeding
from cluewise.core.assign import nobody
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["LearnedMetric"]


class LearnedMetric(NeighborhoodStart):
    """Base of the methods that compare rows and centers by a distortion, in a metric that may be learned."""

    distortion: str
    metric: str | None
    per_cluster: bool
    link_cost: str
    use_clues: str
    profile: str
    penalty: float | str

    def _distortion(self, rows: Rows, k: int) -> Any:
        """The rows as the distortion sees them."""
        if self.distortion == "sqeuclidean":
            return SquaredEuclidean(rows, k, self.metric, self.per_cluster)
        if self.metric == "full" or (self.metric and self.per_cluster):
            raise ValueError(
                f"distortion={self.distortion!r} takes metric=None or one metric='diagonal' for all clusters."
            )
        if self._published:
            raise ValueError("profile='published' is defined for distortion='sqeuclidean'.")
        if self.distortion == "cosine":
            return Cosine(unit_rows(rows.X, rows.weight), k, self.metric is not None)
        return GeneralizedI(unmoved_rows(rows.X, rows.weight), k, self.metric is not None)

    @property
    def _published(self) -> bool:
        return self.profile == "published"

    def _fill_centers(self, problem: Problem, given: Floats) -> Floats:
        if not self._published:
            return super()._fill_centers(problem, given)
        return np.vstack([given, seeding.perturbed(problem.rows, problem.k - len(given), problem.rng)])

    def _priced(self, problem: Problem, start: Floats, labels: Ints, found: Found) -> Metric:
        """Settle what broken links cost; the metric to begin with."""
        distortion, links = problem.shared
        metric, constant = distortion.first_metric(), self.link_cost == "constant"
        rescaled = constant and distortion.learns and distortion.absolute
        if self.penalty != "auto" or self._published:
            self.penalty_ = np.full(2, 1.0 if self.penalty == "auto" else float(self.penalty))
        automatic = self.penalty == "auto" and not self._published and problem.start == 0
        if not automatic and not rescaled:
            return metric
        none = none_broken(problem.k)
        means = distortion.settle(labels, found, start, metric, none, distortion.reference).centers
        price = fields.price(distortion, distortion.start(means), labels)
        if rescaled:
            # The price is constant, so distances must be in the unit in which they will be once the metric is learned.
            metric, price = metric.times(fields.UNIT_PRICE / price), fields.UNIT_PRICE
        if automatic:  # once: all starts pay the same price, or their objectives could not be compared
            self.penalty_ = np.full(2, price) if constant else fields.factors(distortion, links, price)
        return metric

    def _run(self, move: Any, state: Any, problem: Problem) -> loop.Result[Any]:
        falls = not self._published and self.use_clues == "everywhere"
        slack = self._slack(problem) if falls else None
        return loop.run(move, state, max_iter=self.max_iter, tol=self.tol, watch=problem.watch, slack=slack)

    def _slack(self, problem: Problem) -> float:
        rows = problem.rows
        eps: Any = np.finfo(rows.dtype).eps
        links = problem.shared[1]
        weight = 0.0 if self.link_cost == "constant" else float(self.penalty_ @ [links.must.sum(), links.cannot.sum()])
        return 64 * float(eps) * (1 + problem.total + 1e3 * rows.d * (rows.mass + weight))

    def _evaluate(self, rows: Rows, clues: Clues, state: Any) -> float:
        given, field, metric = state.rules.distortion, state.rules.field, state.metric
        self.broken_cost_ = field.cost(given, metric, state.reference, state.labels)
        value = fields.spent(given, state.centers, metric, state.labels)
        return value + self.broken_cost_ + float(given.prior_cost(metric, state.centers))

    def _publish_state(self, rows: Rows, state: Any, trace: list[float]) -> None:
        super()._publish_state(rows, state, trace)
        if self.distortion != "sqeuclidean":
            self.cluster_centers_ = state.centers.astype(rows.dtype)
        self._metric = state.metric
        if self.metric is not None:
            weights = state.metric.weights
            self.metric_ = weights if self.per_cluster else weights[0]

    def _publish(self, rows: Rows, clues: Clues, result: loop.Result[Any]) -> None:
        super()._publish(rows, clues, result)
        state = result.state
        self.margin_ = fields.lead(state.rules.distortion, state.centers, state.metric, self.labels_)

    def _new(self, X: Any) -> tuple[Any, Floats]:
        """New rows as the distortion sees them, and the centers beside them."""
        rows = self._new_rows(X)
        distortion = self._distortion(rows, self.n_clusters)
        distortion.check()
        return distortion, self.cluster_centers_.astype(np.float64) - distortion.rows.shift

    def predict(self, X: Any) -> Ints:
        """Cluster with the smallest distortion for new rows, in the learned metric; clues play no part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        labels : ndarray of shape (m,)
            Cluster of each row.
        """
        distortion, centers = self._new(X)
        labels = nobody(distortion.rows.n)
        with one_blas_thread():
            fields.assign(distortion, centers, self._metric, labels, np.arange(0))
        return labels

    def transform(self, X: Any) -> Floats:
        """Distance of each row to each center, in the learned metric.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        distances : ndarray of shape (m, n_clusters)
            Distances; cosine distances or divergences where these are the distortion.
        """
        distortion, centers = self._new(X)
        rows = distortion.rows
        out = np.empty((rows.n, len(centers)), dtype=rows.dtype)
        squared = self.distortion == "sqeuclidean"

        def work(block: slice) -> None:
            x = rows.take(block)
            for h in range(len(centers)):
                own = distortion.to_own(x, centers, self._metric, np.full(x.shape[0], h))
                out[block, h] = np.sqrt(own) if squared else own

        with one_blas_thread():
            for _ in map_blocks(work, rows.blocks(len(centers))):
                continue
        return out
