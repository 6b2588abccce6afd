"""Scored pairs as links: weights by log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluewise._typing import ArrayLike
from cluewise.clues.links import read_pairs
from cluewise.exceptions import ClueError

__all__ = ["links_of"]


def links_of(n: int, pairs: ArrayLike, probability: ArrayLike, bound: float) -> dict[str, Any]:
    """Arguments of `Clues` for pairs with a probability each."""
    if not (isinstance(bound, (int, float)) and 0 < bound < 0.5):
        raise ClueError(f"bound is {bound!r}; it must be above 0 and below 0.5.")
    rows = read_pairs("scored", n, pairs)
    alone = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if len(alone):
        raise ClueError(f"scored-link {alone[0]} links row {rows[alone[0], 0]} to itself.")
    try:
        chance = np.asarray(probability, dtype=np.float64)
    except (TypeError, ValueError):
        raise ClueError(f"probability needs one number per pair ({len(rows)}).") from None
    if chance.shape != (len(rows),):
        raise ClueError(f"probability needs one number per pair ({len(rows)}); it has shape {chance.shape}.")
    bad = np.flatnonzero(~((chance >= 0) & (chance <= 1)))
    if len(bad):
        raise ClueError(f"scored-link {bad[0]} has probability {chance[bad[0]]}; a probability is from 0 to 1.")
    chance = np.clip(chance, bound, 1 - bound)
    weight = np.log(chance / (1 - chance))
    together, apart = weight > 0, weight < 0
    return {
        "must": rows[together],
        "cannot": rows[apart],
        "must_weight": weight[together],
        "cannot_weight": -weight[apart],
    }
