"""RatioDCA: a vector of lower ratio, again and again, until there is none.

The ratio is (T − L) / V with T, L and V convex: what is cut and the price of all cannot-links, the price of those that
are parted, and the balance. With r and s subgradients of L and V at f, and λ the ratio of f, every g with
T(g) < ⟨r + λ s, g⟩ has a lower ratio than f; the lowest such g of length 1 is a convex problem, which the kernel
`variation.shorten` solves by its dual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats
from cluewise.kernels import variation
from cluewise.spectral._one_spectral.cuts import Bisection, Ranked, rank, slope_of_balance, slope_of_links

__all__ = ["Descent", "Inner", "descend", "start_inner"]

FIRST = 100
"""Iterations of the first attempt at an inner problem; twice as many in each further one."""

GAP = 1e-6
"""Duality gap, relative to the optimum, at which an inner problem is solved."""

LESS = 1e-9
"""Relative decrease of the ratio that counts."""

SLICE = 2 * 10**7
"""Edges and vertices that a call of the kernel visits, so that Ctrl-C is answered."""


class Descent(NamedTuple):
    """Where a descent has ended."""

    side: Floats  # (n,) indicator of the best threshold set
    ratio: float  # its ratio
    trace: list[float]  # the ratio after every step, falling


class Inner(NamedTuple):
    """The inner problem of some Bisection, with the dual values of the last step."""

    weight: Floats
    step: Floats
    bound: float
    alpha: Floats  # (2, m), (2, 2, n), (2, n) and (2,): see the kernel
    ends: Floats
    residual: Floats
    state: Floats

    def solve(self, problem: Bisection, pull: Floats, iterations: int) -> bool:
        """Run some iterations; true if the problem is solved."""
        size = max(SLICE // (len(self.weight) + 4 * len(pull)), 1)
        while iterations > 0:
            some = min(size, iterations)
            done = variation.shorten(
                problem.heads, problem.tails, self.weight, self.step, self.bound, pull,
                self.alpha, self.ends, self.residual, self.state, some, GAP,
            )  # fmt: skip
            if done:
                return True
            iterations -= some
        return False


def start_inner(problem: Bisection, f: Floats) -> Inner:
    """The inner problem, with a dual value that is optimal at f."""
    n, force, bound = len(f), problem.force, problem.bound
    degree = np.bincount(problem.heads, force, n) + np.bincount(problem.tails, force, n)
    both = degree[problem.heads] + degree[problem.tails]
    # At price 0 must-links that may break weigh nothing; where there is no other edge, any step will do.
    step = (0.5 if bound else 1.0) / np.where(both > 0, both, 1.0)
    alpha = np.tile(np.sign(f[problem.heads] - f[problem.tails]), (2, 1))
    ends = np.zeros((2, 2, n))
    for side, extreme in enumerate((f == f.max(), f == f.min())):
        ends[side, :, extreme] = bound / np.count_nonzero(extreme)
    return Inner(force, step, bound, alpha, ends, np.zeros((2, n)), np.array([1.0, np.inf]))


def descend(problem: Bisection, f: Floats, max_iter: int) -> Descent:
    """Descend from a vector that is not constant; then once more from the best threshold set of the vector found."""
    trace = [rank(problem, f).ratio]
    for _ in range(2):
        side = _descend_once(problem, f, max_iter, trace).best()
        ratio = rank(problem, side).ratio
        if (side == f).all():  # it has begun at this set, and nothing is better
            break
        trace.append(min(ratio, trace[-1]))
        f = side
    return Descent(side, ratio, trace)


def _descend_once(problem: Bisection, f: Floats, max_iter: int, trace: list[float]) -> Ranked:
    inner = start_inner(problem, f)
    ranked = rank(problem, f)
    while ranked.ratio > 0:
        found = _step(problem, inner, f, ranked, max_iter)
        if found is None:
            break
        f, ranked = found
        trace.append(ranked.ratio)
    return ranked


def _step(problem: Bisection, inner: Inner, f: Floats, ranked: Ranked, max_iter: int) -> tuple[Floats, Ranked] | None:
    """A vector of lower ratio; None if there is none."""
    pull = slope_of_links(problem, f) + ranked.ratio * slope_of_balance(problem, ranked)
    inner.state[1] = np.inf
    count, total = FIRST, 0
    while total < max_iter:
        count = min(count, max_iter - total)
        solved = inner.solve(problem, pull, count)
        total += count
        g = -inner.residual[0]
        if np.ptp(g) > 0:
            new = rank(problem, g)
            if new.ratio < ranked.ratio * (1 - LESS):
                return g, new
        if solved:
            break
        count *= 2
    return None
