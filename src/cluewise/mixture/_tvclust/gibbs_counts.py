"""Clusters of count rows of a Gibbs sampler, parameters integrated out or drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln, logsumexp

from cluewise._typing import Floats, Ints
from cluewise.kernels import gibbs_counts
from cluewise.mixture._tvclust import gibbs_slots as _gibbs_slots
from cluewise.mixture._tvclust.gibbs_slots import PairOdds, grown, room
from cluewise.mixture._tvclust.priors import DirichletMultinomial

__all__ = ["CountClusters"]


class CountClusters:
    """Clusters of count rows under a Dirichlet-multinomial base; multinomial coefficients are left out."""

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
        self.log_share: Floats = np.zeros((slots, len(self.prior)))  # the drawn parameters, ln φ

    def grow(self) -> None:
        """Twice as many slots."""
        slots = 2 * len(self.counts)
        self.counts, self.words = grown(self.counts, slots), grown(self.words, slots)
        self.totals, self.log_share = grown(self.totals, slots), grown(self.log_share, slots)

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
        stop = start + max(1, _gibbs_slots.SLICE // (len(self.counts) * each))
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
        self, seeds: Ints, rows: Ints, wanted: Ints, uniforms: Floats, side: Ints, links: PairOdds
    ) -> tuple[float, float]:
        """Rows join one of two seeds; the log-probability of that, and the log joint less that of one cluster."""
        base = self.prior, float(self.prior.sum()), self.fresh
        return gibbs_counts.split_counts(
            self.cells, self.lengths, seeds, rows, wanted, uniforms, side, *base, *links.arrays[:4]
        )

    def log_evidence(self) -> float:
        """Σ over clusters of the log marginal of their rows."""
        return float(self.base.log_marginal(self.words[self.counts > 0]).sum())

    def merging(self, a: int, b: int) -> float:
        """Log marginal of the rows of two clusters as one, less those of both."""
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
        """φ ~ Dirichlet(β + words) as logarithms: Γ(a) = Γ(a + 1) U^(1/a) in law, so that small a never give 0."""
        a = self.prior + words
        logs = np.log(rng.standard_gamma(a + 1)) + np.log(1 - rng.random(len(a))) / a
        self.log_share[slot] = logs - logsumexp(logs)

    def likelihood(self, rows: Ints, slots: Ints) -> Floats:
        """(rows, slots) log-probability given the drawn parameters."""
        return np.asarray(self.X[rows] @ self.log_share[slots].T)
