"""Seeded K-means: labels choose the first centers, then k-means decides [Basu2002]_."""

from __future__ import annotations

from functools import partial
from typing import Any

from cluewise._typing import Ints
from cluewise.base import Card, CentroidClusterer, Problem
from cluewise.centroid._starts import all_labelled, label_centers, labelled_rows
from cluewise.core import assign, centers, lloyd, loop

__all__ = ["SeededKMeans"]


class SeededKMeans(CentroidClusterer):
    r"""K-means that starts from the means of the labelled rows and may overrule their labels.

    Use it when labels may be wrong: they only choose the start. Label class c becomes cluster c.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; may exceed the number of labelled classes.
    init : {"k-means++", "random", "perturbed"}, array-like of shape (k, d) or callable, default="k-means++"
        Start of the clusters without a labelled row: k-means++ given the class means, random rows, or the
        paper's perturbed global mean. An array or a callable replaces the whole start.
    n_init : int, default=5
        Number of starts; the lowest objective wins. One is enough when every cluster has a labelled row.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    {labels_}
    {cluster_centers_}
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the centers.
    {trace_}
    {n_iter_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: half the squared distance to the best other center minus that to its own.
    broken_ : Clues
        Labels that the result overrules.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2

    ======================= ======================
    paper                   code
    ======================= ======================
    :math:`S_h`             rows labelled class h
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= ======================

    *Deviations.* Clusters without a labelled row start by k-means++ given the class means instead of at a
    perturbed global mean, which the authors' code scales by the mean itself and which therefore does nothing
    for centered data; ``init="perturbed"`` perturbs by 0.35 standard deviations instead. An empty cluster takes
    the row that lies farthest from its center.

    References
    ----------
    .. [Basu2002] S. Basu, A. Banerjee and R. Mooney, "Semi-supervised clustering by seeding", ICML 2002.

    Examples
    --------
    >>> from cluewise import SeededKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> model = SeededKMeans(2).fit(X, clues=[0, -1, -1, 1, -1, 1, -1, -1])
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1, 1], dtype=int32)
    >>> model.broken_  # row 3 was labelled 1
    Clues(8 rows: 1 label in 1 class)
    """

    card = Card(
        paper="Basu2002",
        title="K-means started from labels",
        accepts=frozenset({"labels"}),
        named=True,
        equation="Seeded-KMeans, Fig. 1",
        aliases=("Seeded-KMeans", "S-KMeans"),
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 5,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, problem: Problem) -> Ints:
        return labelled_rows(problem)

    def _n_starts(self, problem: Problem) -> int:
        return 1 if all_labelled(problem.shared, problem.k) else super()._n_starts(problem)

    def _solve(self, problem: Problem) -> loop.Result[lloyd.State]:
        rows = problem.rows
        start = lloyd.State(assign.nobody(rows.n), label_centers(problem, self.init, problem.shared))
        move = partial(lloyd.step, rows=rows, total=problem.total)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))
