"""Plain twins of the kernels in `linkage`: join the closest pair that may be joined, until there is none.

They look at all pairs before every union and keep no chain and no candidates, so they do everything in one call.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints

__all__ = ["chain_means", "chain_pairs"]


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
    """Join the closest pair of a condensed table; rule 0 is single, 1 complete, 2 average, 3 Ward's linkage."""
    m = len(size)
    square = np.full((m, m), np.inf)
    first, second = np.triu_indices(m, 1)
    square[first, second] = square[second, first] = table
    while len(size) and square.min() < np.inf:
        a, b = np.unravel_index(square.argmin(), square.shape)
        left[at[2]], right[at[2]], height[at[2]] = a, b, square[a, b]
        at[2] += 1
        both = np.stack([square[a], square[b]])
        never = np.isinf(both).any(axis=0)
        both[:, never] = 0
        mean = (size[a] * both[0] + size[b] * both[1]) / (size[a] + size[b])
        ward = (size[a] + size) * both[0] + (size[b] + size) * both[1] - size * square[a, b]
        joined = (both.min(axis=0), both.max(axis=0), mean, ward / (size[a] + size[b] + size))[rule]
        joined[never] = np.inf
        square[a] = square[:, a] = joined
        square[b] = square[:, b] = np.inf
        size[a] += size[b]
    at[0] = 0


def excluded_pairs(bits: Array, bound: Ints) -> Bools:
    """Which clusters must not share a cluster, as a square matrix; every cluster excludes itself."""
    found = np.eye(len(bound), dtype=bool)
    for a, r in enumerate(bound):
        for b, s in enumerate(bound):
            if min(r, s) >= 0:
                found[a, b] |= bool(int(bits[r, s // 64]) >> int(s % 64) & 1)
    return found


def greedy_means(
    means: Floats,
    size: Floats,
    excluded: Bools,
    left: Ints,
    right: Ints,
    height: Floats,
    ward: bool,
    most: float,
) -> int:
    """Join the closest means, one per row; returns the number of unions."""
    means, size = means.copy(), size.copy()
    unions = 0
    while len(size):
        squared = ((means[:, None] - means) ** 2).sum(axis=2)
        if ward:
            squared *= size[:, None] * size / (size[:, None] + size)
        squared[excluded] = np.inf
        a, b = np.unravel_index(squared.argmin(), squared.shape)
        if squared[a, b] == np.inf or squared[a, b] > most:
            break
        left[unions], right[unions], height[unions] = a, b, squared[a, b]
        unions += 1
        means[a] = (size[a] * means[a] + size[b] * means[b]) / (size[a] + size[b])
        size[a] += size[b]
        excluded[a] |= excluded[b]
        excluded[:, a] |= excluded[:, b]
        excluded[b] = excluded[:, b] = True
    return unions


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
    """Join the closest pair by Ward's distance |A||B|/(|A|+|B|)·‖m_A − m_B‖², the height of the union."""
    ordered, sizes = means.T[place], size[place]
    at[2] = greedy_means(ordered, sizes, excluded_pairs(bits, bound), left, right, height, True, np.inf)
    at[0] = 0
