"""Clusterings to avoid: which of them cover rows, warnings about them, and how far a result is from them."""

from __future__ import annotations

import sys
import warnings

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueWarning
from cluewise.metrics import variation_of_information

__all__ = ["covering", "difference", "variation", "warn", "warn_of_gaps"]

INSIDE = ("cluewise.", "sklearn.")


def covering(clues: Clues) -> list[Array]:
    """The clusterings to avoid that cover any row."""
    return [codes for codes in clues.avoid if (codes >= 0).any()]


def warn_of_gaps(clues: Clues) -> None:
    """Warn of clusterings to avoid that cover no row, and of clusterings that have no row in common."""
    empty = [str(number) for number, codes in enumerate(clues.avoid) if not (codes >= 0).any()]
    if empty:
        warn(f"avoid[{', '.join(empty)}] covers no row, so it has no effect.", ClueWarning)
    held = [codes >= 0 for codes in covering(clues)]
    if len(held) > 1 and not np.logical_and.reduce(held).any():
        warn(
            f"no row is in all {len(held)} clusterings to avoid, so each is avoided only among the rows that it covers "
            "and may reappear among the others.",
            ClueWarning,
        )


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called ``fit``, the first one outside of this package and of scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def variation(labels: Ints, clues: Clues) -> Floats:
    """Variation of information, in nats, between labels and each clustering to avoid, over the rows that it covers."""
    return np.array([_apart(codes[codes >= 0], labels[codes >= 0]) for codes in clues.avoid], dtype=np.float64)


def difference(labels: Ints, clues: Clues) -> float:
    """The smallest of these variations, as a share of the maximum H(C) + H(Z); 1 if nothing is avoided."""
    shares = [1.0]
    for codes, apart in zip(clues.avoid, variation(labels, clues)):
        rows = codes >= 0
        one = np.zeros(int(rows.sum()), dtype=np.int32)  # the distance from a single cluster is the entropy
        most = _apart(one, labels[rows]) + _apart(one, codes[rows])
        shares.append(float(apart) / most if most > 0 else 1.0)
    return min(shares)


def _apart(codes: Ints, labels: Ints) -> float:
    return variation_of_information(codes, labels) if len(codes) else 0.0
