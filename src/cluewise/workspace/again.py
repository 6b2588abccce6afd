"""Fits for the page of a report: of parts of the rows, and without clues."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueError

__all__ = ["look_twice"]

RESAMPLES = 20
SECONDS = 20.0
"""Time for the resamples; there is at least one."""

ROWS = 20_000
"""Maximum number of rows of a resample."""


def look_twice(facts: dict[str, Any], model: Any, X: Floats, clues: Clues) -> Ints | None:
    """Add to a report how sure the clusters are; return the clusters without clues, if there were clues."""
    facts["stability"] = found = _measure_stability(model, X, clues)
    for line in [] if found is None else found["clusters"]:
        line["cluster"] = int(facts["ids"][line["cluster"]])
    return _fit_without(model, X) if clues.kinds else None


def _measure_stability(model: Any, X: Floats, clues: Clues) -> dict[str, Any] | None:
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


def _fit_without(model: Any, X: Floats) -> Ints | None:
    """Clusters of the same method without clues; None if it needs clues."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit with clues has told them
        try:
            labels: Ints = clone(model).fit(X).labels_
        except (ClueError, ValueError):
            return None
    return labels
