"""Trust: which clues are likely to be wrong, judged by fits that did not see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from cluewise._typing import Bools, Floats
from cluewise.clues import Clues
from cluewise.clues.words import find_origin
from cluewise.core.probability.doubt import calibrated

__all__ = ["doubt_labels", "doubt_links", "find_share", "rate_sources"]

PRIOR = (1.0, 9.0)
"""Wrong and right labels that are taken to have been seen before."""

WRONG = np.linspace(0.0025, 0.4975, 100)
"""Shares of wrong links that are possible."""

SURE = 16
"""Power of the distance between the probabilities that a link is right and wrong, by which it counts: a fit does not
tell how often it errs where it is unsure, and where it is sure it hardly does. Decision 0015 tells how it was found."""

BELIEVED = 30
"""Links that the mean doubt counts for, in the estimate of the share that is wrong."""

RATED = 10.0
"""Clues that the usual share counts for, where sources are compared."""

SAMPLE = 20_000
"""About as many links are looked at, which is enough for a share."""


def doubt_links(clues: Clues, right: Floats) -> Floats:
    """Probability that each must-link, then each cannot-link, is wrong; ``right`` without its own say."""
    # What has to hold is right by agreement, and says nothing about how reliable other links are.
    free = np.isfinite(np.concatenate([clues.must_weight, clues.cannot_weight]))
    links = clues.subset(must=free[: len(clues.must)], cannot=free[len(clues.must) :])
    doubt = np.zeros(len(free))
    doubt[free] = calibrated(1 - np.clip(right[free], 1e-6, 1 - 1e-6), np.ones(free.sum()), links)
    return doubt


def doubt_labels(right: Floats, k: int) -> Floats:
    """Probability that each label is wrong; ``right`` without its own say."""
    wrong = PRIOR[0] / sum(PRIOR)
    doubt = np.zeros(len(right))
    for _ in range(30):
        # A wrong label names any other class.
        against = wrong / max(k - 1, 1) * (1 - right)
        doubt = against / np.maximum(against + (1 - wrong) * right, 1e-300)
        before, wrong = wrong, (PRIOR[0] + doubt.sum()) / (sum(PRIOR) + len(doubt))
        if abs(wrong - before) < 1e-4:
            break
    return doubt


def rate_sources(clues: Clues, doubt: Floats, right: Floats, label_doubt: Floats) -> dict[str, dict[str, float]]:
    """Share of the clues of each source that is right: of its must-links, cannot-links, labels, and of all.

    Lines of a file are one source, and so are the answers of a person. ``right`` is the probability that each link is
    right without its own say.
    """
    links = _find_origins(np.concatenate([clues.must_source, clues.cannot_source]))
    doubt = doubt.copy()
    for source in np.unique(links):
        own: Bools = (links == source) & (doubt > 0)  # the others have to hold
        if own.any():
            # Must-links and cannot-links keep their proportion: mostly the rarer kind has more wrong ones.
            mean = float(doubt[own].mean())  # too small where many are wrong
            doubt[own] *= find_share(right[: len(own)][own], mean, BELIEVED)[0] / mean
    rows = np.flatnonzero(clues.labels >= 0)
    names = clues.label_source
    kinds = {
        "must": (clues.must_source, doubt[: len(clues.must)]),
        "cannot": (clues.cannot_source, doubt[len(clues.must) :]),
        "labels": (np.full(len(rows), "given") if names is None else names[rows], label_doubt),
    }
    rated: dict[str, dict[str, float]] = {}
    total: dict[str, list[Floats]] = {}
    for kind, (sources, wrong) in kinds.items():
        origins = _find_origins(sources)
        for source in np.unique(origins).tolist():
            own = origins == source
            rated.setdefault(source, {})[kind] = max(1 - float(wrong[own].mean()), 0.0)
            total.setdefault(source, []).append(wrong[own])
    for source, parts in total.items():
        rated[source]["all"] = 1 - float(np.concatenate(parts).mean())
    return rated


def _find_origins(sources: Any) -> Any:
    """Where clues come from, without the lines of files."""
    return np.array([find_origin(str(source)) for source in sources])


def find_share(right: Floats, usual: float = 0.1, believed: float = RATED) -> tuple[float, float]:
    """Estimate the share of some clues that is wrong, and the log-likelihood of the clues by the likeliest share.

    ``right`` is how probable fits take each clue to be right. Where fits are unsure, what they do not know and what
    people say wrongly look the same, so clues count by how sure fits are of them. ``usual`` is the share that is
    believed before, as if so many clues had been seen (``believed``).
    """
    likely = np.clip(right[:: len(right) // SAMPLE + 1], 1e-6, 1 - 1e-6)
    weight = np.abs(2 * likely - 1) ** SURE
    log = [np.log((1 - wrong) * likely + wrong * (1 - likely)) for wrong in WRONG]
    score = np.array([weight @ each for each in log])
    score += believed * (usual * np.log(WRONG) + (1 - usual) * np.log(1 - WRONG))
    return float(softmax(score) @ WRONG), max(float(each.sum()) for each in log)
