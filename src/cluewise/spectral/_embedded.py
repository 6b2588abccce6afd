"""The gate of the spectral methods: an affinity, an embedding of its rows, and k-means there."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Floats
from cluewise.base import Problem, StartedClusterer, checked_data, generator
from cluewise.clues import Clues
from cluewise.core import centers, lloyd, loop, seeding
from cluewise.core.assign import nobody
from cluewise.core.lloyd import State
from cluewise.core.progress import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread
from cluewise.spectral._affinity import dense_affinity, given_affinity, neighbor_affinity
from cluewise.spectral._laplacian import leading

__all__ = ["EmbeddedClusterer", "embedded"]


class EmbeddedClusterer(StartedClusterer):
    """Base of the methods that embed the rows of a graph and run k-means there; a subclass implements ``_embed``."""

    _parameter_constraints = {
        name: rule for name, rule in StartedClusterer._parameter_constraints.items() if name != "init"
    } | {
        "affinity": [StrOptions({"local", "nearest_neighbors", "rbf", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
    }

    affinity: str
    n_neighbors: int
    gamma: float | None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
        """Cluster the rows of X with what is known about them.

        Parameters
        ----------
        X : array-like of shape (n, d), or {array-like, sparse matrix} of shape (n, n)
            The data; with ``affinity="precomputed"`` the affinity of every two rows.
        y : ignored
            Present for scikit-learn's sake.
        clues : Clues or array-like of shape (n,), optional
            What is known; an array is taken as partial labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=self.affinity == "precomputed")
        self._check_count(X.shape[0])
        known = self._check_clues(clues, X.shape[0])
        rng = generator(self.random_state)
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, self.n_init, self.max_iter) as progress:
            embedding = self._embed(self._affinity_of(X), known)
            rows = rows_of(embedding)
            try:
                problem = Problem(rows, known, self.n_clusters, centers.scatter(rows), progress, rng)
                best = self._best_start(problem, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._publish_state(rows, *progress.last)
                raise
            self._publish(rows, known, best)
            self.embedding_ = embedding
            self._warn_of_empty_clusters()
        return self

    @abstractmethod
    def _embed(self, affinity: Any, clues: Clues) -> Floats:
        """The rows of an affinity as points."""

    def _affinity_of(self, X: Any) -> Any:
        if self.affinity == "precomputed":
            return given_affinity(X)
        if self.affinity == "rbf":
            return dense_affinity(X, self.gamma)
        return neighbor_affinity(X, self.n_neighbors, "local" if self.affinity == "local" else "equal")

    def _n_starts(self, problem: Problem) -> int:
        return self.n_init

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, k = problem.rows, problem.k
        if problem.start == 0:  # no chance here: the order of the rows is irrelevant for a single start
            first = _farthest_first(rows, k)
        else:
            first = seeding.plus_plus(rows, np.empty((0, rows.d)), k, problem.rng)

        def step(state: State) -> tuple[State, loop.Info]:
            return lloyd.step(state, rows=rows, total=problem.total)

        return self._run(step, State(nobody(rows.n), first), problem)

    def _slack(self, problem: Problem) -> float:
        return lloyd.rounding(problem.rows, problem.total)

    def _publish_state(self, rows: Rows, state: State, trace: list[float]) -> None:
        super()._publish_state(rows, _by_size(rows, state), trace)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = given
        return tags


def embedded(affinity: Any, k: int) -> Floats:
    """The rows of ordinary spectral clustering, D^−½ V; the first column, which is the same for all, is 1."""
    found = leading(affinity, k)
    return found.vectors * np.sqrt(found.degrees.sum() / found.degrees)[:, None]


def _farthest_first(rows: Rows, k: int) -> Floats:
    """Centers on rows, each the farthest from the mean or the ones before."""
    x = rows.dense(slice(0, rows.n))
    chosen = np.empty((k, rows.d))
    closest = ((x - x.mean(axis=0)) ** 2).sum(axis=1)
    for h in range(k):
        chosen[h] = x[np.argmax(closest)]
        squared = ((x - chosen[h]) ** 2).sum(axis=1)
        closest = squared if h == 0 else np.minimum(closest, squared)
    return chosen


def _by_size(rows: Rows, state: State) -> State:
    """The same clusters, the largest first; of equal ones the narrowest, so that no order of rows matters."""
    k = len(state.centers)
    size = np.bincount(state.labels, minlength=k)
    spread = np.bincount(state.labels, weights=rows.to_own(rows.dense(slice(0, rows.n)), state.centers, state.labels))
    order = np.lexsort([np.append(spread, np.zeros(k - len(spread))), -size])
    number = np.empty(k, dtype=np.int32)
    number[order] = np.arange(k, dtype=np.int32)
    return State(number[state.labels], state.centers[order])
