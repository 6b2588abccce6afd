"""Compiled loops over partial labelings."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["add_prices"]


@kernel
def add_prices(scores: Floats, rows: Ints, start: int, codes: Ints, prices: Floats) -> None:
    """Add ``prices[h, codes[r]]`` to the score in cluster h of row ``rows[r]``; the block begins at row ``start``."""
    for h in range(scores.shape[0]):
        own, price = scores[h], prices[h]
        for r in range(rows.shape[0]):
            # Unsigned: a signed index would be checked each time for counting from the end.
            own[np.uint64(rows[r] - start)] += price[np.uint64(codes[r])]
