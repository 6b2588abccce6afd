"""Reports: every link since a fit with its source, as index arrays; and what a new report adds to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.clues import Clues, Pairs
from cluewise.clues.links import reporter_of

__all__ = ["GROUPS", "Reports", "ReportLog", "list_reports", "only_links"]

GROUPS = ("labels", "together", "apart")


class Reports(NamedTuple):
    """Links as they were reported, one entry per pair and source."""

    rows: Ints  # (p, 2) first < second
    must: Bools  # (p,) together or apart
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

    def pairs(self, weight: Floats) -> Pairs:
        """The links with other weights; those of weight 0 say nothing."""
        a, b = self.must & (weight > 0), ~self.must & (weight > 0)
        return Pairs(self.rows[a], weight[a], self.rows[b], weight[b])


def list_reports(clues: Clues) -> Reports:
    """The links among clues."""
    links = [clues.reports("must"), clues.reports("cannot")]
    return Reports(
        np.concatenate([one.pairs for one in links]),
        np.repeat([True, False], [len(one) for one in links]),
        np.concatenate([one.weight for one in links]),
        np.concatenate([one.confidences for one in links]),
        np.concatenate([one.sources for one in links]),
    )


def only_links(clues: Clues) -> bool:
    """Whether there can be nothing but links, without a look at every row."""
    others = (clues.together, clues.apart, clues.partitions, clues.avoid)
    return not len(clues.classes_) and not any(others) and clues.sizes is None


class ReportLog:
    """Everything that an `SCSC` has learned: links with their sources, and labels and groups as clues."""

    def __init__(self, n: int) -> None:
        self.n = n
        nothing = np.empty(0)
        self.reports = Reports(
            np.empty((0, 2), dtype=np.int64), nothing.astype(bool), nothing, nothing, nothing.astype(object)
        )
        self.groups: Clues | None = None
        self._tellers: dict[str, int] = {}
        self._teller = np.empty(0, dtype=np.int64)
        self._codes = np.empty(0, dtype=np.int64)  # ascending
        self._places = np.empty(0, dtype=np.int64)  # report of each code

    @classmethod
    def restore(cls, n: int, reports: Reports, groups: Clues | None) -> ReportLog:
        """The log from what was saved of it."""
        log = cls(n)
        log.add(reports)
        log.groups = groups
        return log

    def add(self, reports: Reports) -> Pairs:
        """Add links; return what is new in them. A link that the same source has given before adds nothing.

        Lines of one file are one source, as they are in `Clues`; its largest weight counts.
        """
        teller = self._teller_of(reports.source)
        code = (reports.rows[:, 0] * self.n + reports.rows[:, 1]) * 2 + reports.must
        order = np.lexsort((-reports.weight, teller, code))
        if len(order):
            new = (np.diff(code[order], prepend=-1) != 0) | (np.diff(teller[order], prepend=-1) != 0)
            order = order[new]  # of a link that stands here twice the heavier one
        reports, teller, code = reports.take(order), teller[order], code[order]
        gain = reports.weight.copy()
        known = np.zeros(len(code), dtype=bool)
        low, high = np.searchsorted(self._codes, code, "left"), np.searchsorted(self._codes, code, "right")
        repeated = np.flatnonzero(high > low).tolist()
        if repeated:
            held = self.reports.weight.copy()  # nothing is changed in place: a copy of this log may be in use
            self.reports = self.reports._replace(weight=held)
        for i in repeated:
            for place in self._places[low[i] : high[i]].tolist():
                if self._teller[place] == teller[i]:
                    known[i] = True
                    gain[i] = max(0.0, reports.weight[i] - held[place])
                    held[place] = max(reports.weight[i], held[place])
        self._insert(reports.take(~known), teller[~known], code[~known])
        return reports.pairs(gain)

    def add_groups(self, clues: Clues) -> Pairs:
        """Add labels and groups; return the links that did not follow from earlier ones."""
        if self.groups is None:
            self.groups = clues.only(GROUPS)
            return self.groups.pairs(expand=True)
        old = self.groups.pairs(expand=True)
        self.groups = self.groups | clues.only(GROUPS)
        new = self.groups.pairs(expand=True)
        return Pairs(*_less(self.n, *new[:2], *old[:2]), *_less(self.n, *new[2:], *old[2:]))

    def clues(self) -> Clues:
        """All of it as clues."""
        r = self.reports
        links: dict[str, Any] = {}
        for kind, mask in (("must", r.must), ("cannot", ~r.must)):
            links[kind] = r.rows[mask]
            links[f"{kind}_weight"] = r.weight[mask]
            links[f"{kind}_confidence"] = r.confidence[mask]
            links[f"{kind}_source"] = r.source[mask]
        clues = Clues(self.n, **links)
        return clues if self.groups is None else clues | self.groups

    def _teller_of(self, sources: Array) -> Ints:
        """A number for every source without its line."""
        known = self._tellers
        return np.array([known.setdefault(reporter_of(s), len(known)) for s in sources.tolist()], dtype=np.int64)

    def _insert(self, reports: Reports, teller: Ints, code: Ints) -> None:
        at = np.searchsorted(self._codes, code, side="right")
        self._codes = np.insert(self._codes, at, code)
        self._places = np.insert(self._places, at, len(self._teller) + np.arange(len(code)))
        self._teller = np.concatenate([self._teller, teller])
        self.reports = self.reports.join(reports)


def _less(n: int, pairs: Ints, weight: Floats, taken: Ints, taken_weight: Floats) -> tuple[Ints, Floats]:
    """The links that are left when some of their weight is taken away."""
    left = weight.copy()
    code, gone = (rows[:, 0] * n + rows[:, 1] for rows in (pairs, taken))
    left[np.searchsorted(code, gone)] -= taken_weight
    return pairs[left > 0], left[left > 0]
