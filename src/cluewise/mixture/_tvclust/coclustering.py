"""Co-clustering: one partition for many sampled ones, without a matrix of all pairs [Dahl2006]_."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["aligned", "central", "squared_losses"]

MOST = 200
"""Draws that are compared with each other; more are thinned, evenly."""


def squared_losses(draws: Ints) -> Floats:
    """(s,) Σ_ij ([z_i = z_j] − π_ij)² up to a constant, π_ij the share of draws that put i and j together.

    Σ_ij [z_i = z_j] π_ij is a mean over the draws of Σ_kl n_kl², the squared counts of rows in cluster k of the one
    partition and l of the other: O(s² n) time and no n × n matrix.
    """
    count, width = len(draws), int(draws.max(initial=0)) + 1
    shared = np.zeros((count, count))
    for a in range(count):
        cell = draws[a].astype(np.int64) * width
        for b in range(a + 1):
            table = np.bincount(cell + draws[b])  # rows in each two clusters of the two
            shared[a, b] = shared[b, a] = float(table @ table)
    return np.diag(shared) - 2 * shared.mean(axis=1)


def central(draws: Ints, log_joint: Floats) -> int:
    """Number of the draw that least squares likes best; among equals the most probable one."""
    picked = np.unique(np.linspace(0, len(draws) - 1, min(len(draws), MOST)).round().astype(np.int64))
    loss = squared_losses(draws[picked])
    near = np.flatnonzero(loss <= loss.min() + 1e-9 * np.abs(loss).max(initial=1.0))
    return int(picked[near[np.argmax(log_joint[picked[near]])]])


def aligned(draws: Ints, labels: Ints) -> Floats:
    """(n, k) share of draws in which each row's cluster has most of its rows in cluster k of ``labels``."""
    n, k = len(labels), int(labels.max()) + 1
    out = np.zeros((n, k))
    for draw in draws:
        clusters = int(draw.max()) + 1
        table = np.bincount(draw.astype(np.int64) * k + labels, minlength=clusters * k).reshape(clusters, k)
        out[np.arange(n), table.argmax(axis=1)[draw]] += 1
    return out / len(draws)
