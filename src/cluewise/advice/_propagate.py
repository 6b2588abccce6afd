"""Propagate clues to the neighbors of their rows, with safeguards (12.3 of the survey)."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from cluewise._docs import documented
from cluewise._elsewhere import refuse_elsewhere
from cluewise._squares import largest, require_squares
from cluewise._typing import ArrayLike, Bools, Floats, Ints
from cluewise.advice._radius import choose_radius
from cluewise.base import as_clues
from cluewise.clues import Clues
from cluewise.core.graphs.neighbors import Neighbors, nearest_rows
from cluewise.core.rows import coarse_mean
from cluewise.core.threads import map_blocks
from cluewise.kernels.neighbors import nearest_exactly

__all__ = ["propagate"]

IMPUTED = "imputed"

LINKS = 10**6
"""Maximum number of links that labels and groups expand to; more are refused."""

LEAST = 1e-3
"""Imputed links with less than this share of the weight are left out."""

SLICE = 2**23
"""Distances per call of the exhaustive search, so that Ctrl-C takes effect."""

BATCH = 2**20
"""Candidate links examined at once."""

SPARE = 10**4
"""Candidates kept beyond four times the requested number of links, since some will contradict others."""


class Candidates(NamedTuple):
    """Links to impute between rows near the ends of a clue; nearest first, each pair once."""

    pair: Ints  # (m, 2) the rows, the lower first
    must: Bools  # kind of the clue
    step: Floats  # the longer of the two distances to the ends of the clue
    squared: Floats  # sum of the two squared distances
    weight: Floats  # of the clue; 0 where equally near clues disagree

    def take(self, which: Any) -> Candidates:
        """Select some of them."""
        return Candidates(*(part[which] for part in self))


@documented
def propagate(
    X: ArrayLike,
    clues: Any,
    *,
    radius: float | str = "auto",
    n_neighbors: int = 5,
    decay: bool = True,
    limit: int = 100_000,
) -> Clues:
    r"""Add soft links between rows that are near the two ends of a clue.

    What holds for two rows probably holds for their nearest neighbors. How near they must be is unknown, so links are
    imputed only where the clues themselves show that this would have been right. Their source is "imputed".

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; distances are Euclidean, so standardize the columns first.
    {some_clues}
    radius : float or "auto", default="auto"
        Maximum distance of the rows of an imputed link from the ends of the clue. 0 changes nothing; "auto" chooses it
        by the clues (see Notes), and often chooses 0.
    n_neighbors : int, default=5
        Maximum number of nearest rows of each end, however large the radius.
    decay : bool, default=True
        Whether links imputed farther away weigh less.
    limit : int, default=100_000
        Maximum number of imputed links; the nearest are taken.

    Returns
    -------
    Clues
        The clues and the imputed links; the clues alone if the radius is 0.

    Notes
    -----
    A clue between rows a and b with weight w is propagated to rows i and j if :math:`D_{ia} \le r` and
    :math:`D_{bj} \le r`, with weight

    .. math:: w \exp\left(-\frac{D_{ia}^2 + D_{bj}^2}{2 \sigma^2}\right)

    where σ is the median distance of the rows with clues to their ``n_neighbors``-th neighbor; links below a thousandth
    of w are left out. A pair near several clues follows the nearest, by the longer of the two distances, or none if two
    equally near clues disagree. Links are added nearest first, and only if they contradict neither the closure of the
    clues nor that of the links added before: an imputed must-link never crosses a cannot-link. What the clues say or
    entail is not imputed again. Hard clues impute soft links.

    "auto" predicts each link as if nothing were known about its two rows: by the nearest other clue if it is within the
    radius, otherwise by the distance of the two rows. Agreement is the probability that a must-link ranks before a
    cannot-link. Five radii are tried. A radius is accepted if its gain over radius 0 is clear: more than 1.645 standard
    errors (by the paired estimate of [DeLong1988]_), and more than the best of all radii reaches in 19 of 20 random
    permutations of the rows with clues [Westfall1993]_. So clues unrelated to X get a radius above 0 in at most one
    case of twenty, whatever their kind. Of the accepted radii the smallest within one standard error of the best is
    taken, and 0 if there are none or fewer than two links of each kind.

    Measured with `PCKMeans` (``penalty="auto"``) and n/2 random pairs on 19 standardized data sets of up to 300 rows,
    five draws each: ARI rose by 0.12 on average, most if classes are not spherical (four shapes, ionosphere). "auto"
    chose a radius above 0 in 37 of 95 draws, of which 5 became worse. With a tenth of the pairs wrong, ARI rose by
    0.03, and of 19 draws 6 became worse. No data set lost more than 0.02 on average, or 0.04 with wrong pairs. Do not
    expect help if K-means finds the classes anyway, or if the clues are wrong.

    Time O(tnd) for t rows with clues, to find their neighbors.

    References
    ----------
    .. [DeLong1988] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
       correlated receiver operating characteristic curves: a nonparametric approach", Biometrics 44, 1988.
    .. [Westfall1993] P. H. Westfall and S. S. Young, "Resampling-based multiple testing", Wiley, 1993.

    Examples
    --------
    >>> import cluewise as cw
    >>> from cluewise import propagate
    >>> X = [[0.0], [0.1], [5.0], [5.2], [9.0]]
    >>> more = propagate(X, cw.Clues(5, must=[(0, 2)], cannot=[(0, 4)]), radius=0.5)
    >>> more.must.tolist(), more.must_source.tolist()
    ([[0, 2], [0, 3], [1, 2], [1, 3]], ['given', 'imputed', 'imputed', 'imputed'])
    >>> more.cannot.tolist()
    [[0, 4], [1, 4]]
    """
    refuse_elsewhere(X, "propagate")
    data: Floats = check_array(X, dtype=[np.float64, np.float32])
    require_squares(largest(data), data.dtype, "X")
    known = as_clues(clues, len(data))
    _check_parameters(radius, n_neighbors, limit)
    pairs = known.pairs(expand=True, limit=LINKS)
    k = min(n_neighbors, len(data) - 1)
    if not len(pairs.ends) or not k or not limit:
        return known
    reach = choose_radius(data, pairs.must, pairs.cannot) if isinstance(radius, str) else float(radius)
    if reach == 0:
        return known
    weight = pairs.weight
    finite = np.isfinite(weight)
    weight = np.where(finite, weight, weight[finite].max(initial=0.0) or 1.0)
    rows, place = np.unique(pairs.ends.astype(np.int64), return_inverse=True)
    near = _find_neighbors(data, rows, k)
    sigma = float(np.median(np.sqrt(near.squared[:, -1]))) if decay else np.inf
    near.squared[np.sqrt(near.squared) > reach] = np.inf
    candidates = _find_candidates(known, rows, place.reshape(-1, 2), pairs.is_must, weight, near, limit)
    return _add_links(known, candidates, sigma, limit)


def _check_parameters(radius: Any, n_neighbors: Any, limit: Any) -> None:
    if radius != "auto" and not (isinstance(radius, Real) and float(radius) >= 0):
        raise ValueError(f"radius is {radius!r}; it must be 'auto' or a distance of at least 0.")
    for name, value, least in (("n_neighbors", n_neighbors, 1), ("limit", limit, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} is {value!r}; it must be an integer of at least {least}.")


def _find_neighbors(X: Floats, rows: Ints, k: int) -> Neighbors:
    """Find the k nearest other rows of some rows."""
    if 8 * len(rows) > len(X):  # then searching for all rows at once is faster
        every = nearest_rows(X, k)
        return Neighbors(every.rows[rows], every.squared[rows])
    moved = np.subtract(X, coarse_mean(X), order="C", dtype=np.float64)
    found = Neighbors(np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k)))
    size = max(SLICE // moved.size, 1)

    def work(start: int) -> None:
        part = slice(start, start + size)
        nearest_exactly(moved, rows[part], found.rows[part], found.squared[part])

    for _ in map_blocks(work, range(0, len(rows), size)):
        continue  # Ctrl-C takes effect between two blocks
    return found


def _find_candidates(
    known: Clues, rows: Ints, place: Ints, is_must: Bools, weight: Floats, near: Neighbors, limit: int
) -> Candidates:
    """Find the nearest candidates, some more than needed, among pairs that the clues do not relate."""
    who = np.column_stack([rows, near.rows]).astype(np.int64)
    squared = np.column_stack([np.zeros(len(rows)), near.squared])  # infinite beyond the radius
    count, graph = known.n_components, known.graph
    linked = np.repeat(np.arange(count, dtype=np.int64), np.diff(graph.indptr)) * count + graph.indices
    kept = Candidates(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool), *np.empty((3, 0)))
    size, pool = max(BATCH // who.shape[1] ** 2, 1), 4 * limit + SPARE
    for start in range(0, len(place), size):
        a, b = place[start : start + size].T
        one, two = np.broadcast_arrays(who[a][:, :, None], who[b][:, None, :])
        longer = np.maximum(squared[a][:, :, None], squared[b][:, None, :])
        within = np.inf if len(kept.step) < pool else kept.step[-1] ** 2 * (1 + 1e-12)
        clue, i, j = np.nonzero((longer < np.inf) & (longer <= within) & (one != two))
        pair = np.sort(np.column_stack([one[clue, i, j], two[clue, i, j]]), axis=1)
        u, v = known.components[pair].T.astype(np.int64)
        new = (u != v) & ~np.isin(u * count + v, linked)
        clue, i, j = clue[new], i[new], j[new]
        both = squared[a[clue], i] + squared[b[clue], j]
        found = Candidates(pair[new], is_must[start + clue], np.sqrt(longer[clue, i, j]), both, weight[start + clue])
        kept = _merge(Candidates(*(np.concatenate(parts) for parts in zip(kept, found))), known.n).take(slice(0, pool))
    return kept


def _merge(candidates: Candidates, n: int) -> Candidates:
    """Keep the nearest candidate of each pair, nearest first; of ties the heaviest, with weight 0 if they disagree."""
    if not len(candidates.step):
        return candidates
    code = candidates.pair[:, 0] * n + candidates.pair[:, 1]
    order = np.lexsort((candidates.squared, candidates.step, code))
    candidates, code = candidates.take(order), code[order]
    first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    which = np.repeat(first, np.diff(first, append=len(code)))
    equal = (candidates.step == candidates.step[which]) & (candidates.squared == candidates.squared[which])
    heaviest = np.maximum.reduceat(np.where(equal, candidates.weight, 0.0), first)
    lightest = np.minimum.reduceat(np.where(equal, candidates.weight, np.inf), first)
    disagree = np.logical_or.reduceat(equal & (candidates.must != candidates.must[which]), first)
    best = candidates.take(first)._replace(weight=np.where(disagree | (lightest == 0), 0.0, heaviest))
    return best.take(np.lexsort((best.pair[:, 1], best.pair[:, 0], best.squared, best.step)))


def _add_links(known: Clues, candidates: Candidates, sigma: float, limit: int) -> Clues:
    """Add the candidates that contradict nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.exp(-np.where(candidates.squared > 0, candidates.squared / (2 * sigma**2), 0.0))
    use = (share >= LEAST) & (candidates.weight > 0)
    candidates = candidates._replace(weight=candidates.weight * share).take(use)
    # Nothing is imputed between components that the clues already keep apart, so their own closure is kept as well.
    own, growing = Closure(known), Closure(known)
    chosen: list[int] = []
    for number, ((u, v), must) in enumerate(zip(known.components[candidates.pair].tolist(), candidates.must.tolist())):
        if not own.excludes(u, v) and growing.add(u, v, must=must):
            chosen.append(number)
            if len(chosen) == limit:
                break
    if not chosen:
        return known
    candidates = candidates.take(chosen)
    must, cannot = candidates.must, ~candidates.must
    return known | Clues(
        known.n,
        must=candidates.pair[must],
        must_weight=candidates.weight[must],
        cannot=candidates.pair[cannot],
        cannot_weight=candidates.weight[cannot],
        source=IMPUTED,
    )


class Closure:
    """The closure of clues, extended one link at a time as long as nothing contradicts."""

    def __init__(self, clues: Clues) -> None:
        graph, cliques = clues.graph, clues.cliques
        self.into: dict[int, int] = {}  # joined components, and which they were joined to
        self.apart: dict[int, set[int]] = {}  # cannot-links between components
        self.cliques: dict[int, set[int]] = {}  # groups and classes of a component: two that share one must not join
        indices, indptr = graph.indices.tolist(), graph.indptr.tolist()
        for c, (start, stop) in enumerate(pairwise(indptr)):
            if start < stop:
                self.apart[c] = set(indices[start:stop])
        members, indptr = cliques.members.tolist(), cliques.indptr.tolist()
        for clique, (start, stop) in enumerate(pairwise(indptr)):
            for c in members[start:stop]:
                self.cliques.setdefault(c, set()).add(clique)

    def find(self, component: int) -> int:
        """Find the component that this one has become part of."""
        last = component
        while last in self.into:
            last = self.into[last]
        while component != last:  # path compression
            self.into[component], component = last, self.into[component]
        return last

    def excludes(self, u: int, v: int) -> bool:
        """Whether two different components must be apart."""
        if v in self.apart.get(u, ()):
            return True
        mine, yours = self.cliques.get(u), self.cliques.get(v)
        return mine is not None and yours is not None and not mine.isdisjoint(yours)

    def add(self, u: int, v: int, *, must: bool) -> bool:
        """Add a link between two of the original components unless it contradicts, and return whether it was added."""
        u, v = self.find(u), self.find(v)
        if not must:
            if u != v:
                self.apart.setdefault(u, set()).add(v)
                self.apart.setdefault(v, set()).add(u)
            return u != v
        if u == v:
            return True
        if self.excludes(u, v):
            return False
        if len(self.apart.get(u, ())) > len(self.apart.get(v, ())):
            u, v = v, u
        self.into[u] = v
        for other in self.apart.pop(u, ()):
            self.apart[other].discard(u)
            self.apart[other].add(v)
            self.apart.setdefault(v, set()).add(other)
        if u in self.cliques:
            self.cliques.setdefault(v, set()).update(self.cliques.pop(u))
        return True
