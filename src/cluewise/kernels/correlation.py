"""Compiled loops of correlation clustering: exact partitions of few nodes, greedy unions of clusters, moves of nodes.

Nodes have signed edges and counts of groups. Two clusters gain by a union the weights of the edges between them, less,
for each group that both have members in, the weight of the group times the product of both counts.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["count_overlap", "join_clusters", "move_nodes", "partition_exactly"]


@kernel
def _overlap(a: int, b: int, indptr: Ints, groups: Ints, counts: Floats, group_weight: Floats) -> float:
    """What the groups that two nodes share cost; the groups of a node are sorted."""
    total = 0.0
    p, q = indptr[a], indptr[b]
    while p < indptr[a + 1] and q < indptr[b + 1]:
        if groups[p] == groups[q]:
            total += group_weight[groups[p]] * counts[p] * counts[q]
            p += 1
            q += 1
        elif groups[p] < groups[q]:
            p += 1
        else:
            q += 1
    return total


@kernel
def count_overlap(
    first: Ints, second: Ints, indptr: Ints, groups: Ints, counts: Floats, group_weight: Floats
) -> Floats:
    """For each pair of nodes, what the groups that they share cost."""
    cost = np.empty(first.shape[0])
    for e in range(first.shape[0]):
        cost[e] = _overlap(first[e], second[e], indptr, groups, counts, group_weight)
    return cost


# --- few nodes ----------------------------------------------------------------------------------------------------


@kernel
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
    """Best partition of each piece (nodes from ``start[c]`` to ``start[c + 1]``), by dynamic programming over subsets.

    ``labels`` change in place where that gains more than ``tolerance`` over the clusters they stand for; a new cluster
    is named by its smallest node. Of partitions that gain the same, the one whose first clusters are smaller in the
    order of subsets is taken. Returns the number of pieces that changed.
    """
    changed = 0
    widest = 0
    for c in range(start.shape[0] - 1):
        widest = max(widest, start[c + 1] - start[c])
    table = np.empty((widest, widest))
    inside, best, choice = np.empty(1 << widest), np.empty(1 << widest), np.empty(1 << widest, np.int64)
    for c in range(start.shape[0] - 1):
        begin = start[c]
        m = start[c + 1] - begin
        for a in range(m):
            for b in range(m):
                table[a, b] = 0.0
                if a != b:
                    table[a, b] -= _overlap(begin + a, begin + b, indptr, groups, counts, group_weight)
        for e in range(edge_start[c], edge_start[c + 1]):
            a, b = first[e] - begin, second[e] - begin
            table[a, b] += weight[e]
            table[b, a] += weight[e]
        _gain_of_subsets(table, m, inside)
        _best_of_subsets(inside, m, best, choice)
        rest = (1 << m) - 1
        now = 0.0
        for a in range(m):
            for b in range(a):
                if labels[begin + a] == labels[begin + b]:
                    now += table[a, b]
        if not best[rest] > now + tolerance:
            continue
        changed += 1
        while rest:
            part = choice[rest]
            rest &= ~part
            name = -1
            for a in range(m):
                if part >> a & 1:
                    if name < 0:
                        name = begin + a
                    labels[begin + a] = name
    return changed


@kernel
def _gain_of_subsets(table: Floats, m: int, inside: Floats) -> None:
    """Sum of the table over the pairs of each subset of m nodes."""
    inside[0] = 0.0
    for top in range(m):
        for low in range(1 << top):  # subsets whose last node is ``top``
            total = inside[low]
            for b in range(top):
                if low >> b & 1:
                    total += table[top, b]
            inside[low | 1 << top] = total


@kernel
def _best_of_subsets(inside: Floats, m: int, best: Floats, choice: Ints) -> None:
    """Gain of the best partition of each subset, and its cluster that holds the lowest node."""
    best[0] = 0.0
    for whole in range(1, 1 << m):
        lowest = whole & -whole
        rest = whole ^ lowest
        best[whole], choice[whole] = best[rest], lowest
        others = 0
        while others != rest:  # subsets of the other nodes, from small to large
            others = (others - rest) & rest
            gain = inside[lowest | others] + best[rest ^ others]
            if gain > best[whole]:
                best[whole], choice[whole] = gain, lowest | others


# --- links between clusters, found by their two ends ----------------------------------------------------------------
#
# Link e joins ends[e, 0] and ends[e, 1]; it hangs in the bucket of its two ends (bucket, chain) and in the list of the
# cluster at each end (head, follow; place 2e + side). Nothing grows: a union removes links or gives them another end.


@kernel
def _bucket_of(a: int, b: int, size: int) -> int:
    low, high = np.int64(min(a, b)), np.int64(max(a, b))
    return int(((low * 2654435761 + high * 40503) >> 3) % size)


@kernel
def _find(a: int, b: int, ends: Ints, bucket: Ints, chain: Ints) -> int:
    """The link between two clusters; −1 if there is none."""
    e = bucket[_bucket_of(a, b, bucket.shape[0])]
    while e >= 0 and not ((ends[e, 0] == a and ends[e, 1] == b) or (ends[e, 0] == b and ends[e, 1] == a)):
        e = chain[e]
    return e


@kernel
def _hang(e: int, ends: Ints, bucket: Ints, chain: Ints) -> None:
    at = _bucket_of(ends[e, 0], ends[e, 1], bucket.shape[0])
    chain[e] = bucket[at]
    bucket[at] = e


@kernel
def _take_off(e: int, ends: Ints, bucket: Ints, chain: Ints) -> None:
    at = _bucket_of(ends[e, 0], ends[e, 1], bucket.shape[0])
    if bucket[at] == e:
        bucket[at] = chain[e]
        return
    before = bucket[at]
    while chain[before] != e:
        before = chain[before]
    chain[before] = chain[e]


@kernel
def _list_links(n: int, first: Ints, second: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Ends, buckets and lists of links; the second end of a link to a group (n or above) is in no list."""
    m = first.shape[0]
    ends = np.empty((m, 2), np.int32)
    bucket, chain = np.full(m + 1, -1, np.int32), np.full(m, -1, np.int32)
    head, follow = np.full(n, -1, np.int32), np.full(2 * m, -1, np.int32)
    for e in range(m):
        ends[e, 0], ends[e, 1] = first[e], second[e]
        _hang(e, ends, bucket, chain)
        for side in range(2):
            at = ends[e, side]
            if at < n:
                follow[2 * e + side] = head[at]
                head[at] = 2 * e + side
    return ends, bucket, chain, head, follow


# --- greedy unions --------------------------------------------------------------------------------------------------


@kernel
def _before(e: int, f: int, key: Floats, tie: Ints) -> bool:
    return key[e] > key[f] or (key[e] == key[f] and tie[e] < tie[f])


@kernel
def _sift(at: int, size: int, heap: Ints, place: Ints, key: Floats, tie: Ints) -> None:
    """Move an entry up or down until the heap is in order."""
    e = heap[at]
    while at > 0 and _before(e, heap[(at - 1) // 2], key, tie):
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], key, tie):
            child += 1
        if not _before(heap[child], e, key, tie):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = e
    place[e] = at


@kernel
def _drop(e: int, size: int, heap: Ints, place: Ints, key: Floats, tie: Ints) -> int:
    """Take an entry out of the heap, if it is there; returns the new size."""
    at = place[e]
    if at < 0:
        return size
    place[e] = -1
    size -= 1
    if at < size:
        heap[at] = heap[size]
        place[heap[at]] = at
        _sift(at, size, heap, place, key, tie)
    return size


@kernel
def _shared_cost(
    a: int, b: int, n: int, share: Floats, group_weight: Floats, ends: Ints, bucket: Ints, chain: Ints, head: Ints,
    follow: Ints, length: Ints,
) -> float:  # fmt: skip
    """What the groups that two clusters share cost."""
    if length[a] > length[b]:
        a, b = b, a
    total = 0.0
    half = head[a]
    while half >= 0:
        e = half // 2
        g = ends[e, 1]
        f = _find(b, g, ends, bucket, chain)
        if f >= 0:
            total += group_weight[g - n] * share[e] * share[f]
        half = follow[half]
    return total


@kernel
def _unite_shares(
    keep: int, gone: int, share: Floats, ends: Ints, bucket: Ints, chain: Ints, head: Ints, follow: Ints, length: Ints
) -> None:
    """Give the groups of one cluster to another."""
    half = head[gone]
    while half >= 0:
        after = follow[half]
        e = half // 2
        _take_off(e, ends, bucket, chain)
        f = _find(keep, ends[e, 1], ends, bucket, chain)
        if f >= 0:
            share[f] += share[e]
        else:
            ends[e, 0] = keep
            _hang(e, ends, bucket, chain)
            follow[half] = head[keep]
            head[keep] = half
            length[keep] += 1
        half = after
    head[gone] = -1


@kernel
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
    """Unite the two clusters that gain most, again and again, as long as there is a gain (greedy contraction).

    All n nodes begin alone. Edges are distinct pairs of nodes; of equal gains the edge with the smallest ``tie`` comes
    first, and a union of edges has the smallest of theirs. Returns a root for each node, and whether no union with a
    gain is left; after ``steps`` entries of the heap it stops early.
    """
    m = first.shape[0]
    value, rank = weight.copy(), tie.copy()
    ends, bucket, chain, head, follow = _list_links(n, first, second)
    owner = np.empty(groups.shape[0], np.int32)
    degree, length = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for v in range(n):
        owner[indptr[v] : indptr[v + 1]] = v
        length[v] = indptr[v + 1] - indptr[v]
    share = counts.copy()
    group_ends, group_bucket, group_chain, group_head, group_follow = _list_links(n, owner, n + groups)
    heap, place = np.empty(m, np.int32), np.full(m, -1, np.int32)
    key = np.empty(m)
    size = 0
    for e in range(m):
        degree[first[e]] += 1
        degree[second[e]] += 1
        key[e] = value[e] - _overlap(first[e], second[e], indptr, groups, counts, group_weight)
        if key[e] > 0:
            heap[size] = e
            size += 1
            _sift(size - 1, size, heap, place, key, rank)
    root = np.arange(n).astype(np.int32)
    for _ in range(steps):
        if size == 0:
            break
        e = heap[0]
        a, b = ends[e, 0], ends[e, 1]
        shared = _shared_cost(
            a, b, n, share, group_weight, group_ends, group_bucket, group_chain, group_head, group_follow, length
        )
        if value[e] - shared < key[e]:  # unions since it was computed have added members of the same groups
            key[e] = value[e] - shared
            if key[e] > 0:
                _sift(0, size, heap, place, key, rank)
            else:
                size = _drop(e, size, heap, place, key, rank)
            continue
        keep, gone = (a, b) if degree[a] >= degree[b] else (b, a)
        _unite_shares(keep, gone, share, group_ends, group_bucket, group_chain, group_head, group_follow, length)
        root[gone] = keep
        half = head[gone]
        while half >= 0:
            after = follow[half]
            f, side = half // 2, half % 2
            other = ends[f, 1 - side]
            half = after
            if ends[f, side] != gone or other < 0:
                continue  # a link that an earlier union has removed
            _take_off(f, ends, bucket, chain)
            if other == keep:
                size = _drop(f, size, heap, place, key, rank)
                ends[f, 0] = ends[f, 1] = -1
                continue
            same = _find(keep, other, ends, bucket, chain)
            if same < 0:
                ends[f, side] = keep
                _hang(f, ends, bucket, chain)
                follow[2 * f + side] = head[keep]
                head[keep] = 2 * f + side
                degree[keep] += 1
                continue
            size = _drop(f, size, heap, place, key, rank)
            ends[f, 0] = ends[f, 1] = -1
            degree[other] -= 1
            value[same] += value[f]
            rank[same] = min(rank[same], rank[f])
            key[same] = value[same] - _shared_cost(
                keep, other, n, share, group_weight, group_ends, group_bucket, group_chain, group_head, group_follow,
                length,
            )  # fmt: skip
            if key[same] > 0 and place[same] < 0:
                heap[size] = same
                place[same] = size
                size += 1
            if key[same] > 0:
                _sift(place[same], size, heap, place, key, rank)
            else:
                size = _drop(same, size, heap, place, key, rank)
    for v in range(n):
        r = root[v]
        while root[r] != r:
            r = root[r]
        root[v] = r
    return root, size == 0


# --- moves of single nodes ------------------------------------------------------------------------------------------


@kernel
def _crowd(v: int, cluster: int, indptr: Ints, groups: Ints, counts: Floats, group_weight: Floats, own: bool,
           n: int, share: Floats, ends: Ints, bucket: Ints, chain: Ints) -> float:  # fmt: skip
    """What the groups that node v shares with the other members of a cluster cost."""
    total = 0.0
    for p in range(indptr[v], indptr[v + 1]):
        f = _find(cluster, n + groups[p], ends, bucket, chain)
        if f >= 0:
            there = share[f] - counts[p] if own else share[f]
            if there > 0:
                total += group_weight[groups[p]] * counts[p] * there
    return total


@kernel
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
    """Visit nodes ``start`` to ``stop``; each moves where it gains most, alone if all clusters cost it something.

    ``labels`` (each below n) change in place; the lowest cluster is taken on ties. Returns the number of moves; each
    gains more than ``tolerance``.
    """
    n = labels.shape[0]
    size = np.zeros(n, np.int64)
    for v in range(n):
        size[labels[v]] += 1
    empty = np.empty(n, np.int64)
    n_empty = 0
    for h in range(n - 1, -1, -1):
        if size[h] == 0:
            empty[n_empty] = h
            n_empty += 1
    # How many of a group are in a cluster: a link between the two, found as above; unused ones wait in a stack.
    m = groups.shape[0]
    ends, share = np.full((m, 2), -1, np.int32), np.zeros(m)
    bucket, chain = np.full(m + 1, -1, np.int32), np.full(m, -1, np.int32)
    unused = np.arange(m)
    n_unused = m
    for v in range(n):
        n_unused = _enter(v, labels[v], indptr, groups, counts, n, share, ends, bucket, chain, unused, n_unused)
    field, seen, touched = np.zeros(n), np.zeros(n, np.bool_), np.empty(n, np.int64)
    moved = 0
    for v in range(start, stop):
        own = labels[v]
        n_touched = 0
        for p in range(neighbor_indptr[v], neighbor_indptr[v + 1]):
            h = labels[neighbors[p]]
            if not seen[h]:
                seen[h] = True
                touched[n_touched] = h
                n_touched += 1
            field[h] += weight[p]
        here = field[own] - _crowd(v, own, indptr, groups, counts, group_weight, True, n, share, ends, bucket, chain)
        best, gain = own, here + tolerance
        if size[own] > 1 and gain < 0:
            best, gain = -1, 0.0
        for t in range(n_touched):
            h = touched[t]
            if h == own or field[h] < gain or field[h] <= 0:
                continue
            there = field[h] - _crowd(v, h, indptr, groups, counts, group_weight, False, n, share, ends, bucket, chain)
            if there > max(gain, 0.0) or (there == gain and best >= 0 and best != own and h < best):
                best, gain = h, there
        for t in range(n_touched):
            field[touched[t]] = 0.0
            seen[touched[t]] = False
        if best == own:
            continue
        if best < 0:
            n_empty -= 1
            best = empty[n_empty]
        n_unused = _leave(v, own, indptr, groups, counts, n, share, ends, bucket, chain, unused, n_unused)
        n_unused = _enter(v, best, indptr, groups, counts, n, share, ends, bucket, chain, unused, n_unused)
        labels[v] = best
        size[best] += 1
        size[own] -= 1
        if size[own] == 0:
            empty[n_empty] = own
            n_empty += 1
        moved += 1
    return moved


@kernel
def _enter(v: int, cluster: int, indptr: Ints, groups: Ints, counts: Floats, n: int, share: Floats, ends: Ints,
           bucket: Ints, chain: Ints, unused: Ints, n_unused: int) -> int:  # fmt: skip
    for p in range(indptr[v], indptr[v + 1]):
        f = _find(cluster, n + groups[p], ends, bucket, chain)
        if f < 0:
            n_unused -= 1
            f = unused[n_unused]
            ends[f, 0], ends[f, 1], share[f] = cluster, n + groups[p], 0.0
            _hang(f, ends, bucket, chain)
        share[f] += counts[p]
    return n_unused


@kernel
def _leave(v: int, cluster: int, indptr: Ints, groups: Ints, counts: Floats, n: int, share: Floats, ends: Ints,
           bucket: Ints, chain: Ints, unused: Ints, n_unused: int) -> int:  # fmt: skip
    for p in range(indptr[v], indptr[v + 1]):
        f = _find(cluster, n + groups[p], ends, bucket, chain)
        share[f] -= counts[p]
        if share[f] == 0:
            _take_off(f, ends, bucket, chain)
            unused[n_unused] = f
            n_unused += 1
    return n_unused
