"""Steps for the two problems of `XingMetric`; each lowers its objective [Xing2002]_."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core import loop
from cluewise.core.distances import metric

__all__ = [
    "Differences",
    "Full",
    "Weights",
    "cost",
    "full_step",
    "length",
    "newton_step",
    "rescale_root",
    "rescale_weights",
    "slopes",
    "wide_step",
]


class Differences(NamedTuple):
    """Differences of weighted pairs of rows of X, computed block by block when they are needed."""

    X: Floats
    ends: Ints  # (m, 2)
    weight: Floats  # (m,)

    def blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Differences and weights, block by block."""
        for part in metric.blocks(len(self.ends), self.X.shape[1]):
            yield metric.differences(self.X, self.ends[part]), self.weight[part]


class Full(NamedTuple):
    """A root of the metric, in coordinates in which M is the identity."""

    white: Floats  # (r, r) F with A = RRᵀ, R = M^{−1/2}F; ‖F‖² = f(A) = 1
    pull: Floats  # (d, r) KR
    inverse: Floats  # (r, d) M^{−1/2}


def length(apart: Differences, root: Floats) -> tuple[float, Floats]:
    """g(A), the summed distance of the cannot-links, and KR with K = Σ ΔΔᵀ/d_A (Eq. 35 of the survey)."""
    g, pull = 0.0, np.zeros_like(root)
    for off, weight in apart.blocks():
        turned = off @ root
        d = np.sqrt(np.einsum("ij,ij->i", turned, turned))
        g += float(weight @ d)
        turned *= np.divide(weight, d, out=np.zeros_like(d), where=d > 0)[:, None]
        pull += off.T @ turned
    return g, pull


def full_step(state: Full, *, apart: Differences) -> tuple[Full, loop.Info]:
    """Maximize the tangent of g at the current root over the ball ‖F‖² ≤ 1.

    ‖RᵀΔ‖ is convex in R, so the tangent is a lower bound of g and g never falls.
    """
    new, g = rescale_root(state.inverse @ state.pull, state.inverse, apart)
    return new, loop.Info(-g, 1)


def rescale_root(white: Floats, inverse: Floats, apart: Differences) -> tuple[Full, float]:
    """The state of any root F, scaled to f(A) = 1, and its g(A)."""
    white = white / np.linalg.norm(white)
    g, pull = length(apart, inverse.T @ white)
    return Full(white, pull, inverse), g


class Slopes(NamedTuple):
    """Derivatives of G(a), the summed distance of the cannot-links, with respect to the weights of the columns."""

    total: float  # G
    first: Floats  # (d,)
    second: Floats  # (d, d), or empty


def slopes(apart: Differences, a: Floats, *, curved: bool) -> Slopes:
    """G = Σ q, g₁ = Σ Δ²/2q, and −H₁ = Σ Δ²Δ²ᵀ/4q³ with q = √(Σ aΔ²)."""
    d = len(a)
    total, first, second = 0.0, np.zeros(d), np.zeros((d, d) if curved else (0, 0))
    for off, weight in apart.blocks():
        off *= off
        q = np.sqrt(off @ a)
        total += float(weight @ q)
        there = q > 0
        off, weight, q = off[there], weight[there], q[there]
        first += (weight / (2 * q)) @ off
        if curved:
            second += off.T @ (off * (weight / (4 * q**3))[:, None])
    return Slopes(total, first, second)


class Weights(NamedTuple):
    """A diagonal metric."""

    a: Floats  # (d,) one weight per column; zeros stay zero
    near: Floats  # (d,) s = Σ_must Δ²


def cost(apart: Differences, state: Weights) -> float:
    """F(a) = Σ_must aΔ² − log G(a) (Eq. 33 of the survey)."""
    return float(state.near @ state.a - np.log(slopes(apart, state.a, curved=False).total))


def newton_step(state: Weights, *, apart: Differences) -> tuple[Weights, loop.Info]:
    """A Newton step on F (Eq. 34 of the survey) inside a > 0, halved until F decreases enough."""
    a, near = state
    found = slopes(apart, a, curved=True)
    before = float(near @ a - np.log(found.total))
    slope = near - found.first / found.total
    curve = found.second / found.total + np.outer(found.first, found.first) / found.total**2
    # Relative to a the equations do not depend on the units of the columns, and zero weights stay zero.
    H = curve * np.outer(a, a)
    H[np.diag_indices_from(H)] += 1e-12 * np.trace(H)
    away = a * np.linalg.solve(H, a * slope)
    shrinking = away > 0
    t = min(1.0, 0.99 * float((a[shrinking] / away[shrinking]).min(initial=np.inf)))
    fall = float(slope @ away)
    for _ in range(50):
        new = Weights(a - t * away, near)
        after = cost(apart, new)
        if after <= before - 1e-4 * t * fall:
            return new, loop.Info(after, 1)
        t /= 2
    return state, loop.Info(before, 0)


def wide_step(state: Weights, *, apart: Differences) -> tuple[Weights, loop.Info]:
    """The step of `full_step` for weights of columns: a ← a (g₁/s)², at the optimal scale for F."""
    a, near = state
    first = slopes(apart, a, curved=False).first
    new = rescale_weights(a * np.divide(first, near, out=np.zeros_like(first), where=near > 0) ** 2, near)
    return new, loop.Info(cost(apart, new), 1)


def rescale_weights(a: Floats, near: Floats) -> Weights:
    """The multiple of a with the lowest F, for which Σ_must aΔ² = ½."""
    return Weights(a / (2 * (near @ a)), near)
