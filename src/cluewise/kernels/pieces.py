"""Compiled descent for the assignment of pieces to clusters."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["assign_pieces"]


@kernel
def assign_pieces(pairs: Floats, votes: Floats, order: Ints, sweeps: int, labels: Ints) -> float:
    """Move pieces, one at a time, to the cluster where they gain most, and return what the last assignment gains.

    ``pairs[a, b]`` is gained if pieces a and b have the same cluster (the diagonal does not count), ``votes[a, c]`` if
    piece a has cluster c. ``labels`` is where the descent begins and ends.
    """
    q = len(votes)
    gain = votes.copy()
    for a in range(q):
        for b in range(q):
            if a != b:
                gain[a, labels[b]] += pairs[a, b]
    for _ in range(sweeps):
        moved = False
        for a in order:
            old, new = labels[a], np.argmax(gain[a])
            # A gain within rounding would move a piece back and forth.
            if gain[a, new] > gain[a, old] + 1e-9:
                for b in range(q):
                    if b != a:
                        gain[b, old] -= pairs[b, a]
                        gain[b, new] += pairs[b, a]
                labels[a] = new
                moved = True
        if not moved:
            break
    total = 0.0
    for a in range(q):
        total += votes[a, labels[a]]
        for b in range(a):
            if labels[a] == labels[b]:
                total += pairs[a, b]
    return total
