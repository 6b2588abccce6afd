"""Vectors that satisfy the links and cut the graph least: the pencil of flexible constrained spectral clustering.

The problem is solved in the span of the given eigenvectors of the Laplacian; with all of them it is exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from cluewise._typing import Floats
from cluewise.core.graphs.laplacian import Spectrum

__all__ = ["Feasible", "feasible_vectors", "required_level"]

FLAT = 1e-8
"""Lower limit of nontrivial eigenvalues of the Laplacian, which are 0 for a disconnected graph."""


class Feasible(NamedTuple):
    """Feasible vectors by increasing cost."""

    vectors: Floats  # (n, m), of squared length vol
    costs: Floats  # (m,) vᵀL̄v
    threshold: float  # β
    highest: float  # β from which no vector is feasible


def feasible_vectors(spectrum: Spectrum, links: Any, k: int, level: float) -> Feasible:
    """Solve L̄v = λ(Q̄ − β/vol I)v for λ > 0; at most k − 1 vectors, those of lowest cost.

    ``links`` is Q, sparse: positive for must-links, negative for cannot-links.
    """
    costs, basis = _beside_trivial(spectrum)
    root = np.sqrt(spectrum.degrees)
    volume = float(spectrum.degrees.sum())
    trivial = root / np.sqrt(volume)
    both = np.column_stack([trivial, basis])
    tied = np.flatnonzero(np.diff(links.indptr))
    scaled = both[tied] / root[tied, None]
    Q = scaled.T @ (links[tied][:, tied] @ scaled)
    beta, top = required_level(Q, k, level)
    M = Q - beta * np.eye(len(Q))
    # Row 0 of L̄ is zero, because the trivial vector costs nothing. So row 0 of the pencil reads M₀·c = 0, which gives
    # the coefficient of the trivial vector; the Schur complement `rest` is the problem for the others.
    corner = M[0, 0] if abs(M[0, 0]) > 1e-12 * np.abs(M).max() else 1e-12 * np.abs(M).max()
    rest = M[1:, 1:] - np.outer(M[1:, 0], M[0, 1:]) / corner
    # With c = L̄^−½ y this is an ordinary symmetric problem, whose eigenvalues are 1/λ.
    scale = 1 / np.sqrt(costs)
    values, y = eigh(scale[:, None] * rest * scale)
    kept = values > 1e-13 * max(np.abs(values).max(initial=0.0), 1e-300)
    c = scale[:, None] * y[:, kept]
    c = np.vstack([-(M[0, 1:] @ c)[None] / corner, c])
    c *= np.sqrt(volume) / np.linalg.norm(c, axis=0)
    paid = costs @ c[1:] ** 2
    chosen = np.argsort(paid, kind="stable")[: k - 1]
    return Feasible(both @ c[:, chosen], paid[chosen], beta * volume, top * volume)


def required_level(Q: Floats, k: int, level: float) -> tuple[float, float]:
    """β/vol as a share of the (k − 1)-th eigenvalue of Q̄, and the largest eigenvalue.

    Below the (k − 1)-th eigenvalue there are k − 1 feasible vectors. If the trivial vector (row and column 0) is
    feasible itself, it takes the place of one, and the k-th eigenvalue is used.
    """
    values = np.linalg.eigvalsh(Q)[::-1]
    most = np.abs(values).max()
    beta = 0.0
    for value in values[np.minimum([k - 2, k - 1], len(values) - 1)]:
        size = abs(value) if abs(value) > 1e-12 * most else most
        beta = float(value - (1 - level) * size)
        if Q[0, 0] < beta - 1e-9 * most:
            break
    return beta, float(values[0])


def _beside_trivial(spectrum: Spectrum) -> tuple[Floats, Floats]:
    """Eigenvalues and eigenvectors of the Laplacian, the latter orthogonal to the trivial one, D^½ 1."""
    costs = 1 - spectrum.values
    trivial = np.sqrt(spectrum.degrees)
    trivial /= np.linalg.norm(trivial)
    flat = costs <= FLAT
    own = spectrum.vectors[:, flat]
    # A disconnected graph has several eigenvectors of cost 0; any basis orthogonal to the trivial one will do.
    turned = np.linalg.svd((trivial @ own)[None])[2][1:].T
    return (
        np.append(np.full(turned.shape[1], FLAT), costs[~flat]),
        np.column_stack([own @ turned, spectrum.vectors[:, ~flat]]),
    )
