"""Stretched grains: farther apart in directions in which clusters differ.

Columns that have nothing to do with the clusters blur the neighbor graph. Where clusters are known to some extent, a
discriminant analysis finds the directions that do. It looks at all grains, so it also works with few clues, and it does
not depend on how the columns are rotated.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from cluewise._typing import Floats, Ints

__all__ = ["stretch"]

SHRINK = 0.1
"""Share of the mean variance that is added to the scatter within clusters, in every direction."""

LEAST = 0.1
"""Added to the share of the variance that is within clusters, so no direction is stretched more than tenfold."""


def stretch(points: Floats, weight: Floats, labels: Ints) -> Floats:
    """Points, and more columns: so that a direction is stretched by one over its share of variance within clusters.

    For directions v with scatter 1 within clusters and b between them, that share is 1/(1 + b).
    """
    mass = weight / weight.sum()
    moved = points - mass @ points
    size = np.abs(moved[mass > 0]).max(initial=0.0)
    if size == 0:
        return points
    moved /= size  # else squares might be too small for a number
    moved /= np.sqrt(mass @ (moved**2).sum(axis=1))
    k, d = int(labels.max()) + 1, moved.shape[1]
    member = np.zeros((k, len(labels)))
    member[labels, np.arange(len(labels))] = mass
    share = member.sum(axis=1)
    root = np.sqrt(share[share > 0])
    means = (member @ moved)[share > 0] / root[:, None]
    between = means.T @ means
    whole = (moved * mass[:, None]).T @ moved  # with trace 1
    within = whole - between + SHRINK / d * np.eye(d)
    rank = min(len(root) - 1, d)
    if rank == 0:
        return points
    values, vectors = eigh(between, within, subset_by_index=[d - rank, d - 1])
    factor = 1 / (1 / (1 + np.maximum(values, 0.0)) + LEAST)
    added = np.sqrt(np.maximum(factor**2 - 1, 0.0) * np.trace(within) / d)
    return np.hstack([moved, moved @ vectors * added])
