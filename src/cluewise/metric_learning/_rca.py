"""Relevant component analysis: directions in which rows that belong together scatter count less [BarHillel2005]_."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, MetricLearner, from_components
from cluewise.clues import Clues
from cluewise.core.distances import metric
from cluewise.core.rows import rows_of

__all__ = ["RCA"]


class RCA(MetricLearner):
    r"""Relevant component analysis: a metric in which rows that belong together scatter equally in all directions.

    Rows joined by must-links, together groups or equal labels form *chunklets*. How the rows of a chunklet differ tells
    what does not matter: RCA measures that scatter and divides by it. One pass over the chunklets and one
    eigendecomposition; nothing iterates and there is hardly anything to choose, so it is the metric to try first. It
    learns nothing from cannot-links: use `DCA` or `XingMetric` for those.

    Parameters
    ----------
    n_components : int, default=None
        Number of columns to make. None keeps all directions; with fewer, those are kept in which chunklets scatter
        least in comparison with all rows.
    shrinkage : "auto" or float in [0, 1], default="auto"
        Share of the identity that is mixed into the covariance of the chunklets, in columns of unit variance. "auto" is
        d / (d + 2f), where f is the number of rows in chunklets less the number of chunklets: it matters when clues are
        few and vanishes when they are many. With 0, directions without scatter are left out.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        L, with ``transform(X) = X @ L.T``; symmetric where the metric has full rank and units do not differ too much.
    n_components_ : int
        Rank of the metric.
    {columns_}

    See Also
    --------
    DCA : Uses cannot-links, too.
    XingMetric : Weighs pairs against each other; few columns or sparse weights.

    Notes
    -----
    The metric is the inverse of the covariance within chunklets,

    .. math:: M = C^{-1}, \quad C = \frac{1}{p} \sum_{j=1}^{J} \sum_{i=1}^{n_j} (x_{ji} - m_j)(x_{ji} - m_j)^\top,

    so that the covariance within chunklets of the transformed rows is the identity.

    =============== ==========================================
    symbol          in the code
    =============== ==========================================
    C               ``C`` (columns divided by their deviation)
    :math:`m_j`     ``within.means``
    :math:`p`       ``len(within.rows)``
    =============== ==========================================

    *Deviations*: chunklets are must-link components, so an entailed must-link changes nothing, and weights of links
    are ignored. C is shrunk by default; with ``shrinkage=0`` it is as published. Rank and shrinkage are decided in
    columns divided by their standard deviation, which makes them independent of units; a column that is constant gets
    no weight. The fewer directions that ``n_components`` asks for are those of Fisher's criterion (least scatter within
    chunklets for the scatter of all rows); the published algorithm reduces dimension that way before it whitens.
    Without chunklets that scatter, the metric is the Euclidean one, and a warning says so.

    Time is O(n d + p d² + d³) for p rows in chunklets, O(n d²) with ``n_components``.

    References
    ----------
    .. [BarHillel2005] A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall. "Learning a Mahalanobis metric from
       equivalence constraints". Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    Rows 0 to 2 and 3 to 5 belong together; they scatter in the second column mostly.

    >>> from cluewise import Clues
    >>> from cluewise.metric_learning import RCA
    >>> X = [[0.0, 1.0], [0.1, 5.0], [0.2, 9.0], [1.0, 0.0], [1.1, 4.5], [1.3, 9.5]]
    >>> rca = RCA().fit(X, clues=Clues(6, labels=[0, 0, 0, 1, 1, 1]))
    >>> rca.transform(X).shape
    (6, 2)
    >>> near, far = rca.pair_distance([X[0], X[0]], [X[2], X[3]])
    >>> bool(near < far)
    True
    """

    card = Card(
        paper="BarHillel2005",
        title="Whiten what varies among rows that belong together",
        accepts=frozenset({"labels", "must", "together"}),
        hard=True,
        closes=True,
        descends=False,
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        sparse=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        time_columns="square",
        cost="O(nd + pd² + d³)",
        equation="inverse of the covariance within chunklets",
        aliases=("relevant component analysis",),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MetricLearner._parameter_constraints | {
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: float | str = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _learn(self, X: Floats, clues: Clues) -> Attributes:
        rows = rows_of(X)
        within = metric.chunklets(rows, clues)
        if not len(within.sizes):
            return self._plain(X, "no clue joins two rows")
        scale = metric.scale_of(rows)
        C = scale.standard(metric.scatter(rows, within, np.full(len(within.sizes), 1 / len(within.rows))))
        if not metric.differs(C, rows.n):
            return self._plain(X, "rows that belong together are all equal")
        C = self._shrunk(C, len(within.rows) - len(within.sizes))
        total = None if self.n_components is None else scale.standard(metric.covariance(rows))
        L = scale.raw(metric.whitening(C, total, self.n_components))
        return from_components(metric.upright(L), X.dtype)
