"""Labels as codes, and the sparse table that counts how two labelings meet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import ArrayLike, Ints

__all__ = ["Table", "best_matching", "codes_of", "contingency", "paired_codes"]


class Table(NamedTuple):
    """The cells of a contingency table that are not zero, row by row."""

    rows: Ints
    columns: Ints
    counts: Ints
    shape: tuple[int, int]


def codes_of(values: ArrayLike, name: str) -> Ints:
    """Labels of any sortable kind as codes 0, 1, … in sorted order."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} needs one label per row, but has {array.ndim} dimensions.")
    if array.dtype.kind in "fO":
        missing = np.asarray(array != array, dtype=bool)  # only NaN differs from itself
        if missing.any():
            raise ValueError(f"{name} has no label (NaN) in row {int(np.argmax(missing))}.")
    try:
        return np.unique(array, return_inverse=True)[1]
    except TypeError:
        raise ValueError(f"{name} mixes labels of different types that cannot be sorted.") from None


def paired_codes(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[Ints, Ints]:
    """Codes of two labelings of the same rows, of which there is at least one."""
    truth, found = codes_of(y_true, "y_true"), codes_of(y_pred, "y_pred")
    if len(truth) != len(found):
        raise ValueError(f"y_true has {len(truth)} labels, but y_pred has {len(found)}.")
    if len(truth) == 0:
        raise ValueError("there are no labels to compare.")
    return truth, found


def contingency(rows: Ints, columns: Ints) -> Table:
    """Count how often each pair of codes occurs."""
    shape = int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1
    cells, counts = np.unique(rows.astype(np.int64) * shape[1] + columns, return_counts=True)
    width = max(shape[1], 1)
    return Table(cells // width, cells % width, counts, shape)


def best_matching(table: Table) -> Ints:
    """Column matched with each row, one to one and with the largest sum of counts; −1 = none.

    The assignment problem, solved on the nonzero cells only. Time grows with the square of the shorter side.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n_rows, n_columns = table.shape
    if n_rows > n_columns:
        partner = best_matching(Table(table.columns, table.rows, table.counts, (n_columns, n_rows)))
        back = np.full(n_rows, -1)
        back[partner[partner >= 0]] = np.flatnonzero(partner >= 0)
        return back
    # Every row also gets a private column worth nothing, so that a full matching exists. All weights are one higher
    # than the counts, because a sparse graph reads 0 as "no edge".
    own = np.arange(n_rows)
    rows = np.concatenate([table.rows, own]).astype(np.int32)
    columns = np.concatenate([table.columns, own + n_columns]).astype(np.int32)
    weights = np.concatenate([table.counts + 1.0, np.ones(n_rows)])
    graph = csr_matrix((weights, (rows, columns)), shape=(n_rows, n_columns + n_rows))
    matched = np.asarray(min_weight_full_bipartite_matching(graph, maximize=True)[1])
    return np.where(matched < n_columns, matched, -1)
