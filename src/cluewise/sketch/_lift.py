"""Clues about rows as clues about parts: pairs with net weights, votes for labels, groups that are not written out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues, Groups

__all__ = ["count_votes", "lift", "lift_hard", "lift_soft"]

SMALL = 16
"""Groups in up to this many parts are written out as pairs, so that they can cancel other pairs; larger ones stay."""


def lift(known: Clues, hard: Clues, soft: Clues, part: Ints, count: int, weight: float) -> Clues:
    """Clues about ``count`` parts; ``weight`` is what hard ones weigh.

    ``known`` is everything that the method uses; its links and groups are those of ``hard`` and ``soft``.
    """
    sides = [count_votes(known.partition_codes(t), part, count) for t in range(len(known.partitions))]
    avoid = [count_votes(codes, part, count) for codes in known.avoid]
    other = Clues(count, partitions=sides, avoid=avoid, sizes=known.sizes, size_unit="weight")
    return (
        _lift_labels(known, part, count) | other | lift_hard(hard, part, count, weight) | lift_soft(soft, part, count)
    )


def count_votes(codes: Ints, part: Ints, count: int) -> Ints:
    """The most frequent code of the rows of each part; −1 without any, and where two codes are equally frequent.

    Examples
    --------
    >>> import numpy as np
    >>> count_votes(np.array([0, 1, 1, 2, 0, -1]), np.array([0, 0, 0, 1, 1, 2]), 3).tolist()
    [1, -1, -1]
    """
    rows = np.flatnonzero(codes >= 0)
    base = int(codes.max(initial=0)) + 1
    ballot, votes = np.unique(part[rows].astype(np.int64) * base + codes[rows], return_counts=True)
    voter, code = ballot // base, ballot % base
    order = np.lexsort((-votes, voter))
    voter, code, votes = voter[order], code[order], votes[order]
    first = np.append(True, voter[1:] != voter[:-1])[: len(voter)]
    tied = np.append((voter[1:] == voter[:-1]) & (votes[1:] == votes[:-1]), False)[: len(voter)]
    won = np.full(count, -1, dtype=np.int32)
    won[voter[first]] = np.where(tied[first], -1, code[first])
    return won


def _lift_labels(known: Clues, part: Ints, count: int) -> Clues:
    """The class that most labeled rows of each part have."""
    if "labels" not in known.kinds:
        return Clues(count)
    won = count_votes(known.labels, part, count)
    decided = np.flatnonzero(won >= 0)
    someone = np.empty(count, dtype=np.int64)
    agree = np.flatnonzero((known.labels >= 0) & (known.labels == won[part]))[::-1]
    someone[part[agree]] = agree
    # A slice of the clues keeps classes that have won no part, and with them the numbers of the others.
    return known.only(["labels"])[someone[decided]].at(decided, count)


def lift_hard(hard: Clues, part: Ints, count: int, weight: float) -> Clues:
    """Hard links and groups between parts; rows of one part must belong to one component of these clues."""
    joined = np.full(count, -1, dtype=np.int32)
    if hard.kinds & {"must", "together"}:
        joined[part[hard.tied]] = hard.components[hard.tied]
        members = np.bincount(joined[joined >= 0], minlength=hard.n_components)
        joined[members[joined] < 2] = -1
    together = Clues(count, together=joined if (joined >= 0).any() else None, together_weight=weight)
    pairs, _, large = _collect(hard.only(["cannot", "apart"]), part, count)
    apart = [group._replace(weight=weight) for group in large]
    return together | Clues(count, cannot=pairs, cannot_weight=weight, apart=_pack(apart, count))


def lift_soft(soft: Clues, part: Ints, count: int) -> Clues:
    """Soft links and groups between parts; of all links between two parts, the difference of their weights is left.

    Examples
    --------
    Two rows say that parts 0 and 1 belong together, one says that they do not.

    >>> import numpy as np
    >>> from cluewise import Clues
    >>> clues = Clues(5, must=[(0, 2), (1, 3), (0, 1)], cannot=[(0, 3), (2, 4)])
    >>> lifted = lift_soft(clues, np.array([0, 0, 1, 1, 2]), 3)
    >>> lifted.must.tolist(), lifted.must_weight.tolist(), lifted.cannot.tolist()
    ([[0, 1]], [1.0], [[1, 2]])
    """
    pairs, weight, together = _collect(soft.only(["must", "together"]), part, count)
    others, against, apart = _collect(soft.only(["cannot", "apart"]), part, count)
    key, place = np.unique(np.concatenate([pairs, others]) @ np.array([count, 1]), return_inverse=True)
    net = np.bincount(place, weights=np.concatenate([weight, -against]), minlength=len(key))
    ends = np.column_stack([key // count, key % count])
    noise = 1e-9 * np.bincount(place, weights=np.concatenate([weight, against]), minlength=len(key))
    return Clues(
        count,
        must=ends[net > noise],
        must_weight=net[net > noise],
        cannot=ends[net < -noise],
        cannot_weight=-net[net < -noise],
        together=_pack(together, count),
        apart=_pack(apart, count),
    )


class _Group(NamedTuple):
    """A group of many parts."""

    parts: Ints
    weight: float
    name: object


def _collect(clues: Clues, part: Ints, count: int) -> tuple[Ints, Floats, list[_Group]]:
    """Links between parts, lower number first, with weights, and large groups; clues of one kind of link.

    Links inside a part are left out. A group is all the links between its rows, so two parts with a and b of its rows
    have a·b of them.
    """
    links = np.concatenate([clues.must, clues.cannot])
    ends, weights = [part[links].astype(np.int64)], [np.concatenate([clues.must_weight, clues.cannot_weight])]
    large = []
    for column in (*clues.together, *clues.apart):
        rows = np.flatnonzero(column.codes >= 0)
        cell, size = np.unique(column.codes[rows].astype(np.int64) * count + part[rows], return_counts=True)
        group, member = cell // count, cell % count
        spread = np.bincount(group, minlength=len(column.weights))
        # Written out among the cells, each of which is some rows of one group in one part.
        few = Clues(len(cell), together=np.where(spread[group] <= SMALL, group, -1))
        pairs = few.pairs(expand=True, limit=len(cell) * SMALL).must
        ends.append(member[pairs])
        weights.append(column.weights[group[pairs[:, 0]]] * size[pairs].prod(axis=1))
        for g in np.flatnonzero(spread > SMALL):
            mine = group == g
            # As many links as there are between its rows, on average over pairs of parts.
            large.append(_Group(member[mine], float(column.weights[g] * size[mine].mean() ** 2), column.names[g]))
    both = np.sort(np.concatenate(ends), axis=1)
    between = both[:, 0] != both[:, 1]
    return both[between], np.concatenate(weights)[between], large


def _pack(groups: list[_Group], count: int) -> list[Groups]:
    """Columns of groups, as few as possible: groups that share a part go to different columns."""
    columns: list[list[_Group]] = []
    codes: list[Ints] = []
    for group in groups:
        fits = (c for c, column in enumerate(codes) if (column[group.parts] < 0).all())
        c = next(fits, len(columns))
        if c == len(columns):
            columns.append([])
            codes.append(np.full(count, -1, dtype=np.int32))
        codes[c][group.parts] = len(columns[c])
        columns[c].append(group)
    weights = [np.array([group.weight for group in column]) for column in columns]
    return [Groups(*parts) for parts in zip(codes, weights, map(_names, columns))]


def _names(groups: list[_Group]) -> Array:
    names = np.empty(len(groups), dtype=object)
    names[:] = [group.name for group in groups]
    return names
