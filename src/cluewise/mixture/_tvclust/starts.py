"""Initialization of TVClust: k-means on the rows, on the reports, or on both."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cluewise._typing import Floats, Ints
from cluewise.core import assign, lloyd, loop, seeding
from cluewise.core.centers import scatter
from cluewise.core.rows import rows_of
from cluewise.mixture._tvclust.pair_evidence import Evidence
from cluewise.mixture._tvclust.priors import FLAT, Base, NormalInverseWishart

__all__ = ["Views", "first_labels", "memberships", "nearest", "plan_labels", "views_of"]

SAMPLE = 4096
"""Number of rows in the sample for k-means; the others go to the nearest of its centers."""

NUMBERS = 2**23
"""Maximum number of entries of this sample."""

DIRECTIONS = 8
"""Number of coordinates that are derived from the reports."""

ROUNDS = 60
"""Iterations of the power method for these coordinates, which need not be exact."""

DOUBT = 0.1
"""Share of each initial membership that is spread over all clusters."""

BLOCK = 2048
"""Rows in a block."""


class Views(NamedTuple):
    """Coordinates of the rows: by their scaled columns, and by the reports about them."""

    X: Any
    center: Floats | None  # (d,) of the columns; None for counts
    scale: Floats | None  # (d,)
    places: Floats | None  # (n, DIRECTIONS) float64; None without reports

    def by_rows(self, which: Any) -> Floats:
        """Standardized columns of some rows; for counts square roots of the shares of words."""
        return self.scale_rows(np.asarray(self.X[which], dtype=np.float64))

    def scale_rows(self, x: Floats) -> Floats:
        """The same for given rows."""
        if self.center is not None and self.scale is not None:
            return (x - self.center) / self.scale
        total = x.sum(axis=1, keepdims=True)
        return np.sqrt(x / np.where(total > 0, total, 1.0))

    def of(self, which: Any, rows: bool, reports: bool) -> Floats:
        """Rows as points; with both views, both have the same weight."""
        if not reports or self.places is None:
            return self.by_rows(which)
        if not rows:
            return self.places[which]
        x = self.by_rows(which)
        return np.hstack([self.places[which], x / np.sqrt(x.shape[1])])


def views_of(X: Any, base: Base, pairs: Evidence, rng: np.random.Generator) -> Views:
    """Both views; coordinates by reports are the leading eigenvectors of their normalized signed matrix."""
    n, center, scale = X.shape[0], None, None
    if isinstance(base, NormalInverseWishart):
        center, spread = X.mean(axis=0), X.std(axis=0)
        scale = np.where(spread > FLAT * spread.max(initial=0.0), spread, 1.0)
    if not len(pairs):
        return Views(X, center, scale, None)
    sign = np.where(pairs.is_must, pairs.weight, -pairs.weight)[pairs.report]
    # A copy, because SciPy adds the two entries of a pair with both kinds of reports in place.
    table = csr_array((sign, pairs.neighbor, pairs.indptr), shape=(n, n), copy=True)
    degree = np.bincount(np.concatenate([pairs.first, pairs.second]), np.tile(pairs.weight, 2), n)
    degree = np.maximum(degree, 1e-12)
    shrink = (1 / np.sqrt(degree))[:, None]
    places = rng.normal(size=(n, min(DIRECTIONS, n)))
    for _ in range(ROUNDS):
        places = np.linalg.qr(places + shrink * (table @ (shrink * places)))[0]
    return Views(X, center, scale, places * np.sqrt(n))


def nearest(views: Views, centers: Floats, rows: bool, reports: bool) -> Ints:
    """Number of the nearest center for every row."""
    n = views.X.shape[0]
    labels = np.empty(n, dtype=np.int64)
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    for start in range(0, n, BLOCK):
        block = slice(start, min(start + BLOCK, n))
        labels[block] = (half - views.of(block, rows, reports) @ centers.T).argmin(axis=1)
    return labels


def first_labels(views: Views, k: int, rng: np.random.Generator, *, rows: bool, reports: bool) -> Ints:
    """Labels of k-means with at most k clusters on one view or both."""
    n, d = views.X.shape
    size = min(n, SAMPLE, max(NUMBERS // d, k))
    picked = np.arange(n) if size == n else np.sort(rng.choice(n, size=size, replace=False))
    points = rows_of(np.ascontiguousarray(views.of(picked, rows, reports)))
    k = min(k, size)
    start = lloyd.State(assign.no_labels(size), seeding.plus_plus(points, np.empty((0, points.d)), k, rng))
    move = partial(lloyd.step, rows=points, total=scatter(points))
    found = loop.run(move, start, loop.Limits(50, 1e-3))
    return nearest(views, found.state.centers + points.shift, rows, reports)


def plan_labels(views: Views, k: int, number: int, rng: np.random.Generator, *, rows_alone: bool) -> Ints:
    """Labels of start ``number``. Starts differ in the views they use and in the number of clusters (k or k/2)."""
    fewer = -(-k // 2)
    plan = ((k, True, False), (k, True, True), (fewer, True, False), (fewer, False, True))
    if rows_alone or views.places is None:
        plan = plan[::2] * 2
    size, rows, reports = plan[number % 4]
    return first_labels(views, size, rng, rows=rows, reports=reports)


def memberships(labels: Ints, k: int) -> Floats:
    """(n, k) memberships of 0.9 in the labels, the rest spread evenly."""
    out = np.full((len(labels), k), DOUBT / k)
    out[np.arange(len(labels)), labels] += 1 - DOUBT
    return out
