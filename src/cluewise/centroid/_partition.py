"""Partition-level K-means: partial labelings act like additional columns [Liu2015]_."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from cluewise._elsewhere import is_elsewhere
from cluewise._sklearn import Interval
from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.base import Attributes, Card, CentroidClusterer, Problem, checked_data
from cluewise.centroid._columns import Categories, categories_of, chosen_columns, numbers_of
from cluewise.centroid._sides import Side, label_cost, nearest_with, shares_of, shares_of_starts, side_of
from cluewise.clues import Clues
from cluewise.core import assign, centers, loop, seeding
from cluewise.core.crowd import Placed
from cluewise.core.rows import Rows, rows_of

__all__ = ["PartitionKMeans"]


class State(NamedTuple):
    """What the next step needs."""

    labels: Ints  # (n,) int32
    centers: Floats  # (k, d) float64, relative to the shift of the rows
    shares: list[Floats]  # per labeling, (k, codes): label frequencies of the clusters
    placed: Placed | None = None  # where rows are that are not in memory


def step(state: State, *, rows: Rows, sides: list[Side], free: Ints, total: float) -> tuple[State, loop.Info]:
    """Assign every row by Eq. (5), then update the means of rows and labels by Eq. (3)."""
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
    return State(labels, means, shares, rows.placed), loop.Info(value, found.moved + refilled)


class PartitionKMeans(CentroidClusterer):
    r"""K-means in which rows with the same label attract each other, as strongly as the labels are trusted.

    Use it when some rows are labeled, once or by several people, and labels may be wrong: a cluster should hold few
    different labels, but labels are not tied to particular clusters. There may be more or fewer clusters than labels,
    and several partial labelings need not have the same classes. It is as fast as K-means, however many rows are
    labeled. Categorical columns can be clustered along with numeric ones.

    Parameters
    ----------
    {n_clusters}
    trust : float or array-like of shape (n_labelings,), default=100.0
        Cost, in squared distances, of a row whose label is not among those of its cluster: a number, or one per
        labeling (``labels`` first, if there are any, then ``partitions``). 0 ignores the labels. The paper uses 100 and
        recommends larger values for many columns.
    categorical_features : array-like of bool, str or int, default=None
        Categorical columns of X: a mask, names or positions. Each acts as one more labeling; NaN, None, an empty
        string and -1 are missing values.
    categorical_weight : float, default=1.0
        Cost, in squared distances, of a row whose category is not among those of its cluster.
    init : {"k-means++", "random"}, array-like of shape (k, d) or callable, default="k-means++"
        Initialization, in the numeric columns. A center that is a labeled row also starts with its label.
    {n_init 10}
        Centers given as ``init`` make one start.
    {max_iter_tol_random_state 300}

    Attributes
    ----------
    {labels_}
    cluster_centers_ : ndarray of shape (n_clusters, d)
        Means of the clusters, in the numeric columns.
    label_shares_ : list of ndarrays of shape (n_clusters, n_codes)
        Frequencies of the labels among the labeled rows of each cluster: one table for ``labels`` (columns as in
        ``clues.classes_``), one per partition, one per categorical column (columns as in ``categories_``). A cluster
        without a labeled row keeps its previous frequencies, initially zeros.
    categories_ : list of ndarrays
        The categories of each categorical column.
    {n_clusters_}
    {inertia_}
    objective_ : float
        Sum of squared distances to the centers, plus ``side_cost_``.
    side_cost_ : float
        Cost of labels and categories: trust times impurity.
    {iterations_}
    {margin_}
    broken_ : Clues
        Labels of a partition that are not the most frequent one in their cluster, and ``labels`` that disagree with
        the best one-to-one matching of classes and clusters.

    Notes
    -----
    .. math:: J = \sum_i w_i \lVert x_i - c_{z_i} \rVert^2
        + \sum_t \lambda_t \sum_{i : s_i^t \ge 0} w_i \lVert e(s_i^t) - g^t_{z_i} \rVert^2

    The second sum is :math:`\lambda_t` times the Gini impurity of the clusters, weighted by their labeled rows.
    A labeled row costs between 0 (all labels in the cluster equal its own) and :math:`2\lambda_t` (all are one other
    label), and :math:`\lambda_t` in a cluster that has never had a label. If you scale X by a, multiply the trust by
    :math:`a^2`.

    =================================== =====================================
    paper                               code
    =================================== =====================================
    :math:`S`, :math:`s^t`              ``clues.labels``, ``clues.partitions``
    :math:`\lambda`                     ``trust``
    :math:`m_k^{(1)}, C`                ``cluster_centers_``
    :math:`m_k^{(2)}, G`                ``label_shares_``
    =================================== =====================================

    *Deviations.* :math:`G` is not a permutation: for given clusters it is optimal to use the label frequencies, for any
    number of labels (erratum of Eq. (1)). There may be several labelings, each with its own trust. A cluster without
    labeled rows, for which Eq. (3) is 0/0, keeps its frequencies. There are ten starts by k-means++ instead of one
    random start, which does not reach the published figures. An empty cluster takes the worst row without clues and
    stays empty if there is none. ``predict`` and ``transform`` use the numeric columns only.

    {in_chunks}

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
        chunks=True,
        equation="Eq. (1), Algorithm 1",
        cost="O(nk(d + labelings))",
        aliases=("Partition-level K-means",),
    )
    _parameter_constraints = CentroidClusterer._parameter_constraints | {
        "trust": [Interval(Real, 0, None, closed="left"), "array-like"],
        "categorical_features": [None, "array-like"],
        "categorical_weight": [Interval(Real, 0, None, closed="left")],
    }

    label_shares_: list[Floats]
    categories_: list[Array]
    side_cost_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        trust: Any = 100.0,
        categorical_features: Any = None,
        categorical_weight: float = 1.0,
        init: Any = "k-means++",
        n_init: int | str = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.trust = trust
        self.categorical_features = categorical_features
        self.categorical_weight = categorical_weight

    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X with the help of clues.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data; columns in ``categorical_features`` may hold anything hashable.
        {y}
        {clues}
        {sample_weight}

        Returns
        -------
        {self}
        """
        if self.categorical_features is not None:
            _refuse_dask(X)
        self._columns: list[Categories] = []
        self._categorical: Bools | None = None
        if self.categorical_features is None:
            return super().fit(X, y, clues=clues, sample_weight=sample_weight)
        mask = chosen_columns(X, self.categorical_features)
        self._columns, self._categorical = categories_of(X, mask), mask
        try:
            super().fit(numbers_of(X, mask), y, clues=clues, sample_weight=sample_weight)
        finally:
            self._columns = []  # as long as X, and no longer needed
            validate_data(self, X, reset=True, skip_check_array=True)  # n_features_in_ counts all columns of X
        return self

    def _check_clues(self, clues: Any, n: int) -> Clues:
        known = super()._check_clues(clues, n)
        self._sides(known)  # raises if trust has the wrong shape
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
            raise ValueError(f"trust must be finite and not negative; it is {self.trust!r}.")
        if given.ndim and count and given.shape != (count,):
            raise ValueError(
                f"trust must be one number or one per labeling; it has shape {given.shape} for {count} labelings."
            )
        return [float(given)] * count if not given.ndim else given.tolist()[:count]

    def _prepare(self, problem: Problem) -> list[Side]:
        return self._sides(problem.clues)

    def _solve(self, problem: Problem) -> loop.Result[State]:
        rows, sides = problem.rows, problem.shared
        start = seeding.plain_start(self.init, rows, problem.k, problem.rng)
        state = State(assign.no_labels(rows.n), start, shares_of_starts(rows, sides, start))
        move = partial(step, rows=rows, sides=sides, free=problem.clues.free, total=problem.total)
        # Rounding is proportional to everything that is summed, including the cost of labels.
        weighty = problem.total + rows.mass * sum(side.weight for side in sides)
        return loop.run(move, state, problem.limits, centers.rounding(rows, weighty))

    def _find_free(self, problem: Problem) -> Bools:
        return super()._find_free(problem) & (not self._columns)  # categories are known of all rows

    def _evaluate(self, problem: Problem, state: State) -> Attributes:
        rows, sides = problem.rows, self._sides(problem.clues)
        each = [side.weight * label_cost(rows, side, state.labels, share) for side, share in zip(sides, state.shares)]
        cost = float(sum(each))
        spread = centers.distortion(rows, state.centers, state.labels)
        return {"objective_": spread + cost, "inertia_": spread, "side_cost_": cost}

    def _state_attributes(self, problem: Problem, state: State, trace: list[float]) -> Attributes:
        return super()._state_attributes(problem, state, trace) | {
            "label_shares_": state.shares,
            "categories_": [column.values for column in self._columns],
        }

    def _map_new_chunks(self, X: Any, function: Any, dtype: Any = None, width: int | None = None) -> Any:
        check_is_fitted(self)
        if self._categorical is not None:
            _refuse_dask(X)
        return super()._map_new_chunks(X, function, dtype, width)

    def _new_rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        if self._categorical is None:
            return super()._new_rows(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return rows_of(checked_data(BaseEstimator(), numbers_of(X, self._categorical), reset=True))


def _refuse_dask(X: Any) -> None:
    if is_elsewhere(X):
        raise TypeError(
            "categorical_features must be None if X is a dask array or a tensor; encode such columns with Rows."
        )
