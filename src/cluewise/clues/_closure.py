"""What links entail: components of must-links, which components must not share a cluster, and contradictions.

Nothing is expanded: a must-link component of s rows stands for s(s−1)/2 pairs and is stored in O(s); an apart
group stays one clique of components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cluewise._lazy import lazy
from cluewise._notebook import Report
from cluewise._typing import Array, Floats, Ints
from cluewise.clues._groups import Groups
from cluewise.clues.links import GIVEN, Links
from cluewise.kernels import graphs

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["Cliques", "Conflict", "Graph", "find_conflicts", "join_rows", "lift_cliques", "lift_links"]


class Graph(NamedTuple):
    """Cannot-links between components: symmetric CSR, rows sorted, parallel links added up.

    Examples
    --------
    >>> from cluewise import Clues
    >>> graph = Clues(4, must=[(0, 1)], cannot=[(0, 2), (1, 2)]).graph
    >>> graph.indptr.tolist(), graph.indices.tolist(), graph.weights.tolist()
    ([0, 1, 2, 2], [1, 0], [2.0, 2.0])
    """

    indptr: Ints  # (components + 1,) int64
    indices: Ints  # (2 * edges,) int32
    weights: Floats  # (2 * edges,) float64


class Cliques(NamedTuple):
    """Groups of components of which no two may share a cluster.

    Examples
    --------
    >>> from cluewise import Clues
    >>> cliques = Clues(4, apart=["a", "a", "a", None]).cliques
    >>> cliques.indptr.tolist(), cliques.members.tolist()
    ([0, 3], [0, 1, 2])
    """

    indptr: Ints  # (cliques + 1,) int64
    members: Ints  # int32, sorted within a clique
    weights: Floats  # (cliques,) float64


def join_rows(n: int, must: Links, groups: tuple[Groups, ...], labels: Ints) -> Ints:
    """Component of each row, numbered by smallest member, by union-find."""
    parent = np.arange(n, dtype=np.int64)
    graphs.join_pairs(parent, must.pairs[:, 0], must.pairs[:, 1])
    for group in groups:
        graphs.join_groups(parent, group.codes, len(group.weights))
    if labels.max(initial=-1) >= 0:
        graphs.join_groups(parent, labels, int(labels.max()) + 1)
    component, _ = graphs.number_roots(parent)
    component.flags.writeable = False
    return component


def lift_links(cannot: Links, component: Ints, count: int) -> Graph:
    """Cannot-links between components; a link inside a component is a contradiction and left out here."""
    ends = component[cannot.pairs]
    low, high = np.minimum(ends[:, 0], ends[:, 1]), np.maximum(ends[:, 0], ends[:, 1])
    apart = low < high
    weight = cannot.weight
    if not apart.all():
        low, high, weight = low[apart], high[apart], weight[apart]
    order = graphs.sort_pairs(low, high, count)
    low, high, weight = low[order], high[order], weight[order]
    new = np.ones(len(low), dtype=bool)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    if not new.all():
        weight = np.add.reduceat(weight, np.flatnonzero(new))
        low, high = low[new], high[new]
    lifted = Graph(*graphs.adjacency(count, low, high, weight))
    for array in lifted:
        array.flags.writeable = False
    return lifted


def lift_cliques(apart: tuple[Groups, ...], labels: Ints, component: Ints) -> Cliques:
    """Apart groups, and the label classes as one more, as sets of two or more components."""
    sizes: list[Array] = [np.empty(0, np.int64)]
    members: list[Array] = [np.empty(0, np.int32)]
    weights: list[Array] = [np.empty(0)]
    for group in apart:
        rows = np.flatnonzero(group.codes >= 0)
        code, member = group.codes[rows], component[rows]
        order = graphs.sort_pairs(code, member, max(len(component), len(group.weights)))
        code, member = code[order], member[order]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (code[1:] != code[:-1]) | (member[1:] != member[:-1])
        code, member = code[new], member[new]
        size = np.bincount(code, minlength=len(group.weights))
        kept = size > 1
        sizes.append(size[kept])
        members.append(member[kept[code]])
        weights.append(group.weights[kept])
    classes = np.unique(component[labels >= 0])
    if len(classes) > 1:
        sizes.append(np.array([len(classes)]))
        members.append(classes.astype(np.int32))
        weights.append(np.ones(1))
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes), dtype=np.int64)])
    lifted = Cliques(indptr, np.concatenate(members), np.concatenate(weights))
    for array in lifted:
        array.flags.writeable = False
    return lifted


@dataclass(frozen=True, eq=False)
class Conflict(Report):
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
    inside = np.flatnonzero(ends[:, 0] == ends[:, 1])
    sources = clues.cannot_source if len(inside) else ()
    found = [Conflict(int(clues.cannot[p, 0]), int(clues.cannot[p, 1]), "cannot", sources[p], clues) for p in inside]
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


def _repeats(codes: Ints, component: Ints) -> list[tuple[int, int]]:
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
