"""PCK-Means: k-means with a penalty for every broken link [Basu2004]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Bools, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.assign import visiting_order
from cluewise.core.centers import typical_price
from cluewise.core.crowd import Placed
from cluewise.core.rows import Rows
from cluewise.core.views import Forces, broken_weight, build_forces, count_members

__all__ = ["PCKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    counts: Ints  # members per cluster of the large groups
    broken: float  # summed weight of the broken links
    penalty: float  # price of a broken link of weight 1
    placed: Placed | None = None  # where rows are that are not in memory


def step(state: State, *, rows: Rows, free: Bools, pulls: Forces, order: Ints, total: float) -> tuple[State, loop.Info]:
    """Steps 2a (assign rows, with the penalties of E16) and 2b (update means) of the algorithm."""
    labels, counts, penalty = state.labels.copy(), state.counts.copy(), state.penalty
    swept = assign.sweep(rows, state.centers, labels, free, order, pulls, counts, penalty)
    tally, refilled = centers.refill(rows, swept.tally, state.centers, labels, free)
    means = centers.means(tally, state.centers)
    broken = state.broken + swept.broken
    value = 0.5 * centers.within(total, tally) + penalty * broken
    return State(labels, means, counts, broken, penalty, rows.placed), loop.Info(value, swept.moved + refilled)


class PCKMeans(CentroidClusterer):
    r"""K-means with soft must-links and cannot-links: each broken one costs its weight times ``penalty``.

    Use it when links may be wrong or contradict each other. Labels and groups act like the links they imply, without
    being expanded.

    Parameters
    ----------
    {n_clusters}
    penalty : float or "auto", default="auto"
        Price of a broken link of weight 1, in units of half a squared distance. "auto" is the variance within the
        first clusters per effective dimension times log 9, which assumes that nine links out of ten are right. The
        paper uses 1.
    {init_neighborhoods}
    {order}
    {n_init_neighborhoods}
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {inertia_}
    objective_ : float
        Half the sum of squared distances plus the price of the broken links.
    penalty_ : float
        The price used.
    {iterations_}
    {broken_links_}

    Notes
    -----
    .. math:: J = \tfrac12 \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2
        + \text{penalty} \Big( \sum_{ML} w_{ij} [y_i \ne y_j] + \sum_{CL} \bar w_{ij} [y_i = y_j] \Big)

    ============================ ==============================
    paper                        code
    ============================ ==============================
    :math:`w_{ij}`               ``penalty * clues.must_weight``
    :math:`\bar w_{ij}`          ``penalty * clues.cannot_weight``
    :math:`\mu_h`                ``cluster_centers_[h]``
    ============================ ==============================

    *Deviations.* ``penalty="auto"``, because a fixed price is meaningless without the scale of X: in a mixture of
    spherical Gaussians of variance :math:`s^2` a link that is right with probability p weighs
    :math:`s^2 \log p/(1-p)`. The first sweep starts from the nearest-center labels and every later one from the
    previous labels, which keeps the objective from rising (starting each sweep with unassigned rows does not). Clusters
    without a neighborhood are initialized by k-means++ instead of random perturbations of the global mean. A row keeps
    its cluster on ties. An empty cluster takes the worst row without clues.

    {in_chunks}

    References
    ----------
    .. [Basu2004] S. Basu, A. Banerjee and R. Mooney, "Active semi-supervision for pairwise constrained
       clustering", SDM 2004.

    Examples
    --------
    >>> from cluewise import Clues, PCKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
    >>> model = PCKMeans(2, penalty=4, init=[X[0], X[4]]).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 0], dtype=int32)
    >>> model.broken_, model.broken_cost_
    (Clues(8 rows: 1 cannot-link), 4.0)
    """

    card = Card(
        paper="Basu2004",
        title="K-means with priced links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        chunks=True,
        equation="PCKMeans, Eq. (1)",
        cost="O(nkd + pairs k)",
        aliases=("PCK-Means", "Pairwise Constrained K-Means"),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "order": [StrOptions({"index", "random"}), "array-like"],
    }

    penalty_: float
    broken_cost_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        penalty: float | str = "auto",
        init: Any = "neighborhoods",
        order: Any = "index",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.penalty = penalty
        self.order = order

    def _prepare(self, problem: Problem) -> Forces:
        return build_forces(problem.clues, problem.k)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, clues, pulls = problem.rows, problem.clues, problem.shared
        start = seeding.neighborhood_centers(self.init, rows, clues, problem.k, problem.rng, problem.start)
        labels = assign.no_labels(rows.n)
        found = assign.nearest(rows, start, labels)
        if self.penalty != "auto":
            penalty = float(self.penalty)
        elif problem.first is not None:
            penalty = problem.first.penalty  # objectives can only be compared at the same price
        else:
            means, within = centers.means(found.tally, start), centers.within(problem.total, found.tally)
            penalty = typical_price(rows, means, labels, within, 1e-12 * problem.total)
        counts, broken = count_members(pulls, labels, problem.k), broken_weight(clues, labels)
        move = partial(
            step,
            rows=rows,
            free=pulls.free,
            pulls=pulls,
            order=visiting_order(self.order, rows.number(pulls.rows), rows.n_all, problem.rng),
            total=problem.total,
        )
        slack = centers.rounding(rows, problem.total)
        return loop.run(move, State(labels, start, counts, broken, penalty), problem.limits, slack)

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        cost = state.penalty * broken_weight(problem.clues, state.labels)
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": 0.5 * spread + cost, "inertia_": spread, "broken_cost_": cost}

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"penalty_": state.penalty}
