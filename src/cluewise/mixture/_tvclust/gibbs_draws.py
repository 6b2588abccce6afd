"""Draws of a Gibbs sampler and how they are recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.mixture._tvclust.gibbs_slots import PairOdds
from cluewise.mixture._tvclust.pair_evidence import Evidence

__all__ = ["GibbsDraws", "Rates", "Record", "Sample", "numbered"]


class Rates(NamedTuple):
    """p and q when they are known."""

    must: float  # P(must clue | together)
    cannot: float  # P(cannot clue | apart)


class GibbsDraws(NamedTuple):
    """Kept draws, s of them. Clusters are numbered by their first row."""

    labels: Ints  # (s, n) int32
    log_joint: Floats  # (s,) log p(z, X, E), with the parameters of clusters, and p and q if learnt, integrated out
    must_reliability: Floats  # (s,) p
    cannot_reliability: Floats  # (s,) q
    n_clusters: Ints  # (s,)
    pair_wrong: Floats  # (m,) posterior probability that each report is wrong, from all sweeps after burn-in


def numbered(labels: Ints) -> Ints:
    """Clusters numbered by their first row; −1 stays."""
    first = np.full(labels.max(initial=0) + 1, len(labels))
    placed = np.flatnonzero(labels >= 0)[::-1]
    first[labels[placed]] = placed  # the last one written is the first row
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.where(labels < 0, -1, rank[labels]).astype(np.int32)


class Sample(NamedTuple):
    """One state of the chain."""

    labels: Ints
    log_joint: float
    rates: Rates


class Record:
    """Draws as they are made, in arrays of the final size; what has been kept is never written again."""

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
        """The newest sample is one of the draws."""
        self._write(self.labels[self.kept], self.numbers[:, self.kept])
        self.kept += 1

    def _write(self, labels: Ints, numbers: Floats) -> None:
        labels[:] = numbered(self.newest.labels)
        numbers[:] = self.newest.log_joint, *self.newest.rates

    def draws(self) -> GibbsDraws:
        """The draws so far; during burn-in the newest sample."""
        labels, numbers = self.labels[: self.kept], self.numbers[:, : self.kept]
        if self.kept == 0:
            labels, numbers = np.empty((1, self.labels.shape[1]), np.int32), np.empty((3, 1))
            self._write(labels[0], numbers[:, 0])
        near = np.clip(self.together / (2 * self.sweeps), 0.0, 1.0)  # every report is met at both of its ends
        wrong = np.where(self.pairs.is_must, 1 - near, near)
        value, p, q = numbers
        return GibbsDraws(labels, value, p, q, labels.max(axis=1) + 1, wrong)
