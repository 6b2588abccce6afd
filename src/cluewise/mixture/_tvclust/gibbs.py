"""TVClust by Gibbs sampling: every row draws its cluster given all others, then p and q are drawn [Khashabi2015]_.

Rows follow a Dirichlet-process mixture; clues are noisy reports about pairs (`pair_evidence`). The *collapsed* sampler
integrates out the parameters of the clusters (Neal's algorithm 3 [Neal2000]_), the other one draws them (algorithm 2).
Both have the same target, the posterior over partitions, p and q.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln, gammaln

from cluewise._typing import Floats, Ints
from cluewise.core import loop
from cluewise.kernels import gibbs
from cluewise.mixture._tvclust.gibbs_clusters import CountClusters, NormalClusters, PairOdds
from cluewise.mixture._tvclust.gibbs_draws import GibbsDraws, Rates, Record, Sample, renumber
from cluewise.mixture._tvclust.pair_evidence import Evidence, Noise
from cluewise.mixture._tvclust.priors import Base, NormalInverseWishart

__all__ = ["GibbsDraws", "Rates", "log_joint", "sample", "together"]

REFRESH = 10
"""Sweeps after which the collapsed sampler recomputes its statistics, so that rounding errors do not accumulate."""

LEAPS = 5
"""Split or merge proposals per sweep; single rows would need many sweeps for such a change."""

SURE = 1e-12
"""Minimum distance of p and q from 0 and 1, so that their logarithms are finite."""

BLOCK = 2**20
"""Entries in a block of rows times clusters."""


Clusters = NormalClusters | CountClusters


def clusters_of(X: Any, base: Base, concentration: float, limit: int) -> Clusters:
    """Empty clusters for this base."""
    if isinstance(base, NormalInverseWishart):
        return NormalClusters(X, base, concentration, limit)
    return CountClusters(X, base, concentration, limit)


def sample(
    X: Any,
    pairs: Evidence,
    prior: tuple[Base, Noise | Rates],
    *,
    sweeps: int,
    burn_in: int,
    thin: int,
    collapsed: bool,
    truncation: int | None,
    concentration: float,
    rng: np.random.Generator,
    watch: loop.Watch,
    labels0: Ints | None,
) -> GibbsDraws:
    """Draw from the posterior over partitions and the noise of the clues.

    Parameters
    ----------
    X : float64 array of shape (n, d), or CSR for counts
        The rows.
    pairs : Evidence
        The reports.
    prior : (Base, Noise or Rates)
        Prior of the clusters, and of p and q: Beta distributions, or known values inside (0, 1).
    sweeps, burn_in, thin : int
        After ``burn_in`` sweeps come ``sweeps`` more, of which every ``thin``-th is kept.
    collapsed : bool
        Whether to integrate out the parameters of the clusters or to draw them.
    truncation : int or None
        Maximum number of clusters: the prior is the Chinese restaurant process conditional on having no more.
    concentration : float
        α of the Dirichlet process.
    rng : Generator
        Source of randomness.
    watch : Watch
        Called after every sweep with the draws so far (the newest sample during burn-in) and minus the log joints.
    labels0 : int array of shape (n,) or None
        Initial labels; None adds the rows one after the other.

    Returns
    -------
    draws : GibbsDraws
        Fewer than requested if ``watch`` stops the sampler.
    """
    if sweeps < thin:
        raise ValueError(f"thin={thin} keeps none of {sweeps} sweeps; lower thin or raise sweeps.")
    base, noise = prior
    if isinstance(noise, Rates) and not all(0 < rate < 1 for rate in noise):
        raise ValueError(f"known reliabilities must be strictly between 0 and 1; got {tuple(noise)}.")
    n, limit = X.shape[0], (X.shape[0] if truncation is None else truncation)
    clusters = clusters_of(X, base, concentration, limit)
    record = Record(pairs, sweeps // thin, n)
    rates = Rates(*noise.means()) if isinstance(noise, Noise) else noise
    if labels0 is None:
        labels = np.full(n, -1, np.int32)
        clusters.gather(labels)
        _collapsed(clusters, labels, record.links(rates), rng)
    else:
        labels = renumber(np.asarray(labels0))
        if labels.max(initial=0) >= limit:
            raise ValueError(f"labels0 has {labels.max() + 1} clusters; truncation allows {limit}.")
    labels = renumber(labels)
    clusters.gather(labels)
    rates = _rates(noise, pairs, labels, rng)
    trace: list[float] = []
    for sweep in range(burn_in + sweeps):
        if sweep <= burn_in:  # discard the sums over burn-in
            record.together[:], record.sweeps = 0.0, 0
        record.sweeps += 1
        links = record.links(rates)
        if collapsed:
            _collapsed(clusters, labels, links, rng)
        else:
            clusters.draw(rng)
            _given(clusters, labels, links, rng)
        if not collapsed:
            labels = renumber(labels)
            clusters.gather(labels)
        leapt = renumber(labels)
        moved = _leap(clusters, pairs, leapt, labels, links, concentration, rng)
        if moved or (collapsed and sweep % REFRESH == 0):
            labels = renumber(leapt)
            clusters.gather(labels)
        rates = _rates(noise, pairs, labels, rng)
        trace.append(-log_joint(clusters, pairs, noise, labels, concentration))
        record.newest = Sample(labels.copy(), -trace[-1], rates)
        if sweep >= burn_in and (sweep - burn_in + 1) % thin == 0:
            record.keep()
        if watch(record.draws(), trace):
            break
    return record.draws()


def _collapsed(clusters: Clusters, labels: Ints, links: PairOdds, rng: np.random.Generator) -> None:
    """A sweep of equation (13) with predictive densities, in random order."""
    rows, uniforms = rng.permutation(len(labels)), rng.random(len(labels))
    place = 0
    while place < len(rows):
        before, place = place, clusters.visit(rows, place, uniforms, labels, links)
        if place == before:
            clusters.grow()


def _given(clusters: Clusters, labels: Ints, links: PairOdds, rng: np.random.Generator) -> None:
    """A sweep of equation (13) with drawn parameters, in random order; a new cluster draws them given its row."""
    order, every = rng.permutation(len(labels)), rng.random(len(labels))
    place = 0
    while place < len(order):
        rows = order[place : place + max(1, BLOCK // len(clusters.counts))]
        uniforms = every[place : place + len(rows)]
        place += len(rows)
        fresh = clusters.fresh[rows]
        known = np.zeros((len(rows), len(clusters.counts)))
        used = np.flatnonzero(clusters.counts)
        known[:, used] = clusters.likelihood(rows, used)
        at = 0
        while True:
            at = gibbs.visit_given(
                known, fresh, rows, at, uniforms, labels, clusters.counts, *links.arrays, clusters.limit
            )
            if at == len(rows):
                break
            slot = int(clusters.counts.argmin())
            if clusters.counts[slot] > 0:
                slot = len(clusters.counts)
                clusters.grow()
                known = np.hstack([known, np.zeros_like(known)])
            clusters.open(slot, rows[at], rng)
            clusters.counts[slot] = 1
            labels[rows[at]] = slot
            at += 1
            known[at:, slot] = clusters.likelihood(rows[at:], np.array([slot]))[:, 0]


def _leap(
    clusters: Clusters,
    pairs: Evidence,
    labels: Ints,
    slots: Ints,
    links: PairOdds,
    concentration: float,
    rng: np.random.Generator,
) -> int:
    """Propose to split or merge clusters [Dahl2005]_; changes the labels and returns the number of accepted moves.

    Two rows are chosen, half of the time the ends of a clue. If they are together, their cluster is split: the other
    rows join one of the two, one after the other. If they are apart, their clusters are merged; the acceptance
    probability depends on the probability that a split would have restored them. ``slots`` holds the slots of the rows.
    """
    n, accepted = len(labels), 0
    for _ in range(LEAPS if n > 1 else 0):
        i, j = rng.integers(n), rng.integers(n - 1)
        j += j >= i
        if len(pairs) > 0 and rng.random() < 0.5:
            e = rng.integers(len(pairs))
            i, j = pairs.first[e], pairs.second[e]
        one, two = labels[i], labels[j]
        mine = (labels == one) | (labels == two)
        mine[[i, j]] = False
        rows = rng.permutation(np.flatnonzero(mine))
        k = int(labels.max()) + 1
        together = one == two
        if together and k >= clusters.limit:
            continue
        side = np.full(n, -1, np.int8)
        # −1 draws the side of a row; a merger needs the probability of the sides that the rows have now.
        sides = np.full(len(rows), -1, np.int8) if together else (labels[rows] == two).astype(np.int8)
        uniforms, bar = rng.random(len(rows)), np.log(1 - rng.random())
        # A merger is accepted if chance − gain is above the bar. Since chance ≤ 0, a large gain rejects most mergers
        # before their rows are visited. The gain is approximate; half of it is a safe bound despite rounding.
        if not together and -0.5 * _gain(clusters, pairs, labels, (int(i), int(j)), slots, links, concentration) <= bar:
            continue
        chance, gain = clusters.split(np.array([i, j]), rows, sides, uniforms, side, links)
        odds = gain - chance
        if bar >= (odds if together else -odds):
            continue
        accepted += 1
        if together:
            labels[side == 1] = k
        else:
            labels[labels == two] = one
            labels[labels == k - 1] = two  # no gaps in the numbers
        clusters.gather(labels)
        slots = labels
    return accepted


def _gain(
    clusters: Clusters,
    pairs: Evidence,
    labels: Ints,
    rows: tuple[int, int],
    slots: Ints,
    links: PairOdds,
    concentration: float,
) -> float:
    """Log joint of the clusters of two rows less that of the merged cluster, approximately (see ``merging``)."""
    a, b = (int(slots[i]) for i in rows)
    one, two = (int(labels[i]) for i in rows)
    sizes = clusters.counts[[a, b]]
    value = np.log(concentration) + gammaln(sizes).sum() - gammaln(sizes.sum()) - clusters.merging(a, b)
    first, second = labels[pairs.first], labels[pairs.second]
    across = ((first == one) & (second == two)) | ((first == two) & (second == one))
    return float(value - links.pull[across].sum())


def _rates(noise: Noise | Rates, pairs: Evidence, labels: Ints, rng: np.random.Generator) -> Rates:
    """Draw p ~ Beta(a_p + n_11, b_p + n_01) and q ~ Beta(a_q + n_00, b_q + n_10), unless they are known."""
    if isinstance(noise, Rates):
        return noise
    now = noise.update(pairs, together(pairs, labels))
    p, q = rng.beta(now.must_right, now.must_wrong), rng.beta(now.cannot_right, now.cannot_wrong)
    return Rates(*(float(np.clip(rate, SURE, 1 - SURE)) for rate in (p, q)))


def together(pairs: Evidence, labels: Ints) -> Floats:
    """(m,) 1 for every report about two rows of one cluster, else 0."""
    return (labels[pairs.first] == labels[pairs.second]).astype(np.float64)


def log_joint(clusters: Clusters, pairs: Evidence, noise: Noise | Rates, labels: Ints, concentration: float) -> float:
    """Logarithm of p(z) p(X | z) p(E | z), with cluster parameters, and p and q if learned, integrated out."""
    size = clusters.counts[clusters.counts > 0]
    value = len(size) * np.log(concentration) + gammaln(size).sum()
    value += gammaln(concentration) - gammaln(concentration + len(labels)) + clusters.log_evidence()
    now = Noise(0, 0, 0, 0).update(pairs, together(pairs, labels))
    if isinstance(noise, Rates):
        logs = np.log([noise.must, 1 - noise.must, noise.cannot, 1 - noise.cannot])
        return float(value + logs @ np.array(now))
    for a, b, right, wrong in (noise[:2] + now[:2], noise[2:] + now[2:]):
        value += betaln(a + right, b + wrong) - betaln(a, b)
    return float(value)
