"""Pairs of rows for objectives that are sums over pairs; a sample if labels and groups imply too many."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.core.distances import metric

__all__ = ["any_pairs", "sample_pairs", "squared_lengths"]


def sample_pairs(clues: Clues, limit: int, rng: np.random.Generator) -> Pairs:
    """All links, including those that labels and groups imply; beyond ``limit`` a sample of the latter.

    Links that are given as pairs are always included. Pairs that labels and groups imply are drawn without replacement
    until there are ``limit`` pairs: half of them together and half apart, as far as possible.
    """
    labels, whole = clues.labels, np.ones(len(clues.classes_))
    joined = [(labels, whole), *((group.codes, group.weights) for group in clues.together)]
    parted = [(group.codes, group.weights) for group in clues.apart]
    inside = np.array([_count(codes) for codes, _ in joined])
    outside = np.array([_count(np.where(labels >= 0, 0, -1)) - inside[0], *(_count(codes) for codes, _ in parted)])
    near, far = int(inside.sum()), int(outside.sum())
    room = limit - len(clues.must) - len(clues.cannot)
    if near + far <= room:
        return clues.pairs(expand=True, limit=limit)
    room = max(room, 0)
    half = min(near, max(room // 2, room - far))
    must, cannot = [(clues.must, clues.must_weight)], [(clues.cannot, clues.cannot_weight)]
    for (codes, weights), count in zip(joined, _shares(inside, half)):
        must.append(_within(codes, weights, count, rng))
    shares = _shares(outside, room - half)
    cannot.append(_across(labels, shares[0], rng))
    for (codes, weights), count in zip(parted, shares[1:]):
        cannot.append(_within(codes, weights, count, rng))
    return Pairs(*_merge(must), *_merge(cannot))


def any_pairs(n: int, count: int, rng: np.random.Generator) -> Ints:
    """All pairs of n rows, or ``count`` random pairs of two different rows if there are more."""
    if n * (n - 1) // 2 <= count:
        return np.column_stack(np.triu_indices(n, 1))
    first = rng.integers(n, size=count)
    return np.column_stack([first, (first + rng.integers(1, n, size=count)) % n])


def squared_lengths(X: Floats, pairs: Ints, A: Floats) -> Floats:
    """Squared distances of pairs in the metric A."""
    out = np.empty(len(pairs))
    for part in metric.blocks(len(pairs), X.shape[1]):
        off = metric.differences(X, pairs[part])
        out[part] = np.einsum("ij,ij->i", off @ A, off)
    return out


def _count(codes: Ints) -> int:
    """Number of pairs of rows with the same code."""
    sizes = np.bincount(codes[codes >= 0])
    return int((sizes * (sizes - 1) // 2).sum())


def _shares(counts: Ints, room: int) -> list[int]:
    """Number of pairs to draw from each source, in proportion to its size."""
    upto = np.cumsum(counts)
    return np.diff(np.rint(upto * (room / max(int(upto[-1]), 1))), prepend=0).astype(int).tolist()


def _within(codes: Ints, weights: Floats, count: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Random pairs of rows with the same code, all pairs equally likely."""
    rows = _sorted_by(codes)
    sizes = np.bincount(codes[rows], minlength=len(weights)).astype(np.int64)
    upto = np.cumsum(sizes * (sizes - 1) // 2)
    drawn = _draw(int(upto[-1]) if len(upto) else 0, count, rng)
    group = np.searchsorted(upto, drawn, side="right")
    size, begin = sizes[group], (np.cumsum(sizes) - sizes)[group]
    # Pair r of s rows on a circle: row r mod s, and the row 1 + r div s places further on.
    place, ahead = np.divmod(drawn - (upto[group] - size * (size - 1) // 2), size)[::-1]
    return np.column_stack([rows[begin + place], rows[begin + (place + ahead + 1) % size]]), weights[group]


def _across(labels: Ints, count: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Random pairs of rows of different classes, all pairs equally likely."""
    rows = _sorted_by(labels)
    sizes = np.bincount(labels[rows], minlength=1)
    end = np.cumsum(sizes)[labels[rows]]  # rows are sorted by class: the partners of a row are those after its class
    upto = np.cumsum(len(rows) - end)
    drawn = _draw(int(upto[-1]) if len(upto) else 0, count, rng)
    first = np.searchsorted(upto, drawn, side="right")
    second = len(rows) - (upto[first] - drawn)
    return np.column_stack([rows[first], rows[second]]), np.ones(len(drawn))


def _sorted_by(codes: Ints) -> Ints:
    """Rows that have a code, code by code."""
    rows = np.flatnonzero(codes >= 0)
    return rows[np.argsort(codes[rows], kind="stable")]


def _draw(total: int, count: int, rng: np.random.Generator) -> Ints:
    """Distinct whole numbers below ``total``."""
    return rng.choice(total, size=min(count, total), replace=False) if total else np.empty(0, dtype=np.int64)


def _merge(parts: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    """Distinct pairs of several sources, with summed weights."""
    pairs = np.sort(np.concatenate([drawn for drawn, _ in parts]), axis=1)
    together, of = np.unique(pairs, axis=0, return_inverse=True)
    weight = np.zeros(len(together))
    np.add.at(weight, of.ravel(), np.concatenate([weight for _, weight in parts]))
    return together, weight
