"""Laws about data: the plain method without clues, and changes of the data that change the result in a known way."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from cluewise._typing import Floats
from cluewise.checks._examples import placed
from cluewise.checks._fits import accepted, changed, fit, given_start, same
from cluewise.clues import Clues

__all__ = [
    "law_moved_and_scaled_rows",
    "law_no_clues_is_kmeans",
    "law_permuted_rows",
    "law_rotated_rows",
    "law_sparse_is_dense",
    "law_weights_are_repetitions",
]

Rng = np.random.Generator


def law_no_clues_is_kmeans(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Without clues the result is that of scikit-learn's k-means from the same start."""
    model = given_start(estimator, X, rng, max_iter=1000)
    plain = KMeans(model.n_clusters, init=model.init, n_init=1, tol=0, max_iter=1000, algorithm="lloyd").fit(X)
    for nothing in (None, Clues(len(X)), np.full(len(X), -1)):
        same(plain, fit(changed(model), X, nothing), f"clues={nothing!r} instead of k-means")


def law_permuted_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """From one start, permuting the rows permutes the labels."""
    known = accepted(estimator, clues)
    rows, order = rng.permutation(len(X)), rng.permutation(len(X))
    model = given_start(estimator, X, rng, order=order)
    new_place = np.argsort(rows)
    before = fit(model, X, known)
    after = fit(changed(model, order=new_place[order]), X[rows], known[rows])
    same(before, after, "permuting the rows", rows=rows)


def law_moved_and_scaled_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """X → aX + b, with penalties rescaled to match, changes no label."""
    invariant = estimator.card.invariant
    scale = float(rng.choice([1e-3, 0.3, 40.0])) if "scale" in invariant else 1.0
    shift = scale * rng.uniform(-20, 20, size=X.shape[1]) if "shift" in invariant else np.zeros(X.shape[1])
    model = given_start(estimator, X, rng)
    moved = changed(model, init=scale * model.init + shift) if hasattr(model, "init") else changed(model)
    if isinstance(getattr(model, "penalty", None), Real):
        moved.set_params(penalty=model.penalty * scale**2)
    _same_labels(model, moved, X, scale * X + shift, accepted(estimator, clues), "moving and scaling the rows")


def law_rotated_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Rotating the rows changes no label."""
    rotation = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    model = given_start(estimator, X, rng)
    turned = changed(model, init=model.init @ rotation) if hasattr(model, "init") else changed(model)
    _same_labels(model, turned, X, X @ rotation, accepted(estimator, clues), "rotating the rows")


def _same_labels(model: Any, other: Any, X: Floats, new: Floats, clues: Clues, what: str) -> None:
    before, after = fit(model, X, clues), fit(other, new, clues)
    differ = np.flatnonzero(before.labels_ != after.labels_)
    assert not len(differ), f"{what} changed {len(differ)} labels, the first in row {differ[0]}."


def law_weights_are_repetitions(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A row of weight m is m equal rows, a row of weight 0 none at all (rows with clues keep weight 1)."""
    known = accepted(estimator, clues).only(clues.kinds - {"sizes"})  # bounds on sizes count rows
    k = getattr(estimator, "n_clusters", 1)
    if len(known.free) < k:
        known = Clues(len(X))
    # One iteration from close to rows that go where they are nearest, so that no cluster is empty: which row is moved
    # into an empty cluster is the one thing that does depend on how often it is listed.
    starts = rng.choice(known.free, size=k, replace=False)
    weight = rng.integers(0, 4, size=len(X))
    weight[known.tied] = 1
    weight[starts] = 1
    rows = np.repeat(np.arange(len(X)), weight)
    kept, first = np.unique(rows, return_index=True)
    order = rng.permutation(len(X))
    model = given_start(estimator, X[starts], rng, order=order, max_iter=1)
    weighted = fit(model, X, known, sample_weight=weight.astype(float))
    place = np.argsort(order)
    again = changed(model, order=np.argsort(place[rows], kind="stable"))
    # A clue stands at the first of equal rows, but a clustering to avoid speaks of all of them.
    told = placed(known[kept].only(known.kinds - {"avoid"}), first, len(rows))
    repeated = fit(again, X[rows], told | Clues(len(rows), avoid=[column[rows] for column in known.avoid]))
    same(weighted, repeated, "repeating rows instead of weighting them", rows=rows)
    a, b = weighted.objective_, repeated.objective_
    assert np.isclose(a, b), f"the objective is {a} with weights and {b} with repeated rows."


def law_sparse_is_dense(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A sparse matrix gives what the same dense matrix gives."""
    from scipy.sparse import csc_array, csr_array, csr_matrix

    known = accepted(estimator, clues)
    model = given_start(estimator, X, rng)
    holes = np.where(rng.random(X.shape) < 0.2, 0.0, X)
    dense = fit(model, holes, known)
    for kind in (csr_array, csr_matrix, csc_array):
        sparse = fit(changed(model), kind(holes), known)
        same(dense, sparse, f"{kind.__name__}")
        if estimator.card.predicts:
            assert (sparse.predict(kind(X)) == dense.predict(X)).all(), f"predict differs for {kind.__name__}."
