"""K-means-based consensus clustering: the partition that shares most information with several others [Wu2015]_."""

from __future__ import annotations

from math import isqrt
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from cluewise._sklearn import Interval
from cluewise._typing import Array, Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, Problem
from cluewise.clues import Clues
from cluewise.core import loop
from cluewise.core.loop import Progress
from cluewise.core.partitions.consensus import Basis, State, basis_of, begin, step
from cluewise.core.partitions.labelings import Labelings, costs_in, distinct_rows
from cluewise.core.partitions.utilities import information, utility_of
from cluewise.ensemble._partitions import make_partitioner

__all__ = ["KCC"]


class KCC(Clusterer):
    r"""Combine many partitions of the rows, complete or not, into the one that shares most information with them.

    Use it when you have several clusterings of the same rows, from different people, columns or methods, and want one
    that agrees with them as well as possible; or to make many quick clusterings of difficult data and let them vote.
    Labels and partial partitions among the clues are further partitions, weighted by ``trust``. Only partitions count:
    two rows that no partition separates stay together.

    Parameters
    ----------
    {n_clusters}
    utility : {"shannon", "category", "cosine"} or float, default="shannon"
        How the agreement of clusters and partitions is measured: by mutual information in bits, category utility, the
        norm of the label frequencies, or their norm of an order above 1 (5 and 8 are usual).
    normalized : bool, default=False
        Whether each utility is divided by its scale, so that partitions into few clusters count as much as those into
        many.
    partitions : array-like of shape (m, n) or callable, default=None
        The partitions as integers, one line per partition, negative where a row has no label (in an unsigned array:
        the largest number of its type). Or a function that makes them, called as ``partitions(X, n_partitions=,
        n_clusters=, random_state=)``. By default k-means with ``n_clusters`` up to :math:`\sqrt n` clusters, at most
        50 unless ``n_clusters`` is larger; if there are more than 20 columns, each partition uses some of them.
    n_partitions : int, default=100
        Number of partitions to make.
    weights : array-like of shape (m,), default=None
        Weight of each partition, scaled to a sum of 1; equal by default.
    trust : float or array-like of shape (n_labelings,), default=100.0
        Weight of labels and partitions among the clues, where all other partitions together have weight 1: a number,
        or one per labeling (``labels`` first if there are any, then ``partitions``).
    {n_init 10}
        Each start is from rows drawn at random.
    {max_iter 100}
    tol : float, default=1e-5
        Relative change of the objective below which the iterations have converged and stop.
    {random_state}

    Attributes
    ----------
    {labels_}
    {n_clusters_}
    objective_ : float
        Information about the partitions that the clusters lack, summed over the rows; see Notes.
    {iterations_}
    utilities_ : ndarray of shape (n_labelings,)
        Utility of each partition: first those given or made, then those among the clues.
    label_shares_ : list of ndarrays of shape (n_clusters, n_codes)
        Label frequencies of each partition in each cluster, in the same order.
    uncovered_ : ndarray
        Rows that no partition covers; they are in the largest cluster.
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: cost in the best other cluster minus cost in its own.
    broken_ : Clues
        Labels of a partition that are not the most frequent one in their row's cluster, and ``labels`` that disagree
        with the best one-to-one matching of classes and clusters.

    See Also
    --------
    PartitionKMeans : Uses clues of the same kinds together with the rows themselves.

    Notes
    -----
    With :math:`P_k^i` the label frequencies of partition i in cluster k, :math:`P^i` those in all of its :math:`n_i`
    covered rows and :math:`\phi` convex, the utility

    .. math:: U(\pi, \pi_i) = \sum_k p_k^i \phi(P_k^i) - \phi(P^i)

    is maximized in the mean :math:`\sum_i w_i n_i U(\pi, \pi_i)`, by minimizing

    .. math:: J = \sum_i w_i \sum_{l : b_{li} \ge 0} D_\phi(e(b_{li}), m_{z_l}^i)
        = \sum_i w_i n_i \left(\phi(e) - \phi(P^i) - U(\pi, \pi_i)\right)

    over clusters :math:`z` and centroids :math:`m`, whose best values are label frequencies: k-means on one-hot rows,
    which are never written out. Normalized, :math:`w_i` is divided by :math:`|\phi(P^i)|`.

    =========== ============================ ==========================================
    utility     :math:`\phi(y)`              cost of label j
    =========== ============================ ==========================================
    "category"  :math:`\lVert y \rVert^2`    :math:`1 - 2 y_j + \lVert y \rVert^2`
    "shannon"   :math:`\sum y_j \log_2 y_j`  :math:`-\log_2 y_j`
    "cosine"    :math:`\lVert y \rVert`      :math:`1 - y_j / \lVert y \rVert`
    p           :math:`\lVert y \rVert_p`    :math:`1 - (y_j / \lVert y \rVert_p)^{p-1}`
    =========== ============================ ==========================================

    ======================================== =====================================
    paper                                    code
    ======================================== =====================================
    :math:`\Pi`, :math:`r`                   ``partitions``, ``n_partitions``
    :math:`w_i`                              ``weights``, ``trust``
    :math:`m_k^i`                            ``label_shares_[i][k]``
    :math:`U(\pi, \pi_i)`                    ``utilities_[i]``
    ======================================== =====================================

    *Deviations.* A label that does not occur in a cluster costs 52 bits under "shannon" instead of infinity. A cluster
    without a covered row keeps its frequencies, at first those of all rows; the authors' program draws a random label.
    An empty cluster takes the row with the highest cost, and all rows with the same labels; it stays empty if there
    are fewer distinct rows than clusters. A row that no partition covers goes to the largest cluster. As a competitor
    in [Liu2015]_ the method combines one k-means partition with labels of trust 100.

    References
    ----------
    .. [Wu2015] J. Wu, H. Liu, H. Xiong, J. Cao and J. Chen, "K-means-based consensus clustering: a unified view", IEEE
       Transactions on Knowledge and Data Engineering 27(1), 2015.
    .. [Liu2015] H. Liu and Y. Fu, "Clustering with partition level side information", ICDM 2015.

    Examples
    --------
    >>> from cluewise import KCC
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> views = [[0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1, -1, -1]]
    >>> model = KCC(3, partitions=views, random_state=0).fit(X)
    >>> model.labels_
    array([1, 1, 1, 2, 2, 2, 0, 0], dtype=int32)
    >>> model.utilities_.round(2)  # bits
    array([1.56, 0.87, 1.  ])
    """

    _drawn_start = "random"

    card = Card(
        paper="Wu2015",
        title="Consensus of partitions by k-means",
        accepts=frozenset({"labels", "partitions"}),
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        weights=False,
        plain="",
        means=False,
        equation="k-means with the point-to-centroid distance of the utility",
        cost="O(nkm)",
        aliases=("K-means-based consensus clustering",),
    )
    _parameter_constraints = {
        name: rule for name, rule in Clusterer._parameter_constraints.items() if name != "init"
    } | {
        "utility": [str, Interval(Real, 1, None, closed="neither")],
        "normalized": ["boolean"],
        "partitions": ["array-like", callable, None],
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
        "weights": ["array-like", None],
        "trust": [Interval(Real, 0, None, closed="left"), "array-like"],
    }

    label_shares_: list[Floats]
    utilities_: Floats
    margin_: Floats
    uncovered_: Ints

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        utility: str | float = "shannon",
        normalized: bool = False,
        partitions: Any = None,
        n_partitions: int = 100,
        weights: Any = None,
        trust: Any = 100.0,
        n_init: int | str = 10,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.utility = utility
        self.normalized = normalized
        self.partitions = partitions
        self.n_partitions = n_partitions
        self.weights = weights
        self.trust = trust
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Make partitions of the rows of X, if none are given, and combine them with those among the clues.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data; ignored if partitions are given.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        return super().fit(X, y, clues=clues)

    def _n_starts(self, problem: Problem) -> int:
        return self._wanted_starts

    def _prepare(self, problem: Problem) -> Basis:
        utility = utility_of(self.utility)
        lines = self._make_partitions(problem)
        weights = _check_numbers(self.weights, len(lines), "weights", "partition")
        if not weights.any():
            raise ValueError("weights are zero for every partition.")
        known = _list_labelings(problem.clues)
        trust = _check_numbers(self.trust, len(known), "trust", "labeling")
        weight = np.concatenate([weights / weights.sum(), trust])
        return basis_of([*lines, *known], weight, utility, self.normalized, problem.rng)

    def _make_partitions(self, problem: Problem) -> list[Array]:
        """The partitions that do not come from clues, given or made."""
        rows, k = problem.rows, problem.k
        given = self.partitions
        if given is None:
            high = max(k, min(isqrt(rows.n), 50))
            width = min(rows.d, max(20, -(-rows.d // 20)))
            watch = problem.limits.watch
            assert isinstance(watch, Progress)
            make = make_partitioner(watch, n_columns=width)
            given = make(rows.X, n_partitions=self.n_partitions, n_clusters=(k, high), random_state=problem.rng)
        elif callable(given):
            given = given(rows.X, n_partitions=self.n_partitions, n_clusters=k, random_state=problem.rng)
        lines = given if isinstance(given, np.ndarray) else np.asarray(given)
        if lines.ndim != 2 or not lines.size or lines.dtype.kind not in "iu":
            raise ValueError(
                f"expected partitions as integers of shape (m, n), but they are {lines.dtype} of shape {lines.shape}."
            )
        if lines.shape[1] != rows.n:
            raise ValueError(f"the partitions are for {lines.shape[1]} rows, but X has {rows.n}.")
        return list(lines)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        start = begin(problem.shared, distinct_rows(problem.shared.place, problem.k, problem.rng))
        labelings: Labelings = problem.shared.labelings
        slack = 1e-10 * (1 + float(labelings.weights @ labelings.covered))
        return loop.run(step, start, problem.limits, slack)

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        labels, shares, held, (labelings, utility, scale, _, known) = result.state
        margin = np.full(problem.rows.n, np.inf, dtype=problem.rows.dtype)

        def lead(block: slice, costs: Floats) -> None:
            own, here = labels[block], np.arange(len(costs))
            mine = costs[here, own]
            costs[here, own] = np.inf
            margin[block] = costs.min(axis=1) - mine

        if problem.k > 1:
            costs_in(labelings, utility, shares, lead)
        return super()._attributes(problem, result) | {
            "utilities_": scale * [information(utility, own) for own in held],
            "label_shares_": shares,
            "uncovered_": np.flatnonzero(~known),
            "margin_": margin,
        }


def _list_labelings(clues: Clues) -> list[Array]:
    """List the labels and partitions among the clues."""
    lines: list[Array] = [clues.labels] if len(clues.classes_) else []
    return lines + [clues.partition_codes(t) for t in range(len(clues.partitions))]


def _check_numbers(given: Any, count: int, name: str, noun: str) -> Floats:
    """Check weights or trusts: one number for all partitions, or one per partition."""
    values = np.asarray(1.0 if given is None else given, dtype=np.float64)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{name} must be finite and at least 0, but it is {given!r}.")
    if values.ndim and count and values.shape != (count,):
        raise ValueError(
            f"{name} must be one number or one per {noun}; it has shape {values.shape} for {count} of them."
        )
    return np.full(count, values) if not values.ndim else values[:count]
