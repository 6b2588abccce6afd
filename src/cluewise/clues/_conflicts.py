"""Contradictions: two rows that must be together and apart, with the chain that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise._lazy import lazy
from cluewise.clues.links import GIVEN

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["Conflict", "find_conflicts"]


@dataclass(frozen=True, eq=False)
class Conflict:
    """Rows ``first`` and ``second`` must be apart (``kind`` says why) although must-links join them.

    Examples
    --------
    >>> from cluewise import Clues
    >>> conflict = Clues(3, must=[(0, 1), (1, 2)], cannot=[(0, 2)]).contradictions[0]
    >>> print(conflict)
    rows 0 and 2 must be apart (cannot-link), but must-links join them: 0 - 1 - 2
    >>> conflict.chain
    ((0, 1, 'must-link'), (1, 2, 'must-link'))
    """

    first: int
    second: int
    kind: str  # "cannot", "apart" or "labels"
    source: str
    clues: Clues

    @lazy
    def chain(self) -> tuple[tuple[int, int, str], ...]:
        """Steps (row, row, why) of a shortest way from ``first`` to ``second`` along must-links."""
        return _chain(self.clues, self.first, self.second)

    def __str__(self) -> str:
        why = {"cannot": "cannot-link", "apart": "apart group", "labels": "different labels"}[self.kind]
        if self.source != GIVEN:
            why += f", {self.source}"
        rows = [self.first, *(step[1] for step in self.chain)]
        shown = [str(r) for r in rows] if len(rows) <= 8 else [*map(str, rows[:5]), "…", *map(str, rows[-2:])]
        kinds = sorted({step[2].split(" (")[0].split(" '")[0] for step in self.chain})
        words = " and ".join(f"{kind}s" if kind == "must-link" else f"the {kind}" for kind in kinds)
        verb = "join" if "must-link" in kinds or len(kinds) > 1 else "joins"
        return (
            f"rows {self.first} and {self.second} must be apart ({why}), but {words} {verb} them: {' - '.join(shown)}"
        )


def find_conflicts(clues: Clues) -> tuple[Conflict, ...]:
    """Every cannot-link, apart group and pair of classes that a component makes impossible."""
    component = clues.components
    ends = component[clues.cannot]
    sources = clues.cannot_source
    found = [
        Conflict(int(clues.cannot[p, 0]), int(clues.cannot[p, 1]), "cannot", sources[p], clues)
        for p in np.flatnonzero(ends[:, 0] == ends[:, 1])
    ]
    for group in clues.apart:
        for a, b in _repeats(group.codes, component):
            found.append(Conflict(a, b, "apart", group.source, clues))
    labelled = np.flatnonzero(clues.labels >= 0)
    if len(labelled):
        # One row for each (component, class); a component with two classes is contradictory.
        codes = component[labelled].astype(np.int64) * len(clues.classes_) + clues.labels[labelled]
        rows = labelled[np.unique(codes, return_index=True)[1]]
        same = np.flatnonzero(component[rows[1:]] == component[rows[:-1]])
        found += [Conflict(int(rows[s]), int(rows[s + 1]), "labels", GIVEN, clues) for s in same]
    return tuple(found)


def _repeats(codes: Any, component: Any) -> list[tuple[int, int]]:
    """First two rows of every (group, component) that occurs twice."""
    rows = np.flatnonzero(codes >= 0)
    key = codes[rows].astype(np.int64) * (int(component.max(initial=0)) + 1) + component[rows]
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    second = np.flatnonzero(key[1:] == key[:-1])
    first_time = np.ones(len(second), dtype=bool)
    first_time[1:] = key[second[1:]] != key[second[:-1]]
    return [(int(rows[s]), int(rows[s + 1])) for s in second[first_time]]


def _chain(clues: Clues, start: int, end: int) -> tuple[tuple[int, int, str], ...]:
    """Breadth-first search over rows and groups, both of them nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = clues.n
    heads, tails = [clues.must[:, 0]], [clues.must[:, 1]]
    names: list[str] = []
    columns = [("together group '{}'", g.codes, g.names) for g in clues.together]
    columns.append(("label '{}'", clues.labels, clues.classes_))
    for form, codes, values in columns:
        rows = np.flatnonzero(codes >= 0)
        heads.append(rows)
        tails.append(n + len(names) + codes[rows])
        names += [form.format(value) for value in values]
    head, tail = np.concatenate(heads), np.concatenate(tails)
    size = n + len(names)
    graph = coo_array((np.ones(len(head)), (head, tail)), shape=(size, size)).tocsr()
    _, before = breadth_first_order(graph, start, directed=False)
    way = [end]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    way.reverse()
    on_way = np.isin(clues.must, way).all(axis=1)
    source = {(int(a), int(b)): s for (a, b), s in zip(clues.must[on_way], clues.must_source[on_way]) if s != GIVEN}
    steps = []
    for i, node in enumerate(way[:-1]):
        after = way[i + 1]
        if node >= n:
            continue
        if after < n:
            given = source.get((min(node, after), max(node, after)))
            steps.append((node, after, "must-link" + (f" ({given})" if given else "")))
        else:
            steps.append((node, way[i + 2], names[after - n]))
    return tuple(steps)
