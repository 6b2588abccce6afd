"""Clusterings to avoid: which of them say anything, and how far a result is from them."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.alternative._warning import warn
from cluewise.clues import Clues
from cluewise.exceptions import ClueWarning
from cluewise.metrics import variation_of_information

__all__ = ["covering", "difference", "variation", "warn_of_gaps"]


def covering(clues: Clues) -> list[Array]:
    """The clusterings to avoid that cover any row."""
    return [codes for codes in clues.avoid if (codes >= 0).any()]


def warn_of_gaps(clues: Clues) -> None:
    """Say which clusterings to avoid cover no row, and whether the others never meet."""
    empty = [str(number) for number, codes in enumerate(clues.avoid) if not (codes >= 0).any()]
    if empty:
        warn(f"avoid[{', '.join(empty)}] covers no row, so that nothing is avoided by it.", ClueWarning)
    held = [codes >= 0 for codes in covering(clues)]
    if len(held) > 1 and not np.logical_and.reduce(held).any():
        warn(
            f"no row is in all {len(held)} clusterings to avoid, so that each is avoided only among the rows that it "
            "covers, and may come back among the others.",
            ClueWarning,
        )


def variation(labels: Ints, clues: Clues) -> Floats:
    """Variation of information, in nats, between labels and each clustering to avoid, over the rows that it covers."""
    return np.array([_apart(codes[codes >= 0], labels[codes >= 0]) for codes in clues.avoid], dtype=np.float64)


def difference(labels: Ints, clues: Clues) -> float:
    """The least of these variations, as a share of the largest possible, H(C) + H(Z); 1 where nothing is avoided."""
    shares = [1.0]
    for codes, apart in zip(clues.avoid, variation(labels, clues)):
        rows = codes >= 0
        one = np.zeros(int(rows.sum()), dtype=np.int32)  # one cluster: the distance from it is the entropy
        most = _apart(one, labels[rows]) + _apart(one, codes[rows])
        shares.append(float(apart) / most if most > 0 else 1.0)
    return min(shares)


def _apart(codes: Ints, labels: Ints) -> float:
    return variation_of_information(codes, labels) if len(codes) else 0.0
