"""Partitions that speak one language: cluster c means the same in all of them, as far as it can."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from cluewise._typing import Array, Ints
from cluewise.core.threads import map_blocks
from cluewise.kernels import consensus

__all__ = ["Aligned", "aligned", "checked_partitions", "unsigned"]

BLOCK = 2**16


class Aligned(NamedTuple):
    """m partitions of n rows into r clusters. The labels stay as they are; two tables translate them."""

    labels: Array  # (m, n) unsigned
    clusters: Array  # (m, w): cluster that label v of partition k means
    spelled: Array  # (m, r): label of partition k that means cluster c; the largest of its type where there is none

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.labels.shape[1])

    @property
    def r(self) -> int:
        """Number of clusters."""
        return int(self.spelled.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type for clusters."""
        return unsigned(self.r)


def unsigned(count: int) -> np.dtype[Any]:
    """The smallest unsigned type for labels below ``count``, whose largest value stays free for a missing one."""
    return np.min_scalar_type(max(int(count), 1))


def checked_partitions(given: Any) -> Array:
    """Labels of several partitions, one per line, as an unsigned matrix; not copied if it is one already."""
    labels = given if isinstance(given, np.ndarray) else np.asarray(given)
    if labels.ndim != 2 or not labels.size:
        raise ValueError(f"partitions are a table of m lines with n labels each; this one has shape {labels.shape}.")
    if labels.dtype.kind not in "iu":
        raise ValueError(f"labels of partitions are whole numbers from 0; these are {labels.dtype}.")
    if labels.dtype.kind == "i":
        low = labels.min()
        if low < 0:
            k, i = (int(at) for at in np.argwhere(labels < 0)[0])
            raise ValueError(f"partition {k} has no label for row {i} ({labels[k, i]}); every row needs one in each.")
        return labels.astype(unsigned(int(labels.max()) + 1))
    return labels


def aligned(labels: Array, r: int) -> Aligned:
    """Name clusters after those of the first partition with at most r of them, by the best matching (section 3.2).

    The matching is that of the Hungarian algorithm on the contingency table. Of a partition with more than r clusters
    the ones without a partner join the cluster that they share most rows with; only then are the labels copied.
    """
    used = np.array([int(own.max()) + 1 for own in labels])
    if used.min() > r:
        raise ValueError(f"every partition has more than n_clusters={r} labels; at least one may not.")
    reference = int(np.flatnonzero(used <= r)[0])
    clusters = np.zeros((len(labels), used.max()), dtype=unsigned(max(used.max(), r)))
    for k, counts in enumerate(_contingency(labels, reference, r, used.max())):
        clusters[k, : used[k]] = _names(counts[:, : used[k]], r) if k != reference else np.arange(used[k])
    if used.max() <= r:
        return Aligned(labels, clusters, _spelled(clusters, used, r, labels.dtype))
    own = np.empty(labels.shape, dtype=unsigned(r))
    for k in range(len(labels)):
        own[k] = clusters[k][labels[k]]
    same = np.tile(np.arange(r, dtype=own.dtype), (len(labels), 1))
    return Aligned(own, same, same)


def _names(counts: Ints, r: int) -> Ints:
    """The cluster of each label: its partner in the best matching, or else the one with most rows in common."""
    size = max(counts.shape)
    table = np.zeros((size, size))
    table[:r, : counts.shape[1]] = counts
    target, label = linear_sum_assignment(-table)
    meant = target[np.argsort(label)][: counts.shape[1]]
    return np.where(meant < r, meant, counts.argmax(axis=0))


def _contingency(labels: Array, reference: int, r: int, width: int) -> Any:
    """Table of the reference against each partition in turn."""
    n = labels.shape[1]
    blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]

    def work(k: int) -> Ints:
        counts = np.zeros((r, width), dtype=np.int64)
        for block in blocks:
            consensus.count_pairs(labels[reference, block], labels[k, block], counts)
        return counts

    return map_blocks(work, range(len(labels)))


def _spelled(clusters: Array, used: Ints, r: int, dtype: np.dtype[Any]) -> Array:
    """The inverse of the table of clusters."""
    spelled = np.full((len(used), r), np.iinfo(dtype).max, dtype=dtype)
    for k, count in enumerate(used):
        spelled[k, clusters[k, :count]] = np.arange(count)
    return spelled
