"""Information bottlenecks: what clusters of rows tell about columns, beside what is known [Tishby1999]_ [Gondek2004]_.

For a joint distribution of rows x, columns y and known groups z, and memberships q(c|x), the three bottlenecks maximize
(survey-algorithms 9.4)

    F(q) = mu I(C;Y|Z) + lam I(C;Y) - rho I(C;X).

All tables that depend on q are sums over rows, so that one pass over X makes new memberships and their tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core import loop
from cluewise.core.information.bottleneck_joint import Joint, Part, conditional, log, summed

__all__ = ["Pull", "State", "advance", "begin", "lead", "minus_gain", "ordered", "step"]


class Pull(NamedTuple):
    """How much the two kinds of information count."""

    lam: float  # lambda, of I(C;Y)
    mu: float  # of I(C;Y|Z)


class State(NamedTuple):
    """What the next step needs."""

    joint: Joint
    pull: Pull
    rho: float  # temperature
    memberships: Floats  # (n, k) q(c|x)
    shares: Floats  # (k,) p(c)
    about: Floats  # (k, d) log p(y|c)
    inside: Floats  # (groups, k, d) log p(y|c,z)
    told: tuple[float, float, float]  # I(C;X), I(C;Y), I(C;Y|Z)

    @property
    def labels(self) -> Ints:
        """The most likely cluster of each row."""
        return self.memberships.argmax(axis=1).astype(np.int32)


def _state(base: tuple[Joint, Pull, float], memberships: Floats, shares: Floats, tables: Floats, sharp: float) -> State:
    """The state of new memberships, whose sum of p(x) q log q is ``sharp``."""
    joint = base[0]
    cells, both = joint.cells(tables), tables.sum(axis=0)
    about, inside = conditional(both[None])[0], conditional(cells)
    held = shares[shares > 0]
    told = (
        max(sharp - float(held @ np.log(held)), 0.0),
        max(float((both * about).sum()) + joint.rest[0], 0.0),
        max(float((cells * inside).sum()) + joint.rest[1], 0.0),
    )
    return State(*base, memberships, shares, about, inside, told)


def begin(joint: Joint, pull: Pull, rho: float, memberships: Floats) -> State:
    """The state of given memberships (n, k)."""
    tables = summed(joint, lambda part: memberships[part.rows] * joint.share[part.rows, None])
    sharp = float(joint.share @ (memberships * log(memberships)).sum(axis=1))
    return _state((joint, pull, rho), memberships, joint.share @ memberships, tables, sharp)


def _evidence(state: State) -> Floats:
    """(patterns, k, d) what each count says for each cluster: lam log p(y|c) + mu sum_z p(z|x) log p(y|c,z)."""
    return state.pull.mu * state.joint.spread(state.inside) + state.pull.lam * state.about


def advance(state: State, nudge: Floats | None = None) -> State:
    """New memberships q ∝ p(c) exp(evidence / rho), the maximizer of F given the tables, and their tables.

    ``nudge`` (k, d) is added to the evidence of every group alike.
    """
    joint = state.joint
    speaks = _evidence(state) / state.rho
    if nudge is not None:
        speaks += nudge
    with np.errstate(divide="ignore"):  # a cluster without mass stays without
        prior = np.log(state.shares)
    new = np.empty_like(state.memberships)

    def work(part: Part, x: Any) -> tuple[Floats, Floats, float]:
        score = np.asarray(x @ speaks[part.pattern].T) * joint.scale[part.rows, None]
        score += prior
        score -= score.max(axis=1, keepdims=True)
        q = np.exp(score)
        total = q.sum(axis=1, keepdims=True)
        q /= total
        new[part.rows] = q
        # q log q, where 0 times minus infinity is 0
        sharp = np.einsum("ik,ik->i", q, np.maximum(score, -1e300)) - np.log(total[:, 0])
        weighted = q * joint.share[part.rows, None]
        table = np.asarray((weighted * joint.scale[part.rows, None]).T @ x)
        return table, weighted.sum(axis=0), float(sharp @ joint.share[part.rows])

    tables = np.zeros_like(speaks)
    shares, sharp = np.zeros(len(prior)), 0.0
    for part, (table, held, own) in joint.each(work):
        tables[part.pattern] += table
        shares += held
        sharp += own
    return _state((joint, state.pull, state.rho), new, shares, tables, sharp)


def minus_gain(state: State) -> float:
    """-F, which is minimized."""
    cost, about, inside = state.told
    return state.rho * cost - state.pull.lam * about - state.pull.mu * inside


def step(state: State, *, tol: float) -> tuple[State, loop.Info]:
    """One round of the self-consistent equations; a row has moved when a membership changed by more than ``tol``."""
    new = advance(state)
    moved = np.count_nonzero(np.abs(new.memberships - state.memberships).max(axis=1) > tol)
    return new, loop.Info(minus_gain(new), int(moved))


def ordered(state: State, key: Floats) -> State:
    """The same clusters, in the order of a function of the columns: starts that end alike then call them alike."""
    order = np.argsort(np.exp(state.about) @ key, kind="stable")
    return state._replace(
        memberships=state.memberships[:, order],
        shares=state.shares[order],
        about=state.about[order],
        inside=state.inside[:, order],
    )


def lead(state: State) -> Floats:
    """(n,) how far each row's cluster is ahead of the next, in rho times log membership."""
    joint, speaks = state.joint, _evidence(state)
    out = np.full(joint.n, np.inf)
    prior = state.rho * log(state.shares)

    def work(part: Part, x: Any) -> Floats:
        score = np.asarray(x @ speaks[part.pattern].T) * joint.scale[part.rows, None] + prior
        second, first = np.partition(score, -2, axis=1)[:, -2:].T
        return first - second

    if len(prior) > 1:
        for part, own in joint.each(work):
            out[part.rows] = own
    return out
