"""Draws of a Gibbs sampler, and their record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.mixture._tvclust.gibbs_clusters import PairOdds
from cluewise.mixture._tvclust.pair_evidence import Evidence

__all__ = ["GibbsDraws", "Rates", "Record", "Sample", "renumber"]


class Rates(NamedTuple):
    """Known values of p and q."""

    must: float  # P(must clue | together)
    cannot: float  # P(cannot clue | apart)


class GibbsDraws(NamedTuple):
    """The s draws that were kept. Clusters are numbered by their first row."""

    labels: Ints  # (s, n) int32
    log_joint: Floats  # (s,) log p(z, X, E), with cluster parameters, and p and q if learned, integrated out
    must_reliability: Floats  # (s,) p
    cannot_reliability: Floats  # (s,) q
    n_clusters: Ints  # (s,)
    pair_wrong: Floats  # (m,) posterior probability that each report is wrong, from all sweeps after burn-in


def renumber(labels: Ints) -> Ints:
    """Number clusters by their first row; −1 stays."""
    first = np.full(labels.max(initial=0) + 1, len(labels))
    placed = np.flatnonzero(labels >= 0)[::-1]
    first[labels[placed]] = placed  # in reverse order, so that the first row of a cluster is written last
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.where(labels < 0, -1, rank[labels]).astype(np.int32)


class Sample(NamedTuple):
    """One state of the chain."""

    labels: Ints
    log_joint: float
    rates: Rates


class Record:
    """Draws so far, in arrays of the final size. Kept draws are never overwritten, so views of them stay valid."""

    def __init__(self, pairs: Evidence, size: int, n: int) -> None:
        self.pairs = pairs
        self.together: Floats = np.zeros(len(pairs))
        self.sweeps = 0
        self.kept = 0
        self.labels: Ints = np.zeros((size, n), np.int32)
        self.numbers: Floats = np.zeros((3, size))
        self.newest: Sample

    def links(self, rates: Rates) -> PairOdds:
        """The clues at these rates: log p/(1 − q) for a must, log (1 − p)/q for a cannot."""
        p, q, pairs = rates.must, rates.cannot, self.pairs
        pull = pairs.weight * np.where(pairs.is_must, np.log(p / (1 - q)), np.log((1 - p) / q))
        return PairOdds(pairs.indptr, pairs.neighbor, pairs.report, pull, self.together)

    def keep(self) -> None:
        """Keep the newest sample as a draw."""
        self._write(self.labels[self.kept], self.numbers[:, self.kept])
        self.kept += 1

    def _write(self, labels: Ints, numbers: Floats) -> None:
        labels[:] = renumber(self.newest.labels)
        numbers[:] = self.newest.log_joint, *self.newest.rates

    def draws(self) -> GibbsDraws:
        """The draws so far; during burn-in the newest sample."""
        labels, numbers = self.labels[: self.kept], self.numbers[:, : self.kept]
        if self.kept == 0:
            labels, numbers = np.empty((1, self.labels.shape[1]), np.int32), np.empty((3, 1))
            self._write(labels[0], numbers[:, 0])
        near = np.clip(self.together / (2 * self.sweeps), 0.0, 1.0)  # ½: every report is visited at both ends
        wrong = np.where(self.pairs.is_must, 1 - near, near)
        value, p, q = numbers
        return GibbsDraws(labels, value, p, q, labels.max(axis=1) + 1, wrong)
