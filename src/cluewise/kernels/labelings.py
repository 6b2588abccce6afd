"""Compiled loops over partitions of the same rows: what labels cost in each cluster, and who holds which."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["add_four_prices", "cheapest", "count_codes"]


@kernel
def add_four_prices(
    scores: Floats, first: Array, second: Array, third: Array, fourth: Array, prices: Floats, starts: Ints, sizes: Ints
) -> None:
    """Add to row r of ``scores`` (rows, k) the lines of ``prices`` that belong to its codes in four partitions.

    The lines of partition t begin at ``starts[t]``; line ``sizes[t]`` of them is for rows without a label, whose codes
    are ``sizes[t]`` or more. Four at a time, so that the scores are read and written only once.
    """
    k = scores.shape[1]
    a, b, c, d = starts[0], starts[1], starts[2], starts[3]
    for r in range(scores.shape[0]):
        at_a = np.uint64(a + min(np.int64(first[r]), sizes[0]))
        at_b = np.uint64(b + min(np.int64(second[r]), sizes[1]))
        at_c = np.uint64(c + min(np.int64(third[r]), sizes[2]))
        at_d = np.uint64(d + min(np.int64(fourth[r]), sizes[3]))
        own = scores[r]
        for h in range(k):
            own[h] += (prices[at_a, h] + prices[at_b, h]) + (prices[at_c, h] + prices[at_d, h])


@kernel
def cheapest(scores: Floats, labels: Ints, paid: Floats) -> None:
    """The lowest score of each row and its column, the first one on ties."""
    for r in range(scores.shape[0]):
        best = 0
        for h in range(1, scores.shape[1]):
            if scores[r, h] < scores[r, best]:
                best = h
        labels[r] = best
        paid[r] = scores[r, best]


@kernel
def count_codes(labels: Ints, codes: Array, counts: Floats) -> None:
    """Add to ``counts[h, c]`` the rows with label h and code c; codes beyond the table do not count."""
    size = counts.shape[1]
    for r in range(labels.shape[0]):
        if codes[r] < size:
            counts[labels[r], codes[r]] += 1
