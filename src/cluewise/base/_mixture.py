"""The gate of the mixtures: memberships instead of nearest centers."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.base._given import checked_data
from cluewise.base._started import Problem, StartedClusterer
from cluewise.core import assign, lloyd, loop, seeding
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["MixtureClusterer"]


class MixtureClusterer(StartedClusterer):
    """Base of the methods that describe each cluster by a distribution.

    A subclass has a ``card`` and implements ``_solve(problem)``, whose states have ``labels``, ``_publish_state``,
    which also publishes the distributions, and ``_log_joint(rows, block)``. What is minimized is minus a
    log-likelihood or minus a bound of it; ``lower_bound_`` is that number with its sign turned, as scikit-learn's
    mixtures have it.
    """

    _init_names: ClassVar[tuple[str, ...]] = ("k-means", "k-means++", "random")

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        """(k, rows) log of weight times density of each cluster, by the published distributions."""
        raise TypeError(f"{type(self).__name__} does not say how likely a row is in a cluster.")

    def _first_centers(self, problem: Problem) -> Floats:
        """Given centers, or rows drawn as ``init`` says."""
        rows, k = problem.rows, problem.k
        chosen = self._centers_from_init(problem)
        if chosen is not None:
            return chosen
        if self.init == "random":
            return rows.dense(np.sort(problem.rng.choice(rows.n, size=k, replace=False))).astype(np.float64)
        return seeding.plus_plus(rows, np.empty((0, rows.d)), k, problem.rng)

    def _first_labels(self, problem: Problem) -> Ints:
        """Labels to start from: of k-means, or of the nearest center among drawn rows or given centers."""
        rows, chosen = problem.rows, self._first_centers(problem)
        labels = assign.nobody(rows.n)
        if isinstance(self.init, str) and self.init == "k-means":
            move = partial(lloyd.step, rows=rows, total=problem.total)
            start = lloyd.State(labels, chosen)
            return loop.run(move, start, max_iter=300, tol=1e-4, watch=loop.unwatched).state.labels
        assign.nearest(rows, chosen, labels)
        return labels

    def _slack(self, problem: Problem) -> float:
        # Sums over rows of logarithms: each is of the order of the number of columns.
        return 1e-9 * problem.rows.mass * (1 + problem.rows.d)

    def _publish_state(self, rows: Rows, state: Any, trace: list[float]) -> None:
        super()._publish_state(rows, state, trace)
        self.lower_bound_ = -trace[-1]

    def predict(self, X: Any) -> Ints:
        """The most likely cluster of new rows; clues play no part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        labels : ndarray of shape (m,)
            Cluster of each row.
        """
        return self._all_log_joint(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each cluster for new rows; clues play no part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        probability : ndarray of shape (m, k)
            Each row sums to 1.
        """
        joint = self._all_log_joint(X)
        joint -= logsumexp(joint, axis=1, keepdims=True)
        return np.exp(joint, out=joint)

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        log_likelihood : ndarray of shape (m,)
            Log density of each row under the mixture.
        """
        return logsumexp(self._all_log_joint(X), axis=1)

    def _all_log_joint(self, X: Any) -> Floats:
        """(m, k)"""
        check_is_fitted(self)
        rows = rows_of(checked_data(self, X, reset=False, sparse=self.card.sparse))
        with one_blas_thread():
            blocks = rows.blocks(self.n_clusters)
            parts = list(map_blocks(lambda block: self._log_joint(rows, block).T, blocks))
        return np.concatenate(parts)
