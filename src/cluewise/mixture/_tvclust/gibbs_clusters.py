"""Clusters of a Gibbs sampler, Gaussian or of counts, with parameters that are integrated out or drawn.

Clusters live in slots, some of which are free (see `kernels.gibbs`). Both classes offer the same methods: ``gather``
and ``visit`` (parameters integrated out), ``draw``, ``open`` and ``likelihood`` (given the parameters), ``split``,
``merging`` and ``log_evidence``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp, multigammaln

from cluewise._typing import Floats, Ints
from cluewise.kernels import gibbs_counts, gibbs_normal
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart

__all__ = ["SLICE", "CountClusters", "PairOdds", "NormalClusters"]

SLICE = 5 * 10**7
"""Operations per call of a kernel, so that Ctrl-C works."""

LEAST = 1e-30
"""Lower limit of chi-squared draws, whose square roots are divisors."""


class PairOdds(NamedTuple):
    """The clues in the form that kernels take."""

    indptr: Ints  # CSR of the clues of each row: the other row and the number of the clue
    neighbor: Ints
    report: Ints
    pull: Floats  # (m,) contribution of each clue to the log-odds that its ends are together
    together: Floats  # (m,) summed probabilities that they are, written by the kernel

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        """All arrays, in the order of the kernels' arguments."""
        return self[:]


def room(k: int) -> int:
    """Number of slots for k clusters and some new ones."""
    return k + max(4, k // 2)


def pad(array: Any, slots: int) -> Any:
    """The array with empty slots appended."""
    return np.concatenate([array, np.zeros((slots - len(array), *array.shape[1:]), array.dtype)])


class NormalClusters:
    """Gaussian clusters under a Normal-inverse-Wishart base."""

    def __init__(self, X: Any, base: NormalInverseWishart, concentration: float, limit: int) -> None:
        self.X: Floats = np.ascontiguousarray(X, dtype=np.float64).view()
        self.X.flags.writeable = False  # always read-only: Numba compiles a kernel for each kind of array
        n, d = self.X.shape
        before = base.prior()
        upper = np.ascontiguousarray(before.root[0].T)
        self.base, self.limit = base, limit
        self.prior = (np.array(base.mean, dtype=np.float64), upper, float(base.strength))
        members: Floats = np.arange(n + 1, dtype=np.float64)
        nu, kappa = base.degrees + members, base.strength + members
        # The part of the Student-t log-density (ν − d + 1 degrees) that depends only on the number of members.
        flat = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * (nu + 1 - d)) - 0.5 * d * np.log(np.pi * (kappa + 1) / kappa)
        self.height = flat + np.log(np.maximum(members, 1.0))
        self.fresh: Floats = np.log(concentration) + base.log_predictive(self.X, before)[:, 0]
        # The same part of the log marginal of a cluster; the rest is −(ν/2) ln|Ψ|.
        self.level = multigammaln(0.5 * nu, d) - multigammaln(0.5 * base.degrees, d) - 0.5 * members * d * np.log(np.pi)
        self.level += 0.5 * base.degrees * before.log_det[0] + 0.5 * d * np.log(base.strength / kappa)
        self._resize(room(0))

    def _resize(self, slots: int) -> None:
        d = self.X.shape[1]
        self.counts: Ints = np.zeros(slots, np.int64)
        self.means: Floats = np.zeros((slots, d))
        self.uppers: Floats = np.zeros((slots, d, d))
        self.half_log_det: Floats = np.zeros(slots)
        self.centers: Floats = np.zeros((slots, d))  # drawn parameters: μ, and W with Λ = WWᵀ
        self.whiten: Floats = np.zeros((slots, d, d))

    def grow(self) -> None:
        """Twice as many slots."""
        slots = 2 * len(self.counts)
        self.counts, self.means = pad(self.counts, slots), pad(self.means, slots)
        self.uppers, self.half_log_det = pad(self.uppers, slots), pad(self.half_log_det, slots)
        self.centers, self.whiten = pad(self.centers, slots), pad(self.whiten, slots)

    def gather(self, labels: Ints) -> None:
        """All statistics anew from labels 0…k − 1 (−1: in no cluster)."""
        self._resize(room(int(labels.max(initial=-1)) + 1))
        gibbs_normal.gather_normal(self.X, labels, self.prior, self.counts, self.means, self.uppers, self.half_log_det)

    def visit(self, rows: Ints, start: int, uniforms: Floats, labels: Ints, links: PairOdds) -> int:
        """Collapsed visits to a slice of ``rows[start:]``; returns the first place not visited."""
        d = self.X.shape[1]
        stop = start + max(1, SLICE // (len(self.counts) * d * (d + 8)))
        table = self.counts, self.means, self.uppers, self.half_log_det
        return gibbs_normal.visit_normal(
            self.X,
            rows[:stop],
            start,
            uniforms,
            labels,
            self.prior,
            float(self.base.degrees),
            self.height,
            self.fresh,
            *table,
            *links.arrays,
            self.limit,
        )

    def split(
        self, seeds: Ints, rows: Ints, sides: Ints, uniforms: Floats, side: Ints, links: PairOdds
    ) -> tuple[float, float]:
        """Rows join one of two seeds; the log-probability of that, and the log joint less that of one cluster."""
        level = float(self.base.degrees), self.height, self.fresh
        return gibbs_normal.split_normal(
            self.X, seeds, rows, sides, uniforms, side, self.prior, *level, *links.arrays[:4]
        )

    def log_evidence(self) -> float:
        """Σ over clusters of the log marginal of their rows."""
        used = self.counts > 0
        n = self.counts[used]
        return float((self.level[n] - (self.base.degrees + n) * self.half_log_det[used]).sum())

    def merging(self, a: int, b: int) -> float:
        """Log marginal of two clusters as one, less those of both, approximately; ∞ if rounding dominates."""
        center, upper, strength = self.prior
        n = self.counts[[a, b]]
        kappa = strength + n
        away, factors = self.means[[a, b]] - center, np.triu(self.uppers[[a, b]])
        mean = kappa @ away / (strength + n.sum())
        moments = np.einsum("ki,k,kj->ij", away, kappa, away) - (strength + n.sum()) * np.outer(mean, mean)
        scatter = np.einsum("kji,kjl->il", factors, factors) - upper.T @ upper + moments
        sign, log_det = np.linalg.slogdet(scatter)
        if not sign > 0:
            return np.inf
        value = self.level[n.sum()] - 0.5 * (self.base.degrees + n.sum()) * log_det
        return float(value - (self.level[n] - (self.base.degrees + n) * self.half_log_det[[a, b]]).sum())

    def draw(self, rng: np.random.Generator) -> None:
        """Parameters of every cluster from their posterior."""
        for k in np.flatnonzero(self.counts):
            self._draw(int(k), self.means[k], self.uppers[k], int(self.counts[k]), rng)

    def open(self, slot: int, i: int, rng: np.random.Generator) -> None:
        """Parameters of a cluster of one row, from their posterior."""
        center, upper, strength = self.prior
        away = self.X[i] - center
        scatter = upper.T @ upper + strength / (strength + 1) * np.outer(away, away)
        self._draw(slot, center + away / (strength + 1), np.linalg.cholesky(scatter).T, 1, rng)

    def _draw(self, slot: int, mean: Floats, upper: Floats, count: int, rng: np.random.Generator) -> None:
        """Λ ~ Wishart(Ψ⁻¹, ν) by Bartlett's factor B (upper: Λ = U⁻¹BBᵀU⁻ᵀ), μ ~ N(m, (κΛ)⁻¹)."""
        d = len(mean)
        factor = np.triu(rng.standard_normal((d, d)), 1)
        degrees = self.base.degrees + count - np.arange(d - 1, -1, -1)
        np.fill_diagonal(factor, np.sqrt(np.maximum(rng.chisquare(degrees), LEAST)))
        whiten = dtrtrs(upper, factor)[0]
        away = dtrtrs(whiten, rng.standard_normal(d), trans=1)[0]
        self.whiten[slot] = whiten
        self.centers[slot] = mean + away / np.sqrt(self.base.strength + count)

    def likelihood(self, rows: Ints, slots: Ints) -> Floats:
        """(rows, slots) log-density given the drawn parameters."""
        x = self.X[rows]
        out = np.empty((len(rows), len(slots)))
        for column, k in enumerate(slots):
            white = (x - self.centers[k]) @ self.whiten[k]
            out[:, column] = np.log(np.diagonal(self.whiten[k])).sum() - 0.5 * np.einsum("ij,ij->i", white, white)
        return out - 0.5 * x.shape[1] * np.log(2 * np.pi)


class CountClusters:
    """Clusters of counts under a Dirichlet-multinomial base, without multinomial coefficients."""

    def __init__(self, X: Any, base: DirichletMultinomial, concentration: float, limit: int) -> None:
        cells = csr_array(X, dtype=np.float64, copy=True)
        cells.sum_duplicates()
        cells.eliminate_zeros()
        self.X: Any = X if isinstance(X, np.ndarray) else cells
        self.base, self.limit = base, limit
        self.cells = (cells.indptr.astype(np.int64), cells.indices.astype(np.int64), cells.data)
        self.row: Ints = np.repeat(np.arange(cells.shape[0]), np.diff(self.cells[0]))  # of every cell
        self.lengths: Floats = np.bincount(self.row, cells.data, cells.shape[0]).astype(np.float64)
        self.prior: Floats = np.array(base.counts, dtype=np.float64)
        rising = gammaln(self.prior[self.cells[1]] + cells.data) - gammaln(self.prior[self.cells[1]])
        total = self.prior.sum()
        alone = gammaln(total) - gammaln(total + self.lengths)
        alone += np.bincount(self.row, weights=rising, minlength=cells.shape[0])
        self.fresh: Floats = np.log(concentration) + alone
        self._resize(room(0))

    def _resize(self, slots: int) -> None:
        self.counts: Ints = np.zeros(slots, np.int64)
        self.words: Floats = np.zeros((slots, len(self.prior)))
        self.totals: Floats = np.zeros(slots)
        self.log_share: Floats = np.zeros((slots, len(self.prior)))  # drawn parameters, ln φ

    def grow(self) -> None:
        """Twice as many slots."""
        slots = 2 * len(self.counts)
        self.counts, self.words = pad(self.counts, slots), pad(self.words, slots)
        self.totals, self.log_share = pad(self.totals, slots), pad(self.log_share, slots)

    def gather(self, labels: Ints) -> None:
        """All statistics anew from labels 0…k − 1 (−1: in no cluster)."""
        self._resize(room(int(labels.max(initial=-1)) + 1))
        placed = labels >= 0
        slots, width = self.words.shape
        self.counts[:] = np.bincount(labels[placed], minlength=slots)
        self.totals[:] = np.bincount(labels[placed], weights=self.lengths[placed], minlength=slots)
        used = placed[self.row]
        place = labels[self.row[used]].astype(np.int64) * width + self.cells[1][used]
        self.words[:] = np.bincount(place, self.cells[2][used], minlength=slots * width).reshape(slots, width)

    def visit(self, rows: Ints, start: int, uniforms: Floats, labels: Ints, links: PairOdds) -> int:
        """Collapsed visits to a slice of ``rows[start:]``; returns the first place not visited."""
        each = 20 * (1 + len(self.cells[1]) // len(labels))
        stop = start + max(1, SLICE // (len(self.counts) * each))
        table = self.counts, self.words, self.totals
        return gibbs_counts.visit_counts(
            self.cells,
            self.lengths,
            rows[:stop],
            start,
            uniforms,
            labels,
            self.prior,
            float(self.prior.sum()),
            self.fresh,
            *table,
            *links.arrays,
            self.limit,
        )

    def split(
        self, seeds: Ints, rows: Ints, sides: Ints, uniforms: Floats, side: Ints, links: PairOdds
    ) -> tuple[float, float]:
        """Rows join one of two seeds; the log-probability of that, and the log joint less that of one cluster."""
        base = self.prior, float(self.prior.sum()), self.fresh
        return gibbs_counts.split_counts(
            self.cells, self.lengths, seeds, rows, sides, uniforms, side, *base, *links.arrays[:4]
        )

    def log_evidence(self) -> float:
        """Σ over clusters of the log marginal of their rows."""
        return float(self.base.log_marginal(self.words[self.counts > 0]).sum())

    def merging(self, a: int, b: int) -> float:
        """Log marginal of two clusters as one, less those of both."""
        words = self.words[[a, b]]
        return float(self.base.log_marginal(words.sum(axis=0)[None])[0] - self.base.log_marginal(words).sum())

    def draw(self, rng: np.random.Generator) -> None:
        """Parameters of every cluster from their posterior."""
        for k in np.flatnonzero(self.counts):
            self._draw(int(k), self.words[k], rng)

    def open(self, slot: int, i: int, rng: np.random.Generator) -> None:
        """Parameters of a cluster of one row, from their posterior."""
        mine = slice(self.cells[0][i], self.cells[0][i + 1])
        words = np.zeros(len(self.prior))
        words[self.cells[1][mine]] = self.cells[2][mine]
        self._draw(slot, words, rng)

    def _draw(self, slot: int, words: Floats, rng: np.random.Generator) -> None:
        """Logarithms of φ ~ Dirichlet(β + words); Γ(a) ~ Γ(a + 1) U^(1/a) avoids zeros for small a."""
        a = self.prior + words
        logs = np.log(rng.standard_gamma(a + 1)) + np.log(1 - rng.random(len(a))) / a
        self.log_share[slot] = logs - logsumexp(logs)

    def likelihood(self, rows: Ints, slots: Ints) -> Floats:
        """(rows, slots) log-probability given the drawn parameters."""
        return np.asarray(self.X[rows] @ self.log_share[slots].T)
