"""What is drawn for each base partition before anybody looks at the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cluewise._typing import Floats, Ints

__all__ = ["Plan", "planned", "studied"]


class Plan(NamedTuple):
    """The draws of one partition."""

    columns: Ints  # (d̃,)
    directions: Floats  # (d̃, k): each center starts at a row ...
    quantiles: Floats  # (k,) ... at this place in the order along its direction
    sample: int | None  # seed of the rows to learn from; None: all (rows by the thousand would fill the memory)
    n_rows: int


def planned(n: int, d: int, width: int, k: int, n_rows: int, rng: np.random.Generator) -> Plan:
    """Draw for one partition of n rows with d columns: width columns, k clusters, n_rows rows to learn from."""
    columns = np.sort(rng.choice(d, size=width, replace=False))
    sample = int(rng.integers(2**62)) if n > n_rows else None
    return Plan(columns, rng.normal(size=(width, k)), rng.random(k), sample, n_rows)


def studied(rows: Any, plan: Plan) -> Any:
    """The rows and columns that a partition learns from; sparse if the rows are."""
    if plan.sample is None:
        return rows[:, plan.columns]
    drawn = np.random.default_rng(plan.sample).choice(rows.shape[0], size=plan.n_rows, replace=False)
    drawn.sort()
    if isinstance(rows, np.ndarray):
        return rows[np.ix_(drawn, plan.columns)]  # whole rows would be twenty times as much
    return rows[:, plan.columns][drawn]
