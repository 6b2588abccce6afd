"""Balanced clustering of many rows: sample, cluster, populate, refine [Banerjee2006]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import UNASSIGNED, Floats
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
    """Step 3: populate the clusters (the first time), refine them, take means."""
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
    r"""K-means of many rows in which no cluster is smaller than a bound.

    Use it when there are very many rows and sizes must be kept: centers come from a sample, then all rows are shared
    out by a stable matching, and moves and exchanges lower the cost. Bounds come as clues (``Clues(n, sizes=(lower,
    upper))``) or from ``balance``. `SizedKMeans` makes each assignment the cheapest one; this method does not claim to.

    Parameters
    ----------
    {n_clusters}
    balance : float, default=0.0
        Without bounds among the clues every cluster has at least this share of n/k rows, rounded down: 1 asks for
        equal sizes, 0 leaves sizes open.
    sample_size : "auto" or int, default="auto"
        Number of rows that the first centers are found from. "auto": so many that a cluster of half the mean size
        has 50 of them with probability 0.95.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Start of K-means on the sample. An array or a callable gives the centers; nothing is sampled then.
    n_init : int, default=5
        Number of starts, each with a sample of its own; the lowest objective wins. Given centers are one start.
    max_iter : int, default=300
        Most rounds of refining rows and updating centers in one start.
    {tol}
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and the start.

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the centers.
    {trace_}
    {n_iter_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: half the squared distance to the best other center minus that to its own;
        negative where only the bounds keep a row in its cluster.
    broken_ : Clues
        Always empty: bounds are hard.

    Raises
    ------
    Infeasible
        When no clustering has such sizes; the message says why.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2 \quad\text{subject to}\quad |C_h| \ge m

    ======================= =======================================
    paper                   code
    ======================= =======================================
    :math:`m`               ``clues.sizes[h, 0]``, or ``balance``
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= =======================================

    Sampling and clustering do not depend on n; populating takes O(n k log n), a round of refining O(n k) and O(k³) for
    each exchange. Bounds on summed weight need equal weights; `SizedKMeans` takes others.

    *Deviations.* Upper bounds and bounds that differ between clusters are additions: rows that are left over by the
    first matching are matched once more with the places that upper bounds leave. The paper's relocation is made of the
    best single move and of exchanges along cycles of clusters. Refining and means alternate until nothing changes;
    ``max_iter=1`` gives a single pass. An empty cluster takes the worst row whose move keeps the bounds.

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
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.balance = balance
        self.sample_size = sample_size
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.require(self.n_clusters)
        return known

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows = problem.rows
        bounds = bounds_of(problem.clues, problem.k, rows)
        if bounds is None and self.balance > 0:
            least = int(self.balance * (rows.n / problem.k))
            bounds = Bounds(np.full(problem.k, least), np.full(problem.k, rows.n))
        start = State(assign.nobody(rows.n), self._start(problem))
        move: Any = partial(lloyd.step, rows=rows, total=problem.total)
        if bounds is not None:
            move = partial(step, rows=rows, bounds=bounds, total=problem.total)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))

    def _start(self, problem: Problem) -> Floats:
        """Steps 1 and 2: centers of a sample, by K-means."""
        k, rng = problem.k, problem.rng
        given = seeding.given_centers(self.init, ("k-means++", "random"), problem.rows, k, rng)
        if given is not None:
            return given
        sample = self._sample(problem)
        first = State(assign.nobody(sample.n), seeding.plain_start(self.init, sample, k, rng))
        total = centers.scatter(sample)
        limits = problem.limits._replace(watch=loop.unwatched)
        move = partial(lloyd.step, rows=sample, total=total)
        found = loop.run(move, first, limits, centers.rounding(sample, total))
        return found.state.centers + (sample.shift.astype(np.float64) - problem.rows.shift)

    def _sample(self, problem: Problem) -> Rows:
        """Rows drawn without replacement, each as likely as any other that has weight."""
        rows = problem.rows
        wanted = balance.sample_size(problem.k) if self.sample_size == "auto" else self.sample_size
        wanted = max(wanted, problem.k)
        some = np.arange(rows.n) if rows.weight is None else np.flatnonzero(rows.weight > 0)
        if wanted >= len(some):
            return rows
        drawn = np.sort(problem.rng.choice(some, size=wanted, replace=False))
        return rows_of(rows.X[drawn], None if rows.weight is None else rows.weight[drawn])
