"""Trees from the means of clusters, without a table of distances: Ward's and centroid linkage."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.trees.linkage import Merges, Watch
from cluewise.kernels import linkage, linkage_centers

__all__ = ["Means", "merge_by_center", "merge_by_ward", "means_bytes", "means_of"]

BUDGET = 5 * 10**7
"""Coordinates (some tens of milliseconds) between two checks for Ctrl-C."""

BLOCK = 64
"""Centers that the triangle inequality screens at once."""


class Means(NamedTuple):
    """Must-link components as means, and a bit matrix of those that exclude each other; the kernels overwrite both."""

    means: Floats  # (d, m)
    size: Floats  # (m,)
    bits: Array  # (t, ⌈t/64⌉) uint64: row r has bit c when the components r and c must be apart
    bound: Ints  # (m,) row of each component, −1 for those that nothing keeps apart
    owner: Ints  # (64·⌈t/64⌉,) component of each row


def means_bytes(m: int, d: int, clues: Clues) -> int:
    """Memory for m means of d columns, and for the bits."""
    t = len(_conflicted(clues))
    return 8 * m * (2 * d + 8) + t * 8 * _words(t)


def means_of(X: Floats, clues: Clues) -> Means:
    """Means of the components, in double precision."""
    m = clues.n_components
    size = np.bincount(clues.components, minlength=m).astype(np.float64)
    if m == clues.n:
        means = np.array(X.T, dtype=np.float64, order="C")
    else:
        means = np.empty((X.shape[1], m))
        for j in range(X.shape[1]):
            # Relative to one member: a component far from the origin, or of equal rows, loses no digits.
            column = X[:, j].astype(np.float64)
            first = np.empty(m)
            first[clues.components[::-1]] = column[::-1]
            column -= first[clues.components]
            means[j] = first + np.bincount(clues.components, weights=column, minlength=m) / size
    return Means(means, size, *_bits(clues))


def _words(t: int) -> int:
    return (t + 63) // 64


def _conflicted(clues: Clues) -> Ints:
    """Components that must be apart from another."""
    found = clues.graph.indptr[1:] > clues.graph.indptr[:-1]
    found[clues.cliques.members] = True
    return np.flatnonzero(found)


def _bits(clues: Clues) -> tuple[Array, Ints, Ints]:
    conflicted = _conflicted(clues)
    t = len(conflicted)
    bound = np.full(clues.n_components, -1, dtype=np.int64)
    bound[conflicted] = np.arange(t)
    bits = np.zeros((t, _words(t)), dtype=np.uint64)
    low = bound[np.repeat(np.arange(clues.n_components), np.diff(clues.graph.indptr))]
    high = bound[clues.graph.indices]
    np.bitwise_or.at(bits, (low, high // 64), _bit(high))
    cliques = clues.cliques
    for start, stop in zip(cliques.indptr[:-1], cliques.indptr[1:]):
        members = bound[cliques.members[start:stop]]
        mask = np.zeros(_words(t), dtype=np.uint64)
        np.bitwise_or.at(mask, members // 64, _bit(members))
        bits[members] |= mask
    own = np.arange(t)
    bits[own, own // 64] &= ~_bit(own)
    owner = np.full(64 * _words(t), -1, dtype=np.int64)
    owner[:t] = conflicted
    return bits, bound, owner


def _bit(number: Ints) -> Array:
    return np.left_shift(np.uint64(1), (number % 64).astype(np.uint64))


def merge_by_ward(given: Means, watch: Watch) -> Merges:
    """All unions that Ward's method makes, at the heights that SciPy gives them: √2 times the root of the rise."""
    d, m = given.means.shape
    left, right, height = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    name, place, chain = np.arange(m), np.arange(m), np.empty(m, np.int64)
    at = np.array([m, 0, 0])
    room = np.empty(m)
    stop = False
    found = Merges(left[:0], right[:0], height[:0])
    while at[0] > 0 and not stop:
        linkage.chain_means(
            given.means,
            given.size,
            name,
            place,
            given.bits,
            given.bound,
            given.owner,
            room,
            chain,
            at,
            left,
            right,
            height,
            BUDGET // (d + 4),
        )
        found = Merges(left[: at[2]], right[: at[2]], np.sqrt(2 * height[: at[2]]))
        stop = watch(found)
    return found


def merge_by_center(given: Means, reach: float, watch: Watch) -> Merges:
    """Unions of the clusters with the closest means, in order, up to the distance ``reach``."""
    d, m = given.means.shape
    left, right, height = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m)
    at = np.array([1, m, m, 0, 0, 0])
    arrays = (*_columns(given, reach), at, left, right, height, reach, BUDGET // (d + 4))
    stop = False
    found = Merges(left[:0], right[:0], height[:0])
    while at[0] > 0 and not stop:
        linkage_centers.closest_means(*arrays)
        found = Merges(left[: at[3]], right[: at[3]], np.sqrt(height[: at[3]]))
        stop = watch(found)
    return found


def _columns(given: Means, reach: float) -> tuple[Any, ...]:
    """The input of `closest_means`: with a finite reach the columns are sorted by their distance from a pivot."""
    m = len(given.size)
    means, size, name = given.means, given.size, np.arange(m)
    center: Floats = means[:, 0].copy()
    pivot: Floats = np.zeros(m)
    if reach < np.inf:
        middle = np.average(means, axis=1, weights=size)
        center = means[:, _from(means, middle).argmax()].copy()
        pivot = _from(means, center)
        name = np.argsort(pivot, kind="stable")
        means, size, pivot = np.ascontiguousarray(means[:, name]), size[name], pivot[name]
    place = np.empty(m, np.int64)
    place[name] = np.arange(m)
    near, gap, room = np.full(m, -1), np.full(m, np.inf), np.empty(m)
    low, high = np.empty((2, (m + BLOCK - 1) // BLOCK))
    bits = given.bits, given.bound, given.owner
    return means, size, name, place, near, gap, *bits, center, pivot, low, high, room


def _from(means: Floats, center: Floats) -> Floats:
    return np.sqrt(((means - center[:, None]) ** 2).sum(axis=0))
