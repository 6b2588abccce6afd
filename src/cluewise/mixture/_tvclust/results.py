"""Results of TVClust, from memberships of variational inference or from draws of a sampler.

Draws are summarized by the one that is closest to all others [Dahl2006]_.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.mixture._tvclust.gibbs import GibbsDraws, together
from cluewise.mixture._tvclust.pair_evidence import share_together
from cluewise.mixture._tvclust.variational import Beliefs, Model, doubts, occupied

__all__ = ["Findings", "align", "find_central", "from_draws", "from_memberships", "squared_losses"]

MOST = 200
"""Maximum number of draws that are compared with each other; more are thinned evenly."""


class Findings(NamedTuple):
    """Results for the k clusters that have rows."""

    labels: Ints  # (n,) int32
    membership: Floats  # (n, k)
    weights: Floats  # (k,)
    clusters: Any  # posterior of the base for k clusters
    count_probability: Floats  # [c] = probability of c clusters
    rates: Floats  # (s, 2) expected p and q given each draw; one row for the variational engine
    near: Floats  # (s,) share of the reported pairs that are together
    wrong: Floats  # (m,) probability that each report is wrong


def from_memberships(membership: Floats, names: Ints, beliefs: Beliefs, model: Model) -> Findings:
    """Each row goes to its most likely cluster; clusters without rows are left out, the others keep their order."""
    old, labels = np.unique(names[membership.argmax(axis=1)], return_inverse=True)
    alive = np.argsort(names)[old]
    clusters = type(beliefs.clusters)(*(part[alive] for part in beliefs.clusters))
    share, weights = membership[:, alive], beliefs.sticks.weights()[alive]
    weights /= weights.sum()
    wrong = doubts(membership, beliefs.noise, model.pairs)
    near = np.where(model.pairs.is_must, 1 - wrong, wrong)
    return Findings(
        labels.astype(np.int32),
        share / share.sum(axis=1, keepdims=True),
        weights,
        clusters,
        occupied(membership),
        np.array([beliefs.noise.means()]),
        np.array([share_together(near, model.pairs, weights)]),
        wrong,
    )


def from_draws(draws: GibbsDraws, model: Model) -> Findings:
    """Labels and clusters of the central draw; probabilities are averaged over all draws."""
    labels = draws.labels[find_central(draws.labels, draws.log_joint)]
    base: Any = model.base
    n, k = len(labels), int(labels.max()) + 1
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1.0
    clusters = base.posterior(base.statistics(model.X, members))
    weights = members.mean(axis=0)
    rates, near = np.empty((len(draws.labels), 2)), np.empty(len(draws.labels))
    for s, draw in enumerate(draws.labels):
        joined = together(model.pairs, draw)
        rates[s] = model.noise.update(model.pairs, joined).means()
        near[s] = share_together(joined, model.pairs, weights)
    return Findings(
        labels.astype(np.int32),
        align(draws.labels, labels),
        weights,
        clusters,
        np.bincount(draws.n_clusters) / len(draws.n_clusters),
        rates,
        near,
        draws.pair_wrong,
    )


def squared_losses(draws: Ints) -> Floats:
    """(s,) Σ_ij ([z_i = z_j] − π_ij)² up to a constant, π_ij the share of draws that put i and j together.

    Σ_ij [z_i = z_j] π_ij is the mean over the draws of Σ_kl n_kl², the squared number of rows in cluster k of one
    partition and cluster l of the other. This takes O(s² n) time and no n × n matrix.
    """
    count, width = len(draws), int(draws.max(initial=0)) + 1
    shared = np.zeros((count, count))
    for a in range(count):
        cell = draws[a].astype(np.int64) * width
        for b in range(a + 1):
            table = np.bincount(cell + draws[b])  # contingency table of the two partitions
            shared[a, b] = shared[b, a] = float(table @ table)
    return np.diag(shared) - 2 * shared.mean(axis=1)


def find_central(draws: Ints, log_joint: Floats) -> int:
    """Index of the draw with the smallest squared loss; among equals the most probable one."""
    picked = np.unique(np.linspace(0, len(draws) - 1, min(len(draws), MOST)).round().astype(np.int64))
    loss = squared_losses(draws[picked])
    near = np.flatnonzero(loss <= loss.min() + 1e-9 * np.abs(loss).max(initial=1.0))
    return int(picked[near[np.argmax(log_joint[picked[near]])]])


def align(draws: Ints, labels: Ints) -> Floats:
    """(n, k) share of draws in which most rows of each row's cluster are in cluster k of ``labels``."""
    n, k = len(labels), int(labels.max()) + 1
    out = np.zeros((n, k))
    for draw in draws:
        clusters = int(draw.max()) + 1
        table = np.bincount(draw.astype(np.int64) * k + labels, minlength=clusters * k).reshape(clusters, k)
        out[np.arange(n), table.argmax(axis=1)[draw]] += 1
    return out / len(draws)
