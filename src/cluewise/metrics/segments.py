"""Links as segments between their rows: how they overlap, how long they are, and what nearby links say.

Labels and groups are expanded to pairs. If there are more than ``limit`` pairs of a kind, a sample is drawn: links
come first; the pairs of labels and groups are taken among a random half of their rows, halved again until they fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise._docs import documented
from cluewise._squares import largest, require_squares
from cluewise._typing import ArrayLike, Floats, Ints
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues import Clues

__all__ = [
    "Segments",
    "coherence",
    "count_pairs_among",
    "make_segments",
    "metric_agreement",
    "overlap",
    "overlap_blocks",
    "predictability",
    "sample_links",
    "take_rows",
]

_BLOCK = 1 << 18  # pairs of segments compared at once
_ROUNDING = 1e-12  # overlaps below this share of the spread of the rows are rounding errors


class Segments(NamedTuple):
    """Links as segments between rows: ends of shape (links, 2, d), and the rows."""

    must: Floats
    cannot: Floats
    must_rows: Ints
    cannot_rows: Ints
    middle: Floats  # (d,), mean of all these rows
    spread: float  # largest coordinate relative to the middle

    @property
    def lengths(self) -> tuple[Floats, Floats]:
        """Lengths of the must-links and of the cannot-links."""
        must, cannot = (np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1)) for ends in (self.must, self.cannot))
        return must, cannot


def make_segments(X: Any, clues: Clues, limit: int = 10_000, random_state: Any = 0) -> Segments:
    """Make segments of at most ``limit`` must-links and cannot-links each, those of labels and groups included."""
    must, cannot = sample_links(clues, limit, random_state)
    rows, place = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    points = take_rows(X, rows, clues.n)
    middle = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
    spread = float(np.abs(points - middle).max(initial=0.0))
    ends = points[place.reshape(-1, 2)]
    return Segments(ends[: len(must)], ends[len(must) :], must, cannot, middle, spread)


def sample_links(clues: Clues, limit: int, random_state: Any = 0) -> tuple[Ints, Ints]:
    """Must-links and cannot-links, those of labels and groups included, sampled as the module describes."""
    rng = np.random.default_rng(random_state)
    implicit = clues.only(["labels", "together", "apart"])
    must, cannot = (_sample(links, limit, rng) for links in (clues.must, clues.cannot))
    if not implicit.kinds:
        return must, cannot
    rows = implicit.tied
    room = max(limit - max(len(must), len(cannot)), limit // 2)
    while count_pairs_among(implicit, rows) > room and len(rows) > 2:
        rows = np.sort(rng.permutation(rows)[: max(2, len(rows) // 2)])
    more = implicit[rows].pairs(expand=True)
    joined = (np.concatenate([links, rows[pairs]]) for links, pairs in ((must, more.must), (cannot, more.cannot)))
    must, cannot = (_sample(np.unique(links, axis=0), limit, rng) for links in joined)
    return must, cannot


def _sample(links: Ints, limit: int, rng: np.random.Generator) -> Ints:
    if len(links) <= limit:
        return links
    return links[np.sort(rng.choice(len(links), limit, replace=False))]


def count_pairs_among(clues: Clues, rows: Ints) -> int:
    """Count the pairs that labels and groups make among these rows."""
    labelled = int(np.count_nonzero(clues.labels[rows] >= 0))
    total = labelled * (labelled - 1) // 2
    for group in (*clues.together, *clues.apart):
        codes = group.codes[rows]
        size = np.bincount(codes[codes >= 0])
        total += int((size * (size - 1) // 2).sum())
    return total


def take_rows(X: Any, rows: Ints, n: int) -> Floats:
    """Take some rows of dense or sparse data in double precision."""
    if not hasattr(X, "tocsr"):
        X = np.asarray(X)
    if X.ndim != 2 or X.shape[0] != n:
        raise ClueError(f"the clues are about {n} rows, but X has shape {X.shape}.")
    part = X.tocsr()[rows].toarray() if hasattr(X, "tocsr") else X[rows]
    points: Floats = np.asarray(part, dtype=np.float64)
    if not np.isfinite(points).all():
        first = int(rows[np.flatnonzero(~np.isfinite(points).all(axis=1))[0]])
        raise ValueError(f"X has nan or infinity in row {first}; impute it or drop the row.")
    require_squares(largest(points), points.dtype, "X")
    return points


def overlap(a: ArrayLike, b: ArrayLike, *, profile: str = "library") -> Floats:
    """How much of each segment b is covered by each segment a when a is projected on the line through b.

    Parameters
    ----------
    a : array-like of shape (m, 2, d) or (2, d)
        The two ends of m segments.
    b : array-like of shape (c, 2, d) or (2, d)
        The two ends of c segments.
    profile : {"library", "published"}, default="library"
        "library" is the length of the common part. "published" is the case-by-case rule of the paper, for comparison:
        it depends on which end of b comes first, and counts what lies beyond b (errata E55 to E57).

    Returns
    -------
    ndarray of shape (m, c)
        Lengths; 0 where b has no length.

    Examples
    --------
    >>> from cluewise.metrics import overlap
    >>> overlap([[4.5, 1], [6, 1]], [[0, 0], [4, 0]])
    array([[0.]])
    >>> overlap([[4.5, 1], [6, 1]], [[0, 0], [4, 0]], profile="published")
    array([[1.5]])
    """
    _require_profile(profile)
    first, second = (np.asarray(ends, dtype=np.float64) for ends in (a, b))
    first, second = (ends[None] if ends.ndim == 2 else ends for ends in (first, second))
    if first.ndim != 3 or second.ndim != 3 or first.shape[1:] != second.shape[1:] or first.shape[1] != 2:
        raise ValueError(f"segments need shapes (m, 2, d) and (c, 2, d); they have {first.shape} and {second.shape}.")
    # Ends of a as places on the lines through b, which run from 0 to the length of b (equations 95 and 96).
    along = second[:, 1] - second[:, 0]
    length = np.sqrt((along**2).sum(axis=1))
    unit = along / np.where(length > 0, length, 1.0)[:, None]
    start = (second[:, 0] * unit).sum(axis=1)
    one, two = first[:, 0] @ unit.T - start, first[:, 1] @ unit.T - start
    if profile == "library":
        common = np.minimum(np.maximum(one, two), length) - np.maximum(np.minimum(one, two), 0.0)
        return np.where(length > 0, np.maximum(common, 0.0), 0.0)
    near_one, near_two = np.abs(length - one) < length, np.abs(length - two) < length
    cases = [near_one & near_two, near_one, near_two]
    return np.select(cases, [np.abs(one - two), np.abs(one), np.abs(two)], 0.0)


def _require_profile(profile: str) -> None:
    if profile not in ("library", "published"):
        raise ValueError(f"profile is {profile!r}; it must be 'library' or 'published'.")


def overlap_blocks(links: Segments, profile: str = "library") -> Iterator[tuple[int, Floats, Floats]]:
    """Yield blocks of must-links: the first one's number, their overlap on all cannot-links, and vice versa."""
    size = max(1, _BLOCK // max(1, len(links.cannot)))
    cannot = links.cannot - links.middle  # far from the origin, places on lines would lose digits
    for start in range(0, len(links.must), size):
        must = links.must[start : start + size] - links.middle
        yield start, overlap(must, cannot, profile=profile), overlap(cannot, must, profile=profile).T


@documented
def coherence(X: Any, clues: Clues, *, profile: str = "library", limit: int = 10_000, random_state: Any = 0) -> float:
    """Share of the pairs of a must-link and a cannot-link that do not pull and push in the same place.

    Links are seen as forces along the segments between their rows. Two of them are coherent when their segments,
    projected on each other, do not overlap.

    Parameters
    ----------
    {X}
    {clues_as_pairs}
    profile : {"library", "published"}, default="library"
        How overlaps are measured, see :func:`overlap`.
    {link_limit 10000}
    {link_seed}

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
    >>> from cluewise.metrics import coherence
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(0, 1), (3, 7), (4, 6)], cannot=[(2, 7), (3, 4), (1, 5)])
    >>> round(coherence(X, clues), 6)
    0.444444
    """
    _require_profile(profile)
    links = make_segments(X, clues, limit, random_state)
    if not len(links.must) or not len(links.cannot):
        return 1.0
    least = _ROUNDING * links.spread
    clear = sum(np.count_nonzero((on <= least) & (back <= least)) for _, on, back in overlap_blocks(links, profile))
    return float(clear / (len(links.must) * len(links.cannot)))


@documented
def metric_agreement(X: Any, clues: Clues, *, limit: int = 100_000, random_state: Any = 0) -> float:
    """Probability that the rows of a must-link are closer to each other than those of a cannot-link.

    Parameters
    ----------
    {X}
    {clues_as_pairs}
    {link_limit 100000}
    {link_seed}

    Returns
    -------
    float
        An area under the ROC curve: 1 when distances separate the two kinds, 1/2 when they say nothing, less when they
        mislead; ties count half. nan without links of both kinds.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import metric_agreement
    >>> metric_agreement([[0.0], [1.0], [5.0]], Clues(3, must=[(0, 1)], cannot=[(1, 2)]))
    1.0
    """
    near, far = make_segments(X, clues, limit, random_state).lengths
    if not len(near) or not len(far):
        return float("nan")
    far = np.sort(far)
    not_above = np.searchsorted(far, near, side="right")
    below = np.searchsorted(far, near, side="left")
    return float(1.0 - (not_above + below).mean() / (2 * len(far)))


@documented
def predictability(X: Any, clues: Clues, *, n_neighbors: int = 5, limit: int = 2_000, random_state: Any = 0) -> float:
    """How often nearby links predict whether a link is a must-link or a cannot-link.

    Every link is left out and predicted by a vote of the nearest other links. The distance of two links is that of
    their ends, paired in the better of the two ways.

    Parameters
    ----------
    {X}
    {clues_as_pairs}
    n_neighbors : int, default=5
        Maximum number of links that vote; reduced to an odd number below the number of links of either kind, since
        the link in question has no vote.
    {link_limit 2000}
    {link_seed}

    Returns
    -------
    float
        Share of correct predictions, averaged over both kinds: 1/2 is guessing. A low value means that clues should not
        be propagated to nearby rows. nan without two links of each kind.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import predictability
    >>> X = [[0.0], [0.1], [0.2], [0.3], [9.0], [9.1]]
    >>> clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(0, 4), (1, 5)])
    >>> predictability(X, clues, n_neighbors=1)
    1.0
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors is {n_neighbors!r}; at least 1 link must vote.")
    links = make_segments(X, clues, limit, random_state)
    fewest = min(len(links.must), len(links.cannot))
    if fewest < 2:
        return float("nan")
    n_neighbors = min(n_neighbors, fewest - 1)
    n_neighbors -= n_neighbors % 2 == 0
    from sklearn.neighbors import NearestNeighbors

    ends = np.concatenate([links.must, links.cannot])
    is_must = np.arange(len(ends)) < len(links.must)
    both = np.concatenate([ends, ends[:, ::-1]]).reshape(2 * len(ends), -1)
    # Each other link may come twice, once in each direction, and so does the link itself.
    n_found = min(2 * n_neighbors + 2, len(both))
    place = NearestNeighbors(n_neighbors=n_found).fit(both).kneighbors(both[: len(ends)], return_distance=False)
    other = place % len(ends)
    fresh = other != np.arange(len(ends))[:, None]
    for j in range(1, n_found):
        fresh[:, j] &= (other[:, :j] != other[:, j : j + 1]).all(axis=1)
    votes = np.where(fresh & (np.cumsum(fresh, axis=1) <= n_neighbors), np.where(is_must[other], 1, -1), 0)
    says_must = votes.sum(axis=1) > 0
    return float((says_must[is_must].mean() + (~says_must[~is_must]).mean()) / 2)
