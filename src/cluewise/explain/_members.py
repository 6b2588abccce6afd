"""Typical rows of each cluster, and rows that could as well be in another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.explain.columns import Column

__all__ = ["Members", "find_members"]

CELLS = 5_000_000
"""Maximum number of distances from rows of one cluster; of more rows a sample is looked at."""


class Members(NamedTuple):
    """Rows of one cluster."""

    typical: tuple[int, ...]  # medoids, the most central first
    borderline: tuple[int, ...]  # the least sure first
    others: tuple[int, ...]  # the nearest other cluster of each borderline row


class _Place(NamedTuple):
    """Where rows and clusters are: a number for each ordered column, a corner of a simplex for each category."""

    numbers: Floats  # (n, p) standardized, 0 where empty
    means: Floats  # (k, p)
    levels: list[Ints]  # of each category
    shares: list[Floats]  # (k, levels) of each category

    def distances(self, rows: Ints, clusters: Ints) -> Floats:
        """Squared distances of some rows to one cluster each."""
        found = ((self.numbers[rows] - self.means[clusters]) ** 2).sum(axis=1)
        for levels, shares in zip(self.levels, self.shares):
            own = levels[rows]
            corner = np.where(own < 0, 0.0, 1 - 2 * shares[clusters, own])
            found += corner + np.where(own < 0, 0.0, (shares**2).sum(axis=1)[clusters])
        return found


def find_members(
    columns: list[Column], codes: Ints, k: int, margin: Floats | None, count: int, rng: np.random.Generator
) -> list[Members]:
    """The rows next to the mean of each cluster, and those with the least margin.

    The row next to the mean is the medoid for squared distances. Without a margin of the method, and among equal ones,
    it is the squared distance to the nearest other cluster minus that to the own. Texts have no distances: if there is
    nothing else, no row is typical, and only a margin that differs makes rows borderline.
    """
    place = _locate(columns, codes, k)
    blind = not (place.numbers.shape[1] or place.levels)
    found = []
    for cluster in range(k):
        rows = np.flatnonzero(codes == cluster)
        typical = rows[np.argsort(place.distances(rows, np.full(len(rows), cluster)), kind="stable")]
        typical = typical[: 0 if blind else count]
        if k == 1 or (blind and (margin is None or np.ptp(margin[rows]) == 0)):
            found.append(Members(tuple(typical.tolist()), (), ()))
            continue
        if margin is not None:  # rows of equal margin are told apart by distances
            rows = rows[margin[rows] <= np.sort(margin[rows])[:count][-1]]
        if len(rows) * k > CELLS:
            rows = np.sort(rng.choice(rows, CELLS // k, replace=False))
        to_all = np.column_stack([place.distances(rows, np.full(len(rows), c)) for c in range(k)])
        gap = -to_all[:, cluster].copy()
        to_all[:, cluster] = np.inf
        gap += to_all.min(axis=1)
        least = np.lexsort([gap] if margin is None else [gap, margin[rows]])[:count]
        rows, others = rows[least], to_all.argmin(axis=1)[least]
        found.append(Members(*(tuple(part.tolist()) for part in (typical, rows, others))))
    return found


def _locate(columns: list[Column], codes: Ints, k: int) -> _Place:
    numbers = [_standardize(column.values) for column in columns if column.is_ordered]
    matrix = np.column_stack(numbers) if numbers else np.empty((len(codes), 0))
    used = codes >= 0
    size = np.maximum(np.bincount(codes[used], minlength=k), 1)[:, None]
    means = [np.bincount(codes[used], weights=values[used], minlength=k) for values in numbers]
    categories = [column for column in columns if column.kind == "category"]
    shares = []
    for column in categories:
        held = used & ~column.missing
        levels = column.values[held].astype(np.int64)
        table = np.bincount(codes[held] * len(column.levels) + levels, minlength=k * len(column.levels))
        table = table.reshape(k, -1)
        shares.append(table / np.maximum(table.sum(axis=1, keepdims=True), 1))
    return _Place(
        matrix,
        np.column_stack(means) / size if means else np.empty((k, 0)),
        [column.values.astype(np.int64) for column in categories],
        shares,
    )


def _standardize(values: Floats) -> Floats:
    """Mean 0 and variance 1 after cutting off one percent at both ends; an empty cell is 0."""
    held = values[~np.isnan(values)]
    scaled = values / max(float(np.abs(held).max()), np.finfo(float).tiny)  # squares of huge numbers would overflow
    scaled = np.clip(scaled, *np.nanpercentile(scaled, [1, 99]))
    scaled -= np.nanmean(scaled)
    return np.nan_to_num(scaled / (np.nanstd(scaled) or 1.0))
