"""Two-dimensional patterns that are hard for plain K-means.

The seven patterns in the public code of the TVClust and RDP-means paper (Khashabi2015 in references.bib).
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator, RandomState

from cluewise._typing import Floats, Ints
from cluewise.datasets._dataset import DatasetError, make_generator

__all__ = ["PATTERNS", "make_pattern"]

Draw: TypeAlias = Callable[[Generator, int], Floats]


def make_pattern(
    name: str, *, n_samples: int | None = None, random_state: int | Generator | RandomState | None = None
) -> tuple[Floats, Ints]:
    """Draw a labeled two-dimensional pattern.

    Parameters
    ----------
    name : str
        One of ``"gaussians"``, ``"two_spirals"``, ``"cluster_in_cluster"``, ``"corners"``, ``"half_kernel"``,
        ``"crescent_full_moon"`` and ``"outlier"`` (the names in ``cluewise.datasets.PATTERNS``).
    n_samples : int, default=None
        Number of points; by default as in the paper's code (300 to 552). The shares of the classes do not change.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, in random order.
    y : ndarray of shape (n_samples,)
        The class of each point, 0 to k − 1.

    Examples
    --------
    >>> from cluewise.datasets import make_pattern
    >>> X, y = make_pattern("two_spirals", random_state=0)
    >>> X.shape, y.sum()
    ((500, 2), np.int64(250))
    """
    if name not in _SHAPES:
        close = get_close_matches(str(name), PATTERNS, n=1) or PATTERNS
        raise DatasetError(f"there is no pattern {name!r}; did you mean {' or '.join(map(repr, close))}?")
    shape = _SHAPES[name]
    counts = _scale_counts(shape.counts, n_samples)
    rng = make_generator(random_state)
    parts = [draw(rng, count) for draw, count in zip(shape.draws, counts, strict=True)]
    order = rng.permutation(sum(counts))
    return np.concatenate(parts)[order], np.repeat(np.arange(len(counts)), counts)[order]


def _scale_counts(counts: tuple[int, ...], n_samples: int | None) -> list[int]:
    """Rows per class, with the same shares for another total (largest remainders round up)."""
    if n_samples is None:
        return list(counts)
    if n_samples < len(counts):
        raise DatasetError(f"n_samples is {n_samples}, but the pattern has {len(counts)} classes.")
    exact = np.array(counts) * n_samples / sum(counts)
    whole = np.floor(exact).astype(int)
    short = n_samples - whole.sum()
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    return whole.tolist()


def _polar(radius: Floats, angle: Floats) -> Floats:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _gaussian(x: float, y: float, covariance: float) -> Draw:
    return lambda rng, m: rng.multivariate_normal([x, y], [[1, covariance], [covariance, 1]], size=m)


def _spiral(sign: float) -> Draw:
    def draw(rng: Generator, m: int) -> Floats:
        turn = np.radians(90 + 570 * np.sqrt(rng.random(m)))
        return sign * _polar(turn, -turn) + rng.uniform(0, 0.2, size=(m, 2))

    return draw


def _rings(rng: Generator, m: int) -> Floats:
    return _polar(1 + rng.integers(3, size=m) / 3 * 0.8, rng.uniform(0, 2 * np.pi, size=m))


def _arms(rng: Generator, m: int) -> Floats:
    """Arms of four points each around the rings; not random."""
    arm, place = np.divmod(np.arange(m), 4)
    return _polar(5 + (place - 2) * 5 / 12, 2 * np.pi * arm / -(-m // 4))


def _corner(right: int, up: int) -> Draw:
    def draw(rng: Generator, m: int) -> Floats:
        points = rng.uniform(2, [12, 4], size=(m, 2))  # an arm of length 10 and width 2, at distance 2 from the axes
        points[m // 2 :] = points[m // 2 :, ::-1]  # the other arm
        return points * [right, up]

    return draw


def _half_ellipse(radius: float) -> Draw:
    def draw(rng: Generator, m: int) -> Floats:
        arc = _polar(np.full(m, radius), rng.uniform(-np.pi / 2, np.pi / 2, size=m))
        return arc * [1, 0.6] + [-20, 0] + rng.uniform(-2, 2, size=(m, 2))

    return draw


def _disc(rng: Generator, m: int) -> Floats:
    return _polar(5 * np.sqrt(rng.random(m)), rng.uniform(0, 2 * np.pi, size=m))


def _crescent(rng: Generator, m: int) -> Floats:
    return _polar(10 + 5 * np.sqrt(rng.random(m)), rng.uniform(np.pi, 2 * np.pi, size=m))


def _half_disc(side: int) -> Draw:
    """Half discs that face each other across the vertical axis."""

    def draw(rng: Generator, m: int) -> Floats:
        points = _polar(20 * np.sqrt(rng.random(m)), rng.uniform(-np.pi / 2, np.pi / 2, size=m))
        return (points - [30, 0]) * [-side, 1]

    return draw


def _square(x: float, y: float) -> Draw:
    return lambda rng, m: rng.uniform([x, y], [x + 5, y + 5], size=(m, 2))


class _Shape(NamedTuple):
    """How many points each class has, and how to draw them."""

    counts: tuple[int, ...]
    draws: tuple[Draw, ...]


_SHAPES = {
    "gaussians": _Shape((200, 200), (_gaussian(2, -1, 0.1), _gaussian(8, 3, 0.2))),
    "two_spirals": _Shape((250, 250), (_spiral(-1), _spiral(1))),
    "cluster_in_cluster": _Shape((250, 256), (_rings, _arms)),
    "corners": _Shape((138,) * 4, (_corner(1, 1), _corner(-1, -1), _corner(1, -1), _corner(-1, 1))),
    "half_kernel": _Shape((250, 250), (_half_ellipse(20), _half_ellipse(35))),
    "crescent_full_moon": _Shape((75, 225), (_disc, _crescent)),
    "outlier": _Shape((138, 12, 12, 138), (_half_disc(-1), _square(0, -30), _square(0, 30), _half_disc(1))),
}

PATTERNS: tuple[str, ...] = tuple(_SHAPES)
"""Names that `make_pattern` knows."""
