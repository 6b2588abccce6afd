"""Landmarks: kernels between all rows and a few of them, and k-means in the space that those few span.

A kernel is an inner product in some feature space. Projected onto the span of m landmarks, every row has coordinates
k(x, landmarks)·root with root = K̂^(−1/2) [Chitta2011]_, and plain k-means on these coordinates is kernel k-means with
centers in the span. `KernelRows` lets the steps of k-means work on them block by block; sums and scores are formed
before the multiplication by root, so that a pass costs O(n·m·(d + k)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.rows import Rows, Table
from cluewise.core.threads import map_blocks
from cluewise.kernels import assignment

__all__ = ["NAMES", "Kernel", "KernelRows", "Landmarks", "draw_rows", "estimate_gamma", "make_landmarks", "sum_kernel"]

NAMES = ("rbf", "polynomial", "linear", "cosine")

SMALLEST = 1e-12
"""Eigenvalues below this share of the largest are rounding errors; their directions are dropped."""

ROUNDING = 1e-18
"""Squared distances below this share of a squared length are rounding errors of the smallest directions."""

KEPT = 2**28
"""Maximum size in bytes of kernel values that are kept; larger ones are computed again in every pass."""


class Kernel(NamedTuple):
    """A named kernel, or a function of two matrices."""

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    def matrix(self, x: Any, y: Any) -> Floats:
        """Kernel of each row of x with each row of y, dense."""
        if callable(self.name):
            values = np.asarray(self.name(x, y), dtype=np.float64)
            if values.shape != (x.shape[0], y.shape[0]) or not np.isfinite(values).all():
                raise ValueError(
                    f"kernel returned an array of shape {values.shape} for {x.shape[0]} and {y.shape[0]} rows, "
                    "or nan or infinity; it must return one finite number per pair of rows."
                )
            return values
        dots = x @ y.T
        dots = dots.toarray() if hasattr(dots, "toarray") else dots
        if self.name == "rbf":
            dots *= -2
            dots += _norms(x)[:, None]
            dots += _norms(y)
            np.maximum(dots, 0, out=dots)
            dots *= -self.gamma
            np.exp(dots, out=dots)
        elif self.name == "cosine":
            dots /= np.sqrt(_or_one(_norms(x)))[:, None]
            dots /= np.sqrt(_or_one(_norms(y)))
        return self._of_dots(dots)

    def diagonal(self, x: Any) -> Floats:
        """Kernel of each row with itself."""
        if callable(self.name):
            cuts = [x[start : start + 64] for start in range(0, x.shape[0], 64)]
            return np.concatenate([self.matrix(some, some).diagonal() for some in cuts])
        norms = _norms(x)
        if self.name == "rbf":
            return np.ones(len(norms))
        return np.sign(norms) if self.name == "cosine" else self._of_dots(norms)

    def _of_dots(self, dots: Floats) -> Floats:
        return (self.gamma * dots + self.coef0) ** self.degree if self.name == "polynomial" else dots


def _norms(x: Any) -> Floats:
    if hasattr(x, "toarray"):
        return np.asarray(x.multiply(x).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", x, x)


def _or_one(norms: Floats) -> Floats:
    return np.where(norms > 0, norms, 1.0)


class Landmarks(NamedTuple):
    """Rows that span the space in which centers lie."""

    points: Any  # (m, d) float64, dense or CSR, relative to the origin
    origin: Floats  # (d,) what is subtracted from rows; zeros unless the kernel depends on differences alone
    kernel: Kernel
    root: Floats  # (m, r): K̂^(−1/2) without the directions that are rounding errors

    def of(self, x: Any) -> Floats:
        """Kernel of some rows with the landmarks."""
        return self.kernel.matrix(_subtract(x, self.origin), self.points)


def _subtract(x: Any, origin: Floats) -> Any:
    """Subtract the origin from dense rows, in double precision; sparse rows stay sparse."""
    return x.astype(np.float64) if hasattr(x, "toarray") else x - origin.astype(np.float64)


def make_landmarks(x: Any, origin: Floats, kernel: Kernel) -> Landmarks:
    """Make landmarks of rows: factor the kernel among them."""
    points = _subtract(x, origin)
    among = kernel.matrix(points, points)
    if not np.isfinite(among).all():
        raise ValueError("the kernel of some landmarks is infinite; scale the columns of X or choose another kernel.")
    values, vectors = np.linalg.eigh(among)
    keep = values > SMALLEST * max(values[-1], 0.0)
    keep[-1] = True  # if the kernel is zero everywhere, all rows are at the origin of a space of one dimension
    scale = np.where(values > 0, values, 1.0) ** -0.5 * (values > 0)
    return Landmarks(points, origin, kernel, vectors[:, keep] * scale[keep])


def estimate_gamma(x: Any, origin: Floats, weight: Floats | None) -> float:
    """One over the median squared distance between different rows; 1 if all are equal."""
    points = _subtract(x, origin)
    dots = points @ points.T
    norms = _norms(points)
    first, second = np.triu_indices(len(norms), 1)
    both = norms[first] + norms[second]
    squared = both - 2 * (dots.toarray() if hasattr(dots, "toarray") else dots)[first, second]
    differ = squared > 1e-10 * both  # not only by rounding
    if not differ.any():
        return 1.0
    times = np.ones(len(both)) if weight is None else weight[first].astype(np.float64) * weight[second]
    order = np.argsort(squared[differ])
    before = np.cumsum(times[differ][order])
    return 1 / float(squared[differ][order[np.searchsorted(before, before[-1] / 2)]])


def draw_rows(rows: Rows, count: int, rng: np.random.Generator) -> Ints:
    """Draw at most ``count`` rows at random, in proportion to their weights.

    They are drawn from the order along a random direction, so that the order of the rows in X has no influence.
    """
    direction, place = rng.normal(size=rows.d), np.empty(rows.n)
    for block in rows.blocks(1):
        place[block] = rows.take(block) @ direction
    order = np.argsort(place, kind="stable")
    weight = None if rows.weight is None else rows.weight[order].astype(np.float64)
    if weight is not None:
        order, weight = order[weight > 0], weight[weight > 0]
    if count >= len(order):
        return order
    chance = None if weight is None else weight / weight.sum()
    return order[np.sort(rng.choice(len(order), size=count, replace=False, p=chance))]


def sum_kernel(rows: Rows, landmarks: Landmarks) -> float:
    """Σ w·k(x, x): the part of the objective that does not depend on the labels."""

    def work(block: slice) -> float:
        own = landmarks.kernel.diagonal(_subtract(rows.X[block], landmarks.origin))
        return float(own.sum() if rows.weight is None else own @ rows.weight[block])

    return sum(map_blocks(work, rows.blocks(1)))


class KernelRows(Rows):
    """Rows by their coordinates in the span of landmarks; blocks hold kernel values, from which these follow."""

    def __init__(self, rows: Rows, landmarks: Landmarks, *, keep: bool = True) -> None:
        self._rows = rows
        self._landmarks = landmarks
        self.X, self.weight, self.mass, self.n = rows.X, rows.weight, rows.mass, rows.n
        m, self.d = landmarks.root.shape
        self.dtype = np.dtype(np.float64)
        self.shift = np.zeros(self.d)
        self._width = m + rows._width
        self._moved = None
        if keep and self.n * m * 8 <= KEPT:
            kept = np.empty((self.n, m))

            def work(block: slice) -> None:
                kept[block] = self._values(block)

            for _ in map_blocks(work, self.blocks(1)):
                continue
            self._moved = kept

    def _values(self, block: Any) -> Floats:
        return self._landmarks.of(self.X[block])

    def take(self, block: Any) -> Floats:
        """Kernel of some rows with the landmarks."""
        return self._values(block) if self._moved is None else self._moved[block]

    def dense(self, block: Any) -> Floats:
        """Coordinates of some rows."""
        return self.take(block) @ self._landmarks.root

    def table(self, centers: Floats) -> Table:
        """Prepare centers for `scores`: ``minus`` are minus the coefficients of the landmarks."""
        near = np.ascontiguousarray(centers, dtype=np.float64)
        return Table(near, 0.5 * np.einsum("hj,hj->h", near, near), -near @ self._landmarks.root.T)

    def scores(self, x: Any, table: Table, out: Floats | None = None) -> Floats:
        """(k, rows) array: ½·distance² up to a constant of the row, before the offset is added."""
        return np.ascontiguousarray(table.minus @ x.T)

    def squared(self, x: Any, table: Table) -> Floats:
        """(k, rows) array of squared distances."""
        squared = 2 * (self.scores(x, table) + table.offset[:, None]) + _norms(x @ self._landmarks.root)
        return np.maximum(squared, 0, out=squared)

    def add(self, x: Any, block: Any, labels: Ints, sums: Floats, mass: Floats) -> None:
        """Add rows to the sums and masses of their clusters."""
        own = np.zeros((len(mass), x.shape[1]))
        assignment.add_rows(x, self.weights(block), labels, own, mass)
        sums += own @ self._landmarks.root

    def to_own(self, x: Any, centers: Floats, labels: Ints) -> Floats:
        """Squared distance of each row to the center of its cluster, in difference form; 0 if that is rounding."""
        near, out = x @ self._landmarks.root, np.empty(x.shape[0])
        assignment.squared_to_own(near, centers, labels, out)
        return np.where(out > ROUNDING * _norms(near), out, 0.0)
