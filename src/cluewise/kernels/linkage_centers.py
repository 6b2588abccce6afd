"""Compiled loop that joins the clusters with the closest centers, with lazy candidates; arrays as in `linkage`."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels._jit import kernel
from cluewise.kernels.linkage import _exclude, _squared, _unite

__all__ = ["closest_means"]


@kernel
def _measure(
    means: Floats,
    q: int,
    begin: int,
    count: int,
    pivot: Floats,
    low: Floats,
    high: Floats,
    reach: float,
    room: Floats,
) -> int:
    """Squared distances of column q to those from ``begin`` on; infinity for blocks that are out of reach.

    By the triangle inequality two centers whose distances from the pivot differ by more than the reach are farther
    apart than that. Returns how many distances were computed.
    """
    size = (pivot.shape[0] + low.shape[0] - 1) // low.shape[0]
    done = 0
    wide = reach + 1e-9 * (reach + pivot[q])  # rounding must not hide a pair
    for b in range(begin // size, (count + size - 1) // size):
        start, stop = max(b * size, begin), min((b + 1) * size, count)
        if low[b] - pivot[q] > wide or pivot[q] - high[b] > wide:
            for c in range(start, stop):
                room[c] = np.inf
        else:
            _squared(means, q, start, stop, room)
            done += stop - start
    return done


@kernel
def _nearest_later(q: int, count: int, name: Ints, room: Floats, near: Ints, gap: Floats) -> None:
    """The nearest column after q becomes its candidate."""
    near[q] = -1
    gap[q] = np.inf
    for c in range(q + 1, count):
        if room[c] < gap[q]:
            gap[q] = room[c]
            near[q] = name[c]


@kernel
def _close_up(means: Floats, size: Floats, name: Ints, place: Ints, near: Ints, gap: Floats, pivot: Floats) -> int:
    """Drop the columns of clusters that are gone; the others keep their order. Returns how many are left."""
    kept = 0
    for c in range(size.shape[0]):
        if size[c] == 0.0:
            continue
        for j in range(means.shape[0]):
            means[j, kept] = means[j, c]
        size[kept], name[kept], near[kept], gap[kept], pivot[kept] = size[c], name[c], near[c], gap[c], pivot[c]
        place[name[kept]] = kept
        kept += 1
    for c in range(kept, size.shape[0]):
        size[c] = 0.0
    return kept


@kernel
def _span(pivot: Floats, size: Floats, count: int, low: Floats, high: Floats) -> None:
    """Least and largest distance from the pivot in every block of columns."""
    length = (pivot.shape[0] + low.shape[0] - 1) // low.shape[0]
    for b in range(low.shape[0]):
        low[b], high[b] = np.inf, -np.inf
    for c in range(count):
        if size[c] > 0.0:
            b = c // length
            low[b], high[b] = min(low[b], pivot[c]), max(high[b], pivot[c])


@kernel
def closest_means(
    means: Floats,
    size: Floats,
    name: Ints,
    place: Ints,
    near: Ints,
    gap: Floats,
    bits: Array,
    bound: Ints,
    owner: Ints,
    center: Floats,
    pivot: Floats,
    low: Floats,
    high: Floats,
    room: Floats,
    at: Ints,
    left: Ints,
    right: Ints,
    height: Floats,
    reach: float,
    budget: int,
) -> None:
    """Join the two clusters with the closest means, as long as they are within ``reach``; heights are squared.

    Each column keeps a candidate among the columns after it: ``near`` and ``gap``, a lower bound of the squared
    distance. A new candidate for one that is gone (−1) is searched when its bound is the least of all. ``pivot`` are
    the distances of the means from ``center``, ``low`` and ``high`` their ranges in blocks of columns. Counters: 1 as
    long as there is something to do, columns, clusters, unions, columns that have had a candidate, distances computed.
    """
    work = 0
    while at[0] > 0 and work < budget:
        count = at[1]
        if at[4] < count:
            q = at[4]
            at[4] = q + 1
            if q == 0:
                _span(pivot, size, count, low, high)
            near[q] = -1
        else:
            q = 0
            for c in range(count):
                if gap[c] < gap[q]:
                    q = c
            work += count
            if gap[q] == np.inf or gap[q] > reach * reach:
                at[0] = 0
                break
        # No candidate yet, or it is gone: search, then look again for the least bound. Centers may come closer when
        # clusters join (the rule is not reducible), so a chain of nearest neighbors would go wrong here.
        if near[q] < 0:
            done = _measure(means, q, q + 1, count, pivot, low, high, reach, room)
            _exclude(name[q], bits, bound, owner, place, room)
            _nearest_later(q, count, name, room, near, gap)
            work += count - q
            at[5] += done
            continue
        a, b = name[q], near[q]
        r = place[b]
        u = at[3]
        left[u], right[u], height[u] = min(a, b), max(a, b), gap[q]
        at[3] = u + 1
        share = size[q] / (size[q] + size[r])
        around = 0.0
        for j in range(means.shape[0]):
            means[j, r] += share * (means[j, q] - means[j, r])
            means[j, q] = np.inf  # infinitely far from all others
            around += (means[j, r] - center[j]) ** 2
        size[r] += size[q]
        size[q] = 0.0
        gap[q] = np.inf
        near[q] = -1
        kept, gone = min(a, b), max(a, b)
        name[r] = kept
        place[kept] = r
        _unite(kept, gone, bits, bound, owner)
        pivot[r] = np.sqrt(around)
        length = (pivot.shape[0] + low.shape[0] - 1) // low.shape[0]
        low[r // length] = min(low[r // length], pivot[r])
        high[r // length] = max(high[r // length], pivot[r])
        at[5] += _measure(means, r, 0, count, pivot, low, high, reach, room)
        _exclude(kept, bits, bound, owner, place, room)
        # Only columns before r can have it as a candidate. One whose candidate is gone keeps its gap as a lower bound.
        for c in range(r):
            if size[c] > 0.0:
                if room[c] < gap[c]:
                    gap[c] = room[c]
                    near[c] = kept
                elif near[c] == a or near[c] == b:
                    near[c] = -1
        _nearest_later(r, count, name, room, near, gap)
        work += count
        at[2] -= 1
        # A quarter of the columns is empty: closing up then costs less than it saves.
        if 4 * at[2] < 3 * count:
            at[1] = at[4] = _close_up(means, size, name, place, near, gap, pivot)
            _span(pivot, size, at[1], low, high)
