"""An ensemble of partitions whose clusters are matched: cluster c means the same in all of them, if possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from cluewise._typing import Array, Ints
from cluewise.core.threads import map_blocks
from cluewise.kernels import consensus

__all__ = ["Ensemble", "align", "check_partitions", "find_reference", "match_tables", "unsigned"]

BLOCK = 2**16


class Ensemble(NamedTuple):
    """m partitions of n rows into r clusters. The labels stay as they are; two tables translate them."""

    labels: Array  # (m, n) unsigned
    clusters: Array  # (m, w): cluster that label v of partition k means
    codes: Array  # (m, r): label of partition k that means cluster c; the largest of its type where there is none

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.labels.shape[1])

    @property
    def r(self) -> int:
        """Number of clusters."""
        return int(self.codes.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type for clusters."""
        return unsigned(self.r)


Aligned = Ensemble
"""The name of the class in older pickles."""


def unsigned(count: int) -> np.dtype[Any]:
    """The smallest unsigned type for labels below ``count``; its largest value is free to mark a missing label."""
    return np.min_scalar_type(max(int(count), 1))


def check_partitions(given: Any) -> Array:
    """Check the labels of several partitions, one per line, and make them unsigned; no copy if they already are."""
    labels = given if isinstance(given, np.ndarray) else np.asarray(given)
    if labels.ndim != 2 or not labels.size:
        raise ValueError(f"expected partitions as an array of shape (m, n), but the shape is {labels.shape}.")
    if labels.dtype.kind not in "iu":
        raise ValueError(f"expected labels of partitions as integers from 0, but they are {labels.dtype}.")
    if labels.dtype.kind == "i":
        if labels.min() < 0:
            k, i = (int(at) for at in np.argwhere(labels < 0)[0])
            raise ValueError(f"partition {k} has no label for row {i} ({labels[k, i]}); every row needs one in each.")
        return labels.astype(unsigned(int(labels.max()) + 1))
    return labels


def align(labels: Array, r: int) -> Ensemble:
    """Match the clusters of each partition to those of the first one with at most r clusters (section 3.2).

    The matching is found by the Hungarian algorithm on the contingency table. If a partition has more than r clusters,
    each of those without a match joins the cluster that it shares most rows with; only then are the labels copied.
    """
    used = np.array([int(own.max()) + 1 for own in labels])
    reference = find_reference(used, r)
    clusters, codes = match_tables(_contingency(labels, reference, r, used.max()), used, reference, r, labels.dtype)
    if codes is not None:
        return Ensemble(labels, clusters, codes)
    # Two labels may now mean one cluster, which no inverse table can say: write the clusters out.
    own = np.empty(labels.shape, dtype=unsigned(r))
    for k in range(len(labels)):
        own[k] = clusters[k][labels[k]]
    same = np.tile(np.arange(r, dtype=own.dtype), (len(labels), 1))
    return Ensemble(own, same, same)


def find_reference(used: Ints, r: int) -> int:
    """The first partition with at most r labels, given how many each has."""
    if used.min() > r:
        raise ValueError(f"every partition has more than n_clusters={r} labels; at least one must have no more.")
    return int(np.flatnonzero(used <= r)[0])


def match_tables(
    tables: Iterable[Ints], used: Ints, reference: int, r: int, dtype: np.dtype[Any]
) -> tuple[Array, Array | None]:
    """The clusters and codes of an `Ensemble`, given the contingency table of the reference and each partition.

    ``used`` is the number of labels of each partition. There are no codes if one has more labels than clusters.
    """
    clusters = np.zeros((len(used), used.max()), dtype=unsigned(max(used.max(), r)))
    for k, counts in enumerate(tables):
        clusters[k, : used[k]] = _match(counts[:, : used[k]], r) if k != reference else np.arange(used[k])
    return clusters, _invert(clusters, used, r, dtype) if used.max() <= r else None


def _match(counts: Ints, r: int) -> Ints:
    """The cluster of each label: its partner in the best matching, or else the one with most rows in common."""
    size = max(counts.shape)
    table = np.zeros((size, size))
    table[:r, : counts.shape[1]] = counts
    cluster, label = linear_sum_assignment(-table)
    partner = cluster[np.argsort(label)][: counts.shape[1]]
    return np.where(partner < r, partner, counts.argmax(axis=0))


def _contingency(labels: Array, reference: int, r: int, width: int) -> Any:
    """Contingency table of the reference and each partition in turn."""
    n = labels.shape[1]
    blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]

    def work(k: int) -> Ints:
        counts = np.zeros((r, width), dtype=np.int64)
        for block in blocks:
            consensus.count_pairs(labels[reference, block], labels[k, block], counts)
        return counts

    return map_blocks(work, range(len(labels)))


def _invert(clusters: Array, used: Ints, r: int, dtype: np.dtype[Any]) -> Array:
    """The inverse of the table of clusters."""
    codes = np.full((len(used), r), np.iinfo(dtype).max, dtype=dtype)
    for k, count in enumerate(used):
        codes[k, clusters[k, :count]] = np.arange(count)
    return codes
