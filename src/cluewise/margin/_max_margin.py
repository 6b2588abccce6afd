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
from cluewise.core.assign import no_labels
from cluewise.core.rows import rows_of
from cluewise.core.threads import map_blocks, one_blas_thread
from cluewise.margin import _margins as margin
from cluewise.margin._margins import Choice, Prices, Table

__all__ = ["MaxMarginClusterer"]

SMOOTHING = (0.05, 0.01, 0.002)
"""Smoothing of the maxima, from coarse to fine: the next is tried when the objective does not decrease."""


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    model: Floats  # (k, d + 1) coefficients in the units of the table, then the mean score of each cluster
    choice: Choice  # the clusters that count as right, for rows and links
    objective: float
    table: Table


def step(state: State, *, prices: Prices) -> tuple[State, loop.Info]:
    """One step of CCCP: improve the model for the current choice, then update the choice."""
    table = state.table
    for smoothing in SMOOTHING:
        model = margin.improve(table, state.choice, state.model, prices, smoothing)
        value, choice = margin.evaluate(table, model, prices)
        if value < state.objective:
            moved = int(np.count_nonzero(choice.labels != state.labels))
            # Links may have changed their clusters even if no row has.
            return State(choice.labels, model, choice, value, table), loop.Info(value, max(moved, 1))
    return state, loop.Info(state.objective, 0)


class MaxMarginClusterer(Clusterer):
    r"""Linear boundaries with wide margins: few rows near a boundary, and links satisfied with room to spare.

    Use it when many columns are irrelevant to the clusters: coefficients are learned from the links, as a support
    vector machine learns them from labels, so a few hundred links find the relevant columns. It needs links; without
    them it is k-means with boundaries moved to where there are few rows, and clusters may become empty. Boundaries are
    linear: for rings and curves use a spectral method. Labels and groups are expanded to the links that they imply, up
    to 2 million links.

    Parameters
    ----------
    {n_clusters}
    trust : float, default=5.0
        Weight of the mean loss of the links, relative to the mean loss of the rows without links. The loss of each
        link is multiplied by its own weight.
    regularization : float, default=0.01
        Penalty on the squared norm of the coefficients, for rows of mean square 1. Larger values give wider margins,
        which fit fewer columns and links.
    balance : float, default=0.7
        Maximum difference of the mean scores of two clusters, in [0, 1): with 1 or more, all rows in one cluster would
        be a perfect solution. With 0, all boundaries pass through the mean of the rows.
    init : {"k-means", "k-means++", "random"}, array or callable, default="k-means"
        Initialization: rows belong to the nearest center, found by k-means, drawn by k-means++ or at random, or given.
    {n_init 3}
        Centers given as ``init`` make one start.
    {max_iter 50}
        Each iteration solves a convex problem.
    tol : float, default=1e-3
        Relative change of the objective below which the iterations have converged and stop.
    {random_state}

    Attributes
    ----------
    {labels_}
        It is the one with the highest score.
    coef_ : ndarray of shape (n_clusters, d)
        Coefficients of the scores.
    intercept_ : ndarray of shape (n_clusters,)
        Scores of a row of zeros.
    {n_clusters_}
    objective_ : float
        The objective J given in the Notes; 0 for a single cluster.
    {iterations_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: its score minus that of the best other cluster.
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
    row. Each loss is the minimum of several convex losses, one for each choice of the right cluster or clusters. An
    iteration (of CCCP) fixes the choices that are best by the current scores and solves the resulting convex problem.

    ============================ =========================================
    paper                        code
    ============================ =========================================
    :math:`\lambda`              ``regularization``
    :math:`C`                    ``trust``
    :math:`\ell / n`             ``balance``
    :math:`w_c`                  ``coef_[c]``
    ============================ =========================================

    *Deviations.* The implementation follows a description of the paper, whose constants may differ. Rows are centered
    and divided by their root mean square, so the units of X do not matter. For centered rows, the balance of summed
    scores :math:`|\sum_i (w_c - w_{c'}) \cdot x_i| \le \ell` always holds, and every boundary passes through the
    mean, which makes three clusters on a line impossible. Hence the intercepts :math:`b_c`, which are the mean scores;
    the balance bounds them, per row instead of summed. The convex
    problems are solved by L-BFGS-B with maxima smoothed by a log-sum-exp, not by projected subgradients; a step is
    accepted only if it lowers J itself, so J never increases.

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
        single=False,  # not convex: rounding may decide which local optimum is found
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

    coef_: Floats
    intercept_: Floats
    margin_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trust: float = 5.0,
        regularization: float = 0.01,
        balance: float = 0.7,
        init: Any = "k-means",
        n_init: int | str = 3,
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
        if problem.k == 1:  # no other cluster to compare with
            zeros = np.zeros(rows.n, dtype=np.int32)
            state = State(zeros, np.zeros((1, rows.d + 1)), Choice(zeros, []), 0.0, table)
            problem.limits.watch(state, [0.0])
            return loop.Result(state, [0.0], True)
        # Scores that are highest for the nearest center.
        nearest = np.column_stack([first, -0.5 * np.einsum("hj,hj->h", first, first)])
        prices = Prices(self.regularization, self.trust, self.balance)
        choice = margin.evaluate(table, nearest, prices).choice
        start = State(no_labels(rows.n), np.zeros_like(nearest), choice, np.inf, table)
        # Only steps that lower the objective are accepted, so no slack for rounding is needed.
        return loop.run(partial(step, prices=prices), start, problem.limits, slack=0.0)

    def _first_centers(self, problem: Problem) -> Floats:
        """Centers that are given, drawn or found by k-means, relative to the shift."""
        rows, k, rng = problem.rows, problem.k, problem.rng
        given = seeding.given_centers(self.init, ("k-means", "k-means++", "random"), rows, k, rng)
        if given is not None:
            return given
        drawn = seeding.fill(self.init, rows, np.empty((0, rows.d)), k, rng).astype(np.float64)
        if self.init != "k-means":
            return drawn
        move = partial(lloyd.step, rows=rows, total=problem.total)
        return loop.run(move, lloyd.State(no_labels(rows.n), drawn), loop.Limits(300, 1e-4)).state.centers

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        rows = problem.rows
        slope = state.model[:, :-1] / state.table.scale
        # Far from the origin, coef_ and intercept_ cancel and lose digits; predict subtracts this mean first.
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
        """Score of each cluster for new rows; clues are not used.

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
        """Cluster with the highest score for new rows; clues are not used.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        return self.decision_function(X).argmax(axis=1).astype(np.int32)
