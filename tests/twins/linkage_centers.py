"""Plain twin of the kernel in `linkage_centers`."""

from __future__ import annotations

from cluewise._typing import Array, Floats, Ints
from twins.linkage import excluded_pairs, greedy_means

__all__ = ["closest_means"]


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
    """Join the two clusters with the closest means, as long as they are within ``reach``; heights are squared."""
    ordered, sizes = means.T[place], size[place]
    at[3] = greedy_means(ordered, sizes, excluded_pairs(bits, bound), left, right, height, False, reach * reach)
    at[0] = 0
