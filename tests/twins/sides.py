"""Plain NumPy twins of ``kernels.sides``: same names, same signatures, obvious code."""

from __future__ import annotations

from cluewise._typing import Floats, Ints

__all__ = ["add_prices"]


def add_prices(scores: Floats, rows: Ints, start: int, codes: Ints, prices: Floats) -> None:
    """Every labeled row pays for its label."""
    scores[:, rows - start] += prices[:, codes]
