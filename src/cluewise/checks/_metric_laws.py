"""Laws that every learned metric obeys, chosen by its card."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cluewise._typing import Floats
from cluewise.base import Card
from cluewise.checks._fits import Law, Rng, always, copy_with, select_clues
from cluewise.clues import KINDS, Clues
from cluewise.core.threads import threads
from cluewise.exceptions import ClueError, ClueWarning, NotDescending, UnusedClueWarning

__all__ = ["metric_laws_for"]


def fit_copy(estimator: Any, X: Any, clues: Any = None, **more: Any) -> Any:
    """Fit a copy; warnings about clues are allowed, a rising objective is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClueWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", NotDescending)
        return copy_with(estimator, random_state=0).fit(X, clues=clues, **more)


def assert_close(a: Floats, b: Floats, what: str, rtol: float = 1e-5) -> None:
    """Assert that two matrices agree, up to rounding."""
    assert a.shape == b.shape, f"{what} changed the shape from {a.shape} to {b.shape}."
    gap, size = float(np.abs(a - b).max(initial=0)), float(np.abs(a).max(initial=0))
    assert gap <= rtol * size, f"{what} changed the metric by {gap:.2g}, of {size:.2g}."


def normalize(model: Any) -> Floats:
    """The matrix of a metric, scaled to trace 1."""
    M = model.get_mahalanobis_matrix()
    return M / np.trace(M)


def law_matrix_is_positive(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """M is symmetric and positive semidefinite, and its rank is the number of components."""
    model = fit_copy(estimator, X, select_clues(estimator, clues))
    M, d = model.get_mahalanobis_matrix(), X.shape[1]
    assert M.shape == (d, d), f"the matrix of {d} columns has shape {M.shape}."
    assert np.isfinite(M).all(), "the matrix is not finite."
    assert_close(M, M.T, "transposing", 1e-12)
    assert model.components_.shape == (model.n_components_, d), "n_components_ is not the number of components."
    values = np.linalg.eigvalsh(M)
    assert values.min() >= -1e-10 * values.max(), f"the matrix has the eigenvalue {values.min()}."
    rank = int(np.linalg.matrix_rank(model.components_, tol=1e-9 * np.sqrt(values.max())))
    assert rank == model.n_components_, f"the rank is {rank}, but n_components_ is {model.n_components_}."


def law_distances_agree(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Distances between transformed rows equal ``pair_distance`` and those of the matrix, also for new rows."""
    model = fit_copy(estimator, X, select_clues(estimator, clues))
    new = X[rng.permutation(len(X))[:9]] + rng.normal(size=(min(len(X), 9), X.shape[1]))
    i, j = np.triu_indices(len(new), 1)
    off = new[i] - new[j]
    by_matrix = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", off, model.get_mahalanobis_matrix(), off), 0))
    assert_close(by_matrix, model.pair_distance(new[i], new[j]), "pair_distance", 1e-7)
    assert_close(by_matrix, pdist(model.transform(new)), "transforming", 1e-7)
    assert len(model.get_feature_names_out()) == model.n_components_, "not every component has a name."


def law_fewer_components(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``n_components`` bounds the rank, and ``n_components=d`` is the same as None."""
    known, d = select_clues(estimator, clues), X.shape[1]
    whole = fit_copy(estimator, X, known)
    for count in range(1, d + 1):
        model = fit_copy(copy_with(estimator, n_components=count), X, known)
        assert 1 <= model.n_components_ <= count, f"n_components={count} made {model.n_components_}."
        assert model.transform(X).shape == (len(X), model.n_components_), "transform has another number of columns."
        if count == d:
            assert_close(whole.get_mahalanobis_matrix(), model.get_mahalanobis_matrix(), "n_components=d")


def law_permuted_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The order of rows, with that of their clues, changes nothing."""
    known, order = select_clues(estimator, clues), rng.permutation(len(X))
    moved = normalize(fit_copy(estimator, X[order], known[order]))
    assert_close(normalize(fit_copy(estimator, X, known)), moved, "permuting rows", 1e-4)


def law_order_of_clues(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The order of links, and of their ends, changes nothing."""
    known = select_clues(estimator, clues).only(["must", "cannot"])
    must, cannot = (pairs[rng.permutation(len(pairs))][:, ::-1] for pairs in (known.must, known.cannot))
    before, after = (_matrix_or_zero(estimator, X, c) for c in (known, Clues(len(X), must=must, cannot=cannot)))
    assert_close(before, after, "reordering links")


def law_shifted_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Shifting all rows changes no distance."""
    known = select_clues(estimator, clues)
    moved = normalize(fit_copy(estimator, X + rng.normal(scale=9, size=X.shape[1]), known))
    assert_close(normalize(fit_copy(estimator, X, known)), moved, "shifting rows", 1e-4)


def law_scaled_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Scaling all columns changes only the scale of the metric."""
    known = select_clues(estimator, clues)
    moved = normalize(fit_copy(estimator, 8 * X, known))
    assert_close(normalize(fit_copy(estimator, X, known)), moved, "scaling rows", 1e-4)


def law_rotated_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Rotating the rows rotates the metric."""
    known = select_clues(estimator, clues)
    rotation = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    moved = rotation @ normalize(fit_copy(estimator, X @ rotation, known)) @ rotation.T
    assert_close(normalize(fit_copy(estimator, X, known)), moved, "rotating rows", 1e-3)


def law_entailed_clues_change_nothing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Adding a must-link inside a component, or a cannot-link that follows from another, changes nothing."""
    known = select_clues(estimator, clues)
    component = known.components
    chosen = rng.permutation(len(X))
    must = [(i, j) for i in chosen for j in chosen if i < j and component[i] == component[j]][:5]
    apart = {(int(component[i]), int(component[j])) for i, j in known.cannot}
    cannot = [(i, j) for i in chosen for j in chosen if (component[i], component[j]) in apart][:5]
    more = select_clues(estimator, Clues(len(X), must=must, cannot=cannot))
    after = fit_copy(estimator, X, known | more)
    assert_close(
        fit_copy(estimator, X, known).get_mahalanobis_matrix(), after.get_mahalanobis_matrix(), "an entailed clue"
    )


def law_float32_stays_float32(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Single precision goes in and comes out, and is close to double precision."""
    known, single = select_clues(estimator, clues), X.astype(np.float32)
    small, large = (fit_copy(estimator, rows, known) for rows in (single, single.astype(np.float64)))
    for name, value in {"components_": small.components_, "transform": small.transform(single)}.items():
        assert value.dtype == np.float32, f"{name} is {value.dtype} for float32 rows."
    assert_close(
        large.get_mahalanobis_matrix(), small.get_mahalanobis_matrix().astype(np.float64), "single precision", 1e-2
    )


def law_pickle_and_clone(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A pickled metric transforms as before; a clone is not fitted, and learns the same."""
    known = select_clues(estimator, clues)
    model = fit_copy(estimator, X, known)
    loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.transform(X), model.transform(X)), "pickling changed the metric."
    again = clone(model)
    assert not hasattr(again, "components_"), "a clone is fitted already."
    assert_close(model.components_, fit_copy(again, X, known).components_, "cloning", 1e-12)


def law_inputs_stay_untouched(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Neither rows nor clues are modified, read-only rows are accepted, and ``y`` is ignored."""
    known, rows = select_clues(estimator, clues), X.copy()
    kept = pickle.dumps(known)
    model = fit_copy(estimator, rows, known)
    assert np.array_equal(rows, X), "fit changed X."
    rows.flags.writeable = False
    model.transform(rows)
    frozen = fit_copy(estimator, rows, known, y=rng.integers(3, size=len(X)))
    assert pickle.loads(kept) == known, "fit changed the clues."
    assert_close(model.components_, frozen.components_, "a read-only X with a y", 1e-12)


def law_threads_change_nothing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """One thread or three give the same metric, bit for bit."""
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(fit_copy(estimator, X, select_clues(estimator, clues)).components_)
    assert np.array_equal(*found), "the metric depends on the number of threads."


def law_unused_kinds_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A warning names clues of a kind that is not on the card, and they change nothing."""
    known = select_clues(estimator, clues)
    assert "avoid" not in estimator.card.accepts, "a metric cannot avoid a clustering."
    more = known | Clues(len(X), avoid=rng.integers(2, size=len(X)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = copy_with(estimator, random_state=0).fit(X, clues=more)
    messages = [str(w.message) for w in caught if issubclass(w.category, UnusedClueWarning)]
    assert any("avoid" in text for text in messages), "clues of the kind avoid were ignored without a warning."
    assert_close(fit_copy(estimator, X, known).components_, model.components_, "an unused clue", 1e-12)


def law_objective_never_rises(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``trace_`` never rises, and ends in ``objective_``."""
    model = fit_copy(estimator, X, select_clues(estimator, clues))
    trace = np.asarray(getattr(model, "trace_", [0.0]))
    rise = np.diff(trace).max(initial=0)
    assert rise <= 1e-7 * (1 + np.abs(trace).max()), f"the objective rose by {rise}."
    if hasattr(model, "trace_"):
        assert model.n_iter_ == len(trace), f"n_iter_ is {model.n_iter_}, but the trace has {len(trace)} steps."
        assert model.objective_ == trace[-1], "the objective is not the last of the trace."


def law_unfinished_fits_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A `ConvergenceWarning` names ``max_iter`` if that parameter ends the fit, and only then."""
    if "max_iter" not in estimator.get_params():
        return
    known, told = select_clues(estimator, clues), {}
    for most in (1, estimator.max_iter):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = copy_with(estimator, max_iter=most, random_state=0).fit(X, clues=known)
        about = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
        told[most] = model, any("max_iter" in str(one.message) for one in about)
    (short, warned), (long, also_warned) = told.values()
    assert warned or np.array_equal(short.components_, long.components_), "max_iter=1 ended the fit without a warning."
    assert not also_warned or long.n_iter_ >= estimator.max_iter, f"{long.n_iter_} iterations were called unfinished."


def law_poor_input_gives_a_result(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Duplicates, constant columns, more columns than rows, few clues or none: a finite metric or a ClueError."""
    known = select_clues(estimator, clues)
    wide = np.hstack([X, rng.normal(size=(len(X), 2 * len(X)))])
    poor = {
        "a constant column": (np.hstack([X, np.full((len(X), 1), 7.0)]), known),
        "a column twice": (np.hstack([X, X[:, :1]]), known),
        "more columns than rows": (wide, known),
        "rows that are all equal": (np.ones_like(X), known),
        "rows twice": (X[np.arange(len(X)) // 2], known),
        "no clues": (X, None),
    } | {f"{kind} only": (X, known.only([kind])) for kind in KINDS if kind in known.kinds}
    for what, (rows, given) in poor.items():
        M = _matrix_or_zero(estimator, rows, given)
        assert np.isfinite(M).all(), f"{what} gave a metric that is not finite."


def _matrix_or_zero(estimator: Any, X: Floats, clues: Clues | None) -> Floats:
    """The matrix of the metric, or a zero if the clues are refused."""
    try:
        return np.asarray(fit_copy(estimator, X, clues).get_mahalanobis_matrix())
    except ClueError:
        return np.zeros((1, 1))


_LAWS: tuple[tuple[Law, Callable[[Card], bool]], ...] = (
    (law_matrix_is_positive, always),
    (law_distances_agree, always),
    (law_fewer_components, always),
    (law_permuted_rows, lambda card: card.deterministic),
    (law_order_of_clues, always),
    (law_shifted_rows, lambda card: "shift" in card.invariant),
    (law_scaled_rows, lambda card: "scale" in card.invariant),
    (law_rotated_rows, lambda card: "rotation" in card.invariant),
    (law_entailed_clues_change_nothing, lambda card: card.closes),
    (law_float32_stays_float32, always),
    (law_pickle_and_clone, always),
    (law_inputs_stay_untouched, always),
    (law_threads_change_nothing, always),
    (law_unused_kinds_warn, always),
    (law_objective_never_rises, lambda card: card.descends),
    (law_unfinished_fits_warn, always),
    (law_poor_input_gives_a_result, always),
)


def metric_laws_for(estimator: Any) -> list[Law]:
    """List the laws that a metric promises to obey, by its card."""
    return [law for law, holds in _LAWS if holds(estimator.card)]
