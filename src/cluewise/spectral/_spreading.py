"""Spreading: links propagate along the graph and change the affinity of the pairs that they reach.

The propagated links are F = G Z G with Z the links, G = (I − αN)⁻¹ and N the normalized affinity, so a link also counts
for rows near its ends. Only the columns of G that belong to tied rows are needed. What F does to the affinity is either
as published (`spread_links`) or a vote of must-links against cannot-links (`spread_votes`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from cluewise._typing import Floats, Ints
from cluewise.core.graphs.laplacian import degrees, normalized

__all__ = ["DROP", "choose_spread", "propagators", "scale_to_one", "spread_links", "spread_votes"]

EXACT = 1500
"""Maximum number of rows of a sparse affinity for which F is computed for all pairs."""

DROP = 1e-3
"""With more rows, entries of G below this are dropped; on a tied row G starts at 1."""

KEEP = 1e-2
"""Pairs that are not neighbors get an affinity if F is at least this share of its largest value."""

WORK = 4 * 10**8
"""Maximum number of products for such pairs; if there would be more, smaller entries of G are dropped."""

PAIRS = 100_000
"""Pairs of a dense affinity that are changed at a time."""

ROOM = 2**20
"""Entries in a block of F at edges."""

BLOCK = 10**6
"""Products in a block of F at other pairs."""

DOUBT = 0.5
"""Votes that every pair has besides those of the links: half a link, which says nothing."""


def scale_to_one(affinity: Any) -> Any:
    """The affinity divided by its largest entry, so that the effect of links does not depend on its unit."""
    most = affinity.max() if 0 not in affinity.shape else 0.0
    return affinity / most if most > 0 else affinity


def choose_spread(links: int, n: int) -> float:
    """The α with which about a quarter of a link reaches every pair of rows, between 0.5 and 0.9.

    The rows of G sum to about 1/(1 − α), so a share ρ of linked pairs sends ρ/(1 − α)² of a link to a pair. A few
    links, which have nobody to vote with, stay close to their rows: m of them spread over at most √m hops, α/(1 − α)
    on average. Beyond 0.9 links would lose their place in most graphs.
    """
    share, hops = 2 * links / n**2, np.sqrt(links)
    return float(np.clip(min(1 - 2 * np.sqrt(share), hops / (1 + hops)), 0.5, 0.9))


def propagators(affinity: Any, tied: Ints, alpha: float) -> Any:
    """(n, t) columns of G for the tied rows: an array for a dense affinity and for few rows, else sparse."""
    if isinstance(affinity, np.ndarray):
        return _exact(affinity, tied, alpha)
    if affinity.shape[0] <= EXACT:
        return _exact(affinity.toarray(), tied, alpha)
    step = csr_array(alpha * normalized(affinity, degrees(affinity)))
    lines = [_waves(step, tied[start : start + 256]) for start in range(0, len(tied), 256)]
    return csr_array(vstack(lines).T)


def _exact(W: Floats, tied: Ints, alpha: float) -> Floats:
    """From a Cholesky factor of I − αN."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(W)
    system = normalized(W.T, degrees(W))  # in the order of LAPACK, which then needs no copy
    del W
    system *= -alpha
    system[np.diag_indices(n)] += 1
    factor = cho_factor(system, overwrite_a=True)
    columns = np.zeros((n, len(tied)), order="F")  # as LAPACK has them
    columns[tied, np.arange(len(tied))] = 1
    return np.asarray(cho_solve(factor, columns, overwrite_b=True))


def _waves(step: csr_array, tied: Ints) -> csr_array:
    """Rows of G = Σ_h (αN)^h for some tied rows, summed hop by hop until all new entries are small."""
    wave = csr_array((np.ones(len(tied)), tied, np.arange(len(tied) + 1)), shape=(len(tied), step.shape[0]))
    total = wave
    while wave.nnz:
        wave = csr_array(wave @ step)
        wave.data[wave.data < DROP] = 0
        wave.eliminate_zeros()
        total = csr_array(total + wave)
    return total


def spread_links(affinity: Any, links: csr_array, alpha: float) -> Any:
    """The affinity as changed by links: 1 − (1 − F)(1 − W) where F ≥ 0, (1 + F)W where F < 0.

    F is divided by its largest absolute value first. The result is dense for a dense affinity and for few rows.
    """
    tied = np.flatnonzero(np.diff(links.indptr))
    if not len(tied):
        return affinity
    Z = csr_array(links[tied][:, tied])
    G = propagators(affinity, tied, alpha)
    if isinstance(G, np.ndarray):
        F = (G @ Z) @ G.T
        F /= np.abs(F).max()
        return _adjust_all(affinity, lambda part: F[part])
    W = csr_array(affinity)
    along = _along(W, G, Z)
    most = max(float(np.abs(along).max(initial=0.0)), float(np.abs(Z.data).max()))
    across, farthest = _across(W, G, Z, np.asarray, KEEP * most)
    most = max(float(np.abs(along).max(initial=0.0)), farthest)
    across.data[across.data < KEEP * most] = 0
    across.eliminate_zeros()
    return _adjust_edges(W, along / most, across / most)


def spread_votes(affinity: Any, G: Any, must: csr_array, cannot: csr_array) -> Any:
    """The affinity as changed by votes: the same with F = (M − C)/(M + C + ½), M and C what the links of a kind spread.

    F depends on how far the links that reach a pair agree, and hardly on their number: with F divided by its largest
    value, pairs with few links near them count less, the more links there are elsewhere. ``must`` and ``cannot`` are
    for the tied rows, whose columns of G are given.
    """
    if isinstance(G, np.ndarray):
        return _adjust_all(affinity, lambda part: _vote_all(G, must, cannot, part))
    W = csr_array(affinity)
    # As the two parts of a complex number, M − C and M + C are computed at once.
    Z = csr_array((must - cannot) + 1j * (must + cannot))
    along = _along(W, G, Z)
    across, _ = _across(W, G, Z, lambda F: _vote(F.real, F.imag), KEEP)
    return _adjust_edges(W, _vote(along.real, along.imag), across)


def _vote(signed: Floats, total: Floats) -> Floats:
    return signed / (total + DOUBT)


def _adjust(weight: Floats, F: Floats) -> Floats:
    return np.where(F >= 0, 1 - (1 - F) * (1 - weight), (1 + F) * weight)


def _vote_all(G: Floats, must: csr_array, cannot: csr_array, part: slice) -> Floats:
    """Votes on all pairs of some rows."""
    M, C = ((G[part] @ links) @ G.T for links in (must, cannot))
    return _vote(M - C, M + C)


def _adjust_all(affinity: Any, vote: Callable[[slice], Floats]) -> Floats:
    """The affinity of all pairs, as changed by F of some rows at a time."""
    adjusted = affinity.copy() if isinstance(affinity, np.ndarray) else affinity.toarray()
    size = PAIRS // max(len(adjusted), 1) + 1
    for start in range(0, len(adjusted), size):
        part = slice(start, start + size)
        adjusted[part] = _adjust(adjusted[part], vote(part))
    np.fill_diagonal(adjusted, 0)
    return adjusted


def _adjust_edges(W: csr_array, along: Floats, across: csr_array) -> csr_array:
    edges = csr_array((_adjust(W.data, along), W.indices, W.indptr), shape=W.shape)
    whole = csr_array(edges + across)
    whole.sort_indices()
    return whole


def _along(W: csr_array, G: csr_array, Z: csr_array) -> Any:
    """F at the edges of the graph, in their order; complex if Z is."""
    out = np.empty(W.nnz, dtype=Z.dtype)
    n, t = G.shape
    size = max(ROOM // t, 1)
    for start in range(0, n, size):
        stop = min(start + size, n)
        edges = slice(W.indptr[start], W.indptr[stop])
        here = np.repeat(np.arange(stop - start), np.diff(W.indptr[start : stop + 1]))
        left = (G[start:stop] @ Z).toarray()
        right = G[W.indices[edges]]
        edge = np.repeat(np.arange(len(here)), np.diff(right.indptr))
        product = left[here[edge], right.indices] * right.data
        out[edges] = np.bincount(edge, weights=product.real, minlength=len(here))
        if np.iscomplexobj(out):
            out.imag[edges] = np.bincount(edge, weights=product.imag, minlength=len(here))
    return out


def _across(
    W: csr_array, G: csr_array, Z: csr_array, vote: Callable[[Any], Floats], least: float
) -> tuple[csr_array, float]:
    """The vote of F at pairs without an edge where it is at least ``least``, and the largest absolute vote of all.

    Negative votes are left out, because they cannot lower an affinity of 0.
    """
    short, cut = G, DROP
    while _products(short, Z) > WORK and cut < 1:
        cut *= 2
        short = short.copy()
        short.data[short.data < cut] = 0
        short.eliminate_zeros()
    back = csr_array(short.T)
    n = W.shape[0]
    size = int(np.clip(BLOCK * n / (1 + _products(short, Z)), 16, 4096))
    most = 0.0
    counts, columns, values = [], [], []
    for start in range(0, n, size):
        stop = min(start + size, n)
        F = coo_array((short[start:stop] @ Z) @ back)
        votes = vote(F.data)
        most = max(most, float(np.abs(votes).max(initial=0.0)))
        kept = votes >= least
        first, second = F.row[kept], F.col[kept]
        edges = slice(W.indptr[start], W.indptr[stop])
        known = np.repeat(np.arange(stop - start), np.diff(W.indptr[start : stop + 1]))
        new = (first + start != second) & ~np.isin(n * first.astype(np.int64) + second, n * known + W.indices[edges])
        counts.append(np.bincount(first[new], minlength=stop - start))
        columns.append(second[new])
        values.append(votes[kept][new])
    indptr = np.append(0, np.cumsum(np.concatenate(counts)))
    return csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=W.shape), most


def _products(G: csr_array, Z: csr_array) -> float:
    """Number of products to compute F for all pairs."""
    length = np.bincount(G.indices, minlength=G.shape[1]).astype(np.float64)
    return float(length @ ((Z != 0) @ length))
