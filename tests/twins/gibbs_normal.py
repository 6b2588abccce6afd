"""Plain NumPy twins of ``kernels.gibbs_normal``: every cluster is computed from its rows whenever it is looked at."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from twins.gibbs import choose_side, draw, vacancy

__all__ = ["gather_normal", "split_normal", "visit_normal"]


def _posterior(X: Floats, prior: tuple[Floats, Floats, float]) -> tuple[Floats, Floats]:
    """Mean m = (κ₀m₀ + n x̄)/κ and the factor of Ψ = Ψ₀ + S + (κ₀n/κ)(x̄ − m₀)(x̄ − m₀)ᵀ.

    By QR, which does not square the rows: nothing is lost when one of them is far away.
    """
    center, upper, strength = prior
    n = len(X)
    average = X.mean(axis=0) if n else center
    away = np.sqrt(strength * n / (strength + n)) * (average - center)
    factor = np.linalg.qr(np.vstack([upper, X - average, away]), mode="r")
    mean = (strength * center + n * average) / (strength + n)
    return mean, factor * np.sign(np.diagonal(factor))[:, None]


def _score(x: Floats, members: Floats, prior: tuple[Floats, Floats, float], degrees: float, height: Floats) -> float:
    """Log of the number of members times the Student-t density."""
    n = len(members)
    mean, upper = _posterior(members, prior)
    white = np.linalg.solve(upper.T, x - mean)
    kappa = prior[2] + n
    tail = 0.5 * (degrees + n + 1) * np.log1p(white @ white * kappa / (kappa + 1))
    return float(height[n] - np.log(np.diagonal(upper)).sum() - tail)


def gather_normal(
    X: Floats,
    labels: Ints,
    prior: tuple[Floats, Floats, float],
    counts: Ints,
    means: Floats,
    uppers: Floats,
    half_log_det: Floats,
) -> None:
    """The formulas, cluster by cluster."""
    for k in range(len(counts)):
        counts[k] = np.count_nonzero(labels == k)
        means[k], uppers[k] = _posterior(X[labels == k], prior)
        half_log_det[k] = np.log(np.diagonal(uppers[k])).sum()


def visit_normal(
    X: Floats,
    rows: Ints,
    start: int,
    uniforms: Floats,
    labels: Ints,
    prior: tuple[Floats, Floats, float],
    degrees: float,
    height: Floats,
    fresh: Floats,
    counts: Ints,
    means: Floats,
    uppers: Floats,
    half_log_det: Floats,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
    together: Floats,
    limit: int,
) -> int:
    """Take the row out, compute every cluster, draw, put it back."""
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
                score[k] = _score(X[i], X[labels == k], prior, degrees, height)
        if used < limit:
            score[-1] = fresh[i]
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        labels[i] = free if chosen == len(counts) else chosen
        if own >= 0:
            counts[own] -= 1
        counts[labels[i]] += 1
    gather_normal(X, labels, prior, counts, means, uppers, half_log_det)
    return stop


def split_normal(
    X: Floats,
    seeds: Ints,
    rows: Ints,
    wanted: Ints,
    uniforms: Floats,
    side: Ints,
    prior: tuple[Floats, Floats, float],
    degrees: float,
    height: Floats,
    fresh: Floats,
    indptr: Ints,
    neighbor: Ints,
    report: Ints,
    pull: Floats,
) -> tuple[float, float]:
    """Score every row in both clusters and in their union."""
    chances, gains = [], []
    for i, asked, uniform in zip([*seeds, *rows], [0, 1, *wanted], [0.0, 0.0, *uniforms], strict=False):
        sets = [X[side == 0], X[side == 1], X[side >= 0]]
        score = np.array([_score(X[i], x, prior, degrees, height) if len(x) else fresh[i] for x in sets])
        side[i], chance, gain = choose_side(i, asked, uniform, side, indptr, neighbor, report, pull, score)
        chances.append(chance)
        gains.append(gain)
    return float(sum(chances[2:])), float(sum(gains))
