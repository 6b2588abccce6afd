"""First centers: k-means++ given some, neighborhoods of must-links, farthest first, labels.

All take and return centers relative to the shift of the rows, and draw from the generator they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

from cluewise._masked import refuse_masked
from cluewise._squares import largest, require_squares
from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import group_means
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks
from cluewise.core.views import list_components, number_rows

__all__ = [
    "cannot_linked_to_all",
    "farthest_first",
    "fill",
    "given_centers",
    "neighborhood_centers",
    "neighborhoods",
    "perturbed",
    "plain_start",
    "plus_plus",
    "random_rows",
]

Fill = Callable[[Rows, Floats, int, np.random.Generator], Floats]


def plus_plus(rows: Rows, given: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Add rows to the given centers until there are k: greedy k-means++ [Arthur2007]_.

    Each new center is the best of 2 + log k rows drawn with probability proportional to their weighted squared
    distance to the centers so far. Rows that are not in memory are represented by a few of them.
    """
    if rows.crowd is not None and len(given) < k:
        rows = rows.crowd.find_candidates(k, rng)
    centers = list(given)
    closest = np.full(rows.n, np.inf, dtype=rows.dtype)
    if centers and len(centers) < k:
        _lower(rows, np.array(centers), closest)
    trials = 2 + int(log(k))
    while len(centers) < k:
        picked = _draw(rows, closest if centers else None, trials if centers else 1, rng)
        candidates = rows.dense(picked)
        best = 0 if len(picked) == 1 else _best_candidate(rows, candidates, closest)
        centers.append(candidates[best].astype(np.float64))
        if len(centers) < k:
            _lower(rows, candidates[best : best + 1], closest)
    return np.array(centers[:k], dtype=np.float64).reshape(k, rows.d)


def _draw(rows: Rows, closest: Floats | None, count: int, rng: np.random.Generator) -> Ints:
    """Rows drawn with probability proportional to weight × ``closest`` (None: weight alone), in little memory.

    First a block is drawn, then a row in it. When every row lies on a center any will do.
    """
    cuts = rows.big_blocks()

    def chances(block: slice) -> Floats:
        weight = np.ones(block.stop - block.start) if rows.weight is None else rows.weights(block)
        return weight.astype(np.float64) if closest is None else closest[block] * weight.astype(np.float64)

    ends = np.cumsum([chances(block).sum() for block in cuts])
    if not ends[-1] > 0:
        return rng.integers(rows.n, size=count)
    picked = []
    for point in rng.random(count) * ends[-1]:
        b = min(int(np.searchsorted(ends, point, side="right")), len(cuts) - 1)
        inside = np.cumsum(chances(cuts[b]))
        before = ends[b - 1] if b else 0.0
        row = min(int(np.searchsorted(inside, point - before, side="right")), len(inside) - 1)
        picked.append(cuts[b].start + row)
    return np.array(picked)


def _lower(rows: Rows, centers: Floats, closest: Floats) -> None:
    """Lower ``closest`` to the squared distance to new centers."""
    table = rows.table(np.asarray(centers, dtype=np.float64))

    def work(block: slice) -> None:
        squared = rows.squared(rows.take(block), table).min(axis=0)
        np.minimum(closest[block], squared, out=closest[block])

    for _ in map_blocks(work, rows.blocks(len(centers))):
        continue


def _best_candidate(rows: Rows, candidates: Floats, closest: Floats) -> int:
    """The candidate that would leave the smallest sum of weighted squared distances."""
    table = rows.table(candidates.astype(np.float64))

    def work(block: slice) -> Floats:
        squared = rows.squared(rows.take(block), table)
        np.minimum(squared, closest[block], out=squared)
        if rows.weight is None:
            return squared.sum(axis=1, dtype=np.float64)
        return squared @ rows.weights(block).astype(np.float64)

    return int(np.argmin(sum(map_blocks(work, rows.blocks(len(candidates))))))


def given_centers(init: Any, names: tuple[str, ...], rows: Rows, k: int, rng: np.random.Generator) -> Floats | None:
    """Centers that the user passed as ``init``, relative to the shift; None when it is one of ``names``."""
    if isinstance(init, str):
        if init not in names:
            raise ValueError(f"init={init!r} is not one of {', '.join(map(repr, names))}.")
        return None
    if callable(init):
        X = rows.X if rows.crowd is None else rows.crowd.X
        init = init(X, k, random_state=np.random.RandomState(rng.integers(2**31)))
    refuse_masked(init, "init")
    chosen = np.asarray(init, dtype=np.float64)
    if chosen.shape != (k, rows.d):
        raise ValueError(f"init needs shape (n_clusters, n_features) = ({k}, {rows.d}); it has {chosen.shape}.")
    if not np.isfinite(chosen).all():
        raise ValueError("init holds nan or infinity.")
    require_squares(largest(chosen), rows.dtype, "init", small=False)
    return chosen - rows.shift


def random_rows(rows: Rows, given: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Add rows drawn at random to the given centers until there are k."""
    picked = np.sort(rng.choice(rows.n_all, size=k - len(given), replace=False))
    return np.vstack([given, rows.dense(picked) if rows.crowd is None else rows.crowd.take(picked)])


def fill(init: Any, rows: Rows, given: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Add rows until there are k centers: random ones for ``init="random"``, else by k-means++."""
    return (random_rows if isinstance(init, str) and init == "random" else plus_plus)(rows, given, k, rng)


def plain_start(init: Any, rows: Rows, k: int, rng: np.random.Generator) -> Floats:
    """Given centers, or rows drawn as ``init`` says: "k-means++" or "random"."""
    given = given_centers(init, ("k-means++", "random"), rows, k, rng)
    return fill(init, rows, np.empty((0, rows.d)), k, rng) if given is None else given


def neighborhood_centers(
    init: Any, rows: Rows, clues: Clues, k: int, rng: np.random.Generator, start: int = 0, fill: Fill | None = None
) -> Floats:
    """Centers given as ``init``, or means of must-link components and centers added by ``fill`` (default: ``init``).

    The largest components may all be of one class, so the second start tries components far from each other and later
    ones plain k-means++; the lowest objective decides.
    """
    names = ("neighborhoods", "farthest-first", "k-means++", "random")
    given = given_centers(init, names, rows, k, rng)
    if given is not None:
        return given
    if fill is None:
        fill = random_rows if init == "random" else plus_plus
    first: Floats = np.empty((0, rows.d))
    if (init, start) == ("neighborhoods", 0):
        first = neighborhoods(rows, clues, k)
    elif (init, start) in {("neighborhoods", 1), ("farthest-first", 0)}:
        first = neighborhoods(rows, clues, k, far=True)
    return fill(rows, first, k, rng)


def neighborhoods(rows: Rows, clues: Clues, k: int, *, far: bool = False) -> Floats:
    """Means of the k largest components with two or more rows, then a row apart from all of them.

    At most k centers, largest component first, smallest member first on ties (E17, E18 of the specification);
    the caller fills up the rest. With ``far``, if there are more than k, components large and far from each other.
    """
    several, sizes = list_components(clues)
    if not far or len(several) <= k:
        several = several[np.argsort(-sizes, kind="stable")][:k]
    means, _ = group_means(rows, number_rows(clues, several), len(several))
    if len(several) > k:
        return means[farthest_first(means, sizes, k)]
    row = cannot_linked_to_all(clues, several) if len(several) < k else None
    return means if row is None else np.vstack([means, rows.dense(np.array([row])).astype(np.float64)])


def cannot_linked_to_all(clues: Clues, components: Ints) -> int | None:
    """First row whose component is apart from every one of the given components; None when there is none."""
    if not len(components):
        return None
    apart = np.zeros(clues.n_components, dtype=np.int64)
    graph, cliques = clues.graph, clues.cliques
    holders = np.repeat(np.arange(len(cliques.weights)), np.diff(cliques.indptr))
    for c in components:
        others = [graph.indices[graph.indptr[c] : graph.indptr[c + 1]]]
        others += [cliques.members[holders == q] for q in holders[cliques.members == c]]
        apart[np.unique(np.concatenate(others))] += 1
    apart[components] = 0
    rows = np.flatnonzero(apart[clues.components] == len(components))
    return int(rows[0]) if len(rows) else None


def farthest_first(means: Floats, sizes: Array, k: int) -> Ints:
    """Weighted farthest-first order: the largest mean, then argmax of min √(n_i n_f)·distance to the chosen."""
    chosen = [int(np.argmax(sizes))]
    score = np.full(len(means), np.inf)
    while len(chosen) < min(k, len(means)):
        last = chosen[-1]
        distance = np.sqrt(((means - means[last]) ** 2).sum(axis=1))
        score = np.minimum(score, np.sqrt(sizes * sizes[last]) * distance)
        score[chosen] = -1
        chosen.append(int(np.argmax(score)))
    return np.array(chosen)


def perturbed(rows: Rows, count: int, rng: np.random.Generator) -> Floats:
    """Global mean + 0.35·s⊙u, u uniform in [−1, 1]: the start of [Basu2002]_ for clusters without a seed."""
    mean, variance = _find_moments(rows) if rows.crowd is None else (rows.crowd.mean, rows.crowd.variance)
    return mean + 0.35 * np.sqrt(variance) * rng.uniform(-1, 1, size=(count, rows.d))


def _find_moments(rows: Rows) -> tuple[Floats, Floats]:
    """Mean and variance of every column."""
    mean, _ = group_means(rows, np.zeros(rows.n, dtype=np.int32), 1)
    square = np.zeros(rows.d)
    for block in rows.blocks(1):
        x = rows.dense(block).astype(np.float64) - mean[0]
        square += (x * x).sum(axis=0)
    return mean[0], square / rows.n
