"""What CVQE and LCVQE share: links as a `PairGraph`, descent over them, and a step that relabels and moves centers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.base import Problem
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop
from cluewise.core.assign import others, visiting_order
from cluewise.core.centers import Tally
from cluewise.core.rows import Rows
from cluewise.core.views import PairGraph, build_pair_graph
from cluewise.exceptions import UnusedClueWarning
from cluewise.kernels import graphs, pairs

__all__ = [
    "Frame",
    "build_frame",
    "find_torn",
    "order_links",
    "relax_links",
    "restrict_links",
    "spread",
    "step",
    "sum_pulls",
    "two_nearest",
    "warn_of_one_cluster",
]

SLICE = 100_000
"""Links per call of a kernel, so that Ctrl-C takes effect soon."""

STILL = 1e-10
"""Centers that move by less than this share of the spread of the data have converged."""


class Frame(NamedTuple):
    """What does not change during a run."""

    rows: Rows
    links: PairGraph
    order: Ints  # order in which links are visited
    free: Bools  # rows without links
    total: float  # scatter of the rows


class Labelled(Protocol):
    """A state of any of these methods."""

    @property
    def labels(self) -> Ints:
        """Cluster of each row."""
        ...

    @property
    def centers(self) -> Floats:
        """Centers relative to the shift of the rows."""
        ...


S = TypeVar("S", bound=Labelled)
Relabel = Callable[[S, Frame], tuple[Ints, Any]]
Settle = Callable[[S, Frame, Ints, Tally, Any], tuple[S, float]]


def step(state: S, *, frame: Frame, relabel: Relabel[S], settle: Settle[S]) -> tuple[S, loop.Info]:
    """Assign free rows to the nearest center, relabel tied rows, then update the centers.

    ``relabel`` returns the labels of the tied rows and a note for ``settle``, which returns the new state and its
    objective. An empty cluster stays empty if refilling it costs more in links than it gains in distances.
    """
    rows, tied = frame.rows, frame.links.rows
    labels = state.labels.copy()
    labels[tied], note = relabel(state, frame)
    tally, moved = assign.around(rows, state.centers, labels, frame.free)
    moved += int(np.count_nonzero(labels[tied] != state.labels[tied]))
    new, value = settle(state, frame, labels, tally, note)
    if (tally.mass == 0).any():
        filled = labels.copy()
        refilled, count = centers.refill(rows, tally, state.centers, filled, frame.free)
        other, lower = settle(state, frame, filled, refilled, note)
        if count and lower < value:
            new, value, moved = other, lower, moved + count
    way = float(np.abs(new.centers - state.centers).max())
    shifted = way > STILL * np.sqrt(frame.total / rows.mass)  # centers may still move when no row does
    return new, loop.Info(value, max(moved, int(shifted)))


def build_frame(problem: Problem, order: Any) -> Frame:
    """Collect what does not change during one start; ``order="random"`` draws a permutation of the links."""
    links = problem.shared
    visits = np.arange(len(links))
    if isinstance(order, str) and order == "random":
        visits = problem.rng.permutation(len(links))
    return Frame(problem.rows, links, visits, others(links.rows, problem.rows.n), problem.total)


def order_links(problem: Problem, order: Any) -> PairGraph:
    """Sort the links by row number or by a permutation of the rows; all starts share them."""
    if isinstance(order, str):
        return build_pair_graph(problem.clues)
    n = problem.rows.n
    rank = np.empty(n, dtype=np.int64)
    rank[visiting_order(order, np.arange(n), n, problem.rng)] = np.arange(n)
    return build_pair_graph(problem.clues, rank)


def warn_of_one_cluster(estimator: Any, known: Clues) -> Clues:
    """Warn if clues keep rows apart but there is only one cluster; return the clues."""
    apart = known.kinds & {"cannot", "apart"} or len(np.unique(known.labels[known.labels >= 0])) > 1
    if estimator.n_clusters == 1 and apart:
        warnings.warn(
            f"{type(estimator).__name__} with one cluster cannot keep rows apart; cannot-links cost nothing.",
            UnusedClueWarning,
            stacklevel=5,
        )
    return known


def find_torn(links: PairGraph, labels: Ints) -> Bools:
    """Which tied rows are in a connected piece in which these labels break a link."""
    first, second = labels[links.ends].T
    broken = np.where(first == second, links.cannot, links.must) > 0
    bad = np.zeros(len(links.rows), dtype=bool)  # pieces are numbered by tied rows
    bad[links.piece[links.ends[broken, 0]]] = True
    return bad[links.piece]


def restrict_links(links: PairGraph, among: Bools, order: Ints) -> tuple[PairGraph, Ints]:
    """Restrict the graph to the pieces of some tied rows; return the order of their links, too."""
    rows = np.flatnonzero(among)
    number = np.empty(len(among), dtype=np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    inside = among[links.ends[:, 0]]
    mine = np.flatnonzero(inside)
    ends = number[links.ends[mine]]
    names = np.arange(len(mine), dtype=np.int32)
    indptr, _, incident = graphs.adjacency(len(rows), ends[:, 0], ends[:, 1], names)
    place = np.empty(len(inside), dtype=np.int64)
    place[mine] = names
    some = PairGraph(links.rows[rows], ends, links.must[mine], links.cannot[mine], indptr, incident, links.piece[rows])
    return some, place[order[inside[order]]]


def relax_links(
    links: PairGraph, order: Ints, labels: Ints, alone: Floats, between: Floats, reach: Floats, exits: Floats
) -> Ints:
    """Visit every link once, in the given order, and return the labels of the tied rows; see `kernels.pairs`.

    ``alone[t, h]`` is the cost of row t in cluster h without its links; the links are added to it in place.
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
    """The nearest and the second nearest center of each row; the lower number on ties, 0 if there is only one."""
    nearest, runner_up = np.empty((2, len(squared)), dtype=np.int32)
    pairs.two_nearest(squared, nearest, runner_up)
    return nearest, runner_up


def sum_pulls(rows: Rows, which: Ints, charges: Floats) -> Tally:
    """Sums and masses of the rows that pull centers, with the weights ``charges`` of shape (rows, k)."""
    sums = np.zeros((charges.shape[1], rows.d))
    acting = np.flatnonzero(charges @ np.ones(charges.shape[1]))
    for block in rows.blocks(charges.shape[1], acting):
        sums += (rows.take(which[block]).T @ charges[block]).T
    return Tally(sums, charges[acting].sum(axis=0))


def spread(total: float, found: Tally, centers: Floats) -> float:
    """Σ w‖x − center of its cluster‖² for any centers, from the scatter and the sums of the clusters."""
    norms = np.einsum("hj,hj->h", centers, centers)
    return max(total - 2 * float(np.einsum("hj,hj->", found.sums, centers)) + float(found.mass @ norms), 0.0)
