"""Markov random fields: labels that depend on each other through links, for any distortion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.centroid._hmrf.distortions import BrokenLinks, Distortion, Metric, Sums, find_broken, none_broken
from cluewise.clues import Clues
from cluewise.core.centers import LOG_ODDS, effective_dimension
from cluewise.core.threads import map_blocks
from cluewise.core.views import Forces, PairGraph, broken_weight, count_members
from cluewise.kernels import assignment, hmrf

__all__ = [
    "DistanceLinks",
    "ConstantLinks",
    "UNIT_PRICE",
    "assign",
    "choose_factors",
    "gather",
    "lead",
    "choose_price",
    "refill",
    "total_cost",
]

UNIT_PRICE = 2 * LOG_ODDS
"""Cost of a broken link if every dimension has variance 1."""

SLICE = 100_000
"""Rows per call of a kernel, so that Ctrl-C takes effect soon."""


class DistanceLinks(NamedTuple):
    """Links whose cost depends on the distance of their rows."""

    links: PairGraph
    ends: Ints  # (m, 2) row numbers of the links
    must: Floats  # (m,) weights times the penalty
    cannot: Floats
    order: Ints  # places of the tied rows, in the order of visit

    @property
    def rows(self) -> Ints:
        """The rows with links."""
        return self.links.rows

    def visit(self, distortion: Distortion, metric: Metric, reference: Any, alone: Floats, labels: Ints) -> int:
        """One visit to every tied row, given all others; labels change in place."""
        links, ends = self.links, self.ends
        between = distortion.between(ends[:, 0], ends[:, 1], metric)
        ceiling = distortion.ceiling(metric, reference)
        tied = labels[links.rows]
        moved = 0
        for start in range(0, len(self.order), SLICE):
            part = self.order[start : start + SLICE]
            graph = links.ends, self.must, self.cannot, links.indptr, links.incident
            moved += hmrf.visit_linked(part, *graph, between, ceiling, alone, tied)
        labels[links.rows] = tied
        return moved

    def broken(self, labels: Ints, k: int) -> BrokenLinks:
        """The links that the labels break."""
        return find_broken(self.ends, self.must, self.cannot, labels, k)

    def constant(self, labels: Ints) -> float:
        """No cost apart from distances."""
        return 0.0

    def cost(self, distortion: Distortion, metric: Metric, reference: Any, labels: Ints) -> float:
        """Cost of the broken links, computed one by one."""
        ends = self.ends
        between = np.broadcast_to(distortion.between(ends[:, 0], ends[:, 1], metric), (len(ends), distortion.k))
        ceiling = np.broadcast_to(distortion.ceiling(metric, reference), distortion.k)
        p, q, each = labels[ends[:, 0]], labels[ends[:, 1]], np.arange(len(ends))
        apart = self.must * 0.5 * (between[each, p] + between[each, q])
        return float(np.where(p == q, self.cannot * (ceiling[p] - between[each, p]), apart).sum())


class ConstantLinks(NamedTuple):
    """Links and groups of constant cost, as in PCK-Means; groups are not expanded."""

    pulls: Forces
    clues: Clues
    penalty: float
    order: Ints  # places of the tied rows, in the order of visit

    @property
    def rows(self) -> Ints:
        """The rows with clues."""
        return self.pulls.rows

    def visit(self, distortion: Distortion, metric: Metric, reference: Any, alone: Floats, labels: Ints) -> int:
        """One visit to every tied row, given all others; labels change in place."""
        pulls, scores = self.pulls, np.ascontiguousarray(alone.T)
        near = alone.argmin(axis=1).astype(np.int32)
        counts = count_members(pulls, labels, len(scores))
        nothing, offset = np.empty(0), np.zeros(len(scores))
        moved = 0
        for start in range(0, len(self.order), SLICE):
            part = self.order[start : start + SLICE]
            which = scores, offset, near, nothing, part, pulls.rows[part], part, labels
            moved += assignment.assign_penalized(*which, *pulls.arrays, counts, self.penalty)[0]
        return moved

    def broken(self, labels: Ints, k: int) -> BrokenLinks:
        """No link has a cost that depends on distance."""
        return none_broken(k)

    def constant(self, labels: Ints) -> float:
        """Cost of the broken clues."""
        return self.penalty * broken_weight(self.clues, labels)

    def cost(self, distortion: Distortion, metric: Metric, reference: Any, labels: Ints) -> float:
        """Cost of the broken clues."""
        return self.constant(labels)


def assign(
    distortion: Distortion, centers: Floats, metric: Metric, labels: Ints, tied: Ints
) -> tuple[Sums, Floats, int]:
    """Assign free rows to their nearest centers, in blocks; the tied rows keep their labels for now.

    Labels change in place. Returns the sums of the free rows, the cost of each tied row in every cluster without links,
    and the number of moves.
    """
    rows, k = distortion.rows, len(centers)
    table = distortion.table(centers, metric)
    alone = np.empty((len(tied), k))
    blocks = rows.blocks(k)
    cuts = np.searchsorted(tied, [block.start for block in blocks] + [rows.n])

    def work(b: int) -> tuple[Sums, int]:
        block, at = blocks[b], slice(cuts[b], cuts[b + 1])
        x = rows.take(block)
        scores = distortion.scores(x, table)
        offset = table.offset.astype(scores.dtype, copy=False)
        near = np.empty(x.shape[0], dtype=np.int32)
        assignment.assign_nearest(scores, offset, np.empty(x.shape[0], dtype=scores.dtype), near)
        columns = tied[at] - block.start
        alone[at] = distortion.unit * (scores[:, columns].astype(np.float64) + table.offset[:, None]).T
        near[columns] = labels[block][columns]
        moved = int(np.count_nonzero(labels[block] != near))
        labels[block] = near
        near[columns] = k  # tied rows go into a cluster k that is dropped; `gather` adds them after their visit
        found = distortion.empty(k + 1)
        distortion.add(x, block, near, metric, found)
        return found, moved

    total, moved = distortion.empty(k), 0
    for found, some in map_blocks(work, range(len(blocks))):
        total = total.plus(found.first(k))
        moved += some
    if rows.weight is not None:
        alone *= rows.weight[tied, None]
    return total, alone, moved


def gather(distortion: Distortion, metric: Metric, labels: Ints, which: Ints, k: int) -> Sums:
    """Sums of some rows."""
    found = distortion.empty(k)
    for block in distortion.rows.blocks(1, which):
        distortion.add(distortion.rows.take(block), block, labels[block], metric, found)
    return found


def refill(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints, empty: Bools, free: Ints) -> Ints:
    """Labels with the free rows of largest distortion moved into the empty clusters.

    A cluster stays empty if no free row is both off its center and in a cluster with other rows.
    """
    rows, labels = distortion.rows, labels.copy()
    cost = np.empty(len(free))
    start = 0
    for block in rows.blocks(len(centers), free):
        own = distortion.to_own(rows.take(block), centers, metric, labels[block])
        cost[start : start + len(block)] = own
        start += len(block)
    if rows.weight is not None:
        cost *= rows.weight[free]
    members = np.bincount(labels if rows.weight is None else labels[rows.weight > 0], minlength=len(centers))
    order = iter(np.argsort(-cost, kind="stable"))
    for cluster in np.flatnonzero(empty):
        for c in order:
            row = free[c]
            if cost[c] > 0 and members[labels[row]] > 1:
                members[labels[row]] -= 1
                members[cluster] = 1
                labels[row] = cluster
                break
    return labels


def lead(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints) -> Floats:
    """Cost of each row in the best other cluster minus its cost in its own, links aside."""
    rows = distortion.rows
    table = distortion.table(centers, metric)
    out = np.full(rows.n, np.inf, dtype=rows.dtype)
    if len(centers) == 1:
        return out

    def work(block: slice) -> None:
        scores = distortion.scores(rows.take(block), table)
        found = np.empty(scores.shape[1], dtype=scores.dtype)
        assignment.margins(scores, table.offset.astype(scores.dtype, copy=False), labels[block], found)
        out[block] = distortion.unit * found

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue
    return out


def total_cost(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints) -> float:
    """Σ w(D + normalizer) over all rows, computed row by row."""
    rows = distortion.rows

    def work(block: slice) -> float:
        own = distortion.to_own(rows.take(block), centers, metric, labels[block])
        own = own + distortion.normalizer(metric, labels[block])
        return float(own.sum() if rows.weight is None else own @ rows.weights(block).astype(np.float64))

    return sum(map_blocks(work, rows.blocks(len(centers))))


def inertia(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints) -> float:
    """Σ w·D over all rows: distances in the metric, without the normalizer that keeps it from shrinking."""
    rows = distortion.rows

    def work(block: slice) -> float:
        own = distortion.to_own(rows.take(block), centers, metric, labels[block])
        return float(own.sum() if rows.weight is None else own @ rows.weights(block).astype(np.float64))

    return sum(map_blocks(work, rows.blocks(len(centers))))


def choose_price(distortion: Distortion, centers: Floats, labels: Ints) -> float:
    """Cost of a broken link: log-odds times twice the distortion within clusters per effective dimension.

    Twice, because half a squared distance is a log-likelihood. Centers must be means. The price is 1 if all rows equal
    their centers.
    """
    inside = total_cost(distortion, centers, distortion.first_metric(), labels) / distortion.rows.mass
    found = UNIT_PRICE * inside / effective_dimension(distortion.rows, centers, labels)
    return found if found > 0 else 1.0


def choose_factors(distortion: Distortion, links: PairGraph, target: float) -> Floats:
    """Factors for must-links and for cannot-links that make the average cost of each kind equal to ``target``."""
    metric, ends = distortion.first_metric(), links.rows[links.ends]
    between = distortion.between(ends[:, 0], ends[:, 1], metric)[:, 0]
    ceiling = distortion.ceiling(metric, distortion.reference)[0]
    means = [
        float(np.average(cost, weights=weight)) if weight.any() else 0.0
        for cost, weight in ((between, links.must), (ceiling - between, links.cannot))
    ]
    return np.array([target / mean if mean > 1e-12 * target else 1.0 for mean in means])
