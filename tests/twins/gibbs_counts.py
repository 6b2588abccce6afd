"""Plain NumPy twin of ``kernels.gibbs_counts``: every cluster is summed up whenever it is looked at."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from cluewise._typing import Floats, Ints
from twins.gibbs import choose_side, draw, vacancy

__all__ = ["split_counts", "visit_counts"]


def _score(x: Floats, members: Floats, prior: Floats) -> float:
    """Log of the number of members times the Dirichlet-multinomial probability."""
    a = prior + members.sum(axis=0)
    level = np.log(len(members)) + gammaln(a.sum()) - gammaln(a.sum() + x.sum())
    return float(level + (gammaln(a + x) - gammaln(a)).sum())


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
    """Take the row out, score it in every cluster, draw, put it back."""
    X = csr_array((cells[2], cells[1], cells[0]), shape=(len(lengths), len(prior))).toarray()
    stop = len(rows)
    for r in range(start, len(rows)):
        i, own = rows[r], labels[rows[r]]
        free, used = vacancy(counts, own)
        if free < 0 and used < limit:
            stop = r
            break
        score = np.full(len(counts) + 1, -np.inf)
        labels[i] = -1
        for k in range(len(counts)):
            if (labels == k).any():
                score[k] = _score(X[i], X[labels == k], prior)
        if used < limit:
            score[-1] = fresh[i]
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        labels[i] = free if chosen == len(counts) else chosen
        if own >= 0:
            counts[own] -= 1
        counts[labels[i]] += 1
    for k in range(len(counts)):
        words[k] = X[labels == k].sum(axis=0)
        totals[k] = lengths[labels == k].sum()
    return stop


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
    """Score every row in both clusters and in their union."""
    X = csr_array((cells[2], cells[1], cells[0]), shape=(len(lengths), len(prior))).toarray()
    chances, gains = [], []
    for i, asked, uniform in zip([*seeds, *rows], [0, 1, *wanted], [0.0, 0.0, *uniforms], strict=False):
        sets = [X[side == 0], X[side == 1], X[side >= 0]]
        score = np.array([_score(X[i], x, prior) if len(x) else fresh[i] for x in sets])
        side[i], chance, gain = choose_side(i, asked, uniform, side, indptr, neighbor, report, pull, score)
        chances.append(chance)
        gains.append(gain)
    return float(sum(chances[2:])), float(sum(gains))
