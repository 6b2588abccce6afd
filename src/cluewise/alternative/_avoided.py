"""How far a clustering is from those that it is to avoid."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.metrics import variation_of_information

__all__ = ["difference", "variation"]


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
