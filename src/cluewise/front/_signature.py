"""The signature of rows: a few numbers by which a loaded model recognizes the rows that it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.chunks import Chunks

__all__ = ["Signature", "sign", "sign_chunks"]

NEAR = 1e-5
"""Differences that count as rounding, relative to the length of a column."""

BLOCK = 2**16
"""Rows that are summed at once."""


class Signature(NamedTuple):
    """Sums over rows, each times a number that depends on its position."""

    rows: Floats  # (d,) of the projected rows
    length: Floats  # (d,) of each column
    weight: float | None  # of the weights of the rows, if there are any

    def find_changes(self, other: Signature, *, projected: bool) -> Ints:
        """Columns in which the rows of another signature differ."""
        length = np.maximum(self.length, other.length)
        if projected:  # the last principal components may be nothing but rounding
            length = np.full_like(length, length.max())
        return np.flatnonzero(~(np.abs(self.rows - other.rows) <= NEAR * length))

    def has_weight_of(self, other: Signature) -> bool:
        """Whether the rows of another signature have the same weights."""
        if self.weight is None or other.weight is None:
            return self.weight is other.weight
        return bool(np.isclose(self.weight, other.weight, rtol=NEAR))


def sign(rows: Floats, weight: Floats | None) -> Signature:
    """The signature of rows in their order."""
    n = len(rows)
    total, squares = _sum(rows, n, 0)
    return Signature(total, np.sqrt(squares), None if weight is None else float(_find_factors(n, 0, n) @ weight))


def sign_chunks(chunks: Chunks) -> Signature:
    """The same for rows in chunks."""
    each = [(chunks.n, start) for start in chunks.starts[:-1].tolist()]
    total, squares = chunks.reduce(_sum, _add, each=each)
    weight = None if chunks.weight is None else float(sign_chunks(chunks.weight).rows[0])
    return Signature(total, np.sqrt(squares), weight)


def _sum(rows: Floats, n: int, start: int, **weight: Floats) -> tuple[Floats, Floats]:
    """What some of n rows add: sums by position, and squares."""
    total, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    factors = _find_factors(n, start, start + len(rows))
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK].astype(np.float64)
        total += factors[first : first + BLOCK] @ some
        squares += (some**2).sum(axis=0)
    return total, squares


def _add(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    total, squares = (sum(column) for column in zip(*parts))
    return total, squares


def _find_factors(n: int, start: int, stop: int) -> Floats:
    """Numbers by the positions of rows, drawn for all n: a row that is moved or changed is noticed."""
    size = np.random.Generator(np.random.PCG64(n).advance(start)).uniform(1.0, 2.0, stop - start)
    # The signs follow the sizes; a number of the generator has two.
    signs = np.random.Generator(np.random.PCG64(n).advance(n + start // 2)).choice([-1.0, 1.0], stop - start // 2 * 2)
    return size * signs[start % 2 :]
