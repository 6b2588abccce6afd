"""Clusterings of a signed graph with a large gain: exact in small pieces, by unions and moves in large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.graph._signed import NEVER, Signed, find_pieces, gain_of, merge_nodes, take_nodes
from cluewise.kernels import correlation, graphs

__all__ = ["cluster"]

WORK = 10**7
"""Steps of a kernel per call, about: it returns soon enough for Ctrl-C."""

ROUNDING = 1e-9
"""A move has to gain more than this share of the largest weight."""


def cluster(graph: Signed, max_exact: int, watch: Callable[[Ints, list[float]], bool]) -> tuple[Ints, list[float]]:
    """Clusters of the nodes, named by their smallest node, and their gain after each round.

    ``watch`` sees labels and gains after each round, and stops the search if it returns true.
    """
    piece = find_pieces(graph)
    size = np.bincount(piece, minlength=1)
    labels = np.arange(graph.n, dtype=np.int32)
    small = np.flatnonzero(((size > 1) & (size <= max_exact))[piece])
    _solve_exactly(graph, small, piece, labels, 0.0)
    gained = gain_of(graph, labels)
    large = np.flatnonzero((size > max(max_exact, 1))[piece])
    rest = take_nodes(graph, large, piece)
    gains: list[float] = []
    for found in _improve(rest, max_exact):
        labels[large] = large[found]
        gains.append(gained + gain_of(rest, found))
        if watch(labels, gains):
            break
    return labels, gains


def _solve_exactly(graph: Signed, nodes: Ints, piece: Ints, labels: Ints, tolerance: float) -> int:
    """Give the nodes of small pieces the best clusters, where that gains anything; returns how many pieces changed."""
    nodes = nodes[np.argsort(piece[nodes], kind="stable")]
    some = take_nodes(graph, nodes, piece)
    start = np.append(np.flatnonzero(np.diff(piece[nodes], prepend=-1)), len(nodes))
    edge_start = np.searchsorted(some.first, start)
    found = _name_by_first(labels[nodes])
    changed = 0
    for low, high in _slices(np.cumsum(3.0 ** np.diff(start) + 50.0)):
        ranges = start[low : high + 1], edge_start[low : high + 1]
        changed += correlation.partition_exactly(*ranges, *some.edges, *some.shares, found, tolerance)
    labels[nodes] = nodes[found]
    return changed


def _improve(graph: Signed, max_exact: int) -> Iterator[Ints]:
    """Unions of all nodes, then rounds of moves, unions and exact partitions, until none of them gains anything."""
    labels = np.arange(graph.n, dtype=np.int32)
    _unite(graph, labels)
    yield labels
    near = graphs.adjacency(graph.n, graph.first, graph.second, graph.weight)
    work = np.cumsum(np.diff(near[0]) + np.diff(graph.indptr) + 10.0)
    tolerance = ROUNDING * float(np.abs(graph.weight[np.isfinite(graph.weight)]).max(initial=0.0))

    def move() -> int:
        moved = 0
        for low, high in _slices(work):
            moved += correlation.move_nodes(*near, *graph.shares, labels, low, high, tolerance)
        labels[:] = _name_by_first(labels)
        return moved

    while move() or _unite(graph, labels) or _divide_again(graph, labels, max_exact, tolerance):
        yield labels


def _unite(graph: Signed, labels: Ints) -> int:
    """Unite clusters as long as that gains anything, the best union first; returns how many are gone."""
    names, codes = np.unique(labels, return_inverse=True)
    k, done = len(names), False
    while not done:
        whole = merge_nodes(graph, codes.astype(np.int32), k)
        root, done = correlation.join_clusters(k, *whole.edges, whole.tie, *whole.shares, WORK // 20)
        left, root = np.unique(root, return_inverse=True)
        codes, k = root[codes], len(left)
    labels[:] = _name_by_first(codes)
    return len(names) - k


def _divide_again(graph: Signed, labels: Ints, max_exact: int, tolerance: float) -> int:
    """Partition the nodes of every two neighboring clusters exactly, where they are few; returns how many changed."""
    _, codes, size = np.unique(labels, return_inverse=True, return_counts=True)
    k, codes = len(size), codes.astype(np.int32)
    whole = merge_nodes(graph, codes, k)
    near = (whole.tie < NEVER) & (size[whole.first] + size[whole.second] <= max_exact)
    alone = np.flatnonzero((size > 2) & (size <= max_exact))
    first, second = np.append(whole.first[near], alone), np.append(whole.second[near], alone)
    total = 0
    while len(first):
        # Of all pairs that are left, those that come first for both clusters have no cluster in common.
        place = np.arange(len(first))
        earliest = np.full(k, len(first))
        np.minimum.at(earliest, first, place)
        np.minimum.at(earliest, second, place)
        now = (earliest[first] == place) & (earliest[second] == place)
        window = np.full(k, -1, dtype=np.int32)
        window[first[now]] = window[second[now]] = np.arange(np.count_nonzero(now))
        piece = window[codes]
        before = labels.copy()
        total += _solve_exactly(graph, np.flatnonzero(piece >= 0), piece, labels, tolerance)
        changed = np.zeros(len(first) + 1, dtype=bool)
        changed[piece[before != labels]] = True
        stale = changed[window]  # clusters that are not what they were
        kept = ~now & ~stale[first] & ~stale[second]
        first, second = first[kept], second[kept]
    return total


def _name_by_first(labels: Ints) -> Ints:
    """Labels in which each cluster has the number of its first node."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return first[codes].astype(np.int32)


def _slices(work: Floats) -> Iterator[tuple[int, int]]:
    """Ranges of about equal work, given its running total."""
    low = 0
    while low < len(work):
        done = work[low - 1] if low else 0.0
        high = max(int(np.searchsorted(work, done + WORK, side="right")), low + 1)
        yield low, high
        low = high
