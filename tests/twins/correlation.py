"""Plain twins of ``kernels.correlation``: same names, same signatures, obvious code."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from cluewise._typing import Array, Floats, Ints

__all__ = ["count_overlap", "join_clusters", "move_nodes", "partition_exactly"]


def _gains(n, first, second, weight, indptr, groups, counts, group_weight):
    """(n, n) what each two nodes gain by being together."""
    share = np.zeros((n, len(group_weight)))
    for v in range(n):
        share[v, groups[indptr[v] : indptr[v + 1]]] = counts[indptr[v] : indptr[v + 1]]
    both = share[:, None, :] * share[None, :, :]
    table = -np.multiply(both, group_weight, where=both > 0, out=np.zeros_like(both)).sum(axis=2)
    np.fill_diagonal(table, 0.0)
    for a, b, w in zip(first, second, weight):
        table[a, b] += w
        table[b, a] += w
    return table


def count_overlap(
    first: Ints, second: Ints, indptr: Ints, groups: Ints, counts: Floats, group_weight: Floats
) -> Floats:
    """What shared groups cost."""
    table = _gains(len(indptr) - 1, [], [], [], indptr, groups, counts, group_weight)
    return -table[first, second] if len(first) else np.empty(0)


def _partitions(items):
    """All partitions of a list, as lists of lists."""
    if not items:
        yield []
        return
    head, *rest = items
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [x for x in rest if x not in others]
            for partition in _partitions(left):
                yield [[head, *others], *partition]


def partition_exactly(
    start: Ints,
    edge_start: Ints,
    first: Ints,
    second: Ints,
    weight: Floats,
    indptr: Ints,
    groups: Ints,
    counts: Floats,
    group_weight: Floats,
    labels: Ints,
    tolerance: float,
) -> int:
    """Try all partitions."""
    changed = 0
    table = _gains(len(labels), first, second, weight, indptr, groups, counts, group_weight)
    for c in range(len(start) - 1):

        def gain(parts):
            return sum(table[a, b] for part in parts for a, b in combinations(part, 2))

        nodes = np.arange(start[c], start[c + 1])
        found = max(_partitions(nodes.tolist()), key=gain)
        if gain(found) > gain([nodes[labels[nodes] == h] for h in set(labels[nodes])]) + tolerance:
            changed += 1
            for part in found:
                labels[part] = min(part)
    return changed


def join_clusters(
    n: int,
    first: Ints,
    second: Ints,
    weight: Floats,
    tie: Ints,
    indptr: Ints,
    groups: Ints,
    counts: Floats,
    group_weight: Floats,
    steps: int,
) -> tuple[Array, bool]:
    """Look at all pairs of clusters before each union; ``steps`` is taken to be enough."""
    table = _gains(n, first, second, weight, indptr, groups, counts, group_weight)
    ties = np.full((n, n), np.iinfo(np.int64).max)
    ties[first, second] = ties[second, first] = tie
    clusters = [[v] for v in range(n)]
    while True:
        found = [
            (-table[np.ix_(a, b)].sum(), ties[np.ix_(a, b)].min(), i, j)
            for (i, a), (j, b) in combinations(enumerate(clusters), 2)
        ]
        if not found or min(found)[0] >= 0:
            break
        _, _, i, j = min(found)
        clusters[i] += clusters.pop(j)
    root = np.empty(n, np.int32)
    for cluster in clusters:
        root[cluster] = cluster[0]
    return root, True


def move_nodes(
    neighbor_indptr: Ints,
    neighbors: Ints,
    weight: Floats,
    indptr: Ints,
    groups: Ints,
    counts: Floats,
    group_weight: Floats,
    labels: Ints,
    start: int,
    stop: int,
    tolerance: float,
) -> int:
    """Sum over the members of every cluster."""
    n = len(labels)
    row = np.repeat(np.arange(n), np.diff(neighbor_indptr))
    once = row < neighbors
    table = _gains(n, row[once], neighbors[once], weight[once], indptr, groups, counts, group_weight)
    empty = [h for h in range(n - 1, -1, -1) if h not in labels]
    moved = 0
    for v in range(start, stop):
        own = labels[v]
        gain = {h: sum(table[v, u] for u in range(n) if u != v and labels[u] == h) for h in set(labels.tolist())}
        here = gain.pop(own)
        options = [(-value, h) for h, value in gain.items() if value > 0]
        if np.count_nonzero(labels == own) > 1:
            options.append((0.0, n))
        value, best = min(options, default=(0.0, own))
        if -value <= here + tolerance:
            continue
        if best == n:
            best = empty.pop()
        labels[v] = best
        if own not in labels:
            empty.append(own)
        moved += 1
    return moved
