"""RDP-means: DP-means in which linked rows attract and repel each other [Khashabi2015]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Problem
from cluewise.centroid._dp import opening
from cluewise.centroid._dp.base import OpeningClusterer
from cluewise.centroid._dp.divergences import EUCLIDEAN, Divergence, pairwise
from cluewise.centroid._dp.opening import Points
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.assign import visiting_order
from cluewise.core.probability.doubt import doubts, doubts_by, linked_rows
from cluewise.core.views import broken_weight

__all__ = ["RDPMeans"]

CAP = 1e12
"""Upper limit of the gain: beyond this, divergences are lost in rounding."""


class State(NamedTuple):
    """What the next sweep needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the points
    cluster_cost: float
    sweeps: int  # made so far
    idle: int  # number of sweeps since the last change
    gain: float  # gain of the next sweep
    used: float  # gain of the last sweep


class Rules(NamedTuple):
    """What does not change between sweeps."""

    points: Points
    clues: Clues
    alone: float  # weight of the links that are broken if every row is a cluster
    order: Ints | None  # None: a new random order for every sweep
    rng: np.random.Generator
    rate: float
    patience: int
    published: bool


def step(state: State, rules: Rules) -> tuple[State, loop.Info]:
    """One sweep of Algorithm 1 at the current gain, then means; stop after ``patience`` sweeps without a change."""
    points = rules.points
    gain = 0.0 if rules.published and state.sweeps == 0 else state.gain
    order = rules.rng.permutation(points.n) if rules.order is None else rules.order
    swept = opening.sweep(
        points,
        state.labels,
        state.centers,
        order=order,
        cluster_cost=state.cluster_cost,
        clues=rules.clues,
        gain=gain,
        last=rules.published,
    )
    idle = 0 if swept.moved else state.idle + 1
    links = broken_weight(rules.clues, swept.labels) - rules.alone
    value = opening.distortion(points, swept.centers, swept.labels)
    value += gain * links + state.cluster_cost * len(swept.centers)
    due = min(state.gain * rules.rate, CAP)
    new = State(swept.labels, swept.centers, state.cluster_cost, state.sweeps + 1, idle, due, gain)
    return new, loop.Info(value, int(idle < rules.patience))


class RDPMeans(OpeningClusterer):
    r"""DP-means with soft links: finds the number of clusters, with linked rows attracting and repelling each other.

    Use it when there are many links and the number of clusters is unknown; if it is known, `PCKMeans` makes better use
    of the links. A growing gain also follows wrong links, even if each then needs a cluster of its own. With few links,
    or many wrong ones, keep the gain constant (``gain_rate=1`` and a ``link_gain`` of the order of the squared
    distances within clusters). Labels and groups act like the links they imply, without being expanded.

    Parameters
    ----------
    n_clusters : int, default=3
        Expected number of clusters. It only determines ``cluster_cost="auto"``; the result may have more or fewer.
    cluster_cost : float or "auto", default="auto"
        Price of a cluster, as in `DPMeans`.
    link_gain : float, default=0.001
        Value of a link of weight 1 in the first sweep, in units of the divergence.
    gain_rate : float, default=2.0
        Factor by which the gain grows from sweep to sweep, up to 1e12: divergences dominate at first, links in the end.
        With 1.0 the gain is constant and the objective never rises.
    patience : int, default=20
        Number of sweeps without a change after which to stop; a single one if the gain is constant.
    divergence : {"sqeuclidean", "kl", "generalized_i", "itakura_saito"} or array of shape (d, d), default="sqeuclidean"
        As in `DPMeans`.
    smoothing : float or None, default=None
        As in `DPMeans`.
    order : {"index", "random"}, permutation of the rows or None, default=None
        Order in which rows are visited. None is "index", or a new random order for every sweep in the published
        profile.
    profile : {"library", "published"}, default="library"
        "published" reproduces the printed tables of the paper: unsquared distance, "auto" cost from the
        ``n_clusters``-th largest distance to the mean, first center at random in the bounding box, first sweep without
        links, ties broken in favor of the last cluster.
    max_iter : int, default=1000
        Maximum number of sweeps.
    {random_state}

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (k, d)
        Means of the clusters (of the smoothed rows, with smoothing).
    n_clusters_ : int
        Number of clusters found.
    cluster_cost_ : float
        Price of a cluster.
    link_gain_ : float
        Value of a link of weight 1 in the last sweep.
    {inertia_metric_}
    objective_ : float
        The objective at that gain.
    trace_ : ndarray
        The objective after each sweep, at the gain of that sweep; values at different gains cannot be compared.
    n_iter_ : int
        Number of sweeps.
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: divergence from the best other center minus that from its own; negative where only
        links keep a row in its cluster.
    {broken_}
    clues_ : Clues
        The clues of the fit.
    doubt_ : ndarray
        Probability that each link is wrong: first those of ``clues_.must``, then those of ``clues_.cannot``.

    Notes
    -----
    .. math:: J = \sum_i w_i D(x_i, \mu_{z_i}) - \xi \sum_{(i,j) \in M} w_{ij} [z_i = z_j]
       + \xi \sum_{(i,j) \in C} w_{ij} [z_i = z_j] + \lambda K

    ================================ ==================================
    paper                            code
    ================================ ==================================
    :math:`\lambda`                  ``cluster_cost``
    :math:`\xi_0`                    ``link_gain``
    :math:`\xi_1 / \xi, \xi_2 / \xi` ``must_weight``, ``cannot_weight``
    :math:`\mu_k`                    ``cluster_centers_[k]``
    ================================ ==================================

    Links that are right with probability p (must) and q (cannot) are worth :math:`\xi_1 = \log p/(1-q)` and
    :math:`\xi_2 = \log q/(1-p)`, in units of twice the variance within clusters for squared distances.

    *Deviations.* Each pair counts once (Eq. (20) counts it twice, but Algorithm 1 may raise that objective). A row that
    opens a cluster belongs to it (Algorithm 1 does not say so). Only the given links count, with their weights;
    contradictory ones are weighed against each other. A row of weight w > 1 opens a cluster if w equal rows, one after
    the other, would. ``doubt_`` is ours: it follows from the cost of keeping a link at the result, in units of the
    variance within clusters, with an estimated share of wrong links. With a divergence other than "sqeuclidean" the
    unit is the mean divergence, which is cautious. Doubts are calibrated by how well they predict the other links: with
    few clues, or clusters that contradict most clues, hardly any link is called wrong.

    References
    ----------
    .. [Khashabi2015] D. Khashabi, J. Wieting, J. Y. Liu and F. Liang, "Clustering with side information: from a
       probabilistic model to a deterministic algorithm", arXiv:1508.06235, 2015.

    Examples
    --------
    >>> from cluewise import Clues, RDPMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> clues = Clues(8, must=[(2, 3), (4, 6)], cannot=[(3, 5)])
    >>> model = RDPMeans(cluster_cost=6, link_gain=4, gain_rate=1).fit(X, clues=clues)
    >>> model.labels_, model.broken_
    (array([1, 1, 1, 1, 0, 0, 2, 2], dtype=int32), Clues(8 rows: 1 must-link))
    >>> RDPMeans(cluster_cost=6).fit(X, clues=clues).labels_
    array([1, 1, 1, 1, 2, 0, 2, 2], dtype=int32)
    """

    card = Card(
        paper="Khashabi2015",
        title="K-means that opens clusters, with growing links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        descends=False,
        invariant=frozenset({"shift", "rotation"}),
        deterministic=True,
        finds=True,
        judges=True,
        plain="",
        equation="RDP-means, Algorithm 1, Eq. (20)",
        cost="O(nkd + pairs)",
        aliases=("RDP-means", "Relational DP-means"),
    )
    _parameter_constraints = OpeningClusterer._parameter_constraints | {
        "link_gain": [Interval(Real, 0, CAP, closed="both")],
        "gain_rate": [Interval(Real, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "order": [StrOptions({"index", "random"}), "array-like", None],
        "profile": [StrOptions({"library", "published"})],
    }

    clues_: Clues
    doubt_: Floats
    link_gain_: float

    def __init__(
        self,
        n_clusters: int = 3,
        *,
        cluster_cost: float | str = "auto",
        link_gain: float = 0.001,
        gain_rate: float = 2.0,
        patience: int = 20,
        divergence: Any = "sqeuclidean",
        smoothing: float | None = None,
        order: Any = None,
        profile: str = "library",
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cluster_cost = cluster_cost
        self.link_gain = link_gain
        self.gain_rate = gain_rate
        self.patience = patience
        self.divergence = divergence
        self.smoothing = smoothing
        self.order = order
        self.profile = profile
        self.max_iter = max_iter
        self.random_state = random_state

    @property
    def _published(self) -> bool:
        return self.profile == "published"

    def _divergence(self, d: int) -> Divergence:
        given = super()._divergence(d)
        if not self._published:
            return given
        if given.name != "sqeuclidean":
            raise ValueError("profile='published' requires divergence='sqeuclidean', of which it takes the root.")
        return Divergence("euclidean", EUCLIDEAN)

    def _cost_from(self, points: Points, center: Floats, k: int) -> float:
        return opening.kth_from_mean(points, center, k) if self._published else super()._cost_from(points, center, k)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        points, begin = self._begin(problem)
        center = _draw_start(points, problem.rng) if self._published else begin.centers
        clues, n, rng = problem.clues, points.n, problem.rng
        steady = self.link_gain == 0 or self.gain_rate == 1 or not len(clues.tied)
        drawn = self.order is None and self._published
        rules = Rules(
            points,
            clues,
            broken_weight(clues, np.arange(n)),
            None if drawn else visiting_order("index" if self.order is None else self.order, np.arange(n), n, rng),
            rng,
            self.gain_rate,
            1 if steady and not drawn else self.patience,
            self._published,
        )
        start = State(begin.labels, center, begin.cluster_cost, 0, 0, self.link_gain, 0.0)
        return loop.run(partial(step, rules=rules), start, problem.limits._replace(tol=-np.inf))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"link_gain_": state.used}

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        found = super()._attributes(problem, result)
        return found | {"clues_": problem.clues, "doubt_": self._doubts(problem, result.state)}

    def _doubts(self, problem: Problem, state: State) -> Floats:
        rows, clues, centers, labels = problem.rows, problem.clues, state.centers, state.labels
        points = self._points(rows)
        if points.divergence.is_distance and points.divergence.root is None:
            return doubts(rows, centers, labels, clues)
        unit = 2 * opening.distortion(points, centers, labels) / rows.mass
        parts = [part for part in points.blocks(len(centers), linked_rows(clues)) if len(part)]
        tables = [pairwise(points.take(part), centers, points.divergence).T for part in parts]
        table = np.concatenate([np.empty((0, len(centers))), *tables])
        return doubts_by(table, unit, labels, clues, rows.weight)


def _draw_start(points: Points, rng: np.random.Generator) -> Floats:
    """(1, d) a point drawn uniformly from the bounding box of the rows."""
    low, high = np.full(points.d, np.inf), np.full(points.d, -np.inf)
    for block in points.blocks(1):
        x = points.take(block)
        low, high = np.minimum(low, x.min(axis=0)), np.maximum(high, x.max(axis=0))
    return rng.uniform(low, high)[None, :]
