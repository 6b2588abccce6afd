"""How far to carry clues: the radius at which the other clues tell best what a clue says (12.3 of the survey)."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.spatial.distance import cdist

from cluewise._typing import Bools, Floats, Ints

__all__ = ["agreed_radius"]

MOST = 150
"""Links of one kind by which the radius is chosen; of more, so many to twice as many in equal steps."""

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Radii that are tried, beside 0: within them so many of the clues have another clue."""

CLEARLY = 1.645
"""Standard errors by which a radius must beat distances alone."""

SHUFFLES = 59
"""How often the clued rows change places, to see what chance does."""

LUCKY = 2
"""Shuffles that may do as well as the clues: together with these themselves one in twenty."""


class Trial(NamedTuple):
    """What other clues tell about a clue within some radii, beyond what distances tell."""

    radii: Floats
    gain: Floats  # in the probability that a must-link ranks before a cannot-link
    error: Floats  # its standard error

    @property
    def ratio(self) -> Floats:
        """Gain in standard errors; without an error, infinite with the sign of the gain."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.gain == 0, 0.0, self.gain / self.error)


def agreed_radius(X: Floats, must: Ints, cannot: Ints) -> float:
    """The radius at which other clues tell best what a clue says; 0 if that is not better than distances alone.

    Five radii are tried, and links that share rows or follow from labels are not independent. So the best ratio of
    gain to error over all radii is compared with what it is after the clued rows have changed places at random. If
    clues have nothing to do with X that changes nothing, however the clues hang together: one draw in twenty at most
    finds a radius.
    """
    must, cannot = (pairs[:: max(len(pairs) // MOST, 1)] for pairs in (must, cannot))
    if min(len(must), len(cannot)) < 2:  # one link has no spread
        return 0.0
    rows, ends = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    links = ends.reshape(-1, 2)
    points = X[rows].astype(np.float64)
    distances = cdist(points, points)
    met = _meeting(links)
    found = _tried(distances, links, len(must), met)
    clear = found.ratio > CLEARLY
    rng = np.random.default_rng(crc32(links.tobytes()))  # the same clues get the same radius, others other shuffles
    best: list[float] = []
    while clear.any() and len(best) < SHUFFLES:
        place = rng.permutation(len(rows))
        best.append(_tried(distances, place[links], len(must), met).ratio.max(initial=-np.inf))
        if len(best) > LUCKY:
            clear &= found.ratio > np.partition(best, -LUCKY - 1)[-LUCKY - 1]
    if not clear.any():
        return 0.0
    first = np.where(clear, found.gain, -np.inf).argmax()
    return float(found.radii[clear & (found.gain >= found.gain[first] - found.error[first])][0])


def _tried(distances: Floats, links: Ints, m: int, met: Bools) -> Trial:
    """Gain and error at each radius, when the ends of the links are at these places."""
    step, says_must = _nearest_clue(distances, links, m, met)
    finite = step[step < np.inf]
    if not len(finite):
        return Trial(*np.empty((3, 0)))
    length = distances[links[:, 0], links[:, 1]]
    length = length / (length.max() or 1.0)
    told = np.where(says_must, length - 2, length + 2)  # before all distances, or behind them
    radii = np.unique(np.quantile(finite, SHARES))
    before = _agreement(length, m)
    more = np.array([_agreement(np.where(step <= radius, told, length), m) - before for radius in radii])
    kinds = more[:, :m], more[:, m:]
    error = np.sqrt(sum(kind.var(axis=1, ddof=1) / kind.shape[1] for kind in kinds))
    return Trial(radii, kinds[0].mean(axis=1), error)


def _agreement(rank: Floats, m: int) -> Floats:
    """Of each must-link the share of cannot-links behind it, of each cannot-link that of must-links before it."""
    must, cannot = np.sort(rank[:m]), np.sort(rank[m:])
    behind = [len(cannot) - np.searchsorted(cannot, rank[:m], side=side) for side in ("left", "right")]
    ahead = [np.searchsorted(must, rank[m:], side=side) for side in ("left", "right")]
    return np.concatenate([sum(behind) / (2 * len(cannot)), sum(ahead) / (2 * m)])


def _meeting(links: Ints) -> Bools:
    """Which links share a row."""
    a, b = links.T
    return (a[:, None] == a) | (a[:, None] == b) | (b[:, None] == a) | (b[:, None] == b)


def _nearest_clue(distances: Floats, links: Ints, m: int, met: Bools) -> tuple[Floats, Bools]:
    """Of each link: the longer step to the nearest link that shares no row with it, and whether that says must."""
    a, b = links.T
    across = distances[a][:, b]
    straight = np.maximum(distances[a][:, a], distances[b][:, b])
    far = np.minimum(straight, np.maximum(across, across.T))
    far[met] = np.inf
    which = far.argmin(axis=1)
    return far[np.arange(len(far)), which], which < m
