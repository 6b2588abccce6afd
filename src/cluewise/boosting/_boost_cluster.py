"""BoostCluster: boost any clusterer by projections in which the links it breaks would hold [Liu2007]_."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, checked_data, generator
from cluewise.boosting import _rounds as boosting
from cluewise.clues import Clues
from cluewise.core import centers, loop
from cluewise.core.loop import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.core.views import PairGraph, build_pair_graph
from cluewise.metrics import broken

__all__ = ["BoostCluster"]

TRIES = 3
"""Number of seeds of the clusterer tried in a round before boosting ends."""


class State(NamedTuple):
    """What the next round needs."""

    labels: Ints  # the latest partition
    partitions: list[Ints]
    alphas: list[float]
    kernel: Floats  # (m,) Σ α [same cluster] on the links
    mean: float  # the same over all pairs of rows


class Task(NamedTuple):
    """What all rounds have in common."""

    links: PairGraph
    seen: Floats  # (t, r) the linked rows
    axes: Floats | None  # (d, r) of their coordinates
    most: int | None  # maximum number of directions
    project: Callable[[Floats], Floats]  # rows in given directions
    cluster: Callable[[Floats], Ints]


def step(state: State, *, task: Task) -> tuple[State, loop.Info]:
    """One round: directions for the links that are still broken, a partition of the projected rows, and its weight."""
    links, n = task.links, len(state.labels)
    p, q = boosting.shares(links.must, -state.kernel)[0], boosting.shares(links.cannot, state.kernel)[0]
    found = boosting.directions(task.seen, links.ends, p - q, task.most)
    loss = boosting.losses(links, state.kernel, state.mean)
    if not found.shape[1]:
        return state, loop.Info(loss, 0)
    view = task.project(found if task.axes is None else task.axes @ found)
    for _ in range(TRIES):
        labels = task.cluster(view)
        together = boosting.same_cluster(links, labels)
        at_random = boosting.chance(labels)
        alpha = boosting.step_size(links, p, q, together, at_random)
        if alpha > 0:
            kernel, mean = state.kernel + alpha * together, state.mean + alpha * at_random
            new = State(labels, [*state.partitions, labels], [*state.alphas, alpha], kernel, mean)
            return new, loop.Info(boosting.losses(links, kernel, mean), n)
    return state, loop.Info(loss, 0)


class BoostCluster(MetaEstimatorMixin, Clusterer):
    r"""Boost any clusterer by links: it is run on projections of the rows that are chosen from its own mistakes.

    Use it with a clusterer from any package that does not support clues. In each round the rows are projected onto a
    few directions in which links that earlier rounds broke would hold, and the clusterer partitions the projected rows.
    All partitions vote, and the clusterer also partitions these votes; the partition that agrees best with the links is
    the result. It works best with a hundred or more links, of both kinds.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, set as ``n_clusters`` or ``n_components`` of the clusterer. None leaves the clusterer
        unchanged; without a clusterer it means 8.
    clusterer : estimator, default=None
        An instance of any clusterer with ``fit_predict``; by default scikit-learn's ``KMeans`` with ten starts. It is
        cloned, never fitted itself, and gets no clues.
    n_components : int, default=None
        Maximum number of directions of a projection; the number of clusters by default.
    n_rounds : int, default=20
        Maximum number of rounds.
    projection : {"plain", "generalized"}, default="plain"
        "plain": directions in which the links separate best; "generalized": relative to the variance of all rows,
        which does not depend on the scale of the columns, but needs several hundred links.
    final : {"best", "votes"}, default="best"
        Which partition is the result. "best": the one that agrees best with the links, among those of all rounds, that
        of the votes (unless the clusterer fails on them), and that of the original rows. "votes": always that of the
        votes, as in the paper.
    {random_state}
        The clusterer gets a new seed in each round.

    Attributes
    ----------
    {labels_}
        -1 is noise, if the clusterer finds noise.
    {n_clusters_}
    partitions_ : ndarray of shape (n_partitions, n)
        Partitions of the rounds that lowered the objective.
    weights_ : ndarray of shape (n_partitions,)
        Their weights in the kernel.
    objective_ : float
        Logarithm of the loss after the last round; 0 without clues.
    trace_ : ndarray
        The objective after each round; it never increases.
    n_iter_ : int
        Number of rounds; the last one may not have helped.
    {broken_}

    See Also
    --------
    DistBoost : Learns a distance by boosting, for methods that take distances.

    Notes
    -----
    .. math:: L(K) = \Big(\sum_{ij} S^+_{ij} e^{-K_{ij}}\Big) \Big(\sum_{ij} S^-_{ij} e^{K_{ij}}\Big),
        \qquad K = \sum_t \alpha_t \Delta_t

    with :math:`\Delta_t` 1 for two rows in one cluster of partition t. Of the weight of must-links
    (:math:`p \propto S^+ e^{-K}`) and cannot-links (:math:`q \propto S^- e^{K}`), partition t has the shares
    :math:`P_1, Q_1` within clusters and :math:`P_0, Q_0` between them. Then

    .. math:: \alpha_t = \tfrac12 \log \frac{P_1 Q_0}{P_0 Q_1}, \qquad
        \frac{L(K + \alpha_t \Delta_t)}{L(K)} = \left(\sqrt{P_0 Q_0} + \sqrt{P_1 Q_1}\right)^2 \le 1.

    ===================================== ====================================================
    paper                                 code
    ===================================== ====================================================
    :math:`S^+, S^-`                      ``clues``, with their weights
    :math:`\mathcal A`, :math:`s`         ``clusterer``, ``n_components``
    :math:`T = p - q`, :math:`X^\top T X` ``_rounds.directions``
    :math:`\Delta_t, \alpha_t`            ``partitions_[t]``, ``weights_[t]``
    ===================================== ====================================================

    The votes are the leading eigenvectors of K, one more than there are directions, times the roots of their
    eigenvalues. K is computed for linked pairs only, and the eigenvectors are computed from the partitions: there is
    never an (n, n) matrix.

    *Deviations.* The original rows are projected in every round (the survey projects the last projection again, so
    directions that were lost never return). They are centered, and projections are scaled to the total variance of the
    original rows. A partition with :math:`\alpha \le 0` is drawn again, up to three times, then boosting ends. Odds
    :math:`P_1 / P_0` are at most 2m + 1 for m links, so no weight is infinite. If there are links of one kind only, the
    factor of the other is :math:`e^{\pm \bar K}` with the mean :math:`\bar K` over all pairs of rows, and
    :math:`\alpha` lacks its ½. By default the result is the partition with the largest :math:`P_1 - Q_1` with the given
    weights of the links, which was better than the votes for all clusterers tried. Without links, or if no partition
    helps, the result is that of the clusterer on the original rows. The clusterer gets the rows in an order that does
    not depend on the order of X.

    References
    ----------
    .. [Liu2007] Y. Liu, R. Jin and A. K. Jain, "BoostCluster: boosting clustering by pairwise constraints", KDD 2007.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from cluewise import Clues, datasets
    >>> from cluewise.boosting import BoostCluster
    >>> from cluewise.metrics import ari
    >>> iris = datasets.load("iris", standardize=True)
    >>> clues = Clues.sample(iris.y, pairs=100, random_state=0)
    >>> ward = AgglomerativeClustering(3)
    >>> model = BoostCluster(clusterer=ward, random_state=0).fit(iris.X, clues=clues)
    >>> ari(iris.y, model.labels_) > ari(iris.y, ward.fit_predict(iris.X)) + 0.1
    True
    >>> len(model.partitions_) == len(model.weights_) <= model.n_iter_ <= 20
    True
    """

    card = Card(
        paper="Liu2007",
        title="Any clusterer boosted by links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        sparse=False,
        weights=False,
        plain="",
        means=False,
        equation="product of exponential losses of must-links and cannot-links",
        memory="pairs",
        cost="O(m + nd) and the clusterer, per round; labels and groups make up to n² pairs",
        aliases=("Boost Cluster",),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "clusterer": "no_validation",  # checked in `_base`
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "projection": [StrOptions({"plain", "generalized"})],
        "final": [StrOptions({"best", "votes"})],
        "random_state": ["random_state", np.random.Generator],
    }

    partitions_: Ints
    weights_: Floats

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        clusterer: Any = None,
        n_components: int | None = None,
        n_rounds: int = 20,
        projection: str = "plain",
        final: str = "best",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.n_components = n_components
        self.n_rounds = n_rounds
        self.projection = projection
        self.final = final
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Cluster the rows of X in rounds, each of which concentrates on the links that earlier rounds broke.

        Parameters
        ----------
        {X_dense}
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=False)
        known = self._check_clues(clues, len(X))
        base, k = self._base()
        rng = generator(self.random_state)
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, 1, self.n_rounds) as progress:
            try:
                # Rounding may decide which links count most, so single precision would boost differently.
                found = self._boost(rows_of(X.astype(np.float64, copy=False)), known, base, k, rng, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(_results(*progress.last))
                raise
        self._write(found | {"broken_": broken(found["labels_"], known, n_clusters=k)})
        return self

    def _base(self) -> tuple[Any, int | None]:
        """A copy of the clusterer, and its number of clusters if it has one."""
        base = KMeans(n_init=10) if self.clusterer is None else clone(self.clusterer)
        if not hasattr(base, "fit_predict"):
            raise TypeError(f"clusterer={base!r} has no fit_predict.")
        has = base.get_params(deep=False)
        name = next((name for name in ("n_clusters", "n_components") if name in has), None)
        if self.n_clusters is None:
            k = None if name is None else has[name]
            return base, int(k) if isinstance(k, Integral) else None  # Birch's n_clusters may be a clusterer
        if name is None:
            raise ValueError(
                f"{type(base).__name__} has neither n_clusters nor n_components; set n_clusters=None instead of "
                f"{self.n_clusters}."
            )
        return base.set_params(**{name: self.n_clusters}), self.n_clusters

    def _boost(
        self, rows: Rows, clues: Clues, base: Any, k: int | None, rng: np.random.Generator, progress: Progress
    ) -> Attributes:
        mean = boosting.mean_of(rows)
        scatter = max(centers.scatter(rows) - rows.n * float(mean @ mean), 0.0)
        # Sort rows along a random direction, so that random starts of the clusterer do not depend on the order of X.
        order = np.argsort(boosting.project(rows, mean, rng.normal(size=(rows.d, 1))).ravel(), kind="stable")
        links = build_pair_graph(clues, np.argsort(order))
        cluster = partial(_cluster, base=base, order=order, rng=rng)
        state = State(np.zeros(rows.n, np.int32), [], [], np.zeros(len(links)), 0.0)
        trace = [0.0]
        progress.begin_start(0)
        if len(links):
            back = boosting.whitening(rows, mean) if self.projection == "generalized" else None
            seen, axes = boosting.frame(rows.dense(links.rows) - mean, back)
            most = k if self.n_components is None else self.n_components

            def project(onto: Floats) -> Floats:
                return boosting.rescale(boosting.project(rows, mean, onto), scatter)

            task = Task(links, seen, axes, most, project, cluster)
            limits = loop.Limits(self.n_rounds, 0.0, progress)
            state, trace, _ = loop.run(partial(step, task=task), state, limits, slack=1e-9)
        progress.end_start()
        found = []
        if state.partitions:
            most = self.n_components or k or max(int(labels.max()) + 1 for labels in state.partitions)
            votes = boosting.embedding(state.partitions, np.array(state.alphas), most + 1)
            try:
                found = [cluster(boosting.rescale(votes, scatter))]
            except ValueError:  # the clusterer may fail on votes, for example mean shift without a bandwidth
                if self.final == "votes":
                    raise
        if not found or self.final == "best":
            found += [cluster(rows.X), *state.partitions]
        state = state._replace(labels=max(found, key=partial(boosting.agreement, links)))
        return _results(state, trace)


def _results(state: State, trace: list[float]) -> Attributes:
    """Fitted attributes, also after an interrupted fit, where the labels are those of the latest partition."""
    return {
        "labels_": state.labels,
        "n_clusters_": len(np.unique(state.labels[state.labels >= 0])),
        "partitions_": np.array(state.partitions, dtype=np.int32).reshape(-1, len(state.labels)),
        "weights_": np.array(state.alphas),
        "trace_": np.array(trace),
        "objective_": trace[-1],
        "n_iter_": len(trace),
    }


def _cluster(view: Floats, *, base: Any, order: Ints, rng: np.random.Generator) -> Ints:
    """Labels by a copy of the clusterer with a new seed, numbered from 0; -1 stays noise."""
    copy = clone(base)
    names = [name for name in base.get_params() if name == "random_state" or name.endswith("__random_state")]
    copy.set_params(**{name: int(rng.integers(2**31 - 1)) for name in sorted(names)})
    with warnings.catch_warnings():
        # Projections often have fewer distinct rows than clusters; that is fine if the partition helps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = np.asarray(copy.fit_predict(view[order]))
    if found.shape != (len(order),):
        raise ValueError(f"{type(base).__name__} returned labels of shape {found.shape} for {len(order)} rows.")
    if (found != found).any():
        row = order[np.flatnonzero(found != found)[0]]
        raise ValueError(f"{type(base).__name__} returned nan as the label of row {row}.")
    some = found != -1 if found.dtype.kind in "if" else np.ones(len(order), dtype=bool)
    labels = np.full(len(order), -1, dtype=np.int32)
    labels[order[some]] = np.unique(found[some], return_inverse=True)[1]
    return labels
