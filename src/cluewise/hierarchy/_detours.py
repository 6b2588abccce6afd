"""Detours: skip the unions after which the requested number of clusters cannot be reached.

Joining the closest clusters can end in a dead end: too many clusters, any two of which must be apart, although another
order of unions would have led further. Whether k clusters are possible is a question of graph coloring. Once they are
impossible they remain so; bisection therefore finds the first union that makes them impossible, and a cannot-link
forbids it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import Clues
from cluewise.core.trees.linkage import Merges, Tree, level, tree_of
from cluewise.kernels import working_time

__all__ = ["Route", "find_route"]

MOST = 100
"""Maximum number of detours."""


class Route(NamedTuple):
    """The unions in order (None if time ran out), and the number of detours."""

    merges: Merges | None
    detours: int


def find_route(known: Clues, tree: Tree, k: int, join: Callable[[Clues], Merges], ordered: bool, until: float) -> Route:
    """The unions of a tree, with detours if it ends before it reaches k clusters.

    ``join`` finds all unions of the components of some clues, or fewer if the clock passes ``until``. Unions before a
    detour are not repeated: they are passed on as groups that belong together.
    """
    now, done, detours = known, [], 0
    while tree.k_min > k and detours < MOST:
        last = _last_good_level(tree, now, k, until)
        if working_time() > until:
            return Route(None, detours)
        done.append(_unions(tree, last, known))
        before = level(tree, last)
        now = now | Clues(known.n, together=before, cannot=[_next_pair(tree, last, before)])
        tree = tree_of(now.components, join(now), ordered=ordered)
        detours += 1
        if tree.k_min > k and working_time() > until:
            return Route(None, detours)
    done.append(_unions(tree, tree.k_min, known))
    return Route(Merges(*(np.concatenate(parts) for parts in zip(*done))), detours)


def _last_good_level(tree: Tree, now: Clues, k: int, until: float) -> int:
    """Number of clusters at the last level from which k clusters are not known to be impossible."""
    good, bad = tree.k_max, tree.k_min
    while good - bad > 1 and working_time() <= until:
        middle = (good + bad) // 2
        if (now | Clues(now.n, together=level(tree, middle))).feasible(k) is False:
            bad = middle
        else:
            good = middle
    return good


def _next_pair(tree: Tree, k: int, labels: Ints) -> tuple[int, int]:
    """One row of each of the two clusters that the next union joins, at the level of k clusters."""
    after = level(tree, k - 1)
    first = np.array([int((labels == c).argmax()) for c in range(k)])
    values, counts = np.unique(after[first], return_counts=True)
    one, other = first[after[first] == values[counts > 1][0]]
    return int(one), int(other)


def _unions(tree: Tree, k: int, known: Clues) -> Merges:
    """Unions down to the level of k clusters, in terms of the components of ``known``."""
    n = tree.n
    member = np.append(np.arange(n), np.zeros(n - 1, dtype=np.int64))  # one row of every node
    pairs = tree.Z[:, :2].astype(np.int64)
    for row in range(n - k):
        member[n + row] = member[pairs[row, 0]]
    part = slice(n - tree.k_max, n - k)
    left, right = known.components[member[pairs[part]]].T
    return Merges(left, right, tree.Z[part, 2])
