"""PCCC: k-means whose assignments are optimized under hard and soft clues of all kinds [Baumann2024]_."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._clock import Clock
from cluewise.centroid._pccc.anchors import find_anchors
from cluewise.centroid._pccc.bonds import Bonds, bonds_of, price_of, set_price
from cluewise.centroid._pccc.filling import limits_of
from cluewise.centroid._pccc.placing import (
    Frame,
    choose_price,
    find_movable,
    move_center,
    place_freely,
    place_within,
    translate,
)
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.probability.doubt import doubts
from cluewise.core.views import broken_weight, contract
from cluewise.exceptions import Infeasible
from cluewise.kernels import working_time

__all__ = ["PCCC"]

Move = Callable[..., tuple["State", loop.Info]]

REPOSITIONS = 3  # maximum number of attempts to move a center elsewhere


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    nodes: Ints  # (m,) int32, cluster of each node
    gap: float  # relative optimality gap of the last assignment
    penalty: float  # price of a broken soft link of weight 1


def step(state: State, *, frame: Frame, bonds: Bonds, clock: Clock, thorough: bool = False) -> tuple[State, loop.Info]:
    """One iteration: assign rows with the centers fixed, then update means."""
    labels, of_node, at = state.labels.copy(), state.nodes.copy(), state.centers
    place = place_freely if frame.limits is None else place_within
    with clock as seconds:
        try:
            found = place(frame, bonds, at, labels, of_node, working_time() + seconds, thorough)
        except Infeasible as error:
            raise translate(error, frame, len(at)) from None
    labels[frame.nodes.tied] = of_node[frame.nodes.of_tied]
    tally = found.tally
    if (tally.mass == 0).any():
        tally, _ = centers.refill(frame.rows, tally, at, labels, find_movable(frame, labels, len(at)))
    price = price_of(bonds, of_node[frame.nodes.bound]) if bonds.soft else bonds.constant
    value = centers.within(frame.total, tally) + price
    cost, excess = found.cost + bonds.constant, found.cost - found.bound
    gap = excess / cost if excess > 1e-12 * abs(cost) and cost > 0 else 0.0  # up to rounding
    moved = int(np.count_nonzero(labels != state.labels))
    return State(labels, centers.means(tally, at), of_node, gap, state.penalty), loop.Info(value, moved)


class PCCC(CentroidClusterer):
    r"""K-means with every kind of clue at once: hard and soft links, labels, groups and sizes.

    Use it when clues are mixed: some certain, some with a confidence, links combined with bounds on sizes. One model
    assigns rows in every iteration: hard clues always hold, each broken soft clue costs its weight, and only a cheaper
    assignment replaces the previous one. Like K-means, it finds spherical clusters; if classes have other shapes, even
    certain clues about a tenth of the rows help these rows but hardly any others.

    Parameters
    ----------
    {n_clusters}
    hard : {"all", "infinite"}, default="all"
        Which clues are hard: all of them, whatever their weights; or labels, sizes, and links and groups of infinite
        weight. The others are soft and may contradict each other and the hard ones.
    penalty : float, "auto" or "mean", default="auto"
        Price of a broken soft link of weight 1, in squared distances. "auto" is twice the variance within the first
        clusters per effective dimension times log 9, which assumes that nine out of ten links of weight 1 are right.
        "mean" is the mean squared distance between rows and first centers, as in the paper.
    init : {"anchors", "k-means++", "random"}, array-like of shape (k, d) or callable, default="anchors"
        Initialization. "anchors": means of groups of rows that clues hold together and keep apart from each other, then
        k-means++ given these. If bounds differ between clusters, an array fixes the first center of each.
    time_limit : float, default=30.0
        Seconds for searches: half of them for all starts together, the rest for improving the best start. Searches that
        reach the limit return the best assignment found.
    {n_init 5}
        Centers given as ``init`` make one start.
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {inertia_}
    objective_ : float
        Sum of squared distances plus the price of the broken links.
    penalty_ : float
        The price used; 0 without soft clues.
    gap_ : float
        Relative optimality gap of the last assignment; 0 if it is proved optimal. Many contradictory soft links leave a
        large gap, because the lower bound is then weak.
    {iterations_}
    {margin_}
    broken_ : Clues
        The soft clues that the result breaks.
    {broken_cost_}
    clues_ : Clues
        The clues of the fit.
    doubt_ : ndarray
        Probability that each link is wrong: first those of ``clues_.must``, then those of ``clues_.cannot``.

    Raises
    ------
    Contradiction
        When hard clues keep rows both together and apart; the chain that proves it is in the message.
    Infeasible
        When the hard clues need more clusters, or are incompatible with the bounds on sizes.
    Undecided
        When the search reached ``time_limit`` without an answer.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2 + P \Big( \sum_{ML} w_{ij} [y_i \ne y_j]
        + \sum_{CL} w_{ij} [y_i = y_j] \Big) \quad\text{subject to the hard clues and}\quad
        \ell_h \le |C_h| \le u_h

    ======================= =======================================================
    paper                   code
    ======================= =======================================================
    :math:`P`               ``penalty_``
    :math:`w_{ij}`          ``clues.must_weight``, ``clues.cannot_weight``
    :math:`x_{il}`          ``labels_[i] == l``
    :math:`y_{ij}, z_{ij}`  broken links, ``broken_``
    :math:`\ell_h, u_h`     ``clues.sizes``, our addition
    ======================= =======================================================

    Each component of hard must-links is one node. Rows without clues take the nearest center; so do connected parts of
    the clue graph in which that breaks nothing. The other parts are assigned by a search under the hard links alone,
    then improved by moving single nodes, Kempe chains and sets of nodes. When the centers have converged, integer
    programs prove small parts optimal and improve large ones a few nodes at a time. With bounds on sizes, free rows are
    assigned by minimum-cost flow, and its prices give the lower bound. A soft group costs its weight for each broken
    pair. Labels only say which rows belong together; class c need not become cluster c. Without clues, or if all
    weights are 0, the result is that of K-means from the same start.

    *Deviations.* ``penalty="auto"``: with one wrong pair in five and all weights 1, the price of the paper gave worse
    results than K-means without clues, and this one better results; if all links are right, they are similar. Programs
    are solved at the end rather than in every iteration, by HiGHS instead of a commercial solver, and only if they are
    small. The initialization uses the clues. Bounds on sizes and groups are additions. ``doubt_`` is ours: it follows
    from the cost of keeping a link at the result, calibrated by how well it predicts the other links. With few clues,
    or clusters that contradict most clues, hardly any link is called wrong.

    References
    ----------
    .. [Baumann2024] P. Baumann and D. S. Hochbaum, "An algorithm for clustering with confidence-based must-link and
       cannot-link constraints", INFORMS Journal on Computing, 2024.

    Examples
    --------
    Rows 3 and 7 certainly belong together and apart from row 2; rows 0 and 1 are probably apart.

    >>> import numpy as np
    >>> from cluewise import Clues, PCCC
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> certain = Clues(8, must=[(3, 7)], cannot=[(2, 3)], must_weight=np.inf, cannot_weight=np.inf, sizes=(3, 5))
    >>> model = PCCC(2, hard="infinite", init=[X[0], X[4]])
    >>> model.fit(X, clues=certain | Clues(8, cannot=[(0, 1)], confidence=0.75)).labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    >>> model.broken_, model.gap_
    (Clues(8 rows: 1 cannot-link), 0.0)
    """

    card = Card(
        paper="Baumann2024",
        title="K-means with every kind of clue",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart", "sizes"}),
        hard=True,
        mixes=True,
        closes=True,
        judges=True,
        equation="assignment program of PCCC",
        cost="O(nkd + pairs k), an integer program for small parts",
        aliases=("Pairwise-Confidence-Constrained Clustering",),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "hard": [StrOptions({"all", "infinite"})],
        "penalty": [StrOptions({"auto", "mean"}), Interval(Real, 0, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither")],
    }

    penalty_: float
    broken_cost_: float
    gap_: float
    clues_: Clues
    doubt_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hard: str = "all",
        penalty: float | str = "auto",
        init: Any = "anchors",
        time_limit: float = 30.0,
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.hard = hard
        self.penalty = penalty
        self.time_limit = time_limit

    def _check_weights(self, known: Clues) -> None:
        if self.hard == "all":  # otherwise weights matter, and may be infinite
            super()._check_weights(known)

    def _prepare(self, problem: Problem) -> Frame:
        rows, clues, k = problem.rows, problem.clues, problem.k
        hard, soft = (clues, None) if self.hard == "all" else clues.divide()
        hard.require(k)
        nodes, limits = contract(rows, hard, soft), None
        if clues.sizes is not None:
            limits = limits_of(clues, k, rows)
            # Bounds on sizes make all nodes depend on each other.
            nodes = nodes._replace(bound=np.arange(nodes.rows.n), loose=nodes.loose[:0])
        bonds = bonds_of(hard, soft, nodes.component[nodes.bound])
        anchors: Floats = np.empty((0, rows.d))
        if isinstance(self.init, str) and self.init == "anchors":
            anchors = find_anchors(nodes, bonds, k)
        return Frame(rows, nodes, bonds, limits, hard, soft, problem.total, anchors, Clock(self.time_limit))

    def _n_starts(self, problem: Problem) -> int:
        every = len(problem.shared.anchors) == problem.k  # no center is drawn at random
        return 1 if every else super()._n_starts(problem)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        frame, rows, k, rng = problem.shared, problem.rows, problem.k, problem.rng
        first = seeding.given_centers(self.init, ("anchors", "k-means++", "random"), rows, k, rng)
        if first is None:
            first = seeding.fill(self.init, rows, frame.anchors, k, rng)
        # Objectives of different starts can only be compared at the same price.
        penalty = choose_price(frame, first, self.penalty) if problem.first is None else problem.first.penalty
        start = State(assign.no_labels(rows.n), first, assign.no_labels(frame.nodes.rows.n), 0.0, penalty)
        seconds = self.time_limit / 2 / self._n_starts(problem)  # the other half is for `_finish`
        share = Clock(seconds)
        move = partial(step, frame=frame, bonds=set_price(frame.bonds, penalty), clock=share)
        try:
            return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))
        finally:
            frame.clock.left -= seconds - share.left

    def _finish(self, problem: Problem, best: loop.Result[State]) -> loop.Result[State]:
        """Make the assignment thorough, then move single centers elsewhere, as long as that lowers the objective."""
        frame, limits = problem.shared, problem.limits
        bonds = set_price(frame.bonds, best.state.penalty)
        idle = frame.limits is None and not len(bonds.indices) and not len(bonds.groups)
        if idle or not best.converged:
            return best
        move = partial(step, frame=frame, bonds=bonds, clock=frame.clock)
        slack = centers.rounding(problem.rows, problem.total)
        best = _run_thoroughly(problem, move, best)
        for _ in range(REPOSITIONS if best.converged else 0):
            moved = best.state._replace(centers=move_center(frame, *best.state[:3]))
            other = loop.run(move, moved, limits._replace(watch=partial(_watch_better, best, limits.watch)), slack)
            if not other.converged or other.trace[-1] >= best.trace[-1] * (1 - 1e-9):
                break
            lower = [value for value in other.trace if value < best.trace[-1]]
            best = _run_thoroughly(problem, move, loop.Result(other.state, best.trace + lower, True))
        return best

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        soft = problem.shared.soft
        cost = 0.0 if soft is None else state.penalty * broken_weight(soft, state.labels)
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": spread + cost, "inertia_": spread, "broken_cost_": cost}

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"penalty_": state.penalty}

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        rows, clues, state = problem.rows, problem.clues, result.state
        doubt = doubts(rows, state.centers, state.labels, clues)
        return super()._attributes(problem, result) | {"gap_": state.gap, "clues_": clues, "doubt_": doubt}


def _run_thoroughly(problem: Problem, move: Move, best: loop.Result[State]) -> loop.Result[State]:
    """Alternate between thorough assignments and runs until an assignment is proved optimal or does not improve."""
    limits, slack = problem.limits, centers.rounding(problem.rows, problem.total)
    while best.state.gap > 1e-6 and problem.shared.clock.left > 0:
        state, info = move(best.state, thorough=True)
        trace = [*best.trace, min(info.objective, best.trace[-1])]  # it may rise by rounding
        if not info.objective < best.trace[-1] * (1 - 1e-9):
            return loop.Result(state, trace, True)
        watch = partial(_watch_better, loop.Result(state, trace, True), limits.watch)
        after = loop.run(move, state, limits._replace(watch=watch), slack)
        best = loop.Result(after.state, trace + after.trace, after.converged)
        if not after.converged:
            return best
    return best


def _watch_better(best: loop.Result[State], watch: loop.Watch, state: State, trace: list[float]) -> bool:
    """Show the better of a result and the state of a run to a watch, so that an interrupted fit keeps the best."""
    if trace[-1] < best.trace[-1]:
        return watch(state, [*best.trace, trace[-1]])
    return watch(best.state, best.trace)
