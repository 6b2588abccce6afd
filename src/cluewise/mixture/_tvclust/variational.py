"""Variational inference for TVClust: updates and bound of a truncated mixture with reports on pairs.

The factors are q(v) q(θ) q(z_i) q(p) q(q); see [Blei2006]_ for the mixture and [Khashabi2015]_ for the reports.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from cluewise._typing import Floats, Ints
from cluewise.kernels import variational
from cluewise.mixture._potts import softmax
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
    "together",
]

SLICE = 2**22
"""Number of memberships that one call of the kernel reads, so that Ctrl-C works."""

BLOCK = 2**17
"""Entries in a block of reports times clusters."""

TINY = 1e-300
"""Replaces a membership of zero in logarithms."""


class Model(NamedTuple):
    """Rows, reports and priors, which do not change."""

    X: Any  # (n, d) float64
    pairs: Evidence
    base: Base
    noise: Noise  # prior of p and q
    concentration: float  # α
    tied: Ints  # rows with reports, in the order in which they are visited
    free: Ints  # rows without reports


class Beliefs(NamedTuple):
    """The global factors: sticks, clusters and noise of the reports."""

    sticks: Sticks
    clusters: Any  # posterior of the base
    noise: Noise


def model_of(X: Any, pairs: Evidence, base: Base, noise: Noise, concentration: float) -> Model:
    """A model whose tied rows are visited in index order."""
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
    """Global updates: sticks, clusters, p and q given the memberships."""
    base: Any = model.base
    sticks = sticks_of(membership.sum(axis=0), model.concentration)
    clusters = base.posterior(base.statistics(model.X, membership))
    return Beliefs(sticks, clusters, model.noise.update(model.pairs, together(model.pairs, membership)))


def scores_of(beliefs: Beliefs, model: Model) -> Floats:
    """(n, T) ln ρ without reports: ⟨ln π_t⟩ + ⟨ln p(x_i | θ_t)⟩."""
    scores = model.base.expected_log_density(model.X, beliefs.clusters)
    scores += beliefs.sticks.log_weights()
    return scores


def pulls(pairs: Evidence, noise: Noise) -> Floats:
    """(m,) contribution of each report to the log-odds that its ends are together: ln p/(1 − q), or −ln q/(1 − p)."""
    p, not_p, q, not_q = noise.logs()
    return pairs.weight * np.where(pairs.is_must, p - not_q, not_p - q)


def locals_of(membership: Floats, scores: Floats, beliefs: Beliefs, model: Model) -> Floats:
    """Local updates: free rows at once, tied rows one at a time.

    The bound never falls only if each tied row uses the newest memberships of its neighbors.
    """
    new = np.empty_like(membership)
    new[model.free] = softmax(scores[model.free]) if len(model.free) else 0.0
    new[model.tied] = membership[model.tied]
    pairs, pull = model.pairs, pulls(model.pairs, beliefs.noise)
    read = np.cumsum(np.diff(pairs.indptr)[model.tied] + 1) * membership.shape[1]
    for rows in np.split(model.tied, np.flatnonzero(np.diff(read // SLICE)) + 1):
        variational.update_rows(rows, scores, pairs.indptr, pairs.neighbor, pairs.report, pull, new)
    return new


def bound(membership: Floats, scores: Floats, beliefs: Beliefs, model: Model) -> float:
    """Lower bound of the log evidence, with the ``scores`` of these beliefs."""
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

    The factors q(z_i) and q(z_j) both include the report already. Its effect is first removed from both; then it is
    counted once, by Bayes' rule: S p/(S p + (1 − S)(1 − q)) for a must, where S = Σ_t of the products.
    """
    pull = pulls(pairs, noise)
    wrong = np.empty(len(pairs))
    for block in blocks_of(len(pairs), membership.shape[1]):
        one, two = membership[pairs.first[block]], membership[pairs.second[block]]
        strength = pull[block, None]
        before = softmax(np.log(one + TINY) - strength * two) * softmax(np.log(two + TINY) - strength * one)
        near = np.clip(before.sum(axis=1), TINY, 1.0)
        with np.errstate(divide="ignore"):
            odds = np.log(near) - np.log1p(-near) + pull[block]  # log-odds of being together
        wrong[block] = 1 / (1 + np.exp(np.clip(np.where(pairs.is_must[block], odds, -odds), -700, 700)))
    return wrong


def occupied(membership: Floats) -> Floats:
    """(T + 1,) probability of each number of clusters with rows, as if clusters were empty independently."""
    filled = 1 - np.exp(np.log1p(-np.minimum(membership, 1 - 1e-16)).sum(axis=0))
    chance = np.zeros(membership.shape[1] + 1)
    chance[0] = 1.0
    for t, share in enumerate(filled):
        chance[1 : t + 2] = chance[1 : t + 2] * (1 - share) + chance[: t + 1] * share
        chance[0] *= 1 - share
    return chance
