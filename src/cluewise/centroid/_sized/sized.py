"""K-means with bounds on the sizes of clusters, each assignment an exact minimum-cost flow [Demiriz2008]_."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._sized import capacities, flow
from cluewise.centroid._sized.capacities import Capacities, capacities_of
from cluewise.centroid._sized.flow import Bounds
from cluewise.centroid._sized.sizes import bounds_of, refill
from cluewise.clues import Clues
from cluewise.core import assign, centers, lloyd, loop, seeding
from cluewise.core.rows import Rows

__all__ = ["SizedKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    prices: Floats | None  # of a place in each cluster; None before the first assignment
    gap: float  # relative optimality gap of the last assignment


def step(state: State, *, rows: Rows, bounds: Bounds | Capacities, total: float) -> tuple[State, loop.Info]:
    """Both steps of the algorithm: an optimal assignment within the bounds (Eq. 44), then means."""
    costs = flow.costs_of(rows, state.centers)
    prices = state.prices
    if isinstance(bounds, Capacities):
        labels, gap = capacities.pack(costs, bounds, None if state.labels[0] == UNASSIGNED else state.labels)
    else:
        labels, prices, gap, _ = flow.cheapest(costs, bounds, prices)
    cost = float(costs[np.arange(rows.n), labels].sum())
    tally = centers.tally(rows, labels, len(state.centers))
    if isinstance(bounds, Bounds):
        tally = refill(rows, tally, state.centers, labels, bounds)
    moved = int(np.count_nonzero(labels != state.labels))
    means = centers.means(tally, state.centers)
    share = gap / cost if cost > 0 else 0.0
    return State(labels, means, prices, share), loop.Info(centers.within(total, tally), moved)


class SizedKMeans(CentroidClusterer):
    r"""K-means with bounds on the sizes of clusters and optimal assignments.

    Use it when sizes are known or limited: teams, routes, school classes, batches of equal size, clusters large enough
    for a survey. Bounds are given as clues: ``Clues(n, sizes=(lower, upper))`` for all clusters, or one pair for each.
    In every iteration, the assignment is proved to be the cheapest within the bounds.

    Parameters
    ----------
    {n_clusters}
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Initialization. If bounds differ between clusters, an array fixes the first center of each.
    {n_init 5}
        Centers given as ``init`` make one start.
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {objective_squares_}
    {inertia_}
    gap_ : float
        Relative optimality gap of the last assignment, which is proved: 0 up to rounding, except for bounds on the
        summed weight of rows of unequal weight.
    {iterations_}
    {margin_}
    {none_broken_}

    Raises
    ------
    Infeasible
        When no clustering has such sizes; the message explains why.
    Undecided
        When no assignment of rows of unequal weight within the bounds was found in time, nor a proof that none exists.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2
        \quad\text{subject to}\quad \tau_h \le |C_h| \le \kappa_h

    ======================= =======================================
    paper                   code
    ======================= =======================================
    :math:`T_{ih}`          ``labels_[i] == h``
    :math:`\tau_h`          ``clues.sizes[h, 0]``
    :math:`\kappa_h`        ``clues.sizes[h, 1]``, our addition
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= =======================================

    Costs are squared distances and are not rounded to integers. ``predict`` returns the nearest center: bounds only
    apply to the rows of the fit. Memory is about 26 bytes for each row and cluster.

    Bounds on summed weight (``size_unit="weight"``) become bounds on points if all rows have the same weight. With
    unequal weights the assignment is a bin packing problem, for which no exact method is fast. Up to 20,000 rows times
    clusters, a linear relaxation is solved, then an integer program for the rows that it divides and those near a
    boundary. The bounds hold, the objective never rises, and ``gap_`` bounds the distance from the optimum. Larger
    problems are refused. Bounds on points allow any weights.

    *Deviations.* Erratum E33 of the survey: sizes are at *least* :math:`\tau_h`; Eq. 44 says at most. Upper bounds
    extend the same network. The flow is solved on one node per cluster instead of one per row, with the same optimum.
    An empty cluster takes the worst row whose move keeps the bounds.

    References
    ----------
    .. [Demiriz2008] A. Demiriz, K. P. Bennett and P. S. Bradley, "Using assignment constraints to avoid empty
       clusters in k-means clustering", in Constrained Clustering, CRC Press 2008.

    Examples
    --------
    >>> from cluewise import Clues, SizedKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> model = SizedKMeans(2, init=[X[0], X[4]]).fit(X, clues=Clues(8, sizes=[(1, 3), (1, 6)]))
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Demiriz2008",
        title="K-means with bounds on sizes",
        accepts=frozenset({"sizes"}),
        hard=True,
        closes=True,
        equation="survey Eq. 44, Alg. 14",
        cost="O(nkd + paths (k^2 + k log n)), paths up to n",
        aliases=("Size-constrained K-means",),
    )

    gap_: float

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.require(self.n_clusters)
        return known

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        rows = problem.rows
        bounds = capacities_of(problem.clues, problem.k, rows) or bounds_of(problem.clues, problem.k, rows)
        first = seeding.plain_start(self.init, rows, problem.k, problem.rng)
        slack = centers.rounding(rows, problem.total)
        if bounds is None:
            plain = partial(lloyd.step, rows=rows, total=problem.total)
            return loop.run(plain, lloyd.State(assign.no_labels(rows.n), first), problem.limits, slack)
        move = partial(step, rows=rows, bounds=bounds, total=problem.total)
        return loop.run(move, State(assign.no_labels(rows.n), first, None, 0.0), problem.limits, slack)

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        return super()._attributes(problem, result) | {"gap_": getattr(result.state, "gap", 0.0)}
