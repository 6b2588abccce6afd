"""How far to carry clues: the radius at which the other clues tell best what a clue says (12.3 of the survey)."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats, Ints

__all__ = ["agreed_radius"]

MOST = 1000
"""Links of one kind by which the radius is chosen; of more, so many to twice as many in equal steps."""

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Radii that are tried, beside 0: within them so many of the clues have another clue."""

CLEARLY = 1.645
"""Standard errors by which a radius must beat distances alone: one time in twenty chance does that, too."""


def agreed_radius(X: Floats, must: Ints, cannot: Ints) -> float:
    """The radius at which other clues tell best what a clue says; 0 if that is not better than distances alone."""
    must, cannot = (pairs[:: max(len(pairs) // MOST, 1)] for pairs in (must, cannot))
    m, c = len(must), len(cannot)
    if min(m, c) < 2:  # one link has no spread
        return 0.0
    step, says_must, length = _nearest_clue(X, np.concatenate([must, cannot]), m)
    finite = step[step < np.inf]
    if not len(finite):
        return 0.0
    length /= length.max() or 1.0
    told = np.where(says_must, length - 2, length + 2)  # before all distances, or behind them
    radii = np.unique(np.quantile(finite, SHARES))
    gain, error = np.empty((2, len(radii)))
    before = _agreement(length, m)
    for i, radius in enumerate(radii):
        more = _agreement(np.where(step <= radius, told, length), m) - before
        gain[i] = more[:m].mean()
        error[i] = np.sqrt(more[:m].var(ddof=1) / m + more[m:].var(ddof=1) / c)
    clear = gain > CLEARLY * error
    if not clear.any():
        return 0.0
    best = np.where(clear, gain, -np.inf).argmax()
    return float(radii[clear & (gain >= gain[best] - error[best])][0])


def _agreement(rank: Floats, m: int) -> Floats:
    """Of each must-link the share of cannot-links behind it, of each cannot-link that of must-links before it."""
    must, cannot = np.sort(rank[:m]), np.sort(rank[m:])
    behind = [len(cannot) - np.searchsorted(cannot, rank[:m], side=side) for side in ("left", "right")]
    ahead = [np.searchsorted(must, rank[m:], side=side) for side in ("left", "right")]
    return np.concatenate([sum(behind) / (2 * len(cannot)), sum(ahead) / (2 * m)])


def _nearest_clue(X: Floats, links: Ints, m: int) -> tuple[Floats, Bools, Floats]:
    """Of each link: the longer step to the nearest link that shares no row with it, what that says, and its length."""
    from scipy.spatial.distance import cdist

    rows = X[links.astype(np.int64)].astype(np.float64)  # (links, 2, d)
    a, b = links.T
    step, which = np.empty(len(links)), np.empty(len(links), dtype=np.int64)
    for start in range(0, len(links), 256):
        part = slice(start, start + 256)
        one, two = rows[part, 0], rows[part, 1]
        straight = np.maximum(cdist(one, rows[:, 0]), cdist(two, rows[:, 1]))
        crossed = np.maximum(cdist(one, rows[:, 1]), cdist(two, rows[:, 0]))
        far = np.minimum(straight, crossed)
        for end in (a[part, None], b[part, None]):
            far[(end == a) | (end == b)] = np.inf
        which[part] = far.argmin(axis=1)
        step[part] = far.min(axis=1)
    return step, which < m, np.sqrt(((rows[:, 0] - rows[:, 1]) ** 2).sum(axis=1))
