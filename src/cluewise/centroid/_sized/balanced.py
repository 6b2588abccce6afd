"""Balanced clustering of many rows: sample, cluster, populate, refine [Banerjee2006]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import UNASSIGNED, Bools, Floats
from cluewise.base import Card, CentroidClusterer, Problem
from cluewise.centroid._sized import balance, flow
from cluewise.centroid._sized.flow import Bounds
from cluewise.centroid._sized.sizes import bounds_of, refill
from cluewise.clues import Clues
from cluewise.core import assign, centers, lloyd, loop, seeding
from cluewise.core.lloyd import State
from cluewise.core.rows import Rows, rows_of

__all__ = ["BalancedKMeans"]


def step(state: State, *, rows: Rows, bounds: Bounds, total: float) -> tuple[State, loop.Info]:
    """Step 3: populate the clusters (the first time), refine them, update means."""
    costs = flow.distances(rows, state.centers)
    labels = state.labels.copy()
    if labels[0] == UNASSIGNED:
        labels = balance.populate(costs, bounds)
    if rows.weight is not None:
        costs *= rows.weight[:, None]
    balance.refine(costs, labels, bounds)
    tally = centers.tally(rows, labels, len(state.centers))
    tally = refill(rows, tally, state.centers, labels, bounds)
    moved = int(np.count_nonzero(labels != state.labels))
    return State(labels, centers.means(tally, state.centers)), loop.Info(centers.within(total, tally), moved)


class BalancedKMeans(CentroidClusterer):
    r"""Scalable K-means with bounds on the sizes of clusters.

    Use it when there are very many rows and sizes must be kept: centers come from a sample, a stable matching assigns
    all rows, and moves and exchanges lower the cost. Bounds are given as clues (``Clues(n, sizes=(lower, upper))``) or
    by ``balance``. Unlike in `SizedKMeans`, assignments need not be optimal.

    Parameters
    ----------
    {n_clusters}
    balance : float, default=0.0
        If the clues have no bounds, every cluster has at least this share of n/k rows, rounded down: 1 means equal
        sizes, 0 any sizes.
    sample_size : "auto" or int, default="auto"
        Number of rows in the sample from which the first centers are found. "auto": enough for a cluster of half the
        mean size to have 50 of them with probability 0.95.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Initialization of K-means on the sample. An array or a callable gives the centers without a sample.
    {n_init 5}
        Each has a sample of its own. Centers given as ``init`` make one start.
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {objective_squares_}
    {inertia_}
    {iterations_}
    {margin_}
    {none_broken_}

    Raises
    ------
    Infeasible
        When no clustering has such sizes; the message explains why.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2 \quad\text{subject to}\quad |C_h| \ge m

    ======================= =======================================
    paper                   code
    ======================= =======================================
    :math:`m`               ``clues.sizes[h, 0]``, or ``balance``
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= =======================================

    The time for sampling and clustering does not depend on n; populating takes O(n k log n), a round of refining O(n k)
    and O(k³) for each exchange. Bounds on summed weight require equal weights, unlike in `SizedKMeans`.

    *Deviations.* Upper bounds and bounds that differ between clusters are additions: rows that remain after the first
    matching are matched with the places that upper bounds leave. The paper's relocation consists of the best single
    move and of exchanges along cycles of clusters. Refining and means alternate until nothing changes; ``max_iter=1``
    gives a single pass. An empty cluster takes the worst row whose move keeps the bounds.

    References
    ----------
    .. [Banerjee2006] A. Banerjee and J. Ghosh, "Scalable clustering algorithms with balancing constraints", Data
       Mining and Knowledge Discovery 13, 2006.

    Examples
    --------
    >>> from cluewise import Clues, BalancedKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> BalancedKMeans(2, init=[X[0], X[1]]).fit(X, clues=Clues(8, sizes=(3, None))).labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Banerjee2006",
        title="Scalable balanced K-means",
        accepts=frozenset({"sizes"}),
        hard=True,
        closes=True,
        equation="survey Alg. 13",
        cost="O(nkd + nk log n)",
        aliases=("Scalable balanced clustering",),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "balance": [Interval(Real, 0, 1, closed="both")],
        "sample_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        balance: float = 0.0,
        sample_size: Any = "auto",
        init: Any = "k-means++",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.balance = balance
        self.sample_size = sample_size

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.require(self.n_clusters)
        return known

    def _find_free(self, problem: Problem) -> Bools:
        return super()._find_free(problem) & (self.balance == 0)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows = problem.rows
        bounds = bounds_of(problem.clues, problem.k, rows)
        if bounds is None and self.balance > 0:
            least = int(self.balance * (rows.n / problem.k))
            bounds = Bounds(np.full(problem.k, least), np.full(problem.k, rows.n))
        start = State(assign.no_labels(rows.n), self._start(problem))
        move: Any = partial(lloyd.step, rows=rows, total=problem.total)
        if bounds is not None:
            move = partial(step, rows=rows, bounds=bounds, total=problem.total)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))

    def _start(self, problem: Problem) -> Floats:
        """Steps 1 and 2: K-means on a sample."""
        k, rng = problem.k, problem.rng
        given = seeding.given_centers(self.init, ("k-means++", "random"), problem.rows, k, rng)
        if given is not None:
            return given
        sample = self._sample(problem)
        first = State(assign.no_labels(sample.n), seeding.plain_start(self.init, sample, k, rng))
        total = centers.scatter(sample)
        limits = problem.limits._replace(watch=loop.unwatched)
        move = partial(lloyd.step, rows=sample, total=total)
        found = loop.run(move, first, limits, centers.rounding(sample, total))
        return found.state.centers + (sample.shift.astype(np.float64) - problem.rows.shift)

    def _sample(self, problem: Problem) -> Rows:
        """Draw rows of positive weight uniformly, without replacement."""
        rows = problem.rows
        size = balance.sample_size(problem.k) if self.sample_size == "auto" else self.sample_size
        size = max(size, problem.k)
        some = np.arange(rows.n) if rows.weight is None else np.flatnonzero(rows.weight > 0)
        if size >= len(some):
            return rows
        drawn = np.sort(problem.rng.choice(some, size=size, replace=False))
        return rows_of(rows.X[drawn], None if rows.weight is None else rows.weight[drawn])
