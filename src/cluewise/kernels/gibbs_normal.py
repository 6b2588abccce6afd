"""Compiled visits of the collapsed Gibbs sampler with the Normal-inverse-Wishart base; see `kernels.gibbs`.

``prior`` holds m₀, the factor of Ψ₀ and κ₀; factors are upper triangles U of Ψ = UᵀU.
"""

from __future__ import annotations

import math

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import kernel
from cluewise.kernels.cholesky import downdate, solve, update
from cluewise.kernels.gibbs import choose_side, draw, vacancy

__all__ = ["gather_normal", "split_normal", "visit_normal"]

THIN = 1e-6
"""A determinant that falls below this share when a row leaves is not trusted: the cluster is summed up again."""

LANES = 4
"""Clusters are compared with a row so many at a time."""


@kernel
def _join(x: Floats, count: int, strength: float, mean: Floats, upper: Floats, away: Floats) -> None:
    """One more row: m' = m + (x − m)/(κ + 1), Ψ' = Ψ + κ/(κ + 1) (x − m)(x − m)ᵀ, with κ before the row came."""
    kappa = strength + count
    factor = math.sqrt(kappa / (kappa + 1))
    for j in range(x.shape[0]):
        difference = x[j] - mean[j]
        away[j] = factor * difference
        mean[j] += difference / (kappa + 1)
    update(upper, away)


@kernel
def _leave(x: Floats, count: int, strength: float, mean: Floats, upper: Floats, away: Floats) -> bool:
    """One row less, of ``count`` before it leaves; false when rounding leaves no positive determinant."""
    kappa = strength + count - 1
    factor = math.sqrt((kappa + 1) / kappa)
    for j in range(x.shape[0]):
        difference = x[j] - mean[j]
        away[j] = factor * difference
        mean[j] -= difference / kappa
    return downdate(upper, away)


@kernel
def _gather(
    X: Floats, labels: Ints, slot: int, skip: int, prior: tuple[Floats, Floats, float], mean: Floats, upper: Floats
) -> None:
    """Posterior of one cluster from its rows, but for the row ``skip``: nothing is subtracted, so nothing cancels."""
    mean[:] = prior[0]
    upper[:] = prior[1]
    away = np.empty(X.shape[1])
    count = 0
    for i in range(X.shape[0]):
        if labels[i] == slot and i != skip:
            _join(X[i], count, prior[2], mean, upper, away)
            count += 1


@kernel
def _half_log_det(upper: Floats) -> float:
    total = 0.0
    for j in range(upper.shape[0]):
        total += math.log(upper[j, j])
    return total


@kernel
def _squared(x: Floats, mean: Floats, upper: Floats, away: Floats) -> float:
    """(x − m)ᵀ Ψ⁻¹ (x − m)."""
    for j in range(x.shape[0]):
        away[j] = x[j] - mean[j]
    return solve(upper, away)


@kernel
def _mirror(k: int, mean: Floats, upper: Floats, centers: Floats, factors: Floats) -> None:
    """Copy a cluster to column k of all centers and factors; what the diagonal is divided by is multiplied with."""
    for j in range(mean.shape[0]):
        centers[j, k] = mean[j]
        factors[j, j, k] = 1 / upper[j, j]
        for before in range(j):
            factors[j, before, k] = upper[before, j]


@kernel
def _all_squared(x: Floats, centers: Floats, factors: Floats, white: Floats, squared: Floats) -> None:
    """(x − m)ᵀ Ψ⁻¹ (x − m) for all clusters at once: the inner loops run over clusters, so that they vectorize."""
    columns = squared.shape[0]
    squared[:] = 0.0
    for j in range(x.shape[0]):
        now, factor = white[j], factors[j]
        for k in range(columns):
            now[k] = x[j] - centers[j, k]
        for before in range(j):
            earlier, share = white[before], factor[before]
            for k in range(columns):
                now[k] -= earlier[k] * share[k]
        scale = factor[j]
        for k in range(columns):
            now[k] *= scale[k]
            squared[k] += now[k] * now[k]


@kernel
def gather_normal(
    X: Floats,
    labels: Ints,
    prior: tuple[Floats, Floats, float],
    counts: Ints,
    means: Floats,
    uppers: Floats,
    half_log_det: Floats,
) -> None:
    """Posterior of every cluster from scratch: count, mean m, factor of Ψ and ½ ln|Ψ|."""
    counts[:] = 0
    means[:] = prior[0]
    uppers[:] = prior[1]
    away = np.empty(X.shape[1])
    for i in range(X.shape[0]):
        k = labels[i]
        if k >= 0:
            _join(X[i], counts[k], prior[2], means[k], uppers[k], away)
            counts[k] += 1
    for k in range(counts.shape[0]):
        half_log_det[k] = _half_log_det(uppers[k])


@kernel
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
    """Visit ``rows[start:]``, parameters integrated out; returns the first place not visited because no slot is free.

    ``height[n]`` is log n plus the part of the Student-t log-density that depends on n only, ``fresh[i]`` the score of
    row i in a new cluster. A row that stays costs no update: |Ψ| and the distance without it follow from those with it
    (Sherman–Morrison).
    """
    slots, d = means.shape
    score = np.empty(slots + 1)
    away, mean, upper = np.empty(d), np.empty(d), np.empty((d, d))
    # Padded to whole lanes: the compiler then needs no separate loop for the last few clusters.
    columns = (slots + LANES - 1) // LANES * LANES
    centers, factors = np.zeros((d, columns)), np.zeros((d, d, columns))
    white, distances = np.empty((d, columns)), np.empty(columns)
    for k in range(slots):
        if counts[k] > 0:
            _mirror(k, means[k], uppers[k], centers, factors)
    for r in range(start, rows.shape[0]):
        i = rows[r]
        x = X[i]
        own = labels[i]
        free, used = vacancy(counts, own)
        if free < 0 and used < limit:
            return r
        gathered = False
        _all_squared(x, centers, factors, white, distances)
        for k in range(slots):
            n = counts[k] - (1 if k == own else 0)
            if n <= 0:
                score[k] = -np.inf
                continue
            kappa = prior[2] + n
            squared, half = distances[k], half_log_det[k]
            if k == own:
                grown = (kappa + 1) / kappa
                # Without the row Ψ becomes Ψ − vvᵀ, v = √grown·(x − m): its determinant is |Ψ|(1 − vᵀΨ⁻¹v), and the
                # distance is divided by the same share. Near 0 the share has lost its digits: sum up the other rows.
                share = 1 - grown * squared  # of |Ψ|, what is left without the row
                gathered = not share > THIN
                if gathered:
                    _gather(X, labels, own, i, prior, mean, upper)
                    squared, half = _squared(x, mean, upper, away), _half_log_det(upper)
                else:
                    squared *= grown * grown / share
                    half += 0.5 * math.log(share)
            score[k] = height[n] - half - 0.5 * (degrees + n + 1) * math.log1p(squared * kappa / (kappa + 1))
        score[slots] = fresh[i] if used < limit else -np.inf
        chosen = draw(i, uniforms[r], labels, indptr, neighbor, report, pull, together, score)
        target = free if chosen == slots else chosen
        if target == own:
            continue
        if own >= 0:
            # A cluster of this row alone is simply left empty; the next row to use the slot resets it to the prior.
            if counts[own] > 1:
                if not gathered:
                    mean[:] = means[own]
                    upper[:] = uppers[own]
                    if not _leave(x, counts[own], prior[2], mean, upper, away):
                        _gather(X, labels, own, i, prior, mean, upper)
                means[own] = mean
                uppers[own] = upper
                half_log_det[own] = _half_log_det(upper)
                _mirror(own, mean, upper, centers, factors)
            counts[own] -= 1
        if counts[target] == 0:
            means[target] = prior[0]
            uppers[target] = prior[1]
        _join(x, counts[target], prior[2], means[target], uppers[target], away)
        half_log_det[target] = _half_log_det(uppers[target])
        _mirror(target, means[target], uppers[target], centers, factors)
        counts[target] += 1
        labels[i] = target
    return rows.shape[0]


@kernel
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
    """Two seeds, then the rows one after the other, each joining one of them, drawn or as ``wanted`` (−1: drawn).

    Writes 0 or 1 to ``side``, which is −1 before. Returns the log-probability of these draws and the log joint of the
    two clusters less that of all rows in one.
    """
    d = X.shape[1]
    counts = np.zeros(3, np.int64)
    means, uppers, half, away = np.empty((3, d)), np.empty((3, d, d)), np.empty(3), np.empty(d)
    for k in range(3):
        means[k] = prior[0]
        uppers[k] = prior[1]
    score = np.empty(3)
    log_chance, gain = 0.0, 0.0
    for r in range(-2, rows.shape[0]):
        i = seeds[r + 2] if r < 0 else rows[r]
        for k in range(3):
            n = counts[k]
            if n == 0:
                score[k] = fresh[i]
                continue
            kappa = prior[2] + n
            squared = _squared(X[i], means[k], uppers[k], away)
            score[k] = height[n] - half[k] - 0.5 * (degrees + n + 1) * math.log1p(squared * kappa / (kappa + 1))
        asked, uniform = (r + 2, 0.0) if r < 0 else (wanted[r], uniforms[r])
        chosen, chance, more = choose_side(i, asked, uniform, side, indptr, neighbor, report, pull, score)
        gain += more
        # The seeds are put on their sides without a draw, so they do not enter the proposal's probability.
        if r >= 0:
            log_chance += chance
        side[i] = chosen
        # Place 2 collects all rows: the one cluster that the split is compared with.
        for k in (chosen, 2):
            _join(X[i], counts[k], prior[2], means[k], uppers[k], away)
            counts[k] += 1
            half[k] = _half_log_det(uppers[k])
    return log_chance, gain
