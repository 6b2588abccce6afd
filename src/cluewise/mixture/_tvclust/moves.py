"""Steps of TVClust by variational inference, with moves of whole clusters: order, and mergers [Ueda2002]_.

With the best beliefs given the memberships the bound is a sum of log marginal likelihoods, log Beta functions and an
entropy, all of which are known exactly for two joined clusters without another look at the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, entr

from cluewise._typing import Floats, Ints
from cluewise.core import loop
from cluewise.mixture._tvclust import variational
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise
from cluewise.mixture._tvclust.sticks import better_order, sticks_of
from cluewise.mixture._tvclust.variational import Beliefs, Model

__all__ = ["State", "ascend", "begin", "in_order", "merge", "merge_gains", "plain_step", "step"]

ROUNDING = 1e-10
"""Share of the bound that rounding may change."""

EMPTY = 1e-3
"""A cluster with less than this many rows has nothing to join."""


PATIENCE = 5
"""Iterations between two attempts to merge clusters."""

SETTLED = 5e-3
"""Merging is tried when an iteration gains less than this per row."""


class State(NamedTuple):
    """What the next iteration needs."""

    membership: Floats  # (n, T) r
    names: Ints  # (T,) number of each cluster at the start
    beliefs: Beliefs | None = None  # that the memberships were made with
    value: float = -np.inf  # the bound
    wait: int = 0  # iterations until the next attempt to merge


def in_order(state: State, concentration: float) -> State:
    """The same memberships, clusters from large to small if the bound likes that better."""
    order = better_order(state.membership.sum(axis=0), concentration)
    if order is None:
        return state
    return state._replace(membership=np.ascontiguousarray(state.membership[:, order]), names=state.names[order])


def _crossings(pairs: Evidence, membership: Floats) -> tuple[Floats, Floats]:
    """(T, T) expected weight of the must, and of the cannot reports with one end in each cluster, both ways."""
    k = membership.shape[1]
    tables = np.zeros((2, k, k))
    for block in variational.blocks_of(len(pairs), k):
        must, weight = pairs.is_must[block], pairs.weight[block]
        one, two = membership[pairs.first[block]], membership[pairs.second[block]]
        for table, mine in zip(tables, (weight * must, weight * ~must), strict=True):
            table += (one * mine[:, None]).T @ two
    tables += tables.transpose(0, 2, 1).copy()
    return tables[0], tables[1]


def _noise_terms(near_must: Any, near_cannot: Any, total: tuple[float, float], prior: Noise) -> Any:
    """Terms of p and q when so much of the weight of must and cannot reports is about pairs that are together."""
    far_must, far_cannot = np.maximum(total[0] - near_must, 0.0), np.maximum(total[1] - near_cannot, 0.0)  # rounding
    value = betaln(prior.must_right + near_must, prior.must_wrong + near_cannot)
    return value + betaln(prior.cannot_right + far_cannot, prior.cannot_wrong + far_must)


def _stick_terms(mass: Floats, concentration: float) -> float:
    """Terms of the sticks, clusters from large to small."""
    sticks = sticks_of(np.sort(mass)[::-1], concentration)
    return float(betaln(sticks.taken, sticks.left).sum())


def merge_gains(membership: Floats, model: Model) -> tuple[Ints, Ints, Floats]:
    """What joining two clusters adds to the bound: first, second and gain, for all pairs of clusters with rows."""
    base: Any = model.base
    pairs, alpha = model.pairs, model.concentration
    statistics = base.statistics(model.X, membership)
    mass = membership.sum(axis=0)
    alive = np.flatnonzero(mass > EMPTY)
    first, second = (alive[i] for i in np.triu_indices(len(alive), 1))
    alone = base.log_marginal(statistics)
    gain = -(alone[first] + alone[second])
    for t in alive[:-1]:  # one at a time: all at once would be many covariances
        mine = first == t
        gain[mine] += base.log_marginal(base.merged(statistics, first[mine], second[mine]))
    spread = entr(membership).sum(axis=0)
    now = _stick_terms(mass, alpha)
    for at, (t, u) in enumerate(zip(first, second, strict=True)):
        joined = mass.copy()
        joined[t], joined[u] = mass[t] + mass[u], 0.0
        gain[at] += entr(membership[:, t] + membership[:, u]).sum() - spread[t] - spread[u]
        gain[at] += _stick_terms(joined, alpha) - now
    must = pairs.is_must
    total = float(pairs.weight[must].sum()), float(pairs.weight[~must].sum())
    crossing = _crossings(pairs, membership)
    near = [0.5 * float(np.trace(table)) for table in crossing]
    then = _noise_terms(near[0] + crossing[0][first, second], near[1] + crossing[1][first, second], total, model.noise)
    return first, second, gain + then - _noise_terms(near[0], near[1], total, model.noise)


def merge(state: State, model: Model) -> State | None:
    """The state after joining clusters, the best two at a time, as long as the bound gains; None if it never does."""
    new = None
    while True:
        first, second, gain = merge_gains(state.membership, model)
        if not len(gain) or gain.max() <= 1e-9:
            return new
        best = int(np.round(gain, 9).argmax())
        t, u = first[best], second[best]
        membership, names = state.membership.copy(), state.names.copy()
        membership[:, t] += membership[:, u]
        membership[:, u] = 0.0
        # The older name stays, whichever of the two is larger: names must not hang on rounding.
        names[t], names[u] = sorted((names[t], names[u]))
        new = state = state._replace(membership=membership, names=names)


def begin(membership: Floats) -> State:
    """The state before the first iteration."""
    return State(membership, np.arange(membership.shape[1]))


def ascend(state: State, model: Model) -> State:
    """The global updates, then the local ones (section 3.3 of the paper, in mean field); the bound never falls."""
    beliefs = variational.globals_of(state.membership, model)
    scores = variational.scores_of(beliefs, model)
    new = variational.locals_of(state.membership, scores, beliefs, model)
    return State(new, state.names, beliefs, variational.bound(new, scores, beliefs, model))


def _moved(before: float, now: float) -> int:
    """0 when the bound has changed by rounding only."""
    return int(abs(now - before) > ROUNDING * abs(now))


def plain_step(state: State, model: Model) -> tuple[State, loop.Info]:
    """One iteration without moves of whole clusters, as the tables of the paper were made."""
    new = ascend(state, model)
    return new, loop.Info(-new.value, _moved(state.value, new.value))


def step(state: State, model: Model, tol: float) -> tuple[State, loop.Info]:
    """One iteration; when little happens clusters are merged where that raises the bound.

    Nothing has moved when the bound gains at most ``tol`` per row: its own value depends on the units of X.
    """
    n = len(state.membership)
    new = ascend(in_order(state, model.concentration), model)
    gain = (new.value - state.value) / n
    wait = max(state.wait - 1, 0)
    if gain <= tol or (gain <= SETTLED and wait == 0):
        joined = merge(new, model)
        wait = PATIENCE
        if joined is not None:
            new = ascend(in_order(joined, model.concentration), model)
            wait = 0
    # Memberships go on moving when no label does, so only the bound says when to stop.
    moved = _moved(state.value, new.value) and int((new.value - state.value) / n > tol)
    return new._replace(wait=wait), loop.Info(-new.value, moved)
