"""Plain twins of `variational`."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["pair_products", "update_rows"]


def pair_products(first: Ints, second: Ints, membership: Floats, out: Floats) -> None:
    """Set ``out[e]`` to the product of the memberships of the rows ``first[e]`` and ``second[e]``."""
    out[:] = (membership[first] * membership[second]).sum(axis=1)


def update_rows(
    rows: Ints, scores: Floats, indptr: Ints, neighbor: Ints, report: Ints, pull: Floats, membership: Floats
) -> None:
    """Set ``membership[i]`` ∝ exp(scores[i] + Σ pull[e] · membership[j]) for each row i in turn; e links j to i."""
    for i in rows:
        mine = slice(indptr[i], indptr[i + 1])
        logs = scores[i] + pull[report[mine]] @ membership[neighbor[mine]]
        new = np.exp(logs - logs.max())
        membership[i] = new / new.sum()
