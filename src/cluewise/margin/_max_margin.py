"""MaxMarginClusterer: boundaries that leave wide margins between rows, and between the ends of links [Zeng2012]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, Problem, checked_data
from cluewise.core import lloyd, loop, seeding
from cluewise.core.assign import nobody
from cluewise.core.rows import rows_of
from cluewise.core.threads import map_blocks, one_blas_thread
from cluewise.margin import _margins as margin
from cluewise.margin._margins import Chosen, Prices, Table

__all__ = ["MaxMarginClusterer"]

SMOOTHING = (0.05, 0.01, 0.002)
"""How far the maxima of the convex problems are smoothed: a finer one is tried where the objective does not fall."""


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    model: Floats  # (k, d + 1) coefficients in the units of the table, then the mean score of each cluster
    chosen: Chosen  # the right clusters of rows and links
    objective: float
    table: Table


def step(state: State, *, prices: Prices) -> tuple[State, loop.Info]:
    """One step of CCCP: a model that is better for the right clusters as they are, then the right clusters anew."""
    table = state.table
    for smoothing in SMOOTHING:
        model = margin.improved(table, state.chosen, state.model, prices, smoothing)
        value, chosen = margin.judge(table, model, prices)
        if value < state.objective:
            moved = int(np.count_nonzero(chosen.labels != state.labels))
            # Links may have changed sides where no row has.
            return State(chosen.labels, model, chosen, value, table), loop.Info(value, max(moved, 1))
    return state, loop.Info(state.objective, 0)


class MaxMarginClusterer(Clusterer):
    r"""Linear boundaries with wide margins: few rows near a boundary, and links satisfied with room to spare.

    Use it when many columns say nothing about the clusters: coefficients are learned from the links, as a support
    vector machine learns them from labels, so a few hundred links find the columns that matter. It wants links; without
    them it is k-means with boundaries moved to where few rows are, and clusters may lose all their rows. Boundaries are
    straight: for rings and curves use a spectral method. Labels and groups act like the links that they stand for and
    are written out: up to 2 million links.

    Parameters
    ----------
    {n_clusters}
    trust : float, default=5.0
        What the mean loss of the links counts, compared with the mean loss of the rows without links. Links of weight
        less than 1 count less.
    regularization : float, default=0.01
        What the squared length of the coefficients costs, for rows of mean square 1: the larger, the wider the margins
        and the fewer columns and links can be followed.
    balance : float, default=0.7
        Most that the mean scores of two clusters may differ, at least 0 and less than 1: from 1 on, all rows in one
        cluster would be a perfect solution. With 0 all boundaries pass through the mean of the rows.
    init : {"k-means", "k-means++", "random"}, array or callable, default="k-means"
        Start: the nearest centers of k-means, of rows drawn by k-means++ or at random, or of given ones.
    n_init : int, default=3
        Number of starts; the lowest objective wins. Given centers are one start.
    max_iter : int, default=50
        Most iterations of one start; each solves a convex problem.
    tol : float, default=1e-3
        Stop when the objective changes by at most this share of its value.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row: the one with the highest score.
    coef_ : ndarray of shape (n_clusters, d)
        Coefficients of the scores.
    intercept_ : ndarray of shape (n_clusters,)
        Scores of a row of zeros.
    {n_clusters_}
    objective_ : float
        The objective; 0 for a single cluster, where nothing is decided.
    {trace_}
    {n_iter_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: its score minus the best other one.
    {broken_}

    Notes
    -----
    With scores :math:`S_{ic} = w_c \cdot \tilde x_i + b_c`, :math:`s_{ij} = \max_c (S_{ic} + S_{jc})` for two rows in
    one cluster and :math:`d_{ij} = \max_{c \ne c'} (S_{ic} + S_{jc'})` for two clusters, U the rows without links and P
    the number of links,

    .. math:: J = \tfrac\lambda2 \sum_c \lVert w_c \rVert^2
        + \frac1{|U|} \sum_{i \in U} [1 - (S_{i(1)} - S_{i(2)})]_+
        + \frac CP \Big( \sum_{ML} w_{ij} [1 - (s_{ij} - d_{ij})]_+ + \sum_{CL} w_{ij} [1 - (d_{ij} - s_{ij})]_+ \Big)

    subject to :math:`|b_c - b_{c'}| \le \ell`; :math:`S_{i(1)}` and :math:`S_{i(2)}` are the two highest scores of a
    row. Each loss is the least of several convex ones, one for each choice of the right cluster or clusters. An
    iteration (of CCCP) fixes the choices that are best by the scores of the moment and solves the convex problem that
    they leave.

    ============================ =========================================
    paper                        code
    ============================ =========================================
    :math:`\lambda`              ``regularization``
    :math:`C`                    ``trust``
    :math:`\ell / n`             ``balance``
    :math:`w_c`                  ``coef_[c]``
    ============================ =========================================

    *Deviations.* The method is rebuilt from a description, not from the paper itself, whose constants may differ. Rows
    are taken relative to their mean and divided by the root of their mean square, so that units of X do not matter.
    Relative to the mean, the balance of summed scores :math:`|\sum_i (w_c - w_{c'}) \cdot x_i| \le \ell` holds by
    itself, and every boundary passes through the mean; three clusters on a line are then impossible. Hence the
    intercepts :math:`b_c`, which are the mean scores and which the balance bounds: per row, not summed. The convex
    problems are solved by L-BFGS-B with maxima smoothed by a log-sum-exp, not by projected subgradients; an iteration
    counts only if it lowers J itself, so J never rises.

    References
    ----------
    .. [Zeng2012] H. Zeng and Y.-M. Cheung, "Semi-supervised maximum margin clustering with pairwise constraints", IEEE
       Transactions on Knowledge and Data Engineering 24(5), 2012.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.margin import MaxMarginClusterer
    >>> X = [[0, 0], [0, 4], [1, 8], [1, 1], [3, 7], [3, 0], [4, 1], [4, 5]]
    >>> MaxMarginClusterer(2, random_state=0).fit(X).broken_
    Clues(8 rows: no clues)
    >>> clues = Clues(8, must=[(0, 1), (1, 2), (4, 5)], cannot=[(2, 4), (3, 6)])
    >>> model = MaxMarginClusterer(2, random_state=0).fit(X, clues=clues)
    >>> model.labels_ == model.labels_[0]
    array([ True,  True,  True,  True, False, False, False, False])
    """

    card = Card(
        paper="Zeng2012",
        title="Wide margins between clusters, with soft links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        plain="",
        means=False,
        single=False,  # a search that is not convex: the last digits may decide where it ends
        equation="margins of rows and of pairs, by CCCP",
        memory="pairs",
        cost="O((n + pairs)kd) per pass, some 50 passes; labels and groups make up to n² pairs",
        aliases=("PMMC",),
    )
    _init_names: ClassVar[tuple[str, ...]] = ("k-means", "k-means++", "random")
    _parameter_constraints = Clusterer._parameter_constraints | {
        "trust": [Interval(Real, 0, None, closed="left")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "balance": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trust: float = 5.0,
        regularization: float = 0.01,
        balance: float = 0.7,
        init: Any = "k-means",
        n_init: int = 3,
        max_iter: int = 50,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.trust = trust
        self.regularization = regularization
        self.balance = balance
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, problem: Problem) -> Table:
        return margin.table_of(problem.rows, problem.clues, problem.total)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, table = problem.rows, problem.shared
        first = (self._first_centers(problem) - table.mean) / table.scale
        if problem.k == 1:  # nothing leads, nothing lags
            zeros = np.zeros(rows.n, dtype=np.int32)
            state = State(zeros, np.zeros((1, rows.d + 1)), Chosen(zeros, []), 0.0, table)
            return loop.run(lambda same: (same, loop.Info(0.0, 0)), state, problem.limits._replace(max_iter=1))
        # The scores whose best cluster is that of the nearest center.
        nearest = np.column_stack([first, -0.5 * np.einsum("hj,hj->h", first, first)])
        prices = Prices(self.regularization, self.trust, self.balance)
        chosen = margin.judge(table, nearest, prices).chosen
        start = State(nobody(rows.n), np.zeros_like(nearest), chosen, np.inf, table)
        # A step that does not lower the objective is not taken, so there is nothing to round.
        return loop.run(partial(step, prices=prices), start, problem.limits, slack=0.0)

    def _first_centers(self, problem: Problem) -> Floats:
        """Given centers, drawn rows or the means of k-means, relative to the shift."""
        rows, k, rng = problem.rows, problem.k, problem.rng
        given = seeding.given_centers(self.init, ("k-means", "k-means++", "random"), rows, k, rng)
        if given is not None:
            return given
        drawn = seeding.fill(self.init, rows, np.empty((0, rows.d)), k, rng).astype(np.float64)
        if self.init != "k-means":
            return drawn
        move = partial(lloyd.step, rows=rows, total=problem.total)
        return loop.run(move, lloyd.State(nobody(rows.n), drawn), loop.Limits(300, 1e-4)).state.centers

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        rows = problem.rows
        slope = state.model[:, :-1] / state.table.scale
        # Far from the origin scores are small differences of large numbers, unless the mean is subtracted first.
        mean, mean_scores = state.table.mean + rows.shift, state.model[:, -1]
        return super()._state_attributes(problem, state, trace) | {
            "coef_": slope.astype(rows.dtype),
            "intercept_": (mean_scores - slope @ mean).astype(rows.dtype),
            "_mean": mean,
            "_mean_scores": mean_scores,
        }

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        rows, state = problem.rows, result.state
        lead = np.full(rows.n, np.inf, dtype=rows.dtype)

        def work(block: slice) -> None:
            two = np.partition(margin.scores(state.table, state.model, rows.take(block)), -2, axis=1)
            lead[block] = two[:, -1] - two[:, -2]

        if problem.k > 1:
            for _ in map_blocks(work, rows.blocks(problem.k)):
                continue
        return super()._attributes(problem, result) | {"margin_": lead}

    def decision_function(self, X: Any) -> Floats:
        """Score of each cluster for new rows; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, n_clusters)
            The cluster with the highest score is the cluster of the row.
        """
        check_is_fitted(self, "coef_")
        rows = rows_of(checked_data(self, X, reset=False))
        slope = self.coef_.astype(np.float64).T
        offset = self._mean_scores - (self._mean - rows.shift) @ slope
        with one_blas_thread():
            parts = list(
                map_blocks(lambda block: np.asarray(rows.take(block) @ slope) + offset, rows.blocks(len(offset)))
            )
        return np.concatenate(parts).astype(rows.dtype)

    def predict(self, X: Any) -> Ints:
        """Cluster with the highest score for new rows; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        return self.decision_function(X).argmax(axis=1).astype(np.int32)
