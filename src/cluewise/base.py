"""The gate between users and the core: cards, checked parameters, checked data, published results."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from cluewise._sklearn import Interval, check_sample_weight, fit_context
from cluewise._typing import UNASSIGNED, Floats, Ints
from cluewise.clues import Clues
from cluewise.core import assign, centers, lloyd, loop, objective, seeding
from cluewise.core.lloyd import State
from cluewise.core.progress import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import map_blocks, one_blas_thread
from cluewise.exceptions import ClueError, Infeasible, SoftClueWarning, Undecided, UnusedClueWarning
from cluewise.metrics import broken

__all__ = ["Card", "CentroidClusterer", "Problem", "as_clues", "class_clusters", "generator"]


@dataclass(frozen=True)
class Card:
    """What a method is, takes and promises; read by documentation, catalogue, command line and laws.

    Parameters
    ----------
    paper : str
        Key in ``references.bib``.
    title : str
        The method in a few words.
    accepts : frozenset of str
        Kinds of clues that the method uses.
    hard : bool
        Whether every clue that is accepted holds in the result.
    closes : bool
        Whether the method works on the closure: an entailed clue changes nothing.
    descends : bool
        Whether the objective never rises from one iteration to the next.
    invariant : frozenset of str
        Which of "shift", "scale" and "rotation" of X change no label.
    noise : bool
        Whether label -1 marks noise.
    predicts, sparse, weights : bool
        Whether there is ``predict``, sparse X is taken, ``sample_weight`` is honored.
    deterministic : bool
        Whether the result does not depend on ``random_state``.
    named : bool
        Whether label class c becomes cluster c.
    plain : str
        What the method is without clues: "k-means", or "" for a method of its own.
    means : bool
        Whether ``cluster_centers_`` are the means of the clusters.
    cost : str
        Time per iteration.
    equation : str
        The objective or the algorithm in the paper.
    aliases : tuple of str
        Other names of the method.

    Examples
    --------
    >>> from cluewise import COPKMeans
    >>> COPKMeans.card.hard, sorted(COPKMeans.card.accepts)
    (True, ['apart', 'cannot', 'labels', 'must', 'together'])
    """

    paper: str
    title: str
    accepts: frozenset[str]
    hard: bool = False
    closes: bool = False
    descends: bool = True
    invariant: frozenset[str] = frozenset({"shift", "scale", "rotation"})
    noise: bool = False
    predicts: bool = True
    sparse: bool = True
    weights: bool = True
    deterministic: bool = False
    named: bool = False
    plain: str = "k-means"
    means: bool = True
    cost: str = "O(nkd)"
    equation: str = ""
    aliases: tuple[str, ...] = ()


class Problem(NamedTuple):
    """What a method is given to solve: checked, once, by `CentroidClusterer.fit`."""

    rows: Rows
    clues: Clues
    k: int
    total: float  # scatter of the rows around the shift
    watch: loop.Watch
    rng: np.random.Generator
    start: int = 0  # number of this start


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Base of the methods that describe each cluster by a center.

    A subclass has a ``card`` and implements ``_solve(problem, start)``; ``_init_names`` lists its starts and
    ``_start(problem)`` makes the first centers.
    """

    card: ClassVar[Card]
    _init_names: ClassVar[tuple[str, ...]] = ("k-means++", "random")
    __metadata_request__fit = {"clues": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [str, callable, "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    n_clusters: int
    init: Any
    n_init: int
    max_iter: int
    tol: float
    random_state: Any

    def set_callbacks(self, *callbacks: Any) -> CentroidClusterer:
        """Let callbacks watch or stop the next fits.

        Parameters
        ----------
        *callbacks : objects
            Each with ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` (true = stop) and ``teardown``, all
            taking ``estimator`` and ``context``: the shape of scikit-learn 1.9's callbacks, which work as well.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from cluewise import PCKMeans
        >>> class Stop:
        ...     def setup(self, estimator, context): ...
        ...     def on_fit_task_begin(self, estimator, context): ...
        ...     def on_fit_task_end(self, estimator, context): return True
        ...     def teardown(self, estimator, context): ...
        >>> PCKMeans(2).set_callbacks(Stop()).fit([[0.0], [1.0], [9.0]]).n_iter_
        1
        """
        hooks = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")
        for callback in callbacks:
            missing = [hook for hook in hooks if not callable(getattr(callback, hook, None))]
            if missing or isinstance(callback, type):
                raise TypeError(f"{callback!r} is not a callback: it has no {', '.join(missing) or 'instance'}.")
        self._callbacks = callbacks
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> CentroidClusterer:
        """Cluster the rows of X with what is known about them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data.
        y : ignored
            Present for scikit-learn's sake.
        clues : Clues or array-like of shape (n,), optional
            What is known; an array is taken as partial labels.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False)
        n = X.shape[0]
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={n}.")
        known = self._check_clues(clues, n)
        weight = None
        if sample_weight is not None:
            weight = check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
            if not weight.any():
                raise ValueError("sample_weight is zero for every row.")
        rng = generator(self.random_state)
        callbacks = getattr(self, "_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, self.n_init, self.max_iter) as progress:
            rows = rows_of(X, weight)
            self._forget()
            try:
                problem = Problem(rows, known, self.n_clusters, centers.scatter(rows), progress, rng)
                best = self._best_start(problem, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._publish_state(rows, *progress.last)
                raise
            self._publish(rows, known, best)
        return self

    def _forget(self) -> None:
        """Drop the results of an earlier fit, so that an interrupted one never leaves a mixture of both."""
        about_columns = ("n_features_in_", "feature_names_in_")
        for name in [name for name in vars(self) if name.endswith("_") and name not in about_columns]:
            delattr(self, name)

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[Any]:
        """The start with the lowest objective; one that reaches its time limit counts only if all others do."""
        best: loop.Result[Any] | None = None
        undecided: Undecided | None = None
        for number, rng in enumerate(problem.rng.spawn(self._n_starts(problem))):
            progress.begin_start(number)
            try:
                result = self._solve(problem._replace(rng=rng, start=number))
                if best is None or result.trace[-1] < best.trace[-1]:
                    best = result
            except Undecided as error:
                undecided = error
            if progress.end_start():
                break
        if best is None:
            assert undecided is not None
            raise undecided
        return best

    def _n_starts(self, problem: Problem) -> int:
        """``n_init``, or 1 when all starts would be the same."""
        order = getattr(self, "order", "index")
        drawn = isinstance(self.init, str) or callable(self.init) or (isinstance(order, str) and order == "random")
        return self.n_init if drawn else 1

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        """One run from one start."""
        raise TypeError(f"{type(self).__name__} does not say how it solves a problem.")

    def _run(self, move: Any, state: Any, problem: Problem) -> loop.Result[Any]:
        """The loop with the parameters of this estimator."""
        slack = lloyd.rounding(problem.rows, problem.total) if self.card.descends else None
        return loop.run(move, state, max_iter=self.max_iter, tol=self.tol, watch=problem.watch, slack=slack)

    def _evaluate(self, rows: Rows, clues: Clues, state: State) -> float:
        """The objective of a state, by code of its own."""
        return objective.distortion(rows, state.centers, state.labels)

    def _check_clues(self, clues: Any, n: int) -> Clues:
        """Clues for n rows of the kinds that this method uses; the others are named in a warning."""
        known = as_clues(clues, n)
        unused = sorted(known.kinds - self.card.accepts)
        if unused:
            warnings.warn(
                f"{type(self).__name__} does not use clues of the kind {', '.join(unused)}; they are ignored.",
                UnusedClueWarning,
                stacklevel=4,
            )
            known = known.only(known.kinds & self.card.accepts)
        weights = np.concatenate(
            [known.must_weight, known.cannot_weight, *(g.weights for g in (*known.together, *known.apart))]
        )
        if self.card.hard:
            if len(np.unique(weights)) > 1:
                warnings.warn(
                    f"{type(self).__name__} takes every clue as hard; the weights, which differ, are ignored.",
                    SoftClueWarning,
                    stacklevel=4,
                )
        elif np.isinf(weights).any():
            raise ClueError(
                f"{type(self).__name__} cannot mix hard and soft clues: a weight is infinite. "
                "Give it a finite weight, or use a method whose card says hard."
            )
        return known

    def _centers_from_init(self, problem: Problem) -> Floats | None:
        """Centers that the user gave, relative to the shift; None when ``init`` is a name."""
        rows, k = problem.rows, problem.k
        if isinstance(self.init, str):
            if self.init not in self._init_names:
                raise ValueError(f"init={self.init!r} is not one of {', '.join(map(repr, self._init_names))}.")
            return None
        given = self.init
        if callable(given):
            seed = np.random.RandomState(problem.rng.integers(2**31))
            given = given(rows.X, k, random_state=seed)
        chosen = np.asarray(given, dtype=np.float64)
        if chosen.shape != (k, rows.d):
            raise ValueError(f"init needs shape (n_clusters, n_features) = ({k}, {rows.d}); it has {chosen.shape}.")
        if not np.isfinite(chosen).all():
            raise ValueError("init holds nan or infinity.")
        return chosen - rows.shift

    def _fill_centers(self, problem: Problem, given: Floats) -> Floats:
        """Add rows until there are k centers: random ones for ``init="random"``, else by k-means++."""
        rows, k = problem.rows, problem.k
        if self.init == "random":
            picked = problem.rng.choice(rows.n, size=k - len(given), replace=False)
            x = rows.take(np.sort(picked))
            return np.vstack([given, x if isinstance(x, np.ndarray) else x.toarray()])
        return seeding.plus_plus(rows, given, k, problem.rng)

    def _publish_state(self, rows: Rows, state: State, trace: list[float]) -> None:
        self.labels_ = state.labels
        self.cluster_centers_ = (state.centers + rows.shift).astype(rows.dtype)
        self.n_clusters_ = len(np.unique(state.labels))
        self.n_iter_ = len(trace)
        self.trace_ = np.array(trace)
        self.objective_ = trace[-1]
        self._n_features_out = len(state.centers)

    def _publish(self, rows: Rows, clues: Clues, result: loop.Result[State]) -> None:
        self._publish_state(rows, result.state, result.trace)
        self.objective_ = self._evaluate(rows, clues, result.state)
        self.margin_ = assign.lead(rows, result.state.centers, self.labels_)
        self.broken_ = broken(
            self.labels_,
            clues,
            clusters_of_classes=class_clusters(clues, self.n_clusters) if self.card.named else None,
            n_clusters=self.n_clusters,
            sample_weight=rows.weight,
        )
        if self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"only {self.n_clusters_} of {self.n_clusters} clusters have rows; "
                "are there fewer distinct rows than clusters?",
                ConvergenceWarning,
                stacklevel=4,
            )

    def predict(self, X: Any) -> Ints:
        """Cluster of the nearest center for new rows; clues play no part.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        labels : ndarray of shape (m,)
            Cluster of each row.
        """
        rows = self._new_rows(X)
        labels = assign.nobody(rows.n)
        with one_blas_thread():
            assign.nearest(rows, self.cluster_centers_.astype(np.float64) - rows.shift, labels)
        return labels

    def transform(self, X: Any) -> Floats:
        """Distance of each row to each center.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, d)
            New rows.

        Returns
        -------
        distances : ndarray of shape (m, n_clusters)
            Euclidean distances.
        """
        rows = self._new_rows(X)
        table = rows.table(self.cluster_centers_.astype(np.float64) - rows.shift)
        out = np.empty((rows.n, len(table.centers)), dtype=rows.dtype)

        def work(block: slice) -> None:
            out[block] = np.sqrt(rows.squared(rows.take(block), table)).T

        with one_blas_thread():
            for _ in map_blocks(work, rows.blocks(len(table.centers))):
                continue
        return out

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            accept_large_sparse=False,
        )
        return rows_of(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.card.sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn's users pass as ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    if random_state is None:
        # Follow scikit-learn: without a seed, numpy's global state decides.
        return np.random.default_rng(check_random_state(None).randint(2**31))
    return np.random.default_rng(random_state)


def as_clues(clues: Any, n: int) -> Clues:
    """Clues about n rows from `Clues`, partial labels or None; bare pairs are refused with a hint."""
    if clues is None:
        return Clues(n)
    if not isinstance(clues, Clues):
        shape = _shape(clues)
        if shape is None or len(shape) != 1:
            found = "lists of pairs" if shape is None else f"an array of shape {shape}"
            raise ClueError(
                f"clues is a Clues object or one partial label per row, not {found}; write "
                "clues=Clues.from_pairs(n, must, cannot) for pairs, so that they follow their rows."
            )
        clues = Clues.from_labels(clues)
    if clues.n != n:
        raise ClueError(f"the clues speak of {clues.n} rows, but X has {n}.")
    return clues


def _shape(given: Any) -> tuple[int, ...] | None:
    """Shape of an array, a frame or nested lists; None for lists of unequal length."""
    try:
        return tuple(given.shape) if hasattr(given, "shape") else np.shape(given)
    except ValueError:
        return None


def class_clusters(clues: Clues, k: int) -> Ints:
    """Cluster of each label class: whole numbers below k keep their number, others go by their order."""
    classes = list(clues.classes_)
    if all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) and 0 <= c < k for c in classes):
        return np.array(classes, dtype=np.int32)
    if len(classes) <= k:
        return np.arange(len(classes), dtype=np.int32)
    present = np.unique(clues.labels[clues.labels >= 0])  # a slice of the clues may have lost some classes
    if len(present) > k:
        raise Infeasible(f"the labels have {len(present)} classes, more than n_clusters={k}.", clues.only(["labels"]))
    clusters = np.full(len(classes), UNASSIGNED, dtype=np.int32)
    clusters[present] = np.arange(len(present))
    return clusters
