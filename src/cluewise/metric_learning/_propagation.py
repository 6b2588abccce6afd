"""Propagation: shortest paths that pass through must-link components, which cost nothing to cross.

A component of two or more rows is a *hub*. With G the distances of all rows to the nearest member of each hub, and S
the shortest paths between hubs, D′ = min(D, G ⊗ S ⊗ Gᵀ), ⊗ being the product in which sums are minima and products
are sums. That is the contracted form (4.3 of the specification) of all-pairs shortest paths with must-links of
length 0, if D is a metric. Distances are only computed for the pairs that are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.threads import map_blocks
from cluewise.core.views import list_rows

__all__ = ["Distance", "Hubs", "Sides", "all_pairs", "hubs_of", "members_of", "reach_of", "shorten"]

Distance: TypeAlias = Callable[[Ints, Ints], Floats]
"""Distances of some rows (lines) to others (columns)."""

BLOCK = 2**18
"""Distances computed at once."""


class Hubs(NamedTuple):
    """Must-link components of two or more rows."""

    members: Ints  # (p,) their rows, hub after hub
    start: Ints  # (r,) where each hub begins
    between: Floats  # (r, r) S: shortest paths, infinite where a step would be longer than the radius
    radius: float
    into: Floats  # (n, r) G: distance of each row to the nearest member, infinite beyond the radius

    def __len__(self) -> int:
        """Number of hubs."""
        return len(self.start)

    def through(self, into: Floats) -> Floats:
        """G ⊗ S: shortest paths from rows to every hub, through any other hubs."""
        out = np.full_like(into, np.inf)
        for b in range(len(self)):
            np.minimum(out, into[:, b, None] + self.between[b], out=out)
        return out


class Sides(NamedTuple):
    """Which components must be apart: cannot-links in CSR, groups by their members."""

    clues: Clues
    cliques: dict[int, list[Ints]]  # for each component, the members of its apart groups

    @classmethod
    def of(cls, clues: Clues) -> Sides:
        """The sides according to the clues."""
        cliques: dict[int, list[Ints]] = {}
        for start, stop in zip(clues.cliques.indptr[:-1], clues.cliques.indptr[1:]):
            members = clues.cliques.members[start:stop]
            for component in members.tolist():
                cliques.setdefault(component, []).append(members)
        return cls(clues, cliques)

    def across(self, row: int) -> Bools:
        """Mask of the rows that must be apart from a row, by clues or by what they entail."""
        own = int(self.clues.components[row])
        graph = self.clues.graph
        mask = np.zeros(self.clues.n_components, dtype=bool)
        mask[graph.indices[graph.indptr[own] : graph.indptr[own + 1]]] = True
        for members in self.cliques.get(own, []):
            mask[members] = True
        mask[own] = False
        return mask[self.clues.components]


def _blocks(rows: Ints, width: int) -> list[Ints]:
    step = max(BLOCK // max(width, 1), 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def members_of(clues: Clues) -> tuple[Ints, Ints]:
    """Rows of the components of two or more rows, and where each of these begins."""
    return list_rows(clues, np.bincount(clues.components, minlength=clues.n_components) > 1)


def reach_of(distance: Distance, rows: Ints, members: Ints, start: Ints, radius: float) -> Floats:
    """Distance of some rows to the nearest member of every hub; infinite beyond the radius."""
    out = np.empty((len(rows), len(start)))
    if len(start):
        done = 0
        for block in _blocks(rows, len(members)):
            out[done : done + len(block)] = np.minimum.reduceat(distance(block, members), start, axis=1)
            done += len(block)
        out[out > radius] = np.inf
    return out


def hubs_of(distance: Distance, clues: Clues, radius: float) -> Hubs:
    """The hubs of the clues, for paths whose steps are at most ``radius`` long."""
    members, start = members_of(clues)
    into = reach_of(distance, np.arange(clues.n), members, start, radius)
    # With some metrics, such as cosine, rounding makes the distance of a row from itself nonzero.
    into[members, np.repeat(np.arange(len(start)), np.diff(start, append=len(members)))] = 0.0
    between = np.minimum.reduceat(into[members], start, axis=0) if len(start) else np.empty((0, 0))
    for k in range(len(start)):  # Floyd and Warshall, among hubs alone
        np.minimum(between, between[:, k, None] + between[k], out=between)
    return Hubs(members, start, between, radius, into)


def shorten(D: Floats, through: Floats, into: Floats) -> Floats:
    """min(D, through ⊗ intoᵀ), written into D: from rows that have ``through`` to rows that have ``into``."""
    for a in range(into.shape[1]):
        rows, columns = np.flatnonzero(through[:, a] < np.inf), np.flatnonzero(into[:, a] < np.inf)
        if len(rows) == len(D) and len(columns) == D.shape[1]:
            np.minimum(D, through[:, a, None] + into[:, a], out=D)
        elif len(rows) and len(columns):
            part = np.ix_(rows, columns)
            D[part] = np.minimum(D[part], through[rows, a, None] + into[columns, a])
    return D


def all_pairs(distance: Distance, hubs: Hubs, n: int, sides: Sides | None) -> Floats:
    """D′ of all pairs of rows, symmetric; across ``sides`` distances stay as they are."""
    out = np.empty((n, n))
    through = hubs.through(hubs.into)

    def work(block: Ints) -> None:
        begin, end = int(block[0]), int(block[-1]) + 1
        later = np.arange(begin, n)
        D = distance(block, later)
        kept = D.copy() if sides is not None else None
        shorten(D, through[block], hubs.into[begin:])
        if sides is not None and kept is not None:
            for i, row in enumerate(block.tolist()):
                mask = sides.across(row)[begin:]
                D[i, mask] = kept[i, mask]
        square = D[:, : end - begin]
        square[:] = np.minimum(square, square.T)  # they differ by rounding only
        out[begin:end, begin:] = D
        out[begin:, begin:end] = D.T

    for _ in map_blocks(work, _blocks(np.arange(n), n)):
        continue  # Ctrl-C works between two blocks
    np.fill_diagonal(out, 0.0)
    return out
