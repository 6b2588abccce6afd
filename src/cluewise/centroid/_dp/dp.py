"""DP-means: k-means that opens a cluster when a row is too far from all centers [Kulis2012]_."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cluewise._sklearn import StrOptions
from cluewise._typing import Ints
from cluewise.base import Card, Problem
from cluewise.centroid._dp import opening
from cluewise.centroid._dp.base import ROUNDING, OpeningClusterer, State
from cluewise.centroid._dp.opening import Points
from cluewise.core import loop
from cluewise.core.assign import visiting_order

__all__ = ["DPMeans"]


def step(state: State, *, points: Points, order: Ints) -> tuple[State, loop.Info]:
    """One sweep, in which each row joins the nearest cluster or opens one, then means."""
    cost = state.cluster_cost
    swept = opening.sweep(points, state.labels, state.centers, order=order, cluster_cost=cost)
    value = opening.distortion(points, swept.centers, swept.labels) + cost * len(swept.centers)
    return State(swept.labels, swept.centers, cost), loop.Info(value, swept.moved)


class DPMeans(OpeningClusterer):
    r"""K-means that finds the number of clusters: a row far from every center opens a new one.

    Use it when you know how far apart rows of one cluster may be, but not how many clusters there are. It does not use
    clues; `RDPMeans` does, and is equal to this method without them.

    Parameters
    ----------
    n_clusters : int, default=3
        Expected number of clusters. It only determines ``cluster_cost="auto"``; the result may have more or fewer.
    cluster_cost : float or "auto", default="auto"
        Price of a cluster: a row opens one if its divergence from every center is at least as large. "auto" walks
        ``n_clusters`` rows furthest-first from the mean and takes the divergence of the last row from those before it.
    divergence : {"sqeuclidean", "kl", "generalized_i", "itakura_saito"} or array of shape (d, d), default="sqeuclidean"
        Bregman divergence from row to center: squared distance, Kullback-Leibler (rows sum to 1), generalized I
        (rows are non-negative), Itakura-Saito (rows are positive). A matrix defines a squared Mahalanobis distance.
    smoothing : float or None, default=None
        For "kl" only: rows are counts :math:`c` and become :math:`(c_j + a)/(\sum c + a d)` with this :math:`a`.
        The paper uses 0.3. Without smoothing, a column that is zero in all rows of a cluster keeps other rows out.
    order : {"index", "random"} or permutation of the rows, default="index"
        Order in which rows are visited.
    max_iter : int, default=300
        Maximum number of sweeps.
    random_state : int, RandomState, Generator or None, default=None
        Seed of a random order.

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (k, d)
        Means of the clusters (of the smoothed rows, with smoothing).
    n_clusters_ : int
        Number of clusters found.
    cluster_cost_ : float
        Price of a cluster.
    {inertia_metric_}
    objective_ : float
        Sum of divergences from the centers plus the price of the clusters.
    trace_ : ndarray
        The objective after each sweep.
    n_iter_ : int
        Number of sweeps.
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: divergence from the best other center minus that from its own.
    broken_ : Clues
        Always empty: clues are not used.

    Notes
    -----
    .. math:: J = \sum_i w_i D(x_i, \mu_{z_i}) + \lambda K

    ======================= ==========================
    paper                   code
    ======================= ==========================
    :math:`\lambda`         ``cluster_cost``
    :math:`K`               ``n_clusters_``
    :math:`\mu_k`           ``cluster_centers_[k]``
    ======================= ==========================

    *Deviations.* "auto" uses the divergence of the method; [Khashabi2015]_ used the k-th largest unsquared distance to
    the mean (``RDPMeans(profile="published")``). A row of weight w > 1 opens a cluster if w equal rows, one after the
    other, would; it never opens one that raises the objective.

    References
    ----------
    .. [Kulis2012] B. Kulis and M. I. Jordan, "Revisiting k-means: new algorithms via Bayesian nonparametrics",
       ICML 2012.
    .. [Khashabi2015] D. Khashabi, J. Wieting, J. Y. Liu and F. Liang, "Clustering with side information: from a
       probabilistic model to a deterministic algorithm", arXiv:1508.06235, 2015.

    Examples
    --------
    >>> from cluewise import DPMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> model = DPMeans(cluster_cost=6).fit(X)
    >>> model.labels_, model.n_clusters_
    (array([1, 1, 1, 0, 0, 0, 2, 2], dtype=int32), 3)
    """

    card = Card(
        paper="Kulis2012",
        title="K-means that opens clusters",
        accepts=frozenset(),
        deterministic=True,
        finds=True,
        plain="",
        equation="DP-means, Algorithm 1",
        cost="O(nkd)",
        aliases=("DP-means",),
    )
    _parameter_constraints = OpeningClusterer._parameter_constraints | {
        "order": [StrOptions({"index", "random"}), "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        cluster_cost: float | str = "auto",
        divergence: Any = "sqeuclidean",
        smoothing: float | None = None,
        order: Any = "index",
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cluster_cost = cluster_cost
        self.divergence = divergence
        self.smoothing = smoothing
        self.order = order
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, problem: Problem) -> loop.Result[State]:
        points, state = self._begin(problem)
        order = visiting_order(self.order, np.arange(points.n), points.n, problem.rng)
        move = partial(step, points=points, order=order)
        first = opening.distortion(points, state.centers, state.labels) + state.cluster_cost
        # No tolerance: it stops when no row moves.
        return loop.run(move, state, problem.limits._replace(tol=-np.inf), slack=ROUNDING * first)
