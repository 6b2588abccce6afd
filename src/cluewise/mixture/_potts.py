"""Sums and maxima over clusters in log space: of a node, or of one end of a link as seen from the other."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["exclude", "log_sum", "others_max", "softmax"]


def log_sum(score: Floats, axis: int = 1) -> Floats:
    """Logarithm of Σ exp along an axis; −∞ where all scores are −∞."""
    top = score.max(axis=axis)
    low = np.where(np.isinf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return low + np.log(np.exp(score - np.expand_dims(low, axis)).sum(axis=axis))


def softmax(score: Floats) -> Floats:
    """Probabilities in proportion to exp of the scores of each row."""
    score = np.exp(score - score.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def exclude(score: Floats, weights: Floats) -> Floats:
    """Message from one end of a link to the other: log Σ_h exp(score_h + w [h = l]) for every cluster l."""
    rows, top = np.arange(len(score)), score.argmax(axis=1)
    first = score[rows, top]
    terms = np.exp(score - first[:, None])
    total = terms.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):  # log 0 = −∞: no others
        others = first[:, None] + np.log(total - terms)
    # Total less the largest term would cancel most digits, and for links of weight −∞ these digits are the result.
    rest = score.copy()
    rest[rows, top] = -np.inf
    others[rows, top] = log_sum(rest)
    return np.logaddexp(others, score + weights[:, None])


def others_max(score: Floats) -> Floats:
    """For every entry, the largest of the other entries of its row; −∞ when there is no other."""
    rows, top = np.arange(len(score)), score.argmax(axis=1)
    rest = score.copy()
    rest[rows, top] = -np.inf
    out = np.repeat(score[rows, top][:, None], score.shape[1], axis=1)
    out[rows, top] = rest.max(axis=1)
    return out
