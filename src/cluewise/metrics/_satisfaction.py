"""Which clues a clustering keeps, and which it breaks.

When is a clue broken?

============ ====================================================================================
must         the two rows have different labels
cannot       the two rows have the same label
labels       the row is not in the cluster of its class; classes and clusters are matched one to
             one so that as many labeled rows as possible fit, unless the caller gives the matching
together     the members of the group lie in more than one cluster (the group counts as a whole)
apart        two members of the group share a cluster (the group counts as a whole)
partitions   the row's label is not the most frequent one in its cluster (ties: the lowest label)
sizes        a cluster is smaller or larger than its bounds
avoid        never: how far a result is from a known clustering is a matter of degree
============ ====================================================================================

Each row labeled −1 (noise) is alone: it breaks must-links and class labels, never cannot-links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._docs import documented
from cluewise._typing import UNASSIGNED, ArrayLike, Bools, Floats, Ints
from cluewise.exceptions import ClueError
from cluewise.metrics._contingency import best_matching, contingency

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cluewise.clues import Clues

__all__ = ["broken", "informativeness", "satisfaction", "separate_noise"]


@documented
def broken(
    labels: ArrayLike,
    clues: Clues,
    *,
    clusters_of_classes: ArrayLike | None = None,
    n_clusters: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> Clues:
    """The clues that a clustering breaks.

    Parameters
    ----------
    {clusters}
    clues : Clues
        What is known about the same n rows.
    clusters_of_classes : array-like of shape (n_classes,), default=None
        Cluster of each class in ``clues.classes_``, for methods that put class c into cluster c. By default,
        classes and clusters are matched one to one so that as many labeled rows as possible fit.
    n_clusters : int, default=None
        Requested number of clusters; empty clusters then count for the bounds on sizes.
    sample_weight : array-like of shape (n,), default=None
        Weight of each row, for bounds on summed weights.

    Returns
    -------
    Clues
        The broken clues with their weights and sources. Broken groups and bounds on sizes are returned whole.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import broken
    >>> clues = Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 3)])
    >>> broken([0, 0, 1, 1], clues).must.tolist()
    [[1, 2]]
    """
    marks = _mark_broken(labels, clues, clusters_of_classes, n_clusters, sample_weight)
    return clues.subset(**marks | {"sizes": bool(marks["sizes"].any())})


@documented
def satisfaction(
    labels: ArrayLike,
    clues: Clues,
    *,
    clusters_of_classes: ArrayLike | None = None,
    n_clusters: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Share of the clues that a clustering keeps, by kind.

    Parameters
    ----------
    {clusters}
    clues : Clues
        What is known about the same n rows.
    clusters_of_classes, n_clusters, sample_weight
        As for :func:`broken`.

    Returns
    -------
    dict of str to float
        For each kind present, the share of links (must, cannot), labeled rows (labels, partitions), groups of
        two or more members (together, apart) or clusters (sizes) that are kept. Weights do not count; ``avoid``
        is never listed.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import satisfaction
    >>> clues = Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 3)])
    >>> satisfaction([0, 0, 1, 1], clues)
    {'must': 0.5, 'cannot': 1.0}
    """
    marks = _mark_broken(labels, clues, clusters_of_classes, n_clusters, sample_weight)
    # Nothing is known about rows without a label and groups without a pair, so they do not count.
    countable = {
        "labels": marks["labels"][clues.labels >= 0],
        "must": marks["must"],
        "cannot": marks["cannot"],
        "together": _join(mask[group.sizes > 1] for mask, group in zip(marks["together"], clues.together)),
        "apart": _join(mask[group.sizes > 1] for mask, group in zip(marks["apart"], clues.apart)),
        "partitions": _join(mask[clues.partition_codes(t) >= 0] for t, mask in enumerate(marks["partitions"])),
        "sizes": marks["sizes"],
    }
    return {kind: float(1 - mask.mean()) for kind, mask in countable.items() if mask.size}


def _mark_broken(
    labels: ArrayLike,
    clues: Clues,
    clusters_of_classes: ArrayLike | None,
    n_clusters: int | None,
    sample_weight: ArrayLike | None,
) -> dict[str, Any]:
    """Masks of the broken clues by kind, aligned with the arrays of `Clues`; of sizes, one mask over the clusters."""
    raw: Ints = np.asarray(labels)
    if raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, one per row; they are {raw.dtype} in shape {raw.shape}.")
    if len(raw) != clues.n:
        raise ClueError(f"the clues are about {clues.n} rows, but there are {len(raw)} labels.")
    codes = separate_noise(raw)
    sides = [clues.partition_codes(t) for t in range(len(clues.partitions))]
    return {
        "must": codes[clues.must[:, 0]] != codes[clues.must[:, 1]],
        "cannot": codes[clues.cannot[:, 0]] == codes[clues.cannot[:, 1]],
        "labels": _mark_strays(raw, codes, clues, clusters_of_classes),
        "together": [_mark_split(group.codes, len(group.weights), codes) for group in clues.together],
        "apart": [_mark_crowded(group.codes, len(group.weights), codes) for group in clues.apart],
        "partitions": [_mark_minority(side, codes) for side in sides],
        "sizes": _mark_out_of_bounds(raw, clues, clues.sizes, n_clusters, sample_weight)
        if clues.sizes is not None
        else np.zeros(0, dtype=bool),
    }


def separate_noise(labels: Ints) -> Ints:
    """Cluster codes in which every noise row is a cluster of its own."""
    noise = labels == UNASSIGNED
    if not noise.any() and labels.min(initial=0) == 0:
        return labels  # codes already; sorting a million labels would take more memory than all the rest
    found, codes = np.unique(labels, return_inverse=True)
    codes[noise] = len(found) + np.arange(np.count_nonzero(noise))
    return codes


def _mark_strays(raw: Ints, codes: Ints, clues: Clues, clusters_of_classes: ArrayLike | None) -> Bools:
    """Mark rows outside the cluster of their class."""
    known = clues.labels >= 0
    if clusters_of_classes is not None:
        home = np.asarray(clusters_of_classes)
        if home.shape != (wanted := (len(clues.classes_),)):
            raise ValueError(f"clusters_of_classes has shape {home.shape}, but must have {wanted}.")
        marks = known.copy()
        marks[known] = home[clues.labels[known]] != raw[known]
        return marks
    inside = known & (raw != UNASSIGNED)
    if not inside.any():
        return known  # those in no cluster at all
    classes, clusters = clues.labels[inside], codes[inside]
    marks = known.copy()
    marks[inside] = best_matching(contingency(classes, clusters))[classes] != clusters
    return marks


def _mark_split(group: Ints, n_groups: int, codes: Ints) -> Bools:
    """Mark groups whose members are in more than one cluster."""
    rows = np.flatnonzero(group >= 0)
    anyone = np.zeros(n_groups, dtype=np.int64)
    anyone[group[rows]] = codes[rows]
    elsewhere = rows[codes[rows] != anyone[group[rows]]]
    return np.bincount(group[elsewhere], minlength=n_groups) > 0


def _mark_crowded(group: Ints, n_groups: int, codes: Ints) -> Bools:
    """Mark groups of which two members share a cluster."""
    rows = group >= 0
    table = contingency(group[rows], codes[rows])
    return np.bincount(table.rows[table.counts > 1], minlength=n_groups) > 0


def _mark_minority(side: Ints, codes: Ints) -> Bools:
    """Mark rows whose label in a partition is not the most frequent one in their cluster."""
    known = side >= 0
    table = contingency(codes[known], side[known])
    order = np.lexsort((table.columns, -table.counts, table.rows))
    clusters, first = np.unique(table.rows[order], return_index=True)
    majority = np.full(table.shape[0], -1)
    majority[clusters] = table.columns[order][first]
    marks = np.zeros(len(side), dtype=bool)
    marks[known] = majority[codes[known]] != side[known]
    return marks


def _mark_out_of_bounds(
    raw: Ints, clues: Clues, sizes: Floats, n_clusters: int | None, sample_weight: ArrayLike | None
) -> Bools:
    """Mark clusters that are smaller or larger than allowed."""
    inside = raw >= 0
    weight, slack = np.ones(np.count_nonzero(inside)), 0.0
    if clues.size_unit == "weight" and sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=np.float64)[inside]
        slack = 1e-9 * float(weight.sum())  # sums of weights are not exact
    bounds = np.atleast_2d(sizes)
    if sizes.ndim == 1:  # one pair of bounds for all clusters, whatever their numbers
        size = np.bincount(np.unique(raw[inside], return_inverse=True)[1], weights=weight)
        size = np.append(size, np.zeros(max(0, (n_clusters or 0) - len(size))))
        return (size < bounds[0, 0] - slack) | (size > bounds[0, 1] + slack)
    bounded = raw[inside] < len(bounds)
    size = np.bincount(raw[inside][bounded], weights=weight[bounded], minlength=len(bounds))
    marks = (size < bounds[:, 0] - slack) | (size > bounds[:, 1] + slack)
    return marks if bounded.all() else np.append(marks, True)  # a cluster without bounds is not allowed


def _join(masks: Iterable[Bools]) -> Bools:
    return np.concatenate([np.zeros(0, dtype=bool), *masks])


def informativeness(labels: ArrayLike, clues: Clues) -> float:
    """Share of the clues that a clustering without clues breaks: how much they add.

    Parameters
    ----------
    labels : array-like of shape (n,) or (restarts, n)
        One or more clusterings without clues; the share is averaged over them.
    clues : Clues
        What is known about the same n rows.

    Returns
    -------
    float
        Between 0 (nothing new) and 1, by weight; nan without clues that a clustering can break.

    Notes
    -----
    Equation 94 of the survey, after Davidson, Wagstaff and Basu (2006), with "satisfied" corrected to "not satisfied"
    (erratum E54). A link or group counts its weight, a labeled row counts 1. A link of infinite weight counts as much
    as the heaviest other one. See `satisfaction` for when a clue is broken.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import informativeness
    >>> clues = Clues(8, must=[(0, 1), (3, 7), (4, 6)], cannot=[(2, 7), (3, 4), (1, 5)])
    >>> round(informativeness([0, 0, 0, 0, 1, 1, 1, 1], clues), 6)
    0.166667
    """
    runs = np.atleast_2d(np.asarray(labels))
    heaviest = _heaviest(clues)
    total = _weight(clues, heaviest)
    if not total:
        return float("nan")
    return float(np.mean([_weight(broken(run, clues), heaviest) for run in runs]) / total)


def _heaviest(clues: Clues) -> float:
    """The largest finite weight; 1 where there is none."""
    weights = np.concatenate([clues.must_weight, clues.cannot_weight, *_group_weights(clues)])
    return float(weights[np.isfinite(weights)].max(initial=0.0)) or 1.0


def _group_weights(clues: Clues) -> list[Floats]:
    return [group.weights[group.sizes > 1] for group in (*clues.together, *clues.apart)]


def _weight(clues: Clues, heaviest: float) -> float:
    """Total weight of the clues that a clustering can break, except bounds on sizes."""
    weights = np.concatenate([clues.must_weight, clues.cannot_weight, *_group_weights(clues)])
    rows = np.count_nonzero(clues.labels >= 0)
    rows += sum(np.count_nonzero(clues.partition_codes(t) >= 0) for t in range(len(clues.partitions)))
    return float(np.minimum(weights, heaviest).sum() + rows)
