"""What the laws share: fits from one given start, and how two fits are compared."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from cluewise._typing import Array, Floats
from cluewise.clues import Clues
from cluewise.exceptions import NotDescending

__all__ = ["accepted", "changed", "fit", "given_start", "same"]


def accepted(estimator: Any, clues: Clues) -> Clues:
    """The clues of the kinds that the estimator takes."""
    return clues.only(clues.kinds & estimator.card.accepts)


def changed(estimator: Any, **params: Any) -> Any:
    """A copy of the estimator with those of the parameters that it has set."""
    copy = clone(estimator)
    has = copy.get_params()
    return copy.set_params(**{name: value for name, value in params.items() if name in has})


def given_start(estimator: Any, X: Floats, rng: np.random.Generator, **params: Any) -> Any:
    """A copy that starts close to k rows of X, runs until nothing moves, and draws nothing else at random.

    Close to, not from: the mean of two linked rows is equally far from both, and a tie may be broken either way.
    Methods without ``init`` start as their seed tells them.
    """
    rows = rng.choice(len(X), size=getattr(estimator, "n_clusters", 1), replace=False)
    near = X[rows] + 1e-3 * X.std(axis=0) * rng.normal(size=(len(rows), X.shape[1]))
    if get_tags(estimator).input_tags.positive_only:
        near = np.maximum(near, 0)
    return changed(estimator, **({"init": near, "n_init": 1, "tol": 0.0, "random_state": 0} | params))


def fit(estimator: Any, X: Any, clues: Any = None, **more: Any) -> Any:
    """Fit without the warning that clusters are empty, which is no breach, but not with a rising objective."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("error", NotDescending)
        return estimator.fit(X, clues=clues, **more)


def same(a: Any, b: Any, what: str, *, rows: Array | None = None) -> None:
    """Two fits agree: b's labels are a's (on ``rows``), and so are the centers."""
    expected = a.labels_ if rows is None else a.labels_[rows]
    differ = np.flatnonzero(expected != b.labels_) if len(expected) == len(b.labels_) else np.arange(1)
    assert not len(differ), f"{what} changed {len(differ)} of {len(b.labels_)} labels, the first in row {differ[0]}."
    if hasattr(a, "cluster_centers_"):
        wanted = a.cluster_centers_
        single = np.float32 in (a.cluster_centers_.dtype, b.cluster_centers_.dtype)
        rtol = 1e-4 if single else 1e-8
        close = np.allclose(wanted, b.cluster_centers_, rtol=rtol, atol=rtol * np.abs(wanted).max())
        assert close, f"{what} moved the centers from {wanted} to {b.cluster_centers_}."
