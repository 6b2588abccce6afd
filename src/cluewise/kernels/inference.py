"""Compiled sweeps over the nodes of a network of links, each node given the newest state of its neighbors.

Links are in CSR form: node i has ``neighbors[indptr[i]:indptr[i + 1]]``; a link of weight w multiplies by exp(w) what
puts both ends into one cluster. Nodes ``start`` to ``stop`` are visited.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["draw_labels", "improve_labels", "mean_field", "pass_messages"]

LOWEST = -1e12
"""Messages that never settle may grow without bound; below this they stay where they are."""


@kernel
def mean_field(
    indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, q: Floats, start: int, stop: int
) -> float:
    """q_i ∝ exp(unary_i + Σ_j w_ij q_j), in place; returns the largest change. Weights are finite."""
    k = unary.shape[1]
    score = np.empty(k)
    change = 0.0
    for i in range(start, stop):
        for h in range(k):
            score[h] = unary[i, h]
        for p in range(indptr[i], indptr[i + 1]):
            for h in range(k):
                score[h] += weights[p] * q[neighbors[p], h]
        _softmax(score)
        for h in range(k):
            change = max(change, abs(score[h] - q[i, h]))
            q[i, h] = score[h]
    return change


@kernel
def draw_labels(
    indptr: Ints,
    neighbors: Ints,
    weights: Floats,
    unary: Floats,
    points: Floats,
    labels: Ints,
    seen: Floats,
    start: int,
    stop: int,
) -> None:
    """Draw the label of each node given its neighbors, by a point in [0, 1); its chances are added to ``seen``."""
    k = unary.shape[1]
    score = np.empty(k)
    for i in range(start, stop):
        _conditional(indptr, neighbors, weights, unary, labels, i, score)
        _softmax(score)
        level = 0.0
        drawn = -1
        for h in range(k):
            seen[i, h] += score[h]
            level += score[h]
            if drawn < 0 and points[i] < level:
                drawn = h
        if drawn >= 0:  # else rounding left a gap below 1, and the node stays where it is
            labels[i] = drawn


@kernel
def improve_labels(
    indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, labels: Ints, start: int, stop: int
) -> int:
    """Give each node its best label given its neighbors; it stays on ties. Returns how many moved."""
    k = unary.shape[1]
    score = np.empty(k)
    moved = 0
    for i in range(start, stop):
        _conditional(indptr, neighbors, weights, unary, labels, i, score)
        best = labels[i]
        for h in range(k):
            if score[h] > score[best]:
                best = h
        if best != labels[i]:
            labels[i] = best
            moved += 1
    return moved


@kernel
def pass_messages(
    indptr: Ints,
    neighbors: Ints,
    back: Ints,
    weights: Floats,
    unary: Floats,
    damping: float,
    messages: Floats,
    change: Floats,
    start: int,
    stop: int,
) -> None:
    """Sum-product: each node sends each neighbor a message that combines those of all other neighbors.

    ``messages[p]`` is the message that the owner of link p has received through it; ``back[p]`` is the same link in the
    list of the neighbor. The largest change of the messages sent by each node is written into ``change``.
    """
    k = unary.shape[1]
    belief, cavity, terms, said = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for i in range(start, stop):
        for h in range(k):
            belief[h] = unary[i, h]
        for p in range(indptr[i], indptr[i + 1]):
            for h in range(k):
                belief[h] += messages[p, h]
        change[i] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            for h in range(k):
                cavity[h] = belief[h] - messages[p, h]
            _exclude(cavity, weights[p], terms, said)
            top = said.max()
            for h in range(k):
                new = max(said[h] - top, LOWEST)
                old = messages[back[p], h]
                change[i] = max(change[i], abs(new - old))
                messages[back[p], h] = damping * old + (1 - damping) * new


@kernel
def _conditional(
    indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, labels: Ints, i: int, score: Floats
) -> None:
    """Scores of a node given the labels of its neighbors."""
    for h in range(len(score)):
        score[h] = unary[i, h]
    for p in range(indptr[i], indptr[i + 1]):
        score[labels[neighbors[p]]] += weights[p]


@kernel
def _softmax(score: Floats) -> None:
    top = score.max()
    total = 0.0
    for h in range(len(score)):
        score[h] = np.exp(score[h] - top)
        total += score[h]
    for h in range(len(score)):
        score[h] /= total


@kernel
def _exclude(score: Floats, weight: float, terms: Floats, out: Floats) -> None:
    """What `mixture._potts.exclude` does, for one row; ``terms`` is scratch space."""
    k = len(score)
    top = score.argmax()
    first, total = score[top], 0.0
    for h in range(k):
        terms[h] = np.exp(score[h] - first)
        total += terms[h]
    gain = np.expm1(min(weight, 30.0))
    for h in range(k):
        if h == top:
            continue
        if weight <= 30.0:
            out[h] = first + np.log(total + gain * terms[h])
        else:  # exp(weight) may be too large for floating point
            out[h] = _log_add(first + np.log(total - terms[h]), score[h] + weight)
    # The others are nearly nothing beside the largest term: they are summed without it.
    second, rest = -np.inf, 0.0
    for h in range(k):
        if h != top and score[h] > second:
            second = score[h]
    if k > 1 and total - 1.0 > 1e-4:
        second, rest = first, total - 1.0
    elif k > 1:
        for h in range(k):
            if h != top:
                rest += np.exp(score[h] - second)
    others = second + np.log(rest) if k > 1 else -np.inf
    out[top] = _log_add(others, first + weight)


@kernel
def _log_add(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high + np.log1p(np.exp(low - high)) if high > -np.inf else high
