"""Metric learning by convex optimization: short must-links, and a large total length of cannot-links [Xing2002]_."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, MetricLearner, from_components
from cluewise.clues import Clues
from cluewise.core.distances import metric
from cluewise.core.rows import rows_of
from cluewise.exceptions import ClueError
from cluewise.metric_learning._lengths import (
    Differences,
    cost,
    full_step,
    newton_step,
    rescale_root,
    rescale_weights,
    slopes,
    wide_step,
)

__all__ = ["XingMetric"]

NONE = 1e-10
"""Share of the length of all must-links below which a direction converges to zero and is left out."""

WIDE = 2000
"""Maximum number of columns for Newton steps, which need the matrix of second derivatives."""


class XingMetric(MetricLearner):
    r"""Metric with short must-links and a large total length of cannot-links, by convex optimization.

    This was the first method that learned a metric from pairs. With ``shape="diagonal"`` it learns one weight per
    column, often zero for many columns, which is easy to interpret and robust with few pairs. With ``shape="full"`` it
    learns a full matrix, which needs more must-links than columns.

    Parameters
    ----------
    n_components : int, default=None
        Number of columns of the result: the directions that the metric stretches most. None for all that it uses.
    shape : {"full", "diagonal"}, default="full"
        Whether the metric is a full matrix or one weight per column.
    shrinkage : "auto" or float in [0, 1], default="auto"
        Share of the identity in the scatter of the must-links, for columns of unit variance. "auto" is d / (d + 2f) for
        a full metric and 1 / (1 + 2f) for a diagonal one, where f is the number of must-links without those that others
        entail, so it vanishes as clues increase. With 0, directions without scatter, in which the problem is unbounded,
        are left out.
    max_iter : int, default=1000
        Maximum number of steps.
    tol : float, default=1e-8
        Relative change of the objective below which the steps stop.

    Attributes
    ----------
    {components_}
    n_iter_ : int
        Number of steps.
    objective_ : float
        Minus the summed distance of the cannot-links (full), or F in the Notes (diagonal).
    trace_ : ndarray of shape (n_iter,)
        The objective after every step; it never rises.
    {columns_}

    Raises
    ------
    ClueError
        If no clue joins two rows that differ, because the metric would be unbounded.

    See Also
    --------
    RCA : A closed form that uses must-links only.
    DCA : A closed form that also uses cannot-links.

    Notes
    -----
    With :math:`\Delta` the difference of the two rows of a pair and :math:`d_A = \sqrt{\Delta^\top A \Delta}`, a full
    metric solves the first problem, a diagonal one the second; their optima agree up to scale if A is diagonal.

    .. math::

        \max_{A \succeq 0} g(A) = \sum_{cannot} v\, d_A \quad \text{with} \quad
        f(A) = \sum_{must} w\, d_A^2 = \langle A, M \rangle \le 1

    .. math:: \min_{a \ge 0} F(a) = \sum_{must} w \sum_j a_j \Delta_j^2 - \log \sum_{cannot} v\, d_a

    At the optimum f is 1 (full) or ½ (diagonal).

    ======================= ==========================================
    symbol                  in the code
    ======================= ==========================================
    A                       ``root @ root.T``
    :math:`M^{-1/2}`        ``inverse``
    :math:`\sum w\Delta^2`  ``near``
    ======================= ==========================================

    *Deviations*: distances in g are not squared, as published; some texts square them. M is shrunk by default. The full
    problem is not solved by alternating gradient steps and projections, but by :math:`A \leftarrow M^{-1} K A K
    M^{-1}`, rescaled to f = 1, with :math:`K = \sum v \Delta\Delta^\top / d_A`. Distances are convex in a root of A, so
    each step maximizes a lower bound of g. It needs neither a step length nor a projection, stays feasible, never
    lowers g, and reaches the same optimum in tens of steps. The line search of the diagonal problem uses F itself and
    stays inside a > 0; beyond 2000 columns the same kind of step as in the full problem replaces Newton's. Without
    cannot-links the optimum is zero: the metric is Euclidean, with a warning. Constant columns get no weight.

    Time per step is O((m + c) d² + d³) for m must-links and c cannot-links, including those of labels and groups.

    References
    ----------
    .. [Xing2002] E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell. "Distance metric learning, with application to
       clustering with side-information". Advances in Neural Information Processing Systems 15, 2002.

    Examples
    --------
    Must-links differ in the second column, cannot-links in the first.

    >>> from cluewise import Clues
    >>> from cluewise.metric_learning import XingMetric
    >>> X = [[0.0, 0.0], [0.1, 3.0], [4.0, 0.2], [4.2, 3.1]]
    >>> clues = Clues(4, must=[(0, 1), (2, 3)], cannot=[(0, 2), (1, 3)])
    >>> weights = XingMetric(shape="diagonal").fit(X, clues=clues).get_mahalanobis_matrix().diagonal()
    >>> bool(weights[0] > 100 * weights[1])
    True
    """

    card = Card(
        paper="Xing2002",
        title="Must-links short, cannot-links long in total",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        sparse=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        time_columns="square",
        cost="O((m + c)d² + d³)",
        equation="Eq. (29)-(37), Alg. 10 of the survey",
        aliases=("MMC", "PGDM"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MetricLearner._parameter_constraints | {
        "shape": [StrOptions({"full", "diagonal"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    n_iter_: int
    trace_: Floats
    objective_: float

    def __init__(
        self,
        n_components: int | None = None,
        *,
        shape: str = "full",
        shrinkage: float | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, X: Floats, clues: Clues) -> Attributes:
        pairs = clues.pairs(expand=True)
        near = Differences(X, pairs.must, pairs.must_weight)
        apart = Differences(X, pairs.cannot, pairs.cannot_weight)
        full = self.shape == "full"
        M = np.zeros((X.shape[1], X.shape[1]) if full else X.shape[1])
        for off, weight in near.blocks():
            off *= np.sqrt(weight)[:, None]
            M += off.T @ off if full else np.einsum("ij,ij->j", off, off)
        if not any((off.any(axis=1) & (weight > 0)).any() for off, weight in apart.blocks()):
            return self._plain(X, "no cannot-link parts two rows that differ")
        if not M.any():
            raise ClueError("XingMetric needs a must-link between rows that differ; without one it is unbounded.")
        return (self._learn_matrix if full else self._learn_weights)(apart, M, clues.n - clues.n_components)

    def _learn_matrix(self, apart: Differences, M: Floats, freedom: int) -> Attributes:
        scale = metric.scale_of(rows_of(apart.X))
        inverse = scale.raw(metric.whitening(self._shrunk(scale.standard(M), freedom)))
        start, g = rescale_root(np.eye(len(inverse)), inverse, apart)
        if g == 0:
            return self._plain(apart.X, "cannot-links differ only where must-links do not")
        found = self._run(partial(full_step, apart=apart), start, apart.X.dtype, slack=1e-9 * g)
        return self._from_state(found.state, found.trace, apart.X.dtype)

    def _learn_weights(self, apart: Differences, M: Floats, freedom: int) -> Attributes:
        varying, deviation = metric.scale_of(rows_of(apart.X))
        s = np.zeros(len(M))
        s[varying] = self._shrunk((M / deviation**2)[varying], freedom)
        a = np.where(s > metric.RANK * s.max(), deviation**-2.0, 0.0)  # where s = 0, F has no bound
        start = rescale_weights(a, s * deviation**2)
        if slopes(apart, start.a, curved=False).total == 0:
            return self._plain(apart.X, "cannot-links differ only where must-links do not")
        step = partial(newton_step if len(s) <= WIDE else wide_step, apart=apart)
        found = self._run(step, start, apart.X.dtype, slack=1e-9 * (1 + abs(cost(apart, start))))
        return self._from_state(found.state, found.trace, apart.X.dtype)

    def _metric_of(self, state: Any, dtype: Any) -> Attributes:
        if self.shape == "full":
            turn, values, _ = np.linalg.svd(state.white)
            L = (values * turn)[:, values**2 > NONE].T @ state.inverse
            fewer = self.n_components is not None and self.n_components < len(L)
            return self._from_root(L, dtype) if fewer else from_components(metric.upright(L), dtype)
        share = 2 * state.a * state.near
        chosen = np.flatnonzero(share > NONE)
        chosen = np.sort(chosen[np.argsort(-state.a[chosen], kind="stable")][: self.n_components])
        return from_components(np.diag(np.sqrt(state.a))[chosen], dtype)
