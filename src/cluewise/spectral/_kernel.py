"""Spectral kernels: eigenvectors of a graph, weighted so that their inner products are what links ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues

__all__ = ["Weighted", "has_cannot_links", "spectral_weights"]

SLICE = 10_000
"""Rows and links that are looked at together."""


class Weighted(NamedTuple):
    """Weights of the eigenvectors."""

    weights: Floats  # (m,) falling, at least 0
    loss: float  # the objective that they minimize


def has_cannot_links(clues: Clues) -> bool:
    """Whether a cannot-link counts. A label alone makes none, and must-links alone are kept by a kernel of ones."""
    return bool(clues.pairs(expand=True).cannot_weight.any())


def spectral_weights(vectors: Floats, clues: Clues, trust: float) -> Weighted:
    """The falling weights β ≥ 0 for which F diag(β) Fᵀ has 1 on the diagonal and 1 or 0 at links, best by squares.

    With β_l = c_l + c_(l+1) + …, c ≥ 0, each entry is linear in c: least squares with non-negative unknowns. Its table
    has a line per row and per link; only the triangular factor of it is kept, which has the same least squares.
    """
    m = vectors.shape[1]
    factor = np.empty((0, m + 1))
    for first, second, wanted, weight in _asked(len(vectors), clues, trust):
        lines = np.empty((len(first), m + 1))
        np.cumsum(vectors[first] * vectors[second], axis=1, out=lines[:, :m])
        lines[:, m] = wanted
        lines *= np.sqrt(weight)[:, None]
        factor = np.asarray(np.linalg.qr(np.vstack([factor, lines]), mode="r"))
    # Entries of eigenvectors fall with the number of rows; the solver wants numbers near 1.
    scale = float(np.abs(factor[:, :m]).max())
    steps, root = nnls(factor[:, :m] / scale, factor[:, m], maxiter=max(100, 30 * m))
    return Weighted(np.cumsum(steps[::-1])[::-1] / scale, float(root) ** 2)


def _asked(n: int, clues: Clues, trust: float) -> Iterator[tuple[Ints, Ints, float, Floats]]:
    """Entries of the kernel in slices: their two rows, the value that is wanted, and weights."""
    for start in range(0, n, SLICE):
        here = np.arange(start, min(start + SLICE, n))
        yield here, here, 1.0, np.ones(len(here))
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    for pairs, weights, wanted in ((must, must_weight, 1.0), (cannot, cannot_weight, 0.0)):
        for start in range(0, len(pairs), SLICE):
            some = pairs[start : start + SLICE]
            yield some[:, 0], some[:, 1], wanted, trust * weights[start : start + SLICE]
