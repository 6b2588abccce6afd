"""Annealing of an information bottleneck: from the temperature where the first clusters split down to hard clusters."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats
from cluewise.alternative._ib.joint import Joint, Part
from cluewise.alternative._ib.steps import Pull, State, advance, begin, step
from cluewise.core import loop

__all__ = ["Schedule", "anneal", "critical"]

NUDGE = 0.01
"""Size of the perturbation of log memberships at each temperature."""

ROUNDING = 1e-12
"""Share of the highest possible temperature below which a critical temperature is rounding error."""

HARD = 1e-3
"""Share of the maximum entropy of memberships below which they count as hard."""

STALLED = 1e-6
"""Relative change of the objective at which a temperature above the last one is left.

With many rows, some always lie between two clusters and keep changing; waiting for them took more than half of all
iterations and did not lower the final objective.
"""


class Schedule(NamedTuple):
    """Temperatures and stopping criteria."""

    first: float  # temperature
    last: float
    cooling: float  # factor from one temperature to the next
    max_iter: int  # at each temperature
    tol: float


def critical(joint: Joint, pull: Pull, drawn: Floats) -> float:
    """The temperature above which a single cluster is stable: the largest eigenvalue of the linearized update.

    With q = (1 + f) / k the update takes f to (B f) / rho, where
    B f = lam E[E[f|Y] - E f | x] + mu E[E[f|Y,Z] - E[f|Z] | x]. The eigenvalue is found by power iteration from
    ``drawn`` (d,), a random function of columns. Values at the level of rounding errors are returned as 0.
    """
    f, value = _average(joint, np.tile(drawn, (joint.patterns, 1))), 0.0
    for _ in range(50):
        f -= joint.share @ f
        size = float(np.sqrt(joint.share @ f**2))
        if not size > 0:
            return 0.0
        f /= size
        g = _linearize(joint, pull, f)
        before, value = value, float(joint.share @ (f * g))
        if value - before <= 1e-3 * value:
            break
        f = g
    highest = pull.lam + pull.mu
    return min(value, highest) if value > ROUNDING * highest else 0.0


def _linearize(joint: Joint, pull: Pull, f: Floats) -> Floats:
    """B f."""

    def both(part: Part, x: Any) -> Floats:
        share = joint.share[part.rows] * joint.scale[part.rows]
        return np.asarray(np.stack([share * f[part.rows], share]) @ x)

    tables = np.zeros((joint.patterns, 2, joint.d))
    for part, table in joint.each(both):
        tables[part.pattern] += table
    whole, cells = tables.sum(axis=0), joint.cells(tables)
    about = _mean(whole) - whole[0].sum()
    inside = _mean(cells.swapaxes(0, 1)) - _mean(cells.sum(axis=2).T)[:, None]
    mixed = pull.mu * joint.spread(inside) + pull.lam * about
    return _average(joint, mixed)


def _mean(pair: Floats) -> Floats:
    """First over second, 0 where the second is 0."""
    return np.divide(pair[0], pair[1], out=np.zeros_like(pair[0]), where=pair[1] > 0)


def _average(joint: Joint, table: Floats) -> Floats:
    """(n,) the mean over p(y|x) of a function of columns and patterns."""
    out = np.empty(joint.n)

    def work(part: Part, x: Any) -> Floats:
        return np.asarray(x @ table[part.pattern]).ravel() * joint.scale[part.rows]

    for part, own in joint.each(work):
        out[part.rows] = own
    return out


def anneal(
    joint: Joint, k: int, pull: Pull, schedule: Schedule, rng: np.random.Generator, watch: loop.Watch
) -> loop.Result[State]:
    """Clusters at the last temperature; the trace has the objectives at all temperatures.

    Clusters that coincide at a high temperature stay equal unless they are perturbed. One nudge, the same for all
    temperatures and groups, decides how they split. It is a function of the columns, so that groups that differ in the
    same columns split in the same way, and the order of the rows does not matter.
    """
    nudge = NUDGE * rng.uniform(-1, 1, size=(k, joint.d))
    state = begin(joint, pull, schedule.first, np.full((joint.n, k), 1 / k))
    move = partial(step, tol=schedule.tol)
    slack = 1e-10 * (1 + pull.lam + pull.mu)
    before: list[float] = []
    stop = converged = False

    def watch_all(state: State, trace: list[float]) -> bool:
        nonlocal stop
        stop = watch(state, before + trace)
        return stop

    while not stop:
        last = state.rho <= schedule.last
        start = state if last else advance(state, nudge)
        limits = loop.Limits(schedule.max_iter, 0.0 if last else STALLED, watch_all)
        ran = loop.run(move, start, limits, slack)
        state, before, converged = ran.state, before + ran.trace, ran.converged
        if last:
            break
        # Hard memberships hardly change with the temperature, so the temperatures between can be skipped.
        hard = _entropy(state) < HARD * np.log(max(k, 2))
        state = state._replace(rho=schedule.last if hard else max(state.rho * schedule.cooling, schedule.last))
    return loop.Result(state, before, converged and not stop)


def _entropy(state: State) -> float:
    """H(C|X): 0 for hard clusters."""
    held = state.shares[state.shares > 0]
    return -float(held @ np.log(held)) - state.information[0]
