"""Links: all clues written out as pairs of tied rows, for objectives that look at both ends at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.clues import Clues
from cluewise.core.centers import Tally
from cluewise.core.rows import Rows, SparseRows
from cluewise.kernels import graphs, pairs

__all__ = ["Links", "links_of", "part_of", "pulled", "relaxed", "spread", "squared_distances", "torn", "two_nearest"]

LIMIT = 10**7
"""Labels and groups that make more links than this are refused."""

SLICE = 100_000
"""Links per call of a kernel, so that Ctrl-C is heard."""


class Links(NamedTuple):
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


def links_of(clues: Clues, rank: Ints | None = None) -> Links:
    """All links of the clues, sorted by the rank of their ends (None: by row number).

    A pair that is told to be together and apart is one link with two weights.
    """
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True, limit=LIMIT)
    both = np.concatenate([must, cannot])
    if rank is not None:
        swap = rank[both[:, 0]] > rank[both[:, 1]]
        both[swap] = both[swap, ::-1]
    tied = np.zeros(clues.n, dtype=bool)
    tied[both.ravel()] = True
    rows = np.flatnonzero(tied)
    if rank is not None:
        rows = rows[np.argsort(rank[rows])]
    place = np.empty(clues.n, dtype=np.int32)
    place[rows] = np.arange(len(rows))
    ends = place[both]
    order = graphs.sort_pairs(ends[:, 0], ends[:, 1], len(rows))
    ends = ends[order]
    weight = np.zeros((2, len(ends)))
    is_must = order < len(must)
    weight[0, is_must] = must_weight[order[is_must]]
    weight[1, ~is_must] = cannot_weight[order[~is_must] - len(must)]
    new = np.append(True, (np.diff(ends, axis=0) != 0).any(axis=1))[: len(ends)]
    if not new.all():
        weight = np.add.reduceat(weight, np.flatnonzero(new), axis=1)
        ends = ends[new]
    number = np.arange(len(ends), dtype=np.int32)
    indptr, _, incident = graphs.adjacency(len(rows), ends[:, 0], ends[:, 1], number)
    parent = np.arange(len(rows), dtype=np.int32)
    graphs.join_pairs(parent, ends[:, 0], ends[:, 1])
    piece, _ = graphs.number_roots(parent)
    return Links(rows, ends, weight[0], weight[1], indptr, incident, piece)


def torn(links: Links, labels: Ints) -> Bools:
    """Which tied rows are in a piece of the links where these labels break one."""
    first, second = labels[links.ends].T
    broken = np.where(first == second, links.cannot, links.must) > 0
    bad = np.zeros(len(links.rows), dtype=bool)  # pieces are numbered by tied rows
    bad[links.piece[links.ends[broken, 0]]] = True
    return bad[links.piece]


def part_of(links: Links, among: Bools, order: Ints) -> tuple[Links, Ints]:
    """The pieces of some tied rows, numbered anew, and the order of their links."""
    number = np.cumsum(among, dtype=np.int32) - 1
    mine = among[links.ends[:, 0]]
    ends = number[links.ends[mine]]
    indptr, _, incident = graphs.adjacency(
        int(np.count_nonzero(among)), ends[:, 0], ends[:, 1], np.arange(len(ends), dtype=np.int32)
    )
    place = np.cumsum(mine) - 1
    some = Links(links.rows[among], ends, links.must[mine], links.cannot[mine], indptr, incident, links.piece[among])
    return some, place[order[mine[order]]]


def relaxed(
    links: Links, order: Ints, labels: Ints, alone: Floats, between: Floats, reach: Floats, exits: Floats
) -> Ints:
    """Labels of the tied rows after one visit to every link in the given order; see `kernels.pairs`.

    ``alone[t, h]`` is what row t costs in cluster h without its links; afterwards it has them, too.
    """
    new, costs = labels.copy(), alone
    of_links = links.ends, links.must, links.cannot
    pairs.link_costs(*of_links, between, reach, exits, new, costs)
    for start in range(0, len(order), SLICE):
        part = order[start : start + SLICE]
        graph = links.indptr, links.incident
        pairs.relax_links(part, *of_links, *graph, between, reach, exits, new, costs)
    return new


def squared_distances(rows: Rows, centers: Floats, which: Ints) -> Floats:
    """(rows, k) squared distances of some rows to the centers, in double precision throughout."""
    out = np.empty((len(which), len(centers)))
    double, table = _double(rows, centers)
    start = 0
    for block in rows.blocks(2 * len(centers), which):
        x = rows.take(block).astype(np.float64, copy=False)
        out[start : start + len(block)] = double.squared(x, table).T
        start += len(block)
    return out


def _double(rows: Rows, centers: Floats) -> tuple[Rows, Any]:
    """What scores rows of the kind of ``rows``, in double precision."""
    nothing = rows.X[:0].astype(np.float64)
    double = SparseRows(nothing) if isinstance(rows, SparseRows) else Rows(nothing, None, np.zeros(rows.d))
    return double, double.table(centers)


def two_nearest(squared: Floats) -> tuple[Ints, Ints]:
    """The nearest and the second nearest center of each row; the lower number on ties, 0 when there is but one."""
    nearest, runner_up = np.empty((2, len(squared)), dtype=np.int32)
    pairs.two_nearest(squared, nearest, runner_up)
    return nearest, runner_up


def pulled(rows: Rows, which: Ints, charges: Floats) -> Tally:
    """Sums and masses of rows that pull centers with the weights in ``charges``, (rows, k)."""
    sums = np.zeros((charges.shape[1], rows.d))
    acting = np.flatnonzero(charges @ np.ones(charges.shape[1]))
    for block in rows.blocks(charges.shape[1], acting):
        sums += (rows.take(which[block]).T @ charges[block]).T
    return Tally(sums, charges.sum(axis=0))


def spread(total: float, found: Tally, centers: Floats) -> float:
    """Σ w‖x − center of its cluster‖² for any centers, from the scatter and the sums alone."""
    norms = np.einsum("hj,hj->h", centers, centers)
    return max(total - 2 * float(np.einsum("hj,hj->", found.sums, centers)) + float(found.mass @ norms), 0.0)
