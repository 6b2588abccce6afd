"""What a committee of clusterings agrees on: pairs, their groups, and typical rows [Greene2007]_.

A committee is an array of labels, one row per clustering; the n × n matrix of agreements is never formed. Agreements
are integers, the number of clusterings that put two rows together, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.graphs.neighbors import nearest_rows

__all__ = ["Imputed", "Sums", "add_agreements", "agreements", "certainty", "imputed_clues", "limits"]

EXACT = 2000
"""Up to this many rows all pairs are compared; with more, each row with its nearest rows and its equals."""

NEAREST = 10
"""Nearest rows that a row is compared with."""

PAIRS = 2**14
"""Number of pairs compared at once."""

SOURCE = "imputed"


def limits(shares: tuple[float, float], count: int) -> tuple[int, int]:
    """Fewest agreements of a must-link and most of a cannot-link, of so many clusterings."""
    return ceil(shares[0] * count - 1e-9), floor(shares[1] * count + 1e-9)


def agreements(bases: Array, row: int, others: Ints | slice = slice(None)) -> Ints:
    """How many clusterings put a row together with each of the others: a line of A (Eq. 88 of the survey), times τ."""
    return np.asarray(np.count_nonzero(bases[:, others] == bases[:, row, None], axis=0))


def add_agreements(bases: Array, rows: Ints, sets: Ints, signs: Ints, sums: Ints) -> None:
    """Add the agreements of all rows with some ``rows`` to the sums of their sets, by histograms of labels."""
    touched = np.unique(sets)
    place = np.searchsorted(touched, sets)
    fresh = np.zeros((len(touched), bases.shape[1]), dtype=sums.dtype)
    for base in bases:
        k = int(base.max()) + 1
        counts = np.zeros((len(touched), k), dtype=sums.dtype)
        np.add.at(counts, (place, base[rows]), signs)
        for own, count in zip(fresh, counts):
            own += count[base]
    sums[touched] += fresh


class Imputed:
    """Groups of rows that the committee joins, and a typical row of each large group.

    ``component`` is the group of each row, ``size`` the number of rows of each group, and ``medoid`` the row of each
    that agrees most with the others; ``representatives`` are the medoids of groups apart from each other, the largest
    group first.
    """

    def __init__(self, bases: Array, X: Any, shares: tuple[float, float], k: int | None) -> None:
        self.bases = bases
        least, most = limits(shares, len(bases))
        self.component = _joined(bases, X, least)
        self.size = np.bincount(self.component)
        self.medoid = _medoids(bases, self.component, len(self.size))
        self.representatives = self._representatives(k, most)

    def _representatives(self, k: int | None, most: int) -> list[int]:
        """The largest groups, each apart from those before (Algorithm 21 of the survey); κ_c is relaxed to find k.

        If k is unknown, single rows are no representatives, and nothing is relaxed.
        """
        order = np.argsort(-self.size, kind="stable")
        if k is None:
            order = order[self.size[order] > 1] if self.size.max() > 1 else order[:1]
        rows = self.medoid[order]
        closest = np.zeros(len(rows), dtype=np.int64)  # agreements with the representatives so far
        chosen: list[int] = []
        allowed = [most] if k is None else range(most, max(len(self.bases) // 2, most + 1))
        for bound in allowed:
            while len(chosen) < (len(rows) if k is None else k):
                apart = closest <= bound
                if not apart.any():
                    break
                row = int(rows[np.argmax(apart)])
                chosen.append(row)
                closest = np.maximum(closest, agreements(self.bases, row, rows))
        return chosen


def _joined(bases: Array, X: Any, least: int) -> Ints:
    """Components of what at least so many clusterings put together (ML′ of Eq. 89 of the survey, closed)."""
    n = bases.shape[1]
    ends = list(_edges(bases, X, least))
    first, second = (np.concatenate([pair[side] for pair in ends]) for side in (0, 1))
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _edges(bases: Array, X: Any, least: int) -> Iterator[tuple[Ints, Ints]]:
    n = bases.shape[1]
    own = np.arange(n)
    if n <= EXACT:
        for row in range(n):
            others = own[row:]
            yield np.full(len(others), row)[(near := agreements(bases, row, others) >= least)], others[near]
        return
    # Rows on which all clusterings agree have the same labels everywhere: one hash of each row's labels finds them.
    rng = np.random.default_rng(0)
    code = np.zeros(n, dtype=np.uint64)
    for base in bases:
        code += rng.integers(2**63, size=int(base.max()) + 1, dtype=np.uint64)[base]
    _, start, inverse = np.unique(code, return_index=True, return_inverse=True)
    yield own, start[inverse]
    first = np.repeat(own, NEAREST)
    second = nearest_rows(X, NEAREST).rows.ravel()
    near = _pair_agreements(bases, first, second) >= least
    yield first[near], second[near]


def _pair_agreements(bases: Array, first: Ints, second: Ints) -> Ints:
    counts = np.empty(len(first), dtype=np.int64)
    for start in range(0, len(first), PAIRS):
        block = slice(start, start + PAIRS)
        counts[block] = np.count_nonzero(bases[:, first[block]] == bases[:, second[block]], axis=0)
    return counts


def _medoids(bases: Array, component: Ints, count: int) -> Ints:
    """The row of each component with the largest sum of agreements inside it; of ties, the first."""
    score = np.zeros(len(component), dtype=np.int64)
    for base in bases:
        key = component * (int(base.max()) + 1) + base
        _, inverse, sizes = np.unique(key, return_inverse=True, return_counts=True)
        score += sizes[inverse]
    order = np.lexsort([-score, component])
    return np.asarray(order[np.searchsorted(component[order], np.arange(count))])


class Sums:
    """The set of each row, and Σ A_ij over the rows j of each set, updated from question to question."""

    def __init__(self, n: int) -> None:
        self.home = np.full(n, -1)
        self.sums = np.zeros((0, n), dtype=np.int64)

    def move(self, bases: Array, home: Ints, count: int) -> None:
        """Update the sums to other sets; only rows whose set has changed are visited (E53)."""
        rows = np.flatnonzero(home != self.home)
        if not len(rows) and count == len(self.sums):
            return
        most = max(count, len(self.sums))
        sums = np.zeros((most, len(home)), dtype=np.int64)
        sums[: len(self.sums)] = self.sums
        for sets, sign in ((self.home[rows], -1), (home[rows], 1)):
            inside = sets >= 0
            if inside.any():
                add_agreements(bases, rows[inside], sets[inside], np.full(inside.sum(), sign), sums)
        self.home, self.sums = home, sums[:count]


def certainty(sums: Ints) -> Floats:
    """w′ (Eq. 93 of the survey): 2T_a/(T_a + T_b) − 1, which is the lead (T_a − T_b)/(T_a + T_b); 0/0 is 0."""
    if len(sums) == 0:
        return np.zeros(sums.shape[1])
    ordered = np.partition(np.vstack([sums, np.zeros_like(sums[:1])]), -2, axis=0)
    best, second = ordered[-1].astype(np.float64), ordered[-2]
    return np.asarray((best - second) / np.maximum(best + second, 1))


def imputed_clues(
    bases: Array, shares: tuple[float, float], weight: float, limit: int, rng: np.random.Generator
) -> Clues:
    """Pairs that the committee is certain about, of at most ``limit`` pairs drawn at random."""
    n = bases.shape[1]
    first, second = _some_pairs(n, limit, rng)
    least, most = limits(shares, len(bases))
    counts = _pair_agreements(bases, first, second)
    pairs = np.stack([first, second], axis=1)
    return Clues(
        n,
        must=pairs[counts >= least],
        cannot=pairs[counts <= most],
        must_weight=weight,
        cannot_weight=weight,
        source=SOURCE,
    )


def _some_pairs(n: int, limit: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """All pairs, or ``limit`` different ones drawn at random."""
    if n * (n - 1) // 2 <= limit:
        return np.triu_indices(n, 1)
    drawn = np.sort(rng.integers(n, size=(2 * limit, 2)), axis=1)
    drawn = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0)
    some = np.sort(rng.permutation(len(drawn))[:limit])
    return drawn[some, 0], drawn[some, 1]
