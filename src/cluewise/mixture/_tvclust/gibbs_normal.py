"""Gaussian clusters of a Gibbs sampler, parameters integrated out or drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.special import gammaln, multigammaln

from cluewise._typing import Floats, Ints
from cluewise.kernels import gibbs_normal
from cluewise.mixture._tvclust import gibbs_slots as _gibbs_slots
from cluewise.mixture._tvclust.gibbs_slots import PairOdds, grown, room
from cluewise.mixture._tvclust.priors import NormalInverseWishart

__all__ = ["NormalClusters"]

LEAST = 1e-30
"""A chi-squared number below this is raised to it: its square root is divided by."""


class NormalClusters:
    """Gaussian clusters under a Normal-inverse-Wishart base."""

    def __init__(self, X: Any, base: NormalInverseWishart, concentration: float, limit: int) -> None:
        self.X: Floats = np.ascontiguousarray(X, dtype=np.float64).view()
        self.X.flags.writeable = False  # always: the compiler makes a kernel of its own for each kind of array
        n, d = self.X.shape
        before = base.prior()
        upper = np.ascontiguousarray(before.root[0].T)
        self.base, self.limit = base, limit
        self.prior = (np.array(base.mean, dtype=np.float64), upper, float(base.strength))
        members: Floats = np.arange(n + 1, dtype=np.float64)
        nu, kappa = base.degrees + members, base.strength + members
        # Student-t with ν − d + 1 degrees: all of its log-density that depends on the number of members only.
        flat = gammaln(0.5 * (nu + 1)) - gammaln(0.5 * (nu + 1 - d)) - 0.5 * d * np.log(np.pi * (kappa + 1) / kappa)
        self.height = flat + np.log(np.maximum(members, 1.0))
        self.fresh: Floats = np.log(concentration) + base.log_predictive(self.X, before)[:, 0]
        # Likewise of the log marginal of a cluster, which also has −(ν/2) ln|Ψ|.
        self.level = multigammaln(0.5 * nu, d) - multigammaln(0.5 * base.degrees, d) - 0.5 * members * d * np.log(np.pi)
        self.level += 0.5 * base.degrees * before.log_det[0] + 0.5 * d * np.log(base.strength / kappa)
        self._resize(room(0))

    def _resize(self, slots: int) -> None:
        d = self.X.shape[1]
        self.counts: Ints = np.zeros(slots, np.int64)
        self.means: Floats = np.zeros((slots, d))
        self.uppers: Floats = np.zeros((slots, d, d))
        self.half_log_det: Floats = np.zeros(slots)
        self.centers: Floats = np.zeros((slots, d))  # the drawn parameters: μ, and W with Λ = WWᵀ
        self.whiten: Floats = np.zeros((slots, d, d))

    def grow(self) -> None:
        """Twice as many slots."""
        slots = 2 * len(self.counts)
        self.counts, self.means = grown(self.counts, slots), grown(self.means, slots)
        self.uppers, self.half_log_det = grown(self.uppers, slots), grown(self.half_log_det, slots)
        self.centers, self.whiten = grown(self.centers, slots), grown(self.whiten, slots)

    def gather(self, labels: Ints) -> None:
        """All statistics anew from labels 0…k − 1 (−1: in no cluster)."""
        self._resize(room(int(labels.max(initial=-1)) + 1))
        gibbs_normal.gather_normal(self.X, labels, self.prior, self.counts, self.means, self.uppers, self.half_log_det)

    def visit(self, rows: Ints, start: int, uniforms: Floats, labels: Ints, links: PairOdds) -> int:
        """Collapsed visits to a slice of ``rows[start:]``; returns the first place not visited."""
        d = self.X.shape[1]
        stop = start + max(1, _gibbs_slots.SLICE // (len(self.counts) * d * (d + 8)))
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
        self, seeds: Ints, rows: Ints, wanted: Ints, uniforms: Floats, side: Ints, links: PairOdds
    ) -> tuple[float, float]:
        """Rows join one of two seeds; the log-probability of that, and the log joint less that of one cluster."""
        level = float(self.base.degrees), self.height, self.fresh
        return gibbs_normal.split_normal(
            self.X, seeds, rows, wanted, uniforms, side, self.prior, *level, *links.arrays[:4]
        )

    def log_evidence(self) -> float:
        """Σ over clusters of the log marginal of their rows."""
        used = self.counts > 0
        n = self.counts[used]
        return float((self.level[n] - (self.base.degrees + n) * self.half_log_det[used]).sum())

    def merging(self, a: int, b: int) -> float:
        """Log marginal of the rows of two clusters as one, less those of both, roughly; ∞ where rounding hides it."""
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
