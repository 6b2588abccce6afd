"""Weights as whole votes, and by how much these can be wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.ensemble._aligned import Aligned

__all__ = ["LARGEST", "Ballot", "rounding"]

LARGEST = 65535
"""Whole votes that 16 bits can hold; more partitions than that cannot vote by them."""


def rounding(m: int) -> float:
    """More than the rounding of a sum of m weights that add up to one."""
    return 1e-12 + 1e-15 * m


class Ballot(NamedTuple):
    """The weights as the kernels want them: exact ones, and whole votes that differ from them by a known slack."""

    active: Ints  # partitions with a weight
    spelled: Array  # (s, r) what they call each cluster
    clusters: Array  # (s, w) the cluster that each of their labels means
    weights: Floats  # (s,)
    shares: Array  # (s,) uint16
    unit: float  # weight of one vote
    slack: float  # how far a difference of whole votes can be from the exact one

    @classmethod
    def of(cls, ensemble: Aligned, gamma: Floats) -> Ballot:
        """Only partitions with a weight vote."""
        active = np.flatnonzero(gamma > 0)
        weights = gamma[active]
        # The largest weight becomes a whole number of votes, so that equal weights are exact; a few sizes are tried.
        most = np.floor((LARGEST - len(active)) / weights.sum() * weights.max())
        scales = np.maximum(most - np.arange(16), 1) / weights.max()
        shares = np.rint(np.outer(scales, weights))
        misses = np.abs(shares / scales[:, None] - weights).sum(axis=1)
        best = int(misses.argmin())
        return cls(
            active,
            ensemble.spelled[active],
            ensemble.clusters[active],
            weights,
            shares[best].astype(np.uint16),
            1 / scales[best],
            misses[best] + rounding(len(active)),
        )

    def among(self, kept: Ints) -> Ballot:
        """The same for a matrix that holds these partitions alone; the active ones are among them."""
        return self._replace(active=np.searchsorted(kept, self.active))
