"""Condensed trees: clusters of every density at once, and the best choice of clusters from such a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.clues import Pairs
from cluewise.kernels import density

__all__ = ["Tree", "best_clusters", "condensed", "core_distances", "kept_links", "rows_below", "spanning_tree"]

SLICE = 10**7
"""Numbers looked at (some ten milliseconds) between two looks at Ctrl-C."""

TIE = 1e-12
"""Two choices whose values differ by less than this are equally good; rounding makes such differences."""


class Tree(NamedTuple):
    """Clusters with their parents, children before parents, the root last; rows with the cluster that they leave last.

    Densities are 1 / distance. A cluster is born where it parts from the rest of its parent.
    """

    parent: Ints  # (m,) −1 for the root
    birth: Floats  # (m,) density, 0 for the root
    home: Ints  # (n,) smallest cluster that each row is in, −1 when there is none
    leaves: Floats  # (n,) density at which it leaves that cluster

    @property
    def size(self) -> int:
        """Number of clusters."""
        return len(self.parent)

    def total(self, own: Array) -> Array:
        """Sums over all clusters below each cluster, itself included."""
        out = own.copy()
        for c, above in enumerate(self.parent[:-1]):
            out[above] += out[c]
        return out

    def of_rows(self, value: Array) -> Array:
        """Sum of a value over the rows that have each cluster as their home."""
        inside = self.home >= 0
        return np.bincount(self.home[inside], weights=value[inside], minlength=self.size)

    def stability(self) -> Floats:
        """Excess of mass of each cluster: Σ over its rows of density at the end less density at its birth."""
        rows = self.total(self.of_rows(np.ones(len(self.home))))
        mass = self.of_rows(self.leaves) - self.birth * rows
        np.add.at(mass, self.parent[:-1], (self.birth * rows)[:-1])
        return np.maximum(mass, 0)

    def meeting(self, first: Ints, second: Ints) -> Ints:
        """Smallest cluster that holds both rows of each pair, −1 when there is none."""
        a, b = self.home[first], self.home[second]
        alive = (a >= 0) & (b >= 0)
        a, b = np.where(alive, a, UNASSIGNED), np.where(alive, b, UNASSIGNED)
        apart = np.flatnonzero(a != b)
        while len(apart):  # children have lower numbers, so the lower of two is the one to climb
            low, high = np.minimum(a[apart], b[apart]), np.maximum(a[apart], b[apart])
            a[apart], b[apart] = self.parent[low], high
            apart = apart[a[apart] != b[apart]]
        return a


def core_distances(X: Floats, min_samples: int) -> Floats:
    """Squared distance of each row to its ``min_samples``-th nearest row, itself counted."""
    from scipy.spatial import cKDTree

    k = min(min_samples, len(X))
    nearest = cKDTree(X).query(X, k=[k])[1].ravel()
    squared = np.zeros(len(X))
    for c in range(X.shape[1]):  # column by column as the spanning tree does, so that equal distances are equal
        gap = X[:, c].astype(np.float64) - X[nearest, c]
        squared += gap * gap
    return squared


def spanning_tree(
    X: Floats, core: Floats, each: Callable[[Iterable[None], int], Iterable[None]] = lambda slices, _: slices
) -> tuple[Ints, Floats]:
    """Edges of a minimum spanning tree under the mutual reachability distance, sorted, and their lengths.

    ``each`` passes on the slices of the work, of which it knows the number.
    """
    n, d = X.shape
    columns = np.array(X.T, dtype=np.float64, order="C")
    edges = np.empty((max(n - 1, 0), 2), dtype=np.int64)
    squared = np.empty(len(edges))
    reach, source, gaps = np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.empty(n)
    at = np.array([n - 1])
    state = columns, core.copy(), np.arange(n), reach, source, gaps, at, edges, squared
    steps = max(SLICE // (n * (d + 2)), 1)

    def slices() -> Iterator[None]:
        while at[0]:
            yield density.span(*state, steps)

    for _ in each(slices(), -(-len(edges) // steps)):
        continue
    order = np.argsort(squared, kind="stable")
    return edges[order], np.sqrt(squared[order])


def condensed(edges: Ints, lengths: Floats, min_cluster_size: int) -> Tree:
    """The tree of all clusters of at least so many rows; edges of one length act at once."""
    n = len(edges) + 1
    parent, born = np.empty(n, dtype=np.int64), np.empty(n)
    home, left = np.full(n, UNASSIGNED, dtype=np.int64), np.full(n, np.inf)
    m = density.condense(edges, lengths, min_cluster_size, parent, born, home, left)
    # Equal rows have an infinite density; half the shortest length that is none keeps them comparable.
    shortest = lengths[lengths > 0].min(initial=np.inf) / 2
    floor = shortest if np.isfinite(shortest) else 1.0
    return Tree(parent[:m], 1 / np.maximum(born[:m], floor), home, 1 / np.maximum(left, floor))


def kept_links(tree: Tree, links: Pairs) -> tuple[Floats, Floats]:
    """Weight of the links that each cluster keeps if it is chosen, and that its own rows keep as noise.

    Each end of a link counts half. A must-link is kept at both ends by a cluster that holds both; a cannot-link is
    kept at an end whose cluster does not hold the other, or which is noise.
    """
    must, must_weight, cannot, cannot_weight = links

    def inside(pairs: Ints, weight: Floats) -> Floats:
        at = tree.meeting(pairs[:, 0], pairs[:, 1])
        return tree.total(np.bincount(at[at >= 0], weights=weight[at >= 0], minlength=tree.size))

    ends = np.bincount(cannot.ravel(), weights=np.repeat(cannot_weight, 2), minlength=len(tree.home))
    noise = tree.of_rows(ends) / 2
    return inside(must, must_weight) + tree.total(noise) - inside(cannot, cannot_weight), noise


def best_clusters(tree: Tree, value: Floats, noise: Floats, tie: Floats, root: bool) -> tuple[Bools, float]:
    """Which clusters to choose, one on each way from a leaf to the root, so that the sum of values is largest; the sum.

    ``noise`` is what rows are worth whose home is a cluster above chosen ones. Choices of equal value are decided by
    ``tie``, then for the larger cluster. The root is chosen only where ``root`` allows it.
    """
    below, below_tie = noise.copy(), np.zeros(tree.size)
    has_children = np.zeros(tree.size, dtype=bool)
    chosen = np.zeros(tree.size, dtype=bool)
    for c, above in enumerate(tree.parent):
        gain = below[c] - value[c]
        split = has_children[c] and (gain > TIE or (gain >= -TIE and below_tie[c] > tie[c]))
        chosen[c] = not split if above >= 0 else root and not split
        if chosen[c]:
            below[c], below_tie[c] = value[c], tie[c]
        if above >= 0:
            has_children[above] = True
            below[above] += below[c]
            below_tie[above] += below_tie[c]
    covered = chosen.copy()
    for c in range(tree.size - 2, -1, -1):
        above = tree.parent[c]
        chosen[c] &= not covered[above]
        covered[c] |= covered[above]
    return chosen, float(below[-1]) if tree.size else 0.0


def rows_below(tree: Tree, chosen: Bools) -> Ints:
    """The chosen cluster that each row is in, −1 when there is none."""
    owner = np.where(chosen, np.arange(tree.size), UNASSIGNED)
    for c in range(tree.size - 2, -1, -1):
        if owner[c] < 0:
            owner[c] = owner[tree.parent[c]]
    return np.append(owner, UNASSIGNED)[tree.home]
