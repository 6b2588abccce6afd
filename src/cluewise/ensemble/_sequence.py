"""One update of SCSC: new links move the weights of the partitions, whatever the number of rows [Yi2015]_."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Pairs
from cluewise.ensemble import _weighting as weighting
from cluewise.ensemble._aligned import Ensemble
from cluewise.ensemble._weighting import Ends
from cluewise.kernels import consensus

__all__ = ["Rule", "State", "begin", "step"]

RIDGE = 1e-8
"""Pull toward equal weights, for each link, that makes the minimum unique when all links are kept."""

FIRM = 10.0
"""Default inertia of the relaxed update: a violated link costs a partition a fifth of 1/m. Chosen by experiment."""

CHUNK = 1024
"""Links whose labels are looked up at once."""


class Rule(NamedTuple):
    """How links move the weights."""

    exact: bool  # Eq. (8) instead of the relaxed Eq. (11)
    whole: bool  # all links since the start count, instead of the new ones and the weights before
    trust: float
    inertia: float | None  # λ; None: 10, or for exact updates the weight of the links before


class State(NamedTuple):
    """What the next update needs; its size does not depend on the number of rows."""

    gamma: Floats  # (m,) on the simplex
    violated: Floats  # (m,) e, summed over all links so far
    loss: Floats | None  # (m, m) A, summed over all links so far; only where it is needed
    seen: float  # weight of all links so far


def begin(m: int, rule: Rule) -> State:
    """Equal weights."""
    loss = np.zeros((m, m)) if rule.exact and rule.whole else None
    return State(np.full(m, 1 / m), np.zeros(m), loss, 0.0)


def step(state: State, pairs: Pairs, ensemble: Ensemble, rule: Rule) -> tuple[State, float]:
    """Move the weights by new links; return them and the objective that they minimize.

    An exact update minimizes Eq. (8), γᵀAγ + λ‖γ − γ′‖², by projected gradient; a relaxed one the limit of Eq. (11),
    C e·γ + λ‖γ − γ′‖² with C = 4/m, in closed form. γ′ are the weights before. If all links count (``whole``), A and e
    sum over all of them, and γ′ are equal weights.
    """
    m = len(state.gamma)
    weight = pairs.total_weight
    if not weight:
        return state, 0.0
    violated, loss = _sum_links(pairs, ensemble, rule.exact)
    total = State(state.gamma, state.violated + violated, None, state.seen + weight)
    if rule.exact:
        anchor, inertia = state.gamma, max(state.seen, 1.0) if rule.inertia is None else rule.inertia
        if rule.whole:
            assert state.loss is not None
            loss = state.loss + loss
            total = total._replace(loss=loss)
            anchor, inertia = np.full(m, 1 / m), max(rule.inertia or 0.0, RIDGE * total.seen)
        solution = weighting.minimize(rule.trust * loss, anchor, inertia, state.gamma)
        return total._replace(gamma=solution.gamma), solution.trace[-1]
    charge, inertia = rule.trust * 4 / m, FIRM if rule.inertia is None else rule.inertia
    anchor = state.gamma
    if rule.whole:
        anchor, violated = np.full(m, 1 / m), total.violated
    gamma = weighting.solve_relaxed(anchor, violated, charge / (2 * inertia))
    value = charge * violated @ gamma + inertia * np.square(gamma - anchor).sum()
    return total._replace(gamma=gamma), float(value)


def _sum_links(pairs: Pairs, ensemble: Ensemble, exact: bool) -> tuple[Floats, Floats]:
    """The vector e of some links and, for exact updates, the matrix A."""
    m = len(ensemble.labels)
    violated, loss = np.zeros(m), np.zeros((m, m) if exact else 0)
    for start in range(0, max(len(pairs.must), len(pairs.cannot)), CHUNK):
        some = slice(start, start + CHUNK)
        must = _look_up(ensemble, pairs.must[some], pairs.must_weight[some], exact)
        cannot = _look_up(ensemble, pairs.cannot[some], pairs.cannot_weight[some], exact)
        violated += weighting.sum_violations(must, cannot)
        if exact:
            loss += weighting.sum_losses(must, cannot)
    return violated, loss


def _look_up(ensemble: Ensemble, rows: Ints, weight: Floats, exact: bool) -> Ends:
    """The clusters of the ends of some pairs in every partition.

    Which pairs a partition violates can be seen from its own labels; only A compares clusters across partitions.
    """
    m, p = len(ensemble.labels), len(rows)
    labels = np.empty((m, 2 * p), dtype=ensemble.labels.dtype)
    consensus.pick(ensemble.labels, np.arange(m), rows.T.ravel(), labels, 0)
    if exact:
        named = np.empty(labels.shape, dtype=ensemble.clusters.dtype)
        for k, clusters in enumerate(ensemble.clusters):
            named[k] = clusters[labels[k]]
        labels = named
    sides = np.ascontiguousarray(labels.T)
    return Ends(sides[:p], sides[p:], weight)
