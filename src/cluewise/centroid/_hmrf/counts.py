"""I-divergence with weighted columns, for counts and shares; a Bregman divergence, so centers are means."""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._hmrf.distortions import BrokenLinks, Linear, Metric, Sums, Update, products, weights_of
from cluewise.centroid._hmrf.extent import box
from cluewise.core.rows import Rows, SparseRows
from cluewise.core.threads import map_blocks

__all__ = ["GeneralizedI", "rayleigh", "unmoved_rows"]

BACKGROUND = 1e-3
"""Mass of the global mean in every cluster, relative to an average cluster: it keeps centers away from zero."""


def unmoved_rows(X: Any, weight: Floats | None) -> Rows:
    """Rows of a dense or sparse matrix without a shift: the divergence needs the original values."""
    return Rows(X, weight, np.zeros(X.shape[1], dtype=X.dtype)) if isinstance(X, np.ndarray) else SparseRows(X, weight)


class Table(NamedTuple):
    """Centers and weights, ready for scoring."""

    near: Floats  # (k, d) −a log μ
    offset: Floats  # (k,) Σ aμ


class GeneralizedI(Linear):
    """Σ_m a_m [x log(x/μ) − x + μ], section 7.5 of the specification; φ is the divergence of two rows from their mean.

    The prior on the weights, Σ a²/2s² − log a, counts once per row, like the normalizer of a squared distance. Its
    scale s depends on the mean divergence from the global mean, so the unit of X does not matter.
    """

    def prepare(self, total: float, counted: Ints, prior: float) -> None:
        """Compute the sums of all rows, the global mean as background, and an upper bound on φ."""
        self.check()
        rows = self.rows
        one = np.zeros(rows.n, dtype=np.int32)
        whole = self.empty(1)
        self.entropy = np.zeros(rows.d)

        def work(block: slice) -> tuple[Sums, Floats]:
            x = rows.take(block)
            found = self.empty(1)
            self.add(x, block, one[block], self.first_metric(), found)
            weight = np.ones(x.shape[0]) if rows.weight is None else rows.weights(block).astype(np.float64)
            return found, np.asarray(weight @ _apply(x, _x_log_x)).ravel()

        for found, entropy in map_blocks(work, rows.blocks(1)):
            whole = Sums(whole.tally.plus(found.tally))
            self.entropy += entropy
        # φ is convex in both rows, so each column of it is largest at a corner of the bounding box.
        self.reference = _to_mean(*box(rows, counted))[None]
        mean = whole.tally.sums[0] / rows.mass
        mean = (1 - BACKGROUND) * mean + BACKGROUND * mean.mean()
        self.mean = np.maximum(mean, float(np.finfo(self.rows.dtype).tiny))
        self.held = BACKGROUND * rows.mass / self.k
        apart = float(self._scatter(whole, self.mean[None]).sum()) / rows.mass
        self.strength = rows.mass
        self.spread = rows.d / apart if apart > 0 and self.reference.any() else 1.0  # equal rows have no unit

    def check(self) -> None:
        """Raise an error that names row and column if X has a negative number."""
        for block in self.rows.blocks(1):
            x = self.rows.take(block)
            if x.shape[0] and x.min() < 0:
                dense = x if isinstance(x, np.ndarray) else x.toarray()
                row, column = (int(at) for at in np.argwhere(dense < 0)[0])
                raise ValueError(
                    "distortion='generalized_i' requires non-negative numbers, but X holds "
                    f"{float(dense[row, column])!r} in row {block.start + row}, column {column}."
                )

    def start(self, centers: Floats) -> Floats:
        """Centers without zeros."""
        if (centers < 0).any():
            raise ValueError("distortion='generalized_i' requires non-negative numbers, but init holds a negative one.")
        return (1 - BACKGROUND) * centers + BACKGROUND * self.mean

    def table(self, centers: Floats, metric: Metric) -> Table:
        """Centers prepared for `scores`."""
        a, dtype = metric.weights[0], self.rows.dtype
        return Table((-a * np.log(centers)).astype(dtype), (centers @ a).astype(dtype))

    def scores(self, x: Any, table: Table) -> Floats:
        """(k, rows) −Σ a x log μ: the divergence without the offset and up to a constant of the row."""
        return np.ascontiguousarray((x @ table.near.T).T, dtype=self.rows.dtype)

    def to_own(self, x: Any, centers: Floats, metric: Metric, labels: Ints) -> Floats:
        """Divergence of every row from its own center."""
        a = metric.weights[0]
        alone = _apply(x, lambda v: _x_log_x(v) - v) @ a
        return np.asarray(
            alone - products(x.astype(np.float64, copy=False), a * np.log(centers), labels) + (centers @ a)[labels]
        )

    def terms(self, first: Ints, second: Ints) -> Any:
        """Columns of φ: x log(2x/(x + z)) + z log(2z/(x + z))."""
        return _to_mean(*(self.rows.take(which).astype(np.float64) for which in (first, second)))

    def settle(
        self, labels: Ints, found: Sums, previous: Floats, metric: Metric, broken: BrokenLinks, reference: Any
    ) -> Update:
        """M1: means, each with a little of the global mean. M2: the closed form of section 7.5."""
        sums, mass = found.tally
        centers = (sums + self.held * self.mean) / (mass + self.held)[:, None]
        scatter = self._scatter(found, centers) + self._backing(centers) + self.link_scatter(broken, reference)[0]
        if self.learns:
            metric = weights_of(rayleigh(scatter / self.strength, self.spread))
        a = metric.weights[0]
        return Update(centers, metric, float(scatter @ a) + self._weights_cost(a))

    def _scatter(self, found: Sums, centers: Floats) -> Floats:
        """(d,) Σ w [x log(x/μ) − x + μ] over all rows."""
        sums, mass = found.tally
        return np.asarray(self.entropy - (sums * np.log(centers)).sum(axis=0) - sums.sum(axis=0) + mass @ centers)

    def _backing(self, centers: Floats) -> Floats:
        """(d,) the same for the background mass of every cluster at the global mean."""
        mean = self.mean
        return np.asarray(self.held * (mean * np.log(mean / centers) - mean + centers).sum(axis=0))

    def _weights_cost(self, a: Floats) -> float:
        return self.strength * float((0.5 * (a / self.spread) ** 2 - np.log(a)).sum()) if self.learns else 0.0

    def prior_cost(self, metric: Metric, centers: Floats) -> float:
        """Cost of the weights and of the background of the centers."""
        a = metric.weights[0]
        return float(self._backing(centers) @ a) + self._weights_cost(a)


def rayleigh(slope: Floats, spread: float) -> Floats:
    """The a > 0 that minimizes slope·a − log a + a²/(2 spread²)."""
    root = np.sqrt(slope**2 + 4 / spread**2)
    steep = slope > 0  # root − slope would cancel there
    return np.where(steep, 2 / (root + np.where(steep, slope, 0.0)), spread**2 * (root - slope) / 2)


def _to_mean(x: Any, z: Any) -> Any:
    """Elementwise I-divergence of x and z from their mean."""
    both = x + z
    return _apply(x, _x_log_x) + _apply(z, _x_log_x) - _apply(both, _x_log_x) + log(2) * both


def _x_log_x(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _apply(x: Any, function: Any) -> Any:
    """Apply a function with f(0) = 0 to every number; sparse matrices stay sparse."""
    if isinstance(x, np.ndarray):
        return function(x.astype(np.float64))
    out = x.astype(np.float64)
    out.data = function(out.data)
    return out
