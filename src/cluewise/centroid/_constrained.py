"""Constrained K-means: labelled rows keep their labels, the others are clustered around them [Basu2002]_."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cluewise._typing import Ints
from cluewise.base import Card, CentroidClusterer, Problem
from cluewise.centroid._starts import all_labelled, label_centers, labelled_rows
from cluewise.core import assign, centers, lloyd, loop

__all__ = ["ConstrainedKMeans"]


class ConstrainedKMeans(CentroidClusterer):
    r"""K-means in which labelled rows keep their labels.

    Use it when labels are right. Label class c becomes cluster c; there may be more clusters than classes.

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
        Lead of each row's cluster: half the squared distance to the best other center minus that to its own;
        negative where only the label keeps a row in its cluster.
    broken_ : Clues
        Always empty: labels are hard.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2, \quad y_i \text{ given for } i \in S

    ======================= ======================
    paper                   code
    ======================= ======================
    :math:`S`               labelled rows
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= ======================

    *Deviations.* Those of `SeededKMeans`; an empty cluster takes the unlabelled row farthest from its center.

    References
    ----------
    .. [Basu2002] S. Basu, A. Banerjee and R. Mooney, "Semi-supervised clustering by seeding", ICML 2002.

    Examples
    --------
    >>> from cluewise import ConstrainedKMeans
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> model = ConstrainedKMeans(2).fit(X, clues=[0, -1, -1, 1, -1, 1, -1, -1])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Basu2002",
        title="K-means with fixed labels",
        accepts=frozenset({"labels"}),
        hard=True,
        closes=True,
        named=True,
        equation="Constrained-KMeans, Fig. 2",
        aliases=("Constrained-KMeans", "C-KMeans"),
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
        rows, k, seeds = problem.rows, problem.k, problem.shared
        start = lloyd.State(
            np.where(seeds >= 0, seeds, assign.nobody(rows.n)), label_centers(problem, self.init, seeds)
        )
        parked = centers.tally(rows, np.where(seeds < 0, k, seeds).astype(np.int32), k + 1)
        fixed = centers.Tally(parked.sums[:k], parked.mass[:k])
        move = partial(lloyd.step, rows=rows, total=problem.total, free=seeds < 0, fixed=fixed)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))
