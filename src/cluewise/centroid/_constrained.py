"""Constrained K-means: labeled rows keep their labels, the others are clustered around them [Basu2002]_."""

from __future__ import annotations

from functools import partial

import numpy as np

from cluewise._typing import Ints
from cluewise.base import Card, CentroidClusterer, Problem
from cluewise.centroid._starts import all_labelled, label_centers, labelled_rows
from cluewise.core import assign, centers, lloyd, loop

__all__ = ["ConstrainedKMeans"]


class ConstrainedKMeans(CentroidClusterer):
    r"""K-means in which labeled rows keep their labels.

    Use it when the labels are right. Label class c becomes cluster c; there may be more clusters than classes.

    Parameters
    ----------
    {n_clusters}
        May exceed the number of labeled classes.
    init : {"k-means++", "random", "perturbed"}, array-like of shape (k, d) or callable, default="k-means++"
        Initialization of the clusters without a labeled row: k-means++ given the class means, random rows, or the
        paper's perturbed global mean. An array or a callable replaces all centers.
    {n_init 5}
        One start is made if every cluster has a labeled row.
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {clusters_}
    {objective_squares_}
    {inertia_}
    {iterations_}
    {margin_}
    {none_broken_}

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2, \quad y_i \text{ given for } i \in S

    ======================= ======================
    paper                   code
    ======================= ======================
    :math:`S`               labeled rows
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= ======================

    *Deviations.* Those of `SeededKMeans`; an empty cluster takes the unlabeled row farthest from its center.

    {in_chunks}

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
        chunks=True,
        equation="Constrained-KMeans, Fig. 2",
        aliases=("Constrained-KMeans", "C-KMeans"),
    )

    def _prepare(self, problem: Problem) -> Ints:
        return labelled_rows(problem)

    def _n_starts(self, problem: Problem) -> int:
        return 1 if all_labelled(problem.shared, problem.k) else super()._n_starts(problem)

    def _solve(self, problem: Problem) -> loop.Result[lloyd.State]:
        rows, k, seeds = problem.rows, problem.k, problem.shared
        start = lloyd.State(
            np.where(seeds >= 0, seeds, assign.no_labels(rows.n)), label_centers(problem, self.init, seeds)
        )
        # Labeled rows never move, so they are added up once; the others go into a cluster k that is dropped.
        parked = centers.tally(rows, np.where(seeds < 0, k, seeds).astype(np.int32), k + 1)
        fixed = centers.Tally(parked.sums[:k], parked.mass[:k])
        move = partial(lloyd.step, rows=rows, total=problem.total, free=seeds < 0, fixed=fixed)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))
