"""Seeded K-means: labels choose the first centers of k-means [Basu2002]_."""

from __future__ import annotations

from functools import partial

import numpy as np

from cluewise._typing import Bools, Ints
from cluewise.base import Card, CentroidClusterer, Problem
from cluewise.centroid._starts import all_labelled, label_centers, labelled_rows
from cluewise.core import assign, centers, lloyd, loop

__all__ = ["SeededKMeans"]


class SeededKMeans(CentroidClusterer):
    r"""K-means initialized by the means of the labeled rows, whose labels it may overrule.

    Use it when labels may be wrong: they only choose the initialization. Label class c becomes cluster c.

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
    broken_ : Clues
        The labels that the result overrules.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - \mu_{y_i} \rVert^2

    ======================= ======================
    paper                   code
    ======================= ======================
    :math:`S_h`             rows labeled class h
    :math:`\mu_h`           ``cluster_centers_[h]``
    ======================= ======================

    *Deviations.* Clusters without a labeled row are initialized by k-means++ given the class means instead of a
    perturbed global mean. The authors' code scales the perturbation by the mean, so it does nothing for centered
    data; ``init="perturbed"`` perturbs by 0.35 standard deviations instead. An empty cluster takes the row farthest
    from its center.

    {in_chunks}

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
    >>> model.broken_  # row 3 was labeled 1
    Clues(8 rows: 1 label in 1 class)
    """

    card = Card(
        paper="Basu2002",
        title="K-means started from labels",
        accepts=frozenset({"labels"}),
        named=True,
        chunks=True,
        equation="Seeded-KMeans, Fig. 1",
        aliases=("Seeded-KMeans", "S-KMeans"),
    )

    def _prepare(self, problem: Problem) -> Ints:
        return labelled_rows(problem)

    def _n_starts(self, problem: Problem) -> int:
        return 1 if all_labelled(problem.shared, problem.k) else super()._n_starts(problem)

    def _find_free(self, problem: Problem) -> Bools:
        return np.ones(problem.rows.n, dtype=bool)  # labels are forgotten after the start

    def _solve(self, problem: Problem) -> loop.Result[lloyd.State]:
        rows = problem.rows
        start = lloyd.State(assign.no_labels(rows.n), label_centers(problem, self.init, problem.shared))
        move = partial(lloyd.step, rows=rows, total=problem.total)
        return loop.run(move, start, problem.limits, centers.rounding(rows, problem.total))
