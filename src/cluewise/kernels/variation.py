"""Compiled loop of the inner problem of 1-spectral clustering: total variation with a linear term, by its dual.

Minimize over vectors g of length at most 1

    Σ_e w_e |g_i − g_j| + bound · (max g − min g) − ⟨pull, g⟩.

Its dual is ½‖z‖², z = Dᵀ(w α) + u − v − pull, with |α_e| ≤ 1 for each edge, and u and v at least 0 of sum ``bound``;
g = −z / ‖z‖. The loop is an accelerated projected gradient (FISTA) that starts anew where the dual rises. Each edge has
a step of its own: with A the summed weights at a vertex, (Σ w α)² ≤ A Σ w α², so 1 / (w (A_i + A_j)) is short enough.
"""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.kernels._jit import fma

__all__ = ["shorten"]

ROUNDING = 1e-12
"""A rise of the dual, relative to it, that is no rise."""

ZERO = 1e-18
"""‖z‖² relative to that of ``pull`` which counts as 0."""


@fma
def _level(values: Floats, total: float) -> float:
    """The level above which the values sum to ``total``, by Newton's method from below."""
    level = -np.inf
    for i in range(values.shape[0]):
        level = max(level, values[i] - total)
    while True:
        count, above = 0, 0.0
        for i in range(values.shape[0]):
            if values[i] > level:
                count += 1
                above += values[i]
        higher = (above - total) / count
        if not higher > level:
            return level
        level = higher


@fma
def _gap(heads: Ints, tails: Ints, weight: Floats, bound: float, pull: Floats, z: Floats) -> float:
    """The primal value at −z, plus ‖z‖²: 0 at the optimum."""
    gap, low, high = 0.0, np.inf, -np.inf
    for e in range(heads.shape[0]):
        gap += weight[e] * abs(z[heads[e]] - z[tails[e]])
    for i in range(z.shape[0]):
        gap += z[i] * (pull[i] + z[i])
        low, high = min(low, z[i]), max(high, z[i])
    return gap + bound * (high - low)


@fma
def shorten(
    heads: Ints,
    tails: Ints,
    weight: Floats,
    step: Floats,
    bound: float,
    pull: Floats,
    alpha: Floats,
    ends: Floats,
    residual: Floats,
    state: Floats,
    iterations: int,
    tol: float,
) -> bool:
    """Run some iterations of the dual; true if the duality gap is at most ``tol`` of ‖z‖², or z is 0 but for rounding.

    ``alpha`` (2 × m), ``ends`` (u and v, each 2 × n) and ``residual`` (z, 2 × n) hold the current values and the ones
    before; ``state`` holds the momentum and ‖z‖² (∞ at the beginning, where only α, u and v are given). ``step`` is
    1 / (A_i + A_j) for each edge, half of that if ``bound`` is not 0.
    """
    n, m = residual.shape[1], heads.shape[0]
    slope, aim = np.empty(n), np.empty(n)
    least = 0.0
    for i in range(n):
        least += ZERO * pull[i] ** 2
    if state[1] == np.inf:
        for i in range(n):
            residual[0, i] = ends[0, 0, i] - ends[1, 0, i] - pull[i]
        for e in range(m):
            residual[0, heads[e]] += weight[e] * alpha[0, e]
            residual[0, tails[e]] -= weight[e] * alpha[0, e]
        state[0], state[1] = 1.0, 0.0
        for i in range(n):
            state[1] += residual[0, i] ** 2
            residual[1, i] = residual[0, i]
    for count in range(iterations):
        if state[1] <= least:
            return True
        after = 0.5 + np.sqrt(0.25 + state[0] ** 2)
        momentum = (state[0] - 1) / after
        for i in range(n):
            slope[i] = residual[0, i] + momentum * (residual[0, i] - residual[1, i])
            residual[1, i] = residual[0, i]
            residual[0, i] = -pull[i]
        for e in range(m):
            i, j = heads[e], tails[e]
            old = alpha[0, e]
            new = old + momentum * (old - alpha[1, e]) - step[e] * (slope[i] - slope[j])
            new = min(max(new, -1.0), 1.0)
            alpha[1, e], alpha[0, e] = old, new
            residual[0, i] += weight[e] * new
            residual[0, j] -= weight[e] * new
        if bound > 0:
            for side in range(2):
                sign = 1.0 - 2 * side
                for i in range(n):
                    old = ends[side, 0, i]
                    aim[i] = old + momentum * (old - ends[side, 1, i]) - 0.25 * sign * slope[i]
                    ends[side, 1, i] = old
                level = _level(aim, bound)
                for i in range(n):
                    new = max(aim[i] - level, 0.0)
                    ends[side, 0, i] = new
                    residual[0, i] += sign * new
        value = 0.0
        for i in range(n):
            value += residual[0, i] ** 2
        if value > state[1] * (1 + ROUNDING) and momentum > 0:  # back to where it was, without momentum
            alpha[0] = alpha[1]
            residual[0] = residual[1]
            if bound > 0:
                ends[:, 0] = ends[:, 1]
            state[0] = 1.0
            continue
        state[0], state[1] = after, value
        if count % 10 == 9 and _gap(heads, tails, weight, bound, pull, residual[0]) <= tol * value:
            return True
    return state[1] <= least or _gap(heads, tails, weight, bound, pull, residual[0]) <= tol * state[1]
