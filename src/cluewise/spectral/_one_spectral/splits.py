"""k clusters by splits: one part is cut in two, k − 1 times, where the whole partition gets cheapest.

A split need not part all cannot-links as long as more splits follow. What was found for a part is kept until the part
is split.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Floats, Ints
from cluewise.core.graphs.laplacian import leading
from cluewise.spectral._one_spectral.cuts import Bisection, bisect, count_broken
from cluewise.spectral._one_spectral.prices import Found, raise_price

__all__ = ["Graph", "Partition", "Starts", "regroup", "split"]

PIECES = 100
"""Maximum number of connected pieces of a part that are tried as splits."""

LESS = 1e-9
"""Decrease of the objective that is worth a regrouping."""

ROUGH = 1e-4
"""Tolerance of the eigenvector that a descent starts from."""


class Graph(NamedTuple):
    """Vertices, which are must-link components of rows, with edges and links between them."""

    affinity: csr_array  # (n, n) symmetric, without diagonal
    volume: Floats  # (n,)
    size: Ints  # (n,) rows of each vertex
    cannot: Ints  # (c, 2) and their weights
    cannot_weight: Floats
    must: Ints  # (s, 2) must-links that may break, and their weights
    must_weight: Floats

    def without_links(self) -> Graph:
        """The same graph, as if there were no links."""
        return self._replace(
            cannot=self.cannot[:0], cannot_weight=self.cannot_weight[:0],
            must=self.must[:0], must_weight=self.must_weight[:0],
        )  # fmt: skip


class Partition(NamedTuple):
    """Clusters of the vertices, and the ratio of every step that led to them (two clusters only)."""

    labels: Ints
    trace: list[float]


class Split(NamedTuple):
    """A way to cut a part in two."""

    side: Floats  # for the vertices of the part
    broken: float
    cost: float  # what the two sides cut, each by its volume, less the same of the part
    trace: list[float]


class Part(NamedTuple):
    """Some vertices, which may become one cluster or several."""

    vertices: Ints
    problem: Bisection
    affinity: csr_array  # among them
    outside: Floats  # weight of the edges to all others

    @property
    def links(self) -> float:
        """Weight of the cannot-links in the part."""
        return float(self.problem.link.sum())


class Starts(NamedTuple):
    """What the descents of every split start from."""

    eigenvector: bool  # the second of the normalized Laplacian
    random: bool  # a vector at random
    rng: np.random.Generator
    memory: dict[tuple[bytes, float, float, float], list[Split]]  # what came of eigenvectors; all starts share it


def split(graph: Graph, k: int, starts: Starts, max_iter: int) -> Partition:
    """Split the graph into k parts, or as many as there are vertices."""
    labels = np.zeros(len(graph.volume), dtype=np.int32)
    parts = [_part(graph, labels, 0)]
    kept: list[tuple[bool, list[Split]] | None] = [None]
    trace: list[float] = []
    for round_ in range(1, k):
        last = round_ == k - 1
        found = []
        for h, part in enumerate(parts):
            allowed = 0.0 if last else _allowed(part, graph, k)
            known = kept[h]
            if known is None or (last and not known[0] and min((s.broken for s in known[1]), default=0.0) > 0):
                # In the last round as many links as possible are to be parted, so that the search goes on.
                known = kept[h] = (last, list(_splits(part, allowed, starts, max_iter)))
            for one in known[1]:
                short = one.broken - part.links if last else max(one.broken - allowed, 0.0)
                found.append((short, one.cost, h, one))
        if not found:
            break
        _, _, h, best = min(found, key=lambda one: one[:3])
        labels[parts[h].vertices[best.side > 0]] = round_
        trace = best.trace
        parts[h : h + 1] = [_part(graph, labels, h)]
        parts.append(_part(graph, labels, round_))
        kept[h : h + 1] = [None]
        kept.append(None)
    return Partition(labels, trace)


def regroup(graph: Graph, labels: Ints, k: int, price: float, starts: Starts, max_iter: int) -> Ints | None:
    """Split a cluster and join two others, where this lowers the objective most; None where it does not.

    One of the two may be a side of the split. An early split may have cut through a cluster or left two together, which
    no move of a single vertex mends.
    """
    starts = starts._replace(eigenvector=True, random=False)
    least, best = -LESS, None
    for h in range(k):
        part = _part(graph, labels, h)
        for one in _splits(part, np.inf, starts, max_iter):
            apart = labels.copy()
            apart[part.vertices[one.side > 0]] = k
            costs = _costs_of_joining(graph, apart, k + 1, price)
            costs[[h, k], [k, h]] = np.inf
            a, b = np.unravel_index(np.argmin(costs), costs.shape)
            gain = one.cost + costs[a, b] - price * (part.links - one.broken)
            if gain < least:
                least, best = gain, np.where(apart == b, a, apart)
                best[best == k] = b
    return None if best is None else best.astype(np.int32)


def _costs_of_joining(graph: Graph, labels: Ints, k: int, price: float) -> Floats:
    """By how much the objective rises if two clusters become one; infinite where one has no vertices."""
    n = len(labels)
    inside = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    between = (inside.T @ graph.affinity @ inside).toarray()
    volume = np.bincount(labels, graph.volume, k)
    cuts = between.sum(axis=1) - between.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        own = cuts / volume
        costs = (cuts[:, None] + cuts - 2 * between) / (volume[:, None] + volume) - own[:, None] - own
    for pairs, weight in ((graph.cannot, price * graph.cannot_weight), (graph.must, -price * graph.must_weight)):
        first, second = labels[pairs].T
        np.add.at(costs, (first, second), weight)
        np.add.at(costs, (second, first), weight)
    empty = volume == 0
    costs[empty], costs[:, empty] = np.inf, np.inf
    np.fill_diagonal(costs, np.inf)
    return np.asarray(costs, dtype=np.float64)


def _part(graph: Graph, labels: Ints, h: int) -> Part:
    inside = labels == h
    vertices = np.flatnonzero(inside)
    affinity = csr_array(graph.affinity[vertices][:, vertices])
    outside = _degrees(csr_array(graph.affinity[vertices])) - _degrees(affinity)
    number = np.cumsum(inside) - 1
    cannot, must = inside[graph.cannot].all(axis=1), inside[graph.must].all(axis=1)
    problem = bisect(
        affinity, graph.volume[vertices],
        number[graph.cannot[cannot]], graph.cannot_weight[cannot],
        number[graph.must[must]], graph.must_weight[must],
    )  # fmt: skip
    return Part(vertices, problem, affinity, np.maximum(outside, 0))


def _degrees(affinity: csr_array) -> Floats:
    degrees: Floats = np.asarray(affinity.sum(axis=1)).ravel()
    return degrees


def _allowed(part: Part, graph: Graph, k: int) -> float:
    """Weight of the links that a split of this part may leave to later ones."""
    to_hold = max(2, int(k * graph.size[part.vertices].sum() / graph.size.sum()))
    return (to_hold - 2) / to_hold * part.links


def _splits(part: Part, allowed: float, starts: Starts, max_iter: int) -> Iterator[Split]:
    n = len(part.vertices)
    if n < 2:
        return
    if starts.eigenvector:
        key = part.vertices.tobytes(), part.links, float(part.problem.bond.sum()), allowed
        if key not in starts.memory:
            starts.memory[key] = [*_pieces(part), *_descents(part, _eigenvector(part), allowed, max_iter)]
        yield from starts.memory[key]
    if starts.random:
        yield from _descents(part, starts.rng.normal(size=n), allowed, max_iter)


def _pieces(part: Part) -> Iterator[Split]:
    count, piece = connected_components(part.affinity, directed=False)
    if count > 1:
        for one in np.argsort(-np.bincount(piece), kind="stable")[:PIECES]:
            side = (piece == one).astype(np.float64)
            yield _priced(part, Found(side, count_broken(part.problem, side), []))


def _descents(part: Part, f: Floats, allowed: float, max_iter: int) -> Iterator[Split]:
    return (_priced(part, found) for found in raise_price(part.problem, f, allowed, max_iter))


def _eigenvector(part: Part) -> Floats:
    found = leading(part.affinity, 2, tol=ROUGH)
    vector: Floats = found.vectors[:, 1] / np.sqrt(found.degrees)
    return vector


def _priced(part: Part, found: Found) -> Split:
    problem, side = part.problem, found.side
    across = float(problem.weight[side[problem.heads] != side[problem.tails]].sum())
    away, volume = float(part.outside @ side), float(problem.volume @ side)
    total, whole = float(part.outside.sum()), float(problem.volume.sum())
    cost = (across + away) / volume + (across + total - away) / (whole - volume) - total / whole
    return Split(side, found.broken, cost, found.trace)
