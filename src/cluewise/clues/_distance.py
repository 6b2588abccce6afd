"""Clues that distances entail: a minimum separation of clusters (delta), a maximum gap inside them (epsilon).

Pairs of close rows are visited in blocks and never stored: there may be as many as n².
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._squares import largest, require_squares
from cluewise._typing import ArrayLike, Floats, Ints
from cluewise.clues._neighbors import Search, nearest_distance
from cluewise.exceptions import ClueError

__all__ = ["check_epsilon", "clues_of", "repair_epsilon"]

MOST_PAIRS = 10**6
"""Most cannot-links that `clues_of` writes out."""


def clues_of(X: ArrayLike, *, delta: float | None, epsilon: float | None) -> dict[str, Any]:
    """Keyword arguments for `Clues`; see `Clues.from_distance` for the meaning."""
    if delta is None and epsilon is None:
        raise ClueError("give delta, epsilon or both.")
    X = _rows(X)
    found: dict[str, Any] = {"n": len(X)}
    if delta is not None:
        delta = _radius("delta", delta)
        found |= {"together": _close(X, delta), "source": f"delta={delta:g}"}
    if epsilon is not None:
        epsilon = _radius("epsilon", epsilon)
        found |= {"cannot": _alone(X, epsilon), "cannot_source": f"epsilon={epsilon:g}"}
    return found


def check_epsilon(X: ArrayLike, labels: ArrayLike, epsilon: float) -> Ints:
    """Rows that have company in their cluster, but none of it within ``epsilon``.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    labels : array-like of shape (n,)
        Cluster of every row; -1 = noise, which is in no cluster.
    epsilon : float
        Largest distance to the nearest other row of the same cluster.

    Returns
    -------
    ndarray of int64
        The rows that break the constraint, ascending.

    Examples
    --------
    >>> from cluewise.clues import check_epsilon
    >>> check_epsilon([[0.0], [1.0], [9.0], [5.0]], [0, 0, 0, 1], epsilon=2.0)
    array([2])
    """
    X, epsilon = _rows(X), _radius("epsilon", epsilon)
    labels = _labels(labels, len(X))
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    broken = [
        members[nearest_distance(X[members]) > epsilon] for members in np.split(order, starts)[1:] if len(members) > 1
    ]
    return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *broken]))


def repair_epsilon(X: ArrayLike, labels: ArrayLike, epsilon: float) -> Ints:
    """Labels that satisfy the ``epsilon`` constraint, with only the rows moved that broke it.

    Such a row joins the cluster of the nearest row within ``epsilon``; where there is none it becomes a
    cluster of its own, numbered after the others. Rows labeled -1 are noise and stay so.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    labels : array-like of shape (n,)
        Cluster of every row; -1 = noise, which is in no cluster.
    epsilon : float
        Largest distance to the nearest other row of the same cluster.

    Returns
    -------
    ndarray of shape (n,)
        The repaired labels.

    Examples
    --------
    >>> from cluewise.clues import repair_epsilon
    >>> repair_epsilon([[0.0], [1.0], [9.0], [8.5]], [0, 0, 0, 1], epsilon=2.0)
    array([0, 0, 1, 1])
    """
    X, epsilon = _rows(X), _radius("epsilon", epsilon)
    repaired = _labels(labels, len(X)).copy()
    inside = np.flatnonzero(repaired != -1)
    search = Search(X[inside])
    settled = np.zeros(len(inside), dtype=bool)
    for i in np.searchsorted(inside, check_epsilon(X, repaired, epsilon)):
        if settled[i]:  # a row that moved before has joined this one
            continue
        j = search.nearest(int(i), epsilon)
        repaired[inside[i]] = repaired.max() + 1 if j is None else repaired[inside[j]]
        if j is not None:
            settled[j] = True
    return repaired


# --- what was given ---------------------------------------------------------------------------------------


def _rows(X: Any) -> Floats:
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClueError("X must be a table of numbers, one row per point (not sparse).") from None
    if rows.ndim != 2 or (len(rows) and not rows.shape[1]):
        raise ClueError(f"X must be a table, one row per point; it has shape {rows.shape}.")
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        raise ClueError(f"X holds {rows[tuple(bad[0])]} in row {bad[0][0]}, column {bad[0][1]}.")
    require_squares(largest(rows), rows.dtype, "X")
    return np.ascontiguousarray(rows)


def _radius(name: str, value: Any) -> float:
    if isinstance(value, (int, float, np.number)) and 0 <= float(value) < np.inf:
        return float(value)
    raise ClueError(f"{name} is {value!r}; it must be a distance, 0 or more.")


def _labels(labels: ArrayLike, n: int) -> Ints:
    given = np.asarray(labels)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        what = f"it has shape {given.shape} and holds {given.dtype}"
        raise ClueError(f"labels needs one whole number per row ({n}); {what}.")
    if n and given.min() < -1:
        row = int(np.argmin(given))
        raise ClueError(f"row {row} has label {given[row]}; labels are 0 or more, or -1 for noise.")
    return given.astype(np.int64)


# --- delta ------------------------------------------------------------------------------------------------


def _close(X: Floats, delta: float) -> Ints:
    """Components of the graph that links rows closer than ``delta``; −1 for rows that are alone."""
    from cluewise.kernels import graphs

    parent = np.arange(len(X), dtype=np.int64)
    search = Search(X)
    waiting = np.ones(len(X), dtype=bool)
    chunk = 1
    while True:
        component, count = graphs.number_roots(parent)
        size = np.bincount(component, minlength=count + 1)
        # A link between two components has an end outside the largest: rows inside it need not be searched.
        left = waiting & (component != np.argmax(size))
        rows = np.flatnonzero(left & (size[component] <= search.crowd))[:chunk]
        if len(rows):
            for i, j, distance in search.pairs(rows, delta):
                near = distance < delta
                graphs.join_pairs(parent, i[near], j[near])
            waiting[rows] = False
            chunk = min(2 * chunk, 2**14)
        elif left.any():
            # Rows of a crowd have too many neighbors to visit; what matters is which rows are near the crowd.
            rows = np.flatnonzero(component == component[np.argmax(left)])
            i, j, distance = search.outside(rows, delta)
            near = distance < delta
            graphs.join_pairs(parent, i[near], j[near])
            waiting[rows] = near.any()
        else:
            name = np.where(size > 1, np.cumsum(size > 1) - 1, -1)
            return name[component]


# --- epsilon ----------------------------------------------------------------------------------------------


def _alone(X: Floats, epsilon: float) -> Ints:
    """Cannot-links between every row that has no other within ``epsilon`` and all other rows."""
    n = len(X)
    alone = np.flatnonzero(nearest_distance(X) > epsilon) if n > 1 else np.empty(0, dtype=np.int64)
    if len(alone) * n > MOST_PAIRS:
        raise ClueError(
            f"{len(alone)} rows have no other within epsilon={epsilon:g}, which makes more than {MOST_PAIRS} "
            "cannot-links; use cluewise.clues.check_epsilon and repair_epsilon on the result instead."
        )
    pairs = np.column_stack([np.repeat(alone, n), np.tile(np.arange(n), len(alone))])
    return pairs[pairs[:, 0] != pairs[:, 1]]
