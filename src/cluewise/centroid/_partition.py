"""Partition-level K-means: partial labelings count like columns of their own [Liu2015]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from cluewise._sklearn import Interval
from cluewise._typing import Bools, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem, checked_data
from cluewise.centroid._columns import Categories, categories_of, chosen_columns, numbers_of
from cluewise.centroid._sides import Side, nearest_with, paid, shares_of, shares_of_starts, side_of
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.rows import Rows, rows_of

__all__ = ["PartitionKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    shares: list[Floats]  # per labeling, (k, codes): label frequencies of the clusters


def step(state: State, *, rows: Rows, sides: list[Side], free: Ints, total: float) -> tuple[State, loop.Info]:
    """Assign every row by Eq. (5), then take means of rows and labels, Eq. (3)."""
    labels = state.labels.copy()
    found = nearest_with(rows, state.centers, labels, sides, state.shares)
    tally, refilled = centers.refill(rows, found.tally, state.centers, labels, free)
    means = centers.means(tally, state.centers)
    value = centers.within(total, tally)
    shares = []
    for side, previous in zip(sides, state.shares):
        share, impure = shares_of(rows, side, labels, previous)
        shares.append(share)
        value += side.weight * impure
    return State(labels, means, shares), loop.Info(value, found.moved + refilled)


class PartitionKMeans(CentroidClusterer):
    r"""K-means in which rows with the same label attract each other, by as much as the labels are trusted.

    Use it when part of the rows has been labelled, once or by several people, and labels may be wrong: a cluster
    should hold few different labels, but which label is which cluster is left open. There may be more clusters than
    labels, or fewer; several partial labelings need not have the same classes. It costs what K-means costs, however
    many rows are labelled. Columns of categories can be clustered along with the numbers.

    Parameters
    ----------
    {n_clusters}
    trust : float or array-like of shape (n_labelings,), default=100.0
        What it costs, in squared distances, that a row's label is no label of its cluster: a number, or one per
        labeling (``labels`` first where there are some, then ``partitions``). 0 ignores the labels. The paper uses
        100 and finds larger values better when there are many columns.
    categorical_features : array-like of bool, str or int, default=None
        Columns of X that hold categories: a mask, names or positions. Such a column is one more labeling; NaN, None,
        an empty text and -1 are missing values.
    categorical_weight : float, default=1.0
        What it costs, in squared distances, that a row's category is no category of its cluster.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Start, in the numeric columns. A start that is a labelled row brings its label along.
    n_init : int, default=10
        Number of starts; the lowest objective wins. Given centers are one start.
    {max_iter 300}
    {tol}
    {random_state}

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Means of the clusters, in the numeric columns.
    label_shares_ : list of ndarrays of shape (n_clusters, n_codes)
        Which part of a cluster's labelled rows has which label: one table for ``labels`` (columns as in
        ``clues.classes_``), one per partition, one per categorical column (columns as in ``categories_``). A cluster
        without a labelled row keeps what it had before, at first zeros.
    categories_ : list of ndarrays
        The categories of each categorical column.
    {n_clusters_}
    objective_ : float
        Sum of squared distances to the centers, plus ``side_cost_``.
    side_cost_ : float
        What labels and categories cost: trust times impurity.
    {trace_}
    {n_iter_}
    margin_ : ndarray of shape (n,)
        Lead of each row's cluster: half the squared distance to the best other center minus that to its own;
        negative where only the labels keep a row in its cluster.
    broken_ : Clues
        Labels of a partition that are not the most frequent one in their row's cluster, and ``labels`` that do not
        agree with the best one-to-one matching of classes and clusters.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - c_{z_i} \rVert^2
        + \sum_t \lambda_t \sum_{i : s_i^t \ge 0} w_i \lVert e(s_i^t) - g^t_{z_i} \rVert^2

    The second sum is :math:`\lambda_t` times the Gini impurity of the clusters, weighted by their labelled rows.
    A labelled row pays between 0 (all labels of the cluster are its own) and :math:`2\lambda_t` (all are one other
    label), and :math:`\lambda_t` in a cluster without labels that started without one. Scaling X by a asks for
    :math:`a^2` times the trust.

    =================================== =====================================
    paper                               code
    =================================== =====================================
    :math:`S`, :math:`s^t`              ``clues.labels``, ``clues.partitions``
    :math:`\lambda`                     ``trust``
    :math:`m_k^{(1)}, C`                ``cluster_centers_``
    :math:`m_k^{(2)}, G`                ``label_shares_``
    =================================== =====================================

    *Deviations.* :math:`G` is no permutation: for given clusters its best value are the label frequencies, of any
    number of labels (erratum of Eq. (1)). Several labelings, with a trust each. A cluster without labelled rows, for
    which Eq. (3) is 0/0, keeps its frequencies. Ten starts by k-means++ instead of a random one, which does not reach
    the published figures. An empty cluster takes the worst row that no clue speaks of and stays empty when there is
    none. ``predict`` and ``transform`` look at the numeric columns only.

    References
    ----------
    .. [Liu2015] H. Liu and Y. Fu, "Clustering with partition level side information", ICDM 2015.

    Examples
    --------
    >>> from cluewise import PartitionKMeans
    >>> X = [[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]]
    >>> some = [0, -1, 0, 0, -1, 1, 1, -1]
    >>> model = PartitionKMeans(3, trust=20, init=[X[0], X[4], X[6]]).fit(X, clues=some)
    >>> model.labels_  # rows 3 and 5 have moved to the rows of their label
    array([0, 0, 0, 0, 1, 2, 2, 2], dtype=int32)
    >>> PartitionKMeans(3, trust=2, init=[X[0], X[4], X[6]]).fit(X, clues=some).labels_
    array([0, 0, 0, 1, 1, 1, 2, 2], dtype=int32)
    """

    card = Card(
        paper="Liu2015",
        title="K-means with partial labelings",
        accepts=frozenset({"labels", "partitions"}),
        invariant=frozenset({"shift", "rotation"}),
        equation="Eq. (1), Algorithm 1",
        cost="O(nk(d + labelings))",
        aliases=("Partition-level K-means",),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "trust": [Interval(Real, 0, None, closed="left"), "array-like"],
        "categorical_features": [None, "array-like"],
        "categorical_weight": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trust: Any = 100.0,
        categorical_features: Any = None,
        categorical_weight: float = 1.0,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.trust = trust
        self.categorical_features = categorical_features
        self.categorical_weight = categorical_weight
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X with what is known about them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data; columns named by ``categorical_features`` may hold anything hashable.
        {y}
        {clues}
        {sample_weight}

        Returns
        -------
        {self}
        """
        self._columns: list[Categories] = []
        self._categorical: Bools | None = None
        if self.categorical_features is None:
            return super().fit(X, y, clues=clues, sample_weight=sample_weight)
        mask = chosen_columns(X, self.categorical_features)
        self._columns, self._categorical = categories_of(X, mask), mask
        try:
            super().fit(numbers_of(X, mask), y, clues=clues, sample_weight=sample_weight)
        finally:
            self._columns = []  # as long as X, and of no use any more
            validate_data(self, X, reset=True, skip_check_array=True)  # the columns that were seen are those of X
        return self

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        self._sides(known)  # refuses a trust that does not fit
        return known

    def _sides(self, clues: Clues) -> list[Side]:
        """The labelings: labels, partitions, categorical columns."""
        columns: list[tuple[Ints, int]] = [(clues.labels, len(clues.classes_))] if len(clues.classes_) else []
        for t in range(len(clues.partitions)):
            codes = clues.partition_codes(t)
            columns.append((codes, int(codes.max(initial=-1)) + 1))
        sides = [side_of(*column, weight) for column, weight in zip(columns, self._trusts(len(columns)))]
        weight = float(self.categorical_weight)
        return sides + [side_of(column.codes, len(column.values), weight) for column in self._columns]

    def _trusts(self, count: int) -> list[float]:
        """The trust in each labeling of the clues."""
        given = np.asarray(self.trust, dtype=np.float64)
        if not (np.isfinite(given) & (given >= 0)).all():
            raise ValueError(f"trust needs finite numbers of at least 0; it is {self.trust!r}.")
        if given.ndim and count and given.shape != (count,):
            raise ValueError(
                f"trust is one number or one per labeling; it has shape {given.shape} for {count} of them."
            )
        return [float(given)] * count if not given.ndim else given.tolist()[:count]

    def _prepare(self, problem: Problem) -> list[Side]:
        return self._sides(problem.clues)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, sides = problem.rows, problem.shared
        start = seeding.plain_start(self.init, rows, problem.k, problem.rng)
        state = State(assign.nobody(rows.n), start, shares_of_starts(rows, sides, start))
        move = partial(step, rows=rows, sides=sides, free=problem.clues.free, total=problem.total)
        # Rounding is in proportion to all that is added up, labels as well.
        weighty = problem.total + rows.mass * sum(side.weight for side in sides)
        return loop.run(move, state, problem.limits, centers.rounding(rows, weighty))

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        rows, sides = problem.rows, self._sides(problem.clues)
        each = [side.weight * paid(rows, side, state.labels, share) for side, share in zip(sides, state.shares)]
        cost = float(sum(each))
        return {"objective_": centers.distortion(rows, state.centers, state.labels) + cost, "side_cost_": cost}

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {
            "label_shares_": state.shares,
            "categories_": [column.values for column in self._columns],
        }

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        if self._categorical is None:
            return super()._new_rows(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return rows_of(checked_data(BaseEstimator(), numbers_of(X, self._categorical), reset=True))
