"""Plain twins of the loops over partitions."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints

__all__ = ["add_four_prices", "cheapest", "count_codes"]


def add_four_prices(
    scores: Floats, first: Array, second: Array, third: Array, fourth: Array, prices: Floats, starts: Ints, sizes: Ints
) -> None:
    """Add to row r of ``scores`` (rows, k) the lines of ``prices`` that belong to its codes in four partitions."""
    lines = [
        prices[start + np.minimum(codes.astype(np.int64), size)]
        for codes, start, size in zip((first, second, third, fourth), starts, sizes)
    ]
    scores += (lines[0] + lines[1]) + (lines[2] + lines[3])


def cheapest(scores: Floats, labels: Ints, paid: Floats) -> None:
    """The lowest score of each row and its column, the first one on ties."""
    labels[:] = scores.argmin(axis=1)
    paid[:] = scores.min(axis=1)


def count_codes(labels: Ints, codes: Array, counts: Floats) -> None:
    """Add to ``counts[h, c]`` the rows with label h and code c; codes beyond the table do not count."""
    known = codes.astype(np.int64) < counts.shape[1]
    np.add.at(counts, (labels[known], codes[known]), 1)
