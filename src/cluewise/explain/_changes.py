"""What the clues changed: rows in another cluster than without them, and the clues that decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.clues import Clues
from cluewise.metrics import broken
from cluewise.metrics.matching import match_labels

__all__ = ["Changes", "find_changes"]


@dataclass(frozen=True, eq=False)
class Changes:
    """What the clues changed; clusters with clues and without are matched by their overlap.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Rows that are in another cluster than without clues.
    before, after : ndarray of shape (m,)
        Their clusters without clues, numbered like those that they match, and with clues.
    decided : Clues
        Links and labels that the result keeps, but that it would break without clues.

    Examples
    --------
    >>> import cluewise as cw
    >>> found = cw.describe(
    ...     [0, 0, 1, 1, 1], {"x": [1, 2, 4, 8, 9]}, clues=cw.Clues(5, must=[(2, 3), (3, 4)]), without=[0, 0, 0, 1, 1]
    ... )
    >>> found.changes.rows.tolist(), found.changes.decided
    ([2], Clues(5 rows: 1 must-link))
    """

    rows: Ints
    before: Ints
    after: Ints
    decided: Clues


def find_changes(labels: Ints, without: Ints, clues: Clues) -> Changes:
    """Compare a clustering with one without clues."""
    matched = match_labels(without, labels)
    rows = np.flatnonzero(matched != labels)
    kept = broken(labels, clues).labels < 0
    decided = clues.subset(
        must=_are_together(labels, clues.must) & ~_are_together(without, clues.must),
        cannot=~_are_together(labels, clues.cannot) & _are_together(without, clues.cannot),
        labels=kept & (broken(without, clues).labels >= 0),
    )
    return Changes(rows, matched[rows], labels[rows], decided)


def _are_together(labels: Ints, pairs: Ints) -> Bools:
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)  # each noise row is alone
