"""Agreement of a clustering with true classes, whatever the labels are called.

Labels may be numbers or strings. The noise label −1 is a label like any other: noise rows count as one cluster.
No n × n array is ever built.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from cluewise._docs import documented
from cluewise._typing import ArrayLike, Ints
from cluewise.metrics._contingency import best_matching, contingency, paired_codes

__all__ = ["accuracy", "ari", "b_cubed", "nmi", "pairwise_f", "rand", "variation_of_information"]

_NORMALIZATIONS = ("geometric", "arithmetic", "min", "max")


@documented
def nmi(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    normalization: Literal["geometric", "arithmetic", "min", "max"] = "geometric",
) -> float:
    """Mutual information of two labelings, divided by a mean of their entropies.

    Parameters
    ----------
    {two_labelings}
    normalization : {"geometric", "arithmetic", "min", "max"}, default="geometric"
        How the two entropies are averaged: √(H(U)H(V)), (H(U)+H(V))/2, the smaller or the larger.

    Returns
    -------
    float
        Between 0 and 1. Two labelings with one cluster each agree (1); if only one of the two has a single
        cluster, they share nothing (0).

    Examples
    --------
    >>> from cluewise.metrics import nmi
    >>> round(nmi([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 0]), 6)
    0.547637
    """
    from sklearn.metrics import normalized_mutual_info_score

    if normalization not in _NORMALIZATIONS:
        raise ValueError(f"normalization is {normalization!r}, but must be one of {_NORMALIZATIONS}.")
    truth, found = paired_codes(y_true, y_pred)
    return float(normalized_mutual_info_score(truth, found, average_method=normalization))


@documented
def ari(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Adjusted Rand index (Hubert and Arabie): 1 for equal labelings, about 0 for random ones.

    Parameters
    ----------
    {two_labelings}

    Returns
    -------
    float
        At most 1; negative if the labelings agree less than by chance.

    Examples
    --------
    >>> from cluewise.metrics import ari
    >>> round(ari([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 0]), 6)
    0.304348
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*paired_codes(y_true, y_pred)))


@documented
def rand(y_true: ArrayLike, y_pred: ArrayLike, exclude_pairs: ArrayLike | None = None) -> float:
    """Share of the pairs of rows on which two labelings agree: together in both, or apart in both.

    Parameters
    ----------
    {two_labelings}
    {exclude_pairs}

    Returns
    -------
    float
        Between 0 and 1; 1 without any pair.

    Examples
    --------
    >>> from cluewise.metrics import rand
    >>> truth, found = [0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 0]
    >>> round(rand(truth, found), 6)
    0.714286
    >>> rand(truth, found, exclude_pairs=[(0, 1), (3, 4), (2, 3)])
    0.72
    """
    pairs = _count_pairs(y_true, y_pred, exclude_pairs)
    total = sum(pairs)
    return (pairs.both + pairs.neither) / total if total else 1.0


@documented
def pairwise_f(y_true: ArrayLike, y_pred: ArrayLike, exclude_pairs: ArrayLike | None = None) -> float:
    """Harmonic mean of precision and recall over the pairs of rows that are together.

    Parameters
    ----------
    {two_labelings}
    {exclude_pairs}

    Returns
    -------
    float
        Between 0 and 1; 0 if no pair is together in both, but 1 if neither labeling has any pair together.

    Examples
    --------
    >>> from cluewise.metrics import pairwise_f
    >>> truth, found = [0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 0]
    >>> pairwise_f(truth, found)
    0.5
    >>> round(pairwise_f(truth, found, exclude_pairs=[(0, 1), (3, 4), (2, 3)]), 6)
    0.363636
    """
    pairs = _count_pairs(y_true, y_pred, exclude_pairs)
    together = 2 * pairs.both + pairs.only_true + pairs.only_pred
    return 2 * pairs.both / together if together else 1.0


@documented
def b_cubed(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Harmonic mean of B³ precision and recall [Bagga1998]_, which are means over rows instead of pairs.

    The precision of a row is the share of its cluster that is of its class, its recall the share of its class that is
    in its cluster. So large clusters do not count more than their rows, as they do in `pairwise_f`.

    Parameters
    ----------
    {two_labelings}

    Returns
    -------
    float
        Above 0, because each row is in its own cluster; at most 1.

    References
    ----------
    .. [Bagga1998] A. Bagga and B. Baldwin, "Entity-based cross-document coreferencing using the vector space model",
       ACL 1998.

    Examples
    --------
    >>> from cluewise.metrics import b_cubed
    >>> round(b_cubed([0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 0]), 6)
    0.675641
    """
    truth, found = paired_codes(y_true, y_pred)
    table = contingency(truth, found)
    squares = table.counts.astype(np.float64) ** 2
    precision = float((squares / np.bincount(found)[table.columns]).sum()) / len(truth)
    recall = float((squares / np.bincount(truth)[table.rows]).sum()) / len(truth)
    return 2 * precision * recall / (precision + recall)


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of rows in the cluster that is matched with their class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Two labelings of the same rows; their numbers of clusters may differ.

    Returns
    -------
    float
        Share of rows under the best one-to-one matching of classes and clusters; rows of unmatched classes or
        clusters count as wrong.

    Examples
    --------
    >>> from cluewise.metrics import accuracy
    >>> accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency(*paired_codes(y_true, y_pred))
    hits = best_matching(table)[table.rows] == table.columns
    return float(table.counts[hits].sum() / table.counts.sum())


@documented
def variation_of_information(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Distance of two labelings: the information that each has and the other lacks, in nats.

    Parameters
    ----------
    {two_labelings}

    Returns
    -------
    float
        H(U|V) + H(V|U): 0 for equal labelings, at most log n; a metric.

    Examples
    --------
    >>> from cluewise.metrics import variation_of_information
    >>> variation_of_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 6)
    1.386294
    """
    truth, found = paired_codes(y_true, y_pred)
    table = contingency(truth, found)
    in_class, in_cluster = np.bincount(truth)[table.rows], np.bincount(found)[table.columns]
    # Each term is >= 0, so equal labelings give exactly 0; H(U) + H(V) - 2 I would leave a rounding error.
    surprise = np.log(in_class / table.counts) + np.log(in_cluster / table.counts)
    return float(np.dot(table.counts, surprise) / len(truth))


class _Pairs(NamedTuple):
    """Numbers of unordered pairs of rows, as Python integers."""

    neither: int
    only_pred: int
    only_true: int
    both: int


def _count_pairs(y_true: ArrayLike, y_pred: ArrayLike, exclude_pairs: ArrayLike | None) -> _Pairs:
    from sklearn.metrics.cluster import pair_confusion_matrix

    truth, found = paired_codes(y_true, y_pred)
    ordered = np.asarray(pair_confusion_matrix(truth, found), dtype=np.int64).ravel()
    left_out = np.zeros(4, dtype=np.int64)
    if exclude_pairs is not None:
        a, b = _unordered(exclude_pairs, len(truth)).T
        case = 2 * (truth[a] == truth[b]) + (found[a] == found[b])
        left_out = np.bincount(case, minlength=4)
    return _Pairs(*(int(twice) // 2 - int(out) for twice, out in zip(ordered, left_out, strict=True)))


def _unordered(pairs: ArrayLike, n: int) -> Ints:
    """Distinct pairs of rows, the smaller row first."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"exclude_pairs must be two columns of integers; it has {array.dtype} in shape {array.shape}.")
    outside = (array < 0) | (array >= n)
    if outside.any():
        line = int(np.argmax(outside.any(axis=1)))
        row = int(array[line][outside[line]][0])
        raise ValueError(f"exclude_pairs names row {row} (pair {line}), but there are only {n} rows.")
    own = array[:, 0] == array[:, 1]
    if own.any():
        line = int(np.argmax(own))
        raise ValueError(f"exclude_pairs links row {int(array[line, 0])} with itself (pair {line}).")
    return np.unique(np.sort(array.astype(np.int64), axis=1), axis=0)
