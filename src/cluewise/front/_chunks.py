"""Results for rows in chunks: those with clues and the references are settled in memory, the others when asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._dask import is_dask
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, class_clusters
from cluewise.clues import Clues
from cluewise.core.assign import find_margin
from cluewise.core.chunks import read_column
from cluewise.exceptions import ClueError
from cluewise.front._fitting import Elsewhere, Fitted, find_scores, predict_chunk
from cluewise.front._ground import Ground, Scores
from cluewise.metrics import broken

__all__ = ["find_labels", "pack", "refuse_sizes", "spread_results", "take_start"]

MANY = 200_000
"""Rows of a chunk whose probabilities are held at once."""


def refuse_sizes(known: Clues) -> None:
    if known.sizes is not None:
        raise ClueError("bounds on sizes cannot be kept if X is a dask array or a tensor.")


def take_start(given: Any, kept: Ints, n: int) -> Any:
    """The start of the rows in memory, from one for all rows, which may be a dask array."""
    if given is None:
        return None
    if not is_dask(given):
        start = np.asarray(given)
        if start.shape == (n,):
            return start[kept]
    elif given.ndim == 1 and given.dtype.kind in "iu":
        chunks = read_column(given, "start", np.array([n]))
        if chunks.scan().n == n:
            return chunks.take(kept)[:, 0].astype(np.int64)
    raise ValueError(f"start must have an integer for each of the {n} rows.")


def spread_results(elsewhere: Elsewhere, ground: Ground, fitted: Fitted, found: Attributes) -> Attributes:
    """The results for rows in chunks, given those for the rows that are in memory."""
    chunks, known = elsewhere
    assert ground.kept is not None
    of_tied = np.searchsorted(ground.kept, known.tied)
    cuts, learned = chunks.split(known.tied), pack(ground, fitted)
    ends = np.searchsorted(known.tied, chunks.starts[1:-1])
    outcomes = chunks.keep(_find_outcome, *learned)

    def spread(name: str, look: Any, shared: tuple[Any, ...]) -> Any:
        """An attribute with an entry for each row; rows with clues have what was settled in memory."""
        own = np.split(found[name][of_tied], ends)
        return chunks.map(_look_at, look, shared, each=list(zip(cuts, own, outcomes)), dtype=found[name].dtype)

    labels = np.zeros(known.n, dtype=np.int32)  # rows without clues break none
    labels[ground.kept] = found["labels_"]
    classes = class_clusters(known, fitted.k)
    return {
        "labels_": spread("labels_", find_labels, learned),
        "margin_": spread("margin_", _find_margins, learned),
        "label_doubt_": spread("label_doubt_", _find_no_doubt, ()),
        "clues_": known,
        "broken_": broken(labels, known, clusters_of_classes=classes, n_clusters=fitted.k),
    }


def pack(ground: Ground, fitted: Fitted) -> tuple[Ground, Scores]:
    """What rows in chunks need to find their clusters."""
    return ground.make_light(), find_scores(ground, fitted)


def _look_at(chunk: Floats, look: Any, shared: tuple[Any, ...], rows: Ints, own: Any, outcome: Any) -> Any:
    """What ``look`` finds for the rows of a chunk, but for some rows, of which it is known."""
    found = look(chunk, *shared, outcome).astype(own.dtype, copy=False)
    found[rows] = own
    return found


def find_labels(chunk: Floats, ground: Ground, scores: Scores, outcome: Any = None) -> Ints:
    known = _find_outcome(chunk, ground, scores) if outcome is None else outcome
    return known[:, 0].astype(np.int32)


def _find_margins(chunk: Floats, ground: Ground, scores: Scores, outcome: Any = None) -> Floats:
    known = _find_outcome(chunk, ground, scores) if outcome is None else outcome
    return np.ascontiguousarray(known[:, 1])  # a view would keep both columns


def _find_outcome(chunk: Floats, ground: Ground, scores: Scores) -> Floats:
    """(n, 2) cluster and margin of each row; some rows at a time, as probabilities need more room than the rows."""
    found = np.empty((len(chunk), 2), dtype=np.float32)
    for start in range(0, len(chunk), MANY):
        P = predict_chunk(chunk[start : start + MANY], ground, scores)
        found[start : start + MANY] = np.column_stack([P.argmax(axis=1), find_margin(P)])
    return found


def _find_no_doubt(chunk: Floats, outcome: Any) -> Floats:
    return np.full(len(chunk), np.nan)
