"""Clues as a signed graph: nodes are rows that must be together, edges are links, and apart groups stay groups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.kernels import correlation, graphs

__all__ = ["NEVER", "Signed", "build_signed", "find_pieces", "gain_of", "hard_part", "merge_nodes", "take_nodes"]

NEVER = np.iinfo(np.int64).max
"""Tie of an edge that never decides one."""


class Signed(NamedTuple):
    """Nodes with signed edges between them, each pair once and sorted, and the groups that each node has rows in."""

    n: int
    first: Ints  # (m,) int32, below second
    second: Ints  # (m,) int32
    weight: Floats  # (m,) positive attracts, −inf forbids
    tie: Ints  # (m,) which of two edges with equal gains comes first
    indptr: Ints  # (n + 1,) groups of each node
    groups: Ints  # int32, sorted within a node
    counts: Floats  # rows of the node in the group
    group_weight: Floats  # (g,) what each two rows of a group cost in one cluster; inf forbids

    @property
    def edges(self) -> tuple[Any, Any, Any]:
        """Ends and weights of the edges."""
        return self.first, self.second, self.weight

    @property
    def shares(self) -> tuple[Any, Any, Any, Any]:
        """Groups of the nodes, in the order of the kernels."""
        return self.indptr, self.groups, self.counts, self.group_weight


def hard_part(clues: Clues) -> Clues:
    """The links and groups of infinite weight."""
    return clues.subset(
        must=np.isinf(clues.must_weight),
        cannot=np.isinf(clues.cannot_weight),
        together=[np.isinf(group.weights) for group in clues.together],
        apart=[np.isinf(group.weights) for group in clues.apart],
    )


def build_signed(clues: Clues, node: Ints, unscored: float = 0.0) -> Signed:
    """The graph of all clues between nodes, given by the node of each row.

    Labels and together groups are written out as pairs; apart groups, which may be large, are not. Two rows that no
    clue mentions cost ``unscored`` in one cluster: all rows are a group, and edges and groups make up for it.
    """
    some = clues.subset(
        labels=clues.labels >= 0, together=[np.isfinite(group.weights) for group in clues.together]
    ).pairs(expand=True)
    lists = (clues.must, clues.cannot, some.must, some.cannot)
    weights = (clues.must_weight, -clues.cannot_weight, some.must_weight, -some.cannot_weight)
    first, second = (np.concatenate([pairs[:, side] for pairs in lists]) for side in (0, 1))
    weight, n = np.concatenate(weights), int(node.max(initial=-1)) + 1
    charges = _list_charges(clues, unscored)
    if charges:  # each pair of rows once, however often it is mentioned
        first, second, weight, _ = _sum_edges(clues.n, first, second, weight, None)
        weight += unscored
        for codes, cost in charges[1:]:  # of rows in apart groups
            weight[(codes[first] == codes[second]) & (codes[first] >= 0)] += cost
    if not charges or n < clues.n:
        first, second, weight, _ = _sum_edges(n, node[first], node[second], weight, None)
    shares = _sum_shares(n, *_list_shares(clues, node, charges))
    graph = Signed(n, first, second, weight, np.full(len(first), NEVER), *shares)
    net = graph.weight - correlation.count_overlap(graph.first, graph.second, *graph.shares)
    # Independent of how a negative pair was said, by a link or by a group, and so are the ties.
    tie = np.where(net > 0, graph.first.astype(np.int64) * n + graph.second, NEVER)
    return graph._replace(tie=tie)


def _list_charges(clues: Clues, unscored: float) -> list[tuple[Ints, float]]:
    """Columns of groups, and what two rows of a group cost, that sum to ``unscored`` for rows in no soft apart group.

    All rows are a group; the apart groups are subtracted, and rows in several of them are not subtracted twice
    (inclusion and exclusion).
    """
    if not unscored:
        return []
    charges: list[tuple[Ints, float]] = [(np.zeros(clues.n, dtype=np.int32), unscored)]
    for column in clues.apart:
        soft = np.append((column.sizes > 1) & np.isfinite(column.weights), False)
        codes = np.where(soft[column.codes], column.codes, -1)
        for others, cost in charges.copy():
            both = np.where((codes >= 0) & (others >= 0), codes.astype(np.int64) * clues.n + others, -1)
            _, found, size = np.unique(both, return_inverse=True, return_counts=True)
            if (size[found][both >= 0] > 1).any():
                charges.append((np.where(both >= 0, found, -1).astype(np.int32), -cost))
    return charges


def _list_shares(clues: Clues, node: Ints, charges: list[tuple[Ints, float]]) -> tuple[Ints, Ints, Floats, Floats]:
    """Node, group and count of each row in a group that costs or makes up for a cost, and the weights of the groups."""
    nodes: list[Ints] = [np.empty(0, np.int32)]
    groups: list[Ints] = [np.empty(0, np.int32)]
    start = 0
    weights: list[Floats] = [np.empty(0)]
    columns = [(np.where(np.append(c.sizes > 1, False)[c.codes], c.codes, -1), c.weights) for c in clues.apart]
    columns += [(codes, np.full(int(codes.max(initial=-1)) + 1, cost)) for codes, cost in charges]
    for codes, weight in columns:
        rows = np.flatnonzero(np.append(weight != 0, False)[codes])
        nodes.append(node[rows])
        groups.append(start + codes[rows])
        weights.append(weight)
        start += len(weight)
    row, group = np.concatenate(nodes), np.concatenate(groups).astype(np.int32)
    return row, group, np.ones(len(row)), np.concatenate(weights)


def _sum_shares(
    n: int, node: Ints, group: Ints, count: Floats, group_weight: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """One entry for each node and group, sorted."""
    order = graphs.sort_pairs(node, group, max(n, len(group_weight)))
    node, group, count = node[order], group[order], count[order]
    new = _changes(node, group)
    if not new.all():
        start = np.flatnonzero(new)
        node, group, count = node[start], group[start], np.add.reduceat(count, start)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=n))]).astype(np.int64)
    return indptr, group, count, group_weight


def _sum_edges(n: int, first: Ints, second: Ints, weight: Floats, tie: Ints | None) -> tuple[Ints, Ints, Floats, Ints]:
    """One edge for each pair of different nodes, sorted: weights are added, and the smallest tie stays."""
    low, high = np.minimum(first, second).astype(np.int32), np.maximum(first, second).astype(np.int32)
    differ = low < high
    if not differ.all():
        low, high, weight, tie = low[differ], high[differ], weight[differ], None if tie is None else tie[differ]
    order = graphs.sort_pairs(low, high, n)
    low, high, weight = low[order], high[order], weight[order]
    tie = np.full(len(low), NEVER) if tie is None else tie[order]
    new = _changes(low, high)
    if not new.all():
        start = np.flatnonzero(new)
        low, high = low[start], high[start]
        weight, tie = np.add.reduceat(weight, start), np.minimum.reduceat(tie, start)
    return low, high, weight, tie


def _changes(first: Ints, second: Ints) -> Bools:
    """Which entries of a sorted list differ from the one before."""
    new = np.ones(len(first), dtype=bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return new


def find_pieces(graph: Signed) -> Ints:
    """Piece of each node: what edges with a gain connect. No cluster of a best clustering has nodes of two pieces."""
    gains = graph.tie < NEVER
    parent = np.arange(graph.n, dtype=np.int32)
    graphs.join_pairs(parent, graph.first[gains], graph.second[gains])
    piece, _ = graphs.number_roots(parent)
    return piece


def merge_nodes(graph: Signed, labels: Ints, k: int) -> Signed:
    """The graph whose nodes are clusters, 0 to k − 1."""
    node = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    shares = _sum_shares(k, labels[node], graph.groups, graph.counts, graph.group_weight)
    return Signed(k, *_sum_edges(k, labels[graph.first], labels[graph.second], graph.weight, graph.tie), *shares)


def take_nodes(graph: Signed, nodes: Ints, piece: Ints) -> Signed:
    """The graph of some nodes, in their order, without edges between pieces."""
    place = np.full(graph.n, -1, dtype=np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    kept = (place[graph.first] >= 0) & (piece[graph.first] == piece[graph.second])
    first, second = place[graph.first[kept]], place[graph.second[kept]]
    edges = _sum_edges(len(nodes), first, second, graph.weight[kept], graph.tie[kept])
    owner = place[np.repeat(np.arange(graph.n), np.diff(graph.indptr))]
    inside = owner >= 0
    shares = _sum_shares(len(nodes), owner[inside], graph.groups[inside], graph.counts[inside], graph.group_weight)
    return Signed(len(nodes), *edges, *shares)


def gain_of(graph: Signed, labels: Ints) -> float:
    """What a clustering of the nodes gains over all nodes alone."""
    together = labels[graph.first] == labels[graph.second]
    total = float(graph.weight[together].sum())
    node = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    _, groups, counts, weight = _sum_shares(graph.n, labels[node], graph.groups, graph.counts, graph.group_weight)
    # Pairs of rows in one cluster and group, less those in one node.
    crowd = np.bincount(groups, counts**2, len(weight)) - np.bincount(graph.groups, graph.counts**2, len(weight))
    some = crowd > 0
    return total - float(weight[some] @ crowd[some]) / 2
