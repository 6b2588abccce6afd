"""Fits for the page of a report: of parts of the rows, and without clues."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueError

__all__ = ["fit_without", "measure_stability"]

RESAMPLES = 20
SECONDS = 20.0
"""Time for the resamples; there is at least one."""

ROWS = 20_000
"""Maximum number of rows of a resample."""


def measure_stability(model: Any, X: Floats, clues: Clues) -> dict[str, Any] | None:
    """How sure the clusters are, as data; None if there is nothing to measure."""
    from cluewise.explain import stability

    n = len(X)
    share = min(0.8, ROWS / n)
    if round(share * n) < 3:
        return None
    try:
        found = stability(model, X, clues, n_resamples=RESAMPLES, share=share, time_limit=SECONDS, random_state=0)
    except ValueError:  # no part of the rows can be clustered like that
        return None
    return found.to_dict() | {"rows": round(share * n)}


def fit_without(model: Any, X: Floats) -> Ints | None:
    """Clusters of the same method without clues; None if it needs clues."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit with clues has told them
        try:
            labels: Ints = clone(model).fit(X).labels_
        except (ClueError, ValueError):
            return None
    return labels
