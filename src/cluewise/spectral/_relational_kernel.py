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
"""Maximum number of rows for a dense solver."""

REDUCED = 5000
"""Maximum number of columns plus linked rows for which a linear kernel is reduced to a small dense problem."""

MOST = 200
"""Maximum number of eigenvectors from Lanczos iteration."""


class Linear:
    """The kernel X Xᵀ as an operator."""

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.shape = (len(x), len(x))

    def __matmul__(self, v: Floats) -> Floats:
        return np.asarray(self.x @ (self.x.T @ v))


class Relational(NamedTuple):
    """M = K + ξE."""

    kernel: Any  # (n, n) matrix or operator
    links: csr_array  # (n, n) E: weights of must-links less those of cannot-links
    gain: float  # ξ

    def times(self, v: Floats) -> Floats:
        """M v."""
        return self.kernel @ v + self.gain * (self.links @ v)


class Spectrum(NamedTuple):
    """Eigenvalues in decreasing order and their eigenvectors, with a positive entry of largest magnitude."""

    values: Floats  # (m,)
    vectors: Floats  # (n, m)


def leading(M: Relational, least: int, above: float) -> Spectrum:
    """At least ``least`` + 1 leading eigenpairs, and all with an eigenvalue above ``above``; fewer if others are 0."""
    n = M.links.shape[0]
    if isinstance(M.kernel, Linear) and np.count_nonzero(np.diff(M.links.indptr)) + M.kernel.x.shape[1] <= REDUCED:
        return _reduced(M, least, above)
    if n <= SMALL or least + 1 >= n:
        return _select_largest(*np.linalg.eigh(M.times(np.eye(n))), least, above)
    operator = LinearOperator((n, n), matvec=M.times, dtype=np.float64)
    count, start = least + 1, np.random.default_rng(0).normal(size=n)
    if not M.times(start).any():  # Lanczos iteration fails for a matrix of zeros
        return Spectrum(np.zeros(count), np.eye(n, count))
    while True:
        values, vectors = eigsh(operator, count, which="LA", v0=start)
        if values.min() <= above:
            return _select_largest(values, vectors, least, above)
        if 2 * count > min(MOST, n - 1):
            break
        count *= 2
    raise ValueError(f"{count} or more eigenvalues exceed cluster_cost={above}; raise it or lower link_gain.")


def _reduced(M: Relational, least: int, above: float) -> Spectrum:
    """Eigenpairs of X Xᵀ + ξE from a small dense problem.

    Eigenvectors of nonzero eigenvalues lie in the span of the t linked rows and of the columns of X at the other rows,
    which has t + d dimensions. Lanczos iteration would miss some of the many equal eigenvalues that links between pairs
    of rows produce.
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
    # The free rows are F = Q S^½ Uᵀ, where S and U are eigenvalues and eigenvectors of FᵀF and Q = F U S^−½ is
    # orthonormal.
    size, axes = size[kept], axes[:, kept]
    corner = x[tied] @ x[tied].T + M.gain * M.links[tied][:, tied].toarray()
    across = x[tied] @ (axes * np.sqrt(size))
    values, parts = np.linalg.eigh(np.block([[corner, across], [across.T, np.diag(size)]]))
    found = _select_largest(values, parts, least, above)
    vectors = x @ (axes / np.sqrt(size) @ found.vectors[len(tied) :])
    vectors[tied] = found.vectors[: len(tied)]
    return Spectrum(found.values, signed(vectors))


def _select_largest(values: Floats, vectors: Floats, least: int, above: float) -> Spectrum:
    """The requested eigenpairs, from eigenvalues in increasing order."""
    count = max(least + 1, int(np.count_nonzero(values > above)))
    return Spectrum(values[::-1][:count], signed(vectors[:, ::-1][:, :count]))


def halfway(values: Floats, k: int) -> float:
    """The mean of the k-th eigenvalue and the next; half the smallest positive one if there are at most k."""
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
