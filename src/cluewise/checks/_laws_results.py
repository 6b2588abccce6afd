"""Laws about results: what the card implies is there; labels, centers, objective and predictions agree."""

from __future__ import annotations

from collections.abc import Container, Mapping
from inspect import signature
from typing import Any

import numpy as np

from cluewise._typing import Floats
from cluewise.base import Card
from cluewise.checks._fits import Rng, assert_same, copy_with, fit, fix_start, select_clues
from cluewise.clues import Clues

__all__ = [
    "law_centers_are_means",
    "law_doubts_are_probabilities",
    "law_labels_are_clusters",
    "law_labels_are_predictions",
    "law_nothing_is_missing",
    "law_objective_never_rises",
    "law_prediction_knows_its_rows",
    "law_seed_is_irrelevant",
    "law_same_seed_same_result",
]


# What an estimator must have, by the field and value of the card that imply it; None: every estimator has it.
_ARGUMENTS = {"clues": None, "sample_weight": ("weights", True)}
_PARAMETERS = {"n_clusters": ("finds", False), "init": ("plain", "k-means")}
_METHODS = {"predict": ("predicts", True), "fit_predict": ("predicts", True)}
_ATTRIBUTES = {
    **dict.fromkeys(("labels_", "n_clusters_", "broken_")),
    **dict.fromkeys(("objective_", "trace_", "n_iter_"), ("descends", True)),
    "cluster_centers_": ("means", True),
    **dict.fromkeys(("doubt_", "clues_"), ("judges", True)),
}


def law_nothing_is_missing(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The parameters, methods and fitted attributes that the card implies are there."""
    card, model = estimator.card, copy_with(estimator, random_state=0)
    _require(card, "parameter", _PARAMETERS, model.get_params())
    _require(card, "method", _METHODS, dir(model))
    _require(card, "argument of fit", _ARGUMENTS, signature(model.fit).parameters)
    _require(card, "fitted attribute", _ATTRIBUTES, dir(fit(model, X, select_clues(estimator, clues))))


def _require(card: Card, what: str, names: Mapping[str, tuple[str, Any] | None], found: Container[str]) -> None:
    for name, implied in names.items():
        if implied is None:
            assert name in found, f"the {what} {name} is missing."
        elif getattr(card, implied[0]) == implied[1]:
            why = f"card.{implied[0]}={implied[1]!r}"
            assert name in found, f"the {what} {name} is missing, which {why} implies."


def law_labels_are_clusters(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Labels run from 0 to k − 1; −1 occurs only if the card says that there is noise."""
    model = fit(copy_with(estimator, random_state=0), X, select_clues(estimator, clues))
    labels = model.labels_
    assert labels.shape == (len(X),), f"labels_ has shape {labels.shape}; there are {len(X)} rows."
    assert labels.dtype.kind == "i", f"labels_ are {labels.dtype}, not integers."
    lowest = -1 if estimator.card.noise else 0
    assert labels.min() >= lowest, f"there is a label {labels.min()}."
    used = np.unique(labels[labels >= 0])
    k = len(used) if estimator.card.finds else estimator.n_clusters
    assert labels.max() < k, f"there is a label {labels.max()}, but only {k} clusters."
    assert model.n_clusters_ == len(used), f"n_clusters_ is {model.n_clusters_}; {len(used)} clusters have rows."


def law_objective_never_rises(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``trace_`` never rises from one iteration to the next, and ends in ``objective_``."""
    known = select_clues(estimator, clues)
    for model in (fix_start(estimator, X, rng), copy_with(estimator, random_state=0)):
        trace = fit(model, X, known).trace_
        slack = 1e-9 * (1 + np.abs(trace).max())
        rise = np.flatnonzero(np.diff(trace) > slack)
        assert not len(rise), f"the objective rose in iteration {rise[0] + 2}: {trace}."
        assert len(trace) == model.n_iter_, f"trace_ has {len(trace)} entries after {model.n_iter_} iterations."
        ends = abs(trace[-1] - model.objective_) <= slack
        assert ends, f"objective_ is {model.objective_}, but trace_ ends in {trace[-1]}."


def law_centers_are_means(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Each center is the (weighted) mean of the rows of its cluster, when a fit has converged."""
    known = select_clues(estimator, clues)
    weights = [None, rng.uniform(0.5, 2, size=len(X))] if estimator.card.weights else [None]
    for weight in weights:
        model = fix_start(estimator, X, rng, max_iter=300)
        fit(model, X, known, **({} if weight is None else {"sample_weight": weight}))
        for h in np.unique(model.labels_):
            mine = model.labels_ == h
            mean = np.average(X[mine], axis=0, weights=None if weight is None else weight[mine])
            at = model.cluster_centers_[h]
            close = np.allclose(at, mean, rtol=1e-8, atol=1e-8 * np.abs(X).max())
            assert close, f"center {h} is {at}, but the mean of its rows is {mean}."


def law_labels_are_predictions(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """A row without clues has the label that ``predict`` gives it, also if a fit ends before it converges."""
    known = select_clues(estimator, clues)
    alone = np.full(len(X), known.sizes is None)  # bounds on sizes are about all rows
    alone[known.tied] = False
    for given, rows in ((None, np.ones(len(X), dtype=bool)), (known, alone)):
        for params in ({}, {"tol": 0.1}, {"max_iter": 1}, {"max_iter": 3}):
            model = fit(fix_start(estimator, X, rng, **params), X, given)
            differ = np.flatnonzero((model.labels_ != model.predict(X)) & rows)
            assert not len(differ), (
                f"with {params or 'the defaults'}, {len(differ)} rows without clues are not where predict puts them, "
                f"the first is row {differ[0]}."
            )


def law_doubts_are_probabilities(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """``doubt_`` holds a probability for every must-link of ``clues_``, then for every cannot-link."""
    known = select_clues(estimator, clues)
    model = fit(copy_with(estimator, random_state=0), X, known)
    assert model.clues_ == known, f"clues_ is {model.clues_}; {known} was given."
    links = len(known.must) + len(known.cannot)
    assert model.doubt_.shape == (links,), f"doubt_ has shape {model.doubt_.shape}; there are {links} links."
    assert ((model.doubt_ >= 0) & (model.doubt_ <= 1)).all(), f"doubt_ holds {model.doubt_}."


def law_prediction_knows_its_rows(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The prediction of a row does not depend on the other rows, and ``fit_predict`` returns ``labels_``."""
    known = select_clues(estimator, clues)
    model = copy_with(estimator, random_state=0)
    labels = model.fit_predict(X, clues=known)
    assert (labels == model.labels_).all(), "fit_predict differs from labels_."
    every = model.predict(X)
    rows = rng.permutation(len(X))[: len(X) // 2 + 1]
    assert (model.predict(X[rows]) == every[rows]).all(), "predictions depend on the other rows."
    k = model.n_clusters_ if estimator.card.finds else estimator.n_clusters
    assert ((every >= 0) & (every < k)).all(), "predictions are not clusters."


def law_same_seed_same_result(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """Equal seeds give equal results, whatever NumPy's global state."""
    known = select_clues(estimator, clues)
    seed = int(rng.integers(2**31))
    first = fit(copy_with(estimator, random_state=seed), X, known)
    again = fit(copy_with(estimator, random_state=seed), X, known)
    assert_same(first, again, "fitting again with the same seed")
    refit = fit(first, X, known)
    assert_same(again, refit, "fitting the same object again")


def law_seed_is_irrelevant(estimator: Any, X: Floats, clues: Clues, rng: Rng) -> None:
    """The result of a deterministic method does not depend on its seed."""
    known = select_clues(estimator, clues)
    first, second = (fit(copy_with(estimator, random_state=seed), X, known) for seed in (0, 1))
    assert_same(first, second, "another seed")
