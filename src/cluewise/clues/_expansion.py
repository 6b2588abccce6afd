"""Labels and groups written out as pairs, for methods that are defined pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues.links import Links
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["expanded"]


def expanded(clues: Clues, must: Links, cannot: Links, limit: int) -> tuple[Links, Links]:
    """All links, those of labels and groups included; more than ``limit`` of them are refused."""
    labelled = int((clues.labels >= 0).sum())
    total = len(must) + len(cannot) + labelled * (labelled - 1) // 2
    for group in (*clues.together, *clues.apart):
        total += int((group.sizes * (group.sizes - 1) // 2).sum())
    if total > limit:
        raise ClueError(
            f"written out as pairs, these labels and groups make {total} links, more than limit={limit}; "
            "use a method that takes them as they are."
        )
    for t, group in enumerate(clues.together):
        must = must.join(_links(*_pairs(group.codes), group.weights, f"together {t}"), clues.n)
    for t, group in enumerate(clues.apart):
        cannot = cannot.join(_links(*_pairs(group.codes), group.weights, f"apart {t}"), clues.n)
    if labelled:
        everybody = np.where(clues.labels >= 0, 0, -1)
        rows, _ = _pairs(everybody)
        same = clues.labels[rows[:, 0]] == clues.labels[rows[:, 1]]
        one = np.ones(1)
        must = must.join(_links(rows[same], np.zeros(same.sum(), np.int64), one, "labels"), clues.n)
        cannot = cannot.join(_links(rows[~same], np.zeros((~same).sum(), np.int64), one, "labels"), clues.n)
    return must, cannot


def _links(rows: Ints, group: Ints, weights: Floats, source: str) -> Links:
    # A source of its own, which no user has: what a group says comes on top of what links say.
    return Links(rows, weights[group], None, f"\0{source}")


def _pairs(codes: Ints) -> tuple[Ints, Ints]:
    """All pairs of rows with one code, sorted by (first, second), and their code."""
    rows = np.flatnonzero(codes >= 0)
    order = np.argsort(codes[rows], kind="stable")
    rows = rows[order]
    code = codes[rows]
    end = np.searchsorted(code, code, side="right")
    partners = end - np.arange(len(rows)) - 1
    first = np.repeat(np.arange(len(rows)), partners)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
    pairs = np.column_stack([rows[first], rows[second]]).astype(np.int64)
    position = np.lexsort((pairs[:, 1], pairs[:, 0]))
    return pairs[position], code[first][position]
