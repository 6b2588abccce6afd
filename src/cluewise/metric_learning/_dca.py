"""Discriminative component analysis: little scatter within chunklets, much between them [Hoi2006]_."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.base import Attributes, Card, MetricLearner, from_components
from cluewise.clues import Clues
from cluewise.core.centers import group_means
from cluewise.core.distances import metric
from cluewise.core.rows import Rows, rows_of
from cluewise.exceptions import ClueError

__all__ = ["DCA"]

LIMIT = 10**7
"""Maximum number of pairs of components in overlapping apart groups."""


def between(rows: Rows, clues: Clues) -> Floats:
    """C_b, the mean of (m_i − m_j)(m_i − m_j)ᵀ over the pairs of components that must be apart; 0 without such pairs.

    Groups (and label classes) that share no component are summed in closed form: the sum over the pairs of s means is
    s times their scatter around their own mean.
    """
    graph, cliques = clues.graph, clues.cliques
    low = np.repeat(np.arange(clues.n_components), np.diff(graph.indptr))
    once = low < graph.indices
    links = np.column_stack([low[once], graph.indices[once]])
    size = np.diff(cliques.indptr)
    group = np.repeat(np.arange(len(size)), size)
    if len(np.unique(cliques.members)) < len(cliques.members):
        links = np.unique(np.concatenate([links, _pairs(size, cliques.indptr, cliques.members)]), axis=0)
        size, group, members = size[:0], group[:0], cliques.members[:0]
    else:
        members = cliques.members
        of_component = np.full(clues.n_components, -1, dtype=np.int64)
        of_component[members] = group
        first, second = of_component[links].T
        links = links[(first != second) | (first < 0)]  # a pair that is also in a group counts once
    count = len(links) + int((size * (size - 1) // 2).sum())
    named = np.union1d(links.ravel(), members)
    number = np.full(clues.n_components, -1, dtype=np.int32)
    number[named] = np.arange(len(named), dtype=np.int32)
    means, _ = group_means(rows, number[clues.components], len(named))
    total = np.zeros((rows.d, rows.d))
    for part in metric.blocks(len(links), rows.d):
        off = metric.differences(means, number[links[part]])
        total += off.T @ off
    if len(members):
        mine = means[number[members]]
        middle = np.zeros((len(size), rows.d))
        np.add.at(middle, group, mine)
        off = (mine - (middle / size[:, None])[group]) * np.sqrt(size[group])[:, None]
        total += off.T @ off
    return total / max(count, 1)


def _pairs(size: Ints, indptr: Ints, members: Ints) -> Ints:
    """Pairs of components in every group, lower number first, for groups that overlap."""
    if int((size * (size - 1) // 2).sum()) > LIMIT:
        raise ClueError(f"overlapping apart groups imply more than {LIMIT} pairs of components; use fewer groups.")
    found = [np.empty((0, 2), dtype=np.int64)]
    for start, s in zip(indptr[:-1], size, strict=True):
        first, second = np.triu_indices(s, 1)
        found.append(np.column_stack([members[start + first], members[start + second]]).astype(np.int64))
    return np.concatenate(found)


class DCA(MetricLearner):
    r"""Discriminative component analysis: little scatter within chunklets, much between those that must be apart.

    Rows joined by must-links, together groups or equal labels form *chunklets*; cannot-links, apart groups and
    different labels keep chunklets (and single rows) apart. DCA keeps only the directions in which components that must
    be apart differ, and divides there by the scatter within chunklets, as `RCA` does in all directions. With few
    cannot-links the metric has few dimensions; with the labels of k classes at most k − 1. Use it for data with many
    columns that are mostly noise.

    Parameters
    ----------
    n_components : int, default=None
        Number of columns of the result. None keeps all directions in which components that must be apart differ; fewer
        are those with the least scatter within chunklets relative to the scatter between them.
    {shrinkage}

    Attributes
    ----------
    {components_}
    {columns_}

    Raises
    ------
    Contradiction
        If two rows must be both together and apart.

    See Also
    --------
    RCA : The same without cannot-links, in all directions.

    Notes
    -----
    The directions are found in two steps: first those in which the means of components that must be apart differ, then,
    among these, those with the least scatter within chunklets:

    .. math::

        C_b = \frac{1}{n_b} \sum_j \sum_{i \in D_j} (m_j - m_i)(m_j - m_i)^\top, \quad
        C_w = \frac{1}{c} \sum_{j=1}^{c} \frac{1}{n_j} \sum_i (x_{ji} - m_j)(x_{ji} - m_j)^\top

    .. math::

        C_b = U \Lambda_b U^\top, \quad Z = U \Lambda_b^{-1/2}, \quad Z^\top C_w Z = V \Lambda_w V^\top, \quad
        M = A A^\top, \quad A = Z V \Lambda_w^{-1/2}.

    If all directions are kept and :math:`C_b` has full rank, :math:`M = C_w^{-1}` does not depend on the cannot-links:
    they only select directions.

    ===================== ==========================================
    symbol                in the code
    ===================== ==========================================
    :math:`C_b`           ``apart``
    :math:`C_w`           ``C``
    :math:`D_j`           neighbors of j in ``clues.graph``
    :math:`A^\top`        ``metric.whitening(C, apart, count)``
    ===================== ==========================================

    *Deviations*: components of one row count in :math:`C_b`, so that cannot-links between rows without must-links have
    an effect; :math:`c` counts chunklets of two or more rows. A pair of components counts once, however many clues keep
    it apart, so an entailed clue changes nothing, and weights of links are ignored. :math:`C_w` is shrunk by default;
    ``shrinkage=0`` is as published. Rank and shrinkage are determined for columns divided by their standard deviation.
    Without cannot-links :math:`C_b = I`; without must-links, or if rows that belong together are all equal,
    :math:`C_w = I`; without both the metric is Euclidean, with a warning.

    Time is O(n d + (p + q) d² + d³) for p rows in chunklets and q pairs of components that must be apart.

    References
    ----------
    .. [Hoi2006] S. C. H. Hoi, W. Liu, M. R. Lyu and W.-Y. Ma. "Learning distance metrics with contextual constraints
       for image retrieval". IEEE Conference on Computer Vision and Pattern Recognition, 2006.

    Examples
    --------
    Three classes differ in two of three columns; the third column is ignored.

    >>> from cluewise import Clues
    >>> from cluewise.metric_learning import DCA
    >>> X = [[0, 0, 5], [1, 0, -5], [0, 1, 0], [9, 0, 5], [8, 1, -5], [9, 1, 0], [0, 9, 5], [1, 8, -5], [1, 9, 0]]
    >>> dca = DCA().fit(X, clues=Clues(9, labels=[0, 0, 0, 1, 1, 1, 2, 2, 2]))
    >>> dca.n_components_
    2
    """

    card = Card(
        paper="Hoi2006",
        title="Whiten within chunklets, along what tells them apart",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
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
        cost="O(nd + (p + q)d² + d³)",
        equation="covariances between and within chunklets, diagonalized one after the other",
        aliases=("discriminative component analysis",),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = MetricLearner._parameter_constraints | {
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: float | str = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _learn(self, X: Floats, clues: Clues) -> Attributes:
        rows = rows_of(X)
        within, scale = metric.chunklets(rows, clues), metric.scale_of(rows)
        C = scale.standard(metric.scatter(rows, within, 1 / (max(len(within.sizes), 1) * within.sizes)))
        apart = scale.standard(between(rows, clues))
        joins, parts = (metric.differs(found, rows.n) for found in (C, apart))  # equal rows are not joined nor parted
        if not joins and not parts:
            return self._plain(X, "no clue joins or parts two rows that differ")
        plain = scale.standard(np.eye(rows.d))
        C = self._shrunk(C, len(within.rows) - len(within.sizes)) if joins else plain
        L = metric.whitening(C, apart if parts else plain, self.n_components)
        return from_components(metric.upright(scale.raw(L)), X.dtype)
