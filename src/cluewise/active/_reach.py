"""Reach: the distance of every row to those that were asked about, updated from question to question."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.active._placing import Neighborhoods
from cluewise.active._strategy import Scene
from cluewise.clues import Clues
from cluewise.core.rows import Rows
from cluewise.core.threads import map_blocks

__all__ = ["Reach", "centers_of", "reach_of", "squared_to", "to_members"]

MOST = 64
"""Members of a given component that stand for all of it, evenly spread over their row numbers."""


class Reach:
    """Squared distance of each row to the nearest one that was taken, and which rows are left.

    Rows that the given clues join to a row are taken with it. A component is always compared in the same way, so that
    the result does not depend on the order, to the last digit.
    """

    def __init__(self, rows: Rows, given: Clues) -> None:
        self._rows = rows
        self._component = given.components
        self._joined = given.n_components < rows.n
        self._waiting: list[Ints] = []  # members whose distances were not needed yet
        self._closest = np.full(rows.n, np.inf, dtype=rows.dtype)
        self.taken: set[int] = set()  # components
        self.left: Bools = np.ones(rows.n, dtype=bool)

    def copy(self) -> Reach:
        """An independent copy."""
        other = object.__new__(Reach)
        other.__dict__.update(self.__dict__)
        other._waiting, other.taken = self._waiting.copy(), self.taken.copy()
        other._closest, other.left = self._closest.copy(), self.left.copy()
        return other

    def components(self, rows: Iterable[int]) -> set[int]:
        """The components of some rows."""
        which = np.fromiter(rows, dtype=np.int64)
        return set(np.unique(self._component[which]).tolist())

    def take(self, components: Iterable[int]) -> None:
        """Take components that were left."""
        for c in sorted(components):
            # Without given clues each row is a component with its own number.
            members = np.flatnonzero(self._component == c) if self._joined else np.array([c])
            self.left[members] = False
            self._waiting.append(members[:: -(-len(members) // MOST)])
            self.taken.add(c)

    def closest(self) -> Floats:
        """Squared distance of each row to what was taken; infinite when nothing was."""
        for members in self._waiting:
            for block, squared in squared_to(self._rows, self._rows.dense(members)):
                np.minimum(self._closest[block], squared.min(axis=0), out=self._closest[block])
        self._waiting.clear()
        return self._closest

    def farthest(self, allowed: Bools | None = None) -> int | None:
        """The row that lies farthest from what was taken, the first of equals; None when no row is left."""
        left = self.left if allowed is None else self.left & allowed
        if not left.any():
            return None
        return int(np.argmax(np.where(left, self.closest(), -1)))


def squared_to(rows: Rows, centers: Floats) -> Iterable[tuple[slice, Floats]]:
    """Blocks of rows, each with the (centers, rows) array of its squared distances."""
    table = rows.table(np.asarray(centers, dtype=np.float64))

    def work(block: slice) -> tuple[slice, Floats]:
        return block, rows.squared(rows.take(block), table)

    return map_blocks(work, rows.blocks(len(centers)))


def centers_of(scene: Scene, hoods: Neighborhoods) -> Floats:
    """Means of the neighborhoods, relative to the shift of the rows."""
    rows = scene.rows
    means = [np.asarray(rows.take(np.array(members)).mean(axis=0, dtype=np.float64)).ravel() for members in hoods.sets]
    return np.array(means)


def to_members(scene: Scene, hoods: Neighborhoods, row: int) -> Floats:
    """Squared distance of a row to the nearest member of each neighborhood."""
    rows = scene.rows
    table = rows.table(rows.dense(np.array([row])).astype(np.float64))
    return np.array([rows.squared(rows.take(np.array(members)), table).min() for members in hoods.sets])


def reach_of(scene: Scene, hoods: Neighborhoods, taken: set[int]) -> Reach:
    """The reach of ``taken``: the rows that were asked about, and those picked for the same batch."""
    asked = hoods.asked
    settled: Reach = scene.memo.get("settled") or Reach(scene.rows, scene.firm)
    wanted = settled.components(asked)
    if not settled.taken <= wanted:  # answers were taken back
        settled = Reach(scene.rows, scene.firm)
    settled.take(wanted - settled.taken)
    scene.memo["settled"] = settled
    more = settled.components(taken - asked) - wanted
    if not more:
        return settled
    # The questions of a batch may never be answered, so its rows go into a copy.
    ahead: Reach | None = scene.memo.get("ahead")
    if ahead is None or not wanted <= ahead.taken <= wanted | more:
        ahead = settled.copy()
    ahead.take((wanted | more) - ahead.taken)
    scene.memo["ahead"] = ahead
    return ahead
