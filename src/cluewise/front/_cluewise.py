"""`Cluewise`: the clusterer to use first."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cluewise._elsewhere import is_elsewhere
from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Floats, Ints
from cluewise.base import (
    Attributes,
    Card,
    Clusterer,
    as_clues,
    checked_chunks,
    checked_data,
    checked_weight,
    class_clusters,
    generator,
    map_new_chunks,
    send_rows,
)
from cluewise.centroid.assignment import cheapest_labels
from cluewise.clues import Clues
from cluewise.core.assign import find_margin
from cluewise.core.chunks import Chunks
from cluewise.core.threads import one_blas_thread, threads
from cluewise.exceptions import ClueError, Infeasible, OtherRows
from cluewise.front._choice import Choice, make_folds
from cluewise.front._chunks import find_labels, pack, refuse_sizes, spread_results, take_start
from cluewise.front._count import (
    choose_count,
    count_apart,
    count_at_least,
    count_at_most,
    count_by_gap,
    count_likely_most,
)
from cluewise.front._deadline import Deadline
from cluewise.front._evidence import Evidence, gather
from cluewise.front._fitting import (
    Data,
    Elsewhere,
    Fitted,
    compare_counts,
    find_scores,
    fit_again,
    fit_anew,
    fit_from,
    predict,
    predict_chunk,
)
from cluewise.front._ground import Ground
from cluewise.front._ids import follow, list_classes
from cluewise.front._signature import Signature, sign
from cluewise.front._trust import doubt_labels, doubt_links, rate_sources
from cluewise.metrics import broken
from cluewise.metrics.held_out import select_demands

__all__ = ["Cluewise"]

GROWTH = 1.5
"""After clues have grown, or shrunk, by this factor, `update` and `refit` choose again."""

HARM = (1.95, 1.66)
"""Log-odds that a result is worse than without clues (by an ARI of more than .02): the first if held-out clues gain
nothing, less the second times the logarithm of one more than their gain. Decision 0015 tells how they were found."""

FEW = 10
"""Clues that are too few to find the number of clusters."""


class Cluewise(Clusterer):
    """Cluster rows with the help of clues, whatever the clues and however many rows: the clusterer to use first.

    It compares clusterings with and without clues by how well they predict clues that they have not seen, keeps what
    predicts best, follows the clues as far as they can be trusted, and tells which of them are probably wrong. There
    is nothing that has to be set.

    Parameters
    ----------
    n_clusters : int or "classes", default=None
        Number of clusters. None: found from the clues and the data; classes of labels bound it from below, and so do
        rows that are apart from each other, unless clues contradict each other. At most one for every five rows, and
        500, are tried, with a warning if that bounds the number. "classes": each class with a label is a cluster, and
        there are no others.
    hard : bool, default=False
        Whether every clue holds in the result; clues that cannot hold together raise `Contradiction` or `Infeasible`,
        and partitions are refused. Links and groups of infinite weight, and sizes, hold in any case.
    time_limit : float, default=None
        Seconds that a fit may take. It compares while there is time for what has to follow, and uses the best so far;
        ``choice_`` says so. The rows are divided into grains and clustered without clues in any case: on one core that
        takes about 2 s up to 10⁵ rows and 20 s for 10⁶ rows of 32 columns.
    n_jobs : int, default=None
        Number of threads. None: all cores.
    {device}
    {random_state}

    Attributes
    ----------
    {labels_}
    {n_clusters_}
    cluster_ids_ : ndarray of shape (n_clusters,)
        Permanent id of each cluster: `update` keeps the id of the earlier cluster with the most rows in common.
    margin_ : ndarray of shape (n,)
        Probability of the cluster of each row minus that of the most probable other one: below 0 for rows that sizes or
        clues that must hold have moved out of their most probable cluster.
    {broken_}
    clues_ : Clues
        All clues so far.
    doubt_ : ndarray of shape (m,)
        Probability that each must-link, then each cannot-link, of ``clues_`` is wrong, judged without the link itself.
    label_doubt_ : ndarray of shape (n,)
        The same for labels; nan for rows without one.
    trust_ : dict
        For each source of clues (a file, a person) the share that is right: of its must-links, cannot-links, labels,
        and of all.
    choice_ : Choice
        What was compared, and what was taken and why; ``print(model.choice_)`` shows it.
    harm_ : float
        Estimated probability that the result is worse than without clues, for the same number of clusters. 0 if it is
        the one without clues; nan if it was not compared with that on held-out clues: if all clues have to hold, if
        what has to hold moved rows afterwards, or after ``refit(start=...)``.
    {columns_}

    Notes
    -----
    The rows are divided into grains (`Grains`), each row being one if there are few; the grains form a neighbor graph.
    Clusterings of this graph, with clues propagated along it and without any clues, are starts; so is one of a second
    graph, for which grains are stretched in directions in which the clusters of propagation differ. From a start,
    probabilities of the clusters are fitted to the clues: a softmax regression on eigenvectors of the graph, on
    similarities to landmarks and on the columns, with a pull toward the start. The likelihood allows clues to be wrong.
    If there are more rows than grains, the eigenvectors walk along the nearest rows. Start, pull and assumed share of
    wrong clues are those that predict held-out clues best, weighed against odds for what follows the clues less. A clue
    that follows from others is not used to compare. If a tenth of the clues or more is taken to be wrong, each counts
    in the last fit by the probability that it is right, as fits say that did not see it.

    X is not copied unless it is projected, but for up to 60,000 rows along which eigenvectors walk. Memory beyond it
    is about 50 bytes per row, or a number for each row and cluster if clues have to hold, plus a few matrices of up to
    1,500 × 1,500 and 60,000 × 150 numbers.

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
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"classes"}), None],
        "hard": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), None],
        "device": [str, None],
        "random_state": ["random_state", np.random.Generator],
    }

    card = Card(
        paper="Lu2010",
        title="The clusterer to use first: compares, follows clues as far as they can be trusted",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart", "partitions", "sizes"}),
        mixes=True,
        descends=False,
        chunks=True,
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
    doubt_: Floats
    label_doubt_: Floats
    trust_: dict[str, Any]
    harm_: float
    _data: Data

    def __init__(
        self,
        n_clusters: int | Literal["classes"] | None = None,
        *,
        hard: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.hard = hard
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.device = device
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
        deadline = Deadline(self.time_limit)
        self._reset(y, clues)
        X = send_rows(self, X, reset=True, sample_weight=sample_weight)
        if is_elsewhere(X):
            self._fit_chunks(checked_chunks(self, X, sample_weight=sample_weight), clues, deadline)
            return self
        X = checked_data(self, X, reset=True)
        n = X.shape[0]
        if isinstance(self.n_clusters, Integral):
            self._check_count(n)
        known = self._check_clues(_refuse_avoid(as_clues(clues, n)), n)
        self._check_demands(known)
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        seed = int(generator(self.random_state).integers(2**31))
        with one_blas_thread(), self._limit_threads():
            ground = Ground(X, weight, np.random.default_rng(seed))
            self._learn(Data(ground, ground.project(X), weight, seed, {}), known, None, deadline)
        return self

    def _fit_chunks(self, chunks: Chunks, clues: Any, deadline: Deadline) -> None:
        """Fit to the rows with clues and the references, which are in memory; the others follow when they are asked."""
        if isinstance(self.n_clusters, Integral):
            self._check_count(chunks.n)
        known = self._check_clues(_refuse_avoid(as_clues(clues, chunks.n)), chunks.n)
        refuse_sizes(known)
        self._check_demands(known)
        seed = int(generator(self.random_state).integers(2**31))
        with one_blas_thread(), self._limit_threads():
            ground = Ground(chunks, chunks.load_weight(), np.random.default_rng(seed), known.tied)
            assert ground.kept is not None
            weight = chunks.take_weight(ground.kept)
            data = Data(ground, ground.rows, weight, seed, {}, Elsewhere(chunks, known))
            self._learn(data, known[ground.kept], None, deadline)

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
        return self._fit_same_rows(self.clues_ | self._read_clues(clues))

    def refit(self, clues: Any, *, start: Any = None) -> Self:
        """Cluster the same rows by other clues, without looking at the data anew.

        As `update`, but the new clues replace all earlier ones: for clues that were taken back. Clusters keep their
        ids, also after ``set_params(n_clusters=...)``.

        Parameters
        ----------
        clues : Clues or partial labels
            All clues about the rows of the last fit.
        start : array-like of shape (n,), optional
            Clusters from which the fit begins, from 0 to less than the number of clusters. None: those that predict
            held-out clues best. For answers to questions that were chosen to be hard to predict, a start that
            follows them does better.

        Returns
        -------
        {self}

        Examples
        --------
        >>> import cluewise as cw
        >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
        >>> model = cw.Cluewise(2, random_state=0).fit(X, clues=cw.Clues(6, must=[(0, 5)]))
        >>> model.refit(cw.Clues(6, must=[(0, 1)])).clues_
        Clues(6 rows: 1 must-link)
        """
        check_is_fitted(self)
        return self._fit_same_rows(self._read_clues(clues), start)

    def resume(self, X: Any, *, sample_weight: Any = None) -> Self:
        """Give a loaded model the rows of its fit, so that it can be updated.

        A saved model does not hold all rows. What `update` needs besides is made again from them; the clusters stay as
        they are.

        Parameters
        ----------
        X : array-like, sparse matrix or dask array of shape (n, d)
            The rows of the fit, in the same order. Rows that differ are refused.
        sample_weight : array-like of shape (n,), optional
            Their weights, if the fit had any.

        Returns
        -------
        {self}

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import cluewise as cw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.cw"
        >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
        >>> cw.save(cw.Cluewise(2, random_state=0).fit(X), path)
        >>> cw.load(path).resume(X).update(cw.Clues(6, must=[(0, 1)])).clues_
        Clues(6 rows: 1 must-link)
        """
        check_is_fitted(self)
        X = send_rows(self, X, reset=False, sample_weight=sample_weight)
        if is_elsewhere(X):
            return self._resume_chunks(checked_chunks(self, X, reset=False, sample_weight=sample_weight))
        X = checked_data(self, X, reset=False)
        self._check_rows(X.shape[0])
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        ground = self._data.ground
        with one_blas_thread(), self._limit_threads():
            rows = ground.project(X)
            self._refuse_other_rows(sign(rows, weight), projected=rows.shape[1] < X.shape[1])
            self._data = Data(ground.complete(rows), rows, weight, self._data.seed, {})
        return self

    def _resume_chunks(self, chunks: Chunks) -> Self:
        ground, seed = self._data.ground, self._data.seed
        self._check_rows(chunks.n)
        if ground.kept is None:
            raise ValueError("the model was fitted to rows in memory; pass them to resume as an array.")
        with one_blas_thread(), self._limit_threads():
            self._refuse_other_rows(ground.sign(chunks), projected=ground.centers.shape[1] < chunks.d)
            whole = ground.complete(ground.take(chunks, ground.kept), ground.kept)
            weight = chunks.take_weight(ground.kept)
            self._data = Data(whole, whole.rows, weight, seed, {}, Elsewhere(chunks, self.clues_))
        return self

    def _check_rows(self, n: int) -> None:
        if n != self.clues_.n:
            raise OtherRows(f"X has {n} rows, but the model was fitted to {self.clues_.n}.")

    def _refuse_other_rows(self, given: Signature, *, projected: bool) -> None:
        """Raise unless rows and weights are those of the fit."""
        known = self._sign()
        if known is None:
            raise ValueError("a model of an older version cannot be resumed; fit it again.")
        if not known.has_weight_of(given):
            how = "without sample_weight" if known.weight is None else "with another sample_weight"
            raise OtherRows(f"the model was fitted {how}.")
        changed = known.find_changes(given, projected=projected)
        if len(changed):
            if projected:
                raise OtherRows("X differs from that of the fit.")
            names = getattr(self, "feature_names_in_", range(len(known.rows)))
            raise OtherRows(f"column {names[changed[0]]} of X differs from that of the fit.", changed.tolist())

    def _sign(self) -> Signature | None:
        """The signature of the rows: of those that are here or in chunks, or as it was saved."""
        if self._data.elsewhere is not None:
            return self._data.ground.sign(self._data.elsewhere.chunks)
        if len(self._data.rows):
            return sign(self._data.rows, self._data.weight)
        return getattr(self, "_signature", None)

    def _read_clues(self, clues: Any) -> Clues:
        n = self.clues_.n
        return self._check_clues(_refuse_avoid(as_clues(clues, n)), n)

    def _fit_same_rows(self, known: Clues, start: Any = None) -> Self:
        self._validate_params()  # which may have been set since the fit
        deadline = Deadline(self.time_limit)
        data = self._data
        if data.elsewhere is None and len(data.rows) < known.n:
            raise ValueError("a loaded model does not hold its rows; pass them to resume(X), then update it.")
        if data.elsewhere is not None:
            refuse_sizes(known)
        if isinstance(self.n_clusters, Integral):
            self._check_count(known.n)
        self._check_demands(known)
        with one_blas_thread(), self._limit_threads():
            if data.elsewhere is not None:
                chunks, ground = data.elsewhere.chunks, data.ground
                ground.keep(known.tied, chunks)
                assert ground.kept is not None
                weight = chunks.take_weight(ground.kept)
                data = data._replace(rows=ground.rows, weight=weight, elsewhere=Elsewhere(chunks, known))
                known, start = known[ground.kept], take_start(start, ground.kept, known.n)
            self._learn(data, known, self._fitted, deadline, start)
        return self

    def _recall_rows(self, data: Data, before: Fitted) -> tuple[Clues, Ints]:
        """Clues and labels of the last fit, for the rows in memory; rows in chunks have no labels that last."""
        if data.elsewhere is None and hasattr(self, "labels_"):
            return self.clues_, self.labels_
        labels = _read(data, before)[0]
        return self.clues_ if data.elsewhere is None else self.clues_[data.ground.kept], labels

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
        check_is_fitted(self)
        X = send_rows(self, X, reset=False)
        if is_elsewhere(X):
            return map_new_chunks(self, X, find_labels, *pack(self._data.ground, self._fitted), dtype=np.int32)
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
        X = send_rows(self, X, reset=False)
        if is_elsewhere(X):
            shared = pack(self._data.ground, self._fitted)
            return map_new_chunks(self, X, predict_chunk, *shared, dtype=np.float32, width=self._fitted.k)
        X = checked_data(self, X, reset=False)
        ground = self._data.ground
        with one_blas_thread(), self._limit_threads():
            rows = ground.project(X)
            return predict(ground, rows, ground.locate(rows), self._fitted)

    def _get_saved_state(self) -> Attributes:
        """Everything but what only `update` needs; the ground keeps the rows that are references."""
        data = self._data._replace(rows=self._data.rows[:0], weight=None, starts={}, elsewhere=None)
        return vars(self) | {"_data": data, "_signature": self._sign()}

    def _limit_threads(self) -> AbstractContextManager[None]:
        return nullcontext() if self.n_jobs is None else threads(self.n_jobs)

    def _check_demands(self, known: Clues) -> None:
        """Raise if no clustering can keep what has to hold, before any work."""
        if self.hard and known.partitions:
            raise ClueError("hard=True cannot keep partitions; pass them as labels or together groups, or hard=False.")
        told = self._read_count(known)
        if told is not None:
            class_clusters(known, told)
        demands = self._select_demands(known)
        if demands.kinds:
            given = demands if told is not None else demands.only(demands.kinds - {"sizes"})
            given.require(told or known.n)

    def _read_count(self, known: Clues) -> int | None:
        """The number of clusters, if it is given."""
        if self.n_clusters != "classes":
            return self.n_clusters
        count = len(np.unique(known.labels[known.labels >= 0]))
        if not count:
            raise ClueError('n_clusters="classes" needs labels, but no row has one; pass a number, or None to find it.')
        return count

    def _select_demands(self, known: Clues) -> Clues:
        return known if self.hard else select_demands(known)

    # --- one fit ------------------------------------------------------------------------------------------------

    def _learn(self, data: Data, known: Clues, before: Fitted | None, deadline: Deadline, given: Any = None) -> None:
        """Fit, from a given start or by what was chosen before where that still holds, and publish."""
        demands = self._select_demands(known)
        k, counted_for = self._find_count(data, known, demands, before, deadline)
        evidence = gather(known, k, data.ground.grain)
        if self.hard:
            evidence = evidence._replace(demanded=np.ones(len(evidence.ends), dtype=bool))
        if given is not None:
            fitted = fit_from(data, evidence, k, _check_start(given, known.n, k))
        elif before is not None and before.k == k and _still_holds(before, evidence):
            fitted = fit_again(data, evidence, known, before, self._recall_rows(data, before)[0])
        else:
            fitted = fit_anew(data, evidence, k, deadline, self.hard)
        fitted = fitted._replace(counted_for=counted_for)
        found = self._describe(data, known, demands, evidence, fitted)
        found["cluster_ids_"], fresh = self._name(found["labels_"], known, k, data, before)
        if data.elsewhere is not None:
            found |= spread_results(data.elsewhere, data.ground, fitted, found)
        # At once: Ctrl-C leaves all results or none.
        self.__dict__.update(found, _data=data, _fitted=fitted, _next_id=fresh)
        if found["n_clusters_"] < k:
            warnings.warn(f"only {found['n_clusters_']} of {k} clusters have rows.", ConvergenceWarning, stacklevel=4)

    def _describe(self, data: Data, known: Clues, demands: Clues, evidence: Evidence, fitted: Fitted) -> Attributes:
        """Everything that a user may ask about a fit."""
        k, right = fitted.k, fitted.right
        likely, margin = _read(data, fitted)
        labels = likely
        if demands.kinds:
            P = predict(data.ground, data.rows, data.ground.place, fitted)
            labels = _settle(P, demands, k, data.weight)
        moved = np.flatnonzero(labels != likely)
        if len(moved):
            margin[moved] = P[moved, labels[moved]] - P[moved].max(axis=1)
        doubt = doubt_links(known, right[: len(known.must) + len(known.cannot)])
        label_doubt = doubt_labels(right[len(evidence.ends) :], k)
        if self.hard:
            doubt, label_doubt = np.zeros(len(doubt)), np.zeros(len(label_doubt))
        by_row = np.full(known.n, np.nan, dtype=np.float32)
        by_row[evidence.labeled] = label_doubt
        classes = class_clusters(known, k)
        return {
            "labels_": labels,
            "n_clusters_": sum(bool((labels == j).any()) for j in range(k)),
            "margin_": margin,
            "clues_": known,
            "doubt_": doubt,
            "label_doubt_": by_row,
            "trust_": rate_sources(known, doubt, right, label_doubt),
            "choice_": fitted.choice,
            "harm_": _estimate_harm(fitted.choice) if not len(moved) else np.nan,  # the result was not compared
            "broken_": broken(labels, known, clusters_of_classes=classes, n_clusters=k, sample_weight=data.weight),
        }

    def _name(self, labels: Ints, known: Clues, k: int, data: Data, before: Fitted | None) -> tuple[Ints, int]:
        """Ids of the clusters, and the first one that was never used."""
        if before is None:
            return np.arange(k), k
        earlier = self._recall_rows(data, before)[1]
        old, new = list_classes(self.clues_, before.k), list_classes(known, k)
        named = {new[name]: old[name] for name in new.keys() & old.keys()}
        return follow(labels, earlier, self.cluster_ids_, k, self._next_id, named)

    def _find_count(
        self, data: Data, known: Clues, demands: Clues, before: Fitted | None, deadline: Deadline
    ) -> tuple[int, int]:
        """The number of clusters, and how many rows had clues when it was found; 0 if it is given, perhaps by sizes."""
        told = self._read_count(known)
        if told is not None:
            return told, 0
        if known.sizes is not None and known.sizes.ndim == 2:
            return len(known.sizes), 0
        mass = _sum_sizes(known, data.weight)
        least, most = count_at_least(known, demands, mass), count_at_most(known, mass)
        apart = max(least, min(count_apart(known), most))  # sizes hold, other clues may be broken
        if not known.contradictions:
            least = apart  # all clues may be right
        tied = len(known.tied)
        if before is not None and least <= before.k <= most and _is_near(tied, before.counted_for):
            return before.k, before.counted_for
        return self._count_anew(data, known, (least, most), apart, deadline), tied

    def _count_anew(self, data: Data, known: Clues, bounds: tuple[int, int], apart: int, deadline: Deadline) -> int:
        """The number of clusters, within bounds, that predicts held-out clues best."""
        ground, grain, (least, most) = data.ground, data.ground.grain, bounds
        evidence, _ = gather(known, least, grain).arrange(grain)
        most = min(ground.m, most, max(count_likely_most(known.n), 2 * apart))
        few = len(evidence.doubtful) < FEW  # too few to contradict each other
        likely = seen = count_by_gap(ground, apart if few else least)
        labeled = len(evidence.labeled) > evidence.total / 2 and apart > 1
        if labeled:  # mostly of all classes that there are
            likely = apart
        likely, seen = (max(least, min(most, number)) for number in (likely, seen))
        if few or most <= least:
            return likely
        folds = make_folds(evidence, np.random.default_rng(data.seed))
        half = deadline.halve()  # the rest is for the choice
        if not folds or not half.leaves():
            return likely
        compare = compare_counts(data, evidence, folds, likely)

        def score(k: int) -> float | None:
            return compare(k) if half.leaves() else None

        found = choose_count(score, max(least, 2), most, likely, apart, seen if labeled else None)
        if found == most < known.n:
            warnings.warn(
                f"{found} clusters are the most that are tried; pass n_clusters if there may be more.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return found


def _read(data: Data, fitted: Fitted) -> tuple[Ints, Floats]:
    """The most probable cluster of each row, and its margin."""
    n, place = len(data.rows), data.ground.place
    labels, margin = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32)

    def use(block: slice, P: Floats) -> None:
        labels[block], margin[block] = P.argmax(axis=1), find_margin(P)

    data.ground.predict(data.rows, place, find_scores(data.ground, fitted), use)
    return labels, margin


def _refuse_avoid(clues: Clues) -> Clues:
    if clues.avoid:
        raise ClueError(
            "Cluewise does not avoid known clusterings; use a method that does, such as CondEns: "
            "`cluewise list --accepts avoid` shows them."
        )
    return clues


def _check_start(given: Any, n: int, k: int) -> Ints:
    start = np.asarray(given)
    if start.shape != (n,) or start.dtype.kind not in "iu":
        raise ValueError(f"start must have an integer for each of the {n} rows.")
    outside = np.flatnonzero((start < 0) | (start >= k))
    if len(outside):
        raise ValueError(f"start puts row {outside[0]} into cluster {start[outside[0]]}; clusters are 0 to {k - 1}.")
    return start.astype(np.int64, copy=False)


def _sum_sizes(known: Clues, weight: Floats | None) -> float:
    """The sum of what sizes count: rows, or their weights."""
    return known.n if weight is None or known.size_unit == "points" else float(weight.sum(dtype=np.float64))


def _still_holds(before: Fitted, evidence: Evidence) -> bool:
    """Whether what was chosen before is good for this evidence: what must hold was not held out to choose anything."""
    return _is_near(evidence.total, before.chosen_for) and _is_near(len(evidence.doubtful), before.compared_by)


def _is_near(count: int, before: int) -> bool:
    return before / GROWTH < count < GROWTH * before


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
    """How often a result with this gain was worse than the clustering without clues, on development sets."""
    if choice.is_plain:
        return 0.0
    if not choice.held:
        return np.nan
    total = max(choice.gain * choice.held, 0.0)
    return float(expit(HARM[0] - HARM[1] * np.log1p(total)))
