"""Clues for the neighbors of the rows that clues speak of, with guards (12.3 of the survey's specification)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from cluewise._squares import largest, require_squares
from cluewise._typing import ArrayLike, Bools, Floats, Ints
from cluewise.advice.propagation._propagate_closure import Growing
from cluewise.advice.propagation._propagate_radius import agreed_radius
from cluewise.base import as_clues
from cluewise.clues import Clues
from cluewise.core.graphs.neighbors import Neighbors, nearest_rows
from cluewise.core.rows import coarse_mean
from cluewise.core.threads import map_blocks
from cluewise.kernels.neighbors import nearest_exactly

__all__ = ["propagate"]

IMPUTED = "imputed"

LINKS = 10**6
"""Labels and groups that make more links than this are refused."""

LEAST = 1e-3
"""Imputed links that keep less than this share of the weight are left out."""

SLICE = 2**23
"""Distances per call of the plain search, so that Ctrl-C is heard."""

WAYS = 2**20
"""Ways looked at together."""

SPARE = 10**4
"""Of four times as many ways as links are wanted, and so many more, those that contradict are left out."""


class Ways(NamedTuple):
    """From a clue to a pair of rows near its ends; shortest first, each pair once."""

    pair: Ints  # (m, 2) the rows, the lower first
    must: Bools  # what the clue says
    step: Floats  # the longer of the two steps
    squared: Floats  # both steps squared and added up
    weight: Floats  # of the clue; 0 where clues that are equally near disagree

    def take(self, which: Any) -> Ways:
        """Some of them."""
        return Ways(*(part[which] for part in self))


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

    What holds for two rows probably holds for their near neighbors, too; how near is not known. So it is a guess, made
    only where the clues themselves say that it would have been right, and marked as such (source "imputed").

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data; Euclidean distances count, so standardize the columns first.
    clues : Clues or array-like of shape (n,)
        What is known; an array is taken as partial labels, which spread as links.
    radius : float or "auto", default="auto"
        How far the rows of an imputed link may be from the ends of the clue. 0 changes nothing; "auto" asks the clues
        (see Notes), and often answers 0.
    n_neighbors : int, default=5
        Only so many nearest rows of each end are used, however large the radius.
    decay : bool, default=True
        Whether links that are imputed farther away weigh less.
    limit : int, default=100_000
        At most so many links are added, the nearest ones.

    Returns
    -------
    Clues
        The given clues and the imputed links; the given clues alone where the radius is 0.

    Notes
    -----
    A clue between rows a and b with weight w speaks for rows i and j if :math:`D_{ia} \le r` and
    :math:`D_{bj} \le r`, with weight

    .. math:: w \exp\left(-\frac{D_{ia}^2 + D_{bj}^2}{2 \sigma^2}\right)

    where σ is the median distance of the rows that clues speak of to their ``n_neighbors``-th neighbor; below a
    thousandth of w it is left out. A pair near several clues follows the nearest, by the longer of the two steps; where
    two that are equally near disagree, none. Links are added nearest first, and only such as contradict neither the
    closure of the given clues nor that of the links added before: an imputed must-link never crosses a cannot-link.
    What the given clues say or entail is not imputed again. Hard clues impute soft links.

    "auto" tries each link as if nothing were known about its two rows: the nearest other clue says what it should be
    if it is within the radius, the distance of the two rows says so otherwise. Agreement is the probability that a
    must-link ranks before a cannot-link. Five radii are tried, and a radius counts if its gain over radius 0 is clear:
    more than 1.645 standard errors (by the paired estimate of [DeLong1988]_), and more standard errors than the best
    of all radii reaches in 19 of 20 random exchanges of places among the rows that clues speak of [Westfall1993]_. So
    where clues have nothing to do with X a radius above 0 is found in one case of twenty at most, whatever their kind
    and however they hang together. Of the radii that count the smallest within one standard error of the best is
    taken; 0 if none does. Without two links of each kind nothing can be tried and the radius is 0.

    Measured with `PCKMeans` (``penalty="auto"``) and n/2 random pairs on 19 standardized data sets of up to 300 rows,
    five draws each: ARI rose by 0.12 on average, most if classes are not blobs (four shapes, ionosphere); "auto" took
    a radius above 0 in 37 of 95 draws, of which 5 became worse. With a tenth of the pairs wrong it rose by 0.03: 19
    draws, 6 worse. No set lost more than 0.02 on average, or 0.04 with wrong pairs. Do not expect help where K-means
    finds the classes anyway, nor from wrong clues.

    Time is that of finding the neighbors of the rows that clues speak of, O(tnd) for t of them.

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
    data: Floats = check_array(X, dtype=[np.float64, np.float32])
    require_squares(largest(data), data.dtype, "X")
    known = as_clues(clues, len(data))
    _check(radius, n_neighbors, limit)
    must, must_weight, cannot, cannot_weight = known.pairs(expand=True, limit=LINKS)
    k = min(n_neighbors, len(data) - 1)
    if not len(must) + len(cannot) or not k or not limit:
        return known
    reach = agreed_radius(data, must, cannot) if isinstance(radius, str) else float(radius)
    if reach == 0:
        return known
    weight = np.concatenate([must_weight, cannot_weight])
    finite = np.isfinite(weight)
    weight = np.where(finite, weight, weight[finite].max(initial=0.0) or 1.0)
    links = np.concatenate([must, cannot]).astype(np.int64)
    rows, place = np.unique(links, return_inverse=True)
    near = _neighbors(data, rows, k)
    sigma = float(np.median(np.sqrt(near.squared[:, -1]))) if decay else np.inf
    near.squared[np.sqrt(near.squared) > reach] = np.inf
    ways = _shortest_ways(
        known, rows, place.reshape(links.shape), np.arange(len(links)) < len(must), weight, near, limit
    )
    return _added(known, ways, sigma, limit)


def _check(radius: Any, n_neighbors: Any, limit: Any) -> None:
    if radius != "auto" and not (isinstance(radius, Real) and float(radius) >= 0):
        raise ValueError(f"radius is {radius!r}; it must be 'auto' or a distance of at least 0.")
    for name, value, least in (("n_neighbors", n_neighbors, 1), ("limit", limit, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}.")


def _neighbors(X: Floats, rows: Ints, k: int) -> Neighbors:
    """The k nearest other rows of some rows."""
    if 8 * len(rows) > len(X):  # then the faster search for all rows is the faster one
        every = nearest_rows(X, k)
        return Neighbors(every.rows[rows], every.squared[rows])
    moved = np.subtract(X, coarse_mean(X), order="C", dtype=np.float64)
    found = Neighbors(np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k)))
    size = max(SLICE // moved.size, 1)

    def work(start: int) -> None:
        part = slice(start, start + size)
        nearest_exactly(moved, rows[part], found.rows[part], found.squared[part])

    for _ in map_blocks(work, range(0, len(rows), size)):
        continue  # between two blocks Ctrl-C is heard
    return found


def _shortest_ways(
    known: Clues, rows: Ints, place: Ints, is_must: Bools, weight: Floats, near: Neighbors, limit: int
) -> Ways:
    """The nearest ways, some more than can be used, to pairs of which the given links say nothing."""
    who = np.column_stack([rows, near.rows]).astype(np.int64)
    squared = np.column_stack([np.zeros(len(rows)), near.squared])  # infinite beyond the radius
    count, graph = known.n_components, known.graph
    linked = np.repeat(np.arange(count, dtype=np.int64), np.diff(graph.indptr)) * count + graph.indices
    kept = Ways(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool), *np.empty((3, 0)))
    size, pool = max(WAYS // who.shape[1] ** 2, 1), 4 * limit + SPARE
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
        found = Ways(pair[new], is_must[start + clue], np.sqrt(longer[clue, i, j]), both, weight[start + clue])
        kept = _each_once(Ways(*(np.concatenate(two_parts) for two_parts in zip(kept, found))), known.n)
        kept = kept.take(slice(0, pool))
    return kept


def _each_once(ways: Ways, n: int) -> Ways:
    """The shortest way to each pair, shortest first; of equal ones the heaviest, with weight 0 if they disagree."""
    if not len(ways.step):
        return ways
    code = ways.pair[:, 0] * n + ways.pair[:, 1]
    order = np.lexsort((ways.squared, ways.step, code))
    ways, code = ways.take(order), code[order]
    first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    which = np.repeat(first, np.diff(first, append=len(code)))
    equal = (ways.step == ways.step[which]) & (ways.squared == ways.squared[which])
    heaviest = np.maximum.reduceat(np.where(equal, ways.weight, 0.0), first)
    lightest = np.minimum.reduceat(np.where(equal, ways.weight, np.inf), first)
    disagree = np.logical_or.reduceat(equal & (ways.must != ways.must[which]), first)
    best = ways.take(first)._replace(weight=np.where(disagree | (lightest == 0), 0.0, heaviest))
    return best.take(np.lexsort((best.pair[:, 1], best.pair[:, 0], best.squared, best.step)))


def _added(known: Clues, ways: Ways, sigma: float, limit: int) -> Clues:
    """The clues with the links at the end of the ways, as far as these contradict nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.exp(-np.where(ways.squared > 0, ways.squared / (2 * sigma**2), 0.0))
    use = (share >= LEAST) & (ways.weight > 0)
    ways = ways._replace(weight=ways.weight * share).take(use)
    given, growing = Growing(known), Growing(known)
    chosen: list[int] = []
    for number, ((u, v), must) in enumerate(zip(known.components[ways.pair].tolist(), ways.must.tolist())):
        if not given.excludes(u, v) and growing.add(u, v, must=must):
            chosen.append(number)
            if len(chosen) == limit:
                break
    if not chosen:
        return known
    ways = ways.take(chosen)
    must, cannot = ways.must, ~ways.must
    return known | Clues(
        known.n,
        must=ways.pair[must],
        must_weight=ways.weight[must],
        cannot=ways.pair[cannot],
        cannot_weight=ways.weight[cannot],
        source=IMPUTED,
    )
