"""What the laws share: fits from one given start, and the comparison of two fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from cluewise._typing import Array, Floats
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.exceptions import NotDescending

__all__ = ["Law", "Rng", "always", "assert_same", "copy_with", "fit", "fix_start", "select_clues"]

Rng: TypeAlias = np.random.Generator
Law: TypeAlias = Callable[[Any, Floats, Clues, Rng], None]


def always(card: Card) -> bool:
    """Hold for every card."""
    return True


def select_clues(estimator: Any, clues: Clues) -> Clues:
    """Select the clues of the kinds that the estimator uses."""
    return clues.only(clues.kinds & estimator.card.accepts)


def copy_with(estimator: Any, **params: Any) -> Any:
    """Copy the estimator and set those of the parameters that it has."""
    copy = clone(estimator)
    has = copy.get_params()
    return copy.set_params(**{name: value for name, value in params.items() if name in has})


def fix_start(estimator: Any, X: Floats, rng: np.random.Generator, **params: Any) -> Any:
    """Copy the estimator, with a start close to k rows of X, no tolerance, and nothing else drawn at random.

    Close to rows instead of at them: the mean of two linked rows is equally far from both, and a tie may be broken
    either way. Methods without ``init`` start from their seed.
    """
    rows = rng.choice(len(X), size=getattr(estimator, "n_clusters", 1), replace=False)
    near = X[rows] + 1e-3 * X.std(axis=0) * rng.normal(size=(len(rows), X.shape[1]))
    if get_tags(estimator).input_tags.positive_only:
        near = np.maximum(near, 0)
    return copy_with(estimator, **({"init": near, "n_init": 1, "tol": 0.0, "random_state": 0} | params))


def fit(estimator: Any, X: Any, clues: Any = None, **more: Any) -> Any:
    """Fit; empty clusters are allowed, a rising objective is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", NotDescending)
        return estimator.fit(X, clues=clues, **more)


def assert_same(a: Any, b: Any, what: str, *, rows: Array | None = None) -> None:
    """Assert that two fits agree: b's labels are a's (on ``rows``), and so are the centers."""
    expected = a.labels_ if rows is None else a.labels_[rows]
    differ = np.flatnonzero(expected != b.labels_) if len(expected) == len(b.labels_) else np.arange(1)
    assert not len(differ), f"{what} changed {len(differ)} of {len(b.labels_)} labels, the first in row {differ[0]}."
    if hasattr(a, "cluster_centers_"):
        centers = a.cluster_centers_
        single = np.float32 in (a.cluster_centers_.dtype, b.cluster_centers_.dtype)
        rtol = 1e-4 if single else 1e-8
        close = np.allclose(centers, b.cluster_centers_, rtol=rtol, atol=rtol * np.abs(centers).max())
        assert close, f"{what} moved the centers from {centers} to {b.cluster_centers_}."
