"""Large-margin nearest neighbors: a metric that keeps rows of other classes a margin away [Weinberger2009]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from cluewise._sklearn import Interval
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, MetricLearner
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.metric_learning import _large_margin as large_margin
from cluewise.metric_learning import _quasi_newton as quasi_newton

__all__ = ["LMNN"]

START = 2.0
"""Mean squared distance of targets in the initial metric, in margins: close to the scale of the solution, but large
enough that not all rows are impostors."""

NOTHING = 1e-6
"""Loss per target, in margins, at which to stop: if targets can coincide, the loss would approach zero forever."""

Function = quasi_newton.Function
State = quasi_newton.Point


def step(state: State, *, function: Function, nothing: float) -> tuple[State, loop.Info]:
    """A step of the map L that lowers the loss; none if the loss is at most ``nothing``."""
    new = quasi_newton.advance(state, function) if state.value > nothing else state
    return new, loop.Info(new.value, int(new is not state))


class LMNN(MetricLearner):
    r"""Learn a metric that pulls rows towards neighbors of their class and keeps other classes a margin away.

    Use it when many rows are labeled and classes are not spherical or consist of several parts: a row only needs to be
    close to a few rows of its class. With few labels it overfits; `RCA` or `ITML` are safer.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of targets, the rows of its class that each row is pulled towards. They are chosen once, by Euclidean
        distance; smaller classes have fewer.
    push : float, default=0.5
        Share of the impostors in the loss, in (0, 1) (the paper's μ); the rest is the pull towards the targets.
    n_components : int, optional
        Number of columns of the result. The map starts from as many leading principal components.
    max_iter : int, default=300
        Maximum number of steps.
    tol : float, default=1e-3
        Relative change of the loss below which the steps stop.

    Attributes
    ----------
    {components_}
    n_targets_ : int
        Number of pairs of a row and a target.
    n_iter_ : int
        Number of steps.
    objective_, trace_ : float, ndarray
        The loss, at the end and after every step.
    {columns_}

    Notes
    -----
    Minimized over maps L, with targets j of i, and impostors l that i must be apart from:

    .. math::

        (1 - \mu) \sum_{i, j} \lVert L(x_i - x_j) \rVert^2
        + \mu \sum_{i, j, l} \left[ 1 + \lVert L(x_i - x_j) \rVert^2 - \lVert L(x_i - x_l) \rVert^2 \right]_+

    ========= ================
    paper     here
    ========= ================
    k, μ      ``n_neighbors``, ``push``
    L         ``components_``
    M         ``get_mahalanobis_matrix()``
    ========= ================

    Rows without clues are not used. Classes are the must-link components, including those of groups and equal labels.
    Impostors of a row come from classes that must be apart from its own by labels, cannot-links or ``apart`` groups;
    components without a cannot-link between them have no impostors for each other.

    The iterations also stop at a loss of a millionth of the margin per target.

    *Deviations.* Steps are quasi-Newton steps (L-BFGS) on L that must lower the loss; the paper uses projected
    subgradient steps on M. Impostors are searched for in every evaluation, among all rows that must be apart, so the
    loss is exact. The initial L is the identity, scaled to a mean squared distance of 2 to the targets (between all
    rows with clues if targets coincide), so the scale of X does not matter. Weights of clues are ignored.

    References
    ----------
    .. [Weinberger2009] K. Q. Weinberger, L. K. Saul. Distance metric learning for large margin nearest neighbor
       classification. Journal of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> from cluewise.metric_learning import LMNN
    >>> X = [[0.0, 0.0], [0.0, 4.0], [1.0, 0.0], [1.0, 4.0], [0.5, 9.0]]
    >>> M = LMNN(n_neighbors=1).fit(X, clues=[0, 0, 1, 1, -1]).get_mahalanobis_matrix()
    >>> bool(M[0, 0] > 1 > M[1, 1])
    True
    """

    card = Card(
        paper="Weinberger2009",
        title="Metric with a margin around nearest neighbors of one class",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        predicts=False,
        sparse=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        time_rows="square",
        cost="O(n²d)",
        aliases=("large margin nearest neighbor",),
    )
    _parameter_constraints = MetricLearner._parameter_constraints | {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "push": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    n_targets_: int
    n_iter_: int
    trace_: Floats
    objective_: float

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        push: float = 0.5,
        n_components: int | None = None,
        max_iter: int = 300,
        tol: float = 1e-3,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.push = push
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, X: Floats, clues: Clues) -> Attributes:
        near = large_margin.neighborhoods(X, clues, self.n_neighbors)
        n_targets = int(near.has.sum())
        missing = ""
        if not near.has.any():
            missing = "no clue joins two rows"
        elif not near.blocks and not len(near.listed):
            missing = "no clue parts rows that belong together from others"
        elif not np.ptp(near.X, axis=0).any():
            missing = "the rows with clues are all equal"
        if missing:
            return self._plain(X, missing) | {"n_targets_": n_targets}
        function = partial(large_margin.loss, near=near, push=self.push)
        move = partial(step, function=function, nothing=NOTHING * n_targets)
        begin = quasi_newton.begin(self._first_map(near), function)
        found = self._run(move, begin, X.dtype, slack=0.0)
        return {"n_targets_": n_targets} | self._from_state(found.state, found.trace, X.dtype)

    def _first_map(self, near: large_margin.Neighborhoods) -> Floats:
        """The identity or the leading principal components, with targets at a mean squared distance of `START`.

        If targets coincide, all rows have that mean distance instead, so the scale of X never matters.
        """
        d = near.X.shape[1]
        L = np.eye(d)
        if self.n_components is not None and self.n_components < d:
            L = np.linalg.eigh(near.X.T @ near.X)[1][:, ::-1].T[: self.n_components]
        z = near.X @ L.T
        typical = float(large_margin.to_targets(z, near)[near.has].mean()) or 2 * float((z**2).sum(axis=1).mean())
        return L * np.sqrt(START / typical)

    def _metric_of(self, state: State, dtype: Any) -> Attributes:
        return self._from_root(state.x, dtype)
