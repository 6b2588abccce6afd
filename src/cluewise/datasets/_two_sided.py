"""Two-sided data: rows with two unrelated clusterings."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
from numpy.random import Generator, RandomState

from cluewise._typing import Floats, Ints
from cluewise.datasets._dataset import DatasetError, make_generator

__all__ = ["make_two_sided"]

SIDE = 12
"""Width and height of an image of a shape."""

WORDS = 20
"""Number of words of each side."""


def make_two_sided(
    kind: str = "points",
    *,
    n_samples: int = 300,
    n_classes: tuple[int, int] = (3, 3),
    dominance: float = 3.0,
    random_state: int | Generator | RandomState | None = None,
) -> tuple[Floats, Ints, Ints]:
    """Draw rows with two unrelated clusterings, the first of which dominates.

    Parameters
    ----------
    kind : {"points", "counts", "shapes"}, default="points"
        Points around centers, with separate columns for each side (one for two classes, else two); counts of 40 words,
        20 for each side; or images of 12 by 12 pixels in three colors, flattened, where the color is the first side and
        the shape (disk, square or cross) the second.
    n_samples : int, default=300
        Number of rows.
    n_classes : tuple of two ints, default=(3, 3)
        Number of classes of each side; at most 3 for shapes.
    dominance : float, default=3.0
        How much stronger the first side is: ratio of the distances between centers, or of the numbers of words. For
        shapes, the larger it is, the less white is in the colors.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, d)
        The rows.
    first, second : ndarrays of shape (n_samples,)
        The class of each row on each side.

    Examples
    --------
    >>> from cluewise.datasets import make_two_sided
    >>> X, first, second = make_two_sided("counts", n_samples=50, n_classes=(2, 4), random_state=0)
    >>> X.shape, sorted(set(first.tolist())), sorted(set(second.tolist()))
    ((50, 40), [0, 1], [0, 1, 2, 3])
    """
    draw = {"points": _points, "counts": _counts, "shapes": _shapes}
    if kind not in draw:
        raise DatasetError(f"kind is {kind!r}; it must be one of {', '.join(draw)}.")
    pair = list(n_classes) if isinstance(n_classes, Iterable) else []
    if len(pair) != 2 or not all(isinstance(k, Integral) and k >= 1 for k in pair):
        raise DatasetError(f"n_classes is {n_classes!r}; it must be two integers of at least 1.")
    if not isinstance(n_samples, Integral):
        raise DatasetError(f"n_samples is {n_samples!r}; it must be an integer.")
    if n_samples < max(n_classes):
        raise DatasetError(f"n_samples is {n_samples}, too few for {max(n_classes)} classes.")
    if not isinstance(dominance, Real) or not 0 < dominance < float("inf"):
        raise DatasetError(f"dominance is {dominance!r}; it must be positive and finite.")
    if kind == "shapes" and max(n_classes) > 3:
        raise DatasetError(f"n_classes is {n_classes!r}, but there are only three colors and three shapes.")
    rng = make_generator(random_state)
    first, second = (rng.permutation(np.arange(n_samples) % k) for k in n_classes)
    return draw[kind](first, second, n_classes, dominance, rng), first, second


def _points(first: Ints, second: Ints, n_classes: tuple[int, int], dominance: float, rng: Generator) -> Floats:
    """Normal points around the corners of two regular polygons."""
    sides = [
        scale * _corners(k)[codes]
        for scale, k, codes in ((6 * dominance, n_classes[0], first), (6.0, n_classes[1], second))
    ]
    centers = np.hstack(sides)
    return centers + rng.normal(size=centers.shape)


def _corners(k: int) -> Floats:
    """Corners of a regular polygon with sides of length 1; two points on a line."""
    if k <= 2:
        return np.arange(k, dtype=np.float64)[:, None]
    angle = 2 * np.pi * np.arange(k) / k
    return np.column_stack([np.cos(angle), np.sin(angle)]) / (2 * np.sin(np.pi / k))


def _counts(first: Ints, second: Ints, n_classes: tuple[int, int], dominance: float, rng: Generator) -> Floats:
    """Documents of about 50 words on the second side, and ``dominance`` times as many on the first."""
    length = rng.uniform(0.7, 1.3, size=(len(first), 1))
    sides = [
        rng.poisson(length * words * _topics(k)[codes])
        for words, k, codes in ((50 * dominance, n_classes[0], first), (50.0, n_classes[1], second))
    ]
    return np.hstack(sides).astype(np.float64)


def _topics(k: int) -> Floats:
    """Probabilities of words: a topic's own words are six times as frequent as the others."""
    own = np.arange(WORDS) * k // WORDS == np.arange(k)[:, None]
    weight = 1.0 + 5.0 * own
    return weight / weight.sum(axis=1, keepdims=True)


def _shapes(first: Ints, second: Ints, n_classes: tuple[int, int], dominance: float, rng: Generator) -> Floats:
    """Images of bright shapes, shifted by up to half a pixel, on a dim background."""
    white = 1 / (1 + dominance)
    colors = white + (1 - white) * np.eye(3)[first]
    shift, size = rng.uniform(-0.5, 0.5, size=(2, len(first), 1, 1)), rng.uniform(0.95, 1.05, size=(len(first), 1, 1))
    at = np.arange(SIDE) - (SIDE - 1) / 2
    across, down = (at[None, None, :] - shift[0]) / size, (at[None, :, None] - shift[1]) / size
    far, near = np.maximum(np.abs(across), np.abs(down)), np.minimum(np.abs(across), np.abs(down))
    # How far inside the outline each pixel is; all three shapes cover about the same area.
    inside = np.stack([4.0 - np.hypot(across, down), 1.5 - np.abs(far - 4.0), np.minimum(1.4 - near, 5.8 - far)])
    mask = np.clip(inside[second, np.arange(len(first))] + 0.5, 0, 1)
    light = rng.uniform(0.7, 1.0, size=(len(first), 1, 1, 1))
    picture = light * mask[..., None] * colors[:, None, None, :] + rng.uniform(0, 0.1, size=(*mask.shape, 3))
    return np.clip(picture, 0, 1).reshape(len(first), -1)
