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
"""Decrease of the objective, relative to the cut, that is worth a regrouping."""

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
    across: float  # weight of the edges between the two sides
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
    parts: dict[bytes, tuple[float, list[Split]]]  # clusters that were to be regrouped: their links and splits


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
    volume = np.bincount(labels, graph.volume, k)
    tables = [_toward(table, labels, k) for table in (graph.affinity, _pulls(graph, price))]
    edges, links = (_between(table, labels, k) for table in tables)
    used = volume > 0
    least, best = -LESS * float((edges.sum(axis=1)[used] / volume[used]).sum()), None
    for h in range(k):
        vertices = np.flatnonzero(labels == h)
        inside, every = _known_splits(graph, labels, h, vertices, starts, max_iter)
        for one in every:
            side = vertices[one.side > 0]
            moved = graph.volume[side].sum()
            new_volume = np.append(volume, moved)
            new_volume[h] -= moved
            toward_edges, toward_links = (table[side].sum(axis=0) for table in tables)
            costs = _costs_of_joining(
                _divide(edges, toward_edges, h, one.across), new_volume, _divide(links, toward_links, h, 0.0)
            )
            costs[[h, k], [k, h]] = np.inf
            a, b = np.unravel_index(np.argmin(costs), costs.shape)
            gain = one.cost + costs[a, b] - price * (inside - one.broken)
            if gain < least:
                least = gain
                best = labels.copy()
                best[side] = k
                best[best == b] = a
                best[best == k] = b
    return best


def _known_splits(
    graph: Graph, labels: Ints, h: int, vertices: Ints, starts: Starts, max_iter: int
) -> tuple[float, list[Split]]:
    """Weight of the cannot-links in a cluster, and its splits at price 0; most are known from an earlier call."""
    key = vertices.tobytes()
    if key not in starts.parts:
        part = _part(graph, labels, h)
        plain = starts._replace(eigenvector=True, random=False)
        starts.parts[key] = part.links, list(_splits(part, np.inf, plain, max_iter))
    return starts.parts[key]


def _toward(table: csr_array, labels: Ints, k: int) -> Floats:
    """(n, k) summed weight from each vertex to each cluster."""
    n = len(labels)
    inside = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    return np.asarray((table @ inside).toarray(), dtype=np.float64)


def _between(toward: Floats, labels: Ints, k: int) -> Floats:
    """(k, k) summed weight between clusters; 0 within them."""
    between = np.array([np.bincount(labels, column, k) for column in toward.T], dtype=np.float64).T
    np.fill_diagonal(between, 0)
    return between


def _pulls(graph: Graph, price: float) -> csr_array:
    """What it costs that two vertices share a cluster: the price of their cannot-link, less that of their must-link."""
    n = len(graph.volume)
    first, second = np.concatenate([graph.cannot, graph.must]).T
    pull = price * np.concatenate([graph.cannot_weight, -graph.must_weight])
    half = csr_array((pull, (first, second)), shape=(n, n))
    return csr_array(half + half.T)


def _divide(between: Floats, toward: Floats, h: int, across: float) -> Floats:
    """What is between clusters if a side of cluster h, with these weights toward all, is one more cluster."""
    k = len(between)
    others = np.where(np.arange(k) == h, 0.0, toward)
    divided = np.zeros((k + 1, k + 1))
    divided[:k, :k] = between
    divided[h, :k] -= others
    divided[:k, h] -= others
    divided[k, :k] = divided[:k, k] = others
    divided[h, k] = divided[k, h] = across
    return divided


def _costs_of_joining(between: Floats, volume: Floats, pulls: Floats) -> Floats:
    """By how much the objective rises if two clusters become one; infinite where one has no vertices."""
    cuts = between.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = cuts / volume
        costs = (cuts[:, None] + cuts - 2 * between) / (volume[:, None] + volume) - own[:, None] - own + pulls
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
    return Split(side, found.broken, cost, across, found.trace)
