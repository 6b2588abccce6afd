"""Squared distances in learned metrics: none, one, or one per cluster; weighted columns or full matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._squares import negligible
from cluewise._typing import Floats, Ints
from cluewise.centroid._hmrf.distortions import BrokenLinks, Linear, Metric, Sums, Update, products
from cluewise.centroid._hmrf.extent import box, diameter, farthest_pair
from cluewise.core import centers as means
from cluewise.core.rows import DIRECT, Rows, SparseRows
from cluewise.core.threads import map_blocks

__all__ = ["SquaredEuclidean", "inverse"]

FLOOR = 1e-6
"""Smallest variance that a metric assumes, relative to that of all rows; without it, J is unbounded below."""


class Table(NamedTuple):
    """Centers and metric, ready for scoring."""

    centers: Floats  # in the metric
    offset: Floats  # (k,)
    metric: Metric
    inner: Any  # table of `Rows`, if all clusters share one metric


class SquaredEuclidean(Linear):
    """‖x − μ‖² − log det A in the metric A: Eq. 24–28 of [Truong2013]_ with errata E21–E23.

    ``kind`` is None, "diagonal" or "full". ``prior`` imaginary rows, spread like all rows, support each metric.
    """

    unit = 2.0

    def __init__(self, rows: Rows, k: int, kind: str | None, per_cluster: bool) -> None:
        super().__init__(rows, k, kind is not None, k if kind and per_cluster else 1)
        self.kind = kind
        self.expands = rows.d > DIRECT or isinstance(rows, SparseRows)  # whether `Rows` expands ‖x − μ‖² into products
        self.full = kind == "full"

    def prepare(self, total: float, counted: Ints, prior: float) -> None:
        """Compute the second moments of all rows and the reference of the cannot-links."""
        self.counted, self.prior = counted, prior
        self.total: Any = total
        if self.learns:
            self.total, variance, spread = _moments_of_all(self.rows, self.full)
            self.scale = np.sqrt(variance)
            lift = FLOOR * variance
            self.spread = spread + (np.diag(lift) if self.full else lift)
        self.reference = self._fixed_reference()

    def check(self) -> None:
        """All rows are in the domain."""

    def _fixed_reference(self) -> Floats:
        """R such that R − ΔΔᵀ has no negative diagonal (diagonal metric) or no negative eigenvalue (full metric)."""
        if self.kind == "diagonal":
            low, high = box(self.rows, self.counted)
            return ((high - low) ** 2)[None]
        squared = diameter(self.rows, self.counted) ** 2
        return squared * np.eye(self.rows.d)[None] if self.full else np.full((1, self.rows.d), squared / self.rows.d)

    def far_reference(self, metric: Metric) -> Floats:
        """R_h = ΔΔᵀ of the two rows that are farthest apart in the current metric, as published."""
        out = np.empty((self.g, *metric.weights.shape[1:]))
        for h, root in enumerate(metric.roots):
            i, j, _ = farthest_pair(self.rows, self.counted, root)
            off = self._differences(np.array([i]), np.array([j]))
            off = np.asarray(off if isinstance(off, np.ndarray) else off.toarray())[0]
            out[h] = np.outer(off, off) if self.full else off**2
        return out

    def first_metric(self) -> Metric:
        """The Euclidean metric."""
        if not self.full:
            return super().first_metric()
        one = np.tile(np.eye(self.rows.d), (self.g, 1, 1))
        return Metric(one, one, np.zeros(self.g))

    def empty(self, k: int) -> Sums:
        """Sums of k empty clusters."""
        found = super().empty(k)
        shape = (k, self.rows.d, self.rows.d) if self.full else (k, self.rows.d)
        return found if self.g == 1 else found._replace(moments=np.zeros(shape))

    def table(self, centers: Floats, metric: Metric) -> Table:
        """Centers prepared for `scores`."""
        if self.g == 1:
            near, root = _transform(centers, metric.roots[0]), metric.roots[0]
            inner = self.rows.table(near)
            if self.expands:  # xᵀAμ = x·(Aμ): transform the centers twice instead of all rows once
                twice = _transform(near, root.T).astype(self.rows.dtype)
                inner = inner._replace(centers=twice, minus=-twice)
            return Table(inner.centers, inner.offset, metric, inner)
        near = np.array([_transform(center[None], root)[0] for center, root in zip(centers, metric.roots)])
        offset = -0.5 * metric.log_det
        return Table(near, offset if self.full else offset + 0.5 * np.einsum("hj,hj->h", near, near), metric, None)

    def scores(self, x: Any, table: Table) -> Floats:
        """(k, rows) half of ‖x − μ_h‖² − log det A_h, without the offset, up to a constant of the row."""
        roots = table.metric.roots
        if table.inner is not None:
            turns = self.learns and not self.expands
            return self.rows.scores(_transform(x, roots[0].astype(self.rows.dtype)) if turns else x, table.inner)
        x = x.astype(np.float64, copy=False)
        if not self.full:
            return np.ascontiguousarray((0.5 * (_square(x) @ table.metric.weights.T) - x @ (table.centers * roots).T).T)
        out = np.empty((self.k, x.shape[0]))
        for h, root in enumerate(roots):
            off = x @ root - table.centers[h]
            out[h] = 0.5 * np.einsum("ij,ij->i", off, off)
        return out

    def to_own(self, x: Any, centers: Floats, metric: Metric, labels: Ints) -> Floats:
        """‖x − μ‖² of every row from its own center, from differences unless these would make sparse rows dense."""
        x = x.astype(np.float64, copy=False)
        if not isinstance(x, np.ndarray) and not self.full:
            weights = np.broadcast_to(metric.weights, centers.shape)
            near, norms = weights * centers, (weights * centers**2).sum(axis=1)
            squared = products(_square(x), weights, labels) - 2 * products(x, near, labels) + norms[labels]
            return np.maximum(squared, 0)
        off = (x if isinstance(x, np.ndarray) else x.toarray()) - centers[labels]
        if self.g == 1:
            off = _transform(off, metric.roots[0])
        else:
            for h in np.unique(labels):
                off[labels == h] = _transform(off[labels == h], metric.roots[h])
        return np.einsum("ij,ij->i", off, off)

    def add(self, x: Any, block: Any, labels: Ints, metric: Metric, found: Sums) -> None:
        """Add rows to the sums of their clusters, and to their moments if each cluster has a metric."""
        super().add(x, block, labels, metric, found)
        if found.moments is None:
            return
        x = x.astype(np.float64, copy=False)
        if not self.full:
            self.rows.add(_square(x), block, labels, found.moments, np.zeros(len(found.moments)))
            return
        for h in np.unique(labels):
            mine = np.flatnonzero(labels == h)
            found.moments[h] += _product(
                x[mine], self.rows.weights(block)[mine] if self.rows.weight is not None else None
            )

    def terms(self, first: Ints, second: Ints) -> Any:
        """Squared differences of the columns."""
        return _square(self._differences(first, second))

    def _differences(self, first: Ints, second: Ints) -> Any:
        return self.rows.take(first).astype(np.float64) - self.rows.take(second).astype(np.float64)

    def between(self, first: Ints, second: Ints, metric: Metric) -> Floats:
        """(pairs, g) squared distance of two rows in every metric."""
        if not self.full:
            return super().between(first, second, metric)
        out = np.empty((len(first), self.g))
        for part in self.pair_blocks(len(first)):
            off = self._differences(first[part], second[part])
            for h, root in enumerate(metric.roots):
                turned = off @ root
                out[part, h] = np.einsum("ij,ij->i", turned, turned)
        return out

    def link_scatter(self, broken: BrokenLinks, reference: Floats) -> Floats:
        """½wΔΔᵀ for a broken must-link in the metric of either row, v(R − ΔΔᵀ) for a broken cannot-link."""
        if not self.full:
            return super().link_scatter(broken, reference)
        total = broken.joined_in(self.g)[:, None, None] * reference
        for part in self.pair_blocks(len(broken)):
            off = self._differences(broken.first[part], broken.second[part])
            off = off if isinstance(off, np.ndarray) else off.toarray()
            for h, share in enumerate(broken.shares(self.g, part).T):
                acting = np.flatnonzero(share)
                total[h] += _product(off[acting], share[acting])
        return total

    def settle(
        self, labels: Ints, found: Sums, previous: Floats, metric: Metric, broken: BrokenLinks, reference: Any
    ) -> Update:
        """M1: means. M2: A_h = n_h S_h⁻¹, which minimizes Σ ⟨A_h, S_h⟩ − n_h log det A_h."""
        tally = found.tally
        centers = means.means(tally, previous)
        links = self.link_scatter(broken, reference)
        if not self.learns:
            return Update(centers, metric, means.within(self.total, tally) + float(links.sum()))
        mass = tally.mass
        between = np.einsum("h,hi,hj->hij", mass, centers, centers) if self.full else mass[:, None] * centers**2
        if self.g == 1:
            scatter, mass = self.total - between.sum(axis=0, keepdims=True), mass.sum(keepdims=True)
        else:
            assert found.moments is not None
            scatter = found.moments - between
        scatter = scatter + links + self.prior * self.spread
        mass = mass + self.prior
        metric = inverse(scatter, mass, self.scale, metric)
        value = float((metric.weights * scatter).sum() - mass @ metric.log_det)
        return Update(centers, metric, value)

    def normalizer(self, metric: Metric, labels: Ints) -> Floats:
        """−log det A of the cluster of every row."""
        return -metric.log_det[labels if self.g > 1 else np.zeros_like(labels)]

    def prior_cost(self, metric: Metric, centers: Floats) -> float:
        """Cost of the imaginary rows."""
        if not self.learns:
            return 0.0
        return self.prior * float((metric.weights * self.spread).sum() - metric.log_det.sum())


def inverse(scatter: Floats, mass: Floats, scale: Floats, previous: Metric) -> Metric:
    """A = n S⁻¹ for every metric, with variances of at least `FLOOR` in columns divided by ``scale``.

    That minimizes ⟨A, S⟩ − n log det A among all such A. A metric without mass does not change.
    """
    weights, roots, log_det = (part.copy() for part in previous)
    for h in np.flatnonzero(mass > 0):
        if scatter.ndim == 2:
            variance = np.maximum(scatter[h] / (mass[h] * scale**2), FLOOR)
            roots[h] = 1 / (scale * np.sqrt(variance))
            weights[h] = roots[h] ** 2
        else:
            variance, vectors = np.linalg.eigh(scatter[h] / (mass[h] * np.outer(scale, scale)))
            variance = np.maximum(variance, FLOOR)
            roots[h] = vectors / scale[:, None] / np.sqrt(variance)
            weights[h] = roots[h] @ roots[h].T
        log_det[h] = -np.log(variance).sum() - 2 * np.log(scale).sum()
    return Metric(weights, roots, log_det)


def _moments_of_all(rows: Rows, full: bool) -> tuple[Floats, Floats, Floats]:
    """Σ w x² or Σ w x xᵀ over all rows, the variance of every column (1 if constant), and variances or covariance."""

    def work(block: slice) -> tuple[Floats, Floats]:
        x = rows.take(block).astype(np.float64)
        weight = np.ones(x.shape[0]) if rows.weight is None else rows.weights(block).astype(np.float64)
        return weight @ x, _product(x, weight) if full else weight @ _square(x)

    d = rows.d
    sums, second = np.zeros(d), np.zeros((d, d) if full else d)
    for first, more in map_blocks(work, rows.blocks(d)):
        sums, second = sums + first, second + more
    mean = sums / rows.mass
    covariance = second / rows.mass - (np.outer(mean, mean) if full else mean**2)
    variance = np.diag(covariance).copy() if full else covariance
    square = np.diag(second) if full else second
    # Columns that are constant up to rounding cost nothing at any weight.
    variance[(variance <= 1e-12 * square / rows.mass) | negligible(variance, rows.dtype)] = 1.0
    return second, variance, covariance if full else variance


def _product(x: Any, weight: Floats | None) -> Floats:
    """Σ w x xᵀ."""
    if isinstance(x, np.ndarray):
        return np.asarray((x if weight is None else x * weight[:, None]).T @ x)
    other = x if weight is None else x.multiply(np.asarray(weight)[:, None]).tocsr()
    return (other.T @ x).toarray()


def _square(x: Any) -> Any:
    return x * x if isinstance(x, np.ndarray) else x.multiply(x)


def _transform(x: Any, root: Floats) -> Any:
    """Transform rows so that their squared lengths are those in the metric."""
    return x @ root if root.ndim == 2 else x * root
