"""Views: what clues look like to an algorithm. Each method takes the one that it needs.

============================== ============================= ===========================================================
view                           made by                       for methods that
============================== ============================= ===========================================================
`cluewise.clues.Pairs`         ``clues.pairs(expand=True)``  sum over pairs; labels and groups are written out
a signed sparse matrix         ``Pairs.to_matrix``           multiply by links; labels and groups are written out
`PairGraph`                    `build_pair_graph`            visit pairs, or both ends of a link at once; written out
`Memberships`                  `list_memberships`            take groups as they are, without a pair being written out
`Forces`                       `build_forces`                visit rows one by one; nothing is written out
`Nodes`                        `contract`                    never break a must-link: components as weighted points
rows by component              `list_components`,            look at the rows of some must-link components
                               `list_rows`, `number_rows`
what is apart, by component    ``clues.graph, .cliques``     never break a cannot-link either (see `exact`)
============================== ============================= ===========================================================

What is written out grows with the square of a group; everything else takes O(n + links) memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import group_means
from cluewise.core.rows import Rows
from cluewise.kernels import graphs

__all__ = [
    "Forces",
    "Memberships",
    "Nodes",
    "PairGraph",
    "broken_weight",
    "build_forces",
    "build_pair_graph",
    "contract",
    "count_members",
    "list_components",
    "list_memberships",
    "list_rows",
    "number_rows",
]

# --- pairs --------------------------------------------------------------------------------------------------------


class PairGraph(NamedTuple):
    """Distinct pairs of tied rows with a weight as must-link and one as cannot-link; one of them is mostly 0."""

    rows: Ints  # (t,) the tied rows
    ends: Ints  # (m, 2) int32 places among the tied rows, the first to be visited first; sorted
    must: Floats  # (m,)
    cannot: Floats  # (m,)
    indptr: Ints  # (t + 1,) links of each tied row
    incident: Ints  # (2m,) their numbers
    piece: Ints  # (t,) connected piece of the links that each tied row is in

    def __len__(self) -> int:
        """Number of links."""
        return len(self.ends)


def build_pair_graph(clues: Clues, rank: Ints | None = None) -> PairGraph:
    """All links of the clues, sorted by the rank of their ends (None: by row number).

    A pair that is linked both ways is one link with two weights.

    Examples
    --------
    >>> from cluewise import Clues
    >>> graph = build_pair_graph(Clues(9, must=[(2, 5), (5, 8)], cannot=[(2, 5)], cannot_weight=3.0))
    >>> graph.rows.tolist(), graph.ends.tolist(), graph.must.tolist(), graph.cannot.tolist()
    ([2, 5, 8], [[0, 1], [1, 2]], [1.0, 1.0], [3.0, 0.0])
    >>> graph.incident[graph.indptr[1] : graph.indptr[2]].tolist()  # the links of row 5
    [0, 1]
    """
    pairs = clues.pairs(expand=True)
    both, n_must = pairs.ends, len(pairs.must)
    if rank is not None:
        swap = rank[both[:, 0]] > rank[both[:, 1]]
        both[swap] = both[swap, ::-1]
    tied = np.zeros(clues.n, dtype=bool)
    tied[both.ravel()] = True
    rows = np.flatnonzero(tied)
    if rank is not None:
        rows = rows[np.argsort(rank[rows])]
    place = np.empty(clues.n, dtype=np.int32)  # of the tied rows; the others are never looked up
    place[rows] = np.arange(len(rows))
    ends = place[both]
    order = graphs.sort_pairs(ends[:, 0], ends[:, 1], len(rows))
    ends = ends[order]
    weight = np.zeros((2, len(ends)))
    is_must = order < n_must
    weight[0, is_must] = pairs.must_weight[order[is_must]]
    weight[1, ~is_must] = pairs.cannot_weight[order[~is_must] - n_must]
    new = np.append(True, (np.diff(ends, axis=0) != 0).any(axis=1))[: len(ends)]
    if not new.all():
        weight = np.add.reduceat(weight, np.flatnonzero(new), axis=1)
        ends = ends[new]
    number = np.arange(len(ends), dtype=np.int32)
    indptr, _, incident = graphs.adjacency(len(rows), ends[:, 0], ends[:, 1], number)
    parent = np.arange(len(rows), dtype=np.int32)
    graphs.join_pairs(parent, ends[:, 0], ends[:, 1])
    piece, _ = graphs.number_roots(parent)
    return PairGraph(rows, ends, weight[0], weight[1], indptr, incident, piece)


# --- forces and groups --------------------------------------------------------------------------------------------


class Memberships(NamedTuple):
    """Who is in which group; a group attracts its members (pull < 0) or repels them (pull > 0)."""

    row: Ints  # (s,)
    group: Ints  # (s,)
    pull: Floats  # (groups,) between every two members


def list_memberships(clues: Clues) -> Memberships:
    """Labels and groups of two or more rows as they are; groups of one row have a number, but no membership.

    A label class attracts its members by −2 and repels all labelled rows by +1, which together is −1 inside and +1
    across classes, without any pair being written out.

    Examples
    --------
    >>> from cluewise import Clues
    >>> found = list_memberships(Clues(5, together=[0, 0, 0, -1, -1], apart=[-1, -1, -1, 0, 0], apart_weight=2.0))
    >>> found.row.tolist(), found.group.tolist(), found.pull.tolist()
    ([0, 1, 2, 3, 4], [0, 0, 0, 1, 1], [-1.0, 2.0])
    """
    columns = [(g.codes, -g.weights) for g in clues.together] + [(g.codes, g.weights) for g in clues.apart]
    if len(clues.classes_):
        everybody = np.where(clues.labels >= 0, 0, -1)
        columns += [(clues.labels, np.full(len(clues.classes_), -2.0)), (everybody, np.ones(1))]
    rows, groups, start = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    pulls: list[Floats] = [np.empty(0)]
    for codes, pull in columns:
        row = np.flatnonzero(codes >= 0)
        size = np.bincount(codes[row], minlength=len(pull))
        row = row[size[codes[row]] > 1]
        rows.append(row)
        groups.append(start + codes[row].astype(np.int64))
        pulls.append(pull)
        start += len(pull)
    return Memberships(np.concatenate(rows), np.concatenate(groups), np.concatenate(pulls))


class Forces(NamedTuple):
    """Links and groups of each tied row. A negative pull attracts, a positive one repels.

    Moving row i into cluster h costs Σ pull over the rows of h that it is linked or grouped with, up to a constant.
    """

    free: Bools  # (n,) mask of the rows without links and groups
    rows: Ints  # (t,) the other rows
    indptr: Ints  # (t + 1,) links of each tied row
    neighbors: Ints
    pull: Floats
    group_indptr: Ints  # (t + 1,) groups of each tied row
    groups: Ints
    group_pull: Floats  # (g,)
    group_slot: Ints  # (g,) row in the table of counts; −1 = members are read one by one
    member_indptr: Ints  # (g + 1,)
    members: Ints

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]:
        """Links and groups, in the order of the kernel."""
        return self[2:]


def build_forces(clues: Clues, k: int) -> Forces:
    """Links and groups of the clues. Groups with more than k members get a row of counts, so memory is O(n).

    Examples
    --------
    >>> from cluewise import Clues
    >>> forces = build_forces(Clues(9, must=[(2, 5)], cannot=[(5, 8)], cannot_weight=3.0), 2)
    >>> forces.rows.tolist(), forces.indptr.tolist()
    ([2, 5, 8], [0, 1, 3, 4])
    >>> forces.neighbors.tolist(), forces.pull.tolist()
    ([5, 2, 8, 5], [-1.0, -1.0, 3.0, 3.0])
    """
    pairs = np.concatenate([clues.must, clues.cannot])
    pull = np.concatenate([-clues.must_weight, clues.cannot_weight])
    row, group, group_pull = list_memberships(clues)
    free = np.ones(clues.n, dtype=bool)
    free[pairs.ravel()] = False
    free[row] = False
    tied = np.flatnonzero(~free)
    place = np.empty(clues.n, dtype=np.int32)  # of the tied rows; the others are never looked up
    place[tied] = np.arange(len(tied), dtype=np.int32)
    indptr, neighbors, pull = graphs.adjacency(len(tied), place[pairs[:, 0]], place[pairs[:, 1]], pull)
    size = np.bincount(group, minlength=len(group_pull))
    order = np.argsort(group, kind="stable")
    member_indptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    members = row[order].astype(np.int32)
    by_row = np.argsort(row, kind="stable")
    group_indptr = np.concatenate([[0], np.cumsum(np.bincount(place[row], minlength=len(tied)))]).astype(np.int64)
    slot = np.full(len(size), -1, dtype=np.int64)
    slot[size > k] = np.arange(np.count_nonzero(size > k))
    return Forces(
        free,
        tied,
        indptr,
        tied.astype(np.int32)[neighbors],
        pull,
        group_indptr,
        group[by_row].astype(np.int32),
        group_pull,
        slot,
        member_indptr,
        members,
    )


def count_members(forces: Forces, labels: Ints, k: int) -> Ints:
    """Table of members per cluster for the groups that have a slot."""
    counts = np.zeros((int(forces.group_slot.max(initial=-1)) + 1, k), dtype=np.int64)
    for g in np.flatnonzero(forces.group_slot >= 0):
        members = forces.members[forces.member_indptr[g] : forces.member_indptr[g + 1]]
        counts[forces.group_slot[g]] = np.bincount(labels[members], minlength=k)
    return counts


def broken_weight(clues: Clues, labels: Ints) -> float:
    """Summed weight of the broken links, those of labels and groups counted pair by pair but not written out.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> broken_weight(Clues(4, cannot=[(0, 1)], together=[0, 0, 0, 0]), np.array([0, 0, 0, 1]))
    4.0
    """
    total = float(clues.must_weight[labels[clues.must[:, 0]] != labels[clues.must[:, 1]]].sum())
    total += float(clues.cannot_weight[labels[clues.cannot[:, 0]] == labels[clues.cannot[:, 1]]].sum())
    for group in clues.together:
        inside = _pairs_inside(group.codes, labels, len(group.weights))
        total += _price(group.weights, _pairs(group.sizes) - inside)
    for group in clues.apart:
        total += _price(group.weights, _pairs_inside(group.codes, labels, len(group.weights)))
    if len(clues.classes_):
        known = clues.labels >= 0
        same = _pairs_inside(clues.labels, labels, len(clues.classes_)).sum()
        in_class = _pairs(np.bincount(clues.labels[known])).sum()
        in_cluster = _pairs(np.bincount(labels[known])).sum()
        total += float(in_class - same) + float(in_cluster - same)
    return total


def _price(weight: Floats, pairs: Ints) -> float:
    some = pairs > 0  # no broken pair costs nothing, even where one would cost ∞
    return float(weight[some] @ pairs[some])


def _pairs(size: Ints) -> Ints:
    return size * (size - 1) // 2


def _pairs_inside(codes: Ints, labels: Ints, n_groups: int) -> Ints:
    """For each group, the number of its pairs that share a cluster."""
    known = codes >= 0
    k = int(labels.max(initial=0)) + 1
    cell, size = np.unique(codes[known].astype(np.int64) * k + labels[known], return_counts=True)
    return np.bincount(cell // k, weights=_pairs(size), minlength=n_groups)


# --- components ---------------------------------------------------------------------------------------------------


def list_components(clues: Clues) -> tuple[Ints, Ints]:
    """Must-link components of two or more rows, and their sizes.

    Examples
    --------
    >>> from cluewise import Clues
    >>> [found.tolist() for found in list_components(Clues(6, must=[(1, 2), (2, 5), (3, 4)]))]
    [[1, 2], [3, 2]]
    """
    found, sizes = np.unique(clues.components[clues.tied], return_counts=True)  # all their rows are tied
    return found[sizes > 1], sizes[sizes > 1]


def number_rows(clues: Clues, component: Ints) -> Ints:
    """(n,) place of each row's must-link component among some components, −1 for rows of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> number_rows(Clues(5, must=[(1, 2), (3, 4)]), np.array([1, 2])).tolist()
    [-1, 0, 0, 1, 1]
    """
    number = np.full(clues.n_components, -1, dtype=np.int32)
    number[component] = np.arange(len(component), dtype=np.int32)
    return number[clues.components]


def list_rows(clues: Clues, wanted: Bools) -> tuple[Ints, Ints]:
    """Rows of the wanted must-link components, component by component, and where each of these begins.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> clues = Clues(5, must=[(0, 4), (1, 2)])
    >>> [found.tolist() for found in list_rows(clues, np.bincount(clues.components) > 1)]
    [[0, 4, 1, 2], [0, 2]]
    """
    rows = np.flatnonzero(wanted[clues.components])
    rows = rows[np.argsort(clues.components[rows], kind="stable")]
    sizes = np.bincount(clues.components[rows], minlength=clues.n_components)[wanted]
    return rows, np.cumsum(sizes) - sizes


class Nodes(NamedTuple):
    """Must-link components of several rows, or with other links, as weighted points (S4 of the specification)."""

    rows: Rows  # their means, weighted by their mass
    n: int  # number of rows, free ones included
    free: Bools  # (n,) mask of the rows that belong to no node
    tied: Ints  # (t,) the other rows
    of_tied: Ints  # (t,) node of each of them
    component: Ints  # (m,) must-link component that each node is
    bound: Ints  # nodes that have links to others
    loose: Ints  # the other nodes

    @property
    def of_row(self) -> Ints:
        """Node of every row, −1 for free rows; built on each access, because most rows are free."""
        node = np.full(self.n, -1, dtype=np.int32)
        node[self.tied] = self.of_tied
        return node


def contract(rows: Rows, hard: Clues, soft: Clues | None = None) -> Nodes:
    """Join the rows of every must-link component; rows without clues stay outside.

    Nodes are bound by cannot-links among the hard clues, and by all soft clues.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> from cluewise.core.rows import Rows
    >>> nodes = contract(Rows(np.array([[-4.0], [-2.0], [1.0], [5.0]])), Clues(4, must=[(0, 1)], cannot=[(1, 3)]))
    >>> nodes.rows.X.tolist(), nodes.rows.weight.tolist()
    ([[-3.0], [5.0]], [2.0, 1.0])
    >>> nodes.of_row.tolist(), nodes.bound.tolist()
    ([0, 0, -1, 1], [0, 1])
    """
    linked = hard.graph.indptr[1:] > hard.graph.indptr[:-1]
    linked[hard.cliques.members] = True
    if soft is not None:
        linked[hard.components[soft.tied]] = True
    component = np.union1d(list_components(hard)[0], np.flatnonzero(linked))
    of_row = number_rows(hard, component)
    means, mass = group_means(rows, of_row, len(component))
    tied = np.flatnonzero(of_row >= 0)
    return Nodes(
        Rows(means.astype(rows.dtype), mass.astype(rows.dtype), np.zeros(rows.d, dtype=rows.dtype)),
        rows.n,
        of_row < 0,
        tied,
        of_row[tied],
        component,
        np.flatnonzero(linked[component]),
        np.flatnonzero(~linked[component]),
    )
