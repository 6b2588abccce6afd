"""What links entail: components of must-links, and which components must not share a cluster.

Nothing is expanded: a must-link component of s rows stands for s(s−1)/2 pairs and is stored in O(s); an apart
group stays one clique of components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Array, Floats, Ints
from cluewise.clues._groups import Groups
from cluewise.clues.links import Links
from cluewise.kernels import graphs

__all__ = ["Cliques", "Graph", "components", "lift_cliques", "lift_links"]


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


def components(n: int, must: Links, groups: list[Groups], labels: Ints) -> tuple[Ints, int]:
    """Component of each row (numbered by smallest member) and how many there are, by union-find."""
    parent = np.arange(n, dtype=np.int64)
    graphs.join_pairs(parent, must.pairs[:, 0], must.pairs[:, 1])
    for group in groups:
        graphs.join_groups(parent, group.codes, len(group.weights))
    if labels.max(initial=-1) >= 0:
        graphs.join_groups(parent, labels, int(labels.max()) + 1)
    component, count = graphs.number_roots(parent)
    return _frozen(component), int(count)


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
    return Graph(*map(_frozen, graphs.adjacency(count, low, high, weight)))


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
    return Cliques(_frozen(indptr), _frozen(np.concatenate(members)), _frozen(np.concatenate(weights)))


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array
