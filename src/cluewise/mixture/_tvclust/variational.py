"""Variational inference for TVClust: the updates and the bound of a truncated mixture with reports on pairs.

The factors are q(v) q(θ) q(z_i) q(p) q(q), see [Blei2006]_ for the mixture and [Khashabi2015]_ for the reports.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from cluewise._typing import Floats, Ints
from cluewise.kernels import variational
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise
from cluewise.mixture._tvclust.priors import Base
from cluewise.mixture._tvclust.sticks import Sticks, sticks_of

__all__ = [
    "Beliefs",
    "Model",
    "blocks_of",
    "bound",
    "doubts",
    "globals_of",
    "locals_of",
    "model_of",
    "occupied",
    "scores_of",
    "softmax",
    "together",
]

SLICE = 2**22
"""Numbers of memberships that one call of the kernel reads, so that Ctrl-C is heard."""

BLOCK = 2**17
"""Numbers in a block of reports times clusters."""

TINY = 1e-300
"""Stands for a membership of zero where its logarithm is wanted."""


class Model(NamedTuple):
    """What stays the same: the rows, the reports about them and all priors."""

    X: Any  # (n, d) float64
    pairs: Evidence
    base: Base
    noise: Noise  # prior of p and q
    concentration: float  # α
    tied: Ints  # rows with reports, in the order in which they are visited
    free: Ints  # the others


class Beliefs(NamedTuple):
    """The global factors: sticks, clusters, noise of the reports."""

    sticks: Sticks
    clusters: Any  # posterior of the base
    noise: Noise


def model_of(X: Any, pairs: Evidence, base: Base, noise: Noise, concentration: float) -> Model:
    """A model whose tied rows are visited by their number."""
    tied = np.diff(pairs.indptr) > 0
    return Model(X, pairs, base, noise, concentration, np.flatnonzero(tied), np.flatnonzero(~tied))


def together(pairs: Evidence, membership: Floats) -> Floats:
    """(m,) h_ij = r_i · r_j for every report."""
    near = np.empty(len(pairs))
    for block in blocks_of(len(pairs), membership.shape[1]):
        variational.pair_products(pairs.first[block], pairs.second[block], membership, near[block])
    return np.minimum(near, 1.0)  # rounding


def blocks_of(m: int, k: int) -> list[slice]:
    """Reports in blocks."""
    size = max(BLOCK // k, 1)
    return [slice(start, min(start + size, m)) for start in range(0, m, size)]


def globals_of(membership: Floats, model: Model) -> Beliefs:
    """The global updates: sticks, clusters, p and q given the memberships."""
    base: Any = model.base
    sticks = sticks_of(membership.sum(axis=0), model.concentration)
    clusters = base.posterior(base.statistics(model.X, membership))
    return Beliefs(sticks, clusters, model.noise.updated(model.pairs, together(model.pairs, membership)))


def scores_of(beliefs: Beliefs, model: Model) -> Floats:
    """(n, T) ln ρ without reports: ⟨ln π_t⟩ + ⟨ln p(x_i | θ_t)⟩."""
    scores = model.base.expected(model.X, beliefs.clusters)
    scores += beliefs.sticks.log_weights()
    return scores


def softmax(scores: Floats) -> Floats:
    """Rows that sum to one, proportional to exp(scores)."""
    out = np.exp(scores - scores.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def pulls(pairs: Evidence, noise: Noise) -> Floats:
    """(m,) what a report adds to the log-odds that its ends are together: ln p/(1 − q), or −ln q/(1 − p)."""
    p, not_p, q, not_q = noise.logs()
    return pairs.weight * np.where(pairs.is_must, p - not_q, not_p - q)


def locals_of(membership: Floats, scores: Floats, beliefs: Beliefs, model: Model) -> Floats:
    """The local updates: free rows at once, tied rows one after the other, each seeing the newest of the others."""
    new = np.empty_like(membership)
    new[model.free] = softmax(scores[model.free]) if len(model.free) else 0.0
    new[model.tied] = membership[model.tied]
    pairs, pull = model.pairs, pulls(model.pairs, beliefs.noise)
    read = np.cumsum(np.diff(pairs.indptr)[model.tied] + 1) * membership.shape[1]
    for rows in np.split(model.tied, np.flatnonzero(np.diff(read // SLICE)) + 1):
        variational.update_rows(rows, scores, pairs.indptr, pairs.neighbor, pairs.report, pull, new)
    return new


def bound(membership: Floats, scores: Floats, beliefs: Beliefs, model: Model) -> float:
    """The lower bound of the log evidence; ``scores`` are those of the beliefs."""
    p, not_p, q, not_q = beliefs.noise.logs()
    pairs, base = model.pairs, model.base
    near = together(pairs, membership)
    if_near, if_far = np.where(pairs.is_must, p, not_p), np.where(pairs.is_must, not_q, q)
    value = float(np.einsum("it,it->", membership, scores)) + float(entr(membership).sum())
    value += float(pairs.weight @ (near * if_near + (1 - near) * if_far))
    value -= float(base.divergence(beliefs.clusters).sum())
    return value - beliefs.sticks.divergence(model.concentration) - beliefs.noise.divergence(model.noise)


def doubts(membership: Floats, noise: Noise, pairs: Evidence) -> Floats:
    """(m,) probability that each report is wrong, from the joint distribution of its two ends given all others.

    The factors q(z_i) and q(z_j) have both heard the report already. What it told them is taken back, then it is
    weighed once, by Bayes' rule: S p/(S p + (1 − S)(1 − q)) for a must, where S = Σ_t of the products.
    """
    pull = pulls(pairs, noise)
    wrong = np.empty(len(pairs))
    for block in blocks_of(len(pairs), membership.shape[1]):
        one, two = membership[pairs.first[block]], membership[pairs.second[block]]
        strength = pull[block, None]
        before = softmax(np.log(one + TINY) - strength * two) * softmax(np.log(two + TINY) - strength * one)
        near = np.clip(before.sum(axis=1), TINY, 1.0)
        with np.errstate(divide="ignore"):
            odds = np.log(near) - np.log1p(-near) + pull[block]  # that they are together
        wrong[block] = 1 / (1 + np.exp(np.clip(np.where(pairs.is_must[block], odds, -odds), -700, 700)))
    return wrong


def occupied(membership: Floats) -> Floats:
    """(T + 1,) probability that so many clusters have rows, their being empty taken as independent events."""
    filled = 1 - np.exp(np.log1p(-np.minimum(membership, 1 - 1e-16)).sum(axis=0))
    chance = np.zeros(membership.shape[1] + 1)
    chance[0] = 1.0
    for t, share in enumerate(filled):
        chance[1 : t + 2] = chance[1 : t + 2] * (1 - share) + chance[: t + 1] * share
        chance[0] *= 1 - share
    return chance
