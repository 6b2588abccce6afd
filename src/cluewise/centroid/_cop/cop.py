"""COP-KMeans: k-means in which every must-link and cannot-link holds [Wagstaff2001]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import UNASSIGNED, Bools, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid._clock import Clock
from cluewise.centroid._cop.conflicts import Conflicts, conflicts_of, place
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.assign import order_nodes
from cluewise.core.rows import Rows
from cluewise.core.views import Nodes, contract

__all__ = ["COPKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    nodes: Ints  # (m,) int32, cluster of each node
    gap: float  # optimality gap of the last searched assignment


def step(
    state: State,
    *,
    rows: Rows,
    nodes: Nodes,
    conflicts: Conflicts,
    free: Bools,
    order: Ints,
    total: float,
    clock: Clock,
    clues: Clues,
) -> tuple[State, loop.Info]:
    """Steps 2 and 3 of the algorithm: assign every row to the nearest allowed cluster, then update means."""
    labels, of_node = state.labels.copy(), state.nodes.copy()
    tally = assign.nearest(rows, state.centers, labels, free).tally
    tally = tally.plus(assign.nearest(nodes.rows, state.centers, of_node, nodes.loose).tally)
    gap = state.gap
    if len(nodes.bound):
        with clock as seconds:
            costs = assign.costs(nodes.rows, state.centers, nodes.bound)
            placed = place(costs, conflicts, order, of_node[nodes.bound], seconds, clues)
            del costs  # the largest array of the step
        of_node[nodes.bound] = placed.labels
        gap = placed.gap
        tally = tally.plus(centers.tally_of(nodes.rows, of_node, nodes.bound, len(state.centers)))
    labels[nodes.tied] = of_node[nodes.of_tied]
    tally, _ = centers.refill(rows, tally, state.centers, labels, free)
    moved = int(np.count_nonzero(labels != state.labels))
    means = centers.means(tally, state.centers)
    return State(labels, means, of_node, gap), loop.Info(centers.within(total, tally), moved)


class COPKMeans(CentroidClusterer):
    r"""K-means with hard clues: every clue holds in the result, or an error proves that this is impossible.

    Use it when clues are certain. Rows that must be together move as one component, to the nearest cluster that no
    cannot-link forbids. If this greedy pass reaches a dead end, an exact search finds an assignment.

    Parameters
    ----------
    {n_clusters}
    {init_neighborhoods}
    order : {"degeneracy", "index", "random"} or permutation of the rows, default="degeneracy"
        Order in which rows with cannot-links are assigned. In "degeneracy" order the greedy pass cannot fail if
        there are more clusters than the degeneracy of the cannot-links.
    time_limit : float, default=30.0
        Seconds for searches after dead ends, shared by all starts.
    {n_init_neighborhoods}
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {objective_squares_}
    {inertia_}
    gap_ : float
        Relative optimality gap of the assignment found by the last search; 0 if it is optimal or if no search was
        needed.
    {iterations_}
    {margin_}
    {none_broken_}

    Raises
    ------
    {contradiction}
    Infeasible
        When the clues need more clusters; ``witness`` holds a minimal set of such clues.
    Undecided
        When the search reached ``time_limit`` without an answer.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2 \quad\text{subject to all clues}

    ======================= ================================
    paper                   code
    ======================= ================================
    :math:`Con_=`           ``clues.must``, contracted
    :math:`Con_{\ne}`       ``clues.cannot``, ``clues.graph``
    :math:`C_h`             ``cluster_centers_[h]``
    ======================= ================================

    *Deviations.* Whole components are assigned by their mean instead of row by row, and only clusters that hold an
    already assigned excluded row are forbidden (erratum E9 of the survey). Instead of failing at a dead end the
    method searches. Components connected by cannot-links keep their previous clusters if a pass would raise their
    cost, so the objective never rises. With two clusters, each connected set has two assignments and the cheaper one
    is taken. An empty cluster takes the worst row without clues.

    References
    ----------
    .. [Wagstaff2001] K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering with
       background knowledge", ICML 2001.

    Examples
    --------
    >>> from cluewise import Clues, COPKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(2, 3)])
    >>> COPKMeans(2, init=[X[0], X[4]]).fit(X, clues=clues).labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Wagstaff2001",
        title="K-means with hard links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        equation="COP-KMeans, Table 1",
        cost="O(nkd + pairs k), a search at dead ends",
        aliases=("COP-KMeans", "Constrained K-means"),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "order": [StrOptions({"degeneracy", "index", "random"}), "array-like"],
        "time_limit": [Interval(Real, 0, None, closed="neither")],
    }

    gap_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "neighborhoods",
        order: Any = "degeneracy",
        time_limit: float = 30.0,
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.order = order
        self.time_limit = time_limit

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        known.require(self.n_clusters)
        return known

    def _prepare(self, problem: Problem) -> tuple[Nodes, Conflicts]:
        nodes = contract(problem.rows, problem.clues)
        return nodes, conflicts_of(problem.clues, nodes.component[nodes.bound])

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, (nodes, conflicts) = problem.rows, problem.shared
        by_degeneracy = isinstance(self.order, str) and self.order == "degeneracy"
        start = State(
            np.broadcast_to(np.int32(UNASSIGNED), rows.n),  # needs no memory
            seeding.neighborhood_centers(self.init, rows, problem.clues, problem.k, problem.rng, problem.start),
            np.full(nodes.rows.n, UNASSIGNED, dtype=np.int32),
            0.0,
        )
        move = partial(
            step,
            rows=rows,
            nodes=nodes,
            conflicts=conflicts,
            free=nodes.free,
            order=conflicts.order if by_degeneracy else order_nodes(self.order, nodes, problem.rng),
            total=problem.total,
            clock=Clock(self.time_limit / self._n_starts(problem)),
            clues=problem.clues,
        )
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        return super()._attributes(problem, result) | {"gap_": result.state.gap}
