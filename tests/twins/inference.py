"""Plain twins of `inference`: one node after the other, in numpy."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["draw_labels", "improve_labels", "mean_field", "pass_messages"]

LOWEST = -1e12


def mean_field(
    indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, q: Floats, start: int, stop: int
) -> float:
    """q_i ∝ exp(unary_i + Σ_j w_ij q_j), in place; returns the largest change. Weights are finite."""
    change = 0.0
    for i in range(start, stop):
        links = slice(indptr[i], indptr[i + 1])
        new = _softmax(unary[i] + weights[links] @ q[neighbors[links]])
        change = max(change, float(np.abs(new - q[i]).max()))
        q[i] = new
    return change


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
    for i in range(start, stop):
        chances = _softmax(_conditional(indptr, neighbors, weights, unary, labels, i))
        seen[i] += chances
        above = np.flatnonzero(points[i] < np.cumsum(chances))
        if len(above):
            labels[i] = above[0]


def improve_labels(
    indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, labels: Ints, start: int, stop: int
) -> int:
    """Give each node its best label given its neighbors; it stays on ties. Returns how many moved."""
    moved = 0
    for i in range(start, stop):
        score = _conditional(indptr, neighbors, weights, unary, labels, i)
        if score.max() > score[labels[i]]:
            labels[i] = score.argmax()
            moved += 1
    return moved


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
    """Sum-product: each node tells its neighbors what it has heard from the others."""
    k = unary.shape[1]
    for i in range(start, stop):
        links = range(indptr[i], indptr[i + 1])
        belief = unary[i] + messages[links.start : links.stop].sum(axis=0)
        change[i] = 0.0
        for p in links:
            table = (belief - messages[p])[:, None] + np.where(np.eye(k, dtype=bool), weights[p], 0.0)
            said = np.logaddexp.reduce(table, axis=0)
            said = np.maximum(said - said.max(), LOWEST)
            change[i] = max(change[i], np.abs(said - messages[back[p]]).max())
            messages[back[p]] = damping * messages[back[p]] + (1 - damping) * said


def _conditional(indptr: Ints, neighbors: Ints, weights: Floats, unary: Floats, labels: Ints, i: int) -> Floats:
    score = unary[i].copy()
    for p in range(indptr[i], indptr[i + 1]):
        score[labels[neighbors[p]]] += weights[p]
    return score


def _softmax(score: Floats) -> Floats:
    score = np.exp(score - score.max())
    return score / score.sum()
