"""LCVQE: k-means that charges a broken link by distances between its rows and centers [Pelleg2007]_."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._linked import (
    Frame,
    build_frame,
    find_torn,
    order_links,
    relax_links,
    restrict_links,
    spread,
    step,
    sum_pulls,
    two_nearest,
    warn_of_one_cluster,
)
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.centers import Tally
from cluewise.core.rows import squared_distances
from cluewise.core.views import PairGraph
from cluewise.kernels import pairs

__all__ = ["LCVQE"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    squared: Floats  # (tied rows, k) squared distances to the centers
    near: tuple[Ints, Ints]  # the nearest and the second nearest center of the tied rows
    charges: Floats  # (tied rows, k) weight with which a row pulls a center because of broken links
    links: PairGraph


def charges_of(
    links: PairGraph, labels: Ints, squared: Floats, near: tuple[Ints, Ints], room: Floats | None = None
) -> Floats:
    """Charge broken links to rows and centers: both rows of a must-link, the cheaper row of a cannot-link.

    ``room`` is an array that is not needed any more.
    """
    charges = np.empty_like(squared) if room is None else room
    charges.fill(0)
    tied = labels[links.rows]
    pairs.charge_rows(links.ends, links.must, links.cannot, squared, *near, tied, charges)
    return charges


def half_exits(squared: Floats, near: tuple[Ints, Ints]) -> Floats:
    """(rows, k) half the squared distance of each row to the nearest center other than k; 0 if there is none."""
    if squared.shape[1] == 1:
        return np.zeros_like(squared)
    nearest, runner_up = near
    every = np.arange(len(squared))
    exits = np.tile(0.5 * squared[every, nearest, None], squared.shape[1])
    exits[every, nearest] = 0.5 * squared[every, runner_up]
    return exits


def relabel(state: State, frame: Frame, published: bool) -> tuple[Ints, Floats | None]:
    """Published: Eq. 12 and 13 for broken links, from the nearest centers. Library: block descent from the last labels.

    The descent skips connected parts in which the nearest centers break no link: nothing is cheaper there.
    """
    labels = state.near[0].copy()
    if published:
        charges = np.zeros_like(state.squared)
        links = frame.links
        of_links = links.ends, links.must, links.cannot
        weight = 1.0 if frame.rows.weight is None else frame.rows.weight[links.rows, None]
        alone = 0.5 * weight * state.squared
        pairs.repair_few(frame.order, *of_links, alone, state.squared, *state.near, labels, charges)
        return labels, charges
    among = find_torn(frame.links, labels)
    links, order = restrict_links(frame.links, among, frame.order)
    k = state.squared.shape[1]
    alone, reach, exits = np.empty((3, len(links.rows), k))
    pairs.half_prices(
        state.squared, *state.near, frame.rows.weights(links.rows), np.flatnonzero(among), alone, reach, exits
    )
    labels[among] = relax_links(links, order, state.labels[links.rows], alone, np.zeros((k, k)), reach, exits)
    return labels, None


def settle(state: State, frame: Frame, labels: Ints, tally: Tally, kept: Floats | None) -> tuple[State, float]:
    """Eq. 14: means with the rows of broken links added; then the objective (Eq. 10)."""
    links = frame.links
    charges = charges_of(links, labels, state.squared, state.near) if kept is None else kept
    at = centers.means(tally.plus(sum_pulls(frame.rows, links.rows, charges)), state.centers)
    squared = squared_distances(frame.rows, at, links.rows)
    near = two_nearest(squared)
    if kept is None:  # the nearest other center may have changed
        charges = charges_of(links, labels, squared, near, charges)
    value = 0.5 * (spread(frame.total, tally, at) + float(np.vdot(charges, squared)))
    return State(labels, at, squared, near, charges, links), value


def broken_cost(state: State) -> float:
    """The second and third term of the objective, computed link by link."""
    links, squared = state.links, state.squared
    a, b = links.ends.T
    p, q = state.labels[links.rows[a]], state.labels[links.rows[b]]
    split = 0.25 * links.must * (squared[a, q] + squared[b, p])
    exits = half_exits(squared, state.near)
    joined = links.cannot * np.minimum(exits[a, p], exits[b, p])
    return float(np.where(p == q, joined, split).sum())


class LCVQE(CentroidClusterer):
    r"""K-means with soft links: a broken one costs distances between its rows and the centers.

    A broken must-link costs a quarter of the squared distances of each row to the other's center; a broken cannot-link,
    half the squared distance of one of its rows to the nearest other center. Both are multiplied by the weight of the
    link. There is no penalty to choose, and the method copes well with many or noisy links and with many clusters.
    Labels and groups are converted to links.

    Parameters
    ----------
    {n_clusters}
    profile : {"library", "published"}, default="library"
        "library": relabel pairs of rows by descent of the whole objective, which never rises. "published": as in the
        paper, where links of weight 1 are repaired one by one and later ones may break them again.
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
        Means of the clusters and of the rows that pull at them because of broken links.
    {n_clusters_}
    {inertia_}
    objective_ : float
        Half the sum of squared distances plus what the broken links cost.
    {iterations_}
    {broken_links_}

    Notes
    -----
    .. math:: J = \tfrac12 \sum_i s_i d^2(x_i, \mu_{y_i})
        + \tfrac14 \sum_{ML,\, y_a \ne y_b} w_{ab} \big( d^2(x_a, \mu_{y_b}) + d^2(x_b, \mu_{y_a}) \big)
        + \tfrac12 \sum_{CL,\, y_a = y_b} \bar w_{ab} \min_{r \in \{a, b\}} \min_{h \ne y_r} d^2(x_r, \mu_h)

    ============================== ==================================================
    paper                          code
    ============================== ==================================================
    :math:`\mu_j`                  ``cluster_centers_[j]``
    :math:`g, g'`                  ``two_nearest``
    lists of rows charged to j     column j of ``charges``
    :math:`w, \bar w`              weights of the links (1 in the paper)
    :math:`s_i`                    ``sample_weight``
    ============================== ==================================================

    *Deviations.* The survey is corrected (E13 to E15 of the errata): both rows of a broken must-link pull, by half
    their weight, and a cannot-link can be repaired by moving its farther row. With weights of 1 the published rule
    keeps a link broken only in ties, and its objective, which counts only the links that it kept broken, may rise (F1).
    The default minimizes over all k² labels of a pair, counting every link of both rows, and charges a broken
    cannot-link to the row that is nearer to another center instead of the one farther from its own: relabeling and
    centers then lower the same objective. Links are visited sorted by row instead of in the order of a list. In the
    published profile must-links come first, and each link starts from the current labels; Eq. 12 and 13 start every
    pair from the nearest centers, which undoes what another pair has repaired. "The nearest other center" differs from
    the current one even if a must-link has moved the row. An empty cluster takes the worst row without clues if that
    lowers the objective.

    References
    ----------
    .. [Pelleg2007] D. Pelleg and D. Baras, "K-means with large and noisy constraint sets", ECML 2007.

    Examples
    --------
    >>> from cluewise import LCVQE, Clues
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
    >>> model = LCVQE(2, init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 1, 0, 1, 1, 1, 0], dtype=int32)
    >>> model.broken_
    Clues(8 rows: no clues)
    """

    card = Card(
        paper="Pelleg2007",
        title="K-means, broken links cost distances to centers",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        means=False,
        equation="LCVQE, Eq. (9)-(14) of the survey",
        memory="pairs",
        cost="O(nkd + pairs k); labels and groups make up to n² pairs",
        aliases=("Linear Constrained Vector Quantization Error",),
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
        squared = squared_distances(rows, start, links.rows)
        near = two_nearest(squared)
        state = State(labels, start, squared, near, charges_of(links, labels, squared, near), links)
        move = partial(
            step,
            frame=build_frame(problem, self.order),
            relabel=partial(relabel, published=self.profile == "published"),
            settle=settle,
        )
        highest = self._evaluate(problem, state)["objective_"]
        slack = None if self.profile == "published" else centers.rounding(rows, problem.total + highest)
        return loop.run(move, state, problem.limits, slack)

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        published = self.profile == "published"
        cost = 0.5 * float((state.charges * state.squared).sum()) if published else broken_cost(state)
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": 0.5 * spread + cost, "inertia_": spread, "broken_cost_": cost}
