"""Bregman divergences: they replace the squared distance, while centers are still arithmetic means.

D(x, y) = φ(x) − φ(y) − (x − y)·∇φ(y). For every φ the mean minimizes Σ D(x_i, y) over y [Banerjee2005]_.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels import nonparametric

__all__ = ["NAMES", "Divergence", "divergence_of", "pairwise", "smooth"]

NAMES = ("sqeuclidean", "kl", "generalized_i", "itakura_saito")
"""Divergences without a parameter; the kernels in `nonparametric` identify them by their position in this tuple."""

EUCLIDEAN = 4
"""Code of the unsquared distance: not a Bregman divergence, but used for the printed tables of [Khashabi2015]_."""

SUM_TOLERANCE = 1e-4
"""How much the sum of a row may differ from 1, because of single precision and rounded shares."""


class Divergence:
    """One divergence: it reads rows, checks that they are in its domain, and compares them with centers."""

    def __init__(self, name: str, code: int, root: Floats | None = None, smoothing: float | None = None) -> None:
        self.name = name
        self.code = code
        self.root = root  # Mahalanobis: A = rootᵀ root
        self.smoothing = smoothing

    @property
    def is_distance(self) -> bool:
        """Whether only differences of rows count, so a shift of all rows changes nothing."""
        return self.code in (0, EUCLIDEAN)

    def read(self, x: Any, numbers: Ints) -> Floats:
        """Rows as a dense table of doubles, smoothed if requested; ``numbers`` are their row numbers for messages."""
        dense = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)
        if self.smoothing is None:
            return dense
        _refuse(dense < 0, dense, numbers, "smoothing requires counts")
        total = dense.sum(axis=1)
        if self.smoothing == 0 and not total.all():
            raise ValueError(f"row {int(numbers[total == 0][0])} of X is all zero; smoothing=0 cannot normalize it.")
        return smooth(dense, self.smoothing)

    def check(self, x: Floats, numbers: Ints) -> None:
        """Raise an error that names row and column if a row is outside the domain; distances accept all rows."""
        if self.name == "itakura_saito":
            _refuse(~(x > 0), x, numbers, "divergence='itakura_saito' requires positive numbers")
            return
        _refuse(x < 0, x, numbers, f"divergence={self.name!r} requires non-negative numbers")
        if self.name == "kl":
            total = x.sum(axis=1)
            off = np.flatnonzero(np.abs(total - 1) > SUM_TOLERANCE)
            if len(off):
                raise ValueError(
                    f"divergence='kl' requires rows that sum to 1, but row {int(numbers[off[0]])} of X sums to "
                    f"{float(total[off[0]])!r}; smoothing=0.3 turns counts into such rows."
                )

    def view(self, x: Floats) -> Floats:
        """Coordinates in which the divergence is computed: those of x, or transformed by the Mahalanobis matrix."""
        return x if self.root is None else x @ self.root.T


def divergence_of(given: Any, d: int, smoothing: float | None = None) -> Divergence:
    """The divergence with a name, or the Mahalanobis divergence of a positive semidefinite (d, d) matrix."""
    if smoothing is not None and not (isinstance(given, str) and given == "kl"):
        raise ValueError("smoothing turns counts into shares for divergence='kl'; leave it out for other divergences.")
    if isinstance(given, str):
        if given not in NAMES:
            known = ", ".join(map(repr, NAMES))
            raise ValueError(f"divergence={given!r} is not one of {known}, or a (d, d) matrix for Mahalanobis.")
        return Divergence(given, NAMES.index(given), smoothing=smoothing)
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (d, d):
        raise ValueError(
            f"a divergence matrix must have shape ({d}, {d}), one row per column of X; it has {matrix.shape}."
        )
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise ValueError("a divergence matrix must be symmetric and finite.")
    values, vectors = np.linalg.eigh(matrix)
    if values[0] < -1e-10 * max(values[-1], 0.0) or not values[-1] > 0:
        least = float(values[0])
        raise ValueError(f"a divergence matrix must be positive semidefinite; its smallest eigenvalue is {least!r}.")
    return Divergence("mahalanobis", 0, np.sqrt(np.maximum(values, 0))[:, None] * vectors.T)


def pairwise(x: Floats, centers: Floats, divergence: Divergence) -> Floats:
    """(k, rows) array of D(row, center)."""
    out = np.empty((len(centers), len(x)))
    nonparametric.divergences(divergence.view(x), divergence.view(centers), divergence.code, out)
    return out


def smooth(counts: Array, a: float = 0.3) -> Floats:
    """Laplace smoothing: turn counts into shares (c + a)/(Σ c + a·columns) that are never zero."""
    table = np.asarray(counts, dtype=np.float64)
    raised = table + a
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _refuse(bad: Array, x: Floats, numbers: Ints, rule: str) -> None:
    if bad.any():
        row, column = (int(at) for at in np.argwhere(bad)[0])
        raise ValueError(f"{rule}, but X holds {float(x[row, column])!r} in row {int(numbers[row])}, column {column}.")
