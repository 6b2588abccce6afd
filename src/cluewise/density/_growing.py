"""Growing: clusters spread from core rows through neighborhoods, one must-link component at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import UNASSIGNED, Array, Bools, Ints
from cluewise.clues import Clues
from cluewise.density._radius import Neighbors, reorder
from cluewise.kernels import density

__all__ = ["Closures", "closures_of", "cluster_strays", "component_mass", "grow_clusters"]

SLICE = 5_000_000
"""Neighbors per call of the kernel (about ten milliseconds): Ctrl-C is noticed between calls."""


class Closures(NamedTuple):
    """Must-link components, their rows, and which of them exclude each other."""

    of_row: Ints  # (n,)
    start: Ints  # (components + 1,)
    rows: Ints  # (n,) rows of each component, in order
    foe_start: Ints  # (components + 1,) cannot-links between components, CSR
    foes: Ints
    clique_start: Ints  # (components + 1,) groups whose members must all be apart, those of each component
    cliques: Ints
    n_cliques: int


def closures_of(clues: Clues, order: Ints | None = None) -> Closures:
    """The closures of clues, with rows renumbered: row ``order[r]`` becomes row r."""
    of_row = clues.components if order is None else clues.components[order]
    count = clues.n_components
    size = np.diff(clues.cliques.indptr)
    by_member = np.argsort(clues.cliques.members, kind="stable")
    return Closures(
        of_row,
        _pointers(of_row, count),
        np.argsort(of_row, kind="stable").astype(np.int32),
        clues.graph.indptr,
        clues.graph.indices,
        _pointers(clues.cliques.members, count),
        np.repeat(np.arange(len(size), dtype=np.int32), size)[by_member],
        len(size),
    )


def _pointers(member: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(member, minlength=count))]).astype(np.int64)


def component_mass(clues: Clues, weight: Array | None) -> Array:
    """Number, or total weight, of the rows in the must-link component of each row."""
    mass = np.bincount(clues.components, weights=weight, minlength=clues.n_components)
    of_rows: Array = mass[clues.components]
    return of_rows


def grow_clusters(neighbors: Neighbors, core: Bools, clues: Clues, order: Ints | None) -> Ints:
    """Cluster of each row, −1 for rows that no cluster reaches (Alg. 18 of the survey with errata E48 and E49).

    Core rows start clusters in order, and neighbors of core rows join them in order, first come, first served. A row
    joins with its whole component, or not at all if the cluster contains a component that excludes it.
    """
    if order is not None:  # the kernel visits rows by number, so renumber them
        neighbors, core = reorder(neighbors, order), core[order]
    rooms = closures_of(clues, order)
    n = neighbors.n
    labels = np.full(n, UNASSIGNED, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    barred = np.full(len(rooms.start) - 1, UNASSIGNED, dtype=np.int32)
    taken = np.full(rooms.n_cliques, UNASSIGNED, dtype=np.int32)
    # Kernel state: next row that may start a cluster, start and end of the queue, current cluster.
    at = np.array([0, 0, 0, -1])
    while at[0] < n or at[1] < at[2]:
        density.grow(*neighbors, core, *rooms[:-1], barred, taken, labels, queue, at, SLICE)
    if order is None:
        return labels
    back = np.empty_like(labels)
    back[order] = labels
    return back


def cluster_strays(labels: Ints, clues: Clues, order: Ints | None) -> Ints:
    """Labels in which must-linked and labeled noise rows form further clusters, one per component.

    As noise they would break their clues: two noise rows are not together, and a labeled row belongs to a class.
    """
    several = np.bincount(clues.components, minlength=clues.n_components)[clues.components] > 1
    left = (labels == UNASSIGNED) & (several | (clues.labels >= 0))
    rows = np.flatnonzero(left) if order is None else order[left[order]]
    _, first, which = np.unique(clues.components[rows], return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = labels.max(initial=-1) + 1 + np.arange(len(first), dtype=np.int32)
    out = labels.copy()
    out[rows] = number[which]
    return out
