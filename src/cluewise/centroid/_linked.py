"""What CVQE and LCVQE share: clues as links, and a step that relabels rows and then moves centers."""

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

__all__ = ["Frame", "build_frame", "order_links", "step", "warn_of_one_cluster"]

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
    rows, tied, k = frame.rows, frame.links.rows, len(state.centers)
    labels = state.labels.copy()
    found = assign.nearest(rows, state.centers, labels, frame.free)
    labels[tied], note = relabel(state, frame)
    moved = found.moved + int(np.count_nonzero(labels[tied] != state.labels[tied]))
    tally = found.tally.plus(centers.tally_of(rows, labels, tied, k))
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
