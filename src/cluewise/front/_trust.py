"""Trust: which clues are likely to be wrong, judged by fits that did not see them."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats
from cluewise.clues import Clues
from cluewise.clues.words import find_origin
from cluewise.core.probability.doubt import calibrated

__all__ = ["doubt_labels", "doubt_links", "rate_sources"]

PRIOR = (1.0, 9.0)
"""Wrong and right labels that are taken to have been seen before."""


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


def rate_sources(clues: Clues, doubt: Floats, label_doubt: Floats) -> dict[str, dict[str, float]]:
    """Share of the clues of each source that is right: of its must-links, cannot-links, labels, and of all.

    Lines of a file are one source, and so are the answers of a person.
    """
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
        origins = np.array([find_origin(str(source)) for source in sources])
        for source in np.unique(origins).tolist():
            own: Bools = origins == source
            rated.setdefault(source, {})[kind] = 1 - float(wrong[own].mean())
            total.setdefault(source, []).append(wrong[own])
    for source, parts in total.items():
        rated[source]["all"] = 1 - float(np.concatenate(parts).mean())
    return rated
