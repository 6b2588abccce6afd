"""What TVClust publishes, from memberships of variational inference or from draws of a sampler."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.core.probability.coclustering import aligned, central
from cluewise.core.probability.pair_evidence import Noise
from cluewise.mixture._tv_gibbs import GibbsDraws
from cluewise.mixture._tv_variational import Beliefs, Model, doubts, occupied

__all__ = ["Findings", "from_draws", "from_memberships"]


class Findings(NamedTuple):
    """The result about k clusters with rows."""

    labels: Ints  # (n,) int32
    membership: Floats  # (n, k)
    weights: Floats  # (k,)
    clusters: Any  # posterior of the base for k clusters
    count_probability: Floats  # [c] = probability of c clusters
    noise: Noise  # beliefs about p and q
    wrong: Floats  # (m,) probability that each report is wrong


def from_memberships(membership: Floats, names: Ints, beliefs: Beliefs, model: Model) -> Findings:
    """Each row goes to its likeliest cluster; clusters that get no row are left out, the others keep their order."""
    old, labels = np.unique(names[membership.argmax(axis=1)], return_inverse=True)
    alive = np.argsort(names)[old]
    clusters = type(beliefs.clusters)(*(part[alive] for part in beliefs.clusters))
    share, weights = membership[:, alive], beliefs.sticks.weights()[alive]
    return Findings(
        labels.astype(np.int32),
        share / share.sum(axis=1, keepdims=True),
        weights / weights.sum(),
        clusters,
        occupied(membership),
        beliefs.noise,
        doubts(membership, beliefs.noise, model.pairs),
    )


def from_draws(draws: GibbsDraws, model: Model) -> Findings:
    """The draw in the middle of the others by least squares; what it leaves open is answered by all draws."""
    labels = draws.labels[central(draws.labels, draws.log_joint)]
    base: Any = model.base
    n, k = len(labels), int(labels.max()) + 1
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1.0
    clusters = base.posterior(base.statistics(model.X, members))
    near = np.where(model.pairs.is_must, 1 - draws.pair_wrong, draws.pair_wrong)
    return Findings(
        labels.astype(np.int32),
        aligned(draws.labels, labels),
        members.mean(axis=0),
        clusters,
        np.bincount(draws.n_clusters) / len(draws.n_clusters),
        model.noise.updated(model.pairs, near),
        draws.pair_wrong,
    )
