"""Plain NumPy twin of ``kernels.pieces``: same name, same signature, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["assign_pieces"]


def assign_pieces(pairs: Floats, votes: Floats, order: Ints, sweeps: int, labels: Ints) -> float:
    """Compute all gains anew before each move."""
    others = pairs - np.diag(np.diag(pairs))
    clusters = np.arange(votes.shape[1])
    for _ in range(sweeps):
        before = labels.copy()
        for a in order:
            gain = votes[a] + others[a] @ (labels[:, None] == clusters)
            if gain.max() > gain[labels[a]] + 1e-9:
                labels[a] = gain.argmax()
        if (labels == before).all():
            break
    same = labels[:, None] == labels
    return float(votes[np.arange(len(labels)), labels].sum() + np.triu(others * same, 1).sum())
