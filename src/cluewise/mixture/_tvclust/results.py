"""What TVClust publishes, from memberships of variational inference or from draws of a sampler."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.mixture._tvclust.coclustering import aligned, central
from cluewise.mixture._tvclust.gibbs import GibbsDraws, together
from cluewise.mixture._tvclust.pair_evidence import share_together
from cluewise.mixture._tvclust.variational import Beliefs, Model, doubts, occupied

__all__ = ["Findings", "from_draws", "from_memberships"]


class Findings(NamedTuple):
    """The result about k clusters with rows."""

    labels: Ints  # (n,) int32
    membership: Floats  # (n, k)
    weights: Floats  # (k,)
    clusters: Any  # posterior of the base for k clusters
    count_probability: Floats  # [c] = probability of c clusters
    rates: Floats  # (s, 2) expected p and q given each draw; one row for the variational engine
    near: Floats  # (s,) share of the reported pairs that are together
    wrong: Floats  # (m,) probability that each report is wrong


def from_memberships(membership: Floats, names: Ints, beliefs: Beliefs, model: Model) -> Findings:
    """Each row goes to its likeliest cluster; clusters that get no row are left out, the others keep their order."""
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
    """The draw in the middle of the others by least squares; what it leaves open is answered by all draws."""
    labels = draws.labels[central(draws.labels, draws.log_joint)]
    base: Any = model.base
    n, k = len(labels), int(labels.max()) + 1
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1.0
    clusters = base.posterior(base.statistics(model.X, members))
    weights = members.mean(axis=0)
    rates, near = np.empty((len(draws.labels), 2)), np.empty(len(draws.labels))
    for s, draw in enumerate(draws.labels):
        linked = together(model.pairs, draw)
        rates[s] = model.noise.updated(model.pairs, linked).means()
        near[s] = share_together(linked, model.pairs, weights)
    return Findings(
        labels.astype(np.int32),
        aligned(draws.labels, labels),
        weights,
        clusters,
        np.bincount(draws.n_clusters) / len(draws.n_clusters),
        rates,
        near,
        draws.pair_wrong,
    )
