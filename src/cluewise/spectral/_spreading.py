"""Spreading: links propagate along the graph and change the affinity of the pairs that they reach.

The propagated links are F = G Z G with Z the links, G = (I − αN)⁻¹ and N the normalized affinity, so a link also counts
for rows near its ends. Only the columns of G that belong to tied rows are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from cluewise._typing import Floats, Ints
from cluewise.core.graphs.laplacian import degrees, normalized

__all__ = ["scale_to_one", "spread_links"]

EXACT = 1500
"""Maximum number of rows of a sparse affinity for which F is computed for all pairs."""

DROP = 1e-3
"""With more rows, entries of G below this are dropped; on a tied row G starts at 1."""

KEEP = 1e-2
"""Pairs that are not neighbors get an affinity if F is at least this share of its largest value."""

WORK = 4 * 10**8
"""Maximum number of products for such pairs; if there would be more, smaller entries of G are dropped."""

ROOM = 2**20
"""Entries in a block of F at edges."""

BLOCK = 10**6
"""Products in a block of F at other pairs."""


def scale_to_one(affinity: Any) -> Any:
    """The affinity divided by its largest entry, so that the effect of links does not depend on its unit."""
    most = affinity.max() if 0 not in affinity.shape else 0.0
    return affinity / most if most > 0 else affinity


def spread_links(affinity: Any, links: csr_array, alpha: float) -> Any:
    """The affinity as changed by links: 1 − (1 − F)(1 − W) where F ≥ 0, (1 + F)W where F < 0.

    F is divided by its largest absolute value first. The result is dense for a dense affinity and for few rows.
    """
    tied = np.flatnonzero(np.diff(links.indptr))
    if not len(tied):
        return affinity
    Z = csr_array(links[tied][:, tied])
    if isinstance(affinity, np.ndarray) or affinity.shape[0] <= EXACT:
        W = affinity if isinstance(affinity, np.ndarray) else affinity.toarray()
        F = _propagate(W, tied, Z, alpha)
        F /= np.abs(F).max()
        adjusted = _adjust(W, F)
        np.fill_diagonal(adjusted, 0)
        return adjusted
    return _spread_sparse(csr_array(affinity), tied, Z, alpha)


def _adjust(weight: Floats, F: Floats) -> Floats:
    return np.where(F >= 0, 1 - (1 - F) * (1 - weight), (1 + F) * weight)


def _propagate(W: Floats, tied: Ints, Z: csr_array, alpha: float) -> Floats:
    """F for all pairs, from a Cholesky factor of I − αN."""
    from scipy.linalg import cho_factor, cho_solve

    n = len(W)
    system = normalized(W, degrees(W))
    system *= -alpha
    system[np.diag_indices(n)] += 1
    columns = np.zeros((n, len(tied)))
    columns[tied, np.arange(len(tied))] = 1
    columns = cho_solve(cho_factor(system, overwrite_a=True), columns, overwrite_b=True)
    return (columns @ Z) @ columns.T


def _spread_sparse(W: csr_array, tied: Ints, Z: csr_array, alpha: float) -> csr_array:
    """The same with a truncated G, at edges and at other pairs where F is large."""
    step = csr_array(alpha * normalized(W, degrees(W)))
    lines = [_waves(step, tied[start : start + 256]) for start in range(0, len(tied), 256)]
    waves = csr_array(vstack(lines).T)
    along = _along(W, waves, Z)
    across, most = _across(W, waves, Z, float(np.abs(along).max(initial=0.0)))
    edges = csr_array((_adjust(W.data, along / most), W.indices, W.indptr), shape=W.shape)
    whole = csr_array(edges + across / most)
    whole.sort_indices()
    return whole


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


def _along(W: csr_array, waves: csr_array, Z: csr_array) -> Floats:
    """F at the edges of the graph, in their order."""
    out = np.empty(W.nnz)
    n, t = waves.shape
    size = max(ROOM // t, 1)
    for start in range(0, n, size):
        stop = min(start + size, n)
        edges = slice(W.indptr[start], W.indptr[stop])
        here = np.repeat(np.arange(stop - start), np.diff(W.indptr[start : stop + 1]))
        left = (waves[start:stop] @ Z).toarray()
        right = waves[W.indices[edges]]
        edge = np.repeat(np.arange(len(here)), np.diff(right.indptr))
        out[edges] = np.bincount(edge, weights=left[here[edge], right.indices] * right.data, minlength=len(here))
    return out


def _across(W: csr_array, waves: csr_array, Z: csr_array, most: float) -> tuple[csr_array, float]:
    """F at pairs without an edge where it is large, and its largest absolute value.

    Negative entries are left out, because they cannot lower an affinity of 0. ``most`` is the largest value at edges.
    """
    short, cut = waves, DROP
    while _products(short, Z) > WORK and cut < 1:
        cut *= 2
        short = short.copy()
        short.data[short.data < cut] = 0
        short.eliminate_zeros()
    back = csr_array(short.T)
    n = W.shape[0]
    size = int(np.clip(BLOCK * n / (1 + _products(short, Z)), 16, 4096))
    least = KEEP * max(most, float(np.abs(Z.data).max()))
    counts, columns, values = [], [], []
    for start in range(0, n, size):
        stop = min(start + size, n)
        F = coo_array((short[start:stop] @ Z) @ back)
        most = max(most, float(np.abs(F.data).max(initial=0.0)))
        kept = F.data >= least
        first, second = F.row[kept], F.col[kept]
        edges = slice(W.indptr[start], W.indptr[stop])
        known = np.repeat(np.arange(stop - start), np.diff(W.indptr[start : stop + 1]))
        new = (first + start != second) & ~np.isin(n * first.astype(np.int64) + second, n * known + W.indices[edges])
        counts.append(np.bincount(first[new], minlength=stop - start))
        columns.append(second[new])
        values.append(F.data[kept][new])
    indptr = np.append(0, np.cumsum(np.concatenate(counts)))
    across = csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=W.shape)
    across.data[across.data < KEEP * most] = 0
    across.eliminate_zeros()
    return across, most


def _products(waves: csr_array, Z: csr_array) -> float:
    """Number of products to compute F for all pairs."""
    length = np.bincount(waves.indices, minlength=waves.shape[1]).astype(np.float64)
    return float(length @ ((Z != 0) @ length))
