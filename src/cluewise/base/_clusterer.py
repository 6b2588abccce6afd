"""What all estimators that accept clues share, and the `fit` of the clusterers that run from several starts."""

from __future__ import annotations

import warnings
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from cluewise._docs import documented
from cluewise._elsewhere import is_elsewhere
from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._squares import largest
from cluewise._typing import Array, Floats, Ints
from cluewise.base._card import Card
from cluewise.base._input import (
    as_clues,
    checked_chunks,
    checked_data,
    checked_weight,
    class_clusters,
    depth_of_user,
    generator,
    warn_of_ignored,
)
from cluewise.clues import Clues
from cluewise.core import centers, loop
from cluewise.core.crowd import split_rows
from cluewise.core.loop import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.exceptions import ClueError, SoftClueWarning, Undecided, UnusedClueWarning
from cluewise.metrics import broken

__all__ = ["Attributes", "Clusterer", "ClueEstimator", "FitPredictMixin", "Problem"]

Attributes = dict[str, Any]
"""What a fit publishes: attributes, whose names end in an underscore, and their values."""

HEAVIEST = 1e12
"""Largest weight of a soft clue: squared distances added to it still keep a few digits."""

ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_")


class ClueEstimator(BaseEstimator):
    """Base of all estimators that accept clues; a subclass has a ``card``, and its ``fit`` begins with these checks."""

    card: ClassVar[Card]
    n_features_in_: int
    feature_names_in_: Array
    __metadata_request__fit = {"clues": True}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        documented(cls)

    def set_callbacks(self, *callbacks: Any) -> Self:
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
        # scikit-learn 1.9 knows this name: its `clone` keeps the callbacks.
        self._skl_callbacks = list(callbacks)
        return self

    def _reset(self, y: Any, clues: Any) -> None:
        """Warn about ``y``, and drop the results of an earlier fit: a failed fit must not leave a mixture of both."""
        for name in self._results():
            delattr(self, name)
        # Not the clues themselves, which may be large: `cluewise.stability` asks for them if there were any.
        self._had_clues = bool(clues.kinds) if isinstance(clues, Clues) else clues is not None
        card = getattr(self, "card", None)  # a search among methods has none
        if clues is None:
            warn_of_ignored(y, type(self).__name__, labels=card is None or "labels" in card.accepts)

    def _write(self, attributes: Attributes) -> None:
        """Publish the results of a fit."""
        for name, value in attributes.items():
            setattr(self, name, value)

    def _results(self) -> list[str]:
        """Names of what a fit has published."""
        return [name for name in vars(self) if name.endswith("_") and name not in ABOUT_COLUMNS and name[0] != "_"]

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are results; the number of columns, which a failed fit leaves, is not one."""
        return bool(self._results())

    def _check_clues(self, clues: Any, n: int) -> Clues:
        """Keep the clues of the kinds that this method uses; warn about the others."""
        known = as_clues(clues, n)
        unused = sorted(known.kinds - self.card.accepts)
        if unused:
            warnings.warn(
                f"{type(self).__name__} does not use clues of the kind {', '.join(unused)}; they are ignored.",
                UnusedClueWarning,
                stacklevel=4,
            )
            known = known.only(known.kinds & self.card.accepts)
        self._check_weights(known)
        return known

    def _check_weights(self, known: Clues) -> None:
        """Warn if weights that differ are ignored; refuse infinite weights if no clue can be hard."""
        weights = np.concatenate(
            [known.must_weight, known.cannot_weight, *(g.weights for g in (*known.together, *known.apart))]
        )
        if self.card.hard:
            if len(np.unique(weights)) > 1:
                warnings.warn(
                    f"{type(self).__name__} takes every clue as hard; the weights, which differ, are ignored.",
                    SoftClueWarning,
                    stacklevel=5,
                )
            return
        if np.isinf(weights).any() and not self.card.mixes:
            raise ClueError(
                f"{type(self).__name__} cannot mix hard and soft clues: a weight is infinite. "
                "Give it a finite weight, or use a method whose card says hard or mixes."
            )
        heaviest = largest(weights[np.isfinite(weights)])
        if heaviest > HEAVIEST:
            raise ClueError(
                f"a clue has weight {heaviest:.3g}; distances are lost in rounding next to weights above {HEAVIEST:g}. "
                "Scale all weights down, or use a method whose card says hard."
            )

    def _warn_unless_converged(self, result: loop.Result[Any], progress: Progress) -> None:
        """Warn if ``max_iter`` has ended the run that is published; a callback that ends it needs no warning."""
        most = progress.max_iter
        if not (result.converged or progress.stopped) and len(result.trace) >= most:
            warnings.warn(
                f"{progress.name} has not converged in max_iter={most} iterations; increase max_iter.",
                ConvergenceWarning,
                stacklevel=depth_of_user(),
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.card.sparse
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Problem(NamedTuple):
    """What a method has to solve, checked once by `Clusterer.fit`."""

    rows: Rows
    clues: Clues
    k: int
    total: float  # scatter of the rows around the shift
    limits: loop.Limits  # when to stop, and which callbacks to inform
    rng: np.random.Generator
    start: int = 0  # number of this start
    shared: Any = None  # what `_prepare` made for all starts
    first: Any = None  # final state of the first start
    every: Clues | None = None  # clues about all rows, if only those with clues are in memory


@documented
class FitPredictMixin(ClusterMixin):
    """What makes an estimator a clusterer: scikit-learn's mixin, except that ``y`` reaches ``fit``."""

    def fit_predict(self: Any, X: Any, y: Any = None, **kwargs: Any) -> Ints:
        """Cluster the rows of X and return their labels.

        Parameters
        ----------
        X : array-like
            The data, as for ``fit``.
        {y}
        **kwargs : dict
            Arguments of ``fit``, such as ``clues``.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row.
        """
        # Unlike scikit-learn's, this passes y on: `fit` warns if it looks like partial labels.
        return self.fit(X, y, **kwargs).labels_


class Clusterer(FitPredictMixin, ClueEstimator):
    """Base of all clusterers.

    An iterative method has a ``card`` and implements ``_solve(problem)``, which runs one start. It may prepare what all
    starts share (``_prepare``) and improve the best start (``_finish``). It extends ``_state_attributes`` (the results
    that an interrupted fit publishes, too) and ``_attributes`` (all results); only `fit` writes them. A method that
    does not iterate has a ``fit`` of its own, which begins with the checks of `ClueEstimator`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [str, callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    _drawn_start: ClassVar[str] = ""  # "random" if there is no parameter ``init`` and starts are drawn at random

    n_clusters: Any
    init: Any
    n_init: int | str
    max_iter: int
    tol: float
    random_state: Any
    labels_: Ints
    n_clusters_: int
    n_iter_: int
    trace_: Floats
    objective_: float
    broken_: Clues

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
        self._reset(y, clues)
        in_chunks = self.card.chunks and is_elsewhere(X)
        if in_chunks:
            X = checked_chunks(self, X, sample_weight=sample_weight)
        else:
            X = checked_data(self, X, reset=True, sparse=self.card.sparse)
        n = X.shape[0]
        self._check_count(n)
        known = self._check_clues(clues, n)
        weight = None
        if sample_weight is not None and not in_chunks:
            weight = checked_weight(sample_weight, X).astype(X.dtype, copy=False)
        rng = generator(self.random_state)
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, self._wanted_starts, self.max_iter) as progress:
            rows = split_rows(X, known.tied) if in_chunks else rows_of(X, weight)
            total = centers.scatter(rows)
            limits = loop.Limits(self.max_iter, getattr(self, "tol", 0.0), progress, self._find_drift(rows, total))
            problem = Problem(rows, known, self.n_clusters, total, limits, rng)
            if in_chunks:
                problem = problem._replace(clues=known[known.tied], every=known)
            try:
                problem = problem._replace(shared=self._prepare(problem))
                best = self._finish(problem, self._best_start(problem, progress))
                best = self._settle(problem, best)
            except KeyboardInterrupt:
                if progress.last is not None:
                    last = self._settle(problem, loop.Result(*progress.last, False), stopping=True)
                    self._write(self._state_attributes(problem, last.state, last.trace))
                raise
            results = self._attributes(problem, best)
            self._write(results)
            self._warn_unless_converged(best, progress)
            if not self.card.finds:
                self._warn_of_empty_clusters(results["n_clusters_"])
        return self

    def _check_count(self, n: int) -> None:
        """Refuse more clusters than rows."""
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={n}.")

    def _best_start(self, problem: Problem, progress: Progress) -> loop.Result[Any]:
        """Run all starts and keep the lowest objective; fail only if every start runs out of time."""
        best: loop.Result[Any] | None = None
        undecided: Undecided | None = None
        for number, rng in enumerate(problem.rng.spawn(self._n_starts(problem))):
            progress.begin_start(number)
            try:
                result = self._solve(problem._replace(rng=rng, start=number))
                if problem.first is None:
                    problem = problem._replace(first=result.state)
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

    def _finish(self, problem: Problem, best: loop.Result[Any]) -> loop.Result[Any]:
        """Improve the best start further, where a method can."""
        return best

    def _settle(self, problem: Problem, best: loop.Result[Any], *, stopping: bool = False) -> loop.Result[Any]:
        """Assign rows without clues once more, as `predict` does, because centers have moved since the last time.

        When the user is ``stopping`` the fit, no pass is made over rows that are not in memory.
        """
        return best

    def _find_drift(self, rows: Rows, total: float) -> float | None:
        """How far centers may move in the last iteration, by ``tol`` as in scikit-learn's k-means, for its variants."""
        if self.card.plain != "k-means" or not hasattr(self, "tol"):
            return None
        return self.tol * centers.mean_variance(rows, total) if self.tol else 0.0

    def _prepare(self, problem: Problem) -> Any:
        """Compute what all starts share, such as a view of the clues."""
        return None

    def _n_starts(self, problem: Problem) -> int:
        """``n_init``, or 1 when all starts would be the same."""
        order = getattr(self, "order", "index")
        drawn = isinstance(self.init, str) or callable(self.init) or (isinstance(order, str) and order == "random")
        if drawn:
            return self._wanted_starts
        default = signature(type(self)).parameters.get("n_init")
        if default is not None and self.n_init not in ("auto", 1, default.default):  # somebody asked for several
            warnings.warn(
                f"init holds centers, so {type(self).__name__} makes one start instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=depth_of_user(),
            )
        return 1

    @property
    def _wanted_starts(self) -> int:
        """``n_init``; as in scikit-learn, "auto" means many starts if they are drawn at random."""
        if not isinstance(self.n_init, str):
            return self.n_init
        init = getattr(self, "init", self._drawn_start)
        return 10 if callable(init) or (isinstance(init, str) and init in ("random", "perturbed")) else 1

    def _solve(self, problem: Problem) -> loop.Result[Any]:
        """Run one start."""
        raise TypeError(f"{type(self).__name__} does not implement _solve.")

    def _state_attributes(self, problem: Problem, state: Any, trace: list[float]) -> Attributes:
        """Results that an interrupted fit publishes, too."""
        crowd, labels = problem.rows.crowd, state.labels
        if crowd is not None:
            crowd.placed = state.placed
        return {
            "labels_": labels if crowd is None else crowd.spread_labels(labels),
            "n_clusters_": int(np.count_nonzero(np.bincount(labels)))
            if crowd is None
            else crowd.count_clusters(labels),
            "n_iter_": len(trace),
            "trace_": np.array(trace),
            "objective_": trace[-1],
        }

    def _attributes(self, problem: Problem, result: loop.Result[Any]) -> Attributes:
        """All results of a complete fit."""
        found = self._state_attributes(problem, result.state, result.trace)
        labels, clues, k = found["labels_"], problem.clues, self.n_clusters
        if problem.rows.crowd is not None and problem.every is not None:
            labels, clues = problem.rows.crowd.fill_up(result.state.labels), problem.every
        found["broken_"] = broken(
            labels,
            clues,
            clusters_of_classes=class_clusters(clues, k) if self.card.named else None,
            n_clusters=None if self.card.finds else k,
            sample_weight=problem.rows.weight if problem.rows.crowd is None else None,  # no bounds on sizes in chunks
        )
        return found

    def _warn_of_empty_clusters(self, found: int) -> None:
        if found < self.n_clusters:
            warnings.warn(
                f"only {found} of {self.n_clusters} clusters have rows; X may have fewer distinct rows than that.",
                ConvergenceWarning,
                stacklevel=4,
            )
