"""Laws about conduct: inputs stay as they are, threads change nothing, time and memory are bounded."""

from __future__ import annotations

import pickle
import tempfile
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cluewise._typing import Floats
from cluewise.checks._examples import adapt_rows, blobs, move_clues, sample_clues
from cluewise.checks._fits import Rng, assert_same, copy_with, fit, fix_start, select_clues
from cluewise.clues import Clues
from cluewise.core.threads import threads

__all__ = [
    "law_any_layout_of_rows",
    "law_float32_stays_float32",
    "law_inputs_stay_untouched",
    "law_pickle_and_clone",
    "law_slices_keep_their_meaning",
    "law_threads_change_nothing",
    "law_two_fits_at_once",
    "law_unfinished_fits_warn",
    "law_within_budget",
    "law_y_is_ignored",
]


def law_threads_change_nothing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """One thread or three give the same labels, centers and trace, bit for bit."""
    wide, known = _make_blocks(estimator, X, clues, rng)
    fits = []
    for n in (1, 3):
        with threads(n):
            fits.append(fit(copy_with(estimator, random_state=0), wide, known))
    one, three = fits
    assert_same(one, three, "three threads instead of one")
    for name in ("cluster_centers_", "trace_"):
        equal = np.array_equal(getattr(one, name, 0), getattr(three, name, 0))
        assert equal, f"{name} depends on the number of threads."


def _make_blocks(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> tuple[Floats, Clues]:
    """A table large enough for several blocks: wide, or long if time grows with the square of the columns."""
    n, d = (8000, 100) if estimator.card.time_columns == "square" else (max(600, len(X)), 2000)
    more = X[rng.integers(len(X), size=n - len(X))]
    long = np.vstack([X, more]) + 0.01 * rng.normal(size=(n, X.shape[1]))
    wide = np.hstack([long, 0.01 * rng.normal(size=(n, d))])
    return adapt_rows(estimator, wide), move_clues(select_clues(estimator, clues), np.arange(len(X)), n)


def law_two_fits_at_once(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Fits in two threads of one process give the results of the same fits one after the other."""
    known = select_clues(estimator, clues)
    problems = [(X, known), (X[::-1] * 2, known[::-1])]

    def work(problem: tuple[Floats, Clues]) -> Any:
        return copy_with(estimator, random_state=0).fit(problem[0], clues=problem[1])

    alone = [fit(copy_with(estimator, random_state=0), *problem) for problem in problems]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(work, problems * 4))
    for before, after in zip(alone * 4, together):
        assert_same(before, after, "another fit at the same time")


def law_inputs_stay_untouched(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Rows, weights and clues are not modified, and read-only arrays are accepted."""
    known = select_clues(estimator, clues)
    model = fix_start(estimator, X, rng)
    more = {"sample_weight": rng.uniform(0.5, 2, size=len(X))} if estimator.card.weights else {}
    inputs = {"X": X.copy(), **{name: value.copy() for name, value in more.items()}}
    kept_clues = pickle.dumps(known)
    writable = fit(model, inputs["X"], known, **{name: inputs[name] for name in more})
    for name, value in {"X": X, **more}.items():
        assert np.array_equal(inputs[name], value), f"fit changed {name}."
        inputs[name].flags.writeable = False
    assert pickle.loads(kept_clues) == known, "fit changed the clues."
    frozen = fit(clone(model), inputs["X"], known, **{name: inputs[name] for name in more})
    assert_same(writable, frozen, "read-only input")
    frozen.labels_[:] = frozen.labels_  # results can be written to


def law_any_layout_of_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Column order, strides, lists and memory maps give the result of a plain array."""
    known = select_clues(estimator, clues)
    model = fix_start(estimator, X, rng)
    plain = fit(model, X, known)
    gaps = np.empty((2 * len(X), X.shape[1] + 3))
    gaps[::2, 1:-2] = X
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, X)
        layouts = {
            "column order": np.asfortranarray(X),
            "strides": gaps[::2, 1:-2],
            "a list": X.tolist(),
            "a memory map": np.load(file, mmap_mode="r"),
        }
        for name, rows in layouts.items():
            assert_same(plain, fit(clone(model), rows, known), name)
        del layouts, rows


def law_float32_stays_float32(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Single precision goes in and comes out, and gives the labels of double precision if the card says so."""
    known = select_clues(estimator, clues)
    single = X.astype(np.float32)
    model = fix_start(estimator, single, rng)
    small = fit(model, single, known)
    for name in ("cluster_centers_", "margin_"):
        dtype = getattr(small, name, single).dtype
        assert dtype == np.float32, f"{name} is {dtype} for float32 rows."
    if estimator.card.single:
        assert_same(small, fit(clone(model), single.astype(np.float64), known), "double precision")


def law_y_is_ignored(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Labels passed as ``y`` are ignored."""
    known = select_clues(estimator, clues)
    for model in (fix_start(estimator, X, rng), copy_with(estimator, random_state=0)):
        assert_same(fit(model, X, known), fit(clone(model), X, known, y=rng.integers(9, size=len(X))), "y")


def law_unfinished_fits_warn(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A `ConvergenceWarning` names ``max_iter`` if that parameter ends the fit, and only then."""
    if "max_iter" not in estimator.get_params():
        return
    known = select_clues(estimator, clues)
    (short, warned), (long, also_warned) = (_fit_for(estimator, X, known, most) for most in (1, 1000))
    assert warned or np.array_equal(short.labels_, long.labels_), (
        "max_iter=1 ended the fit without a ConvergenceWarning that names max_iter; more iterations change the labels."
    )
    assert not also_warned or long.n_iter_ >= 1000, (
        f"a ConvergenceWarning names max_iter=1000, but the fit took {long.n_iter_} iterations."
    )


def _fit_for(estimator: Any, X: Floats, clues: Clues, max_iter: int) -> tuple[Any, bool]:
    """A model, and whether its fit warned that it has not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = copy_with(estimator, max_iter=max_iter, random_state=0).fit(X, clues=clues)
    told = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    return model, any("max_iter" in message for message in told)


def law_pickle_and_clone(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A pickled model predicts as before; a clone is not fitted, and fits to the same result."""
    known = select_clues(estimator, clues)
    model = fit(fix_start(estimator, X, rng), X, known)
    loaded = pickle.loads(pickle.dumps(model))
    assert_same(model, loaded, "pickling")
    assert loaded.broken_ == model.broken_, "pickling changed broken_."
    if estimator.card.predicts:
        assert (loaded.predict(X) == model.predict(X)).all(), "pickling changed the predictions."
    again = clone(model)
    assert not hasattr(again, "labels_"), "a clone is fitted already."
    assert_same(model, fit(again, X, pickle.loads(pickle.dumps(known))), "cloning")


def law_slices_keep_their_meaning(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Sliced clues say the same about the sliced rows as the whole clues."""
    known = select_clues(estimator, clues).only(["labels", "must", "cannot"])
    k = getattr(estimator, "n_clusters", 1)
    rows = rng.permutation(len(X))[: max(len(X) // 2, k + 1)]
    at = {int(row): i for i, row in enumerate(rows)}
    by_hand = Clues(
        len(rows),
        labels=[None if known.labels[r] < 0 else known.classes_[known.labels[r]] for r in rows],
        must=[(at[i], at[j]) for i, j in known.must.tolist() if i in at and j in at],
        cannot=[(at[i], at[j]) for i, j in known.cannot.tolist() if i in at and j in at],
    )
    model = fix_start(estimator, X[rows], rng)
    assert_same(fit(model, X[rows], by_hand), fit(clone(model), X[rows], known[rows, ...]), "slicing the clues")


# MiB for 2,000 rows: the clues imply some 200,000 pairs, and a table of all pairs of rows takes 31 MiB.
_BUDGETS = {"rows": 16, "pairs": 100, "square": 160}


def law_within_budget(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """2,000 rows take seconds, not minutes, and no more memory than the card allows."""
    k = getattr(estimator, "n_clusters", 3)
    rows, y = blobs(2000, 4, k, rng)
    rows = adapt_rows(estimator, rows)
    known = sample_clues(y, estimator.card.accepts, rng)
    model = copy_with(estimator, random_state=0)
    fit(clone(model), X, select_clues(estimator, clues))  # loads compiled code, which does not count
    began = process_time()
    fit(clone(model), rows, known)
    seconds = process_time() - began
    assert seconds < 10, f"2,000 rows took {seconds:.1f} s of processor time."
    known = sample_clues(y, estimator.card.accepts, rng)
    tracemalloc.start()
    try:
        fit(clone(model), rows, known)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    memory = estimator.card.memory
    budget = _BUDGETS[memory]
    allowed = f"card.memory={memory!r} allows {budget} MiB"
    assert peak < budget * 2**20, f"2,000 rows took {peak / 2**20:.0f} MiB; {allowed}."
