"""Compiled visits of a Gibbs sampler: each row leaves its cluster and draws a new one, given its clues.

Clusters live in *slots*; a slot with count 0 is free, and labels are slots (−1: the row is in no cluster yet). All
random numbers are passed in. The clues of row i are the entries ``indptr[i]`` to ``indptr[i + 1]``: the other row, and
the number of the clue; ``pull`` is what each clue adds to the log-odds that its ends are together.
"""

from __future__ import annotations

import math

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel

__all__ = ["choose_side", "draw", "vacancy", "visit_given"]


@kernel
def draw(
    i: int,
    uniform: float,
    labels: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    score: Floats,
) -> int:
    """Add the clues of row i to the scores and draw one of them; the last score is that of a new cluster.

    Equations (11) to (13). Adds to ``together`` the probability that the row joins the other end of each of its clues;
    the scores become probabilities.
    """
    for e in range(indptr[i], indptr[i + 1]):
        slot = labels[neighbor[e]]
        if slot >= 0:
            score[slot] += pull[report[e]]
    # Before exp the largest score is taken off all of them: the probabilities are the same, and none overflows.
    highest = score.max()
    total = 0.0
    for k in range(score.shape[0]):
        score[k] = math.exp(score[k] - highest)
        total += score[k]
    for k in range(score.shape[0]):
        score[k] /= total
    for e in range(indptr[i], indptr[i + 1]):
        slot = labels[neighbor[e]]
        if slot >= 0:
            together[report[e]] += score[slot]
    left = uniform
    chosen = -1
    for k in range(score.shape[0]):
        if score[k] > 0:
            chosen = k  # the last one that is possible, should rounding leave something over
            left -= score[k]
            if left < 0:
                break
    return chosen


@kernel
def vacancy(counts: Ints, own: int) -> tuple[int, int]:
    """The slot for a new cluster (−1: all are taken) and how many clusters there are, for a row that leaves ``own``.

    A row that is alone keeps its slot when it opens a cluster again.
    """
    free, used = -1, 0
    for k in range(counts.shape[0]):
        if counts[k] > 1 or (counts[k] == 1 and k != own):
            used += 1
        elif free < 0 or k == own:
            free = k
    return free, used


@kernel
def visit_given(
    known: Floats,
    fresh: Floats,
    rows: Ints,
    start: int,
    uniforms: Floats,
    labels: Ints,
    counts: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    limit: int,
) -> int:
    """Visit ``rows[start:]`` given the parameters of the clusters, for any base; returns where a new cluster is wanted.

    ``known[r, k]`` is the log-likelihood of row ``rows[r]`` in slot k, ``fresh[r]`` its score in a new cluster. The row
    at the place that is returned is in no cluster: parameters have to be drawn for it before the next row is visited.
    The number of rows means that all have been visited.
    """
    slots = known.shape[1]
    score = np.empty(slots + 1)
    for r in range(start, rows.shape[0]):
        i = rows[r]
        own = labels[i]
        if own >= 0:
            counts[own] -= 1
        used = 0
        for k in range(slots):
            score[k] = -np.inf
            if counts[k] > 0:
                used += 1
                score[k] = math.log(counts[k]) + known[r, k]
        score[slots] = fresh[r] if used < limit else -np.inf
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        if chosen == slots:
            labels[i] = -1
            return r
        labels[i] = chosen
        counts[chosen] += 1
    return rows.shape[0]


@kernel
def choose_side(
    i: int,
    wanted: int,
    uniform: float,
    side: Ints,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    score: Floats,
) -> tuple[int, float, float]:
    """Which of two new clusters row i joins, the logarithm of that chance, and what it gains over one cluster of both.

    ``score`` has the row's scores in the first, the second and both together; ``side`` says where the rows are that
    have been placed (−1: nowhere yet). ``wanted`` is the side that is taken whatever the random number; −1: none.
    """
    for e in range(indptr[i], indptr[i + 1]):
        place = side[neighbor[e]]
        if place >= 0:
            score[place] += pull[report[e]]
            score[2] += pull[report[e]]
    # The proposal is a choice between the two sides alone; score[2], one cluster for all, only measures the gain.
    highest = max(score[0], score[1])
    total = math.exp(score[0] - highest) + math.exp(score[1] - highest)
    chosen = wanted
    if wanted < 0:
        chosen = 0 if uniform * total < math.exp(score[0] - highest) else 1
    return chosen, score[chosen] - highest - math.log(total), score[chosen] - score[2]
