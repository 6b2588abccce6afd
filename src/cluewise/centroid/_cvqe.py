"""CVQE: k-means that charges a broken link by the distance between two centers [Davidson2005]_."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from cluewise._sklearn import StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._linked import Frame, build_frame, order_links, relax_links, spread, step, warn_of_one_cluster
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.centers import Tally
from cluewise.core.rows import squared_distances
from cluewise.core.views import PairGraph
from cluewise.kernels import pairs

__all__ = ["CVQE"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    squared: Floats  # (tied rows, k) squared distances to the centers
    links: PairGraph


def half_between(at: Floats) -> tuple[Floats, Floats, Ints]:
    """½‖μ_i − μ_j‖² for all pairs of centers, the smallest for each center, and h(j), the nearest other center."""
    between = 0.5 * cdist(at, at, "sqeuclidean")
    if len(at) == 1:  # no other center, so a broken cannot-link costs nothing
        return between, np.zeros(1), np.zeros(1, dtype=np.int64)
    away = between + np.diag(np.full(len(at), np.inf))
    other = away.argmin(axis=1)
    return between, away.min(axis=1), other


def relabel(state: State, frame: Frame, published: bool) -> tuple[Ints, None]:
    """Published: Eq. 6 and 7 for each link, from the nearest centers. Library: block descent from the last labels."""
    rows, links = frame.rows, frame.links
    weight = 1.0 if rows.weight is None else rows.weight[links.rows, None]
    alone = 0.5 * weight * state.squared
    between, exits, _ = half_between(state.centers)
    if published:
        labels = state.squared.argmin(axis=1).astype(np.int32)
        pairs.repair_all(frame.order, links.ends, links.must, links.cannot, alone, between, exits, labels)
        return labels, None
    everywhere = np.tile(exits, (len(alone), 1))
    tied = state.labels[links.rows]
    return relax_links(links, frame.order, tied, alone, between, np.zeros_like(alone), everywhere), None


def settle(state: State, frame: Frame, labels: Ints, tally: Tally, _: None, published: bool) -> tuple[State, float]:
    """Published: Eq. 8 with the old centers. Library: all centers jointly. Then the objective (Eq. 4)."""
    links, k = frame.links, len(state.centers)
    split, joined = np.zeros((k, k)), np.zeros(k)
    pairs.count_broken(links.ends, links.must, links.cannot, labels[links.rows], split, joined)
    pull = split.copy()
    pull[np.arange(k), half_between(state.centers)[2]] += joined * (k > 1)
    at = (move_one_sided if published else move_jointly)(state.centers, tally, pull)
    between, exits, _other = half_between(at)
    value = 0.5 * spread(frame.total, tally, at) + float((split * between).sum()) + float(joined @ exits)
    return State(labels, at, squared_distances(frame.rows, at, links.rows), links), value


def move_one_sided(old: Floats, tally: Tally, pull: Floats) -> Floats:
    """Move the center of the first row of each broken link towards the other center (Eq. 8, E11, E12)."""
    return centers.means(Tally(tally.sums + pull @ old, tally.mass + pull.sum(axis=1)), old)


def move_jointly(old: Floats, tally: Tally, pull: Floats) -> Floats:
    """Solve (diag(n) + L) M = S, where L is the Laplacian of the pulls; undetermined centers stay in place."""
    if not pull.any():
        return centers.means(tally, old)
    edges = pull + pull.T
    matrix = np.diag(tally.mass + edges.sum(axis=1)) - edges
    # Solved for the change of the centers: the least-norm solution moves no center without need.
    way: Floats = np.linalg.lstsq(matrix, tally.sums - matrix @ old, rcond=None)[0]
    return old + way


class CVQE(CentroidClusterer):
    r"""K-means with soft links: a broken one costs the distance between two centers.

    A broken must-link costs half the squared distance between the centers of its two rows; a broken cannot-link, half
    the squared distance between its center and the nearest other center. Both are multiplied by the weight of the link.
    There is no penalty to choose, and broken must-links draw centers together. Labels and groups are converted to
    links.

    Parameters
    ----------
    {n_clusters}
    profile : {"library", "published"}, default="library"
        "library": relabel pairs of rows by descent of the whole objective and update all centers jointly; the
        objective never rises. "published": as in the paper.
    {init_neighborhoods}
    order : {"index", "random"} or permutation of the rows, default="index"
        Order in which links are visited: sorted by row number, drawn at random for each start, or sorted by the
        position of their rows in the permutation.
    {n_init_neighborhoods}
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Means of the clusters, drawn towards each other by broken links.
    {n_clusters_}
    {inertia_}
    objective_ : float
        Half the sum of squared distances plus what the broken links cost.
    {iterations_}
    {broken_links_}

    Notes
    -----
    .. math:: J = \tfrac12 \sum_i s_i \lVert x_i - \mu_{y_i} \rVert^2
        + \tfrac12 \sum_{ML} w_{ab} \lVert \mu_{y_a} - \mu_{y_b} \rVert^2
        + \tfrac12 \sum_{CL,\, y_a = y_b} \bar w_{ab} \lVert \mu_{y_a} - \mu_{h(y_a)} \rVert^2

    ============================ ===========================================
    paper                        code
    ============================ ===========================================
    :math:`\mu_j`                ``cluster_centers_[j]``
    :math:`h(j)`                 ``half_between``: the nearest other center
    :math:`w, \bar w`            weights of the links (1 in the paper)
    :math:`s_i`                  ``sample_weight``
    ============================ ===========================================

    *Deviations.* Each link is charged once, to the cluster of its first row (E11 of the survey's errata), and
    denominators count what numerators sum (E12). The published rules may raise the objective: they look at links that
    share a row one by one, and move each center as if the others stayed. The library minimizes over all k² labels of a
    pair, counting every link of both rows, and solves one linear system for all centers. Links are visited sorted by
    row instead of in the order of a list. Weights multiply the cost of a link. An empty cluster takes the worst row
    without clues if that lowers the objective.

    References
    ----------
    .. [Davidson2005] I. Davidson and S. S. Ravi, "Clustering with constraints: feasibility issues and the k-means
       algorithm", SDM 2005.

    Examples
    --------
    >>> from cluewise import CVQE, Clues
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
    >>> model = CVQE(2, init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 0], dtype=int32)
    >>> model.broken_
    Clues(8 rows: 1 cannot-link)
    """

    card = Card(
        paper="Davidson2005",
        title="K-means, broken links cost distances between centers",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        means=False,
        equation="CVQE, Eq. (4)-(8) of the survey",
        memory="pairs",
        cost="O(nkd + pairs k²); labels and groups make up to n² pairs",
        aliases=("Constrained Vector Quantization Error",),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "profile": [StrOptions({"library", "published"})],
        "order": [StrOptions({"index", "random"}), "array-like"],
    }

    broken_cost_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        profile: str = "library",
        init: Any = "neighborhoods",
        order: Any = "index",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.profile = profile
        self.order = order

    def _check_clues(self, clues: Any, n: int) -> Clues:
        return warn_of_one_cluster(self, super()._check_clues(clues, n))

    def _prepare(self, problem: Problem) -> PairGraph:
        return order_links(problem, self.order)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, links = problem.rows, problem.shared
        start = seeding.neighborhood_centers(self.init, rows, problem.clues, problem.k, problem.rng, problem.start)
        labels = assign.no_labels(rows.n)
        assign.nearest(rows, start, labels)
        state = State(labels, start, squared_distances(rows, start, links.rows), links)
        published = self.profile == "published"
        move = partial(
            step,
            frame=build_frame(problem, self.order),
            relabel=partial(relabel, published=published),
            settle=partial(settle, published=published),
        )
        highest = self._evaluate(problem, state)["objective_"]
        slack = None if self.profile == "published" else centers.rounding(rows, problem.total + highest)
        return loop.run(move, state, problem.limits, slack)

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        first, second = state.labels[state.links.rows[state.links.ends]].T
        between, exits, _ = half_between(state.centers)
        apart = np.where(first == second, state.links.cannot * exits[first], state.links.must * between[first, second])
        cost = float(apart.sum())
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": 0.5 * spread + cost, "inertia_": spread, "broken_cost_": cost}
