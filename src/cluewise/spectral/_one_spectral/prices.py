"""The price of a broken link: raised until a cut breaks few enough. Several starts, and all cuts on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluewise._typing import Floats
from cluewise.exact.assignment import cheapest
from cluewise.exact.network import Network
from cluewise.exceptions import Infeasible, Undecided
from cluewise.spectral._one_spectral.cuts import Bisection, count_broken
from cluewise.spectral._one_spectral.descent import descend

__all__ = ["Found", "highest_price", "raise_price", "sides_that_hold"]


SMALL = 1e-6
"""The first price above 0, relative to the highest one, where it would be 0 or less than this."""


class Found(NamedTuple):
    """A cut in two, and how it was found."""

    side: Floats  # (n,) 0 or 1
    broken: float  # weight of the links that it breaks
    trace: list[float]  # the ratio at the last price, after every step


def raise_price(problem: Bisection, f: Floats, allowed: float, max_iter: int) -> Iterator[Found]:
    """Cuts at rising prices, each from the last one, until one breaks links of at most the allowed weight.

    The price is doubled each time; where one has changed nothing, the next is four times as high.
    The first price is 0, where most starts lead to the same cut. So two more descents follow: from the start itself at
    the last price; and, if the links can all hold, from the nearest cut where they do at the highest price. There a cut
    that breaks a link costs more than any cut that breaks none, so this descent holds all links.
    """
    found = plain = _descend(problem, 0.0, f, max_iter)
    yield found
    if found.broken <= allowed:
        return
    most = highest_price(problem)
    total = problem.link.sum() + problem.bond.sum()
    least = max(found.trace[-1] * problem.volume.sum() / (16 * total), SMALL * most)
    price, factor = 0.0, 2.0
    while found.broken > allowed and price <= most:
        price = max(factor * price, least)
        before, found = found.side, _descend(problem, price, found.side, max_iter)
        yield found
        factor = 4.0 if (found.side == before).all() else 2.0
    yield _descend(problem, price, f, max_iter)
    side = sides_that_hold(problem, plain.side)
    if side is not None:
        yield _descend(problem, 2 * most, side, max_iter)


def _descend(problem: Bisection, price: float, f: Floats, max_iter: int) -> Found:
    found = descend(problem.at(price), f, max_iter)
    return Found(found.side, count_broken(problem, found.side), found.trace)


def highest_price(problem: Bisection) -> float:
    """A price at which no cut that holds all links costs as much as one that breaks any.

    The price over the balance, which is at most vol / 4, has to exceed the ratio of every cut; what a side cuts is at
    most its volume times the largest quotient of degree and volume.
    """
    links = np.concatenate([problem.link, problem.bond[problem.bond > 0]])
    n = len(problem.volume)
    degree = np.bincount(problem.heads, problem.weight, n) + np.bincount(problem.tails, problem.weight, n)
    ratio = 2 * float((degree / problem.volume).max())
    return float(problem.volume.sum()) * ratio / (4 * float(links.min()))


def sides_that_hold(problem: Bisection, side: Floats) -> Floats | None:
    """The cut nearest to another one (by volume) that holds all links, if there is one."""
    n = len(side)
    bonds = problem.bond > 0
    joined = coo_array((problem.bond[bonds], (problem.heads[bonds], problem.tails[bonds])), shape=(n, n))
    count, piece = connected_components(joined, directed=False)
    pairs = np.unique(np.sort(piece[np.column_stack([problem.first, problem.second])], axis=1), axis=0)
    if (pairs[:, 0] == pairs[:, 1]).any():
        return None
    on_one = np.bincount(piece, problem.volume * side, count)
    costs = np.column_stack([on_one, np.bincount(piece, problem.volume, count) - on_one])
    try:
        found = cheapest(costs, Network.of_pairs(count, pairs)).labels[piece]
    except (Infeasible, Undecided):
        return None
    return found.astype(np.float64) if np.ptp(found) else None
