"""Linkage: the tree that unions of clusters make, in SciPy's form, and its levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.exceptions import Infeasible

__all__ = ["ABOVE", "Merges", "Tree", "Watch", "existing", "level", "tree_of"]

ABOVE = 1.25
"""Forbidden unions are drawn at this multiple of the highest union that is not."""


class Merges(NamedTuple):
    """Unions of nodes (must-link components), each named by two of its members."""

    left: Ints  # (u,)
    right: Ints  # (u,)
    height: Floats  # (u,)


Watch: TypeAlias = Callable[[Merges], bool]
"""Called with the unions made so far from time to time; true to stop."""


class Tree(NamedTuple):
    """A whole tree over n rows: what must-links join, then unions, then those that are forbidden."""

    Z: Floats  # (n − 1, 4) as `scipy.cluster.hierarchy.linkage` gives it
    k_max: int  # clusters before the first union
    k_min: int  # clusters after the last one that is not forbidden

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.Z) + 1

    @property
    def forbidden(self) -> Bools:
        """Mask of the rows of ``Z`` that are not unions: they only complete the tree."""
        return np.arange(self.n - 1) > self.n - 1 - self.k_min

    @property
    def heights(self) -> Floats:
        """Heights of the unions that are neither must-links nor forbidden, in the order of the tree."""
        return self.Z[self.n - self.k_max : self.n - self.k_min, 2]

    def clusters_below(self, height: float) -> int:
        """Number of clusters when unions stop before the first one at this height or above."""
        above = self.heights >= height
        return self.k_max - (int(above.argmax()) if above.any() else len(above))


def tree_of(component: Ints, merges: Merges, *, most: float = np.inf, ordered: bool = False) -> Tree:
    """The tree of n rows from the unions of their components, those higher than ``most`` left out.

    ``ordered``: the unions come in their order already, in which heights may fall.
    """
    n, m = len(component), int(component.max()) + 1
    # A union comes after those that made its parts, also where heights are equal: hence a stable sort.
    order = np.arange(len(merges.height)) if ordered else np.argsort(merges.height, kind="stable")
    order = order[merges.height[order] <= most]
    # Each union is an edge between two rows. Whatever prefix of the edges is taken, it joins nothing that all of them
    # do not join: so every level keeps the clues, even if rounding has exchanged two heights.
    by_component = np.argsort(component, kind="stable")
    inside = np.flatnonzero(np.diff(component[by_component]) == 0)
    first = by_component[np.searchsorted(component[by_component], np.arange(m))]
    one = np.concatenate([by_component[inside], first[merges.left[order]]])
    other = np.concatenate([by_component[inside + 1], first[merges.right[order]]])
    height = np.concatenate([np.zeros(len(inside)), merges.height[order]])
    forest = _Forest(n)
    for a, b, h in zip(one.tolist(), other.tolist(), height.tolist()):
        forest.join(a, b, h)
    k_min = n - len(one)
    roots = sorted({forest.root(i) for i in first.tolist()}, key=lambda i: (-forest.size[i], forest.height[i], i))
    top = ABOVE * height.max(initial=0.0) or 1.0
    for other_root in roots[1:]:
        forest.join(roots[0], other_root, top)
    return Tree(np.array(forest.rows, dtype=np.float64).reshape(n - 1, 4), m, k_min)


class _Forest:
    """Union-find over rows that writes down the rows of a linkage matrix."""

    def __init__(self, n: int) -> None:
        self.parent = list(range(n))
        self.size = [1] * n
        self.node = list(range(n))
        self.height = [0.0] * n
        self.rows: list[tuple[float, float, float, float]] = []

    def root(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = i = self.parent[self.parent[i]]
        return i

    def join(self, i: int, j: int, height: float) -> None:
        a, b = sorted((self.root(i), self.root(j)))
        low, high = sorted((self.node[a], self.node[b]))
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.height[a] = height
        self.node[a] = len(self.parent) + len(self.rows)
        self.rows.append((low, high, height, self.size[a]))


def existing(tree: Tree, k: int, most: float | None = None) -> int:
    """k, if the tree has a level of so many clusters; ``most`` is the ``max_distance`` that it was built with."""
    if k > tree.k_max:
        raise Infeasible(f"n_clusters={k}, but must-links leave only {tree.k_max} clusters (k_max).")
    if k < tree.k_min and most is not None:
        raise Infeasible(
            f"n_clusters={k}, but the tree ends at {tree.k_min} clusters (k_min): no two of them may be joined and are "
            f"at most max_distance={most} apart. Raise max_distance, or take n_clusters=None for this level."
        )
    if k < tree.k_min:
        raise Infeasible(
            f"n_clusters={k}, but the tree ends at {tree.k_min} clusters (k_min), no two of which may be joined. This "
            "is a dead end of joining the closest ones and does not prove that fewer are impossible; take "
            "n_clusters=None for this level, another linkage, or a method that searches, such as COPKMeans."
        )
    return k


def level(tree: Tree, k: int) -> Ints:
    """Labels at the level of k clusters: the largest is 0; of equal ones the one that was joined at a lower height."""
    n, done = tree.n, tree.n - k
    pairs = tree.Z[:, :2].astype(np.int64)
    above = np.full(2 * n - 1, np.inf)  # height at which a cluster of this level is joined later
    above[pairs[done:]] = tree.Z[done:, 2, None]
    nodes = np.arange(n + done)
    roots = np.setdiff1d(nodes, pairs[:done])
    size = np.concatenate([np.ones(n), tree.Z[:done, 3]])[roots]
    height = np.concatenate([np.zeros(n), tree.Z[:done, 2]])[roots]
    label = np.empty(n + done, dtype=np.int32)
    label[roots[np.lexsort((roots, above[roots], height, -size))]] = np.arange(k, dtype=np.int32)
    for row in range(done - 1, -1, -1):
        label[pairs[row]] = label[n + row]
    return label[:n].copy()
