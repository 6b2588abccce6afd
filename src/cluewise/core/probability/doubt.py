"""Doubt: how likely each link is wrong, from what keeping it costs at a result.

In a mixture of spherical Gaussians of variance s², half a squared distance divided by s² is minus a log-likelihood
(see `core.centers`). All else fixed at the result, a row is in cluster h with probability ∝ size(h)·exp(−cost(h)), and
both rows of a pair are together with probability S = Σ_h p_i(h)·p_j(h): the soft form of the cheapest way to put them
together against the cheapest way to put them apart. A must-link is reported r times as often of rows that are apart as
of rows that are together, so it is wrong with probability r(1 − S)/(r(1 − S) + S); a cannot-link likewise. What a link
itself says is left out of p_i and p_j; what the other links of both rows say is not. The share of wrong links, and
with it r, is found by a few steps of EM.

That holds where clusters are as the model has them, and classes are clusters. Where they are not, a link that
contradicts the clusters need not be wrong. So what a model says is calibrated by how well it predicts the links at hand
(`calibrated`, for every method that judges its links): it is believed as far as its predictions come true.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, logit, softmax

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import distortion, effective_dimension
from cluewise.core.rows import Rows, squared_distances

__all__ = ["calibrated", "doubts", "doubts_by", "linked_rows"]

PRIOR = (1.0, 9.0)
"""Wrong and right links that each kind is taken to have had before: nine out of ten are right, as in `core.centers`."""

ROUNDS = 30
"""Most steps of EM; they mostly end after five to ten."""

BLOCK = 2**17
"""Numbers in a block of pairs times clusters, or times cases."""

WRONG = np.linspace(0.01, 0.4, 11)
"""Shares of wrong reports that calibration takes to be possible, and equally likely."""

BLIND = expit(np.linspace(-6, 6, 13))
"""Shares of pairs about which a model may know nothing: from hardly any to nearly all, evenly in log-odds."""

WORTH = 0.5
"""Independent observations that a link counts for in calibration; links share rows. From `experiments/doubt.py`."""

CAUTION = 0.85
"""Factor of the log-odds; models err in whole regions rather than here and there. From the same experiment."""


def doubts(rows: Rows, centers: Floats, labels: Ints, clues: Clues) -> Floats:
    """Probability that each must-link, then each cannot-link, is wrong, from squared distances to the centers."""
    which = linked_rows(clues)
    if not len(which):
        return np.empty(0)
    spread = distortion(rows, centers, labels)
    dimension = effective_dimension(rows, centers, labels)
    squared = squared_distances(rows, centers, which)
    return doubts_by(squared, 2 * spread / rows.mass / dimension, labels, clues, rows.weight)


def linked_rows(clues: Clues) -> Ints:
    """Rows that a must-link or a cannot-link names, sorted."""
    return np.unique(np.concatenate([clues.must, clues.cannot]))


def doubts_by(table: Floats, scale: float, labels: Ints, clues: Clues, weight: Floats | None = None) -> Floats:
    """The same from any divergences: ``table[t, h]`` of the t-th linked row from center h, worth ``scale`` per nat."""
    which = linked_rows(clues)
    size: Floats = np.bincount(labels, weights=weight, minlength=table.shape[1]).astype(np.float64)
    first, second = np.searchsorted(which, np.concatenate([clues.must, clues.cannot])).T
    is_must = np.arange(len(first)) < len(clues.must)
    confidence = np.concatenate([clues.must_confidence, clues.cannot_confidence])
    unsure = np.isnan(confidence)
    wrong = np.full(2, PRIOR[0] / sum(PRIOR))  # share of the must-links, and of the cannot-links
    if np.count_nonzero(size) < 2:  # a single cluster separates nothing
        return np.where(unsure, wrong[0], 1 - confidence)
    left = size[labels[which]] - (1.0 if weight is None else weight[which])
    alone = softmax(-_costs(table, scale, labels[which], size, left, len(labels)), axis=1)
    # Odds that two rows are together, before anything is known about them.
    met = float(np.clip((size / size.sum()) @ (size / size.sum()), 1e-6, 1 - 1e-6))
    chance = met / (1 - met)
    for _ in range(ROUNDS):
        # How much less often a link is reported of rows for which it is wrong; never more than equally often.
        prior = np.clip(np.where(unsure, np.where(is_must, *wrong), 1 - confidence), 1e-4, 1 - 1e-4)
        odds = np.minimum(prior / (1 - prior) * np.where(is_must, chance, 1 / chance), 1.0)
        together = _together(alone, first, second, is_must, odds)
        right = np.where(is_must, together, 1 - together)
        against = odds * np.where(is_must, 1 - together, together)
        doubt = against / (against + right)  # Bayes' rule
        kinds = [doubt[unsure & kind] for kind in (is_must, ~is_must)]
        before, wrong = wrong, np.array([(PRIOR[0] + d.sum()) / (sum(PRIOR) + len(d)) for d in kinds])
        if np.abs(wrong - before).max() < 1e-3:
            break
    return calibrated(doubt, odds, clues)


def calibrated(raw: Floats, odds: Floats, clues: Clues, weight: Floats | None = None) -> Floats:
    """Probability that each must-link, then each cannot-link, is wrong, given what a model says about all of them.

    ``raw`` are the doubts of the model, and ``odds`` how often it took each link to be reported of rows for which it is
    wrong, relative to rows for which it is right. Without the link's own say the model holds it to be right with
    probability R. Say that it knows nothing about a share e of the pairs, so that R becomes (1 − e)R + eB, where B is
    how often such links are right at all, and that a share w of the reports is wrong, of pairs that are together as of
    pairs that are apart. How likely the links are by each w and e says how far each is to be believed; log-odds are
    averaged accordingly, and shrunk a little. A link counts as ``weight`` reports; one with a confidence as that says.
    """
    if not len(raw):
        return raw
    tiny = np.finfo(float).tiny  # large weights make odds of nothing
    right = expit(np.log(np.maximum(odds, tiny)) - logit(raw))
    is_must = np.arange(len(raw)) < len(clues.must)
    confidence = np.concatenate([clues.must_confidence, clues.cannot_confidence])
    weight = np.ones(len(raw)) if weight is None else weight
    share = (len(clues.must) + 1) / (len(raw) + 2)  # of must-links
    cases = np.array([(w, e) for w in WRONG for e in BLIND])

    def judge(some: Floats, block: slice) -> tuple[Floats, Floats]:
        """(cases, links) log-odds that the links are wrong, and how likely they are to be reported."""
        w, e = some[:, :1], some[:, 1:]
        together = np.clip((share - w) / (1 - 2 * w), 0.01, 0.99)  # share of the pairs
        base = np.where(is_must[block], together, 1 - together)
        less = np.maximum((w / (1 - w)) ** weight[block], tiny)
        stated = np.clip(1 / confidence[block] - 1, 1e-4, 1) * base / (1 - base)
        less = np.where(np.isnan(stated), less, np.minimum(stated, 1))
        held = (1 - e) * right[block] + e * base
        wrong = less * (1 - held)
        return np.log(wrong / held), (held + wrong) / (1 + less)

    size = max(BLOCK // len(cases), 1)
    blocks = [slice(start, start + size) for start in range(0, len(raw), size)]
    belief = softmax(WORTH * np.sum([np.log(judge(cases, block)[1]).sum(axis=1) for block in blocks], axis=0))
    likely = belief > 1e-4 * belief.max()
    belief = CAUTION * belief[likely] / belief[likely].sum()
    return expit(np.concatenate([belief @ judge(cases[likely], block)[0] for block in blocks]))


def _costs(table: Floats, scale: float, own: Ints, size: Floats, left: Floats, n: int) -> Floats:
    """Minus log of size times likelihood, up to a constant; a row does not count for its own center.

    Without row i the center of its cluster lies n_h/(n_h − 1) times as far from it; a cluster of one row is gone.
    """
    share = max(n - int(np.count_nonzero(size)), 1) / n  # of the spread; the rest went into the centers
    cost = table * (share / scale) if scale > 0 else np.where(table > 0, np.inf, 0.0)
    each = np.arange(len(own))
    others = np.tile(size, (len(own), 1))
    others[each, own] = np.where(left > 1e-12 * size[own], left, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost[each, own] *= (size[own] / others[each, own]) ** 2
        cost = np.where(others > 0, cost - np.log(others), np.inf)
    # A row that is infinitely far from every center is as far from one as from another.
    far = ~np.isfinite(cost).any(axis=1)
    cost[far] = np.where(size > 0, 0.0, np.inf)
    return cost


def _together(alone: Floats, first: Ints, second: Ints, is_must: Bools, odds: Floats) -> Floats:
    """Probability that both rows of each pair are together, from their costs and the other links of both.

    A must-link of rows i and j is evidence for row i in cluster h: it is reported p_j(h) + odds·(1 − p_j(h)) as often.
    For a cannot-link it is the reverse.
    """
    slope = np.where(is_must, 1 / odds - 1, odds - 1)[:, None]
    size = max(BLOCK // alone.shape[1], 1)
    blocks = [slice(start, start + size) for start in range(0, len(odds), size)]

    def evidence(by: Ints, block: slice) -> Floats:
        return np.log1p(slope[block] * alone[by[block]])

    belief = np.log(np.maximum(alone, np.finfo(float).tiny))
    for block in blocks:
        for to, by in ((first, second), (second, first)):
            count = len(to[block])
            spot = (np.ones(count), (to[block], np.arange(count)))
            belief += csr_array(spot, shape=(len(alone), count)) @ evidence(by, block)
    out = np.empty(len(odds))
    for block in blocks:
        one = softmax(belief[first[block]] - evidence(second, block), axis=1)
        other = softmax(belief[second[block]] - evidence(first, block), axis=1)
        out[block] = np.einsum("ph,ph->p", one, other)
    return np.minimum(out, 1.0)
