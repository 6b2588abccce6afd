"""Detours: a tree that leaves out the unions after which the wanted number of clusters cannot be had any more.

Joining the closest clusters can end in a dead end: more clusters than wanted, any two of which must be apart, though
another order of unions would have gone on. Whether k clusters are possible is a question of coloring, and once the
answer is no it stays no; so the first union that turns it into a no is found by bisection and made a cannot-link.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

import numpy as np

from cluewise._typing import Ints
from cluewise.clues import Clues
from cluewise.core.trees.linkage import Merges, Tree, level, tree_of

__all__ = ["Detoured", "detoured"]

MOST = 100
"""Detours after which a dead end is final."""


class Detoured(NamedTuple):
    """Unions in their order (None: the time was over), and how many were left out."""

    merges: Merges | None
    detours: int


def detoured(
    known: Clues, tree: Tree, k: int, join: Callable[[Clues], Merges], ordered: bool, until: float
) -> Detoured:
    """The unions of a tree, or, where it ends before k clusters, others that lead there.

    ``join`` makes all unions of the components of some clues, or fewer where the clock passes ``until``. What precedes
    a detour is never made again: it is handed over as a group that belongs together.
    """
    now, done, detours = known, [], 0
    while tree.k_min > k and detours < MOST:
        last = _last_good_level(tree, now, k, until)
        if monotonic() > until:
            return Detoured(None, detours)
        done.append(_unions(tree, last, known))
        before = level(tree, last)
        now = now | Clues(known.n, together=before, cannot=[_joined_next(tree, last, before)])
        tree = tree_of(now.components, join(now), ordered=ordered)
        detours += 1
        if tree.k_min > k and monotonic() > until:
            return Detoured(None, detours)
    done.append(_unions(tree, tree.k_min, known))
    return Detoured(Merges(*(np.concatenate(parts) for parts in zip(*done))), detours)


def _last_good_level(tree: Tree, now: Clues, k: int, until: float) -> int:
    """Number of clusters at the last level from which k clusters may still be reached, for all that is known."""
    good, bad = tree.k_max, tree.k_min
    while good - bad > 1 and monotonic() <= until:
        middle = (good + bad) // 2
        if (now | Clues(now.n, together=level(tree, middle))).feasible(k) is False:
            bad = middle
        else:
            good = middle
    return good


def _joined_next(tree: Tree, k: int, labels: Ints) -> tuple[int, int]:
    """A row of each of the two clusters that are joined at the level of k clusters."""
    after = level(tree, k - 1)
    first = np.array([int((labels == c).argmax()) for c in range(k)])
    values, counts = np.unique(after[first], return_counts=True)
    one, other = first[after[first] == values[counts > 1][0]]
    return int(one), int(other)


def _unions(tree: Tree, k: int, known: Clues) -> Merges:
    """Unions down to the level of k clusters, in the names that components have in ``known``."""
    n = tree.n
    member = np.append(np.arange(n), np.zeros(n - 1, dtype=np.int64))  # a row of every node
    pairs = tree.Z[:, :2].astype(np.int64)
    for row in range(n - k):
        member[n + row] = member[pairs[row, 0]]
    part = slice(n - tree.k_max, n - k)
    left, right = known.components[member[pairs[part]]].T
    return Merges(left, right, tree.Z[part, 2])
