"""Large-margin nearest neighbors: the metric in which rows of other classes stay a margin away [Weinberger2009]_."""

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
"""Mean squared distance of targets in the first metric, in margins: near enough to the scale of the solution, and far
enough from a metric in which everybody is everybody's impostor."""

NOTHING = 1e-6
"""Loss per target, in margins, that counts as none: a map that can put targets in one place would go on for ever."""

Function = quasi_newton.Function
State = quasi_newton.Point


def step(state: State, *, function: Function, nothing: float) -> tuple[State, loop.Info]:
    """A step of the map L that lowers the loss; none is needed where ``nothing`` is left of it."""
    new = quasi_newton.advance(state, function) if state.value > nothing else state
    return new, loop.Info(new.value, int(new is not state))


class LMNN(MetricLearner):
    r"""Learn the metric in which the nearest rows of one class are near and other classes stay a margin away.

    Use it when many rows are labelled and the classes are neither round nor of one piece: it asks only that a row be
    near a few rows of its class. With few labels it fits what it is shown only too well; `RCA` or `ITML` are safer.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets: how many rows of its class each row is drawn to. They are chosen once, by Euclidean distance; a class
        of fewer rows has as many as there are.
    push : float, default=0.5
        Share of the push from impostors in the loss, in (0, 1) (the paper's μ); the rest is the pull to the targets.
    n_components : int, optional
        Number of directions of the new space; the map is learned with so many rows from the start, which is the leading
        principal components.
    max_iter : int, default=300
        Most steps.
    tol : float, default=1e-3
        Stop when the loss changes by at most this share of its value.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        The map: ``transform(X)`` is ``X @ components_.T``.
    n_components_ : int
        Number of directions.
    n_targets_ : int
        Pairs of a row and a target.
    n_iter_ : int
        Number of steps.
    objective_, trace_ : float, ndarray
        The loss, at the end and after every step.
    n_features_in_, feature_names_in_ : int, ndarray
        What the columns were.

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

    Rows without clues play no part. Classes are what must-links, groups and equal labels join, and impostors come
    from classes that labels, cannot-links or ``apart`` groups set apart from the row's own: with nothing but pairs a
    class is a must-link closure, and closures between which no cannot-link runs have no impostors for each other.

    A loss of a millionth of the margin per target counts as none.

    *Deviations.* Steps are quasi-Newton steps (L-BFGS) on L that must lower the loss; the paper takes projected
    subgradient steps on M. Impostors are looked for in every evaluation, among all rows that must be apart, so that the
    loss is never an estimate. The first L is the identity scaled to a mean squared distance of 2 to the targets (of all
    rows that clues speak of, where targets coincide): the scale of X does not matter. Weights of clues are not used.

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
            missing = "the rows that clues speak of are all equal"
        if missing:
            return self._plain(X, missing) | {"n_targets_": n_targets}
        function = partial(large_margin.loss, near=near, push=self.push)
        move = partial(step, function=function, nothing=NOTHING * n_targets)
        begin = quasi_newton.begin(self._first_map(near), function)
        found = self._run(move, begin, X.dtype, slack=0.0)
        return {"n_targets_": n_targets} | self._from_state(found.state, found.trace, X.dtype)

    def _first_map(self, near: large_margin.Neighborhoods) -> Floats:
        """The identity or the leading principal components, with targets at a mean squared distance of `START`.

        Where targets coincide, all rows together have that distance: the scale of X never matters.
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
