"""Edges of a graph that lie on a cycle, so that their ends stay joined without them."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Ints

__all__ = ["inside_cycles"]


def inside_cycles(edges: Ints, nodes: int) -> Bools:
    """Which of these distinct edges lie on a cycle; the others are bridges.

    Every edge outside a spanning forest gets a random word, and every edge of the forest the exclusive or of the words
    whose cycles pass through it: 0 for a bridge, and by chance with probability 2⁻⁶².
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    on_cycle = np.zeros(len(edges), dtype=bool)
    degree = np.bincount(edges.ravel(), minlength=nodes)
    inner = np.flatnonzero((degree[edges] > 1).all(axis=1))  # most labelled rows have one clue: a leaf is no cycle
    if not len(inner):
        return on_cycle
    names, ends = np.unique(edges[inner], return_inverse=True)
    ends = ends.reshape(-1, 2)
    size = len(names)
    shape = (size, size)
    pieces, of = connected_components(coo_array((np.ones(len(ends)), ends.T), shape=shape).tocsr(), directed=False)
    # One root above a node of each piece makes the forest a tree.
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
