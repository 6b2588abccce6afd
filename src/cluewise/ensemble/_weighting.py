"""Weights of partitions: the two minimizations of [Yi2015]_ over the simplex, and the losses of links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.core.threads import map_blocks
from cluewise.kernels import consensus

__all__ = ["Ends", "Solution", "solve_relaxed", "sum_losses", "minimize", "project", "sum_violations"]

MAX_STEPS = 1000
SMALLEST_STEP = 1e-10
LINES, PAIRS = 32, 4096
"""Rows of a matrix, and pairs, that are counted at once."""

CALM = 5
"""Number of steps with the same support after which the minimum on that support is tried."""


class Ends(NamedTuple):
    """Clusters of the two ends of pairs in every partition, and the weights of the pairs."""

    first: Array  # (p, m)
    second: Array  # (p, m)
    weight: Floats  # (p,)


class Solution(NamedTuple):
    """Weights, and the objective at the start and after every step."""

    gamma: Floats
    trace: list[float]


def sum_violations(must: Ends, cannot: Ends) -> Floats:
    """The vector e of Eq. (11): the weight of the pairs that each partition violates."""
    split = must.weight @ (must.first != must.second)
    joined = cannot.weight @ (cannot.first == cannot.second)
    return np.asarray(split + joined, dtype=np.float64)


def sum_losses(must: Ends, cannot: Ends) -> Floats:
    """The matrix A = Σ UUᵀ over must-links + Σ VVᵀ over cannot-links: γᵀAγ is the loss of the pairs (Eq. 8).

    Eqs. (4)–(6) of the paper swap the two losses: ‖F_i − F_j‖² belongs to must-links.
    """
    m = must.first.shape[1]
    total = np.zeros((m, m))
    for ends, sign in ((must, -1), (cannot, 1)):
        # Pairs of one weight are counted in integers, which no order of summation rounds differently.
        for weight in np.unique(ends.weight):
            equal = ends.weight == weight
            total += weight * _agreements(ends.first[equal], ends.second[equal], sign)
    return total


def _agreements(first: Array, second: Array, sign: int) -> Floats:
    """Sum the matrices of some pairs: count the upper triangle and mirror it."""
    m = first.shape[1]
    counts = np.zeros((m, m))
    typed: Any = np.int32(sign)

    def work(start: int) -> None:
        a, b = (np.ascontiguousarray(side[:, start:]) for side in (first, second))
        some = np.zeros((min(LINES, m - start), m - start), dtype=np.int32)
        for p in range(0, len(a), PAIRS):  # Ctrl-C works between two calls
            consensus.add_agreements(a[p : p + PAIRS], b[p : p + PAIRS], typed, some)
        counts[start : start + LINES, start:] = some

    for _ in map_blocks(work, range(0, m, LINES)):
        continue
    right = np.triu(counts, 1)
    return right + right.T + np.diag(np.diag(counts))


def solve_relaxed(anchor: Floats, violated: Floats, rate: float) -> Floats:
    """The relaxed update: Proj(anchor − C / (2λ) e), the limit of the steps of Eq. (11); ``rate`` is C / (2λ)."""
    return project(anchor - rate * violated)


def minimize(loss: Floats, anchor: Floats, inertia: float, start: Floats, rate: float | None = None) -> Solution:
    """Minimize f(γ) = γᵀAγ + λ‖γ − anchor‖² over the simplex (Eq. 8), by projected gradient steps from ``start``.

    A step is ``rate`` times ∇f = 2(Aγ + λ(γ − anchor)); by default 1/L, for which f never rises. These steps find the
    support of the minimum quickly but converge to it slowly. So once the support is stable, the minimum on it is
    tried: it is taken if f falls, and ends the search if it is the minimum over the whole simplex.
    """
    if rate is None:
        rate = 1 / max(_curvature(loss, inertia), np.finfo(np.float64).tiny)
        steps = MAX_STEPS
    else:
        steps = CALM  # a given rate is for studying single steps
    gamma, trace, calm = start, [evaluate(loss, anchor, inertia, start)], 0
    for _ in range(steps):
        new = project(gamma - rate * _slope(loss, anchor, inertia, gamma))
        calm = calm + 1 if ((new > 0) == (gamma > 0)).all() else 0
        moved = np.abs(new - gamma).max()
        gamma = new
        trace.append(evaluate(loss, anchor, inertia, gamma))
        if calm == CALM or moved < SMALLEST_STEP:
            calm = 0
            better = _on_support(loss, anchor, inertia, gamma)
            lower = evaluate(loss, anchor, inertia, better)
            if lower < trace[-1]:
                moved = np.abs(better - gamma).max()
                gamma = better
                trace.append(lower)
            if moved < SMALLEST_STEP or _optimal(loss, anchor, inertia, gamma):
                break
    return Solution(gamma, trace)


def project(v: Floats) -> Floats:
    """Project onto the probability simplex: the nearest nonnegative vector with sum 1 (Algorithm 1, corrected).

    With w = v sorted in descending order, k is the last j with w_j > θ_j = (w_1 + … + w_j − 1) / j, and the answer is
    max(v − θ_k, 0). The paper sums to k and subtracts θ from w instead of v.
    """
    near = np.asarray(v, dtype=np.float64)
    near = near - near.max()  # a shift of all entries changes nothing, but large ones would cost digits
    w = np.sort(near)[::-1]
    theta = (np.cumsum(w) - 1) / np.arange(1, len(w) + 1)
    k = int(np.flatnonzero(w > theta)[-1])
    return np.maximum(near - theta[k], 0.0)


def evaluate(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> float:
    """The objective of Eq. (8)."""
    return float(gamma @ loss @ gamma + inertia * np.square(gamma - anchor).sum())


def _slope(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> Floats:
    return 2 * (loss @ gamma + inertia * (gamma - anchor))


def _curvature(loss: Floats, inertia: float) -> float:
    """L: an upper bound of the curvature along the simplex, where the constant part of A has no effect."""
    rows = loss.mean(axis=1)
    centered = loss - rows[:, None] - rows + rows.mean()
    return float(2 * (min(np.abs(centered).sum(axis=1).max(), np.linalg.norm(centered)) + inertia))


def _on_support(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> Floats:
    """Minimize over weights with the same support and sum 1, whatever their sign, and project onto the simplex."""
    support = np.flatnonzero(gamma > 0)
    size = len(support)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = 2 * (loss[np.ix_(support, support)] + inertia * np.eye(size))
    system[size, :size] = system[:size, size] = 1
    try:
        found = np.linalg.solve(system, np.append(2 * inertia * anchor[support], 1.0))[:size]
    except np.linalg.LinAlgError:
        return gamma
    new = np.zeros_like(gamma)
    new[support] = found
    return project(new) if np.isfinite(found).all() else gamma


def _optimal(loss: Floats, anchor: Floats, inertia: float, gamma: Floats) -> bool:
    """Whether this is the minimum: the slope is equal on the support and nowhere smaller."""
    slope = _slope(loss, anchor, inertia, gamma)
    inside = slope[gamma > 0]
    tolerance = 1e-9 * (1 + np.abs(slope).max())
    return bool(inside.max() - inside.min() <= tolerance and slope.min() >= inside.min() - tolerance)
