"""Base of the spectral methods: an affinity, an embedding of its rows, and k-means there."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Floats
from cluewise.base import Attributes, Clusterer, Problem, checked_data, depth_of_user, generator
from cluewise.clues import Clues
from cluewise.core import centers, lloyd, loop, seeding
from cluewise.core.assign import no_labels
from cluewise.core.graphs.affinity import dense_affinity, given_affinity, neighbor_affinity
from cluewise.core.graphs.laplacian import find_pieces, leading
from cluewise.core.lloyd import State
from cluewise.core.loop import Progress
from cluewise.core.rows import Rows, rows_of
from cluewise.core.threads import one_blas_thread

__all__ = ["Embedding", "SpectralClusterer", "embed"]


class Embedding(NamedTuple):
    """The rows of an affinity as points."""

    points: Floats
    attributes: Attributes  # of the fitted estimator
    operator: Any = None  # whose eigenvectors the points are, if the result is evaluated with it


class SpectralClusterer(Clusterer):
    """Base of the methods that embed the rows of a graph and run k-means there; a subclass implements ``_embed``."""

    _parameter_constraints = {
        name: rule for name, rule in Clusterer._parameter_constraints.items() if name != "init"
    } | {
        "affinity": [StrOptions({"local", "nearest_neighbors", "rbf", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
    }

    affinity: str
    n_neighbors: int
    gamma: float | None
    embedding_: Floats

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Cluster the rows of X with what is known about them.

        Parameters
        ----------
        X : array-like of shape (n, d), or {array-like, sparse matrix} of shape (n, n)
            The data, or with ``affinity="precomputed"`` the affinity of all pairs of rows.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=self.affinity == "precomputed")
        self._check_count(X.shape[0])
        known = self._check_clues(clues, X.shape[0])
        rng = generator(self.random_state)
        callbacks = getattr(self, "_skl_callbacks", ())
        with one_blas_thread(), Progress(self, callbacks, self._wanted_starts, self.max_iter) as progress:
            embedding = self._embed(self._affinity_of(X), known)
            rows = rows_of(embedding.points)
            limits = loop.Limits(self.max_iter, self.tol, progress)
            problem = Problem(rows, known, self.n_clusters, centers.scatter(rows), limits, rng, shared=embedding)
            try:
                best = self._best_start(problem, progress)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(self._state_attributes(problem, *progress.last))
                raise
            results = self._attributes(problem, best)
            self._write(results)
            self._warn_unless_converged(best, progress)
            self._warn_of_empty_clusters(results["n_clusters_"])
        return self

    @abstractmethod
    def _embed(self, affinity: Any, clues: Clues) -> Embedding:
        """The rows of an affinity as points."""

    def _affinity_of(self, X: Any) -> Any:
        if self.affinity == "precomputed":
            given = given_affinity(X)
            count, _ = find_pieces(given)
            if count > 1:  # as scikit-learn warns; graphs that are made here are connected
                warnings.warn(
                    f"the graph is not fully connected but in {count} pieces, so the clusters may be pieces.",
                    stacklevel=depth_of_user(),
                )
            return given
        if self.affinity == "rbf":
            return dense_affinity(X, self.gamma)
        return neighbor_affinity(X, self.n_neighbors, "local" if self.affinity == "local" else "equal")

    def _n_starts(self, problem: Problem) -> int:
        return self._wanted_starts

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, k = problem.rows, problem.k
        if problem.start == 0:  # deterministic, so that a single start does not depend on the order of the rows
            first = _farthest_first(rows, k)
        else:
            first = seeding.plus_plus(rows, np.empty((0, rows.d)), k, problem.rng)

        def step(state: State) -> tuple[State, loop.Info]:
            return lloyd.step(state, rows=rows, total=problem.total)

        start = State(no_labels(rows.n), first)
        return loop.run(step, start, problem.limits, centers.rounding(rows, problem.total))

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        embedding: Embedding = problem.shared
        found = super()._state_attributes(problem, _sort_by_size(problem.rows, state), trace)
        return found | embedding.attributes | {"embedding_": embedding.points}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = given
        return tags


def embed(affinity: Any, k: int) -> Floats:
    """The embedding of ordinary spectral clustering, D^−½ V, scaled so that the constant first column is 1."""
    found = leading(affinity, k)
    return found.vectors * np.sqrt(found.degrees.sum() / found.degrees)[:, None]


def _farthest_first(rows: Rows, k: int) -> Floats:
    """Rows as centers: the farthest from the mean, then each the farthest from the previous ones."""
    x = rows.dense(slice(0, rows.n))
    chosen = np.empty((k, rows.d))
    closest = ((x - x.mean(axis=0)) ** 2).sum(axis=1)
    for h in range(k):
        chosen[h] = x[np.argmax(closest)]
        squared = ((x - chosen[h]) ** 2).sum(axis=1)
        closest = squared if h == 0 else np.minimum(closest, squared)
    return chosen


def _sort_by_size(rows: Rows, state: State) -> State:
    """Sort clusters by size, then by spread, so that their numbers do not depend on the order of the rows."""
    k = len(state.centers)
    size = np.bincount(state.labels, minlength=k)
    spread = np.bincount(state.labels, weights=rows.to_own(rows.dense(slice(0, rows.n)), state.centers, state.labels))
    order = np.lexsort([np.append(spread, np.zeros(k - len(spread))), -size])
    number = np.empty(k, dtype=np.int32)
    number[order] = np.arange(k, dtype=np.int32)
    return State(number[state.labels], state.centers[order])
