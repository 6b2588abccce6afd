"""Sums over the cluster of one end of a link, seen from the other end; in logs, without loss of digits."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats

__all__ = ["exclude", "log_sum", "others_max", "softmax"]


def log_sum(score: Floats) -> Floats:
    """Logarithm of Σ exp over each row; −∞ for a row of −∞."""
    top = score.max(axis=1)
    low = np.where(np.isinf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return low + np.log(np.exp(score - low[:, None]).sum(axis=1))


def softmax(score: Floats) -> Floats:
    """Probabilities in proportion to exp of the scores of each row."""
    score = np.exp(score - score.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def exclude(score: Floats, weights: Floats) -> Floats:
    """What one end of a link says about the cluster l of the other: log Σ_h exp(score_h + w [h = l]) for every l.

    The sum over the other clusters is never the total less one term where that term is nearly all of it: with links
    of weight −∞ just these digits decide.
    """
    rows, top = np.arange(len(score)), score.argmax(axis=1)
    first = score[rows, top]
    terms = np.exp(score - first[:, None])
    total = terms.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):  # log 0 = −∞: there are no others; the entry is replaced below
        others = first[:, None] + np.log(total - terms)
    rest = score.copy()
    rest[rows, top] = -np.inf
    others[rows, top] = log_sum(rest)
    return np.logaddexp(others, score + weights[:, None])


def others_max(score: Floats) -> Floats:
    """The largest of the other entries of each row, for every entry; −∞ when there is no other."""
    rows, top = np.arange(len(score)), score.argmax(axis=1)
    rest = score.copy()
    rest[rows, top] = -np.inf
    out = np.repeat(score[rows, top][:, None], score.shape[1], axis=1)
    out[rows, top] = rest.max(axis=1)
    return out
