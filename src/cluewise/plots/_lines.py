"""Which links are drawn: the broken ones first, and never more than can be seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.clues import Clues, Groups

__all__ = ["LIMIT", "Lines", "lines_of"]

LIMIT = 300
"""Most lines of each kind in one picture."""


class Lines(NamedTuple):
    """Links of one kind that are drawn."""

    pairs: Ints  # (m, 2) rows
    broken: Bools  # (m,)
    total: int  # links of this kind that there are
    failed: int  # how many of all of them are broken

    @property
    def words(self) -> str:
        """How many, in words for the legend."""
        drawn = len(self.pairs)
        return f"{drawn}" if drawn == self.total else f"{drawn} of {self.total} drawn"


def lines_of(clues: Clues, labels: Ints) -> tuple[Lines, Lines]:
    """Must-links and cannot-links to draw; of a group, a chain through its members."""
    must = np.concatenate([clues.must, *(_chain(group) for group in clues.together)])
    cannot = np.concatenate([clues.cannot, *(_chain(group) for group in clues.apart)])
    together = _same(labels, must)
    apart = ~_same(labels, cannot)
    return _some(must, ~together), _some(cannot, ~apart)


def _same(labels: Ints, pairs: Ints) -> Bools:
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)  # noise rows are each alone


def _chain(group: Groups) -> Ints:
    rows = np.flatnonzero(group.codes >= 0)
    rows = rows[np.argsort(group.codes[rows], kind="stable")]
    pairs = np.column_stack([rows[:-1], rows[1:]])
    return pairs[group.codes[pairs[:, 0]] == group.codes[pairs[:, 1]]]


def _some(pairs: Ints, broken: Bools) -> Lines:
    chosen = np.arange(len(pairs))
    if len(pairs) > LIMIT:
        shuffled = np.random.default_rng(0).permutation(len(pairs))
        chosen = np.sort(shuffled[np.argsort(~broken[shuffled], kind="stable")][:LIMIT])
    return Lines(pairs[chosen], broken[chosen], len(pairs), int(broken.sum()))
