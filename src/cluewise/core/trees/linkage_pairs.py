"""Trees from a table of distances between all must-link components: single, complete and average linkage.

Ward's linkage, too, where there are many columns: a table is then faster than `linkage_means`, but takes memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.core.threads import map_blocks, pieces
from cluewise.core.trees.linkage import Merges, Watch
from cluewise.kernels import linkage as kernel

__all__ = [
    "METRICS",
    "RULES",
    "WIDE",
    "merge_by_distance",
    "paired",
    "pairwise",
    "table_bytes",
    "table_of",
    "ward_table",
]

RULES = {"single": 0, "complete": 1, "average": 2, "ward": 3}

METRICS = (
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "euclidean",
    "hamming",
    "sqeuclidean",
)
"""Distances of SciPy that two rows determine, without looking at the others."""

ROUNDING = 1e-6
"""Share of the largest distance by which the two ways between rows may differ."""

BLOCK = 2**18
"""Distances per block."""

WIDE = 48
"""With more columns than these a table of Ward's distances pays."""

BUDGET = 3 * 10**6
"""Distances (some tens of milliseconds) between two checks for Ctrl-C."""


def table_bytes(m: int) -> int:
    """Memory for the distances between m clusters."""
    return 4 * m * (m - 1)


def pairwise(X: Floats, metric: Any, to: Floats | None = None) -> Callable[[Ints, Ints], Floats]:
    """``distance(some, others)``: of rows of X to rows of ``to`` (None: of X), or the entries of X if it has them."""
    if isinstance(metric, str) and metric == "precomputed":
        return lambda some, others: X[some][:, others].astype(np.float64, copy=False)
    from scipy.spatial.distance import cdist

    rows = X.astype(np.float64, copy=False)
    columns = rows if to is None else to.astype(np.float64, copy=False)

    def distance(some: Ints, others: Ints) -> Floats:
        found: Floats = cdist(rows[some], columns[others], metric)
        if not np.isfinite(found).all():
            i, j = np.argwhere(~np.isfinite(found))[0]
            raise ValueError(
                f"the distance between rows {some[i]} and {others[j]} is {found[i, j]}; metric={metric!r} is not "
                "defined for them, or their numbers are too large."
            )
        if callable(metric):
            _require_metric(found, some, others, own=to is None)
        return found

    return distance


def _require_metric(found: Floats, some: Ints, others: Ints, own: bool) -> None:
    """Refuse negative distances, and those of two rows that differ where both ways are at hand."""
    if (found < 0).any():
        i, j = np.argwhere(found < 0)[0]
        raise ValueError(
            f"the distance between rows {some[i]} and {others[j]} is {found[i, j]:g}; distances are not negative."
        )
    if own and np.array_equal(others[: len(some)], some):
        square = found[:, : len(some)]
        differs = np.abs(square - square.T) > ROUNDING * square.max(initial=0.0)
        if differs.any():
            i, j = np.argwhere(differs)[0]
            raise ValueError(
                f"the distance between rows {some[i]} and {some[j]} is {square[i, j]:g}, but {square[j, i]:g} the "
                "other way round; a metric is symmetric."
            )


def paired(X: Floats, metric: Any, first: Ints, second: Ints) -> Floats:
    """Distance of each row in ``first`` from the row in the same place of ``second``."""
    if isinstance(metric, str) and metric == "euclidean":
        return np.sqrt(((X[first].astype(np.float64) - X[second]) ** 2).sum(axis=1))
    distance = pairwise(X, metric)
    pairs = zip(first[:, None], second[:, None])
    return np.array([distance(i, j)[0, 0] for i, j in pairs], dtype=np.float64)


def table_of(distance: Callable[[Ints, Ints], Floats], clues: Clues, linkage: str) -> Floats:
    """Condensed distances between the components of the clues; infinity where two must be apart."""
    table = _condensed(distance, clues.components, clues.n_components, linkage)
    _keep_apart(table, clues)
    return table


def ward_table(means: Floats, size: Floats, clues: Clues) -> Floats:
    """Condensed Ward distances |A||B|/(|A|+|B|)·‖m_A − m_B‖² of the components; infinity where two must be apart."""
    m = len(size)
    table = _condensed(pairwise(means.T, "sqeuclidean"), np.arange(m), m, "single")
    for i in range(m - 1):
        table[_begin(i, m) + i + 1 : _begin(i, m) + m] *= size[i] * size[i + 1 :] / (size[i] + size[i + 1 :])
    _keep_apart(table, clues)
    return table


def _condensed(distance: Callable[[Ints, Ints], Floats], component: Ints, m: int, linkage: str) -> Floats:
    """Condensed distances between m components of the rows."""
    n = len(component)
    order = np.argsort(component, kind="stable")
    start = np.searchsorted(component[order], np.arange(m))
    size = np.diff(np.append(start, n))
    combine = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    table = np.empty(m * (m - 1) // 2)
    some = _rows_at_once(n)

    def work(piece: slice) -> None:
        rows, columns = order[start[piece.start] :], order[start[piece.start] :]
        if piece.stop < m:
            rows = order[start[piece.start] : start[piece.stop]]
        if m == n:
            found = distance(rows, columns)
        else:
            inside = start[piece.start :] - start[piece.start]
            parts = [rows] if piece.stop > piece.start + 1 else np.split(rows, np.arange(some, len(rows), some))
            found = _reduced(distance, parts, columns, inside, combine)
            if linkage == "average":
                found /= np.multiply.outer(size[piece], size[piece.start :])
        for i in range(piece.start, piece.stop):
            table[_begin(i, m) + i + 1 : _begin(i, m) + m] = found[i - piece.start, i - piece.start + 1 :]

    for _ in map_blocks(work, pieces(size, some)):
        continue  # Ctrl-C is answered between two blocks
    return table


def _reduced(
    distance: Callable[[Ints, Ints], Floats], parts: Sequence[Ints], columns: Ints, inside: Ints, combine: np.ufunc
) -> Floats:
    """Combined distances of whole components, or of one that comes in several parts because it has many rows."""
    found = combine.reduceat(distance(parts[0], columns), inside, axis=1)
    if len(parts) == 1:
        return np.asarray(combine.reduceat(found, inside[inside < len(parts[0])], axis=0))
    line = combine.reduce(found, axis=0)
    for rows in parts[1:]:
        found = combine.reduceat(distance(rows, columns), inside, axis=1)
        line = combine(line, combine.reduce(found, axis=0))
    return np.asarray(line[None])


def _keep_apart(table: Floats, clues: Clues) -> None:
    """Infinity between components that must be apart."""
    m, graph, cliques = clues.n_components, clues.graph, clues.cliques
    low = np.repeat(np.arange(m), np.diff(graph.indptr))
    table[(_begin(low, m) + graph.indices)[low < graph.indices]] = np.inf
    for begin, stop in zip(cliques.indptr[:-1], cliques.indptr[1:]):
        members = cliques.members[begin:stop].astype(np.int64)
        for i in range(len(members) - 1):
            table[_begin(members[i], m) + members[i + 1 :]] = np.inf


def _begin(i: Any, m: int) -> Any:
    """Where row i of a condensed table begins, such that the distance of i < j is at begin + j."""
    return i * m - (i * (i + 1)) // 2 - i - 1


def _rows_at_once(n: int) -> int:
    return max(BLOCK // n, 1)


def merge_by_distance(table: Floats, size: Floats, linkage: str, watch: Watch) -> Merges:
    """All unions that a linkage makes, at SciPy's heights; the table is overwritten."""
    m = len(size)
    left, right, height = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    active, chain, at = np.arange(m), np.empty(m, np.int64), np.array([m, 0, 0])
    found, stop = Merges(left[:0], right[:0], height[:0]), False
    while at[0] > 0 and not stop:
        kernel.chain_pairs(table, size, active, chain, at, left, right, height, RULES[linkage], BUDGET)
        heights = height[: at[2]]
        found = Merges(left[: at[2]], right[: at[2]], np.sqrt(2 * heights) if linkage == "ward" else heights)
        stop = watch(found)
    return found
