"""Compiled loops over clues: how likely they are if each row has a probability for every cluster, and its gradient.

A source that reports a pair is wrong with probability ε: with s the probability that two rows share a cluster, a
must-link has the likelihood ε + (1 − 2ε) s, a cannot-link ε + (1 − 2ε) (1 − s). A label of cluster c is right with
probability 1 − ε, else any cluster: ε/k + (1 − ε) p_c.
"""

from __future__ import annotations

from math import exp, log

from cluewise._typing import Bools, Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["charge_clues", "softmax"]

TINY = 1e-12


@kernel
def softmax(scores: Floats) -> None:
    """Replace the scores of each row by probabilities."""
    k = scores.shape[1]
    for i in range(scores.shape[0]):
        top = scores[i, 0]
        for c in range(1, k):
            top = max(top, scores[i, c])
        total = 0.0
        for c in range(k):
            scores[i, c] = exp(scores[i, c] - top)
            total += scores[i, c]
        for c in range(k):
            scores[i, c] /= total


@kernel
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
    """Negative log-likelihood of the clues plus the pull; ``slope`` gets its derivative by the scores before `softmax`.

    ``pull[a, c]`` is what log P[anchors[a], c] counts; ``ends`` and ``labeled`` are rows of P. Before, ``slope`` has
    the derivative by P of whatever else is charged.
    """
    k = P.shape[1]
    value = 0.0
    for a in range(len(anchors)):
        i = anchors[a]
        for c in range(k):
            value -= pull[a, c] * log(P[i, c] + TINY)
            slope[i, c] -= pull[a, c] / (P[i, c] + TINY)
    for e in range(len(ends)):
        i, j = ends[e, 0], ends[e, 1]
        same = 0.0
        for c in range(k):
            same += P[i, c] * P[j, c]
        sure = 1 - 2 * error[e]
        likely = error[e] + sure * (same if is_must[e] else 1 - same)
        value -= weight[e] * log(likely + TINY)
        rate = weight[e] * sure / (likely + TINY)
        if is_must[e]:
            rate = -rate
        for c in range(k):
            slope[i, c] += rate * P[j, c]
            slope[j, c] += rate * P[i, c]
    for t in range(len(labeled)):
        i, c = labeled[t], classes[t]
        likely = label_error[t] / k + (1 - label_error[t]) * P[i, c]
        value -= label_weight[t] * log(likely + TINY)
        slope[i, c] -= label_weight[t] * (1 - label_error[t]) / (likely + TINY)
    for i in range(P.shape[0]):
        mean = 0.0
        for c in range(k):
            mean += P[i, c] * slope[i, c]
        for c in range(k):
            slope[i, c] = P[i, c] * (slope[i, c] - mean)
    return value
