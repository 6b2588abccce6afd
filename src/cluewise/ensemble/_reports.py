"""Reports: every link since a fit with its source, and what a new report adds to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.clues.links import reporter_of

__all__ = ["ReportLog", "Reports", "has_only_links", "list_reports"]

GROUPS = frozenset({"labels", "together", "apart"})


class Reports(NamedTuple):
    """Links as they were reported, one entry per pair and source."""

    rows: Ints  # (p, 2) first < second
    must: Bools  # (p,) must-link or cannot-link
    weight: Floats  # (p,)
    confidence: Floats  # (p,) nan where none was given
    source: Array  # (p,) text

    def take(self, which: Array) -> Reports:
        """Some of the reports, by a mask or by their positions."""
        columns: list[Any] = [column[which] for column in self]
        return Reports(*columns)

    def join(self, other: Reports) -> Reports:
        """All reports of both."""
        columns: list[Any] = [np.concatenate(both) for both in zip(self, other)]
        return Reports(*columns)

    def clues(self, n: int) -> Clues:
        """The links as clues about n rows."""
        links: dict[str, Any] = {}
        for kind, mask in (("must", self.must), ("cannot", ~self.must)):
            links[kind] = self.rows[mask]
            links[f"{kind}_weight"] = self.weight[mask]
            links[f"{kind}_confidence"] = self.confidence[mask]
            links[f"{kind}_source"] = self.source[mask]
        return Clues(n, **links)

    def pairs(self, weight: Floats) -> Pairs:
        """The links with other weights, without those of weight 0."""
        must, cannot = self.must & (weight > 0), ~self.must & (weight > 0)
        return Pairs(self.rows[must], weight[must], self.rows[cannot], weight[cannot])


def list_reports(clues: Clues) -> Reports:
    """List the links among clues."""
    links = [clues.reports("must"), clues.reports("cannot")]
    return Reports(
        np.concatenate([one.pairs for one in links]),
        np.repeat([True, False], [len(one) for one in links]),
        np.concatenate([one.weight for one in links]),
        np.concatenate([one.confidences for one in links]),
        np.concatenate([one.sources for one in links]),
    )


def has_only_links(clues: Clues) -> bool:
    """Whether the clues are links alone, decided without reading a value for every row."""
    others = (clues.together, clues.apart, clues.partitions, clues.avoid)
    return not len(clues.classes_) and not any(others) and clues.sizes is None


class ReportLog:
    """All clues that an `SCSC` was given: links with their sources, and labels and groups."""

    def __init__(self, n: int) -> None:
        self.n = n
        nothing = np.empty(0)
        self.reports = Reports(
            np.empty((0, 2), dtype=np.int64), nothing.astype(bool), nothing, nothing, nothing.astype(object)
        )
        self.groups: Clues | None = None
        self._numbers: dict[str, int] = {}  # of the reporters
        self._reporter = np.empty(0, dtype=np.int64)  # (p,) number of the reporter of each report
        # An index of the reports by link; adding to sorted arrays is faster than hashing every link.
        self._codes = np.empty(0, dtype=np.int64)  # ascending
        self._places = np.empty(0, dtype=np.int64)  # report of each code

    @classmethod
    def restore(cls, n: int, reports: Reports, groups: Clues | None) -> ReportLog:
        """A log from its saved parts."""
        log = cls(n)
        log.add(reports)
        log.groups = groups
        return log

    def add(self, reports: Reports, groups: Clues | None = None) -> Pairs:
        """Add links, and labels and groups among the clues; return the links that are new.

        A link that the same source has given before adds only what its weight exceeds the earlier one by. Lines of
        one file are one source, as they are in `Clues`.
        """
        reporter = self._number_reporters(reports.source)
        code = (reports.rows[:, 0] * self.n + reports.rows[:, 1]) * 2 + reports.must
        order = np.lexsort((-reports.weight, reporter, code))
        if len(order):
            first = (np.diff(code[order], prepend=-1) != 0) | (np.diff(reporter[order], prepend=-1) != 0)
            order = order[first]  # the heaviest of equal reports
        reports, reporter, code = reports.take(order), reporter[order], code[order]
        gain = reports.weight.copy()
        known = np.zeros(len(code), dtype=bool)
        low, high = np.searchsorted(self._codes, code, "left"), np.searchsorted(self._codes, code, "right")
        repeated = np.flatnonzero(high > low).tolist()
        if repeated:
            held = self.reports.weight.copy()  # not in place: copies of this log share the array
            self.reports = self.reports._replace(weight=held)
        for i in repeated:
            for place in self._places[low[i] : high[i]].tolist():
                if self._reporter[place] == reporter[i]:
                    known[i] = True
                    gain[i] = max(0.0, reports.weight[i] - held[place])
                    held[place] = max(reports.weight[i], held[place])
        self._insert(reports.take(~known), reporter[~known], code[~known])
        pairs = reports.pairs(gain)
        if groups is not None and groups.kinds & GROUPS:
            pairs = pairs.join(self._add_groups(groups.only(GROUPS)))
        return pairs

    def _add_groups(self, groups: Clues) -> Pairs:
        """Add labels and groups; return the links that do not follow from earlier ones."""
        if self.groups is None:
            self.groups = groups
            return groups.pairs(expand=True)
        old = self.groups.pairs(expand=True)
        self.groups = self.groups | groups
        new = self.groups.pairs(expand=True)
        return Pairs(*_subtract(self.n, *new[:2], *old[:2]), *_subtract(self.n, *new[2:], *old[2:]))

    def clues(self) -> Clues:
        """All of it as clues."""
        clues = self.reports.clues(self.n)
        return clues if self.groups is None else clues | self.groups

    def _number_reporters(self, sources: Array) -> Ints:
        """Number the sources without their lines."""
        known = self._numbers
        return np.array([known.setdefault(reporter_of(s), len(known)) for s in sources.tolist()], dtype=np.int64)

    def _insert(self, reports: Reports, reporter: Ints, code: Ints) -> None:
        at = np.searchsorted(self._codes, code, side="right")
        self._codes = np.insert(self._codes, at, code)
        self._places = np.insert(self._places, at, len(self._reporter) + np.arange(len(code)))
        self._reporter = np.concatenate([self._reporter, reporter])
        self.reports = self.reports.join(reports)


def _subtract(n: int, pairs: Ints, weight: Floats, old: Ints, old_weight: Floats) -> tuple[Ints, Floats]:
    """The links without the weight that is known already; all old links are among the new ones."""
    left = weight.copy()
    code, old_code = (rows[:, 0] * n + rows[:, 1] for rows in (pairs, old))
    left[np.searchsorted(code, old_code)] -= old_weight
    return pairs[left > 0], left[left > 0]
