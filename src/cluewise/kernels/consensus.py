"""Compiled loops over an ensemble of labelings: weighted votes, labels of some rows, agreements of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["add_agreements", "add_votes", "count_pairs", "pick", "quick_vote", "sift", "to_nearest"]


@kernel
def quick_vote(
    labels: Array,
    active: Ints,
    spelled: Array,
    shares: Array,
    start: int,
    unit: Any,
    slack: Any,
    board: Array,
    winner: Array,
    lead: Array,
) -> None:
    """Winner of the rows from ``start`` on, as many as ``winner`` has, by whole votes.

    ``lead`` becomes the votes that the winner has more than the next, times ``unit``, less ``slack``, in float32.

    ``spelled[j, c]`` is what partition ``active[j]`` calls cluster c; it casts ``shares[j]`` votes. The sum of all
    shares fits into the type of ``board``, scratch of (clusters + 2, rows). The lowest cluster wins ties.
    """
    n, s, r = winner.shape[0], active.shape[0], spelled.shape[1]
    none = shares[0]
    none ^= none
    board[:, :n] = none
    # Compare-and-add over a run of rows is what processors do sixteen at a time; four partitions share one pass over
    # the votes counted so far.
    four = s - s % 4
    for j in range(0, four, 4):
        a, b = labels[active[j], start : start + n], labels[active[j + 1], start : start + n]
        c, d = labels[active[j + 2], start : start + n], labels[active[j + 3], start : start + n]
        wa, wb, wc, wd = shares[j], shares[j + 1], shares[j + 2], shares[j + 3]
        for h in range(r):
            ha, hb, hc, hd = spelled[j, h], spelled[j + 1, h], spelled[j + 2, h], spelled[j + 3, h]
            votes = board[h]
            for t in range(n):
                votes[t] += (
                    (wa if a[t] == ha else none)
                    + (wb if b[t] == hb else none)
                    + (wc if c[t] == hc else none)
                    + (wd if d[t] == hd else none)
                )
    for j in range(four, s):
        a, wa = labels[active[j], start : start + n], shares[j]
        for h in range(r):
            ha, votes = spelled[j, h], board[h]
            for t in range(n):
                votes[t] += wa if a[t] == ha else none
    # Names in the type of the votes, so that this loop too runs over many rows at a time.
    names = np.arange(r).astype(board.dtype)
    best, second, who = board[0], board[r], board[r + 1]
    for h in range(1, r):
        votes, name = board[h], names[h]
        for t in range(n):
            more = votes[t] > best[t]
            less = best[t] if more else votes[t]
            second[t] = less if less > second[t] else second[t]
            who[t] = name if more else who[t]
            best[t] = votes[t] if more else best[t]
    for t in range(n):
        winner[t] = who[t]
        lead[t] = np.float32(best[t] - second[t]) * unit - slack


@kernel
def add_votes(labels: Array, active: Ints, clusters: Array, weights: Floats, rows: Ints, votes: Floats) -> None:
    """Add ``weights[j]`` to ``votes[i, c]``, where partition ``active[j]`` puts row ``rows[i]`` into cluster c.

    ``clusters[j]`` translates the labels of that partition. Partitions are added one after the other, so that a sum is
    the same whatever the other rows are.
    """
    for j in range(active.shape[0]):
        own, meant, weight = labels[active[j]], clusters[j], weights[j]
        for i in range(rows.shape[0]):
            votes[i, np.uint64(meant[np.uint64(own[np.uint64(rows[i])])])] += weight


@kernel
def pick(labels: Array, active: Ints, rows: Ints, out: Array, at: int) -> None:
    """``out[j, at + i]`` becomes what partition ``active[j]`` calls the cluster of row ``rows[i]``."""
    s = active.shape[0]
    four = s - s % 4
    for j in range(0, four, 4):  # four misses of the cache at a time instead of one after the other
        a, b, c, d = labels[active[j]], labels[active[j + 1]], labels[active[j + 2]], labels[active[j + 3]]
        to_a, to_b, to_c, to_d = out[j], out[j + 1], out[j + 2], out[j + 3]
        for i in range(rows.shape[0]):
            row = np.uint64(rows[i])
            to = np.uint64(at + i)
            to_a[to], to_b[to], to_c[to], to_d[to] = a[row], b[row], c[row], d[row]
    for j in range(four, s):
        a, to_a = labels[active[j]], out[j]
        for i in range(rows.shape[0]):
            to_a[np.uint64(at + i)] = a[np.uint64(rows[i])]


@kernel
def sift(lead: Floats, drift: float, alpha: float, lower: Floats, rows: Ints) -> int:
    """List the rows that lead by ``drift`` or less, and count them; of the others this much of the lead is left.

    What is left is ``alpha`` times the rest, less a millionth, so that rounding never promises too much.
    """
    count = 0
    keep = alpha * (1 - 1e-6)
    for i in range(lead.shape[0]):
        rest = np.float64(lead[i]) - drift
        lower[i] = keep * rest if rest > 0 else 0.0
        rows[count] = i
        count += not rest > 0
    return count


@kernel
def count_pairs(first: Array, second: Array, counts: Ints) -> None:
    """Add to ``counts[a, b]`` the rows with label a in the first and b in the second partition."""
    for i in range(first.shape[0]):
        counts[np.uint64(first[i]), np.uint64(second[i])] += 1


@kernel
def add_agreements(first: Array, second: Array, sign: int, total: Ints) -> None:
    """Add the first lines of the matrices UUᵀ (``sign`` = −1) or VVᵀ (+1) of some pairs to ``total``.

    Row p of ``first`` and of ``second`` holds the clusters a and b of the two ends of a pair in every partition; entry
    (k, l) counts a_k = a_l and b_k = b_l, and with the sign a_k = b_l and b_k = a_l. ``sign`` is an int32: with a wider
    type the loop would be half as fast.
    """
    one, none = np.int32(1), np.int32(0)
    for p in range(first.shape[0]):
        a, b = first[p], second[p]
        for k in range(total.shape[0]):
            ak, bk, to = a[k], b[k], total[k]
            for q in range(to.shape[0]):
                to[q] += (
                    (one if ak == a[q] else none)
                    + (one if bk == b[q] else none)
                    + (sign if ak == b[q] else none)
                    + (sign if bk == a[q] else none)
                )


@kernel
def to_nearest(x: Floats, columns: Ints, centers: Floats, labels: Array, sums: Floats, mass: Floats) -> int:
    """Label the rows by their nearest center in some columns of ``x``; how many labels changed.

    ``centers`` are transposed, (columns, k). Rows are added to ``sums`` of the same shape and to ``mass``. The lowest
    cluster wins ties.
    """
    d, k = centers.shape
    n, size = x.shape[0], 256
    four = d - d % 4
    # Rows of a tile lie side by side, so that all loops but the last run over many of them at a time.
    tile, far = np.zeros((d, size)), np.empty(size)
    least, best = np.empty(size), np.empty(size, dtype=np.int64)
    moved = 0
    for start in range(0, n, size):
        count = min(size, n - start)
        for i in range(count):
            for j in range(d):
                tile[j, i] = x[start + i, columns[j]]
        least[:] = np.inf
        best[:] = 0
        for h in range(k):
            far[:] = 0.0
            for j in range(0, four, 4):  # four columns share one pass over what was added up so far
                p, q, r, s = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
                a, b, c, e = centers[j, h], centers[j + 1, h], centers[j + 2, h], centers[j + 3, h]
                for i in range(size):
                    some = far[i] + (p[i] - a) * (p[i] - a) + (q[i] - b) * (q[i] - b)
                    far[i] = some + (r[i] - c) * (r[i] - c) + (s[i] - e) * (s[i] - e)
            for j in range(four, d):
                p, a = tile[j], centers[j, h]
                for i in range(size):
                    far[i] += (p[i] - a) * (p[i] - a)
            for i in range(size):
                closer = far[i] < least[i]
                least[i] = far[i] if closer else least[i]
                best[i] = h if closer else best[i]
        for i in range(count):
            h = best[i]
            if labels[start + i] != h:
                moved += 1
                labels[start + i] = h
            mass[h] += 1
            for j in range(d):
                sums[j, h] += tile[j, i]
    return moved
