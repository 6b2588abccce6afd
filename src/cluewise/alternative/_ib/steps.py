"""Steps of the information bottlenecks [Tishby1999]_ [Gondek2004]_.

For a joint distribution of rows x, columns y and known groups z, and memberships q(c|x), the three bottlenecks maximize
(survey-algorithms 9.4)

    F(q) = mu I(C;Y|Z) + lam I(C;Y) - rho I(C;X).

All tables that depend on q are sums over rows, so one pass over X gives new memberships and their tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.alternative._ib.joint import Joint, Part, conditional, log, multiply, sum_tables
from cluewise.core import loop

__all__ = ["Pull", "State", "advance", "begin", "lead", "minus_gain", "reorder", "step"]

NOTHING = -600.0
"""Log ratio to the largest membership below which a membership is 0: denormal numbers are slow."""


class Pull(NamedTuple):
    """Weights of the two kinds of information."""

    lam: float  # lambda, of I(C;Y)
    mu: float  # of I(C;Y|Z)


class State(NamedTuple):
    """What the next step needs."""

    joint: Joint
    pull: Pull
    rho: float  # temperature
    q: list[Floats]  # q(c|x), (k, rows) for each part of the joint distribution
    shares: Floats  # (k,) p(c)
    about: Floats  # (k, d) log p(y|c)
    inside: Floats  # (groups, k, d) log p(y|c,z)
    information: tuple[float, float, float]  # I(C;X), I(C;Y), I(C;Y|Z)

    @property
    def memberships(self) -> Floats:
        """(n, k) q(c|x)."""
        out = np.empty((self.joint.n, len(self.shares)))
        for part, own in zip(self.joint.parts, self.q):
            out[part.rows] = own.T
        return out

    @property
    def labels(self) -> Ints:
        """The most likely cluster of each row."""
        out = np.empty(self.joint.n, dtype=np.int32)
        for part, own in zip(self.joint.parts, self.q):
            out[part.rows] = own.argmax(axis=0)
        return out


def _state(base: tuple[Joint, Pull, float], q: list[Floats], shares: Floats, tables: Floats, sharp: float) -> State:
    """The state of new memberships, whose sum of p(x) q log q is ``sharp``."""
    joint = base[0]
    cells, both = joint.cells(tables), tables.sum(axis=0)
    about, inside = conditional(both[None])[0], conditional(cells)
    held = shares[shares > 0]
    information = (
        max(sharp - float(held @ np.log(held)), 0.0),
        max(float((both * about).sum()) + joint.rest[0], 0.0),
        max(float((cells * inside).sum()) + joint.rest[1], 0.0),
    )
    return State(*base, q, shares, about, inside, information)


def begin(joint: Joint, pull: Pull, rho: float, memberships: Floats) -> State:
    """The state of given memberships (n, k)."""
    q = [np.ascontiguousarray(memberships[part.rows].T) for part in joint.parts]
    tables = sum_tables(joint, lambda part: q[part.number] * joint.share[part.rows])
    sharp = float(joint.share @ (memberships * log(memberships)).sum(axis=1))
    return _state((joint, pull, rho), q, joint.share @ memberships, tables, sharp)


def _evidence(state: State) -> Floats:
    """(patterns, k, d) score of each count for each cluster: lam log p(y|c) + mu sum_z p(z|x) log p(y|c,z)."""
    return state.pull.mu * state.joint.spread(state.inside) + state.pull.lam * state.about


def advance(state: State, nudge: Floats | None = None) -> State:
    """New memberships q ∝ p(c) exp(evidence / rho), the maximizer of F given the tables, and their tables.

    ``nudge`` (k, d) is added to the evidence of every group alike.
    """
    return _advance(state, nudge, np.inf)[0]


def _advance(state: State, nudge: Floats | None, tol: float) -> tuple[State, int]:
    """The same, and the number of rows with a membership that changed by more than ``tol``."""
    joint = state.joint
    evidence = _evidence(state) / state.rho
    if nudge is not None:
        evidence += nudge
    with np.errstate(divide="ignore"):  # log 0 = −∞: an empty cluster stays empty
        prior = np.log(state.shares)[:, None]

    def work(part: Part, x: Any) -> tuple[Floats, Floats, Floats, Floats]:
        share = joint.share[part.rows]
        # All in place: this pass takes nearly all of the time.
        score = multiply(x, evidence[part.pattern])
        score *= joint.scale[part.rows]
        score += prior
        score -= score.max(axis=0)
        np.maximum(score, NOTHING, out=score)
        q = np.exp(score)
        q *= score > NOTHING
        total = q.sum(axis=0)
        q /= total
        score *= q
        sharp = score.sum(axis=0) @ share - np.log(total) @ share
        np.subtract(q, state.q[part.number], out=score)
        moved = np.abs(score, out=score).max(axis=0) > tol
        np.multiply(q, share * joint.scale[part.rows], out=score)
        return np.asarray(score @ x), q, q @ share, np.array([sharp, moved.sum()])

    tables = np.zeros_like(evidence)
    shares, sums = np.zeros(len(prior)), np.zeros(2)
    new: list[Floats] = []
    for part, (table, q, held, own) in joint.each(work):
        tables[part.pattern] += table
        new.append(q)
        shares += held
        sums += own
    return _state((joint, state.pull, state.rho), new, shares, tables, float(sums[0])), int(sums[1])


def minus_gain(state: State) -> float:
    """-F, which is minimized."""
    cost, about, inside = state.information
    return state.rho * cost - state.pull.lam * about - state.pull.mu * inside


def step(state: State, *, tol: float) -> tuple[State, loop.Info]:
    """One round of the fixed-point equations; rows have moved if a membership changed by more than ``tol``."""
    new, moved = _advance(state, None, tol)
    return new, loop.Info(minus_gain(new), moved)


def reorder(state: State, key: Floats) -> State:
    """Sort clusters by a function of the columns, so that starts with the same clusters give them the same numbers."""
    order = np.argsort(np.exp(state.about) @ key, kind="stable")
    return state._replace(
        q=[own[order] for own in state.q],
        shares=state.shares[order],
        about=state.about[order],
        inside=state.inside[:, order],
    )


def lead(state: State) -> Floats:
    """(n,) lead of each row's cluster over the next best, in rho times log membership."""
    joint, evidence = state.joint, _evidence(state)
    out = np.full(joint.n, np.inf)
    prior = state.rho * log(state.shares)

    def work(part: Part, x: Any) -> Floats:
        score = multiply(x, evidence[part.pattern]) * joint.scale[part.rows] + prior[:, None]
        second, first = np.partition(score, -2, axis=0)[-2:]
        return np.asarray(first - second)

    if len(prior) > 1:
        for part, own in joint.each(work):
            out[part.rows] = own
    return out
