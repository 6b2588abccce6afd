"""How far to propagate: the radius that predicts held-out clues best (12.3 of the specification)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.metric_learning._propagation import BLOCK, Distance

__all__ = ["Guard", "guarded_radius"]

MOST = 1000
"""Approximate maximum number of links of each kind that are held out, evenly sampled."""

STEPS = 20
"""Number of radii to try, besides 0 and infinity."""

CLEARLY = 2.0
"""Standard errors by which the best radius must beat no propagation, because the best of many is partly luck."""


class Guard(NamedTuple):
    """The chosen radius, and how well each radius separates must-links from cannot-links."""

    radius: float
    radii: Floats
    agreement: Floats


def guarded_radius(distance: Distance, clues: Clues, members: Ints, start: Ints) -> Guard:
    """The smallest radius within one standard error of the best; 0 if that is not clearly better, or without links.

    Each link is held out: its two rows then belong to no hub, and its length is that of the shortest path through one
    hub. Agreement is the probability that a must-link is shorter than a cannot-link.
    """
    links = clues.pairs(expand=True)
    must, cannot = (pairs[:: max(len(pairs) // MOST, 1)] for pairs in (links.must, links.cannot))
    if not len(must) or not len(cannot):
        return Guard(0.0, np.zeros(1), np.full(1, np.nan))
    tried = np.concatenate([must, cannot])
    plain, ways, steps = _ways(distance, tried, members, start)
    finite = steps[steps < np.inf]
    radii = np.zeros(1)
    if len(finite):
        radii = np.unique(np.concatenate([radii, np.quantile(finite, np.linspace(0, 1, STEPS)), [np.inf]]))
    agreement = np.empty(len(radii))
    for i, radius in enumerate(radii):
        length = np.minimum(plain, np.where(steps <= radius, ways, np.inf).min(axis=1, initial=np.inf))
        agreement[i] = _shorter(length[: len(must)], length[len(must) :])
    best = float(agreement.max())
    if best <= agreement[0] + CLEARLY * _standard_error(float(agreement[0]), len(must), len(cannot)):
        return Guard(0.0, radii, agreement)
    good = agreement >= best - _standard_error(best, len(must), len(cannot))
    return Guard(float(radii[good.argmax()]), radii, agreement)


def _ways(distance: Distance, tried: Ints, members: Ints, start: Ints) -> tuple[Floats, Floats, Floats]:
    """Length of each link, of its paths through each hub, and the longer of the two steps of a path."""
    plain = np.empty(len(tried))
    ways, steps = np.empty((2, len(tried), len(start)))
    size = max(BLOCK // len(members), 1)  # there are must-links to try, and so there are hubs
    for begin in range(0, len(tried), size):
        part = slice(begin, begin + size)
        one, other = tried[part].T
        plain[part] = [distance(pair[:1], pair[1:])[0, 0] for pair in tried[part]]
        itself = (members == one[:, None]) | (members == other[:, None])
        legs = [
            np.minimum.reduceat(np.where(itself, np.inf, distance(rows, members)), start, axis=1)
            for rows in (one, other)
        ]
        ways[part], steps[part] = legs[0] + legs[1], np.maximum(*legs)
    return plain, ways, steps


def _shorter(must: Floats, cannot: Floats) -> float:
    """Probability that a must-link is shorter than a cannot-link; ties count half."""
    order = np.sort(cannot)
    above = len(order) - np.searchsorted(order, must, side="right")
    level = len(order) - np.searchsorted(order, must, side="left")
    return float((above + level).sum() / (2 * len(must) * len(order)))


def _standard_error(area: float, m: int, c: int) -> float:
    """Standard error of the area under the curve, by Hanley and McNeil's formula."""
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (m - 1) * (one - area**2) + (c - 1) * (two - area**2)
    return float(np.sqrt(max(variance, 0.0) / (m * c)))
