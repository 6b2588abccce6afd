"""Compiled visits of the collapsed Gibbs sampler with the Dirichlet-multinomial base; see `kernels.gibbs`."""

from __future__ import annotations

import math

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel
from cluewise.kernels.gibbs import choose_side, draw, vacancy

__all__ = ["split_counts", "visit_counts"]

FEW = 6
"""Counts up to this are multiplied out; most counts are."""


@kernel
def _log_rising(a: float, x: float) -> float:
    """Logarithm of Γ(a + x) / Γ(a), which is a(a + 1)…(a + x − 1) for whole x."""
    if x <= FEW and x == math.floor(x) and a > 1e-40:
        product = 1.0
        for step in range(int(x)):
            product *= a + step
        return math.log(product)
    return math.lgamma(a + x) - math.lgamma(a)


@kernel
def visit_counts(
    cells: tuple[Ints, Ints, Floats],
    lengths: Floats,
    rows: Ints,
    start: int,
    uniforms: Floats,
    labels: Ints,
    prior: Floats,
    prior_total: float,
    fresh: Floats,
    counts: Ints,
    words: Floats,
    totals: Floats,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    limit: int,
) -> int:
    """Visit ``rows[start:]``, parameters integrated out; returns the first place not visited because no slot is free.

    ``cells`` is the matrix of counts in CSR form; ``words[k]`` sums the rows of slot k and ``totals[k]`` all of that.
    ``fresh[i]`` is the score of row i in a new cluster.
    """
    slots = words.shape[0]
    score = np.empty(slots + 1)
    for r in range(start, rows.shape[0]):
        i = rows[r]
        own = labels[i]
        free, used = vacancy(counts, own)
        if free < 0 and used < limit:
            return r
        begin, end = cells[0][i], cells[0][i + 1]
        for k in range(slots):
            n = counts[k] - (1 if k == own else 0)
            if n <= 0:
                score[k] = -np.inf
                continue
            mine = 1.0 if k == own else 0.0
            # The row is taken off before the prior is added: counts are whole numbers, so nothing is rounded there.
            value = math.log(n) - _log_rising(prior_total + max(totals[k] - mine * lengths[i], 0.0), lengths[i])
            for c in range(begin, end):
                j, x = cells[1][c], cells[2][c]
                value += _log_rising(prior[j] + max(words[k, j] - mine * x, 0.0), x)
            score[k] = value
        score[slots] = fresh[i] if used < limit else -np.inf
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        target = free if chosen == slots else chosen
        if target == own:
            continue
        if own >= 0:
            counts[own] -= 1
            totals[own] -= lengths[i]
            for c in range(begin, end):
                words[own, cells[1][c]] -= cells[2][c]
        # A slot that was used before may hold rounding errors of counts that are not whole numbers.
        if counts[target] == 0:
            words[target] = 0.0
            totals[target] = 0.0
        for c in range(begin, end):
            words[target, cells[1][c]] += cells[2][c]
        totals[target] += lengths[i]
        counts[target] += 1
        labels[i] = target
    return rows.shape[0]


@kernel
def split_counts(
    cells: tuple[Ints, Ints, Floats],
    lengths: Floats,
    seeds: Ints,
    rows: Ints,
    wanted: Ints,
    uniforms: Floats,
    side: Ints,
    prior: Floats,
    prior_total: float,
    fresh: Floats,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
) -> tuple[float, float]:
    """Two seeds, then the rows one after the other, each joining one of them, drawn or as ``wanted`` (−1: drawn).

    Writes 0 or 1 to ``side``, which is −1 before. Returns the log-probability of these draws and the log joint of the
    two clusters less that of all rows in one.
    """
    counts = np.zeros(3, np.int64)
    words, totals = np.zeros((3, prior.shape[0])), np.zeros(3)
    score = np.empty(3)
    log_chance, gain = 0.0, 0.0
    for r in range(-2, rows.shape[0]):
        i = seeds[r + 2] if r < 0 else rows[r]
        begin, end = cells[0][i], cells[0][i + 1]
        for k in range(3):
            if counts[k] == 0:
                score[k] = fresh[i]
                continue
            score[k] = math.log(counts[k]) - _log_rising(prior_total + totals[k], lengths[i])
            for c in range(begin, end):
                j = cells[1][c]
                score[k] += _log_rising(prior[j] + words[k, j], cells[2][c])
        asked, uniform = (r + 2, 0.0) if r < 0 else (wanted[r], uniforms[r])
        chosen, chance, more = choose_side(i, asked, uniform, side, indptr, neighbor, report, pull, score)
        gain += more
        # The seeds are put on their sides without a draw, so they do not enter the proposal's probability.
        if r >= 0:
            log_chance += chance
        side[i] = chosen
        # Place 2 collects all rows: the one cluster that the split is compared with.
        for k in (chosen, 2):
            counts[k] += 1
            totals[k] += lengths[i]
            for c in range(begin, end):
                words[k, cells[1][c]] += cells[2][c]
    return log_chance, gain
