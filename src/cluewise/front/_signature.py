"""The signature of rows: a few numbers by which a loaded model recognizes the rows that it was fitted to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["Signature", "sign"]

NEAR = 1e-5
"""Differences that count as rounding, relative to the length of a column."""

BLOCK = 2**16
"""Rows that are summed at once."""


class Signature(NamedTuple):
    """Sums over rows, each times a number that depends on its position."""

    rows: Floats  # (d,) of the projected rows
    length: Floats  # (d,) of each column
    weight: float | None  # of the weights of the rows, if there are any

    def find_changes(self, other: Signature) -> Ints:
        """Columns in which the rows of another signature differ."""
        return np.flatnonzero(~(np.abs(self.rows - other.rows) <= NEAR * np.maximum(self.length, other.length)))

    def has_weight_of(self, other: Signature) -> bool:
        """Whether the rows of another signature have the same weights."""
        if self.weight is None or other.weight is None:
            return self.weight is other.weight
        return bool(np.isclose(self.weight, other.weight, rtol=NEAR))


def sign(rows: Floats, weight: Floats | None) -> Signature:
    """The signature of rows in their order."""
    n, d = rows.shape
    rng = np.random.default_rng(n)
    by_position = rng.uniform(1.0, 2.0, n) * rng.choice([-1.0, 1.0], n)  # a row that is moved or changed is noticed
    total, squares = np.zeros(d), np.zeros(d)
    for start in range(0, n, BLOCK):
        some = rows[start : start + BLOCK].astype(np.float64)
        total += by_position[start : start + BLOCK] @ some
        squares += (some**2).sum(axis=0)
    return Signature(total, np.sqrt(squares), None if weight is None else float(by_position @ weight))
