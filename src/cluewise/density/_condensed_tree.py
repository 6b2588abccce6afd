"""Condensed trees: the clusters at all densities, and the best selection of clusters from such a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Floats, Ints
from cluewise.clues import Pairs
from cluewise.kernels import density

__all__ = [
    "Tree",
    "best_clusters",
    "condense",
    "core_distances",
    "kept_alone",
    "kept_links",
    "rows_below",
    "spanning_tree",
]

SLICE = 10**7
"""Entries per call of the kernel (about ten milliseconds): Ctrl-C is noticed between calls."""

TIE = 1e-12
"""Choices whose values differ by less than this tie: the difference may be due to rounding."""


class Tree(NamedTuple):
    """A condensed tree: the parent of each cluster, and the smallest cluster of each row.

    Children come before their parents, and the root is last. Densities are 1 / distance. A cluster is born at the
    density at which it splits from its parent.
    """

    parent: Ints  # (m,) −1 for the root
    birth: Floats  # (m,) density, 0 for the root
    home: Ints  # (n,) smallest cluster that contains the row, −1 for none
    leaves: Floats  # (n,) density at which it leaves that cluster

    @property
    def size(self) -> int:
        """Number of clusters."""
        return len(self.parent)

    @property
    def core(self) -> Bools:
        """Mask of the rows that are in the root at the highest density at which something leaves it.

        That is where it splits into clusters or, if it never does, where its last rows leave it.
        """
        root = self.size - 1
        above = self.birth[self.parent == root].max(initial=0.0)
        return self.leaves >= max(above, self.leaves[self.home == root].max(initial=0.0))

    def total(self, own: Array) -> Array:
        """Sums over each cluster and all its descendants."""
        out = own.copy()
        for c, above in enumerate(self.parent[:-1]):
            out[above] += out[c]
        return out

    def of_rows(self, value: Array) -> Array:
        """Sum of a value over the rows that have each cluster as their home."""
        inside = self.home >= 0
        return np.bincount(self.home[inside], weights=value[inside], minlength=self.size)

    def stability(self) -> Floats:
        """Excess of mass of each cluster: Σ over its rows of (density at which the row leaves − density at birth)."""
        rows = self.total(self.of_rows(np.ones(len(self.home))))
        mass = self.of_rows(self.leaves) - self.birth * rows
        np.add.at(mass, self.parent[:-1], (self.birth * rows)[:-1])
        return np.maximum(mass, 0)

    def meeting(self, first: Ints, second: Ints) -> Ints:
        """Smallest cluster that contains both rows of each pair, −1 for none."""
        a, b = self.home[first], self.home[second]
        alive = (a >= 0) & (b >= 0)
        a, b = np.where(alive, a, UNASSIGNED), np.where(alive, b, UNASSIGNED)
        apart = np.flatnonzero(a != b)
        while len(apart):  # children have lower numbers than parents, so replace the lower of the two by its parent
            low, high = np.minimum(a[apart], b[apart]), np.maximum(a[apart], b[apart])
            a[apart], b[apart] = self.parent[low], high
            apart = apart[a[apart] != b[apart]]
        return a


def core_distances(X: Floats, min_samples: int) -> Floats:
    """Squared distance of each row to its ``min_samples``-th nearest row, counting itself."""
    from scipy.spatial import cKDTree

    k = min(min_samples, len(X))
    nearest = cKDTree(X).query(X, k=[k])[1].ravel()
    squared = np.zeros(len(X))
    for c in range(X.shape[1]):  # summed column by column, as in the spanning tree, so that ties stay exact
        gap = X[:, c].astype(np.float64) - X[nearest, c]
        squared += gap * gap
    return squared


def spanning_tree(
    X: Floats, core: Floats, each: Callable[[Iterable[None], int], Iterable[None]] = lambda slices, _: slices
) -> tuple[Ints, Floats]:
    """Edges of a minimum spanning tree of the mutual reachability distance, sorted by length, and their lengths.

    The work is done in slices. ``each`` gets the slices and their number, and yields them, for example to report
    progress.
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


def condense(edges: Ints, lengths: Floats, min_cluster_size: int) -> Tree:
    """The tree of all clusters of at least ``min_cluster_size`` rows; edges of equal length act at once."""
    n = len(edges) + 1
    parent, born = np.empty(n, dtype=np.int64), np.empty(n)
    home, left = np.full(n, UNASSIGNED, dtype=np.int64), np.full(n, np.inf)
    m = density.condense(edges, lengths, min_cluster_size, parent, born, home, left)
    # Duplicate rows would have infinite density: use half the shortest positive length as their distance.
    shortest = lengths[lengths > 0].min(initial=np.inf) / 2
    floor = shortest if np.isfinite(shortest) else 1.0
    return Tree(parent[:m], 1 / np.maximum(born[:m], floor), home, 1 / np.maximum(left, floor))


def kept_links(tree: Tree, links: Pairs) -> tuple[Floats, Floats]:
    """Weight of the links that each cluster satisfies if selected, and that its own rows satisfy as noise.

    Each end of a link counts half. A must-link is satisfied at both ends by a cluster that contains both; a
    cannot-link is satisfied at an end that is noise, or whose cluster does not contain the other end.
    """
    must, must_weight, cannot, cannot_weight = links

    def inside(pairs: Ints, weight: Floats) -> Floats:
        at = tree.meeting(pairs[:, 0], pairs[:, 1])
        return tree.total(np.bincount(at[at >= 0], weights=weight[at >= 0], minlength=tree.size))

    # Every cannot-link starts as satisfied at both ends; clusters that contain both ends lose it again.
    ends = np.bincount(cannot.ravel(), weights=np.repeat(cannot_weight, 2), minlength=len(tree.home))
    noise = tree.of_rows(ends) / 2
    return inside(must, must_weight) + tree.total(noise) - inside(cannot, cannot_weight), noise


def best_clusters(tree: Tree, value: Floats, noise: Floats, tie: Floats, root: bool) -> tuple[Bools, float]:
    """Mask of the clusters with the largest sum of values, at most one on each path to the root, and that sum.

    ``noise`` is the value of the rows of a cluster that become noise when descendants are selected instead. Ties are
    broken by ``tie``, then in favor of the larger cluster. The root is selected only if ``root`` is true.
    """
    below, below_tie = noise.copy(), np.zeros(tree.size)
    has_children = np.zeros(tree.size, dtype=bool)
    selected = np.zeros(tree.size, dtype=bool)
    for c, above in enumerate(tree.parent):
        gain = below[c] - value[c]
        split = has_children[c] and (gain > TIE or (gain >= -TIE and below_tie[c] > tie[c]))
        selected[c] = not split if above >= 0 else root and not split
        if selected[c]:
            below[c], below_tie[c] = value[c], tie[c]
        if above >= 0:
            has_children[above] = True
            below[above] += below[c]
            below_tie[above] += below_tie[c]
    # The first pass selects bottom-up, so descendants of a selected cluster may still be selected: drop them.
    covered = selected.copy()
    for c in range(tree.size - 2, -1, -1):
        above = tree.parent[c]
        selected[c] &= not covered[above]
        covered[c] |= covered[above]
    return selected, float(below[-1]) if tree.size else 0.0


def kept_alone(core: Bools, links: Pairs) -> float:
    """Weight of the links that hold if the rows of a mask are the only cluster, and the others noise."""
    must, must_weight, cannot, cannot_weight = links
    return float(must_weight @ core[must].all(axis=1) + cannot_weight @ ~core[cannot].all(axis=1))


def rows_below(tree: Tree, selected: Bools) -> Ints:
    """The selected cluster of each row, −1 for none; the root, if selected, has its core only."""
    owner = np.where(selected, np.arange(tree.size), UNASSIGNED)
    for c in range(tree.size - 2, -1, -1):
        if owner[c] < 0:
            owner[c] = owner[tree.parent[c]]
    found = np.append(owner, UNASSIGNED)[tree.home]
    if tree.size and selected[-1]:
        found[~tree.core] = UNASSIGNED
    return found
