"""`Cluewise`: the clusterer to use first."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from time import monotonic
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, fit_context
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, as_clues, checked_data, checked_weight, class_clusters, generator
from cluewise.centroid.assignment import cheapest_labels
from cluewise.clues import Clues
from cluewise.core.threads import one_blas_thread, threads
from cluewise.exceptions import ClueError, Infeasible
from cluewise.front._choice import FIRST, Choice, Search, as_it_is, divide_clues, make_folds, select
from cluewise.front._count import choose_count, count_at_least, count_at_most, count_by_gap
from cluewise.front._evidence import Evidence, gather
from cluewise.front._ground import Ground, Place
from cluewise.front._ids import follow
from cluewise.front._likelihood import Plan, Regression, soften
from cluewise.front._starts import Starts
from cluewise.front._trust import doubt_labels, doubt_links, rate_sources
from cluewise.metrics import broken
from cluewise.metrics.held_out import select_demands

__all__ = ["Cluewise"]

GROWTH = 1.5
"""After clues have grown by this factor, `update` chooses again."""

FOLDS = 3
"""Folds for doubts."""

LONG = 1e9
"""Seconds, if there is no time limit."""

FEW = 10
"""Clues that are too few to find the number of clusters."""


class Memory(NamedTuple):
    """What `update` needs."""

    ground: Ground
    rows: Floats  # projected; without projection the data themselves
    weight: Floats | None
    seed: int
    k: int
    chosen_for: int  # clues at the last choice
    weights: Floats | None  # of the last fit
    start: Ints  # of the last fit
    right: Floats  # probability that each link, then each label, is right without its own say


class Cluewise(Clusterer):
    """Cluster rows with the help of clues, whatever the clues and however many rows: the clusterer to use first.

    It compares clusterings with and without clues by how well they predict clues that they have not seen, keeps what
    predicts best, follows the clues as far as they can be trusted, and tells which of them are probably wrong. There
    is nothing that has to be set.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters. None: found from the clues and the data; labels and rows that are apart from each other
        bound it from below.
    hard : bool, default=False
        Whether every clue holds in the result; clues that cannot hold together raise `Contradiction` or `Infeasible`,
        and partitions are refused. Links and groups of infinite weight, and sizes, hold in any case.
    time_limit : float, default=None
        Seconds after which nothing more is compared; the best so far is used.
    n_jobs : int, default=None
        Number of threads. None: all cores.
    {random_state}

    Attributes
    ----------
    {labels_}
    {n_clusters_}
    cluster_ids_ : ndarray of shape (n_clusters,)
        Permanent id of each cluster: `update` keeps the id of the earlier cluster with the most rows in common.
    margin_ : ndarray of shape (n,)
        Probability of the cluster of each row minus that of the second most probable one.
    {broken_}
    clues_ : Clues
        All clues so far.
    doubt_ : ndarray of shape (m,)
        Probability that each must-link, then each cannot-link, of ``clues_`` is wrong, judged without the link itself.
    label_doubt_ : ndarray of shape (n,)
        The same for labels; nan for rows without one.
    trust_ : dict
        For each source of clues the share that is right: of its must-links, cannot-links, labels, and of all.
    choice_ : Choice
        What was compared, and what was taken and why; ``print(model.choice_)`` shows it.
    harm_ : float
        Estimated probability that the result is worse than without clues.
    {columns_}

    Notes
    -----
    The rows are divided into grains (`Grains`), each row being one if there are few; the grains form a neighbor graph.
    Clusterings of this graph, with clues propagated along it and without any clues, are starts. From a start,
    probabilities of the clusters are fitted to the clues: a softmax regression on eigenvectors of the graph, on
    similarities to landmarks and on the columns, with a pull toward the start. The likelihood allows clues to be wrong.
    Start, pull and assumed share of wrong clues are those that predict held-out clues best; something simpler is taken
    if it predicts them as well within 1.5 standard errors. A clue that follows from others is not used to compare.

    Memory beyond X is some 100 bytes per row, and 1,500 × 1,500 numbers for the graph.

    Examples
    --------
    >>> import cluewise as cw
    >>> X, y = cw.datasets.make_pattern("two_spirals", n_samples=300, random_state=0)
    >>> clues = cw.Clues.sample(y, pairs=60, random_state=0)
    >>> model = cw.Cluewise(2, random_state=0).fit(X, clues=clues)
    >>> round(cw.metrics.ari(y, model.labels_), 2)
    1.0
    """

    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "hard": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    card = Card(
        paper="Lu2010",
        title="The clusterer to use first: compares, follows clues as far as they can be trusted",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart", "partitions", "sizes"}),
        mixes=True,
        descends=False,
        single=False,
        judges=True,
        named=True,
        plain="",
        means=False,
        memory="square",  # of the grains, of which there are at most some thousands
        cost="O(nmd) for m grains",
        equation="likelihood of the clues in a softmax regression, pulled toward a clustering",
    )

    labels_: Ints
    n_clusters_: int
    cluster_ids_: Ints
    margin_: Floats
    clues_: Clues
    choice_: Choice

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        hard: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.hard = hard
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X with the help of clues.

        Parameters
        ----------
        {X}
        {y}
        {clues}
        {sample_weight}

        Returns
        -------
        {self}
        """
        deadline = monotonic() + (LONG if self.time_limit is None else self.time_limit)
        self._reset(y, clues)
        X = checked_data(self, X, reset=True)
        n = X.shape[0]
        if self.n_clusters is not None:
            self._check_count(n)
        known = self._check_clues(_refuse_avoid(as_clues(clues, n)), n)
        self._check_demands(known)
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        seed = int(generator(self.random_state).integers(2**31))
        with one_blas_thread(), self._limit_threads():
            ground = Ground(X, weight, np.random.default_rng(seed))
            self._learn(ground, ground.project(X), weight, seed, known, None, deadline)
        return self

    def update(self, clues: Any) -> Self:
        """Add clues and cluster the same rows again, without looking at the data anew.

        What was chosen stays until the clues have grown by half; then everything is compared again. The model refers to
        X instead of copying it, so leave X unchanged until the last update.

        Parameters
        ----------
        clues : Clues or partial labels
            More clues about the rows of the last fit.

        Returns
        -------
        {self}

        Examples
        --------
        >>> import cluewise as cw
        >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
        >>> model = cw.Cluewise(2, random_state=0).fit(X)
        >>> model.update(cw.Clues(6, must=[(0, 1)])).clues_
        Clues(6 rows: 1 must-link)
        """
        check_is_fitted(self)
        deadline = monotonic() + (LONG if self.time_limit is None else self.time_limit)
        memory: Memory = self._memory
        n = len(memory.rows)
        known = self.clues_ | self._check_clues(_refuse_avoid(as_clues(clues, n)), n)
        self._check_demands(known)
        with one_blas_thread(), self._limit_threads():
            self._learn(memory.ground, memory.rows, memory.weight, memory.seed, known, memory, deadline)
        return self

    def predict(self, X: Any) -> Ints:
        """Predict the cluster of each row.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,)
            The most probable cluster.
        """
        return self.predict_proba(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each cluster for each row.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, n_clusters)
            Probabilities; those of a row sum to 1.
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        ground = self._memory.ground
        with one_blas_thread(), self._limit_threads():
            rows = ground.project(X)
            return _predict(ground, rows, ground.locate(rows), self.choice_.plan, self._memory)

    def _limit_threads(self) -> AbstractContextManager[None]:
        return nullcontext() if self.n_jobs is None else threads(self.n_jobs)

    def _check_demands(self, known: Clues) -> None:
        """Raise if no clustering can keep what has to hold, before any work."""
        if self.hard and known.partitions:
            raise ClueError("hard=True cannot keep partitions; pass them as labels or together groups, or hard=False.")
        demands = self._select_demands(known)
        if self.n_clusters is None:
            demands.only(demands.kinds - {"sizes"}).require(known.n)
        else:
            class_clusters(known, self.n_clusters)
            demands.require(self.n_clusters)

    def _select_demands(self, known: Clues) -> Clues:
        return known if self.hard else select_demands(known)

    # --- one fit ------------------------------------------------------------------------------------------------

    def _learn(
        self,
        ground: Ground,
        rows: Floats,
        weight: Floats | None,
        seed: int,
        known: Clues,
        before: Memory | None,
        deadline: float,
    ) -> None:
        """Choose (unless a choice made before still holds), fit, settle demands, and publish."""
        n = len(rows)
        demands = self._select_demands(known)
        k = self._find_count(ground, rows, known, demands, seed, before, deadline)
        evidence = gather(known, k, ground.place.grain)
        if self.hard:
            evidence = evidence._replace(demanded=np.ones(len(evidence.ends), dtype=bool))
        starts = Starts(ground, k, seed)
        regression = Regression(ground, rows, evidence, k, np.random.default_rng(seed))
        arranged, numbers = evidence.arrange(ground.place.grain)
        keep = before is not None and evidence.total < GROWTH * before.chosen_for and before.k == k
        if keep:
            choice = self.choice_
        else:
            choice = _choose(starts, regression, arranged, np.random.default_rng(seed), deadline, self.hard)
        start = starts.find(choice.plan.start, evidence)
        weights = regression.finish(start, choice.plan, evidence) if choice.plan.view else None
        if keep and before is not None:
            right = _recall(self.clues_, known, before, self.choice_.plan, evidence)
        else:
            right = np.empty(evidence.total)
            right[numbers] = _cross_judge(starts, regression, arranged, choice.plan, np.random.default_rng(seed))
        chosen_for = before.chosen_for if keep and before is not None else max(evidence.total, 1)
        memory = Memory(ground, rows, weight, seed, k, chosen_for, weights, start, right)
        P = _predict(ground, rows, ground.place, choice.plan, memory)
        labels = P.argmax(axis=1).astype(np.int32)
        ordered = np.partition(P, k - 2, axis=1)[:, k - 2 :] if k > 1 else np.repeat(P, 2, axis=1) * [0, 1]
        margin = (ordered[:, 1] - ordered[:, 0]).astype(rows.dtype)
        if demands.kinds:
            labels = _settle(P, demands, k, weight)
        links = len(known.must) + len(known.cannot)
        doubt = doubt_links(known, right[:links])
        label_doubt = doubt_labels(right[len(right) - len(evidence.labeled) :], k)
        if self.hard:
            doubt, label_doubt = np.zeros(len(doubt)), np.zeros(len(label_doubt))
        spread = np.full(n, np.nan)
        spread[evidence.labeled] = label_doubt
        ids, fresh = self._name(labels, known, k, before)
        found: Attributes = {
            "labels_": labels,
            "n_clusters_": int(np.count_nonzero(np.bincount(labels, minlength=k))),
            "cluster_ids_": ids,
            "margin_": margin,
            "clues_": known,
            "doubt_": doubt,
            "label_doubt_": spread,
            "trust_": rate_sources(known, doubt, label_doubt),
            "choice_": choice,
            "harm_": _estimate_harm(choice),
            "broken_": broken(
                labels, known, clusters_of_classes=class_clusters(known, k), n_clusters=k, sample_weight=weight
            ),
        }
        self.__dict__.update(found, _memory=memory, _next_id=fresh)  # at once: Ctrl-C leaves all results or none
        if found["n_clusters_"] < k:
            warnings.warn(f"only {found['n_clusters_']} of {k} clusters have rows.", ConvergenceWarning, stacklevel=4)

    def _name(self, labels: Ints, known: Clues, k: int, before: Memory | None) -> tuple[Ints, int]:
        """Ids of the clusters, and the first one that was never used."""
        if before is None:
            return np.arange(k), k
        old, new = _list_classes(self.clues_, before.k), _list_classes(known, k)
        named = {new[name]: old[name] for name in new.keys() & old.keys()}
        return follow(labels, self.labels_, self.cluster_ids_, k, self._next_id, named)

    def _find_count(
        self,
        ground: Ground,
        rows: Floats,
        known: Clues,
        demands: Clues,
        seed: int,
        before: Memory | None,
        deadline: float,
    ) -> int:
        if self.n_clusters is not None:
            return self.n_clusters
        least, most = count_at_least(known, demands), count_at_most(known)
        if before is not None and len(self.cluster_ids_) >= least and len(known.tied) < GROWTH * len(self.clues_.tied):
            return len(self.cluster_ids_)
        if known.sizes is not None and known.sizes.ndim == 2:
            return len(known.sizes)
        likely = max(least, min(most, count_by_gap(ground, least)))
        evidence, _ = gather(known, least, ground.place.grain).arrange(ground.place.grain)
        if len(evidence.labeled) > evidence.total / 2:
            return least
        most = min(ground.m, most, max(30, 2 * least))
        if len(evidence.doubtful) < FEW or most <= least:
            return likely
        rng = np.random.default_rng(seed)
        folds = make_folds(evidence, rng)

        enough = (monotonic() + deadline) / 2  # the rest is for the choice

        def score(k: int) -> float:
            if monotonic() > enough:
                return -np.inf
            starts = Starts(ground, k, seed)
            regression = Regression(ground, rows, gather(known, k, ground.place.grain), k, np.random.default_rng(seed))
            search = Search(starts, regression, evidence, folds, monotonic() + LONG)
            return search.score_count()

        return choose_count(score, max(least, 2), most, likely)


def _refuse_avoid(clues: Clues) -> Clues:
    if clues.avoid:
        raise ClueError(
            "Cluewise does not avoid known clusterings; use a method that does, such as CondEns: "
            "`cluewise list --accepts avoid` shows them."
        )
    return clues


def _choose(
    starts: Starts, regression: Regression, evidence: Evidence, rng: np.random.Generator, deadline: float, hard: bool
) -> Choice:
    if not evidence.total:
        return Choice(as_it_is(starts.default, 0.1), starts.default, "there are no clues")
    able = 0 if hard else len(evidence.doubtful)
    folds = make_folds(evidence, rng) if able > 1 else []
    if not folds:
        if able == evidence.total:
            return Choice(as_it_is(starts.default, 0.1), starts.default, "one clue alone cannot be checked by others")
        plan = FIRST._replace(start="label spreading") if len(evidence.labeled) > len(evidence.ends) else FIRST
        return Choice(plan, starts.default, "clues that must hold are not held out to compare anything")
    return Search(starts, regression, evidence, folds, deadline).choose()


def _predict(ground: Ground, rows: Floats, place: Place, plan: Plan, memory: Memory) -> Floats:
    if memory.weights is not None:
        return ground.predict(rows, place, plan.view, memory.weights)
    own = soften(memory.start, memory.k).astype(np.float32)
    return np.einsum("ij,ijc->ic", place.share, own[place.near])


def _cross_judge(
    starts: Starts, regression: Regression, evidence: Evidence, plan: Plan, rng: np.random.Generator
) -> Floats:
    """Probability that each clue is right by fits that did not see it; 1 for what is not held out."""
    right = np.ones(evidence.total)
    count = min(FOLDS, len(evidence.doubtful))
    for held in divide_clues(evidence, count, rng) if count > 1 else []:
        mask = select(held, evidence.total)
        train = evidence.take(~mask)
        start = starts.find(plan.start, train)
        weights = regression.fit(start, plan, train, None, 40) if plan.view else None
        right[held] = regression.judge(plan, start, weights, evidence.take(mask))
    return right


def _list_classes(clues: Clues, k: int) -> dict[Any, int]:
    """Cluster of each class that has a label."""
    clusters = class_clusters(clues, k).tolist()
    return {clues.classes_[code]: clusters[code] for code in np.unique(clues.labels[clues.labels >= 0])}


def _recall(old: Clues, known: Clues, before: Memory, plan: Plan, evidence: Evidence) -> Floats:
    """The same after an update: old clues as they were judged, new ones by the last fit, which did not see them."""
    rows = np.unique(np.concatenate([evidence.ends.ravel(), evidence.labeled]))
    place = Place(*(column[rows] for column in before.ground.place))
    P = _predict(before.ground, before.rows[rows], place, plan, before)
    here = evidence.renumber(np.searchsorted(rows, np.arange(known.n)))
    same = np.einsum("ij,ij->i", P[here.ends[:, 0]], P[here.ends[:, 1]])
    right = np.concatenate([np.where(here.is_must, same, 1 - same), P[here.labeled, here.classes]]).astype(np.float64)
    for pairs, said, at, was in (
        (known.must, old.must, 0, 0),
        (known.cannot, old.cannot, len(known.must), len(old.must)),
    ):
        _, new, earlier = np.intersect1d(_code(pairs), _code(said), assume_unique=True, return_indices=True)
        right[at + new] = before.right[was + earlier]
    seen = np.flatnonzero(old.labels >= 0)
    _, new, earlier = np.intersect1d(evidence.labeled, seen, assume_unique=True, return_indices=True)
    right[len(evidence.ends) + new] = before.right[len(before.right) - len(seen) + earlier]
    return right


def _code(pairs: Ints) -> Ints:
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]


def _settle(P: Floats, demands: Clues, k: int, weight: Floats | None) -> Ints:
    """The most probable labels that keep every demand; class c is in its cluster."""
    costs = -np.log(np.maximum(P.astype(np.float64), 1e-12))
    labeled = np.flatnonzero(demands.labels >= 0)
    own = class_clusters(demands, k)[demands.labels[labeled]] if len(labeled) else labeled
    worst = 1 + costs.max(axis=1).sum()  # more than anything else that could be gained
    costs[labeled] = worst
    costs[labeled, own] = 0.0
    labels = cheapest_labels(costs, demands, weight)
    moved = labeled[labels[labeled] != own]
    if len(moved):
        raise Infeasible(
            f"row {moved[0]} cannot be in the cluster of its label: the bounds on sizes leave no room.", demands
        )
    return labels


def _estimate_harm(choice: Choice) -> float:
    """Probability that the gain in the prediction of held-out clues is not one."""
    if choice.gain_error == 0:
        return 0.0
    return float(norm.sf(choice.gain / choice.gain_error))
