"""The base of the mixtures: memberships instead of nearest centers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Clusterer, Problem, checked_data
from cluewise.core import assign, lloyd, loop, seeding
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread

__all__ = ["MixtureClusterer", "first_centers", "first_labels", "rounding"]


class MixtureClusterer(Clusterer):
    """Base of the methods that describe each cluster by a distribution.

    A subclass has a ``card`` and implements ``_solve(problem)``, whose states have ``labels``, ``_state_attributes``,
    which adds the distributions, and ``_log_joint(rows, block)``. The objective is minus a log-likelihood or minus a
    bound on it; ``lower_bound_`` is minus the objective, as in scikit-learn's mixtures.
    """

    lower_bound_: float
    weights_: Floats

    def _log_joint(self, rows: Rows, block: Any) -> Floats:
        """(k, rows) log of weight times density of each cluster, by the published distributions."""
        raise TypeError(f"{type(self).__name__} does not implement _log_joint.")

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"lower_bound_": -trace[-1]}

    def predict(self, X: Any) -> Ints:
        """Most likely cluster of new rows, without clues.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        return self._all_log_joint(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each cluster for new rows, without clues.

        Parameters
        ----------
        {X_new}

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
        {X_new}

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


def first_centers(problem: Problem, init: Any) -> Floats:
    """Given centers, or rows drawn according to ``init``."""
    rows, k, rng = problem.rows, problem.k, problem.rng
    given = seeding.given_centers(init, ("k-means", "k-means++", "random"), rows, k, rng)
    return seeding.fill(init, rows, np.empty((0, rows.d)), k, rng).astype(np.float64) if given is None else given


def first_labels(problem: Problem, init: Any) -> Ints:
    """Initial labels: those of k-means, or the nearest of drawn rows or given centers."""
    rows, chosen = problem.rows, first_centers(problem, init)
    labels = assign.no_labels(rows.n)
    if isinstance(init, str) and init == "k-means":
        move = partial(lloyd.step, rows=rows, total=problem.total)
        return loop.run(move, lloyd.State(labels, chosen), loop.Limits(300, 1e-4)).state.labels
    assign.nearest(rows, chosen, labels)
    return labels


def rounding(problem: Problem) -> float:
    """Bound on the rounding error of a log-likelihood: each row adds a logarithm of the order of its columns."""
    return 1e-9 * problem.rows.mass * (1 + problem.rows.d)
