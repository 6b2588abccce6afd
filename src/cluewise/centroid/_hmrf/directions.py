"""Cosine distortion: only the direction of a row counts, with column weights that may be learned."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.centroid._hmrf.distortions import BrokenLinks, Distortion, Metric, Sums, Update, products, weights_of
from cluewise.core.rows import Rows, SparseRows
from cluewise.core.threads import map_blocks

__all__ = ["Cosine", "unit_rows"]

STILL = 1e-8
"""Relative decrease of the objective below which the weights have converged."""

HALVINGS = 12
"""Number of halved steps to try before giving up on new weights."""


class UnitRows(Rows):
    """Dense rows divided by their lengths."""

    def __init__(self, X: Floats, weight: Floats | None) -> None:
        super().__init__(X, weight, np.zeros(X.shape[1], dtype=X.dtype))
        self.lengths = np.concatenate([_lengths(super(UnitRows, self).take(block)) for block in self.blocks(1)])

    def take(self, block: Any) -> Floats:
        """Some rows."""
        return np.asarray(super().take(block) / self.lengths[block, None])


class SparseUnitRows(SparseRows):
    """Rows of a CSR matrix divided by their lengths."""

    def __init__(self, X: Any, weight: Floats | None) -> None:
        super().__init__(X, weight)
        self.lengths = _lengths(X)

    def take(self, block: Any) -> Any:
        """Some rows."""
        return _divide(self.X[block], self.lengths[block])

    def dense(self, block: Any) -> Floats:
        """Some rows as a dense array."""
        return self.take(block).toarray()


def unit_rows(X: Any, weight: Floats | None) -> Rows:
    """Rows of a dense or sparse matrix divided by their lengths; rows of zeros stay as they are."""
    return UnitRows(X, weight) if isinstance(X, np.ndarray) else SparseUnitRows(X, weight)


class Table(NamedTuple):
    """Centers and weights, ready for scoring."""

    near: Floats  # (k, d) −aμ / ‖μ‖_A
    offset: Floats  # (k,) zero
    weights: Floats  # (d,)


class Cosine(Distortion):
    """1 − xᵀAμ/(‖x‖_A ‖μ‖_A) with A = diag(a), section 7.4 of the specification; centers have length 1 in the metric.

    ``reference`` is the largest distance of two rows: 1 without negative numbers, else 2. The prior on the weights,
    Σ a²/2 − log a, counts once per row: with less support, the weights concentrate on columns in which all rows are
    alike.
    """

    absolute = False

    def prepare(self, total: float, counted: Ints, prior: float) -> None:
        """Find the largest distance, and warn about rows of zeros."""
        rows = self.rows
        least = min(float(rows.take(block).min()) for block in rows.blocks(1))
        self.reference = 1.0 if least >= 0 else 2.0
        self.strength = rows.mass
        if any((_lengths(rows.take(block), 0.0) == 0).any() for block in rows.blocks(1)):
            warnings.warn("X has rows of zeros, which have no direction.", UserWarning, stacklevel=7)

    def check(self) -> None:
        """All rows are in the domain."""

    def start(self, centers: Floats) -> Floats:
        """Centers of length 1; one without direction points along the diagonal."""
        lengths = np.sqrt((centers * centers).sum(axis=1))
        lost = np.full(self.rows.d, self.rows.d**-0.5)
        return np.where(lengths[:, None] > 0, centers / np.where(lengths > 0, lengths, 1.0)[:, None], lost)

    def table(self, centers: Floats, metric: Metric) -> Table:
        """Centers prepared for `scores`."""
        a = metric.weights[0]
        near = -(a * centers) / np.sqrt((centers * centers) @ a)[:, None]
        return Table(near.astype(self.rows.dtype), np.zeros(self.k, dtype=self.rows.dtype), a)

    def scores(self, x: Any, table: Table) -> Floats:
        """(k, rows) minus the cosines."""
        product = x @ table.near.T
        if self.learns:
            product = product / _lengths(x, 1.0, table.weights)[:, None]
        return np.ascontiguousarray(product.T, dtype=self.rows.dtype)

    def to_own(self, x: Any, centers: Floats, metric: Metric, labels: Ints) -> Floats:
        """1 − cosine of every row with its own center; 0 if that is only rounding."""
        own = 1 - self._cosines(x, centers, metric.weights[0], labels)
        eps: Any = np.finfo(self.rows.dtype).eps
        return np.where(own > 8 * eps, own, 0.0)

    def _cosines(self, x: Any, centers: Floats, a: Floats, labels: Ints) -> Floats:
        near = (a * centers) / np.sqrt((centers * centers) @ a)[:, None]
        return np.asarray(products(x, near, labels) / _lengths(x, 1.0, a))

    def add(self, x: Any, block: Any, labels: Ints, metric: Metric, found: Sums) -> None:
        """Add rows of length 1 in the metric to the sums of their clusters."""
        if self.learns:
            x = _divide(x, _lengths(x, 1.0, metric.weights[0]))
        super().add(x, block, labels, metric, found)

    def between(self, first: Ints, second: Ints, metric: Metric) -> Floats:
        """(pairs, 1) 1 − cosine of two rows."""
        out = np.empty((len(first), 1))
        a = metric.weights[0]
        for part in self.pair_blocks(len(first)):
            x, z = (self._normalize(which[part], a) for which in (first, second))
            out[part, 0] = 1 - _multiply(x, z) @ a
        return np.maximum(out, 0)

    def _normalize(self, which: Ints, a: Floats) -> Any:
        """Some rows of length 1 in the metric, in double precision."""
        x = self.rows.take(which).astype(np.float64)
        return _divide(x, _lengths(x, 1.0, a))

    def ceiling(self, metric: Metric, reference: Any) -> Floats:
        """(1,) the largest distance of two rows."""
        return np.array([float(reference)])

    def settle(
        self, labels: Ints, found: Sums, previous: Floats, metric: Metric, broken: BrokenLinks, reference: Any
    ) -> Update:
        """M1: μ_h ∝ Σ x/‖x‖_A. M2: a gradient step on log a, halved until the objective falls."""
        a, (sums, mass) = metric.weights[0], found.tally
        lengths = np.sqrt((sums * sums) @ a)
        centers = np.where(lengths[:, None] > 0, sums / np.where(lengths > 0, lengths, 1.0)[:, None], previous)
        value = float(mass.sum() - lengths.sum()) + self._links(broken, metric)
        if not self.learns:
            return Update(centers, metric, value)
        value += self.prior_cost(metric, centers)
        slope = a * self._gradient(labels, found, centers, a, broken)
        pace = 1 / (2 * self.strength)  # the Newton step of the prior alone at a = 1
        for _ in range(HALVINGS):
            trial = weights_of(a * np.exp(np.clip(-pace * slope, -1, 1)))
            there = (
                self._total_cost(labels, centers, trial) + self._links(broken, trial) + self.prior_cost(trial, centers)
            )
            if there < value:
                longer = np.sqrt((centers * centers) @ trial.weights[0])[:, None]
                return Update(centers / longer, trial, there, value - there <= STILL * abs(value))
            pace /= 2
        return Update(centers, metric, value)

    def _links(self, broken: BrokenLinks, metric: Metric) -> float:
        """Cost of the broken links."""
        distance = self.between(broken.first, broken.second, metric)[:, 0]
        return float(broken.pull @ distance + broken.joined.sum() * self.reference)

    def _total_cost(self, labels: Ints, centers: Floats, metric: Metric) -> float:
        """Σ w·D of all rows."""

        def work(block: slice) -> float:
            own = self.to_own(self.rows.take(block), centers, metric, labels[block])
            return float(own.sum() if self.rows.weight is None else own @ self.rows.weights(block))

        return sum(map_blocks(work, self.rows.blocks(self.k)))

    def _gradient(self, labels: Ints, found: Sums, centers: Floats, a: Floats, broken: BrokenLinks) -> Floats:
        """∂J/∂a of section 7.4, for rows, broken links and prior, given centers of length 1."""

        def work(block: slice) -> Floats:
            x = self.rows.take(block).astype(np.float64)
            share = self._cosines(x, centers, a, labels[block])
            if self.rows.weight is not None:
                share = share * self.rows.weights(block)
            turned = _divide(x, _lengths(x, 1.0, a))
            return np.asarray(share @ _multiply(turned, turned)).ravel()

        squares = sum(map_blocks(work, self.rows.blocks(self.k)), start=np.zeros(self.rows.d))
        sums = found.tally.sums
        cosines = (sums * centers) @ a
        total = 0.5 * squares + 0.5 * cosines @ (centers * centers) - (sums * centers).sum(axis=0)
        for part in self.pair_blocks(len(broken)):
            x, z = (self._normalize(which[part], a) for which in (broken.first, broken.second))
            cross, pull = _multiply(x, z), broken.pull[part]
            total += (
                0.5 * ((pull * (cross @ a)) @ _multiply(x, x) + (pull * (cross @ a)) @ _multiply(z, z)) - pull @ cross
            )
        return np.asarray(total + self.strength * (a - 1 / a))

    def prior_cost(self, metric: Metric, centers: Floats) -> float:
        """Cost of the weights by themselves: 0 at a = 1, where they start."""
        a = metric.weights[0]
        return self.strength * float((0.5 * (a * a - 1) - np.log(a)).sum()) if self.learns else 0.0


def _lengths(x: Any, zero: float = 1.0, a: Floats | None = None) -> Floats:
    """Lengths of rows, in a metric if one is given; ``zero`` for rows without length."""
    if a is None:
        squared = (
            np.einsum("ij,ij->i", x, x)
            if isinstance(x, np.ndarray)
            else np.asarray(_multiply(x, x).sum(axis=1)).ravel()
        )
    else:
        squared = np.asarray(_multiply(x, x) @ a).ravel()
    lengths = np.sqrt(squared)
    return np.where(lengths > 0, lengths, zero).astype(x.dtype)


def _multiply(x: Any, z: Any) -> Any:
    return x * z if isinstance(x, np.ndarray) else x.multiply(z).tocsr()


def _divide(x: Any, lengths: Floats) -> Any:
    """Divide each row by a number."""
    if isinstance(x, np.ndarray):
        return x / lengths[:, None]
    out = x.copy()
    out.data = x.data / np.repeat(lengths, np.diff(x.indptr))
    return out
