"""Steps of TVClust by variational inference, with moves of whole clusters: sorting and mergers [Ueda2002]_.

At the optimal beliefs given the memberships, the bound is a sum of log marginal likelihoods, log Beta functions and an
entropy. For two merged clusters these are known from the sufficient statistics, without another pass over the rows.
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

__all__ = ["State", "ascend", "begin", "reorder", "merge", "merge_gains", "plain_step", "step"]

ROUNDING = 1e-10
"""Relative rounding error of the bound."""

EMPTY = 1e-3
"""Clusters with a smaller expected number of rows are not merged."""


PATIENCE = 5
"""Iterations between two attempts to merge clusters."""

SETTLED = 5e-3
"""Gain per row of an iteration below which mergers are tried."""


class State(NamedTuple):
    """What the next iteration needs."""

    membership: Floats  # (n, T) r
    names: Ints  # (T,) number of each cluster at the start
    beliefs: Beliefs | None = None  # that the memberships were made with
    value: float = -np.inf  # the bound
    wait: int = 0  # iterations until the next attempt to merge


def reorder(state: State, concentration: float) -> State:
    """The same memberships, with clusters from large to small if that raises the bound."""
    order = better_order(state.membership.sum(axis=0), concentration)
    if order is None:
        return state
    return state._replace(membership=np.ascontiguousarray(state.membership[:, order]), names=state.names[order])


def _crossings(pairs: Evidence, membership: Floats) -> tuple[Floats, Floats]:
    """(T, T) expected weights of the must and of the cannot reports with one end in each cluster, symmetric."""
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
    """Terms of p and q, given the weights of must and cannot reports about pairs that are together."""
    far_must, far_cannot = np.maximum(total[0] - near_must, 0.0), np.maximum(total[1] - near_cannot, 0.0)  # rounding
    value = betaln(prior.must_right + near_must, prior.must_wrong + near_cannot)
    return value + betaln(prior.cannot_right + far_cannot, prior.cannot_wrong + far_must)


def _stick_terms(mass: Floats, concentration: float) -> float:
    """Terms of the sticks, with clusters from large to small."""
    sticks = sticks_of(np.sort(mass)[::-1], concentration)
    return float(betaln(sticks.taken, sticks.left).sum())


def merge_gains(membership: Floats, model: Model) -> tuple[Ints, Ints, Floats]:
    """Gain of the bound for merging two clusters: first, second and gain, for all pairs of clusters with rows."""
    base: Any = model.base
    pairs, alpha = model.pairs, model.concentration
    statistics = base.statistics(model.X, membership)
    mass = membership.sum(axis=0)
    alive = np.flatnonzero(mass > EMPTY)
    first, second = (alive[i] for i in np.triu_indices(len(alive), 1))
    alone = base.log_marginal(statistics)
    gain = -(alone[first] + alone[second])
    for t in alive[:-1]:  # one at a time: covariances of all pairs would take much memory
        mine = first == t
        gain[mine] += base.log_marginal(base.merge(statistics, first[mine], second[mine]))
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
    """The state after merging the best two clusters at a time while that raises the bound; None if it never does."""
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
        # The lower name stays, whichever cluster is larger, so that names do not depend on rounding.
        names[t], names[u] = sorted((names[t], names[u]))
        new = state = state._replace(membership=membership, names=names)


def begin(membership: Floats) -> State:
    """The state before the first iteration."""
    return State(membership, np.arange(membership.shape[1]))


def ascend(state: State, model: Model) -> State:
    """Global updates, then local updates (section 3.3 of the paper, in mean field); the bound never falls."""
    beliefs = variational.globals_of(state.membership, model)
    scores = variational.scores_of(beliefs, model)
    new = variational.locals_of(state.membership, scores, beliefs, model)
    return State(new, state.names, beliefs, variational.bound(new, scores, beliefs, model))


def _moved(before: float, now: float) -> int:
    """0 if the bound has changed by rounding only, else 1."""
    return int(abs(now - before) > ROUNDING * abs(now))


def plain_step(state: State, model: Model) -> tuple[State, loop.Info]:
    """One iteration without moves of whole clusters, as for the tables in the paper."""
    new = ascend(state, model)
    return new, loop.Info(-new.value, _moved(state.value, new.value))


def step(state: State, model: Model, tol: float) -> tuple[State, loop.Info]:
    """One iteration; once the bound gains little, clusters are merged where that raises it.

    The iterations stop when the bound gains at most ``tol`` per row, an absolute criterion, because the value of the
    bound depends on the units of X.
    """
    n = len(state.membership)
    new = ascend(reorder(state, model.concentration), model)
    gain = (new.value - state.value) / n
    wait = max(state.wait - 1, 0)
    if gain <= tol or (gain <= SETTLED and wait == 0):
        joined = merge(new, model)
        wait = PATIENCE
        if joined is not None:
            new = ascend(reorder(joined, model.concentration), model)
            wait = 0
    # Memberships keep changing after the labels do not, so the bound is the stopping criterion.
    moved = _moved(state.value, new.value) and int((new.value - state.value) / n > tol)
    return new._replace(wait=wait), loop.Info(-new.value, moved)
