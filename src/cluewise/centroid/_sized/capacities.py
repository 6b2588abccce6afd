"""The cheapest labels with bounds on the weight of each cluster, for rows of unequal weight: integer programming.

Rows cannot be divided, so this is bin packing with costs, for which no method is both exact and fast. The linear
relaxation divides only few rows: those, and rows with a small lead, are assigned by an integer program, the others
keep the labels of the relaxation, which is also the lower bound. HiGHS gets less than a second at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues
from cluewise.core.rows import Rows
from cluewise.exact.sizes import sizes_feasible
from cluewise.exceptions import ClueError, Infeasible, Undecided

__all__ = ["Capacities", "Packing", "capacities_of", "pack"]

ENTRIES = 20_000  # rows times clusters
SECONDS = 0.8  # Ctrl-C does not interrupt HiGHS
GAP = 1e-6
MANY = 5  # rows per cluster in the first integer program


class Capacities(NamedTuple):
    """How much weight each cluster may have."""

    lower: Floats  # (k,)
    upper: Floats  # (k,), may be infinite
    weight: Floats  # (n,) of the rows

    def hold(self, labels: Ints) -> bool:
        """Whether labels are within the bounds, up to rounding."""
        load = np.bincount(labels, weights=self.weight, minlength=len(self.lower))
        slack = 1e-9 * self.weight.sum()
        return bool(((load >= self.lower - slack) & (load <= self.upper + slack)).all())


class Packing(NamedTuple):
    """Labels within the bounds, and their optimality gap."""

    labels: Ints  # (n,) int32
    gap: float  # cost of the labels − lower bound on the cost of any


def capacities_of(clues: Clues, k: int, rows: Rows) -> Capacities | None:
    """Bounds on summed weight; None if there are none, or if all rows have the same weight."""
    if clues.sizes is None or clues.size_unit == "points" or rows.weight is None:
        return None
    weight = rows.weight.astype(np.float64)
    if (np.abs(weight - weight[0]) <= 1e-9 * weight[0]).all():
        return None
    why = sizes_feasible(clues.sizes, k, float(weight.sum()), weight)
    if why is not None:
        raise Infeasible(f"{why}.", clues.only(["sizes"]))
    if rows.n * k > ENTRIES:
        raise ClueError(
            f"bounds on summed weight, with rows of unequal weight, are limited to {ENTRIES} rows times clusters; "
            f"there are {rows.n} times {k}. Bound the number of points instead."
        )
    lower, upper = np.broadcast_to(clues.sizes, (k, 2)).T
    return Capacities(lower, upper, weight)


def pack(costs: Floats, capacities: Capacities, previous: Ints | None) -> Packing:
    """The cheapest labels within the bounds found in time, at most as costly as ``previous`` (valid labels).

    Raises
    ------
    Infeasible
        There are no such labels.
    Undecided
        Neither labels nor a proof that there are none were found in time.

    Examples
    --------
    >>> import numpy as np
    >>> costs = np.array([[0.0, 9], [1, 8], [2, 4], [9, 0]])
    >>> two = np.full(2, 5.0)
    >>> pack(costs, Capacities(0 * two, two, np.array([3.0, 2, 1, 4])), None).labels
    array([0, 0, 1, 1], dtype=int32)
    """
    n, k = costs.shape
    rows = np.arange(n)
    scale = float(costs.max()) or 1.0
    least, divided, lead = _solve_relaxed(costs / scale, capacities)
    labels, count = None, MANY * k
    order = np.argsort(lead, kind="stable")
    while labels is None:  # open the rows with the smallest lead, and more of them until all fit
        found = _solve_open(costs / scale, capacities, divided, order[:count])
        if found is not None and capacities.hold(found):
            labels = found
        elif count >= n:
            break
        count *= 4
    if previous is not None and (labels is None or costs[rows, labels].sum() >= costs[rows, previous].sum()):
        labels = previous
    if labels is None:
        raise Undecided("no clustering with summed weights within the bounds on sizes was found in time.")
    return Packing(labels.copy(), max(float(costs[rows, labels].sum()) - least * scale, 0.0))


def _solve_relaxed(costs: Floats, capacities: Capacities) -> tuple[float, Ints, Floats]:
    """Linear relaxation: its cost, the main cluster of each row, and its lead (−1 for rows that are divided)."""
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    n, k = costs.shape
    once, load, lower, upper = _build_rows(n, capacities)
    above, below = np.isfinite(upper), lower > 0
    result = linprog(
        costs.ravel(),
        A_ub=vstack([load[above], -load[below]]),
        b_ub=np.concatenate([upper[above], -lower[below]]),
        A_eq=once,
        b_eq=np.ones(n),
        options={"time_limit": SECONDS},
    )
    if result.status == 2:
        raise Infeasible("no clustering has summed weights within the bounds on sizes.", capacities)
    if result.status != 0:
        return float(costs.min(axis=1).sum()), costs.argmin(axis=1).astype(np.int32), np.zeros(n)
    share = result.x.reshape(n, k)
    labels = share.argmax(axis=1)
    reduced = result.lower.marginals.reshape(n, k).copy()
    reduced[np.arange(n), labels] = np.inf
    lead = np.where(share.max(axis=1) > 1 - 1e-6, reduced.min(axis=1), -1.0)
    return float(result.fun), labels.astype(np.int32), lead


def _solve_open(costs: Floats, capacities: Capacities, labels: Ints, open_: Ints) -> Ints | None:
    """The cheapest labels that differ from ``labels`` only in the rows ``open_``; None if none were found in time."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    k = costs.shape[1]
    closed = np.setdiff1d(np.arange(len(costs)), open_)
    filled = np.bincount(labels[closed], weights=capacities.weight[closed], minlength=k)
    left = Capacities(capacities.lower - filled, capacities.upper - filled, capacities.weight[open_])
    once, load, lower, upper = _build_rows(len(open_), left)
    if (upper < 0).any():
        return None
    result = milp(
        costs[open_].ravel(),
        integrality=np.ones(len(open_) * k),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(once, 1, 1), LinearConstraint(load, lower, upper)],
        options={"time_limit": SECONDS, "mip_rel_gap": GAP},
    )
    if result.x is None:
        if result.status == 2 and not len(closed):
            raise Infeasible("no clustering of these rows has summed weights within the bounds on sizes.", capacities)
        return None
    new = labels.copy()
    new[open_] = result.x.reshape(-1, k).argmax(axis=1)
    return new


def _build_rows(n: int, capacities: Capacities) -> tuple[Any, Any, Floats, Floats]:
    """Constraints: each row once; weights and their bounds, in units that suit the tolerances of HiGHS."""
    from scipy.sparse import csr_array, eye_array, kron

    k = len(capacities.lower)
    unit = 1e4 / capacities.weight.sum() if capacities.weight.any() else 1.0
    once = csr_array(kron(eye_array(n), np.ones((1, k))))
    load = csr_array(kron((capacities.weight * unit)[None, :], eye_array(k)))
    return once, load, capacities.lower * unit, capacities.upper * unit
