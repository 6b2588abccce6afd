"""How far to propagate clues: the radius at which other clues predict a clue best (12.3 of the survey)."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.spatial.distance import cdist

from cluewise._typing import Bools, Floats, Ints

__all__ = ["choose_radius"]

MOST = 150
"""Links of each kind that the radius is chosen by; of more, every second, third, ... is taken."""

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Radii to try, besides 0: these shares of the clues have another clue within the radius."""

CLEARLY = 1.645
"""Standard errors by which a radius must beat distances alone."""

SHUFFLES = 59
"""Number of random permutations of the rows with clues."""

LUCKY = 2
"""Permutations that may do as well as the clues: with the clues themselves 3 of 60, a test at the 5 % level."""


class Gains(NamedTuple):
    """How much better other clues predict a clue than distances alone, for some radii."""

    radii: Floats
    gain: Floats  # in the probability that a must-link ranks before a cannot-link
    error: Floats  # standard error of the gain

    @property
    def ratio(self) -> Floats:
        """Gain in standard errors; infinite, with the sign of the gain, if the error is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.gain == 0, 0.0, self.gain / self.error)


def choose_radius(X: Floats, must: Ints, cannot: Ints) -> float:
    """Choose the radius at which other clues predict a clue best; 0 if none is better than distances alone."""
    must, cannot = (pairs[:: max(len(pairs) // MOST, 1)] for pairs in (must, cannot))
    if min(len(must), len(cannot)) < 2:  # a single link has no variance
        return 0.0
    rows, ends = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    links = ends.reshape(-1, 2)
    points = X[rows].astype(np.float64)
    distances = cdist(points, points)
    adjacent = _share_rows(links)
    found = _measure_gains(distances, links, len(must), adjacent)
    clear = found.ratio > CLEARLY
    # A permutation test: standard errors alone would be too optimistic, because five radii are tried, and links that
    # share rows or follow from labels are not independent. Permuting the rows keeps how the links are connected and
    # breaks their relation to X. Each radius must beat the best of all radii under permutation (Westfall and Young),
    # so that clues unrelated to X find a radius in at most one draw of twenty.
    rng = np.random.default_rng(crc32(links.tobytes()))  # the same clues always get the same radius
    best: list[float] = []
    while clear.any() and len(best) < SHUFFLES:
        place = rng.permutation(len(rows))
        best.append(_measure_gains(distances, place[links], len(must), adjacent).ratio.max(initial=-np.inf))
        if len(best) > LUCKY:  # stop early once too many permutations do as well
            clear &= found.ratio > np.partition(best, -LUCKY - 1)[-LUCKY - 1]
    if not clear.any():
        return 0.0
    first = np.where(clear, found.gain, -np.inf).argmax()
    return float(found.radii[clear & (found.gain >= found.gain[first] - found.error[first])][0])


def _measure_gains(distances: Floats, links: Ints, m: int, adjacent: Bools) -> Gains:
    """Measure gain and error at each radius; the first ``m`` links are must-links."""
    step, says_must = _find_nearest(distances, links, m, adjacent)
    finite = step[step < np.inf]
    if not len(finite):
        return Gains(*np.empty((3, 0)))
    length = distances[links[:, 0], links[:, 1]]
    length = length / (length.max() or 1.0)
    predicted = np.where(says_must, length - 2, length + 2)  # ranks before all lengths, or behind them
    radii = np.unique(np.quantile(finite, SHARES))
    before = _rank_shares(length, m)
    more = np.array([_rank_shares(np.where(step <= radius, predicted, length), m) - before for radius in radii])
    kinds = more[:, :m], more[:, m:]
    error = np.sqrt(sum(kind.var(axis=1, ddof=1) / kind.shape[1] for kind in kinds))
    return Gains(radii, kinds[0].mean(axis=1), error)


def _rank_shares(rank: Floats, m: int) -> Floats:
    """For each must-link the share of cannot-links behind it, for each cannot-link that of must-links before it.

    Both have the same mean, the area under the ROC curve; their variances give its standard error (DeLong).
    """
    must, cannot = np.sort(rank[:m]), np.sort(rank[m:])
    behind = [len(cannot) - np.searchsorted(cannot, rank[:m], side=side) for side in ("left", "right")]
    ahead = [np.searchsorted(must, rank[m:], side=side) for side in ("left", "right")]
    return np.concatenate([sum(behind) / (2 * len(cannot)), sum(ahead) / (2 * m)])


def _share_rows(links: Ints) -> Bools:
    """Mark the pairs of links that share a row."""
    a, b = links.T
    return (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)


def _find_nearest(distances: Floats, links: Ints, m: int, adjacent: Bools) -> tuple[Floats, Bools]:
    """For each link: the longer step to the nearest link that shares no row, and whether that is a must-link."""
    a, b = links.T
    across = distances[a][:, b]
    straight = np.maximum(distances[a][:, a], distances[b][:, b])
    far = np.minimum(straight, np.maximum(across, across.T))
    far[adjacent] = np.inf
    which = far.argmin(axis=1)
    return far[np.arange(len(far)), which], which < m
