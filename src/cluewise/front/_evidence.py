"""Evidence: clues as pairs of rows and labels of rows, each of which may be wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.base import class_clusters
from cluewise.clues import Clues

__all__ = ["Evidence", "gather"]

PAIRS = 10**6
"""Pairs beyond which apart groups are thinned out."""

HEAVY = 20.0
"""What a demand counts; demands hold in the result in any case."""


class Evidence(NamedTuple):
    """Pairs of rows and labels of rows."""

    ends: Ints  # (m, 2) rows
    is_must: Bools  # (m,)
    weight: Floats  # (m,)
    demanded: Bools  # (m,) pairs of infinite weight, which are never held out
    labeled: Ints  # (t,) rows
    classes: Ints  # (t,) their clusters
    label_weight: Floats  # (t,)

    @property
    def total(self) -> int:
        """Number of pairs and labels."""
        return len(self.ends) + len(self.labeled)

    @property
    def doubtful(self) -> Ints:
        """Numbers of the pairs, then labels, that may be held out."""
        return np.flatnonzero(~np.append(self.demanded, np.zeros(len(self.labeled), dtype=bool)))

    def take(self, which: Bools) -> Evidence:
        """Some of the pairs and labels; ``which`` has an entry for each pair, then for each label."""
        pairs, labels = which[: len(self.ends)], which[len(self.ends) :]
        return Evidence(
            self.ends[pairs],
            self.is_must[pairs],
            self.weight[pairs],
            self.demanded[pairs],
            self.labeled[labels],
            self.classes[labels],
            self.label_weight[labels],
        )

    def arrange(self, place: Ints) -> tuple[Evidence, Ints]:
        """The same in the order of places of the rows instead of their numbers, and the numbers of the clues here."""
        turned = np.argsort(place[self.ends], axis=1, kind="stable")
        own = np.take_along_axis(self.ends, turned, axis=1)
        ends = place[own]
        pairs = np.lexsort([self.weight, self.is_must, ends[:, 1], ends[:, 0]])
        labels = np.lexsort([self.classes, place[self.labeled]])
        moved = Evidence(
            own[pairs],
            self.is_must[pairs],
            self.weight[pairs],
            self.demanded[pairs],
            self.labeled[labels],
            self.classes[labels],
            self.label_weight[labels],
        )
        return moved, np.concatenate([pairs, len(pairs) + labels])

    def heed(self, believed: Floats) -> Evidence:
        """The same where each pair, then each label, counts as far as it is believed."""
        pairs, labels = believed[: len(self.ends)], believed[len(self.ends) :]
        return self._replace(weight=self.weight * pairs, label_weight=self.label_weight * labels)

    def renumber(self, number: Ints) -> Evidence:
        """The same with other numbers of rows, such as their grains."""
        return self._replace(ends=number[self.ends], labeled=number[self.labeled])

    def find_in(self, rows: Ints, first: int = 0) -> Evidence:
        """The same with numbers of rows in an ascending list of rows that begins with this number."""
        ends, labeled = (first + np.searchsorted(rows, own) for own in (self.ends, self.labeled))
        return self._replace(ends=ends, labeled=labeled)


def gather(clues: Clues, k: int, place: Ints) -> Evidence:
    """List what clues say about pairs and rows: the links first, as in the clues, then what groups say.

    ``place`` of the rows orders them within groups, so that their numbers do not matter.
    """
    pairs = [_list_links(clues), *_list_groups(clues, place)]
    ends, is_must, weight = (np.concatenate(column) for column in zip(*pairs))
    demanded = np.isinf(weight)
    usual = weight[~demanded]
    unit = float(usual.mean()) if usual.any() else 1.0
    labeled = np.flatnonzero(clues.labels >= 0)
    classes = class_clusters(clues, k)[clues.labels[labeled]].astype(np.int64) if len(labeled) else labeled
    weight = np.where(demanded, HEAVY, weight / unit)
    return Evidence(ends, is_must, weight, demanded, labeled, classes, np.ones(len(labeled)))


_Pairs = tuple[Ints, Bools, Floats]


def _list_links(clues: Clues) -> _Pairs:
    ends = np.concatenate([clues.must, clues.cannot]).astype(np.int64)
    is_must = np.repeat([True, False], [len(clues.must), len(clues.cannot)])
    return ends, is_must, np.concatenate([clues.must_weight, clues.cannot_weight])


def _list_groups(clues: Clues, place: Ints) -> list[_Pairs]:
    """Pairs of groups and partitions: chains of what is together; of what is apart all pairs, or some of them."""
    found: list[_Pairs] = []
    for group in clues.together:
        ends, owner = _chain(group.codes, place)
        found.append((ends, np.ones(len(ends), dtype=bool), group.weights[owner]))
    for group in clues.apart:
        ends, owner = _all_pairs(group.codes, place)
        found.append((ends, np.zeros(len(ends), dtype=bool), group.weights[owner]))
    for number in range(len(clues.partitions)):
        codes = clues.partition_codes(number)
        ends, _ = _chain(codes, place)
        across = _cross(codes, place)
        is_must = np.repeat([True, False], [len(ends), len(across)])
        found.append((np.concatenate([ends, across]), is_must, np.ones(len(is_must))))
    return found


def _chain(codes: Ints, place: Ints) -> tuple[Ints, Ints]:
    """Each row with the next one of its group, and the group."""
    order = _sort_groups(codes, place)
    same = codes[order[1:]] == codes[order[:-1]]
    return np.column_stack([order[:-1], order[1:]])[same].astype(np.int64), codes[order[1:]][same]


def _all_pairs(codes: Ints, place: Ints) -> tuple[Ints, Ints]:
    """All pairs within each group, or each row with the next few of its group if there are too many."""
    order = _sort_groups(codes, place)
    reach = max(int(np.bincount(codes[order]).max(initial=0)) - 1, 0)
    reach = min(reach, max(PAIRS // max(len(order), 1), 1))
    ends = [np.column_stack([order[:-gap], order[gap:]]) for gap in range(1, reach + 1)]
    both = np.concatenate(ends) if ends else np.empty((0, 2), dtype=np.int64)
    both = both[codes[both[:, 0]] == codes[both[:, 1]]]
    return both.astype(np.int64), codes[both[:, 0]]


def _cross(codes: Ints, place: Ints) -> Ints:
    """As many pairs across groups as there are rows: rows taken from the groups in turn, each with the next one."""
    order = _sort_groups(codes, place)
    group = np.cumsum(np.diff(codes[order], prepend=codes[order[:1]]) != 0)
    size = np.bincount(group)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    turn = order[np.lexsort([group, rank])]
    ends = np.column_stack([turn, np.roll(turn, -1)])
    return ends[codes[ends[:, 0]] != codes[ends[:, 1]]].astype(np.int64)


def _sort_groups(codes: Ints, place: Ints) -> Ints:
    """Rows of the groups, one group after the other, by their places; numbers of groups matter as little as of rows."""
    rows = np.flatnonzero(codes >= 0)
    first = np.full(int(codes.max(initial=-1)) + 1, len(codes))
    np.minimum.at(first, codes[rows], place[rows])
    return rows[np.lexsort([place[rows], codes[rows], first[codes[rows]]])]
