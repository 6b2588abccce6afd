"""How useful clues are, before anything is clustered with them: news, coherence, agreement, redundancy.

Links speak of two rows each; labels and groups are written out as pairs for the measures that look at distances. Above
``limit`` pairs of a kind some are drawn: given links first, as many as there is room for; what labels and groups add is
then taken among fewer and fewer rows, each time a random half of them, until it fits (`metrics._segments`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._typing import Array, ArrayLike, Bools, Floats, Ints
from cluewise.metrics import _segments
from cluewise.metrics._bridges import inside_cycles
from cluewise.metrics._satisfaction import broken

if TYPE_CHECKING:
    from cluewise.clues import Clues

__all__ = ["coherence", "informativeness", "metric_agreement", "overlap", "predictability", "redundancy"]

_NOTHING = 1e-12  # shorter overlaps, as a share of the spread of the rows, are rounding


def informativeness(labels: ArrayLike, clues: Clues) -> float:
    """How much of what the clues say a method did not know: the share that its result without clues breaks.

    Parameters
    ----------
    labels : array-like of shape (n,) or (restarts, n)
        Clustering without clues, or several of them, over which the share is averaged.
    clues : Clues
        What is known about the same n rows.

    Returns
    -------
    float
        Between 0 (no news) and 1, by weight; nan when there are no clues that a clustering can break.

    Notes
    -----
    Equation 94 of the survey, after Davidson, Wagstaff and Basu (2006), with "satisfied" corrected to "not satisfied"
    (erratum E54). A link or group counts by its weight, a row of labels and of partitions counts 1; when each is
    broken is said in :mod:`cluewise.metrics.satisfaction`. A link of infinite weight counts like the heaviest other.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics._utility import informativeness
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
    """All clues that a clustering can break, by weight; bounds on sizes and clusterings to avoid aside."""
    weights = np.concatenate([clues.must_weight, clues.cannot_weight, *_group_weights(clues)])
    rows = np.count_nonzero(clues.labels >= 0)
    rows += sum(np.count_nonzero(clues.partition_codes(t) >= 0) for t in range(len(clues.partitions)))
    return float(np.minimum(weights, heaviest).sum() + rows)


def overlap(a: ArrayLike, b: ArrayLike, *, profile: str = "library") -> Floats:
    """How much of each segment b is covered by each segment a when a is projected on the line through b.

    Parameters
    ----------
    a : array-like of shape (m, 2, d) or (2, d)
        The two ends of m segments.
    b : array-like of shape (c, 2, d) or (2, d)
        The two ends of c segments.
    profile : {"library", "published"}, default="library"
        "library" is the length of the common part. "published" is the rule by cases of the paper, for comparison: it
        depends on which end of b comes first, and counts what lies beyond b (errata E55 to E57).

    Returns
    -------
    ndarray of shape (m, c)
        Lengths; 0 where b has no length.

    Examples
    --------
    >>> from cluewise.metrics._utility import overlap
    >>> overlap([[4.5, 1], [6, 1]], [[0, 0], [4, 0]])
    array([[0.]])
    >>> overlap([[4.5, 1], [6, 1]], [[0, 0], [4, 0]], profile="published")
    array([[1.5]])
    """
    if profile not in ("library", "published"):
        raise ValueError(f"profile is {profile!r}; it must be 'library' or 'published'.")
    first, second = (np.asarray(ends, dtype=np.float64) for ends in (a, b))
    first, second = (ends[None] if ends.ndim == 2 else ends for ends in (first, second))
    if first.ndim != 3 or second.ndim != 3 or first.shape[1:] != second.shape[1:] or first.shape[1] != 2:
        raise ValueError(f"segments need shapes (m, 2, d) and (c, 2, d); they have {first.shape} and {second.shape}.")
    return _segments.overlap(first, second, profile)


def coherence(X: Any, clues: Clues, *, profile: str = "library", limit: int = 10_000, random_state: Any = 0) -> float:
    """Share of the pairs of a must-link and a cannot-link that do not pull and push in the same place.

    Links are seen as forces along the segments between their rows. Two of them are coherent when their segments do not
    overlap, projected on each other.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data.
    clues : Clues
        What is known; labels and groups count as the pairs that they make.
    profile : {"library", "published"}, default="library"
        How overlaps are measured, see :func:`overlap`.
    limit : int, default=10000
        Most links of each kind that are looked at; of more some are drawn, as the module says.
    random_state : int or Generator, default=0
        Seed of that draw.

    Returns
    -------
    float
        Between 0 and 1; 1 when there is nothing that could conflict.

    Notes
    -----
    Equation 97 of the survey. Time O(mcd) for m must-links and c cannot-links, memory O(m + c). Overlaps of at most
    1e-12 of the spread of the rows count as none, so that the scale of the data does not matter.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics._utility import coherence
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(0, 1), (3, 7), (4, 6)], cannot=[(2, 7), (3, 4), (1, 5)])
    >>> round(coherence(X, clues), 6)
    0.444444
    """
    overlap(np.zeros((2, 1)), np.zeros((2, 1)), profile=profile)  # a wrong profile is refused whatever the clues are
    found = _segments.segments(X, clues, limit, random_state)
    if not len(found.must) or not len(found.cannot):
        return 1.0
    nothing = _NOTHING * found.spread
    clear = sum(
        np.count_nonzero((on <= nothing) & (back <= nothing)) for _, on, back in _segments.overlaps(found, profile)
    )
    return float(clear / (len(found.must) * len(found.cannot)))


def metric_agreement(X: Any, clues: Clues, *, limit: int = 100_000, random_state: Any = 0) -> float:
    """Probability that the rows of a must-link are nearer to each other than those of a cannot-link.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data.
    clues : Clues
        What is known; labels and groups count as the pairs that they make.
    limit : int, default=100000
        Most links of each kind that are looked at; of more some are drawn, as the module says.
    random_state : int or Generator, default=0
        Seed of that draw.

    Returns
    -------
    float
        An area under the curve: 1 when distances tell the kinds apart, 1/2 when they say nothing, below when they
        mislead; ties count half. nan without links of both kinds.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics._utility import metric_agreement
    >>> metric_agreement([[0.0], [1.0], [5.0]], Clues(3, must=[(0, 1)], cannot=[(1, 2)]))
    1.0
    """
    found = _segments.segments(X, clues, limit, random_state)
    if not len(found.must) or not len(found.cannot):
        return float("nan")
    near, far = (np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1)) for ends in (found.must, found.cannot))
    far = np.sort(far)
    not_above = np.searchsorted(far, near, side="right")
    below = np.searchsorted(far, near, side="left")
    return float(1.0 - (not_above + below).mean() / (2 * len(far)))


def redundancy(clues: Clues) -> float:
    """Share of the clues that follow from the others.

    Parameters
    ----------
    clues : Clues
        Must-links, cannot-links, labels and members of ``together`` groups are counted; ``apart`` groups entail, but
        are not counted themselves.

    Returns
    -------
    float
        Between 0 and 1; nan when there is nothing to count.

    Notes
    -----
    Each clue is left out alone: of three must-links in a triangle every one follows from the other two. A must-link,
    label or member is entailed when it lies on a cycle of rows, groups and classes; a cannot-link when
    another one, two labels or an ``apart`` group separate the same components.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics._utility import redundancy
    >>> clues = Clues(8, must=[(0, 1), (1, 2), (0, 2), (4, 5)], cannot=[(2, 4), (0, 5), (3, 7)])
    >>> round(redundancy(clues), 6)
    0.714286
    """
    joining, nodes = _joining(clues)
    total = len(joining) + len(clues.cannot)
    if not total:
        return float("nan")
    entailed = np.count_nonzero(inside_cycles(joining, nodes)) + np.count_nonzero(_separated(clues))
    return float(entailed / total)


def _joining(clues: Clues) -> tuple[Ints, int]:
    """Edges between rows, and between rows and nodes for their groups and classes; the number of nodes."""
    nodes, edges = clues.n, [clues.must]
    for codes in (clues.labels, *(group.codes for group in clues.together)):
        rows = np.flatnonzero(codes >= 0)
        edges.append(np.column_stack([rows, nodes + codes[rows]]))
        nodes += int(codes.max(initial=-1)) + 1
    return np.concatenate(edges), nodes


def _separated(clues: Clues) -> Bools:
    """Cannot-links whose components something else keeps apart, too."""
    from scipy.sparse import csr_array

    ends = np.sort(clues.components[clues.cannot].astype(np.int64), axis=1)
    key = ends[:, 0] * clues.n_components + ends[:, 1]
    _, place, times = np.unique(key, return_inverse=True, return_counts=True)
    twice: Bools = times[place] > 1
    cliques = clues.cliques
    if len(cliques.members):
        owner = np.repeat(np.arange(len(cliques.indptr) - 1), np.diff(cliques.indptr))
        shape = (clues.n_components, len(cliques.indptr) - 1)
        member = csr_array((np.ones(len(owner)), (cliques.members, owner)), shape=shape)
        shared: Array = member[ends[:, 0]].multiply(member[ends[:, 1]]).sum(axis=1)
        twice = twice | ((shared > 0) & (ends[:, 0] != ends[:, 1]))
    return twice


def predictability(X: Any, clues: Clues, *, n_neighbors: int = 5, limit: int = 2_000, random_state: Any = 0) -> float:
    """How often the links nearby tell whether a link is a must-link or a cannot-link.

    Every link is left out and predicted by a vote of the nearest other links. Two links are as far from each other as
    their ends are, in the better of the two ways to pair them.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        The data.
    clues : Clues
        What is known; labels and groups count as the pairs that they make.
    n_neighbors : int, default=5
        How many links vote, at most: an odd number, and fewer than there are links of either kind, since the link in
        question has no vote.
    limit : int, default=2000
        Most links of each kind that are looked at; of more some are drawn, as the module says.
    random_state : int or Generator, default=0
        Seed of that draw.

    Returns
    -------
    float
        Share predicted rightly, the mean over both kinds: 1/2 is guessing. Low values say that what clues say must not
        be carried over to rows nearby. nan without two links of each kind.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics._utility import predictability
    >>> X = [[0.0], [0.1], [0.2], [0.3], [9.0], [9.1]]
    >>> clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(0, 4), (1, 5)])
    >>> predictability(X, clues, n_neighbors=1)
    1.0
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors is {n_neighbors!r}; at least 1 link must vote.")
    found = _segments.segments(X, clues, limit, random_state)
    fewest = min(len(found.must), len(found.cannot))
    if fewest < 2:
        return float("nan")
    n_neighbors = min(n_neighbors, fewest - 1)
    n_neighbors -= n_neighbors % 2 == 0
    from sklearn.neighbors import NearestNeighbors

    ends = np.concatenate([found.must, found.cannot])
    is_must = np.arange(len(ends)) < len(found.must)
    both = np.concatenate([ends, ends[:, ::-1]]).reshape(2 * len(ends), -1)
    # Each other link may come twice, once in each direction, and so does the link itself.
    wanted = min(2 * n_neighbors + 2, len(both))
    place = NearestNeighbors(n_neighbors=wanted).fit(both).kneighbors(both[: len(ends)], return_distance=False)
    other = place % len(ends)
    fresh = other != np.arange(len(ends))[:, None]
    for j in range(1, wanted):
        fresh[:, j] &= (other[:, :j] != other[:, j : j + 1]).all(axis=1)
    votes = np.where(fresh & (np.cumsum(fresh, axis=1) <= n_neighbors), np.where(is_must[other], 1, -1), 0)
    says_must = votes.sum(axis=1) > 0
    return float((says_must[is_must].mean() + (~says_must[~is_must]).mean()) / 2)
