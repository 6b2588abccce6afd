"""How many clues follow from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cluewise._typing import Array, Bools, Ints

if TYPE_CHECKING:
    from cluewise.clues import Clues

__all__ = ["find_cycle_edges", "redundancy"]


def redundancy(clues: Clues) -> float:
    """Share of the clues that follow from the others.

    Parameters
    ----------
    clues : Clues
        Must-links, cannot-links, labels and members of ``together`` groups are counted. ``apart`` groups may entail
        others, but are not counted.

    Returns
    -------
    float
        Between 0 and 1; nan if there is nothing to count.

    Notes
    -----
    Clues are left out one at a time: in a triangle of must-links each follows from the other two. A must-link, label or
    member is entailed if it lies on a cycle of rows, groups and classes; a cannot-link if another one, two labels or an
    ``apart`` group separate the same components.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.metrics import redundancy
    >>> clues = Clues(8, must=[(0, 1), (1, 2), (0, 2), (4, 5)], cannot=[(2, 4), (0, 5), (3, 7)])
    >>> round(redundancy(clues), 6)
    0.714286
    """
    joining, nodes = _joining_edges(clues)
    total = len(joining) + len(clues.cannot)
    if not total:
        return float("nan")
    entailed = np.count_nonzero(find_cycle_edges(joining, nodes)) + np.count_nonzero(_separated_otherwise(clues))
    return float(entailed / total)


def _joining_edges(clues: Clues) -> tuple[Ints, int]:
    """Edges between rows, and between rows and nodes for their groups and classes; the number of nodes."""
    nodes, edges = clues.n, [clues.must]
    for codes in (clues.labels, *(group.codes for group in clues.together)):
        rows = np.flatnonzero(codes >= 0)
        edges.append(np.column_stack([rows, nodes + codes[rows]]))
        nodes += int(codes.max(initial=-1)) + 1
    return np.concatenate(edges), nodes


def _separated_otherwise(clues: Clues) -> Bools:
    """Mark the cannot-links whose components another clue keeps apart."""
    from scipy.sparse import csr_array

    ends = np.sort(clues.components[clues.cannot].astype(np.int64), axis=1)
    key = ends[:, 0] * clues.n_components + ends[:, 1]
    _, place, times = np.unique(key, return_inverse=True, return_counts=True)
    twice: Bools = times[place] > 1
    cliques = clues.cliques
    if len(cliques.members):
        owner = np.repeat(np.arange(len(cliques.indptr) - 1), np.diff(cliques.indptr))
        shape = (clues.n_components, len(cliques.indptr) - 1)
        member = csr_array((np.ones(len(owner)), (cliques.members, owner)), shape=shape)
        shared: Array = member[ends[:, 0]].multiply(member[ends[:, 1]]).sum(axis=1)
        twice = twice | ((shared > 0) & (ends[:, 0] != ends[:, 1]))
    return twice


def find_cycle_edges(edges: Ints, nodes: int) -> Bools:
    """Find the edges that lie on a cycle; the others are bridges. The edges are distinct.

    Every edge outside a spanning forest gets a random word, and every edge of the forest the exclusive or of the words
    whose cycles pass through it. That is 0 for a bridge, and otherwise with probability 2⁻⁶².
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    on_cycle = np.zeros(len(edges), dtype=bool)
    degree = np.bincount(edges.ravel(), minlength=nodes)
    inner = np.flatnonzero((degree[edges] > 1).all(axis=1))  # a leaf is on no cycle, and most labeled rows are leaves
    if not len(inner):
        return on_cycle
    names, ends = np.unique(edges[inner], return_inverse=True)
    ends = ends.reshape(-1, 2)
    size = len(names)
    shape = (size, size)
    pieces, of = connected_components(coo_array((np.ones(len(ends)), ends.T), shape=shape).tocsr(), directed=False)
    # A root joined to one node of each piece makes the forest a tree.
    first = np.unique(of, return_index=True)[1]
    head = np.concatenate([ends[:, 0], np.full(pieces, size)])
    tail = np.concatenate([ends[:, 1], first])
    graph = coo_array((np.ones(len(head)), (head, tail)), shape=(size + 1, size + 1)).tocsr()
    order, before = breadth_first_order(graph, size, directed=False)
    in_tree = (before[ends[:, 0]] == ends[:, 1]) | (before[ends[:, 1]] == ends[:, 0])
    word = np.random.default_rng(0).integers(1, 2**62, size=np.count_nonzero(~in_tree))
    gathered = np.zeros(size + 1, dtype=np.int64)
    for side in (0, 1):
        np.bitwise_xor.at(gathered, ends[~in_tree, side], word)
    found, parent = gathered.tolist(), before.tolist()
    for node in order[:0:-1].tolist():  # children come before their parents
        found[parent[node]] ^= found[node]
    words = np.array(found, dtype=np.int64)
    child = np.where(before[ends[:, 0]] == ends[:, 1], ends[:, 0], ends[:, 1])
    on_cycle[inner] = ~in_tree | (words[child] != 0)
    return on_cycle
