"""Pair evidence: clues as noisy reports about pairs, and the distribution of their noise [Khashabi2015]_.

A report says "together" (a must clue, E = 1) or "apart" (a cannot clue, E = 0) about a pair that is together (H = 1)
or not: P(E=1 | H=1) = p, P(E=0 | H=0) = q, with p ~ Beta(a_p, b_p) and q ~ Beta(a_q, b_q).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.kernels import graphs

__all__ = ["Noise", "Evidence", "of_links", "gather_evidence", "reliabilities", "share_together"]


class Evidence(NamedTuple):
    """All reports, sorted by their ends (first < second), then must before cannot."""

    first: Ints  # (m,) int64
    second: Ints  # (m,) int64
    is_must: Bools  # (m,)
    weight: Floats  # (m,) number of independent reports that each counts for
    indptr: Ints  # (n + 1,) int64: row i has the neighbors neighbor[indptr[i]:indptr[i + 1]]
    neighbor: Ints  # (2m,) int64
    report: Ints  # (2m,) int64: number of the report that makes them neighbors

    def __len__(self) -> int:
        """Number of reports."""
        return len(self.first)


def gather_evidence(clues: Clues) -> Evidence:
    """Links, and the pairs that labels and groups imply, as reports."""
    pairs = clues.pairs(expand=True)
    ends, kind, weight = pairs.ends.astype(np.int64), pairs.is_must, pairs.weight
    order = np.lexsort((~kind, ends[:, 1], ends[:, 0]))
    ends, kind, weight = ends[order], kind[order], weight[order]
    number = np.arange(len(ends), dtype=np.int32)
    indptr, neighbor, report = graphs.adjacency(clues.n, ends[:, 0], ends[:, 1], number)
    wide = (a.astype(np.int64) for a in (indptr, neighbor, report))
    return Evidence(np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), kind, weight, *wide)


def of_links(values: Floats, pairs: Evidence, clues: Clues) -> Floats:
    """Values of the reports that are links: ``clues.must``, then ``clues.cannot``, in their order."""
    key = 2 * (pairs.first * clues.n + pairs.second) + ~pairs.is_must
    links = np.concatenate([clues.must, clues.cannot]).astype(np.int64).reshape(-1, 2)
    links.sort(axis=1)
    of_links = 2 * (links[:, 0] * clues.n + links[:, 1]) + np.repeat([0, 1], [len(clues.must), len(clues.cannot)])
    return values[np.searchsorted(key, of_links)]


def share_together(together: Floats, pairs: Evidence, weights: Floats) -> float:
    """Share of the reported pairs that are together; without reports that of all pairs, by the cluster weights."""
    total = pairs.weight.sum()
    return float(together @ pairs.weight / total) if total > 0 else float((weights**2).sum())


def reliabilities(p: Floats, q: Floats, near: Floats) -> tuple[float, float]:
    """Probability that another must report, and another cannot report, is right, by Bayes' rule.

    p and q are the probabilities that pairs that are together, or apart, are reported as such. The reliability of a
    report also depends on ``near``, the share of reported pairs that are together. Each argument has one element per
    draw from the posterior. P(together | must) = E[p h] / E[p h + (1 − q)(1 − h)] is a quotient of means over draws,
    because p, q and h are dependent in the posterior.
    """
    must, cannot = np.mean(p * near), np.mean(q * (1 - near))
    false_must, false_cannot = np.mean((1 - q) * (1 - near)), np.mean((1 - p) * near)
    return float(must / (must + false_must)), float(cannot / (cannot + false_cannot))


class Noise(NamedTuple):
    """Beta distributions of p and q, prior or posterior."""

    must_right: float  # a_p
    must_wrong: float  # b_p
    cannot_right: float  # a_q
    cannot_wrong: float  # b_q

    def update(self, pairs: Evidence, together: Floats) -> Noise:
        """Posterior when report e is about a pair that is together with probability ``together[e]``."""
        near, far = pairs.weight * together, pairs.weight * (1 - together)
        must = pairs.is_must
        return Noise(
            self.must_right + float(near[must].sum()),
            self.must_wrong + float(near[~must].sum()),
            self.cannot_right + float(far[~must].sum()),
            self.cannot_wrong + float(far[must].sum()),
        )

    def logs(self) -> tuple[float, float, float, float]:
        """⟨ln p⟩, ⟨ln(1 − p)⟩, ⟨ln q⟩, ⟨ln(1 − q)⟩."""
        a, b, c, e = self
        p, q = digamma(a + b), digamma(c + e)
        return float(digamma(a) - p), float(digamma(b) - p), float(digamma(c) - q), float(digamma(e) - q)

    def means(self) -> tuple[float, float]:
        """Posterior means of p and q."""
        a, b, c, e = self
        return a / (a + b), c / (c + e)

    def divergence(self, prior: Noise) -> float:
        """KL(this ‖ prior), summed over p and q."""
        value = 0.0
        for (a, b), (before_a, before_b) in ((self[:2], prior[:2]), (self[2:], prior[2:])):
            both = digamma(a + b)
            value += (a - before_a) * (digamma(a) - both) + (b - before_b) * (digamma(b) - both)
            value += betaln(before_a, before_b) - betaln(a, b)
        return float(value)
