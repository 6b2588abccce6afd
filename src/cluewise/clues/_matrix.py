"""Links as a symmetric matrix: positive must-links, negative cannot-links, zero unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._pairs import Pairs

__all__ = ["clues_of", "matrix_of"]


def clues_of(E: Any) -> dict[str, Any]:
    """Keyword arguments for `Clues` from a matrix, dense or sparse."""
    try:
        E = E.astype(np.float64) if issparse(E) else np.asarray(E, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClueError("a matrix of links holds numbers: > 0 must-link, < 0 cannot-link.") from None
    if E.ndim != 2 or E.shape[0] != E.shape[1]:
        raise ClueError(f"a matrix of links is square; this one has shape {E.shape}.")
    entries = coo_array(E).tocsr().tocoo()  # entries listed twice add up
    bad = np.flatnonzero(np.isnan(entries.data))
    if len(bad):
        where = (int(entries.row[bad[0]]), int(entries.col[bad[0]]))
        raise ClueError(f"entry {where} of the matrix of links is nan.")
    kept = entries.data != 0
    row, column, value = entries.row[kept], entries.col[kept], entries.data[kept]
    upper = row <= column
    transposed = coo_array((value, (column, row)), shape=E.shape).tocsr()
    odd = (coo_array((value, (row, column)), shape=E.shape).tocsr() != transposed).tocoo()
    if odd.nnz:
        raise ClueError(
            f"a matrix of links is symmetric; entries ({odd.row[0]}, {odd.col[0]}) and "
            f"({odd.col[0]}, {odd.row[0]}) differ."
        )
    pairs = np.column_stack([row[upper], column[upper]])
    value = value[upper]
    return {
        "n": E.shape[0],
        "must": pairs[value > 0],
        "cannot": pairs[value < 0],
        "must_weight": value[value > 0],
        "cannot_weight": -value[value < 0],
    }


def matrix_of(pairs: Pairs, n: int) -> csr_array:
    """(n, n) sparse matrix of links; a pair that is in both lists has the difference of its weights."""
    first, second = pairs.ends.astype(np.int32).T
    weight = pairs.signed_weight
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    E = coo_array((np.concatenate([weight, weight]), ends), shape=(n, n)).tocsr()
    E.eliminate_zeros()
    E.sort_indices()
    return E
