"""Mahalanobis matrices: pair differences in blocks, scatter of chunklets, square roots with rank handling, whitening.

A metric is a positive semidefinite matrix M with distance² ΔᵀMΔ. It is kept as a root L, (r, d), with M = LᵀL, so that
rows seen through it are ``X @ L.T``. Rank is decided in columns divided by their standard deviation (`Scale`), so that
it does not depend on units, and a column that is constant counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cluewise._squares import negligible
from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import group_means
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.core.views import list_components, number_rows

__all__ = [
    "Chunklets",
    "Scale",
    "Spectrum",
    "blocks",
    "chunklets",
    "covariance",
    "differences",
    "differs",
    "distances",
    "eigen",
    "eigen_of_root",
    "leading",
    "root",
    "scale_of",
    "scatter",
    "seen",
    "shrinkage_for",
    "shrunk",
    "signed",
    "upright",
    "whitening",
]

BLOCK_BYTES = 2**22
"""Pair differences per block."""

LEAST = 64
"""Pairs in a block at least."""

RANK = 1e-10
"""A direction whose eigenvalue is below this share of the largest one counts as none: what rounding leaves of zero."""


UPRIGHT = 1e-7
"""Least share of the largest singular value, for a root that is turned: half of the digits are left then."""


class Spectrum(NamedTuple):
    """Eigenvalues, largest first, and eigenvectors as columns, of a positive semidefinite matrix."""

    values: Floats  # (r,) above the rank threshold
    vectors: Floats  # (d, r), the largest entry of each column positive


class Scale(NamedTuple):
    """Standard deviation of every column that varies."""

    varying: Bools  # (d,)
    deviation: Floats  # (d,), 1 for a column that is constant

    def standard(self, C: Floats) -> Floats:
        """A covariance in columns that vary, divided by their deviation."""
        s = self.deviation[self.varying]
        return C[np.ix_(self.varying, self.varying)] / np.outer(s, s)

    def raw(self, L: Floats) -> Floats:
        """A root for the columns as they are, from one for the standard columns."""
        out = np.zeros((len(L), len(self.varying)))
        out[:, self.varying] = L / self.deviation[self.varying]
        return out


class Chunklets(NamedTuple):
    """Must-link components of two or more rows."""

    rows: Ints  # (p,) the rows in them
    of_row: Ints  # (p,) chunklet of each of those
    means: Floats  # (J, d) relative to the shift
    sizes: Ints  # (J,)


def blocks(count: int, d: int) -> Iterator[slice]:
    """Slices of ``count`` pairs whose differences in d columns fit into `BLOCK_BYTES`."""
    size = max(BLOCK_BYTES // (8 * max(d, 1)), LEAST)
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def differences(X: Floats, pairs: Ints) -> Floats:
    """(m, d) rows x_i − x_j in double precision; for as many pairs as one of the `blocks`."""
    return X[pairs[:, 0]].astype(np.float64) - X[pairs[:, 1]].astype(np.float64)


def distances(off: Floats, L: Floats) -> Floats:
    """Distance √(ΔᵀMΔ) of every difference."""
    turned = off @ L.T
    return np.sqrt(np.einsum("ij,ij->i", turned, turned))


def scale_of(rows: Rows) -> Scale:
    """Standard deviations of the columns, over all rows."""
    if rows.crowd is not None:
        return _scale(rows.crowd.variance, rows.crowd.variance + rows.crowd.mean**2, rows.dtype)

    def work(block: slice) -> tuple[Floats, Floats]:
        x = rows.take(block).astype(np.float64)
        return x.sum(axis=0), np.einsum("ij,ij->j", x, x)

    total, square = np.zeros(rows.d), np.zeros(rows.d)
    for first, second in map_blocks(work, rows.blocks(1)):
        total, square = total + first, square + second
    return _scale(np.maximum(square / rows.n - (total / rows.n) ** 2, 0), square / rows.n, rows.dtype)


def _scale(variance: Floats, square: Floats, dtype: Any) -> Scale:
    """The scale, given the variances of the columns and their mean squares."""
    varying = (variance > 1e-12 * square) & ~negligible(variance, dtype)  # constant up to rounding
    return Scale(varying, np.where(varying, np.sqrt(variance), 1.0))


def covariance(rows: Rows) -> Floats:
    """Covariance of all rows around their mean."""
    if rows.crowd is not None:
        return rows.crowd.find_covariance()
    everyone = np.zeros(rows.n, dtype=np.int32)
    means, _ = group_means(rows, everyone, 1)
    all_rows = Chunklets(np.arange(rows.n), everyone, means, np.array([rows.n]))
    return scatter(rows, all_rows, np.array([1 / rows.n]))


def differs(C: Floats, n: int) -> bool:
    """Whether a covariance of standard columns is more than rounding makes of it where rows, n in all, are equal.

    The mean of equal rows is wrong by up to half a rounding per row, in terms of rows whose variance is 1.
    """
    return bool(np.trace(C) > len(C) * (16 * np.finfo(np.float64).eps * n) ** 2)


def chunklets(rows: Rows, clues: Clues) -> Chunklets:
    """The chunklets of the clues with their means; one pass over their rows."""
    found, sizes = list_components(clues)
    of_row = number_rows(clues, found)
    means, _ = group_means(rows, of_row, len(found))
    inside = np.flatnonzero(of_row >= 0)
    return Chunklets(inside, of_row[inside], means, sizes)


def scatter(rows: Rows, within: Chunklets, weight: Floats) -> Floats:
    """Σ_j weight_j Σ (x − m_j)(x − m_j)ᵀ over the rows of each chunklet."""

    def work(part: slice) -> Floats:
        mine = within.of_row[part]
        off = rows.take(within.rows[part]).astype(np.float64) - within.means[mine]
        off *= np.sqrt(weight[mine])[:, None]
        return off.T @ off

    total = np.zeros((rows.d, rows.d))
    for more in map_blocks(work, list(blocks(len(within.rows), rows.d)), spare=1):
        total += more
    return total


def eigen(M: Floats, rank: float = RANK) -> Spectrum:
    """Eigenpairs of a positive semidefinite matrix, without those that rounding alone could have made."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    kept = np.flatnonzero(values > rank * values.max(initial=0.0))[::-1]
    return Spectrum(values[kept], signed(vectors[:, kept]))


def signed(vectors: Floats) -> Floats:
    """Fix the signs of eigenvectors, so that the same matrix gives the same ones on every machine."""
    if not vectors.size:  # rows that are all zero have none worth having
        return vectors
    top = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[top, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def eigen_of_root(L: Floats) -> Spectrum:
    """Spectrum of LᵀL through the singular values of L, which keep twice the digits of eigenvalues."""
    _, values, rows = np.linalg.svd(L, full_matrices=False)
    kept = values > RANK * values.max(initial=0.0)
    return Spectrum(values[kept] ** 2, signed(rows[kept].T))


def leading(found: Spectrum, count: int | None) -> Spectrum:
    """The ``count`` largest eigenvalues with their vectors; None for all."""
    return Spectrum(found.values[:count], found.vectors[:, :count])


def root(found: Spectrum) -> Floats:
    """L with LᵀL = V diag(values) Vᵀ: symmetric where the rank is full, so that columns keep their meaning."""
    values, vectors = found
    rows = np.sqrt(values)[:, None] * vectors.T
    return vectors @ rows if len(values) == len(vectors) else rows


def upright(L: Floats) -> Floats:
    """A root turned so that it is symmetric, if it is square and rounding leaves enough digits for that."""
    if len(L) != L.shape[1]:
        return L
    found = eigen_of_root(L)
    values = np.sqrt(found.values)
    return root(found) if len(values) == len(L) and values[-1] > UPRIGHT * values[0] else L


def shrinkage_for(d: int, freedom: int) -> float:
    """Share of the identity in a covariance of d columns: that of d/2 imaginary rows beside ``freedom`` real ones."""
    return d / (d + 2 * freedom)


def shrunk(C: Floats, share: float) -> Floats:
    """(1 − share) C + share tr(C)/d I, for a covariance or for variances alone."""
    d = len(C)
    return (1 - share) * C + share * (np.full(d, C.mean()) if C.ndim == 1 else np.trace(C) / d * np.eye(d))


def whitening(within: Floats, between: Floats | None = None, count: int | None = None) -> Floats:
    """L, (r, d), with L C_w Lᵀ = I; where C_w has no variance there is no row.

    With C_b, only directions in which that is not zero, and of these the ``count`` with the least C_w per C_b: Z = U
    Λ_b^{−1/2} from C_b = UΛ_bUᵀ, ZᵀC_wZ = VΛ_wVᵀ, L = Λ_w^{−1/2}VᵀZᵀ.
    """
    if between is None:
        values, vectors = eigen(within)
        return vectors.T / np.sqrt(values)[:, None]
    values, vectors = eigen(between)
    Z = vectors / np.sqrt(values)
    ratio, turn = eigen(Z.T @ within @ Z)
    ratio, turn = ratio[::-1][:count], turn[:, ::-1][:, :count]
    return (Z @ turn).T / np.sqrt(ratio)[:, None]


def seen(X: Floats, L: Floats) -> Floats:
    """Rows as the metric sees them, in the precision of X."""
    return X @ L.T.astype(X.dtype, copy=False)
