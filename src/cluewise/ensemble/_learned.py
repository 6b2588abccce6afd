"""Base partitions by a clusterer that somebody gives: cloned, seeded, fitted to a few rows, asked about all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from cluewise._typing import Array
from cluewise.core.partitions.given import told
from cluewise.core.threads import map_blocks, one_blas_thread, threads
from cluewise.ensemble._plans import Plan, studied

__all__ = ["checked_estimator", "label_by"]

BLOCK = 2**15
"""Rows that one model is asked about at once."""

GROUP = 16
"""Fitted models that are kept at once: X is read once for each group."""


def checked_estimator(estimator: Any, n: int, n_rows: int) -> Any:
    """The estimator, if it can label rows that it has not seen or sees them all."""
    model = clone(estimator)
    if n > n_rows and not hasattr(model, "predict"):
        raise ValueError(
            f"{type(model).__name__} has no predict, so it cannot learn from n_rows={n_rows} of {n} rows; "
            f"let it see all of them (n_rows={n}) or choose another estimator."
        )
    return model


def label_by(estimator: Any, rows: Any, by_column: Any, plans: list[Plan], seeds: list[int], labels: Array) -> None:
    """Labels of all rows by one clone for each plan; ``by_column`` holds the same rows, quick to take columns from."""

    def learn(p: int) -> Any:
        model = told(estimator, len(plans[p].quantiles), seeds[p])
        x = studied(by_column, plans[p])
        with threads(1), one_blas_thread():
            model.fit(x.tocsr() if hasattr(x, "tocsr") else np.ascontiguousarray(x))
        if plans[p].sample is None and hasattr(model, "labels_"):
            labels[p] = _checked(model.labels_, p, 0, labels.dtype)
            return None
        return model

    for start in range(0, len(plans), GROUP):
        group = range(start, min(start + GROUP, len(plans)))
        models = [(p, model) for p, model in zip(group, map_blocks(learn, group)) if model is not None]

        def ask(first: int, models: list[tuple[int, Any]] = models) -> None:
            block = slice(first, first + BLOCK)
            some = rows[block]
            with threads(1), one_blas_thread():
                for p, model in models:
                    found = model.predict(some[:, plans[p].columns])
                    labels[p, block] = _checked(found, p, first, labels.dtype)

        if models:
            for _ in map_blocks(ask, range(0, rows.shape[0], BLOCK)):
                continue


def _checked(found: Any, p: int, first: int, dtype: np.dtype[Any]) -> Array:
    """Labels that one model gave to the rows from ``first`` on."""
    own = np.asarray(found)
    top = np.iinfo(dtype).max
    bad = np.flatnonzero((own < 0) | (own >= top))
    if len(bad):
        raise ValueError(
            f"partition {p} gives row {first + bad[0]} the label {own[bad[0]]}; labels run from 0 to {top - 1}, "
            f"and every row needs one."
        )
    return own
