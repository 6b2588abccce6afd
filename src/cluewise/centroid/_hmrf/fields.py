"""Fields: labels that depend on each other through links, row by row, under any distortion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.centroid._hmrf.distortions import Broken, Distortion, Found, Metric, broken_links, none_broken
from cluewise.clues import Clues
from cluewise.core.price import LOG_ODDS, effective_dimension
from cluewise.core.threads import map_blocks
from cluewise.core.views import Forces, PairGraph, broken_weight, count_members
from cluewise.kernels import assignment, hmrf

__all__ = ["ByDistance", "Constant", "UNIT_PRICE", "assign", "factors", "gather", "lead", "price", "refill", "spent"]

UNIT_PRICE = 2 * LOG_ODDS
"""What breaking a link should cost where every dimension has variance 1."""

SLICE = 100_000
"""Rows per call of a kernel, so that Ctrl-C is heard."""


class ByDistance(NamedTuple):
    """Links that cost by the distance of their rows."""

    links: PairGraph
    ends: Ints  # (m, 2) row numbers of the links
    must: Floats  # (m,) weights times the penalty
    cannot: Floats
    order: Ints  # places of the tied rows, in the order of visit

    @property
    def rows(self) -> Ints:
        """The rows that links speak of."""
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

    def broken(self, labels: Ints, k: int) -> Broken:
        """The links that the labels break."""
        return broken_links(self.ends, self.must, self.cannot, labels, k)

    def constant(self, labels: Ints) -> float:
        """Nothing beside distances."""
        return 0.0

    def cost(self, distortion: Distortion, metric: Metric, reference: Any, labels: Ints) -> float:
        """What the broken links cost, one by one."""
        ends = self.ends
        between = np.broadcast_to(distortion.between(ends[:, 0], ends[:, 1], metric), (len(ends), distortion.k))
        ceiling = np.broadcast_to(distortion.ceiling(metric, reference), distortion.k)
        p, q, each = labels[ends[:, 0]], labels[ends[:, 1]], np.arange(len(ends))
        apart = self.must * 0.5 * (between[each, p] + between[each, q])
        return float(np.where(p == q, self.cannot * (ceiling[p] - between[each, p]), apart).sum())


class Constant(NamedTuple):
    """Links and groups that cost the same wherever their rows are, as in PCK-Means; groups are not written out."""

    pulls: Forces
    clues: Clues
    penalty: float
    order: Ints  # places of the tied rows, in the order of visit

    @property
    def rows(self) -> Ints:
        """The rows that clues speak of."""
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

    def broken(self, labels: Ints, k: int) -> Broken:
        """No link costs by distance."""
        return none_broken(k)

    def constant(self, labels: Ints) -> float:
        """What the broken clues cost."""
        return self.penalty * broken_weight(self.clues, labels)

    def cost(self, distortion: Distortion, metric: Metric, reference: Any, labels: Ints) -> float:
        """What the broken clues cost."""
        return self.constant(labels)


def assign(
    distortion: Distortion, centers: Floats, metric: Metric, labels: Ints, tied: Ints
) -> tuple[Found, Floats, int]:
    """Free rows to their nearest centers, in blocks; the tied rows keep their labels for now.

    Labels change in place. Returns the sums of the free rows, what each tied row costs in every cluster by itself,
    and the number of moves.
    """
    rows, k = distortion.rows, len(centers)
    table = distortion.table(centers, metric)
    alone = np.empty((len(tied), k))
    blocks = rows.blocks(k)
    cuts = np.searchsorted(tied, [block.start for block in blocks] + [rows.n])

    def work(b: int) -> tuple[Found, int]:
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
        near[columns] = k  # to be counted later
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


def gather(distortion: Distortion, metric: Metric, labels: Ints, which: Ints, k: int) -> Found:
    """Sums of some rows."""
    found = distortion.empty(k)
    for block in distortion.rows.blocks(1, which):
        distortion.add(distortion.rows.take(block), block, labels[block], metric, found)
    return found


def refill(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints, empty: Bools, free: Ints) -> Ints:
    """Labels in which the free rows with the largest distortion have moved into the empty clusters.

    A cluster stays empty when no free row lies off its center in a cluster with others.
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
    """Per row, how much more than in its own cluster it would cost in the best other one, links aside."""
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


def spent(distortion: Distortion, centers: Floats, metric: Metric, labels: Ints) -> float:
    """Σ w(D + normalizer) over all rows, row by row."""
    rows = distortion.rows

    def work(block: slice) -> float:
        own = distortion.to_own(rows.take(block), centers, metric, labels[block])
        own = own + distortion.normalizer(metric, labels[block])
        return float(own.sum() if rows.weight is None else own @ rows.weights(block).astype(np.float64))

    return sum(map_blocks(work, rows.blocks(len(centers))))


def price(distortion: Distortion, centers: Floats, labels: Ints) -> float:
    """What breaking a link should cost: log-odds times twice the distortion inside clusters per effective dimension.

    Twice, because half a squared distance is a log-likelihood. Centers are means; 1 when nothing varies.
    """
    inside = spent(distortion, centers, distortion.first_metric(), labels) / distortion.rows.mass
    found = UNIT_PRICE * inside / effective_dimension(distortion.rows, centers, labels)
    return found if found > 0 else 1.0


def factors(distortion: Distortion, links: PairGraph, wanted: float) -> Floats:
    """Factors for must-links and for cannot-links with which the average one costs as much as is wanted."""
    metric, ends = distortion.first_metric(), links.rows[links.ends]
    between = distortion.between(ends[:, 0], ends[:, 1], metric)[:, 0]
    ceiling = distortion.ceiling(metric, distortion.reference)[0]
    means = [
        float(np.average(cost, weights=weight)) if weight.any() else 0.0
        for cost, weight in ((between, links.must), (ceiling - between, links.cannot))
    ]
    return np.array([wanted / mean if mean > 1e-12 * wanted else 1.0 for mean in means])
