"""Slots: what the clusters of a Gibbs sampler have in common, whatever their base.

Clusters live in slots, of which some are free (see `kernels.gibbs`). Both kinds of clusters offer the same: ``gather``
and ``visit`` (parameters integrated out), ``draw``, ``open`` and ``likelihood`` (given the parameters), ``split``,
``merging`` and ``log_evidence``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["SLICE", "PairOdds", "grown", "room"]

SLICE = 5 * 10**7
"""Operations per call of a kernel, so that Ctrl-C is heard."""


class PairOdds(NamedTuple):
    """The evidence as the kernels take it: CSR over the rows, with log-odds."""

    indptr: Ints  # of the clues of each row, with the other row and the number of the clue
    neighbor: Ints
    report: Ints
    pull: Floats  # (m,) what each clue adds to the log-odds that its ends are together
    together: Floats  # (m,) summed probabilities that they are, written by the kernel

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        """Everything, in the order of the kernels."""
        return self[:]


def room(k: int) -> int:
    """Slots for k clusters and some more."""
    return k + max(4, k // 2)


def grown(array: Any, slots: int) -> Any:
    """The same array with empty slots at the end."""
    return np.concatenate([array, np.zeros((slots - len(array), *array.shape[1:]), array.dtype)])
