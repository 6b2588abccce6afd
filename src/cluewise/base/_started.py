"""The gate of the methods that run from several starts: checked data, clues and weights, and the best start."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval, fit_context
from cluewise._squares import largest, require_squares
from cluewise._typing import Floats
from cluewise.base._clusterer import Clusterer
from cluewise.base._given import checked_data, checked_weight, class_clusters, generator
from cluewise.clues import Clues
from cluewise.core import centers, loop
from cluewise.core.progress import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.exceptions import Undecided
from cluewise.metrics import broken

__all__ = ["Problem", "StartedClusterer"]


class Problem(NamedTuple):
    """What a method is given to solve: checked, once, by `StartedClusterer.fit`."""

    rows: Rows
    clues: Clues
    k: int
    total: float  # scatter of the rows around the shift
    watch: loop.Watch
    rng: np.random.Generator
    start: int = 0  # number of this start
    shared: Any = None  # what `_prepare` made once for all starts


class StartedClusterer(Clusterer):
    """Base of the methods that improve a start step by step, from several starts.

    A subclass has a ``card`` and implements ``_solve(problem)``; it extends ``_publish_state`` (what an interrupted fit
    leaves) and ``_publish`` (all results). ``_init_names`` lists the starts it knows by name.
    """

    _init_names: ClassVar[tuple[str, ...]] = ("k-means++", "random")
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

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
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
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=self.card.sparse)
        n = X.shape[0]
        self._check_count(n)
        known = self._check_clues(clues, n)
        weight = None if sample_weight is None else checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        rng = generator(self.random_state)
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, self.n_init, self.max_iter) as progress:
            rows = rows_of(X, weight)
            try:
                problem = Problem(rows, known, self.n_clusters, centers.scatter(rows), progress, rng)
                best = self._best_start(problem, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._publish_state(rows, *progress.last)
                raise
            self._publish(rows, known, best)
            if not self.card.finds:
                self._warn_of_empty_clusters()
        return self

    def _check_count(self, n: int) -> None:
        """Refuse more clusters than rows."""
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={n}.")

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[Any]:
        """The start with the lowest objective; one that reaches its time limit counts only if all others do."""
        problem = problem._replace(shared=self._prepare(problem))
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

    def _prepare(self, problem: Problem) -> Any:
        """What all starts have in common, such as clues in the form that the steps want."""
        return None

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
        slack = self._slack(problem) if self.card.descends else None
        return loop.run(move, state, max_iter=self.max_iter, tol=self.tol, watch=problem.watch, slack=slack)

    def _slack(self, problem: Problem) -> float:
        """How far rounding may raise the objective."""
        raise TypeError(f"{type(self).__name__} descends, but does not say how far rounding may raise its objective.")

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
        require_squares(largest(chosen), rows.dtype, "init", small=False)
        return chosen - rows.shift

    def _publish_state(self, rows: Rows, state: Any, trace: list[float]) -> None:
        """Results that an interrupted fit leaves as well."""
        self.labels_ = state.labels
        self.n_clusters_ = int(np.count_nonzero(np.bincount(state.labels)))
        self.n_iter_ = len(trace)
        self.trace_ = np.array(trace)
        self.objective_ = trace[-1]

    def _publish(self, rows: Rows, clues: Clues, result: loop.Result[Any]) -> None:
        """All results of a complete fit."""
        self._publish_state(rows, result.state, result.trace)
        self.broken_ = broken(
            self.labels_,
            clues,
            clusters_of_classes=class_clusters(clues, self.n_clusters) if self.card.named else None,
            n_clusters=None if self.card.finds else self.n_clusters,
            sample_weight=rows.weight,
        )

    def _warn_of_empty_clusters(self) -> None:
        if self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"only {self.n_clusters_} of {self.n_clusters} clusters have rows; "
                "are there fewer distinct rows than clusters?",
                ConvergenceWarning,
                stacklevel=4,
            )
