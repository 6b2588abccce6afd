"""Labelings: several partitions of the same rows, some of them partial, as one table of codes.

The one-hot rows of the papers on consensus are never written out: clusters are described by the *shares* of the
labels of each partition among their rows, and what a row pays in a cluster is looked up, one number per label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.core.partitions.utilities import Utility
from cluewise.core.threads import map_blocks
from cluewise.kernels import labelings as kernel

__all__ = ["Labelings", "costs_in", "distinct_rows", "held_by", "labelings_of", "lined_up"]

BLOCK = 2**12
"""Rows per block."""


class Labelings(NamedTuple):
    """m partitions of n rows."""

    codes: list[Array]  # per partition (n,) of one unsigned type; a code of ``sizes`` or more means no label
    sizes: list[int]  # labels of each partition
    weights: Floats  # (m,) what each partition counts
    overall: list[Floats]  # per partition, the shares of its labels among the rows that it covers
    covered: Floats  # (m,) number of rows that each covers

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes[0])

    def blocks(self) -> list[slice]:
        """Runs of rows."""
        return [slice(start, min(start + BLOCK, self.n)) for start in range(0, self.n, BLOCK)]


def labelings_of(lines: list[Array], weights: Floats) -> Labelings:
    """Labelings from lines of whole numbers; negative ones, and the largest of an unsigned type, mean no label.

    Lines of an unsigned type are not copied, unless their labels are larger than the number of rows.
    """
    coded = [_coded(line) for line in lines]
    dtype = np.result_type(*(own.dtype for own, _ in coded))
    codes, sizes = [own.astype(dtype, copy=False) for own, _ in coded], [size for _, size in coded]
    counts = [np.bincount(own[own < size], minlength=size) for own, size in zip(codes, sizes)]
    covered = np.array([own.sum() for own in counts], dtype=np.float64)
    overall = [own / max(total, 1.0) for own, total in zip(counts, covered)]
    return Labelings(codes, sizes, weights, overall, covered)


def _coded(line: Array) -> tuple[Array, int]:
    """Codes of one partition, and how many there are."""
    unsigned = line.dtype.kind == "u"
    known = line != np.iinfo(line.dtype).max if unsigned else line >= 0
    top = int(line.max(initial=0, where=known)) + 1 if known.any() else 0
    if unsigned and top <= len(line) and line.dtype.itemsize < 8:
        return line, top
    found, place = np.unique(line[known], return_inverse=True)
    dtype = np.min_scalar_type(len(found))
    codes = np.full(len(line), np.iinfo(dtype).max, dtype=dtype)
    codes[known] = place
    return codes, len(found)


def costs_in(
    labelings: Labelings, utility: Utility, shares: list[Floats], settle: Callable[[slice, Floats], Any]
) -> list[Any]:
    """What ``settle(block, costs)`` gives for all blocks; ``costs`` (rows, k) are what its rows pay in each cluster."""
    k, m = len(shares[0]), len(shares)
    # Below the prices of the labels of a partition a line of zeros, for rows without a label; the last line of all is
    # for the partitions that are wanting in the last four.
    nothing = np.zeros((1, k))
    priced = [w * utility.costs(share).T for w, share in zip(labelings.weights, shares)]
    prices = np.ascontiguousarray(np.vstack([*(line for price in priced for line in (price, nothing)), nothing]))
    sizes = np.array([*labelings.sizes, 0, 0, 0])
    starts = np.append(np.cumsum([0, *labelings.sizes]) + np.arange(m + 1), [len(prices) - 1] * 2)
    codes = [*labelings.codes, *labelings.codes[:1] * 3]

    def work(block: slice) -> Any:
        costs = np.zeros((block.stop - block.start, k))
        for t in range(0, m, 4):
            a, b, c, d = (own[block] for own in codes[t : t + 4])
            kernel.add_four_prices(costs, a, b, c, d, prices, starts[t : t + 4], sizes[t : t + 4])
        return settle(block, costs)

    return list(map_blocks(work, labelings.blocks()))


def held_by(labelings: Labelings, labels: Ints, k: int) -> list[Floats]:
    """Per partition a (k, labels) table: how many rows of each cluster have each label."""

    def work(t: int) -> Floats:
        held = np.zeros((k, labelings.sizes[t]))
        kernel.count_codes(labels, labelings.codes[t], held)
        return held

    return list(map_blocks(work, range(len(labelings.codes))))


def lined_up(labelings: Labelings, rng: np.random.Generator) -> Floats:
    """A random number for each row, equal for rows with the same labels: an order that does not depend on their places.

    Every label gets a random number, and those of a row are added up.
    """
    place = np.zeros(labelings.n)
    for codes, size in zip(labelings.codes, labelings.sizes):
        place += np.append(rng.normal(size=size), 0.0)[np.minimum(codes, size)]
    return place


def distinct_rows(place: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Random rows, no two with the same labels while there are others; ``place`` as `lined_up` gives it."""
    drawn = np.argsort(place, kind="stable")[rng.permutation(len(place))]
    first = np.sort(np.unique(place[drawn], return_index=True)[1])[:count]
    return np.resize(drawn[first], count)
