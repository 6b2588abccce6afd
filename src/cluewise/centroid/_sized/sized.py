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
    prices: Floats | None  # of a place in each cluster, None before the first assignment
    gap: float  # how far the last assignment may be from the cheapest, as a share of its cost


def step(state: State, *, rows: Rows, bounds: Bounds | Capacities, total: float) -> tuple[State, loop.Info]:
    """Both steps of the algorithm: the cheapest assignment within the bounds (Eq. 44), then means."""
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
    r"""K-means in which every cluster has as many rows as its bounds say.

    Use it when sizes are known or have to be kept: teams, routes, classes, batches of equal size, no cluster
    smaller than a survey needs. Bounds come as clues: ``Clues(n, sizes=(lower, upper))`` for all clusters, or one
    pair for each. In every iteration rows are assigned as cheaply as the bounds allow, proved by prices.

    Parameters
    ----------
    {n_clusters}
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Start. With bounds that differ between clusters, an array says which cluster begins where.
    n_init : int, default=5
        Number of starts; the lowest objective wins. Given centers are one start.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the centers.
    gap_ : float
        How much dearer than the cheapest the last assignment may be, as a share of its cost: a proved bound. Only
        rounding keeps it from 0, except with capacities for rows of unequal weight.
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
    Undecided
        When capacities for rows of unequal weight were neither kept nor refuted in time.

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

    Costs are squared distances in both steps and are never rounded to whole numbers. ``predict`` takes the nearest
    center: bounds speak of the rows that were fitted. Memory is about 26 bytes for each row and cluster.

    Bounds on summed weight (``size_unit="weight"``) become bounds on points when all rows weigh the same. Rows cannot
    be divided, and filling clusters with rows of unequal weight is bin packing, for which no exact method is fast: up
    to 20 000 rows times clusters a linear program is solved as if rows could be divided, then an integer program for
    the rows that it divides and those near a boundary; ``gap_`` says how far the result may be from the cheapest,
    bounds hold and the objective never rises. More rows are refused. Bounds on points take any weights.

    *Deviations.* Erratum E33 of the survey: sizes are at *least* :math:`\tau_h`, its Eq. 44 prints at most. Upper
    bounds are an extension of the same network. The flow is solved on one node per cluster instead of one per row,
    which gives the same optimum. An empty cluster takes the worst row whose move keeps the bounds.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

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
            return loop.run(plain, lloyd.State(assign.nobody(rows.n), first), problem.limits, slack)
        move = partial(step, rows=rows, bounds=bounds, total=problem.total)
        return loop.run(move, State(assign.nobody(rows.n), first, None, 0.0), problem.limits, slack)

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        return super()._attributes(problem, result) | {"gap_": getattr(result.state, "gap", 0.0)}
