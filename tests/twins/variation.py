"""Plain NumPy twins of ``kernels.variation``: same names, same signatures, obvious code."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["shorten"]


def project(values: Floats, total: float) -> Floats:
    """The nearest vector that is at least 0 and sums to ``total``, by sorting."""
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    return np.maximum(values - level, 0)


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
    """FISTA on the dual, with matrices."""
    n, m = len(pull), len(heads)
    D = np.zeros((m, n))
    D[np.arange(m), heads] = 1
    D[np.arange(m), tails] = -1

    def z(a, u, v):
        return D.T @ (weight * a) + u - v - pull

    def gap(r):
        return weight @ abs(D @ r) + bound * np.ptp(r) + r @ (pull + r)

    parts = [alpha, ends[0], ends[1]]
    if state[1] == np.inf:
        residual[:] = z(*(part[0] for part in parts))
        state[:] = 1.0, residual[0] @ residual[0]
    for count in range(iterations):
        if state[1] <= 1e-18 * pull @ pull:
            return True
        after = (1 + np.sqrt(1 + 4 * state[0] ** 2)) / 2
        momentum = (state[0] - 1) / after
        ahead = [part[0] + momentum * (part[0] - part[1]) for part in parts]
        slope = residual[0] + momentum * (residual[0] - residual[1])
        new = [np.clip(ahead[0] - step * (D @ slope), -1, 1), ahead[1], ahead[2]]
        if bound > 0:
            new[1:] = [project(ahead[1] - slope / 4, bound), project(ahead[2] + slope / 4, bound)]
        found = z(*new)
        if found @ found > state[1] * (1 + 1e-12) and momentum > 0:
            for part in (*parts, residual):
                part[1] = part[0]
            state[0] = 1.0
            continue
        for part, value in zip((*parts, residual), (*new, found)):
            part[1], part[0] = part[0].copy(), value
        state[:] = after, found @ found
        if count % 10 == 9 and gap(residual[0]) <= tol * state[1]:
            return True
    return bool(state[1] <= 1e-18 * pull @ pull or gap(residual[0]) <= tol * state[1])
