"""Evidence: clues as pairs of rows and labels of rows, each of which may be wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from cluewise._typing import Bools, Floats, Ints
from cluewise.base import class_clusters
from cluewise.clues import Clues
from cluewise.clues.links import GIVEN
from cluewise.clues.words import find_origin

__all__ = ["Evidence", "gather"]

PAIRS = 10**6
"""Pairs beyond which apart groups are thinned out."""

LEAST = 0.01
"""Probability that a clue is wrong of which its source says that it is certain."""

HEAVY = 20.0
"""What a demand counts; demands hold in the result in any case."""


class Evidence(NamedTuple):
    """Pairs of rows and labels of rows; what is said about both has an entry for each pair, then for each label."""

    ends: Ints  # (m, 2) rows
    is_must: Bools  # (m,)
    demanded: Bools  # (m,) pairs of infinite weight, which are never held out
    labeled: Ints  # (t,) rows
    classes: Ints  # (t,) their clusters
    weights: Floats  # (m + t,)
    units: Ints  # (m + t,) what is held out together: a link, a label, all pairs of a group
    sources: Ints  # (m + t,) who says it
    stated: Floats  # (m + t,) probability of being wrong as the source states it, nan if it does not
    odds: Floats  # (m + t,) log-odds of being wrong, above those of any clue
    worth: Floats  # (m + t,) what it counts in starts, besides its weight

    @property
    def total(self) -> int:
        """Number of pairs and labels."""
        return len(self.weights)

    @property
    def doubtful(self) -> Ints:
        """Numbers of the pairs, then labels, that may be held out."""
        return np.flatnonzero(~np.append(self.demanded, np.zeros(len(self.labeled), dtype=bool)))

    def find_errors(self, error: float) -> Floats:
        """Probability that each pair, then each label, is wrong if that of any clue is ``error``."""
        return np.where(np.isnan(self.stated), expit(logit(error) + self.odds), self.stated)

    def weigh_for_starts(self) -> tuple[Floats, Floats]:
        """Find what each pair and each label counts in starts."""
        counts = self.weights * self.worth
        return counts[: len(self.ends)], counts[len(self.ends) :]

    def take(self, numbers: Ints) -> Evidence:
        """Some of the pairs, then some of the labels, by their numbers."""
        m = len(self.ends)
        pairs, labels = numbers[numbers < m], numbers[numbers >= m] - m
        which: list[Ints] = [pairs] * 3 + [labels] * 2 + [numbers] * (len(self) - 5)
        return Evidence._make(values[some] for values, some in zip(self, which))

    def leave_out(self, numbers: Ints) -> Evidence:
        """All pairs and labels but some."""
        return self.take(np.delete(np.arange(self.total), numbers))

    def arrange(self, place: Ints) -> tuple[Evidence, Ints]:
        """The same in the order of places of the rows instead of their numbers, and the numbers of the clues here."""
        turned = np.argsort(place[self.ends], axis=1, kind="stable")
        own = np.take_along_axis(self.ends, turned, axis=1)
        ends, m = place[own], len(own)
        pairs = np.lexsort([self.weights[:m], self.is_must, ends[:, 1], ends[:, 0]])
        labels = np.lexsort([self.classes, place[self.labeled]])
        numbers = np.concatenate([pairs, m + labels])
        return self._replace(ends=own).take(numbers), numbers

    def heed(self, believed: Floats) -> Evidence:
        """The same where each pair, then each label, counts as far as it is believed."""
        return self._replace(weights=self.weights * believed)

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
    parts = [*_list_links(clues), *_list_groups(clues, place)]
    ends = np.concatenate([part.ends for part in parts])
    is_must = np.concatenate([part.is_must for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    demanded = np.isinf(weight)
    usual = weight[~demanded]
    unit = float(usual.mean()) if usual.any() else 1.0
    labeled = np.flatnonzero(clues.labels >= 0)
    classes = class_clusters(clues, k)[clues.labels[labeled]].astype(np.int64) if len(labeled) else labeled
    stated = 1 - np.concatenate([part.confidence for part in parts])
    stated[demanded] = np.nan
    weight = np.where(demanded, HEAVY, np.where(np.isnan(stated), weight / unit, 1.0))
    worth = np.where(np.isnan(stated), 1.0, 1 - 2 * stated)
    named: Any = GIVEN if clues.label_source is None else clues.label_source[labeled]
    t = len(labeled)
    return Evidence(
        ends,
        is_must,
        demanded,
        labeled,
        classes,
        np.append(weight, np.ones(t)),
        _number_units(parts, t),
        _number_sources([*((part.source, len(part.ends)) for part in parts), (named, t)]),
        np.append(np.clip(stated, LEAST, None), np.full(t, np.nan)),
        np.zeros(len(ends) + t),
        np.append(worth / (worth.mean() if len(worth) else 1.0), np.ones(t)),
    )


class _Pairs(NamedTuple):
    """Pairs of links of a kind, or of a column of groups."""

    ends: Ints
    is_must: Bools
    weight: Floats
    owner: Ints  # groups of the pairs; links have none in common
    confidence: Floats  # nan where none was given
    source: Any  # one for all, or one for each pair


def _list_links(clues: Clues) -> list[_Pairs]:
    found = []
    for links, is_must in ((clues._must, True), (clues._cannot, False)):
        m = len(links)
        found.append(
            _Pairs(
                links.pairs.astype(np.int64),
                np.full(m, is_must),
                links.weight,
                np.arange(m),
                links.confidences,
                links.source,
            )
        )
    return found


def _list_groups(clues: Clues, place: Ints) -> list[_Pairs]:
    """Pairs of groups and partitions: chains of what is together; of what is apart all pairs, or some of them."""
    found: list[_Pairs] = []
    for group in clues.together:
        ends, owner = _chain(group.codes, place)
        found.append(_group_pairs(ends, True, group.weights[owner], owner, group.source))
    for group in clues.apart:
        ends, owner = _all_pairs(group.codes, place)
        found.append(_group_pairs(ends, False, group.weights[owner], owner, group.source))
    for number in range(len(clues.partitions)):
        codes = clues.partition_codes(number)
        joined, across = _chain(codes, place)[0], _cross(codes, place)
        for ends, is_must in ((joined, True), (across, False)):
            m = len(ends)
            found.append(_group_pairs(ends, is_must, np.ones(m), np.arange(m), f"partition {number}"))
    return found


def _group_pairs(ends: Ints, is_must: bool, weight: Floats, owner: Ints, source: str) -> _Pairs:
    m = len(ends)
    return _Pairs(ends, np.full(m, is_must), weight, owner, np.full(m, np.nan), source)


def _number_units(parts: list[_Pairs], labels: int) -> Ints:
    """Numbers of what is held out together."""
    found, first = [], 0
    for part in parts:
        found.append(first + part.owner)
        first += int(part.owner.max(initial=-1)) + 1
    return np.concatenate([*found, first + np.arange(labels)])


def _number_sources(named: list[tuple[Any, int]]) -> Ints:
    """Numbers of the sources; lines of a file are one source, and so are the answers of a person."""
    number: dict[str, int] = {}
    found = []
    for source, count in named:
        if isinstance(source, str):
            found.append(np.full(count, number.setdefault(find_origin(source), len(number))))
        else:
            origins = (find_origin(str(one)) for one in source)
            found.append(np.array([number.setdefault(one, len(number)) for one in origins], dtype=np.int64))
    return np.concatenate(found)


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
