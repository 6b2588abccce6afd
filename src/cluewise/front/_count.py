"""How many clusters there are, if nobody says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil

import numpy as np

from cluewise.clues import Clues
from cluewise.exact.network import Network
from cluewise.front._ground import Ground

__all__ = ["choose_count", "count_apart", "count_at_least", "count_at_most", "count_by_gap"]

MOST, SHARE = 500, 5
"""Clusters that are tried at most, unless clues are about more, and rows for each."""

STEP = 1.4
"""Ratio of the numbers that are tried beyond the ladder."""

CONNECTED = 0.01
"""Distance of an eigenvalue from 1 that is as good as none."""

LADDER = (2, 3, 4, 5, 7, 10, 14, 20, 28)
"""Numbers that are tried first."""

TEMPER = 0.3
"""What the log-likelihood of the held-out clues counts: less than in a choice among fits of the same number, as it also
is a matter of luck how good a fit each number gets."""

FEWER, STRUCTURE, UNNAMED = 1.0, 0.5, 3.0
"""Powers: before any clue, k clusters are as likely as 1 / k to the first, times to the second the ratio, below 1, of k
and the number without clues; to the third, if most clues are labels, as these do not tell classes without labels apart.
"""

WRONG = 3.0
"""Log-odds that a clue is right: what every cluster costs that is fewer than rows that are apart from each other."""

ROUNDING = 1e-9
"""Error of a sum of weights, as a share of a cluster."""

CLUED = 2.0
"""Log-likelihood that the clues have to gain to change the number that is likely without them."""


def count_at_least(clues: Clues, demands: Clues, mass: float) -> int:
    """Clusters that there are in any case: classes of labels, and what has to hold (``demands``).

    ``mass`` is the sum of what sizes count: rows, or their weights.
    """
    least = max(len(np.unique(clues.labels[clues.labels >= 0])), count_apart(demands))
    if clues.sizes is not None and clues.sizes.ndim == 1 and clues.sizes[1] > 0:
        least = max(least, ceil(mass / clues.sizes[1] - ROUNDING))
    links = demands.only(demands.kinds - {"sizes"})
    # Components that exclude each other may need more clusters even if they form no clique.
    while least < clues.n and links.feasible(least) is False:
        least += 1
    return least


def count_apart(clues: Clues) -> int:
    """Components of rows that all exclude each other, as far as they are found: clusters, if no clue is wrong."""
    net = Network.build(clues.graph, clues.cliques)
    return max(len(net.largest_clique()), _grow_clique(net), 1)


def count_at_most(clues: Clues, mass: float) -> int:
    """Clusters for which there are enough rows, or weight (``mass``), given how many each has at least."""
    if clues.sizes is None or clues.sizes.ndim == 2 or clues.sizes[0] == 0:
        return clues.n
    return min(clues.n, int(mass / clues.sizes[0] + ROUNDING))


def _grow_clique(net: Network) -> int:
    """Size of a clique of the cannot-links, grown greedily from the component with the most of them."""
    indptr, indices = net.indptr, net.indices
    degree = np.diff(indptr)
    if not len(degree) or not degree.max():
        return 1
    at = int(degree.argmax())
    size, common = 1, indices[indptr[at] : indptr[at + 1]]
    while len(common):
        at = int(common[degree[common].argmax()])
        size, common = size + 1, np.intersect1d(common, indices[indptr[at] : indptr[at + 1]])
    return size


def count_likely_most(n: int) -> int:
    """Clusters up to which numbers are likely: few rows have few clusters."""
    return min(MOST, max(n // SHARE, 2))


def count_by_gap(ground: Ground, least: int) -> int:
    """The number of leading eigenvalues of the graph that is followed by the largest gap, relative to what is before.

    Eigenvalues within a cluster fall faster the fewer dimensions it has, so that absolute gaps mislead: of 144 sets of
    two to eight separate normal clusters in a plane this finds the number in 99 %, the absolute gap in 46 %.
    """
    least = max(least, min(2, ground.m))
    most = min(max(count_likely_most(len(ground.grain)), least), ground.m - 1)
    if most <= least:
        return min(least, ground.m)
    left = 1 - ground.values + CONNECTED
    return least + int((left[least : most + 1] / left[least - 1 : most]).argmax())


def choose_count(
    score: Callable[[int], float | None], least: int, most: int, likely: int, apart: int, seen: int | None = None
) -> int:
    """The number of clusters in the middle of those that may be true, given how well each predicts held-out clues.

    ``score`` is the log-likelihood of the held-out clues, None if no time is left; ``likely`` is the number to be taken
    unless clues say otherwise, and ``apart`` the number if all clues are right. If most clues are labels, ``likely`` is
    the number of their classes and ``seen`` that without clues. The curve is flat around its top, and ragged, as some
    numbers have a lucky fit: the median of the posterior is closer to the truth than the number with the highest score.
    """
    found: dict[int, float] = {}

    def look(numbers: Iterable[int]) -> None:
        for k in numbers:
            if least <= k <= most and k not in found and (value := score(k)) is not None:
                found[k] = value

    # What is likely comes first: a time limit may leave no time for others.
    look([likely, least, *LADDER])
    if not found:
        return likely
    # Further, as long as larger numbers are no worse.
    while max(found) < most and max(found, key=found.__getitem__) == max(found):
        before = len(found)
        look([min(most, ceil(STEP * max(found)))])
        if len(found) == before:
            break
    while True:
        before = len(found)
        middle = _find_middle(found, seen or likely, UNNAMED if seen else STRUCTURE, apart)
        look([middle, middle - 1, middle + 1])
        if len(found) == before:
            break
    gain = max(found.values()) - found.get(likely, -np.inf)
    return likely if gain < CLUED and likely >= apart else middle


def _find_middle(found: dict[int, float], likely: int, power: float, apart: int) -> int:
    """Median of the posterior; between numbers that were tried, scores are interpolated."""
    tried = sorted(found)
    k = np.arange(tried[0], tried[-1] + 1)
    odds = TEMPER * np.interp(k, tried, [found[one] for one in tried])
    odds -= FEWER * np.log(k) + power * np.abs(np.log(k / likely)) + WRONG * np.maximum(apart - k, 0)
    mass = np.cumsum(np.exp(odds - odds.max()))
    return int(k[np.searchsorted(mass, mass[-1] / 2)])
