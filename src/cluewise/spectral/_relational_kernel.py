"""Relational kernels: a kernel of rows with links added to it, and its leading eigenvectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from cluewise._typing import Floats, Ints
from cluewise.core.distances.metric import signed

__all__ = ["Linear", "Relational", "Spectrum", "association", "halfway", "leading"]

SMALL = 1000
"""Up to this many rows all eigenvectors are computed at once."""

REDUCED = 5000
"""Up to this many columns and linked rows together the eigenvectors of a linear kernel with links are exact."""

MOST = 200
"""Most eigenvectors that Lanczos iteration is asked for, beyond those of the clusters that are expected."""


class Linear:
    """The kernel X Xᵀ, which is not written out."""

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.shape = (len(x), len(x))

    def __matmul__(self, v: Floats) -> Floats:
        return np.asarray(self.x @ (self.x.T @ v))


class Relational(NamedTuple):
    """M = K + ξE."""

    kernel: Any  # (n, n), or what multiplies like it
    links: csr_array  # (n, n) E: weights of must-links less those of cannot-links
    gain: float  # ξ

    def times(self, v: Floats) -> Floats:
        """M v."""
        return self.kernel @ v + self.gain * (self.links @ v)


class Spectrum(NamedTuple):
    """Eigenvalues, the largest first, and their eigenvectors, whose entry of largest size is positive."""

    values: Floats  # (m,)
    vectors: Floats  # (n, m)


def leading(M: Relational, least: int, above: float) -> Spectrum:
    """More than ``least`` leading eigenpairs, where there are so many of eigenvalue other than 0, and all above."""
    n = M.links.shape[0]
    if isinstance(M.kernel, Linear) and np.count_nonzero(np.diff(M.links.indptr)) + M.kernel.x.shape[1] <= REDUCED:
        return _reduced(M, least, above)
    if n <= SMALL or least + 1 >= n:
        return _falling(*np.linalg.eigh(M.times(np.eye(n))), least, above)
    operator = LinearOperator((n, n), matvec=M.times, dtype=np.float64)
    count, start = least + 1, np.random.default_rng(0).normal(size=n)
    if not M.times(start).any():  # Lanczos iteration does not start from a matrix of zeros
        return Spectrum(np.zeros(count), np.eye(n, count))
    while True:
        values, vectors = eigsh(operator, count, which="LA", v0=start)
        if values.min() <= above:
            return _falling(values, vectors, least, above)
        if 2 * count > min(MOST, n - 1):
            break
        count *= 2
    raise ValueError(f"{count} or more eigenvalues exceed cluster_cost={above}; raise it, or lower link_gain.")


def _reduced(M: Relational, least: int, above: float) -> Spectrum:
    """Eigenpairs of X Xᵀ + ξE from those of a small matrix: all but the eigenvalue 0 live in t + d dimensions.

    These are the t linked rows, and the columns of X at the others. Lanczos iteration would miss eigenvalues that pairs
    of rows make, which are many and equal.
    """
    x, n = M.kernel.x, M.links.shape[0]
    tied = np.flatnonzero(np.diff(M.links.indptr))
    free = np.delete(np.arange(n), tied)
    gram = np.zeros((x.shape[1], x.shape[1]))
    for start in range(0, len(free), 8192):
        some = x[free[start : start + 8192]]
        gram += some.T @ some
    size, axes = np.linalg.eigh(gram)
    kept = size > 1e-12 * size.max(initial=0.0)
    # Free rows are F = Q S^½ Uᵀ, with S and U the eigenvalues and eigenvectors of FᵀF, and Q = F U S^−½ orthonormal.
    size, axes = size[kept], axes[:, kept]
    corner = x[tied] @ x[tied].T + M.gain * M.links[tied][:, tied].toarray()
    across = x[tied] @ (axes * np.sqrt(size))
    values, parts = np.linalg.eigh(np.block([[corner, across], [across.T, np.diag(size)]]))
    found = _falling(values, parts, least, above)
    vectors = x @ (axes / np.sqrt(size) @ found.vectors[len(tied) :])
    vectors[tied] = found.vectors[: len(tied)]
    return Spectrum(found.values, signed(vectors))


def _falling(values: Floats, vectors: Floats, least: int, above: float) -> Spectrum:
    """Those that were asked for, out of rising eigenvalues."""
    count = max(least + 1, int(np.count_nonzero(values > above)))
    return Spectrum(values[::-1][:count], signed(vectors[:, ::-1][:, :count]))


def halfway(values: Floats, k: int) -> float:
    """Between the k-th eigenvalue and the next, so that k are above; half the least positive one where so few are."""
    positive = values[values > 1e-10 * np.abs(values).max(initial=0.0)]
    if len(positive) > k:
        return float(positive[k - 1] + positive[k]) / 2
    return float(positive[-1]) / 2 if len(positive) else 1.0


def association(M: Relational, labels: Ints, cost: float) -> float:
    """tr(Yᵀ(M − λI)Y) of a partition, Y = Z(ZᵀZ)^−½: the larger the better."""
    _, cluster = np.unique(labels, return_inverse=True)
    Y = np.zeros((len(labels), int(cluster.max()) + 1))
    Y[np.arange(len(labels)), cluster] = 1 / np.sqrt(np.bincount(cluster))[cluster]
    return float((Y * M.times(Y)).sum()) - cost * Y.shape[1]
