"""PCCC: k-means whose assignments are optimized under hard and soft clues of all kinds [Baumann2024]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._clock import Clock
from cluewise.centroid._pccc.anchors import find_anchors
from cluewise.centroid._pccc.bonds import bonds_of, price_of, set_price
from cluewise.centroid._pccc.filling import limits_of
from cluewise.centroid._pccc.placing import Frame, choose_price, move_center, place
from cluewise.clues import Clues
from cluewise.core import centers, loop, seeding
from cluewise.core.loop import Progress
from cluewise.core.probability.doubt import doubts
from cluewise.core.views import broken_weight, contract

__all__ = ["PCCC"]

REPOSITIONS = 3  # maximum number of attempts to move a center elsewhere


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    nodes: Ints  # (m,) int32, cluster of each node
    gap: float  # relative optimality gap of the last assignment
    penalty: float  # price of a broken soft link of weight 1


class Shared(NamedTuple):
    """What all starts share."""

    frame: Frame  # with bonds at a price of 1
    clock: Clock  # of the whole fit
    anchors: Floats  # centers from clues, not drawn at random


def step(state: State, *, frame: Frame, clock: Clock, thorough: bool = False) -> tuple[State, loop.Info]:
    """One iteration: assign rows with the centers fixed, then update means."""
    with clock as seconds:
        found = place(frame, state.centers, state.labels, state.nodes, seconds, thorough)
    means = centers.means(found.tally, state.centers)
    value = centers.within(frame.total, found.tally) + price_of(frame.bonds, found.nodes[frame.nodes.bound])
    moved = int(np.count_nonzero(found.labels != state.labels))
    return State(found.labels, means, found.nodes, found.gap, state.penalty), loop.Info(value, moved)


class _BestWatch:
    """Reports the better of two runs to a watch, so that an interrupted fit keeps the best result."""

    def __init__(self, watch: loop.Watch, best: loop.Result[State]) -> None:
        self.watch, self.best = watch, best

    def __call__(self, state: State, trace: list[float]) -> bool:
        """Report a state; true means stop."""
        if trace[-1] < self.best.trace[-1]:
            return self.watch(state, [*self.best.trace, trace[-1]])
        return self.watch(self.best.state, self.best.trace)


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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        hard: str = "all",
        penalty: float | str = "auto",
        init: Any = "anchors",
        time_limit: float = 30.0,
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.hard = hard
        self.penalty = penalty
        self.time_limit = time_limit

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.divide(every=self.hard == "all")[0].require(self.n_clusters)
        return known

    def _check_weights(self, known: Clues) -> None:
        if self.hard == "all":  # otherwise weights matter, and may be infinite
            super()._check_weights(known)

    def _prepare(self, problem: Problem) -> Shared:
        rows, clues = problem.rows, problem.clues
        hard, soft = clues.divide(every=self.hard == "all")
        limits = limits_of(clues, problem.k, rows)
        nodes = contract(rows, hard, soft)
        if limits is not None:  # bounds on sizes make all nodes depend on each other
            nodes = nodes._replace(bound=np.arange(nodes.rows.n), loose=nodes.loose[:0])
        bonds = bonds_of(hard, soft, nodes.component[nodes.bound])
        frame = Frame(rows, nodes, nodes.free, bonds, limits, hard, problem.total)
        named = isinstance(self.init, str) and self.init == "anchors"
        return Shared(frame, Clock(self.time_limit), find_anchors(nodes, bonds, problem.k if named else 0))

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[Any]:
        """Run all starts, then improve the best one as far as the time allows."""
        best = super()._best_start(problem, progress)
        frame = problem.shared.frame
        forces = set_price(frame.bonds, best.state.penalty)
        idle = frame.limits is None and not len(forces.indices) and not len(forces.groups)
        return best if idle or not best.converged else self._finish(best, problem)

    def _n_starts(self, problem: Problem) -> int:
        every = len(problem.shared.anchors) == problem.k  # no center is drawn at random
        return 1 if every else super()._n_starts(problem)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        frame, rest, fixed = problem.shared
        rows, k, rng = problem.rows, problem.k, problem.rng
        first = seeding.given_centers(self.init, ("anchors", "k-means++", "random"), rows, k, rng)
        if first is None:
            first = seeding.fill(self.init, rows, fixed, k, rng)
        # Objectives of different starts can only be compared at the same price.
        penalty = choose_price(frame, first, self.penalty) if problem.first is None else problem.first.penalty
        nobody = np.full(frame.rows.n, UNASSIGNED, dtype=np.int32)
        start = State(nobody, first, np.full(frame.nodes.rows.n, UNASSIGNED, dtype=np.int32), 0.0, penalty)
        seconds = self.time_limit / 2 / self._n_starts(problem)  # the other half is for `_finish`
        share = Clock(seconds)
        try:
            return _run(problem, start, share, problem.limits.watch)
        finally:
            rest.left -= seconds - share.left

    def _finish(self, best: loop.Result[State], problem: Problem) -> loop.Result[State]:
        """Make the assignment thorough, then move single centers elsewhere, as long as that lowers the objective."""
        frame, clock, _ = problem.shared
        best = _run_thoroughly(best, problem)
        for _ in range(REPOSITIONS if best.converged else 0):
            moved = best.state._replace(centers=move_center(frame, *best.state[:3]))
            other = _run(problem, moved, clock, _BestWatch(problem.limits.watch, best))
            if not other.converged or other.trace[-1] >= best.trace[-1] * (1 - 1e-9):
                break
            lower = [value for value in other.trace if value < best.trace[-1]]
            best = _run_thoroughly(loop.Result(other.state, best.trace + lower, True), problem)
        return best

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        soft = problem.clues.divide(every=self.hard == "all")[1]
        cost = state.penalty * broken_weight(soft, state.labels)
        spread = centers.distortion(problem.rows, state.centers, state.labels)
        return {"objective_": spread + cost, "broken_cost_": cost}

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {"penalty_": state.penalty}

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        rows, clues, state = problem.rows, problem.clues, result.state
        doubt = doubts(rows, state.centers, state.labels, clues)
        return super()._attributes(problem, result) | {"gap_": state.gap, "clues_": clues, "doubt_": doubt}


def _run(problem: Problem, start: State, clock: Clock, watch: loop.Watch) -> loop.Result[State]:
    """Iterate from a start until nothing moves."""
    limits = problem.limits._replace(watch=watch)
    slack = centers.rounding(problem.rows, problem.total)
    return loop.run(_move(problem, start.penalty, clock), start, limits, slack)


def _move(problem: Problem, penalty: float, clock: Clock, *, thorough: bool = False) -> Any:
    """The step with bonds at a given price."""
    frame = problem.shared.frame
    return partial(step, frame=frame._replace(bonds=set_price(frame.bonds, penalty)), clock=clock, thorough=thorough)


def _run_thoroughly(best: loop.Result[State], problem: Problem) -> loop.Result[State]:
    """Alternate between thorough assignments and runs until an assignment is proved optimal or does not improve."""
    clock, penalty = problem.shared.clock, best.state.penalty
    while best.state.gap > 1e-6 and clock.left > 0:
        state, info = _move(problem, penalty, clock, thorough=True)(best.state)
        trace = [*best.trace, min(info.objective, best.trace[-1])]  # it may rise by rounding
        if not info.objective < best.trace[-1] * (1 - 1e-9):
            return loop.Result(state, trace, True)
        after = _run(problem, state, clock, _BestWatch(problem.limits.watch, loop.Result(state, trace, True)))
        best = loop.Result(after.state, trace + after.trace, after.converged)
        if not after.converged:
            return best
    return best
