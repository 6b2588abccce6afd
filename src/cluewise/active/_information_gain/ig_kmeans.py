"""IG-KMEANS: spherical k-means with a price of broken links by the similarity of their rows [Huang2007]_.

Also the uncertainty of the cluster of each row, by itself and given earlier questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import entr

from cluewise._typing import Floats, Ints
from cluewise.core import loop
from cluewise.core.rows import Rows, SparseRows
from cluewise.core.seeding import plus_plus

__all__ = [
    "Links",
    "State",
    "chances",
    "cluster",
    "cosines",
    "dependent",
    "directions",
    "gains",
    "links_of",
    "objective",
    "spread",
    "step",
    "sums_of",
    "unit_rows",
]

MAX_ITER = 50
"""Maximum number of iterations of one start; the objective hardly falls after a few."""


class Links(NamedTuple):
    """What joining a row with the cluster of another adds to the objective, row by row: CSR over all rows."""

    rows: Ints  # rows with links, in the order of their numbers
    indptr: Ints  # (n + 1,)
    others: Ints
    prices: Floats  # (1 − ρ)·(−ψ) for a must-link, (1 − ρ)·(1 − ψ) for a cannot-link
    constant: float  # (1 − ρ)·Σψ over the must-links


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,)
    centers: Floats  # (k, d) of length 1


def unit_rows(X: Any, *, lifted: bool) -> Any:
    """Rows divided by their lengths, dense or CSR, in double precision; rows of zeros stay as they are.

    ``lifted`` rows are seen from a point outside of the data: centered, with one more column, as large as the longest
    of them. No two of them are then more than a right angle apart, and angles grow with distances.
    """
    scale = float(abs(X).max()) or 1.0  # the squares of tiny numbers are zero
    x = X.astype(np.float64) / scale
    if lifted:
        if isinstance(x, np.ndarray):
            x -= x.mean(axis=0)
        height = float(_lengths(x).max()) or 1.0
        column = np.full((x.shape[0], 1), height)
        x = np.hstack([x, column]) if isinstance(x, np.ndarray) else sparse.hstack([x, column], format="csr")
    lengths = _lengths(x)
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return x * inverse[:, None] if isinstance(x, np.ndarray) else sparse.diags_array(inverse) @ x


def _lengths(x: Any) -> Floats:
    if isinstance(x, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", x, x))
    return np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())


def cosines(unit: Any, others: Floats) -> Floats:
    """(rows, others) cosines between unit rows and some dense unit vectors."""
    return np.asarray(unit @ others.T)


def links_of(unit: Any, must: Iterable[tuple[int, int]], cannot: Iterable[tuple[int, int]], rho: float) -> Links:
    """Links with their prices, Eq. 72 of the survey."""
    pairs = {False: list(must), True: list(cannot)}
    ends = np.array(pairs[False] + pairs[True], dtype=np.int64).reshape(-1, 2)
    alike = _alike(unit, ends)
    apart = np.arange(len(ends)) >= len(pairs[False])
    # A price below zero would reward a broken link, so rows at an obtuse angle have no price.
    prices = (1 - rho) * np.where(apart, np.maximum(alike, 0), alike - 1)
    rows, others = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=unit.shape[0]))])
    constant = (1 - rho) * float((1 - alike[~apart]).sum())
    return Links(np.unique(rows), indptr, others[order], np.tile(prices, 2)[order], constant)


def _alike(unit: Any, ends: Ints) -> Floats:
    """Cosines of pairs of rows."""
    first, second = unit[ends[:, 0]], unit[ends[:, 1]]
    if isinstance(unit, np.ndarray):
        return np.einsum("ij,ij->i", first, second)
    return np.asarray(first.multiply(second).sum(axis=1)).ravel()


def objective(unit: Any, centers: Floats, labels: Ints, links: Links, rho: float) -> float:
    """O of Eq. 72: ρΣψ(x, μ) + (1 − ρ)·(Σψ over broken must-links + Σ(1 − ψ) over broken cannot-links)."""
    return _price(sums_of(unit, labels, len(centers)), centers, labels, links, rho)


def _price(sums: Floats, centers: Floats, labels: Ints, links: Links, rho: float) -> float:
    """O by the sums of the clusters: Σ cos(x, μ) over the rows of one is the product of their sum with μ."""
    count = np.diff(links.indptr)[links.rows]
    joined = np.repeat(labels[links.rows], count) == labels[links.others]
    own = len(labels) - float(np.einsum("hj,hj->", sums, centers))
    return rho * own + links.constant + 0.5 * float(links.prices[joined].sum())


def step(state: State, *, unit: Any, links: Links, rho: float) -> tuple[State, loop.Info]:
    """Labels one after the other (ICM), then centers: sums of unit rows, the exact minimizer."""
    similar = cosines(unit, state.centers)
    labels = similar.argmax(axis=1)
    labels[links.rows] = state.labels[links.rows]
    k = len(state.centers)
    scores = rho * (1 - similar[links.rows])
    for i, score in zip(links.rows.tolist(), scores):
        part = slice(links.indptr[i], links.indptr[i + 1])
        cost = score + np.bincount(labels[links.others[part]], links.prices[part], minlength=k)
        labels[i] = cost.argmin()
    moved = int(np.count_nonzero(labels != state.labels))
    sums = sums_of(unit, labels, k)
    centers = directions(sums, state.centers)
    return State(labels, centers), loop.Info(_price(sums, centers, labels, links, rho), moved)


def sums_of(unit: Any, labels: Ints, k: int) -> Floats:
    """(k, d) sums of the rows of each cluster."""
    n = len(labels)
    sums = sparse.csc_array((np.ones(n), labels, np.arange(n + 1)), shape=(k, n)) @ unit
    return sums if isinstance(sums, np.ndarray) else np.asarray(sums.toarray())


def directions(sums: Floats, previous: Floats) -> Floats:
    """Directions of the sums of each cluster; one without rows, or whose rows cancel out, keeps its center."""
    lengths = _lengths(sums)
    full = lengths > 1e-12
    centers = previous.copy()
    centers[full] = sums[full] / lengths[full, None]
    return centers


def spread(unit: Any, given: Floats, k: int, rng: np.random.Generator) -> Floats:
    """The directions of the given vectors, and more by k-means++ until there are k."""
    rows = Rows(unit, None, np.zeros(unit.shape[1])) if isinstance(unit, np.ndarray) else SparseRows(unit)
    centers = plus_plus(rows, _normalize(given), k, rng)
    return _normalize(centers)


def _normalize(vectors: Floats) -> Floats:
    lengths = _lengths(vectors)
    return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]


def cluster(unit: Any, centers: Floats, links: Links, rho: float) -> tuple[State, float]:
    """Run to the end from given centers; the last state and its objective."""
    labels = cosines(unit, centers).argmax(axis=1)
    move = partial(step, unit=unit, links=links, rho=rho)
    slack = 1e-9 * (1 + unit.shape[0])
    found = loop.run(move, State(labels, centers), loop.Limits(MAX_ITER, 1e-6), slack)
    return found.state, found.trace[-1]


def chances(similar: Floats, labels: Ints) -> Floats:
    """p(j_m) of Eq. 79 and 84: how similar the own center is, against the next one; nan where neither is at all."""
    n, k = similar.shape
    if k == 1:
        return np.ones(n)
    own = similar[np.arange(n), labels]
    other = np.where(np.arange(k) == labels[:, None], -np.inf, similar).max(axis=1)
    total = own + other
    return np.divide(own, total, out=np.full(n, np.nan), where=total > 0)


def gains(chance: Floats) -> Floats:
    """Entropy of the answer, Eq. 78 and 83; 0 for rows without direction."""
    return np.where(np.isnan(chance), 0.0, entr(chance) + entr(1 - chance))


def dependent(similar: Floats, unit: Any, earlier: list[Ints], share: float) -> Floats:
    """s_d of Eq. 86: the center and, with a given share, the most similar of the earlier rows of the same cluster."""
    found = similar.copy()
    for h, rows in enumerate(earlier):
        if len(rows):
            near = unit[rows] if isinstance(unit, np.ndarray) else unit[rows].toarray()
            alike = np.maximum(cosines(unit, near), 0)
            alike[rows, np.arange(len(rows))] = -1  # a row says nothing about itself
            nearest = alike.max(axis=1)
            mixed = (1 - share) * similar[:, h] + share * nearest
            found[:, h] = np.where(nearest >= 0, mixed, similar[:, h])
    return found
