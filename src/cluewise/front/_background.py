"""Background: what clues are compared with, as people choose what they say something about.

A clue tells two things: that somebody looked here, and what was seen. Who gives must-links alone names pairs in
proportion to the probability P that their rows share a cluster. So the likelihood of such a pair is P over P̄, the mean
of P over the pairs that might have been looked at; that of a cannot-link is (1 − P)/(1 − P̄). Both kinds together have a
rate each, which is not known, and the same likelihoods. Without P̄, one large cluster predicts must-links best.

The pairs that might have been looked at are random ones, or as near as those that were: each pair of the background
counts by how much more often than at random the clues are about pairs that are as near (`Background._find_rates`). At
random, must-links are as near as pairs that share a cluster, by clusters without clues: must-links of somebody who
looks anywhere are nearer than other pairs, and that is no habit.

A label comes from a row of one of the classes that have labels, which are those that the person knows. So the
likelihood that row i has label c is P_ic over the mean probability of all these classes: a cluster that takes rows of
other classes pays for it. If every cluster has labels, that mean is 1.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.front._evidence import Evidence

__all__ = ["Background"]

EDGES = (0.02, 0.05, 0.12, 0.3)
"""Shares of the rows that are nearer: pairs between the same two of them are equally near."""

DRAWN = 400
"""Pairs of each distance in the background."""

LOOKED_AT = 2000
"""Pairs with clues, at most, that tell how near such pairs are."""

PRIOR = 3.0
"""Pairs at random distances that are taken to have been looked at before."""

ROUNDING = 1e-9


class Background:
    """Pairs of anchors, which stand for the pairs that clues might be about, and the classes that have labels.

    ``anchors`` are some of the grains, ``clusters`` their clusters without clues; ``known`` is about grains.
    """

    def __init__(
        self, centers: Floats, anchors: Ints, clusters: Ints, known: Evidence, rng: np.random.Generator
    ) -> None:
        self.named = np.unique(known.classes)
        self._has_both = len(np.unique(known.is_must)) == 2
        points, count = centers[anchors], len(anchors)
        first, second = np.triu_indices(count, 1) if count > 1 else np.zeros((2, 1), dtype=np.int64)
        nearer = _rank(_square(points, points))
        step = np.digitize((nearer[first, second] + nearer[second, first]) / 2, EDGES)
        rates = self._find_rates(step, clusters[first] == clusters[second], known, centers, points)
        kept, weight = [], []
        for number, rate in enumerate(rates):
            own = np.flatnonzero(step == number)
            some = own[rng.permutation(len(own))[:DRAWN]]
            kept.append(some)
            weight.append(np.full(len(some), rate * len(own) / max(len(some), 1)))
        chosen = np.concatenate(kept)
        self._first, self._second = first[chosen], second[chosen]
        self._weight = np.concatenate(weight) / np.concatenate(weight).sum()

    @staticmethod
    def _find_rates(step: Ints, same: Bools, known: Evidence, centers: Floats, points: Floats) -> Floats:
        """Find how much more often than at random clues are about pairs of each distance."""
        steps = len(EDGES) + 1
        ends = known.ends[:: len(known.ends) // LOOKED_AT + 1]
        if not len(ends):
            return np.ones(steps)
        one, other = centers[ends[:, 0]], centers[ends[:, 1]]
        length = ((one - other) ** 2).sum(axis=1)[:, None] * (1 - ROUNDING)
        share = (np.mean(_square(one, points) < length, axis=1) + np.mean(_square(other, points) < length, axis=1)) / 2
        looked_at = np.bincount(np.digitize(share, EDGES), minlength=steps)
        must = float(known.is_must.mean())
        expected = np.full(steps, 1e-3)  # else an empty distance would have no rate
        for part, which in ((must, same), (1 - must, ~same)):
            expected += part * np.bincount(step[which], minlength=steps) / max(int(which.sum()), 1)
        expected /= expected.sum()
        return (looked_at + PRIOR * expected) / ((len(ends) + PRIOR) * expected)

    def measure(self, P: Floats) -> tuple[float, float, float]:
        """Mean probabilities that a pair is together, that it is apart, and that a row is in a class with labels.

        P is of the anchors. Rows without clues are less certain than those with, and a fit that knows nothing about
        them must not gain by it. With links of both kinds one pays for the other; with one kind alone the most probable
        clusters count, if they make such pairs more frequent.
        """
        same = float(self._weight @ np.einsum("ij,ij->i", P[self._first], P[self._second]))
        among = float(P[:, self.named].sum(axis=1).mean())
        if self._has_both:
            return same, 1 - same, among
        likely = P.argmax(axis=1)
        certain = float(self._weight @ (likely[self._first] == likely[self._second]))
        return max(same, certain), max(1 - same, 1 - certain), among

    def charge_labels(self, P: Floats, rate: float, error: float, slope: Floats) -> float:
        """Log-likelihood of labels of any rows, so many (``rate``) and so often wrong; adds its derivative by P."""
        k = P.shape[1]
        if not rate or len(self.named) == k:
            return 0.0
        level = error * len(self.named) / k + (1 - error) * float(P[:, self.named].sum(axis=1).mean())
        slope[:, self.named] += rate * (1 - error) / level / len(P)
        return rate * float(np.log(level))


def _square(one: Floats, other: Floats) -> Floats:
    """Squared distances."""
    squared = (one**2).sum(axis=1)[:, None] - 2 * one @ other.T + (other**2).sum(axis=1)
    return np.maximum(squared, 0.0)


def _rank(squared: Floats) -> Floats:
    """Share of the points that are nearer to each point than each other one is."""
    order = np.argsort(squared, axis=1, kind="stable")
    rank = np.empty(squared.shape)
    np.put_along_axis(rank, order, np.arange(len(squared), dtype=float)[None, :], axis=1)
    return rank / len(squared)
