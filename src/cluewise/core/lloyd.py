"""The step of k-means, shared by every method whose free rows go to the nearest center."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluewise._typing import Bools, Floats, Ints
from cluewise.core import assign, centers
from cluewise.core.centers import Tally
from cluewise.core.crowd import Placed
from cluewise.core.loop import Info
from cluewise.core.rows import Rows

__all__ = ["State", "step"]


class State(NamedTuple):
    """Labels and the centers that belong to them."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    placed: Placed | None = None  # where rows are that are not in memory


def step(
    state: State, *, rows: Rows, total: float, free: Bools | None = None, fixed: Tally | None = None
) -> tuple[State, Info]:
    """Assign the free rows (a mask; None: all) to their nearest centers, then take means.

    ``fixed`` is the tally of the rows that keep their labels, ``total`` the scatter of the data.
    """
    labels = state.labels.copy()
    if fixed is None:
        found = assign.nearest(rows, state.centers, labels)
    else:
        found = assign.clamped(rows, state.centers, labels, np.asarray(free), fixed)
    tally, refilled = centers.refill(rows, found.tally, state.centers, labels, free)
    means = centers.means(tally, state.centers)
    return State(labels, means, rows.placed), Info(centers.within(total, tally), found.moved + refilled)
