"""`Cluewise`: the clusterer to use first."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from time import monotonic
from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, fit_context
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, as_clues, checked_data, checked_weight, class_clusters, generator
from cluewise.centroid.assignment import cheapest_labels
from cluewise.clues import Clues
from cluewise.core.assign import find_margin
from cluewise.core.threads import one_blas_thread, threads
from cluewise.exceptions import ClueError, Infeasible
from cluewise.front._choice import Choice, make_folds
from cluewise.front._count import choose_count, count_at_least, count_at_most, count_by_gap
from cluewise.front._evidence import Evidence, gather
from cluewise.front._fitting import LONG, Data, Fitted, fit_again, fit_anew, predict, score_count
from cluewise.front._ground import Ground
from cluewise.front._ids import follow
from cluewise.front._trust import doubt_labels, doubt_links, rate_sources
from cluewise.metrics import broken
from cluewise.metrics.held_out import select_demands

__all__ = ["Cluewise"]

GROWTH = 1.5
"""After clues have grown by this factor, `update` chooses again."""

FEW = 10
"""Clues that are too few to find the number of clusters."""


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
    If there are more rows than grains, the eigenvectors walk along the nearest rows. Start, pull and assumed share of
    wrong clues are those that predict held-out clues best, weighed against odds for what follows the clues less. A clue
    that follows from others is not used to compare.

    X is not copied unless it is projected, but for up to 60,000 rows along which eigenvectors walk. Memory beyond it
    grows with the rows times the clusters, plus a few matrices of up to 1,500 × 1,500 and 60,000 × 150 numbers.

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
            self._learn(Data(ground, ground.project(X), weight, seed), known, None, deadline)
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
        n = self.clues_.n
        if len(self._data.rows) < n:
            raise ValueError("a loaded model has not all rows and cannot be updated; fit it again with all clues.")
        known = self.clues_ | self._check_clues(_refuse_avoid(as_clues(clues, n)), n)
        self._check_demands(known)
        with one_blas_thread(), self._limit_threads():
            self._learn(self._data, known, self._fitted, deadline)
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
        ground = self._data.ground
        with one_blas_thread(), self._limit_threads():
            rows = ground.project(X)
            return predict(ground, rows, ground.locate(rows), self._fitted)

    def _get_saved_state(self) -> Attributes:
        """Everything but what only `update` needs; the ground keeps the rows that are references."""
        return vars(self) | {"_data": self._data._replace(rows=self._data.rows[:0], weight=None)}

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

    def _learn(self, data: Data, known: Clues, before: Fitted | None, deadline: float) -> None:
        """Fit, by what was chosen before where that still holds, and publish."""
        demands = self._select_demands(known)
        k = self._find_count(data, known, demands, before, deadline)
        evidence = gather(known, k, data.ground.place.grain)
        if self.hard:
            evidence = evidence._replace(demanded=np.ones(len(evidence.ends), dtype=bool))
        if before is not None and before.k == k and evidence.total < GROWTH * before.chosen_for:
            fitted = fit_again(data, evidence, known, before, self.clues_)
        else:
            fitted = fit_anew(data, evidence, k, deadline, self.hard)
        found = self._describe(data, known, demands, evidence, fitted)
        found["cluster_ids_"], fresh = self._name(found["labels_"], known, k, before)
        # At once: Ctrl-C leaves all results or none.
        self.__dict__.update(found, _data=data, _fitted=fitted, _next_id=fresh)
        if found["n_clusters_"] < k:
            warnings.warn(f"only {found['n_clusters_']} of {k} clusters have rows.", ConvergenceWarning, stacklevel=4)

    def _describe(self, data: Data, known: Clues, demands: Clues, evidence: Evidence, fitted: Fitted) -> Attributes:
        """Everything that a user may ask about a fit."""
        k, right = fitted.k, fitted.right
        P = predict(data.ground, data.rows, data.ground.place, fitted)
        labels = _settle(P, demands, k, data.weight) if demands.kinds else P.argmax(axis=1).astype(np.int32)
        doubt = doubt_links(known, right[: len(known.must) + len(known.cannot)])
        label_doubt = doubt_labels(right[len(evidence.ends) :], k)
        if self.hard:
            doubt, label_doubt = np.zeros(len(doubt)), np.zeros(len(label_doubt))
        by_row = np.full(known.n, np.nan)
        by_row[evidence.labeled] = label_doubt
        classes = class_clusters(known, k)
        return {
            "labels_": labels,
            "n_clusters_": int(np.count_nonzero(np.bincount(labels, minlength=k))),
            "margin_": find_margin(P).astype(data.rows.dtype),
            "clues_": known,
            "doubt_": doubt,
            "label_doubt_": by_row,
            "trust_": rate_sources(known, doubt, label_doubt),
            "choice_": fitted.choice,
            "harm_": _estimate_harm(fitted.choice),
            "broken_": broken(labels, known, clusters_of_classes=classes, n_clusters=k, sample_weight=data.weight),
        }

    def _name(self, labels: Ints, known: Clues, k: int, before: Fitted | None) -> tuple[Ints, int]:
        """Ids of the clusters, and the first one that was never used."""
        if before is None:
            return np.arange(k), k
        old, new = _list_classes(self.clues_, before.k), _list_classes(known, k)
        named = {new[name]: old[name] for name in new.keys() & old.keys()}
        return follow(labels, self.labels_, self.cluster_ids_, k, self._next_id, named)

    def _find_count(self, data: Data, known: Clues, demands: Clues, before: Fitted | None, deadline: float) -> int:
        """The number of clusters: as given, as before, as labels or sizes say, or as predicts held-out clues best."""
        if self.n_clusters is not None:
            return self.n_clusters
        ground, grain = data.ground, data.ground.place.grain
        least, most = count_at_least(known, demands), count_at_most(known)
        if before is not None and before.k >= least and len(known.tied) < GROWTH * len(self.clues_.tied):
            return before.k
        if known.sizes is not None and known.sizes.ndim == 2:
            return len(known.sizes)
        likely = max(least, min(most, count_by_gap(ground, least)))
        evidence, _ = gather(known, least, grain).arrange(grain)
        if len(evidence.labeled) > evidence.total / 2:
            return least
        most = min(ground.m, most, max(30, 2 * least))
        if len(evidence.doubtful) < FEW or most <= least:
            return likely
        folds = make_folds(evidence, np.random.default_rng(data.seed))
        enough = (monotonic() + deadline) / 2  # the rest is for the choice

        def score(k: int) -> float:
            return -np.inf if monotonic() > enough else score_count(data, gather(known, k, grain), evidence, folds, k)

        return choose_count(score, max(least, 2), most, likely)


def _refuse_avoid(clues: Clues) -> Clues:
    if clues.avoid:
        raise ClueError(
            "Cluewise does not avoid known clusterings; use a method that does, such as CondEns: "
            "`cluewise list --accepts avoid` shows them."
        )
    return clues


def _list_classes(clues: Clues, k: int) -> dict[Any, int]:
    """Cluster of each class that has a label."""
    clusters = class_clusters(clues, k).tolist()
    return {clues.classes_[code]: clusters[code] for code in np.unique(clues.labels[clues.labels >= 0])}


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
