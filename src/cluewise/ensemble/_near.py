"""Copies of the labels of rows near a tie, which a change of the weights turns first.

In the matrix of labels such rows are scattered, and reading a tenth of them takes as long as counting four tenths of
all rows. While a block of rows is counted its labels are in the cache, so copying those near a tie costs little.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.kernels import consensus

__all__ = ["SHARES", "NearRows"]

SHARES = (0.04, 0.14)
"""Share of the rows in the first shell, those with the smallest leads, and in both shells."""

ROOM = 1.25
"""A block has room for this many times its share; further rows are not copied."""


class NearRows:
    """The rows with the smallest leads, in shells of growing leads: a small change reads only the first one."""

    def __init__(self, labels: Array, active: Ints, bounds: Floats, block: int) -> None:
        n = labels.shape[1]
        self.active = active  # (s,) the partitions whose labels are kept, ascending
        self.kept: Bools = np.zeros(n, dtype=bool)
        self._matrix, self._bounds, self._block = labels, bounds, block
        n_blocks = -(-n // block)
        self._slots = [int(ROOM * share * min(block, n)) + 1 for share in np.diff(SHARES, prepend=0)]
        # One array per shell instead of one per block, since large arrays get large pages of memory.
        self._labels = [np.empty((len(active), slot * n_blocks), dtype=labels.dtype) for slot in self._slots]
        self._rows: list[list[Ints]] = [[] for _ in range(n_blocks)]

    def keep(self, number: int, lead: Floats) -> None:
        """Copy the labels of the rows of a block that have small leads."""
        start = number * self._block
        small = np.flatnonzero(lead < self._bounds[-1])
        which = np.searchsorted(self._bounds, lead[small], side="right")
        for shell, slot in enumerate(self._slots):
            rows = start + small[which == shell][:slot]
            consensus.pick(self._matrix, self.active, rows, self._labels[shell], number * slot)
            self._rows[number].append(rows)
            self.kept[rows] = True

    def holds(self, active: Ints) -> bool:
        """Whether the labels of these partitions are here."""
        return bool(np.isin(active, self.active, assume_unique=True).all())

    def shells(self, number: int) -> list[tuple[Array, int, Ints]]:
        """Of every shell in a block: labels, the first column that belongs to it, and its rows."""
        return [
            (labels, number * slot, rows)
            for labels, slot, rows in zip(self._labels, self._slots, self._rows[number], strict=True)
        ]


Near = NearRows
"""The name of the class in older pickles."""
