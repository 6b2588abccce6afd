"""The ratio of a cut in two: what it cuts and the price of broken links, over how even its sides are.

A vector stands for a cut, too: its ratio is that of its threshold sets together, each weighted by the step of the
vector there (a Lovász extension). So the best threshold set of a vector is at least as good as the vector, and nothing
is lost by minimizing over vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, triu

from cluewise._typing import Floats, Ints

__all__ = ["Bisection", "Ranked", "bisect", "count_broken", "rank", "slope_of_balance", "slope_of_links"]


class Bisection(NamedTuple):
    """A graph to cut in two, each edge and each link listed once, and the price of a broken link of weight 1."""

    heads: Ints  # (m,) int32, the ends of the edges; must-links that may break are edges, too
    tails: Ints
    weight: Floats  # (m,) in the graph
    bond: Floats  # (m,) weight as must-link
    volume: Floats  # (n,) positive
    first: Ints  # (c,) int32, the ends of the cannot-links
    second: Ints
    link: Floats  # (c,) their weights
    price: float

    def at(self, price: float) -> Bisection:
        """The same cut at another price."""
        return self._replace(price=price)

    @property
    def force(self) -> Floats:
        """(m,) what it costs to cut each edge."""
        return self.weight + self.price * self.bond if self.price else self.weight

    @property
    def bound(self) -> float:
        """Price of breaking all cannot-links."""
        return self.price * float(self.link.sum())


def bisect(
    affinity: Any, volume: Floats, cannot: Ints, cannot_weight: Floats, must: Ints, must_weight: Floats
) -> Bisection:
    """A cut at price 0, from a symmetric affinity (dense or sparse) and links between its vertices."""
    half = coo_array(triu(affinity, 1))
    none = np.zeros(len(must))
    return Bisection(
        np.concatenate([half.row, must[:, 0]]).astype(np.int32),
        np.concatenate([half.col, must[:, 1]]).astype(np.int32),
        np.concatenate([half.data, none]),
        np.concatenate([np.zeros(half.nnz), must_weight]),
        np.asarray(volume, dtype=np.float64),
        cannot[:, 0].astype(np.int32),
        cannot[:, 1].astype(np.int32),
        np.asarray(cannot_weight, dtype=np.float64),
        0.0,
    )


def count_broken(problem: Bisection, side: Floats) -> float:
    """Weight of the links that a cut breaks."""
    joined = side[problem.first] == side[problem.second]
    broken = float(problem.link[joined].sum())
    if problem.bond.any():
        broken += float(problem.bond[side[problem.heads] != side[problem.tails]].sum())
    return broken


class Ranked(NamedTuple):
    """A vector with its threshold sets: all vertices but the lowest, all but the two lowest, …, the highest alone."""

    order: Ints  # (n,) vertices, the lowest first
    gap: Floats  # (n − 1,) by how much the vector rises there; 0 where it does not, so that this is no threshold
    cost: Floats  # (n − 1,) what each set cuts, and the price of the links that it breaks
    balance: Floats  # (n − 1,) vol(A) vol(Ā) / vol

    @property
    def ratio(self) -> float:
        """The ratio of the vector."""
        return float(self.gap @ self.cost) / float(self.gap @ self.balance)

    def best(self) -> Floats:
        """Indicator of the threshold set of lowest ratio."""
        ratios = np.where(self.gap > 0, self.cost / self.balance, np.inf)
        side = np.zeros(len(self.order))
        side[self.order[np.argmin(ratios) + 1 :]] = 1.0
        return side


def rank(problem: Bisection, f: Floats) -> Ranked:
    """Rank the vertices by a vector that is not constant."""
    n = len(f)
    order = np.argsort(f, kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    below = np.cumsum(problem.volume[order])
    balance = below[:-1] * (below[-1] - below[:-1]) / below[-1]
    # An edge is cut by the sets that begin above its lower end and not above its upper one.
    a, b = place[problem.heads], place[problem.tails]
    force = problem.force
    change = np.bincount(np.minimum(a, b), force, n) - np.bincount(np.maximum(a, b), force, n)
    if problem.price and len(problem.link):
        a, b = place[problem.first], place[problem.second]
        pay = problem.price * problem.link
        change = change + (np.bincount(np.maximum(a, b), pay, n) - np.bincount(np.minimum(a, b), pay, n))
    cost = np.maximum(problem.bound + np.cumsum(change)[:-1], 0)
    return Ranked(order, np.diff(f[order]), cost, balance)


def slope_of_balance(problem: Bisection, ranked: Ranked) -> Floats:
    """A subgradient of the balance at the vector that was ranked; of equal values, the mean over all their orders."""
    below = np.cumsum(problem.volume[ranked.order])
    total = below[-1]
    last = np.append(np.flatnonzero(ranked.gap > 0), len(below) - 1)  # of each block of equal values
    upto = below[last]
    level = (upto + np.append(0.0, upto[:-1]) - total) / total
    slope = np.empty(len(below))
    slope[ranked.order] = np.repeat(level, np.diff(last, prepend=-1))
    return slope * problem.volume


def slope_of_links(problem: Bisection, f: Floats) -> Floats:
    """A subgradient of the price of the cannot-links that a vector parts."""
    pull = problem.price * problem.link * np.sign(f[problem.first] - f[problem.second])
    n = len(f)
    return np.asarray(np.bincount(problem.first, pull, n) - np.bincount(problem.second, pull, n), dtype=np.float64)
