"""PCCK-means: must-links are hard, a broken cannot-link costs the mass that it joins [Zhang2008]_."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Bools, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem
from cluewise.centroid import _exclusions
from cluewise.centroid._exclusions import Exclusions, Ledger
from cluewise.centroid._ranking import Ranking, rank
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.assign import order_nodes
from cluewise.core.rows import Rows
from cluewise.core.views import Nodes, contract
from cluewise.exceptions import SoftClueWarning

__all__ = ["ClosurePCKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    nodes: Ints  # (m,) int32, cluster of each closure
    ledger: Ledger  # what each closure pays


class Shared(NamedTuple):
    """What all starts share."""

    nodes: Nodes
    links: Exclusions
    ranking: Ranking
    total: float  # scatter of free rows and closures around the shift
    slack: float  # how much rounding may raise the objective


class Rule(NamedTuple):
    """How a closure weighs its violated neighbors."""

    exact: bool
    one: bool
    penalty: float


def step(
    state: State,
    *,
    rows: Rows,
    nodes: Nodes,
    links: Exclusions,
    free: Bools,
    ranking: Ranking,
    rule: Rule,
    total: float,
    rng: np.random.Generator,
) -> tuple[State, loop.Info]:
    """Lines 6 to 8 of the algorithm: order the closures, assign them by Eq. (4), take means by Eq. (5)."""
    labels, of_node = state.labels.copy(), state.nodes.copy()
    ledger = state.ledger.copy()
    tally = assign.nearest(rows, state.centers, labels, free).tally
    tally = tally.plus(assign.nearest(nodes.rows, state.centers, of_node, nodes.loose).tally)
    _exclusions.sweep(nodes, links, state.centers, of_node, ledger, ranking.draw(rng), **rule._asdict())
    tally = tally.plus(centers.tally_of(nodes.rows, of_node, nodes.bound, len(state.centers)))
    labels[nodes.tied] = of_node[nodes.of_tied]
    tally, _ = centers.refill(rows, tally, state.centers, labels, free)
    moved = int(np.count_nonzero(labels != state.labels))
    value = 0.5 * centers.within(total, tally) + 0.5 * rule.penalty * ledger.total(rule.one)
    return State(labels, centers.means(tally, state.centers), of_node, ledger), loop.Info(value, moved)


def inside(rows: Rows, nodes: Nodes) -> float:
    """Σ w‖x − mean of its closure‖², which is the same for all clusterings and which Eq. (4) leaves out."""
    squared, of_row = 0.0, nodes.of_row
    for block in rows.blocks(1, nodes.tied):
        own = rows.to_own(rows.take(block), nodes.rows.X, of_row[block])
        squared += float(own.sum() if rows.weight is None else own @ rows.weights(block))
    return squared


class ClosurePCKMeans(CentroidClusterer):
    r"""K-means with hard must-links and soft cannot-links, which cost the mass that they join when broken.

    Use it when must-links are certain and cannot-links are not. Rows that must be together move as one *closure*. A
    closure that shares a cluster with closures it should be apart from costs their number times their mass, so there is
    no price per link to choose. Closures with many cannot-links and many rows are placed first.

    Parameters
    ----------
    {n_clusters}
    profile : {"library", "published"}, default="library"
        How a closure chooses its cluster. "library": by the change of the whole objective, which never rises.
        "published": by its own share only; the objective may rise.
    penalty : float, default=1.0
        Factor of the cost of broken cannot-links. The paper uses 1 and scales every column to [0, 1].
    degree_weight : float, default=1.0
        Weight of the number of cannot-links in the order of closures.
    size_weight : float, default=1.0
        Weight of the mass of a closure in the order of closures.
    threshold : float or "mean", default=0.0
        Closures whose extended degree is at most this come last, in a new random order in every iteration. "mean" is
        the mean over the closures with cannot-links.
    violations : {"clusters", "one"}, default="clusters"
        Factor of the cost of a closure: the number of closures it violates, or 1.
    order : {"extended-degree", "index", "random"} or permutation of the rows, default="extended-degree"
        Order in which closures with cannot-links are placed. "index" and permutations use the first row of each
        closure; "random" draws a new order in every iteration.
    {init_neighborhoods}
    {n_init_neighborhoods}
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {inertia_}
    objective_ : float
        Half the weighted squared distances of closures to their centers, plus the cost of broken cannot-links.
    {iterations_}
    {margin_}
    broken_ : Clues
        The cannot-links, apart groups and labels that the result breaks, as they were given.
    {broken_cost_}

    Raises
    ------
    {contradiction}

    Notes
    -----
    .. math:: J = \tfrac12 \sum_i N_i \lVert m_i - \mu_{l_i} \rVert^2
        + \tfrac12 \text{penalty} \sum_i v_i \sum_{j \sim i,\; l_j = l_i} w_{ij} N_j

    .. math:: ed_i = \Big(1 + w_1 \frac{d_i}{D}\Big) \Big(1 + w_2 \frac{N_i}{N}\Big) d_i

    ========================= ===========================================================================
    paper                     code
    ========================= ===========================================================================
    :math:`c_i, m_i, N_i`     a must-link component, its mean, its summed sample weight
    :math:`C_C`               ``clues.graph`` and ``clues.cliques``
    :math:`v_{ih}`            ``violations``: number of violated closures, or 1
    :math:`w_1, w_2`          ``degree_weight``, ``size_weight``
    :math:`d_i, D, N`         closures that i is apart from, pairs of such closures, mass of all rows
    :math:`\mu_h, l_i`        ``cluster_centers_[h]``, ``labels_``
    ========================= ===========================================================================

    The order is the reverse of a peeling: the closure of lowest :math:`ed` (the first one on ties) is removed, which
    lowers the value of each remaining neighbor by 1, and so on. In the first sweep, neighbors without a cluster cost
    nothing. Memory is linear in rows and clues; the time of a sweep is quadratic in the closures of one apart group.

    *Deviations.* The second sum of Eq. (4) runs over all clusters, and Eq. (5) has :math:`m_i` for :math:`c_i`; the
    paper omits both. The text after Eq. (3) swaps the meanings of :math:`w_1` and :math:`w_2`. Table 1 subtracts 2
    instead of 1 from D in step 3 (5.219 and 4.219 are right); the order is not affected. The "number of violated
    clusters", taken literally, can only be 0 or 1, as with ``violations="one"``; the default counts closures, so more
    violations cost more. The paper gives no value of the threshold. ``profile="library"`` is ours: the paper's rule
    ignores that a move also changes the cost of the neighbors. So are the weights :math:`w_{ij}`: links between the
    same two closures are one edge, whose cost is multiplied by their summed weight. Labels and apart groups act like
    the links they imply, without being expanded. Must-links hold whatever their weights; a `SoftClueWarning` says so if
    the weights differ. A closure keeps its cluster on ties. An empty cluster takes the worst row without clues.

    References
    ----------
    .. [Zhang2008] S. Zhang and H.-S. Wong, "Partial closure-based constrained clustering with order ranking",
       ICPR 2008.

    Examples
    --------
    >>> from cluewise import ClosurePCKMeans, Clues
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> clues = Clues(8, must=[(0, 1), (4, 5), (6, 7)], cannot=[(1, 2), (2, 3), (3, 4), (5, 6)])
    >>> model = ClosurePCKMeans(3, init=[X[0], X[4], X[6]]).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 2, 2], dtype=int32)
    >>> model.broken_, model.broken_cost_
    (Clues(8 rows: 2 cannot-links), 3.0)
    """

    card = Card(
        paper="Zhang2008",
        title="K-means with hard must-links and priced cannot-links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        joins=True,
        equation="Eq. (3) to (5), Fig. 2",
        cost="O(nkd + pairs), those within apart groups included",
        aliases=("PCCK-means", "PCCKMeans", "Partial Closure-based Constrained K-means"),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "profile": [StrOptions({"library", "published"})],
        "penalty": [Interval(Real, 0, None, closed="left")],
        "degree_weight": [Interval(Real, 0, None, closed="left")],
        "size_weight": [Interval(Real, 0, None, closed="left")],
        "threshold": [StrOptions({"mean"}), Interval(Real, 0, None, closed="left")],
        "violations": [StrOptions({"clusters", "one"})],
        "order": [StrOptions({"extended-degree", "index", "random"}), "array-like"],
    }

    broken_cost_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        profile: str = "library",
        penalty: float = 1.0,
        degree_weight: float = 1.0,
        size_weight: float = 1.0,
        threshold: float | str = 0.0,
        violations: str = "clusters",
        order: Any = "extended-degree",
        init: Any = "neighborhoods",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.profile = profile
        self.penalty = penalty
        self.degree_weight = degree_weight
        self.size_weight = size_weight
        self.threshold = threshold
        self.violations = violations
        self.order = order

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        if known.contradictions:
            known.require(self.n_clusters)
        if len(np.unique(np.concatenate([known.must_weight, *(g.weights for g in known.together)]))) > 1:
            warnings.warn(
                f"{type(self).__name__} takes every must-link as hard; their weights, which differ, are ignored.",
                SoftClueWarning,
                stacklevel=4,
            )
        return known

    def _prepare(self, problem: Problem) -> Shared:
        nodes = contract(problem.rows, problem.clues)
        links = _exclusions.exclusions_of(problem.clues, nodes)
        worst = _exclusions.ledger_of(nodes, links, np.zeros(nodes.rows.n, dtype=np.int32)).total(
            self.violations == "one"
        )
        eps = float(np.finfo(np.float64).eps)
        return Shared(
            nodes,
            links,
            self._ranking(nodes, links, problem),
            problem.total - inside(problem.rows, nodes),
            centers.rounding(problem.rows, problem.total) + 64 * eps * self.penalty * worst,
        )

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, shared = problem.rows, problem.shared
        m = shared.nodes.rows.n
        nothing = Ledger(np.zeros(m, dtype=np.int64), np.zeros(m))
        first = seeding.neighborhood_centers(self.init, rows, problem.clues, problem.k, problem.rng, problem.start)
        start = State(assign.no_labels(rows.n), first, assign.no_labels(m), nothing)
        move = partial(
            step,
            rows=rows,
            nodes=shared.nodes,
            links=shared.links,
            free=shared.nodes.free,
            ranking=shared.ranking,
            rule=Rule(self.profile == "library", self.violations == "one", float(self.penalty)),
            total=shared.total,
            rng=problem.rng,
        )
        # The published rule may raise the objective, so it is not checked for descent.
        return loop.run(move, start, problem.limits, shared.slack if self.profile == "library" else None)

    def _ranking(self, nodes: Nodes, links: Exclusions, problem: Problem) -> Ranking:
        none = np.empty(0, dtype=np.int64)
        if not isinstance(self.order, str) or self.order == "index":
            return Ranking(nodes.bound[order_nodes(self.order, nodes, problem.rng)], none)
        if self.order == "random":
            return Ranking(none, nodes.bound)
        return rank(
            links,
            _exclusions.masses(nodes),
            problem.rows.mass,
            degree_weight=self.degree_weight,
            size_weight=self.size_weight,
            threshold=self.threshold,
        )

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        rows, nodes = problem.rows, contract(problem.rows, problem.clues)
        found = _exclusions.ledger_of(nodes, _exclusions.exclusions_of(problem.clues, nodes), state.nodes)
        cost = 0.5 * self.penalty * found.total(self.violations == "one")
        inertia = centers.distortion(rows, state.centers, state.labels)
        spread = max(inertia - inside(rows, nodes), 0.0)
        return {"objective_": 0.5 * spread + cost, "inertia_": inertia, "broken_cost_": cost}
