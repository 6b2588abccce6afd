"""The pool of `CompositeQuestions`: the rows that may be asked about, and what is computed once for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.active._composite.utilities import View, agreement, chances
from cluewise.active._placing import Neighborhoods, first_row
from cluewise.active._state import State
from cluewise.active._strategy import Scene
from cluewise.core.graphs.neighbors import nearest_rows
from cluewise.ensemble import partitions

__all__ = ["Pool", "across", "pool_of", "view_of"]

ROWS = 2500
"""Maximum number of rows in the pool, so that the next question comes quickly."""

COMMITTEE = 60
"""Number of partitions of the pool, with one to three times as many clusters as there are classes."""

NEIGHBORS = 10
"""Number of nearest rows that measure the density."""

ACROSS = 100
"""Maximum number of candidates across boundaries of neighborhoods."""

BLIND = 0.5
"""Pseudo-count of votes that is spread over all neighborhoods: without known rows nearby, all are possible."""


class Pool(NamedTuple):
    """What depends only on X, the seed and the given clues. Places are row numbers within the pool."""

    rows: Ints  # (p,) row numbers, sorted
    place: Ints  # (n,) place of each row, or -1
    X: Floats  # (p, d)
    committee: Array  # (COMMITTEE, p)
    near: Ints  # (p, NEIGHBORS) places of the nearest rows
    density: Floats  # (p,) minus the mean distance to them

    def places(self, rows: Iterable[int]) -> Ints:
        """Places of rows; those that are not in the pool are left out."""
        found: Ints = self.place[np.fromiter(rows, dtype=np.intp)]
        return found[found >= 0]


def pool_of(X: Any, state: State, n_clusters: int | None) -> Pool:
    """Draw the rows of the pool and prepare them."""
    n = len(X)
    rng = np.random.default_rng([state.seed, 12])
    rows: Ints = np.arange(n)
    if n > ROWS:
        tied = rng.permutation(state.given.tied.copy())[: ROWS // 2]  # what is known of these tells about others
        drawn = rng.choice(n, ROWS - len(tied), replace=False)
        rows = np.unique(np.concatenate([[first_row(state)], tied, drawn]))
    place: Ints = np.full(n, -1)
    place[rows] = np.arange(len(rows))
    own = np.asarray(X[rows], dtype=np.float64)
    k = min(n_clusters or max(2, round(len(rows) ** 0.5 / 2)), len(rows))
    committee = partitions(
        own,
        n_partitions=COMMITTEE,
        n_clusters=(k, min(3 * k, len(rows))),
        n_columns=-(-3 * own.shape[1] // 4),
        random_state=int(rng.integers(2**31)),
    )
    found = nearest_rows(own, NEIGHBORS)
    density = -np.sqrt(found.squared).mean(axis=1) if n > 1 else np.zeros(1)
    return Pool(rows, place, own, committee, found.rows, density)


def view_of(scene: Scene, hoods: Neighborhoods, more: bool, clustering: Callable[[], Ints]) -> View:
    """Candidates: rows without a place against their likeliest neighborhoods, and pairs across boundaries.

    There may be ``more`` neighborhoods than are known; ``clustering`` makes the current clustering of the pool.
    """
    pool: Pool = scene.ready
    sets = [pool.places(members) for members in hoods.sets]
    likely = chances(pool.committee, sets, BLIND, more)
    spoken_for = pool.places([*hoods.placed, *hoods.placing, *hoods.lost])
    free: Ints = np.setdiff1d(np.arange(len(pool.rows)), spoken_for)
    hood = likely[free, :-1].argmax(axis=1)
    shown = np.array([members[0] if len(members) else 0 for members in sets], dtype=np.intp)
    wide = across(pool, likely, free)
    together = np.concatenate([likely[free, hood], agreement(pool.committee, wide)])
    links = [(*pool.place[[i, j]], yes) for answer in scene.answers for i, j, yes in answer.links()]
    said: dict[bool, Ints] = {
        yes: np.array([(i, j) for i, j, true in links if true == yes and min(i, j) >= 0], dtype=np.intp).reshape(-1, 2)
        for yes in (True, False)
    }
    return View(
        pool.X,
        np.concatenate([np.column_stack([free, shown[hood]]), wide]),
        np.repeat([True, False], [len(free), len(wide)]),
        together,
        likely,
        pool.committee,
        pool.density,
        np.unique(spoken_for),
        said[True],
        said[False],
        clustering,
    )


def across(pool: Pool, likely: Floats, free: Ints) -> Ints:
    """The least certain places, each with its nearest one that likely belongs elsewhere."""
    if not pool.near.size:
        return np.empty((0, 2), dtype=np.intp)
    own = likely.argmax(axis=1)
    near = pool.near[free]
    other = (own[near] != own[free][:, None]) & np.isin(near, free)
    rows = np.flatnonzero(other.any(axis=1))
    top = np.sort(likely[free[rows]], axis=1)
    rows = rows[np.argsort(top[:, -1] - top[:, -2], kind="stable")[:ACROSS]]
    pairs = np.column_stack([free[rows], near[rows, other[rows].argmax(axis=1)]])
    # Two rows that chose each other make one candidate.
    return pairs[np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)[1]]
