"""Distortions: how far rows are from centers and from each other, in a metric that is learned.

The cost of a broken link depends on the distance φ of its two rows: φ for a must-link, a ceiling minus φ for a
cannot-link.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.centers import Tally
from cluewise.core.rows import Rows

__all__ = [
    "BrokenLinks",
    "Distortion",
    "Sums",
    "Linear",
    "Metric",
    "Update",
    "find_broken",
    "none_broken",
    "products",
    "weights_of",
]


class Metric(NamedTuple):
    """One metric for all clusters (g = 1) or one for each (g = k); weights of columns, or matrices."""

    weights: Floats  # (g, d) or (g, d, d)
    roots: Floats  # x @ root (x * root for columns) is x in the metric
    log_det: Floats  # (g,)

    def times(self, factor: float) -> Metric:
        """The same metric in other units."""
        d = self.weights.shape[-1]
        return Metric(factor * self.weights, np.sqrt(factor) * self.roots, self.log_det + d * np.log(factor))


def weights_of(a: Floats) -> Metric:
    """One metric with these weights of the columns, without a determinant term."""
    return Metric(a[None], np.sqrt(a)[None], np.zeros(1))


class Sums(NamedTuple):
    """Sums over the rows of each cluster that the next centers and the next metric need."""

    tally: Tally
    moments: Floats | None = None  # Σ w x² or Σ w x xᵀ of every cluster, if each has a metric of its own

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        moments = None if self.moments is None or other.moments is None else self.moments + other.moments
        return Sums(self.tally.plus(other.tally), moments)

    def first(self, k: int) -> Sums:
        """The first k clusters alone."""
        tally = Tally(self.tally.sums[:k], self.tally.mass[:k])
        return Sums(tally, None if self.moments is None else self.moments[:k])


class BrokenLinks(NamedTuple):
    """Links that a labeling breaks."""

    first: Ints  # row numbers
    second: Ints
    pull: Floats  # weight of a must-link, minus that of a cannot-link
    homes: Ints  # (m, 2) clusters of the two rows
    joined: Floats  # (k,) weight of the broken cannot-links in every cluster

    def __len__(self) -> int:
        """Number of links."""
        return len(self.pull)

    def joined_in(self, g: int) -> Floats:
        """(g,) the same for every metric."""
        return self.joined if g > 1 else self.joined.sum(keepdims=True)

    def shares(self, g: int, part: slice) -> Floats:
        """(links, g) weight of each link in each metric: half in the metric of either row."""
        pull = self.pull[part]
        if g == 1:
            return pull[:, None]
        out, each = np.zeros((len(pull), g)), np.arange(len(pull))
        for side in (0, 1):
            out[each, self.homes[part, side]] += 0.5 * pull
        return out


def find_broken(ends: Ints, must: Floats, cannot: Floats, labels: Ints, k: int) -> BrokenLinks:
    """The links between the rows ``ends`` that the labels break, with the given weights."""
    homes = labels[ends]
    same = homes[:, 0] == homes[:, 1]
    broken = np.flatnonzero(np.where(same, cannot, must) > 0)
    same = same[broken]
    pull = np.where(same, -cannot[broken], must[broken])
    joined = np.bincount(homes[broken[same], 0], weights=cannot[broken[same]], minlength=k).astype(np.float64)
    return BrokenLinks(ends[broken, 0], ends[broken, 1], pull, homes[broken], joined)


def none_broken(k: int) -> BrokenLinks:
    """No link is broken."""
    none = np.empty(0, dtype=np.int64)
    return BrokenLinks(none, none, np.empty(0), np.empty((0, 2), dtype=np.int64), np.zeros(k))


class Update(NamedTuple):
    """Centers and metric after a step, and their cost."""

    centers: Floats
    metric: Metric
    value: float  # the whole objective
    still: bool = True  # whether the metric is optimal, not only improved


class Distortion(ABC):
    """Base of the distortions; ``rows`` are in the representation of the distortion, ``g`` is the number of metrics."""

    absolute = True  # whether a learned metric makes the unit of X irrelevant
    unit = 1.0  # scores times this are distortions
    reference: Any  # determines the ceiling of φ; set by `prepare`, like everything that is only needed in a fit

    def __init__(self, rows: Rows, k: int, learns: bool, g: int = 1) -> None:
        self.rows = rows
        self.k = k
        self.learns = learns
        self.g = g

    @abstractmethod
    def prepare(self, total: float, counted: Ints, prior: float) -> None:
        """Compute what a fit needs.

        ``total`` is the scatter of the rows, ``counted`` are the rows that define the extent of the data, and ``prior``
        is the number of imaginary rows that support a metric.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise an error if a row is outside the domain of the distortion."""

    def first_metric(self) -> Metric:
        """The initial metric: every column has weight 1."""
        ones = np.ones((self.g, self.rows.d))
        return Metric(ones, ones, np.zeros(self.g))

    def start(self, centers: Floats) -> Floats:
        """Initial centers, moved into the domain of this distortion."""
        return centers

    @abstractmethod
    def table(self, centers: Floats, metric: Metric) -> Any:
        """Centers prepared for `scores`, with an ``offset`` to add to the scores."""

    @abstractmethod
    def scores(self, x: Any, table: Any) -> Floats:
        """(k, rows) distortions plus normalizers, divided by ``unit``, less the offset and a constant of the row."""

    @abstractmethod
    def to_own(self, x: Any, centers: Floats, metric: Metric, labels: Ints) -> Floats:
        """Distortion of every row from its own center, without the normalizer."""

    def add(self, x: Any, block: Any, labels: Ints, metric: Metric, found: Sums) -> None:
        """Add rows to the sums of their clusters."""
        self.rows.add(x, block, labels, found.tally.sums, found.tally.mass)

    def empty(self, k: int) -> Sums:
        """Sums of k empty clusters."""
        return Sums(Tally(np.zeros((k, self.rows.d)), np.zeros(k)))

    def pair_blocks(self, count: int) -> list[slice]:
        """Slices that divide the pairs into blocks."""
        size = max(2**17 // (self.rows.d + self.g), 16)
        return [slice(start, start + size) for start in range(0, count, size)]

    @abstractmethod
    def between(self, first: Ints, second: Ints, metric: Metric) -> Floats:
        """(pairs, g) the distance φ of two rows in every metric."""

    @abstractmethod
    def ceiling(self, metric: Metric, reference: Any) -> Floats:
        """(g,) upper bound on φ; a broken cannot-link costs the bound minus φ."""

    @abstractmethod
    def settle(
        self, labels: Ints, found: Sums, previous: Floats, metric: Metric, broken: BrokenLinks, reference: Any
    ) -> Update:
        """Update the centers, then the metric, for a labeling; return their cost, too."""

    def normalizer(self, metric: Metric, labels: Ints) -> Floats:
        """Cost of every row in addition to its distortion."""
        return np.zeros(len(labels))

    @abstractmethod
    def prior_cost(self, metric: Metric, centers: Floats) -> float:
        """Cost of metric and centers by themselves."""


class Linear(Distortion):
    """Base of the distortions that are linear in the weights of the columns: all terms add up to one scatter."""

    @abstractmethod
    def terms(self, first: Ints, second: Ints) -> Any:
        """(pairs, d) contribution of each column to φ at weight 1; dense, or CSR for sparse rows."""

    def between(self, first: Ints, second: Ints, metric: Metric) -> Floats:
        """(pairs, g) Σ a·terms."""
        out = np.empty((len(first), self.g))
        for part in self.pair_blocks(len(first)):
            out[part] = self.terms(first[part], second[part]) @ metric.weights.T
        return out

    def ceiling(self, metric: Metric, reference: Any) -> Floats:
        """(g,) the scalar product of weights and reference."""
        return np.asarray((metric.weights * reference).reshape(self.g, -1).sum(axis=1))

    def link_scatter(self, broken: BrokenLinks, reference: Any) -> Floats:
        """(g, d) cost of the broken links per unit of weight of each column."""
        total = broken.joined_in(self.g)[:, None] * reference
        for part in self.pair_blocks(len(broken)):
            total += broken.shares(self.g, part).T @ self.terms(broken.first[part], broken.second[part])
        return total


def products(x: Any, near: Floats, labels: Ints) -> Floats:
    """Inner product of every row with the line of its cluster; for sparse rows, only stored numbers are read."""
    if isinstance(x, np.ndarray):
        return np.einsum("ij,ij->i", x, near[labels])
    row = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    return np.bincount(row, weights=x.data * near[labels[row], x.indices], minlength=x.shape[0]).astype(np.float64)
