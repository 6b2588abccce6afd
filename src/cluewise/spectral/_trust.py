"""Trust: how likely each link and label is right, from what the graph and all other clues say about its rows.

A clue that is left out of the propagated links leaves a prediction of itself, in closed form: without a link (a, b) of
weight z, the links propagated to its own pair are F_ab − z (G_aa G_bb + G_ab²). How well these predictions come true
tells how far to believe them, and how many clues are wrong. Where the graph predicts nothing, all clues are trusted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Pairs

__all__ = ["balance", "find_labels", "trust_in"]

LABELS = 5
"""Minimum number of labels that are judged as labels."""

EVEN = 10.0
"""Links of each kind that are added before the two kinds are balanced."""

SOME = 0.3
"""Added to votes before their ratio is taken: what a single link says at some distance."""

FAR = 1e-9
"""Similarity of rows that the graph does not connect."""

RIGHT, WRONG = 2.0, 1.0
"""Strength of the belief that hardly any link of a kind is wrong, and that some are; together about one in six."""

FLAT = 0.1
"""Penalty on the squared slopes of a regression."""

LINES = 128
"""Rows for which what is spread is computed at once."""

SAMPLE = 10**5
"""Maximum number of links to which a regression is fitted."""

SHARES = np.array([0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])
"""Shares of wrong labels that are possible."""

SLOPES = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
"""Powers to which votes for classes may be raised."""


def balance(links: Pairs) -> Pairs:
    """Links weighted so that the rarer kind is not outvoted: by the root of what would make the kinds equal.

    With k clusters there are k − 1 cannot-links for a must-link. Unbalanced, they also push apart rows of one cluster;
    fully balanced, a few wrong must-links would join clusters.
    """
    must, cannot = links.must_weight.sum(), links.cannot_weight.sum()
    both = (must + cannot) / 2 + EVEN
    heavier = np.sqrt(both / (must + EVEN)), np.sqrt(both / (cannot + EVEN))
    return links._replace(must_weight=heavier[0] * links.must_weight, cannot_weight=heavier[1] * links.cannot_weight)


def trust_in(links: Pairs, G: Any) -> Floats:
    """(m + c,) probability that each link is right; a link that follows from two labels is as right as both labels are.

    Rows are tied rows, numbered as in G, which has what spreads from one to another.
    """
    first, second = links.ends.T
    labels = find_labels(links, G.shape[0])
    of_label = _trust_labels(labels, G)
    known = (labels[first] >= 0) & (labels[second] >= 0)
    trust: Floats = np.where(known, of_label[first] * of_label[second], 1.0)
    rest = np.flatnonzero(~known)
    if len(rest):
        trust[rest] = _trust_links(_weigh(links, trust), rest, G)
    return trust


def find_labels(links: Pairs, t: int) -> Ints:
    """Labels from which the links between some rows follow, -1 for the other rows; links alone do not tell who said so.

    A wrong label makes many wrong links, which confirm each other; so links that are labels are judged as labels. These
    are the links of the rows with the most links, if all of those rows are linked with each other.
    """
    labels = np.full(t, -1)
    degree = np.bincount(links.ends.ravel(), minlength=t)
    most = -np.sort(-degree)
    size = int(np.count_nonzero(most >= np.arange(t)))  # as many rows have as many links, less one
    inside = degree >= size - 1
    first, second = (inside[links.ends]).T
    within = first & second
    if size < LABELS or inside.sum() != size or within.sum() != size * (size - 1) // 2:
        return labels
    a, b = links.ends[within & links.is_must].T
    _, piece = connected_components(csr_array((np.ones(len(a)), (a, b)), shape=(t, t)), directed=False)
    labels[inside] = np.unique(piece[inside], return_inverse=True)[1]
    together = np.bincount(labels[inside])
    return labels if (together * (together - 1)).sum() == 2 * len(a) else np.full(t, -1)


def _weigh(links: Pairs, factor: Floats) -> Pairs:
    m = len(links.must)
    return links._replace(must_weight=links.must_weight * factor[:m], cannot_weight=links.cannot_weight * factor[m:])


def _trust_labels(labels: Ints, G: Any) -> Floats:
    """A label's class against the classes of the other labels, each class with the same number of votes.

    The class of a row is c with probability ∝ votes(c)^b; its label is right, or any class at random with probability
    e. Both b and e are those under which the labels are most likely. The only label of a class is trusted: no other
    could confirm it.
    """
    trust = np.ones(len(labels))
    size = np.bincount(labels[labels >= 0])
    rows = np.flatnonzero((labels >= 0) & (size[labels] > 1)) if len(size) else np.empty(0, dtype=np.int64)
    if len(size) < 2 or not len(rows):
        return trust
    k = len(size)
    own = np.eye(k)[labels[rows]]
    near = G[rows][:, rows]
    votes = np.maximum(near @ own - own * near.diagonal()[:, None], 0) / (own.sum(axis=0) - own + 1)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), FAR)
    best = -np.inf
    for slope in SLOPES:
        p = (votes + SOME / k) ** slope
        p = (p * own).sum(axis=1) / p.sum(axis=1)
        for share in SHARES:
            rate = (1 - share) * p + share / k
            likely = np.log(rate).sum() + np.log(share) + 5 * np.log(1 - share)
            if likely > best:
                best, trust[rows] = likely, (1 - share) * p / rate
    return trust


def _trust_links(links: Pairs, rest: Ints, G: Any) -> Floats:
    """Some links against two predictions: how similar the graph finds their rows, and what the other links vote."""
    links = balance(links)
    t = G.shape[0]
    first, second = links.ends[rest].T
    d = G.diagonal()
    near = _entries(G, first, second)
    own = d[first] * d[second] + near**2
    votes = []
    for kind in (links.is_must, ~links.is_must):
        spread = _sandwich(G, _table(links, kind, t), first, second)
        votes.append(np.log(np.maximum(spread - np.where(kind, links.weight, 0.0)[rest] * own, 0) + SOME))
    x = np.column_stack([votes[0] - votes[1], np.log(np.maximum(near / np.sqrt(d[first] * d[second]), FAR))])
    x -= x.mean(axis=0)
    scale = x.std(axis=0)
    x /= np.where(scale > 0, scale, 1.0)
    return _trust_by(x, links.is_must[rest])


def _table(links: Pairs, kind: Bools, t: int) -> csr_array:
    a, b = links.ends[kind].T
    half = csr_array((links.weight[kind], (a, b)), shape=(t, t))
    return csr_array(half + half.T)


def _entries(G: Any, first: Ints, second: Ints) -> Floats:
    return np.asarray(G[first, second]).ravel()


def _sandwich(G: Any, Z: csr_array, first: Ints, second: Ints) -> Floats:
    """Entries of G Z G."""
    if isinstance(G, np.ndarray):
        found = np.empty(len(first))
        for start in range(0, len(G), LINES):
            here = np.flatnonzero((first >= start) & (first < start + LINES))
            found[here] = ((G[start : start + LINES] @ Z) @ G)[first[here] - start, second[here]]
        return found
    left, right = G, csr_array(G @ Z)
    size = 4096
    blocks = [slice(start, start + size) for start in range(0, len(first), size)]
    return np.concatenate([np.asarray(left[first[one]].multiply(right[second[one]]).sum(axis=1)) for one in blocks])


def _trust_by(x: Floats, must: Bools) -> Floats:
    """Regression of the kind of a link on predictions, where shares of both kinds are reported wrong.

    Two rows belong together with probability s = expit(b₀ + b·x), b ≥ 0; then they have a cannot-link with probability
    e₁, and otherwise a must-link with probability e₀. All are as likely as possible, given the beliefs above.
    """
    from scipy.optimize import minimize

    design = np.column_stack([np.ones(len(x)), x])
    step = len(x) // SAMPLE + 1
    some, sign = design[::step], np.where(must[::step], 1.0, -1.0)

    def loss(p: Floats) -> tuple[float, Floats]:
        e, s = expit(p[:2]) / 2, expit(some @ p[2:])
        rate = e[0] + (1 - e.sum()) * s  # a must-link
        rate = np.where(sign > 0, rate, 1 - rate)
        value = (
            -np.log(rate).sum() + FLAT / 2 * (p[3:] ** 2).sum() - (RIGHT * np.log(1 - 2 * e) + WRONG * np.log(e)).sum()
        )
        pull = -sign / rate
        of_e = np.array([(pull * (1 - s)).sum(), -(pull * s).sum()]) + 2 * RIGHT / (1 - 2 * e) - WRONG / e
        of_b = some.T @ (pull * (1 - e.sum()) * s * (1 - s))
        of_b[1:] += FLAT * p[3:]
        return float(value), np.concatenate([of_e * e * (1 - 2 * e), of_b])

    bounds = [(-8.0, 2.0)] * 2 + [(-30.0, 30.0)] + [(0.0, 30.0)] * x.shape[1]
    starts = [np.r_[share, share, 0.0, np.full(x.shape[1], 0.5)] for share in (-3.0, 0.0)]
    found = min(
        (minimize(loss, p, jac=True, method="L-BFGS-B", bounds=bounds) for p in starts), key=lambda one: one.fun
    )
    e, s = expit(found.x[:2]) / 2, expit(design @ found.x[2:])
    right = np.where(must, (1 - e[1]) * s, (1 - e[0]) * (1 - s))
    wrong = np.where(must, e[0] * (1 - s), e[1] * s)
    return np.asarray(right / (right + wrong))
