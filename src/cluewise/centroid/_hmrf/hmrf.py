"""HMRF-KMeans: k-means with links that cost by distance, in a metric that it learns [Basu2004b]_."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, Problem, new_rows
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.counts import GeneralizedI, unmoved_rows
from cluewise.centroid._hmrf.directions import Cosine, unit_rows
from cluewise.centroid._hmrf.distortions import Metric, Sums, none_broken
from cluewise.centroid._hmrf.mahalanobis import SquaredEuclidean
from cluewise.core import loop, seeding
from cluewise.core.assign import no_labels, others, visiting_order
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks, one_blas_thread
from cluewise.core.views import build_forces, build_pair_graph

__all__ = ["HMRFKMeans"]


class Rules(NamedTuple):
    """What does not change between steps."""

    distortion: Any
    field: Any
    tied: Ints  # rows whose links count in the assignment
    free: Ints  # rows without clues
    published: bool
    penalty: Floats  # factors of must-links and cannot-links


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    metric: Metric
    reference: Any  # what the cost of broken cannot-links is measured against
    rules: Rules


def step(state: State) -> tuple[State, loop.Info]:
    """Algorithm 9 of the survey: E (labels by iterated conditional modes), M1 (centers), M2 (metric)."""
    rules, metric, k = state.rules, state.metric, len(state.centers)
    distortion = rules.distortion
    reference = distortion.far_reference(metric) if rules.published else distortion.reference
    labels = state.labels.copy()
    found, alone, moved = fields.assign(distortion, state.centers, metric, labels, rules.tied)
    if len(rules.tied):
        moved += rules.field.visit(distortion, metric, reference, alone, labels)
        found = found.plus(fields.gather(distortion, metric, labels, rules.tied, k))
    new, info = _settle(state, labels, found, reference, moved)
    empty = found.tally.mass == 0
    if empty.any():
        filled = fields.refill(distortion, state.centers, metric, labels, empty, rules.free)
        every = fields.gather(distortion, metric, filled, np.arange(len(filled)), k)
        other, there = _settle(state, filled, every, reference, moved + 1)
        if there.objective < info.objective:
            return other, there
    return new, info


def _settle(state: State, labels: Ints, found: Sums, reference: Any, moved: int) -> tuple[State, loop.Info]:
    """M1 and M2 for the labels of an E step; a metric that still improves counts as a move."""
    rules = state.rules
    broken = rules.field.broken(labels, len(state.centers))
    settled = rules.distortion.settle(labels, found, state.centers, state.metric, broken, reference)
    constant = rules.field.constant(labels)
    new = State(labels, settled.centers, settled.metric, reference, rules)
    return new, loop.Info(settled.value + constant, moved if settled.still else max(moved, 1))


class HMRFKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    r"""K-means with soft links whose price depends on the distance of their rows, in a metric learned along the way.

    Use it when some columns matter more than others and links can tell which: a must-link between rows that are far
    apart gives less weight to the columns in which they differ. Three named methods are special cases: `PKMeans` does
    not learn a metric, `MKMeans` uses links for the metric only, `MPCKMeans` uses them for both. For text and other
    directional data use ``distortion="cosine"`` and ``metric=None``; for counts and shares,
    ``distortion="generalized_i"``.

    Parameters
    ----------
    {n_clusters}
    distortion : {"sqeuclidean", "cosine", "generalized_i"}, default="sqeuclidean"
        Distortion of a row in a cluster: squared distance, 1 - cosine, or the I-divergence of non-negative rows.
    metric : {"diagonal", "full"} or None, default="diagonal"
        What to learn: weights of the columns, a full matrix (squared distances only; needs many more rows than
        columns), or nothing.
    {per_cluster}
        Only for squared distances.
    {link_factor}
    link_cost : {"distance", "constant"}, default="distance"
        "distance": a broken must-link costs more if its rows are far apart, a broken cannot-link if they are close.
        "constant": all links of a weight cost the same, as in `PCKMeans`. Only "distance" expands labels and groups
        to pairs; use "constant" with many labeled rows.
    use_clues : {"everywhere", "metric"}, default="everywhere"
        "metric": links only shape the metric and do not affect the assignment; the objective may then rise.
    {prior_rows}
        They keep small clusters from learning extreme metrics of squared distances.
    profile : {"library", "published"}, default="library"
        "published": cannot-links are measured against the two rows that are farthest apart in the current metric, which
        takes O(n² d) and may raise the objective; ``penalty="auto"`` is 1, there are no imaginary rows, and clusters
        without a neighborhood are initialized near the global mean.
    {init_neighborhoods}
    {order}
    {n_init_neighborhoods}
    {max_iter_relative_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Means of the clusters; for "cosine", their directions, of length 1 in the metric; for "generalized_i", mixed
        with a thousandth of the global mean.
    {metric_}
        Only if a metric is learned.
    {n_clusters_}
    {objective_notes_}
    {inertia_metric_}
    {link_factors_}
    {iterations_}
    {margin_cost_}
    {broken_}
    {broken_cost_}

    Notes
    -----
    .. math:: J = \sum_i s_i \big( D_{A_{y_i}}(x_i, \mu_{y_i}) - \log \det A_{y_i} \big)
        + \sum_{ML,\, y_i \ne y_j} w_{ij} \tfrac12 \big( \varphi_{A_{y_i}} + \varphi_{A_{y_j}} \big)(x_i, x_j)
        + \sum_{CL,\, y_i = y_j = h} \bar w_{ij} \big( \varphi^{\max}_{A_h} - \varphi_{A_h}(x_i, x_j) \big) - \log P(A)

    The determinant is only used with squared distances. There, :math:`\varphi` is the squared distance of the two rows
    and :math:`\varphi^{\max}` the scalar product of A with a fixed matrix: the squared edges of the bounding box for a
    diagonal metric, the squared diameter times the identity for a full one. For the cosine :math:`\varphi^{\max}` is 1
    (2 if X has negative numbers). For the I-divergence :math:`\varphi` is the divergence of both rows from their mean,
    and :math:`\varphi^{\max}` is the sum, over the columns, of the divergence of the smallest and the largest value. No
    pair exceeds it; for wide or sparse counts it is two to nine times the largest :math:`\varphi` of any two rows.

    ============================== ==================================================
    paper                          code
    ============================== ==================================================
    :math:`\mu_h`                  ``cluster_centers_[h]``
    :math:`A_h`                    ``metric_``
    :math:`w_{ij}, \bar w_{ij}`    ``penalty_`` times the weights of the links
    :math:`s_i`                    ``sample_weight``
    :math:`P(A)`                   ``prior_rows``; Rayleigh for the other distortions
    ============================== ==================================================

    *Deviations.* The reference of :math:`\varphi^{\max}` is fixed, so no step raises the objective; the paper finds the
    two farthest rows again in every iteration, which gives a smaller maximum. Each pair and each normalizer counts once
    (E21 to E23 of the errata). Rows keep their labels between sweeps. Entailed links are not added. No metric assumes a
    variance below a millionth of that of all rows. The log-determinant has weight 1 in all steps; the authors' program
    uses 0.01 in one of them. Directions are means of rows of length 1 *in the metric*, which is the exact minimum. The
    prior of the weights counts once per row: with less support, they concentrate on columns in which all rows are
    alike. For the I-divergence the prior is in units of the data, and each cluster includes a little of the global mean
    so that no center is zero. An empty cluster takes the worst row without clues if that lowers the objective.

    References
    ----------
    .. [Basu2004b] S. Basu, M. Bilenko and R. J. Mooney, "A probabilistic framework for semi-supervised clustering",
       KDD 2004.
    .. [Bilenko2004] M. Bilenko, S. Basu and R. J. Mooney, "Integrating constraints and metric learning in
       semi-supervised clustering", ICML 2004.

    Examples
    --------
    Two groups of rows differ in the first column; the second has a large variance and no information.

    >>> from cluewise import Clues, HMRFKMeans
    >>> X = [[0, 0], [0.1, 9], [0.2, 4], [0, 6], [1, 1], [1.1, 8], [0.9, 5], [1, 3]]
    >>> clues = Clues(8, must=[(0, 1), (4, 5)], cannot=[(0, 4), (1, 5)])
    >>> model = HMRFKMeans(2, random_state=0).fit(X, clues=clues)
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    >>> model.metric_.round(2)
    array([33.66,  0.12])
    """

    card = Card(
        paper="Basu2004b",
        title="K-means with links that cost by distance, and a learned metric",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        plain="",
        equation="HMRF-KMeans, Algorithm 9, Eq. (24)-(28) of the survey",
        memory="pairs",
        cost="O(nkd + pairs (d + k)); labels and groups make up to n² pairs",
        aliases=("HMRF-KMeans", "Hidden Markov Random Field K-Means"),
    )
    _parameter_constraints = Clusterer._parameter_constraints | {
        "distortion": [StrOptions({"sqeuclidean", "cosine", "generalized_i"})],
        "metric": [StrOptions({"diagonal", "full"}), None],
        "per_cluster": ["boolean"],
        "penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "link_cost": [StrOptions({"distance", "constant"})],
        "use_clues": [StrOptions({"everywhere", "metric"})],
        "prior_rows": [Interval(Real, 0, None, closed="left")],
        "profile": [StrOptions({"library", "published"})],
        "order": [StrOptions({"index", "random"}), "array-like"],
    }

    cluster_centers_: Floats
    margin_: Floats
    metric_: Floats
    penalty_: Floats
    broken_cost_: float
    inertia_: float
    _metric: Metric

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distortion: str = "sqeuclidean",
        metric: str | None = "diagonal",
        per_cluster: bool = False,
        penalty: float | str = "auto",
        link_cost: str = "distance",
        use_clues: str = "everywhere",
        prior_rows: float = 1.0,
        profile: str = "library",
        init: Any = "neighborhoods",
        order: Any = "index",
        n_init: int | str = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.metric = metric
        self.per_cluster = per_cluster
        self.penalty = penalty
        self.link_cost = link_cost
        self.use_clues = use_clues
        self.prior_rows = prior_rows
        self.profile = profile
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def _published(self) -> bool:
        return self.profile == "published"

    def _distortion(self, rows: Rows, k: int) -> Any:
        return distortion_of(
            rows, k, self.distortion, self.metric, per_cluster=self.per_cluster, published=self._published
        )

    def _prepare(self, problem: Problem) -> tuple[Any, Any]:
        rows, clues, k = problem.rows, problem.clues, problem.k
        constant = self.link_cost == "constant"
        if constant and (self.use_clues == "metric" or self._published):
            raise ValueError("use_clues='metric' and profile='published' require link_cost='distance'.")
        distortion = self._distortion(rows, k)
        links: Any = build_forces(clues, k) if constant else build_pair_graph(clues)
        counted = np.ones(rows.n, dtype=bool) if rows.weight is None else rows.weight > 0
        counted[links.rows] = True
        distortion.prepare(problem.total, np.flatnonzero(counted), 0.0 if self._published else self.prior_rows)
        return distortion, links

    def _solve(self, problem: Problem) -> loop.Result[State]:
        (distortion, links), n = problem.shared, problem.rows.n
        constant = self.link_cost == "constant"
        fill = add_perturbed if self._published else None
        given = self.init, distortion.rows, problem.clues, problem.k, problem.rng, problem.start
        start = distortion.start(seeding.neighborhood_centers(*given, fill))
        labels = no_labels(n)
        found, _, _ = fields.assign(distortion, start, distortion.first_metric(), labels, np.arange(0))
        metric, penalty = price_links(problem, start, labels, found, self._penalty(problem), constant=constant)
        must, cannot = penalty
        order = visiting_order(self.order, links.rows, n, problem.rng)
        field: Any = fields.ConstantLinks(links, problem.clues, must, order)
        if not constant:
            field = fields.DistanceLinks(links, links.rows[links.ends], must * links.must, cannot * links.cannot, order)
        everywhere = self.use_clues == "everywhere"
        tied = links.rows if everywhere else np.arange(0)
        rules = Rules(distortion, field, tied, np.flatnonzero(others(links.rows, n)), self._published, penalty)
        state = State(labels, start, metric, distortion.reference, rules)
        # The published M2 ignores the cost of broken links, and an assignment without links may raise that cost.
        slack = self._slack(problem, penalty) if everywhere and not self._published else None
        return loop.run(step, state, problem.limits, slack)

    def _settle(self, problem: Problem, best: loop.Result[State], *, stopping: bool = False) -> loop.Result[State]:
        state, distortion = best.state, best.state.rules.distortion
        at = self._publish_centers(problem.rows, state).astype(np.float64) - distortion.rows.shift
        labels = state.labels.copy()
        _, _, moved = fields.assign(distortion, at, state.metric, labels, state.rules.tied)
        if not moved:
            return best
        settled = state._replace(labels=labels)
        return best.settle(settled, self._evaluate(settled)["objective_"])

    def _penalty(self, problem: Problem) -> Floats | None:
        """Factors of must-links and cannot-links, if they are known before the first assignment."""
        if self.penalty != "auto" or self._published:
            return np.full(2, 1.0 if self.penalty == "auto" else float(self.penalty))
        # Objectives of different starts can only be compared at the same price.
        return None if problem.first is None else problem.first.rules.penalty

    def _slack(self, problem: Problem, penalty: Floats) -> float:
        """How much rounding may raise the objective."""
        rows, links = problem.rows, problem.shared[1]
        eps: Any = np.finfo(rows.dtype).eps
        weight = 0.0 if self.link_cost == "constant" else float(penalty @ [links.must.sum(), links.cannot.sum()])
        return 64 * float(eps) * (1 + problem.total + 1e3 * rows.d * (rows.mass + weight))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        found = super()._state_attributes(problem, state, trace) | {
            "cluster_centers_": self._publish_centers(problem.rows, state),
            "penalty_": state.rules.penalty,
            "_metric": state.metric,
        }
        if self.metric is not None:
            weights = state.metric.weights
            found["metric_"] = weights if self.per_cluster else weights[0]
        return found

    def _publish_centers(self, rows: Rows, state: State) -> Floats:
        shift = rows.shift if self.distortion == "sqeuclidean" else 0.0
        return (state.centers + shift).astype(rows.dtype)

    def _evaluate(self, state: State) -> Attributes:
        """The objective of a state and the cost of broken links in it."""
        distortion, metric = state.rules.distortion, state.metric
        cost = state.rules.field.cost(distortion, metric, state.reference, state.labels)
        value = fields.total_cost(distortion, state.centers, metric, state.labels) + cost
        return {
            "objective_": value + float(distortion.prior_cost(metric, state.centers)),
            "inertia_": fields.inertia(distortion, state.centers, metric, state.labels),
            "broken_cost_": cost,
        }

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        state = result.state
        lead = fields.lead(state.rules.distortion, state.centers, state.metric, state.labels)
        return super()._attributes(problem, result) | self._evaluate(state) | {"margin_": lead}

    def _new(self, X: Any) -> tuple[Any, Floats]:
        """New rows and the centers, in the representation of the distortion."""
        distortion = self._distortion(new_rows(self, X), self.n_clusters)
        distortion.check()
        return distortion, self.cluster_centers_.astype(np.float64) - distortion.rows.shift

    def predict(self, X: Any) -> Ints:
        """Assign new rows to the cluster of smallest distortion, in the learned metric; clues play no part.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        distortion, centers = self._new(X)
        labels = no_labels(distortion.rows.n)
        with one_blas_thread():
            fields.assign(distortion, centers, self._metric, labels, np.arange(0))
        return labels

    def transform(self, X: Any) -> Floats:
        """Compute the distance of each row to each center, in the learned metric.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Euclidean distances in the metric, cosine distances or divergences.
        """
        distortion, centers = self._new(X)
        rows = distortion.rows
        out = np.empty((rows.n, len(centers)), dtype=rows.dtype)
        squared = self.distortion == "sqeuclidean"

        def work(block: slice) -> None:
            x = rows.take(block)
            for h in range(len(centers)):
                own = distortion.to_own(x, centers, self._metric, np.full(x.shape[0], h))
                out[block, h] = np.sqrt(own) if squared else own

        with one_blas_thread():
            for _ in map_blocks(work, rows.blocks(len(centers))):
                continue
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def add_perturbed(rows: Rows, first: Floats, k: int, rng: np.random.Generator) -> Floats:
    """The published initialization: add random perturbations of the global mean to the first centers."""
    return np.vstack([first, seeding.perturbed(rows, k - len(first), rng)])


def distortion_of(rows: Rows, k: int, name: str, metric: str | None, *, per_cluster: bool, published: bool) -> Any:
    """The distortion with this name, for these rows."""
    if name == "sqeuclidean":
        return SquaredEuclidean(rows, k, metric, per_cluster)
    if metric == "full" or (metric and per_cluster):
        raise ValueError(f"distortion={name!r} requires metric=None or one metric='diagonal' for all clusters.")
    if published:
        raise ValueError("profile='published' requires distortion='sqeuclidean'.")
    if name == "cosine":
        return Cosine(unit_rows(rows.X, rows.weight), k, metric is not None)
    return GeneralizedI(unmoved_rows(rows.X, rows.weight), k, metric is not None)


def price_links(
    problem: Problem, start: Floats, labels: Ints, found: Sums, penalty: Floats | None, *, constant: bool
) -> tuple[Metric, Floats]:
    """Choose the initial metric and, if ``penalty`` is None, the factors of must-links and cannot-links."""
    distortion, links = problem.shared
    metric = distortion.first_metric()
    rescaled = constant and distortion.learns and distortion.absolute
    if penalty is not None and not rescaled:
        return metric, penalty
    none = none_broken(problem.k)
    means = distortion.settle(labels, found, start, metric, none, distortion.reference).centers
    price = fields.choose_price(distortion, distortion.start(means), labels)
    if rescaled:
        # A constant price only makes sense if distances already have the unit of the learned metric, variance 1.
        metric, price = metric.times(fields.UNIT_PRICE / price), fields.UNIT_PRICE
    if penalty is None:
        penalty = np.full(2, price) if constant else fields.choose_factors(distortion, links, price)
    return metric, penalty
