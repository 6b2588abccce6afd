"""Compiled loops that build trees by chains of nearest neighbors; `linkage_centers` has the one that needs no chain.

Clusters are named by numbers below m; a union keeps the smaller of two names. ``left``, ``right`` and ``height`` take
one entry per union. Every kernel continues from the state that the last call has left in its arrays and in the counters
``at``, and returns after about ``budget`` distances; ``at[0]`` is 0 when no two clusters can be joined any more.

Clusters that must not be joined have an infinite distance in the table. Where there is no table, they are in the
rows of ``bits``: bit c of row r says that the clusters ``owner[r]`` and ``owner[c]`` exclude each other, ``bound`` is
the row of each cluster (−1: it excludes none).
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels._jit import fma, kernel

__all__ = ["chain_means", "chain_pairs"]

BLOCK = 512  # clusters whose distances are summed at once: they stay in the fastest cache
WORD = 64


@kernel
def _start(i: int, m: int) -> int:
    """Where row i of a condensed table begins, such that the distance of i < j is at start + j."""
    return i * m - (i * (i + 1)) // 2 - i - 1


@kernel
def chain_pairs(
    table: Floats,
    size: Floats,
    active: Ints,
    chain: Ints,
    at: Ints,
    left: Ints,
    right: Ints,
    height: Floats,
    rule: int,
    budget: int,
) -> None:
    """Join reciprocal nearest neighbors in a condensed table; rule 0 is single, 1 complete, 2 average, 3 Ward.

    For the last the table holds Ward's distances as `chain_means` has them. Counters: clusters in ``active``, length of
    the chain, unions. An infinite distance stays infinite in a union: the rules stay reducible, so the chain finds
    what joining the closest pair, again and again, would find.
    """
    m = size.shape[0]
    work = 0
    while at[0] > 0 and work < budget:
        count, depth = at[0], at[1]
        if depth == 0:
            chain[0] = active[0]
            depth = 1
        x = chain[depth - 1]
        y = -1
        best = np.inf
        if depth > 1:  # on a tie the chain turns back, or it would go in circles
            y = chain[depth - 2]
            best = table[_start(min(x, y), m) + max(x, y)]
        # Follow nearest neighbors until two are nearest to each other. No later union can come closer to either of them
        # (the rules are reducible), so they may be joined now, although closer pairs may exist elsewhere.
        split = np.searchsorted(active[:count], x)
        for p in range(split):
            v = table[_start(active[p], m) + x]
            if v < best:
                best = v
                y = active[p]
        begin = _start(x, m)
        for p in range(split + 1, count):
            v = table[begin + active[p]]
            if v < best:
                best = v
                y = active[p]
        work += count
        if y < 0:  # no cluster may join it, now or later
            gone = x
            depth = 0
        elif depth > 1 and y == chain[depth - 2]:
            depth -= 2
            a, gone = min(x, y), max(x, y)
            u = at[2]
            left[u], right[u], height[u] = a, gone, best
            at[2] = u + 1
            # Lance and Williams: the distance to a union follows from the distances to its two parts.
            share = size[a] / (size[a] + size[gone])
            for p in range(count):
                i = active[p]
                if i in (a, gone):
                    continue
                here = _start(min(a, i), m) + max(a, i)
                v, w = table[here], table[_start(min(gone, i), m) + max(gone, i)]
                if v == np.inf or w == np.inf:
                    table[here] = np.inf
                elif rule == 0:
                    table[here] = min(v, w)
                elif rule == 1:
                    table[here] = max(v, w)
                elif rule == 2:
                    table[here] = share * v + (1.0 - share) * w
                else:
                    both = (size[a] + size[i]) * v + (size[gone] + size[i]) * w - size[i] * best
                    table[here] = max(both / (size[a] + size[gone] + size[i]), best)  # less only by rounding
            size[a] += size[gone]
            work += count
        else:
            chain[depth] = y
            at[1] = depth + 1
            continue
        for p in range(np.searchsorted(active[:count], gone), count - 1):
            active[p] = active[p + 1]
        at[0] = count - 1
        at[1] = depth


@fma
def _squared(means: Floats, q: int, start: int, stop: int, out: Floats) -> None:
    """Squared distances from the mean in column q to those in columns start … stop."""
    d = means.shape[0]
    for c in range(start, stop):
        out[c] = 0.0
    j = 0
    while j + 4 <= d:
        a, b, e, f = means[j], means[j + 1], means[j + 2], means[j + 3]
        s, t, u, v = a[q], b[q], e[q], f[q]
        for c in range(start, stop):
            out[c] += (
                (a[c] - s) * (a[c] - s) + (b[c] - t) * (b[c] - t) + (e[c] - u) * (e[c] - u) + (f[c] - v) * (f[c] - v)
            )
        j += 4
    while j < d:
        a = means[j]
        s = a[q]
        for c in range(start, stop):
            out[c] += (a[c] - s) * (a[c] - s)
        j += 1


@kernel
def _exclude(x: int, bits: Array, bound: Ints, owner: Ints, place: Ints, out: Floats) -> None:
    """Set the distance to every cluster that x excludes to infinity."""
    if bound[x] < 0:
        return
    row = bits[bound[x]]
    for w in range(row.shape[0]):
        word = row[w]
        if word == 0:
            continue
        for c in range(WORD):
            if (word >> np.uint64(c)) & np.uint64(1):
                other = place[owner[w * WORD + c]]
                if other >= 0:
                    out[other] = np.inf


@kernel
def _unite(a: int, b: int, bits: Array, bound: Ints, owner: Ints) -> None:
    """Cluster a takes over the exclusions of b."""
    r, s = bound[a], bound[b]
    if s < 0:
        return
    if r < 0:
        bound[a] = s
        owner[s] = a
        return
    one = np.uint64(1)
    for w in range(bits.shape[1]):
        word = bits[s, w]
        if word == 0:
            continue
        bits[r, w] |= word
        for c in range(WORD):
            if (word >> np.uint64(c)) & one:
                # Clusters that excluded b now exclude a: the matrix of bits stays symmetric.
                other = bits[w * WORD + c]
                other[r // WORD] |= one << np.uint64(r % WORD)
                other[s // WORD] &= ~(one << np.uint64(s % WORD))
    owner[s] = -1


@fma
def chain_means(
    means: Floats,
    size: Floats,
    name: Ints,
    place: Ints,
    bits: Array,
    bound: Ints,
    owner: Ints,
    room: Floats,
    chain: Ints,
    at: Ints,
    left: Ints,
    right: Ints,
    height: Floats,
    budget: int,
) -> None:
    """Join reciprocal nearest neighbors by Ward's distance |A||B|/(|A|+|B|)·‖m_A − m_B‖², the height of the union.

    ``means`` has one column per cluster, in any order: ``name`` says whose it is, ``place`` where a name stands. A
    column that is not needed any more is overwritten by the last. Counters as in `chain_pairs`; ``room`` is scratch.
    """
    d = means.shape[0]
    work = 0
    while at[0] > 0 and work < budget:
        count, depth = at[0], at[1]
        if depth == 0:
            chain[0] = name[0]
            depth = 1
        x = chain[depth - 1]
        q = place[x]
        mine = size[q]
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            _squared(means, q, start, stop, room)
            for c in range(start, stop):
                room[c] *= mine * size[c] / (mine + size[c])
        work += count
        room[q] = np.inf
        _exclude(x, bits, bound, owner, place, room)
        r = -1
        best = np.inf
        if depth > 1:  # on a tie the chain turns back, or it would go in circles
            r = place[chain[depth - 2]]
            best = room[r]
        for c in range(count):
            if room[c] < best:
                best = room[c]
                r = c
        if r < 0:  # no cluster may join it, now or later
            gone = q
            depth = 0
        elif depth > 1 and name[r] == chain[depth - 2]:
            depth -= 2
            if name[r] < x:
                kept, gone = r, q
            else:
                kept, gone = q, r
            u = at[2]
            left[u], right[u], height[u] = name[kept], name[gone], best
            at[2] = u + 1
            share = size[gone] / (size[kept] + size[gone])
            for j in range(d):
                means[j, kept] += share * (means[j, gone] - means[j, kept])
            size[kept] += size[gone]
            _unite(name[kept], name[gone], bits, bound, owner)
        else:
            chain[depth] = name[r]
            at[1] = depth + 1
            continue
        # Columns stay dense, so that distances are computed over one contiguous run; the order does not matter.
        last = count - 1
        place[name[last]] = gone
        place[name[gone]] = -1
        for j in range(d):
            means[j, gone] = means[j, last]
        size[gone] = size[last]
        name[gone] = name[last]
        at[0] = last
        at[1] = depth
