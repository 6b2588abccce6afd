"""Plain NumPy twins of ``kernels.likelihood``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax as scipy_softmax

from cluewise._typing import Bools, Floats, Ints

__all__ = ["charge_clues", "softmax"]


def softmax(scores: Floats) -> None:
    """Replace the scores of each row by probabilities."""
    scores[:] = scipy_softmax(scores, axis=1)


def charge_clues(
    P: Floats,
    anchors: Ints,
    pull: Floats,
    ends: Ints,
    is_must: Bools,
    weight: Floats,
    error: Floats,
    labeled: Ints,
    classes: Ints,
    label_weight: Floats,
    label_error: Floats,
    slope: Floats,
) -> float:
    """The same for all clues at once; the slope by the chain rule, with the full Jacobian of softmax for each row."""
    k = P.shape[1]
    first, second = ends.T
    same = (P[first] * P[second]).sum(axis=1)
    pairs = error + (1 - 2 * error) * np.where(is_must, same, 1 - same)
    labels = label_error / k + (1 - label_error) * P[labeled, classes]
    by_P = slope.copy()
    np.add.at(by_P, anchors, -pull / P[anchors])
    rate = (weight * (1 - 2 * error) * np.where(is_must, -1, 1) / pairs)[:, None]
    np.add.at(by_P, first, rate * P[second])
    np.add.at(by_P, second, rate * P[first])
    np.add.at(by_P, (labeled, classes), -label_weight * (1 - label_error) / labels)
    for i, p in enumerate(P):
        slope[i] = (np.diag(p) - np.outer(p, p)) @ by_P[i]
    return float(-(pull * np.log(P[anchors])).sum() - weight @ np.log(pairs) - label_weight @ np.log(labels))
