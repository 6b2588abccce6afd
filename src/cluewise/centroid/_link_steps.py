"""Steps of CVQE and LCVQE over a `PairGraph`: descent over links, and the sums that centers need."""

from __future__ import annotations

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.core.centers import Tally
from cluewise.core.rows import Rows
from cluewise.core.views import PairGraph
from cluewise.kernels import graphs, pairs

__all__ = ["part_of", "pulled", "relaxed", "spread", "torn", "two_nearest"]

SLICE = 100_000
"""Links per call of a kernel, so that Ctrl-C is heard."""


def torn(links: PairGraph, labels: Ints) -> Bools:
    """Which tied rows are in a piece of the links where these labels break one."""
    first, second = labels[links.ends].T
    broken = np.where(first == second, links.cannot, links.must) > 0
    bad = np.zeros(len(links.rows), dtype=bool)  # pieces are numbered by tied rows
    bad[links.piece[links.ends[broken, 0]]] = True
    return bad[links.piece]


def part_of(links: PairGraph, among: Bools, order: Ints) -> tuple[PairGraph, Ints]:
    """The pieces of some tied rows, numbered anew, and the order of their links."""
    number = np.cumsum(among, dtype=np.int32) - 1
    mine = among[links.ends[:, 0]]
    ends = number[links.ends[mine]]
    indptr, _, incident = graphs.adjacency(
        int(np.count_nonzero(among)), ends[:, 0], ends[:, 1], np.arange(len(ends), dtype=np.int32)
    )
    place = np.cumsum(mine) - 1
    some = PairGraph(
        links.rows[among], ends, links.must[mine], links.cannot[mine], indptr, incident, links.piece[among]
    )
    return some, place[order[mine[order]]]


def relaxed(
    links: PairGraph, order: Ints, labels: Ints, alone: Floats, between: Floats, reach: Floats, exits: Floats
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
