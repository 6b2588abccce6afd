"""Leading eigenvectors of the normalized affinity D^−½ A D^−½, the lowest of the Laplacian I − D^−½ A D^−½.

A disconnected graph is solved piece by piece: its eigenvalue 1 is multiple, and a Krylov method that starts from one
vector finds only one of the eigenvectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Floats, Ints
from cluewise.core.distances.metric import signed

__all__ = ["Spectrum", "degrees", "find_pieces", "leading", "normalized"]

SMALL = 500
"""Maximum number of rows for a dense solver."""


RESTARTS = 300
"""Restarts of the plain Lanczos iteration before shift-invert is tried."""


class Spectrum(NamedTuple):
    """Leading eigenvectors of the normalized affinity; those of eigenvalue λ belong to 1 − λ of the Laplacian."""

    values: Floats  # (m,) falling
    vectors: Floats  # (n, m) of length 1, with a positive entry of largest magnitude
    degrees: Floats  # (n,) summed weights; 1 for rows without neighbors


def degrees(affinity: Any) -> Floats:
    """Summed weights of each row; 1 for rows without neighbors, to allow division."""
    total = np.asarray(affinity.sum(axis=1)).ravel().astype(np.float64)
    return np.where(total > 0, total, 1.0)


def normalized(affinity: Any, degree: Floats) -> Any:
    """D^−½ A D^−½, dense or sparse like A."""
    root = 1 / np.sqrt(degree)
    if isinstance(affinity, np.ndarray):
        scaled = affinity * root
        scaled *= root[:, None]
        return scaled
    scale = diags_array(root)
    return csr_array(scale @ affinity @ scale)


def leading(affinity: Any, m: int, tol: float = 1e-10) -> Spectrum:
    """The m leading eigenvectors, or all if there are fewer rows."""
    n = affinity.shape[0]
    m = min(m, n)
    degree = degrees(affinity)
    N = normalized(affinity, degree)
    count, piece = find_pieces(affinity)
    if count == 1:
        values, vectors = _connected(N, m, np.sqrt(degree), tol)
        return Spectrum(values, signed(vectors), degree)
    found: list[tuple[float, int, Floats]] = []
    order = np.argsort(piece, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(piece))[:-1]):
        own = N[rows][:, rows]
        if len(rows) == 1:
            found.append((1.0, int(rows[0]), np.ones(1)))
            continue
        values, vectors = _connected(own, min(m, len(rows)), np.sqrt(degree[rows]), tol)
        found += [(value, int(rows[0]), vector) for value, vector in zip(values.tolist(), vectors.T)]
    size = np.bincount(piece)
    # Among equal eigenvalues those of larger pieces come first.
    found.sort(key=lambda one: (-one[0], -size[piece[one[1]]], one[1]))
    vectors = np.zeros((n, m))
    for h, (_, row, vector) in enumerate(found[:m]):
        vectors[piece == piece[row], h] = vector
    return Spectrum(np.array([value for value, _, _ in found[:m]]), signed(vectors), degree)


def find_pieces(affinity: Any) -> tuple[int, Ints]:
    """Number of connected pieces, and the piece of each row."""
    n = affinity.shape[0]
    # If the first row is connected to all others, there is no need for a sparse copy of a dense matrix.
    if isinstance(affinity, np.ndarray) and np.count_nonzero(affinity[0]) == n - 1:
        return 1, np.zeros(n, dtype=np.int32)
    count, piece = connected_components(csr_array(affinity), directed=False)
    return int(count), piece


def _connected(N: Any, m: int, first: Floats, tol: float) -> tuple[Floats, Floats]:
    """Leading eigenpairs of a connected piece, whose first eigenvector is known: D^½ 1, of eigenvalue 1."""
    from scipy.linalg import eigh

    n = N.shape[0]
    top = first / np.linalg.norm(first)
    values: Floats
    if m == 1:
        values, vectors = np.empty(0), np.empty((n, 0))
    elif n <= max(SMALL, 3 * m):
        table = N if isinstance(N, np.ndarray) else N.toarray()
        # All eigenvalues are at least −1; deflation moves the known one to −2.
        values, vectors = eigh(table - 3 * np.outer(top, top), subset_by_index=[n - m + 1, n - 1])
    else:
        values, vectors = _krylov(N, m - 1, top, tol)
    order = np.argsort(-values, kind="stable")
    return np.append(1.0, np.minimum(values[order], 1.0)), np.column_stack([top, vectors[:, order]])


def _krylov(N: Any, m: int, top: Floats, tol: float) -> tuple[Floats, Floats]:
    """The leading eigenpairs except the known one, by Lanczos iteration from a fixed start."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

    n = len(top)

    def beside(v: Floats) -> Floats:
        return v - (top @ v) * top

    start = beside(np.random.default_rng(0).normal(size=n))
    plain = LinearOperator((n, n), matvec=lambda v: N @ v - (3 * (top @ v)) * top, dtype=np.float64)
    try:
        # With SciPy's default of 2m + 1 vectors, most of the time goes into reorthogonalization.
        room = min(max(3 * m // 2, m + 20), n)
        values, vectors = eigsh(plain, m, which="LA", v0=start, tol=tol, ncv=room, maxiter=RESTARTS)
        return values, vectors
    except ArpackNoConvergence:
        # Long thin graphs, such as curves in the plane, converge slowly, but have sparse factors: use shift-invert.
        shift = 1 + 1e-7
        matrix = diags_array(np.full(n, shift)) - csr_array(N)
        solve = splu(csc_array(matrix), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve
        inverse = LinearOperator((n, n), matvec=lambda v: beside(solve(beside(v))), dtype=np.float64)
        values, vectors = eigsh(inverse, m, which="LA", v0=start, tol=tol)
        return shift - 1 / values, vectors
