"""Compiled loops of variational inference: rows whose memberships depend on each other, and products over pairs."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["pair_products", "update_rows"]


@kernel
def pair_products(first: Ints, second: Ints, membership: Floats, out: Floats) -> None:
    """Set ``out[e]`` to the product of the memberships of the rows ``first[e]`` and ``second[e]``."""
    for e in range(first.shape[0]):
        i, j = first[e], second[e]
        total = 0.0
        for t in range(membership.shape[1]):
            total += membership[i, t] * membership[j, t]
        out[e] = total


@kernel
def update_rows(
    rows: Ints, scores: Floats, indptr: Ints, neighbor: Ints, report: Ints, pull: Floats, membership: Floats
) -> None:
    """Set ``membership[i]`` ∝ exp(scores[i] + Σ pull[e] · membership[j]) for each row i in turn; e links j to i."""
    k = membership.shape[1]
    logs = np.empty(k)
    for i in rows:
        logs[:] = scores[i]
        for at in range(indptr[i], indptr[i + 1]):
            j, gain = neighbor[at], pull[report[at]]
            for t in range(k):
                logs[t] += gain * membership[j, t]
        # The rows after this one see its new memberships. If all were updated from the old ones, the bound could
        # fall: linked rows may swap clusters in every round.
        top = logs.max()
        total = 0.0
        for t in range(k):
            logs[t] = np.exp(logs[t] - top)
            total += logs[t]
        for t in range(k):
            membership[i, t] = logs[t] / total
