"""Laws about data: the plain method without clues, and changes of the data with a known effect."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cluewise._typing import Floats
from cluewise.checks._examples import move_clues
from cluewise.checks._fits import Rng, assert_same, copy_with, fit, fix_start, select_clues
from cluewise.clues import Clues

__all__ = [
    "law_clues_are_enough",
    "law_moved_and_scaled_rows",
    "law_no_clues_is_kmeans",
    "law_permuted_rows",
    "law_rotated_rows",
    "law_sparse_is_dense",
    "law_weights_are_repetitions",
]


def law_no_clues_is_kmeans(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Without clues the result is that of scikit-learn's k-means from the same start, and with the same ``tol``."""
    model = fix_start(estimator, X, rng, max_iter=1000)
    _compare_with_kmeans(model, X, (None, Clues(len(X)), np.full(len(X), -1)))
    if hasattr(model, "tol"):
        for tol, max_iter in ((1e-4, 1000), (0.05, 1000), (0.0, 2)):
            _compare_with_kmeans(copy_with(model, tol=tol, max_iter=max_iter), X, (None,))


def _compare_with_kmeans(model: Any, X: Floats, nothing: tuple[Any, ...]) -> None:
    tol = getattr(model, "tol", 0.0)
    plain = KMeans(model.n_clusters, init=model.init, n_init=1, tol=tol, max_iter=model.max_iter, algorithm="lloyd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = plain.fit(X)
    for given in nothing:
        what = f"clues={given!r} with tol={tol} and max_iter={model.max_iter} instead of k-means"
        assert_same(expected, fit(clone(model), X, given), what)


def law_clues_are_enough(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A method that does not look at X gives the same result without it."""
    known = select_clues(estimator, clues)
    model = fix_start(estimator, X, rng)
    assert_same(fit(model, X, known), fit(clone(model), None, known), "leaving X out")


def law_permuted_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """From one start, permuting the rows permutes the labels."""
    known = select_clues(estimator, clues)
    rows, order = rng.permutation(len(X)), rng.permutation(len(X))
    model = fix_start(estimator, X, rng, order=order)
    new_place = np.argsort(rows)
    before = fit(model, X, known)
    after = fit(copy_with(model, order=new_place[order]), X[rows], known[rows])
    assert_same(before, after, "permuting the rows" + _start_in(model), rows=rows)


def _start_in(model: Any) -> str:
    """Tell those whose method draws its start from the rows how two fits can start alike, as a part of a sentence."""
    if model.card.deterministic or hasattr(model, "init"):
        return ""
    return " (two fits start alike if there is a parameter init that takes an array of centers)"


def law_moved_and_scaled_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """X → aX + b, with penalties rescaled to match, changes no label."""
    invariant = estimator.card.invariant
    scale = float(rng.choice([1e-3, 0.3, 40.0])) if "scale" in invariant else 1.0
    shift = scale * rng.uniform(-20, 20, size=X.shape[1]) if "shift" in invariant else np.zeros(X.shape[1])
    model = fix_start(estimator, X, rng)
    moved = copy_with(model, init=scale * model.init + shift) if hasattr(model, "init") else clone(model)
    if isinstance(getattr(model, "penalty", None), Real):
        moved.set_params(penalty=model.penalty * scale**2)
    _same_labels(model, moved, X, scale * X + shift, select_clues(estimator, clues), "moving and scaling the rows")


def law_rotated_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Rotating the rows changes no label."""
    rotation = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    model = fix_start(estimator, X, rng)
    turned = copy_with(model, init=model.init @ rotation) if hasattr(model, "init") else clone(model)
    _same_labels(model, turned, X, X @ rotation, select_clues(estimator, clues), "rotating the rows")


def _same_labels(model: Any, other: Any, X: Floats, new: Floats, clues: Clues, what: str) -> None:
    before, after = fit(model, X, clues), fit(other, new, clues)
    differ = np.flatnonzero(before.labels_ != after.labels_)
    assert not len(differ), f"{what} changed {len(differ)} labels, the first in row {differ[0]}."


def law_weights_are_repetitions(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A row of weight m counts as m equal rows, a row of weight 0 as none (rows with clues keep weight 1)."""
    known = select_clues(estimator, clues).only(clues.kinds - {"sizes"})  # bounds on sizes count rows
    k = getattr(estimator, "n_clusters", 1)
    if len(known.free) < k:
        known = Clues(len(X))
    # One iteration from a start close to free rows, so that no cluster is empty: which row is moved into an empty
    # cluster does depend on how often it is listed.
    starts = rng.choice(known.free, size=k, replace=False)
    weight = rng.integers(0, 4, size=len(X))
    weight[known.tied] = 1
    weight[starts] = 1
    rows = np.repeat(np.arange(len(X)), weight)
    kept, first = np.unique(rows, return_index=True)
    order = rng.permutation(len(X))
    model = fix_start(estimator, X[starts], rng, order=order, max_iter=1)
    weighted = fit(model, X, known, sample_weight=weight.astype(float))
    place = np.argsort(order)
    again = copy_with(model, order=np.argsort(place[rows], kind="stable"))
    # Clues are about the first of equal rows, but a clustering to avoid is about all of them.
    moved = move_clues(known[kept].only(known.kinds - {"avoid"}), first, len(rows))
    repeated = fit(again, X[rows], moved | Clues(len(rows), avoid=[column[rows] for column in known.avoid]))
    assert_same(weighted, repeated, "repeating rows instead of weighting them" + _start_in(model), rows=rows)
    a, b = (getattr(model, "objective_", 0.0) for model in (weighted, repeated))
    assert np.isclose(a, b), f"the objective is {a} with weights and {b} with repeated rows."


def law_sparse_is_dense(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A sparse matrix gives the result of the same dense matrix."""
    from scipy.sparse import csc_array, csr_array, csr_matrix

    known = select_clues(estimator, clues)
    model = fix_start(estimator, X, rng)
    holes = np.where(rng.random(X.shape) < 0.2, 0.0, X)
    dense = fit(model, holes, known)
    for kind in (csr_array, csr_matrix, csc_array):
        sparse = fit(clone(model), kind(holes), known)
        assert_same(dense, sparse, f"{kind.__name__}")
        if estimator.card.predicts:
            assert (sparse.predict(kind(X)) == dense.predict(X)).all(), f"predict differs for {kind.__name__}."
    wide = csr_array(holes)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same(dense, fit(clone(model), wide, known), "csr_array with 64-bit indices")
