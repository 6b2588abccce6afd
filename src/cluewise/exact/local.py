"""Cheaper labels by small changes that keep them valid."""

from __future__ import annotations

from time import monotonic

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels import coloring

__all__ = ["Shaker", "improve", "keep_cheaper", "rounding", "total"]

SLICE = 500_000  # kernel steps (some ten milliseconds) between two looks at the clock and at Ctrl-C
CHAIN = 500  # nodes of the longest Kempe chain
TURN = 0.1  # seconds that one shake may take
SHAKES = (0.05, 0.1, 0.2, 0.4)  # noise, in units of what a node pays on average for a wrong cluster


def total(costs: Floats, labels: Ints) -> float:
    """Cost of labels."""
    return float(costs[np.arange(len(costs)), labels].sum())


def rounding(costs: Floats) -> float:
    """What rounding may add to a sum of costs."""
    return 1e-12 * float(np.abs(costs[np.isfinite(costs)]).max(initial=0.0)) * len(costs)


def keep_cheaper(costs: Floats, part: Ints, old: Ints, new: Ints) -> Ints:
    """For each connected part the cheaper of two valid labelings, the old one when they cost the same."""
    rows = np.arange(len(costs))
    change = np.bincount(part, costs[rows, new] - costs[rows, old])
    return np.where((change < 0)[part], new, old)


def improve(costs: Floats, csr: tuple[Ints, Ints], labels: Ints, deadline: float) -> Ints:
    """Swap two clusters along Kempe chains until nothing gets cheaper.

    The nodes of two clusters fall into connected chains; when a whole chain swaps the two, no pair breaks.
    """
    labels = labels.copy()
    m = len(costs)
    queue, mark, state = np.empty(m, np.int32), np.zeros(m, np.int64), np.zeros(2, np.int64)
    tolerance = rounding(costs)
    while True:
        before, at = state[1], 0
        while at < m:
            at = coloring.kempe(*csr, costs, labels, at, CHAIN, tolerance, queue, mark, state, SLICE)
            if monotonic() > deadline:
                return labels
        if state[1] == before:
            return labels


class Shaker:
    """Improves labels again and again, from where they are best under slightly wrong costs."""

    def __init__(self, costs: Floats, csr: tuple[Ints, Ints], labels: Ints) -> None:
        self.costs, self.csr, self.labels = costs, csr, labels
        self.value = total(costs, labels)
        self._rng = np.random.default_rng(0)
        self._turns = 0
        excess = costs - costs.min(axis=1, keepdims=True)
        self._spread = np.where(np.isfinite(excess), excess, 0.0).mean(axis=1, keepdims=True)

    def shake(self) -> None:
        """One attempt."""
        noise = SHAKES[self._turns % len(SHAKES)] * self._rng.standard_normal(self.costs.shape)
        self._turns += 1
        moved = improve(self.costs + noise * self._spread, self.csr, self.labels, monotonic() + TURN)
        labels = improve(self.costs, self.csr, moved, monotonic() + TURN)
        value = total(self.costs, labels)
        if value < self.value:
            self.labels, self.value = labels, value
