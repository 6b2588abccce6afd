"""Relevant component analysis: directions in which rows that belong together scatter count less [BarHillel2005]_."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats
from cluewise.base import Attributes, Card, MetricLearner, from_components
from cluewise.clues import Clues
from cluewise.core.chunks import Chunks
from cluewise.core.crowd import split_rows
from cluewise.core.distances import metric
from cluewise.core.rows import rows_of

__all__ = ["RCA"]


class RCA(MetricLearner):
    r"""Relevant component analysis: a metric in which rows that belong together scatter equally in all directions.

    Rows joined by must-links, together groups or equal labels form *chunklets*. The scatter within chunklets is
    irrelevant variation: RCA measures it and divides by it. This takes one pass over the chunklets and one
    eigendecomposition, with hardly any parameters, so it is the metric to try first. It does not use cannot-links; use
    `DCA` or `XingMetric` for those.

    Parameters
    ----------
    n_components : int, default=None
        Number of columns of the result. None keeps all directions; fewer are those with the least scatter within
        chunklets relative to that of all rows.
    {shrinkage}

    Attributes
    ----------
    {components_}
    {columns_}

    See Also
    --------
    DCA : Also uses cannot-links.
    XingMetric : Weighs must-links against cannot-links; for few columns or sparse weights.

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
    are ignored. C is shrunk by default; ``shrinkage=0`` is as published. Rank and shrinkage are determined for columns
    divided by their standard deviation, so they do not depend on units; constant columns get no weight. With
    ``n_components``, directions are selected by Fisher's criterion (least scatter within chunklets relative to the
    scatter of all rows); the published algorithm reduces the dimension in that way before whitening. If no chunklet has
    rows that differ, the metric is Euclidean, with a warning.

    X may be a dask array, or a dask data frame of numbers: rows in chunklets are brought into memory, the others are
    read once, or twice with ``n_components``, and ``transform`` returns a dask array.

    Time is O(n d + p d² + d³) for p rows in chunklets, O(n d²) with ``n_components``.

    References
    ----------
    .. [BarHillel2005] A. Bar-Hillel, T. Hertz, N. Shental and D. Weinshall. "Learning a Mahalanobis metric from
       equivalence constraints". Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    Rows 0 to 2 and rows 3 to 5 belong together; they differ mostly in the second column.

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
        chunks=True,
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

    def _learn(self, X: Floats | Chunks, clues: Clues) -> Attributes:
        if isinstance(X, Chunks):
            rows, clues = split_rows(X, clues.tied), clues[clues.tied]
        else:
            rows = rows_of(X)
        within = metric.chunklets(rows, clues)
        if not len(within.sizes):
            return self._plain(X, "no clue joins two rows")
        scale = metric.scale_of(rows)
        C = scale.standard(metric.scatter(rows, within, np.full(len(within.sizes), 1 / len(within.rows))))
        if not metric.differs(C, rows.n_all):
            return self._plain(X, "rows that belong together are all equal")
        C = self._shrunk(C, len(within.rows) - len(within.sizes))
        total = None if self.n_components is None else scale.standard(metric.covariance(rows))
        L = scale.raw(metric.whitening(C, total, self.n_components))
        return from_components(metric.upright(L), X.dtype)
