"""Conditional ensembles: local clusterings within the known groups, combined into one [Gondek2005]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.alternative._local import Local, codes_of, groups_of, local_clustering
from cluewise.alternative.avoid import covering, difference, variation, warn, warn_of_gaps
from cluewise.base import Attributes, Card, Clusterer, Problem, checked_data
from cluewise.core import centers, loop
from cluewise.core.partitions import consensus
from cluewise.core.partitions.labelings import distinct_rows
from cluewise.core.partitions.utilities import utility_of
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueWarning

__all__ = ["CondEns"]

UTILITY = utility_of("category")
"""Squared error of centered one-hot columns (survey-algorithms 9.3)."""


class Setup(NamedTuple):
    """What all starts have in common."""

    local: list[Local]
    basis: consensus.Basis
    chosen: int | None  # the one local clustering that is taken as it is


class Rule(NamedTuple):
    """How a local clustering votes for clusters."""

    local: Local
    shares: Floats  # (k, local clusters) of its labels in each cluster


class State(NamedTuple):
    """The result."""

    labels: Ints
    rules: list[Rule]
    local: list[Local]


class CondEns(Clusterer):
    r"""Find an alternative to known clusterings by clustering within their groups and combining the results.

    Use it when a clustering is known or uninteresting (``clues.avoid``) and the data have another one, even if it is
    much weaker. Within a group of the known clustering that clustering explains nothing, so a clusterer fitted there
    finds something else. Any clusterer can be used. It must find the other clustering within single groups, so these
    need enough rows. Centers generalize to distant groups better than densities or neighbors do: if the known groups
    are far apart, use k-means.

    Parameters
    ----------
    {n_clusters}
    estimator : clusterer, default=None
        Clusterer of the groups; by default scikit-learn's ``KMeans`` with ten starts. Other rows are labeled by its
        ``predict``, or by a vote of five neighbors if it has none. Its ``n_clusters`` (or ``n_components``) and
        ``random_state`` are set here, so it must not be inside a pipeline.
    n_local : int, default=None
        Number of clusters in each group, at most its number of rows; by default ``n_clusters``.
    combine : {"kmeans", "select"}, default="kmeans"
        How the local clusterings are combined: by k-means on their labels, or by selecting the one with the lowest
        squared error among those that differ enough from the known ones.
    difference : float, default=0.9
        For ``combine="select"``: minimum variation of information from the known clusterings, as a share of the maximum
        :math:`H(C) + H(Z)`. If none reaches it, the one that differs most is selected.
    n_init : int or "auto", default=10
        Number of starts of the k-means that combines labels.
    {max_iter 100}
    tol : float, default=1e-5
        Relative change of the objective below which the iterations stop.
    random_state : int, RandomState, Generator or None, default=None
        Seed of local clusterings and starts.

    Attributes
    ----------
    {labels_}
    local_labels_ : ndarray of shape (n_groups, n)
        The local clusterings, extended to all rows; -1 where the clusterer gives no label.
    estimators_ : list
        The clusterers fitted to the groups.
    inertia_ : float
        Squared error of ``labels_`` around the means of the clusters.
    {n_clusters_}
    objective_ : float
        Squared error of the local labels, see Notes; for ``combine="select"`` the squared error of the rows.
    {trace_}
    {n_iter_}
    {avoided_}

    See Also
    --------
    CoordinatedConditionalIB : The same aim for counts.
    KCC : Combines partitions of any origin.

    Notes
    -----
    With :math:`C_i` the clustering of group :math:`Z^i`, extended to all rows, clusters C minimize

    .. math:: J = \sum_i \frac{|Z^i|}{\sum_l |Z^l|} \, n \Big( 1 - \sum_j p(j)^2 - U(C; C_i) \Big), \quad
        U(C; C_i) = \sum_k p(k) \sum_j p(j|k)^2 - \sum_j p(j)^2

    with j the clusters of :math:`C_i`: the squared error of k-means on one-hot columns, which never rises.

    ======================= ==============================
    paper                   code
    ======================= ==============================
    :math:`Z`               ``clues.avoid``
    :math:`\hat C_i`        ``estimators_[i]``
    :math:`C_i`             ``local_labels_[i]``
    :math:`K_i`             ``n_local``
    ======================= ==============================

    *Deviations.* Local clusterings are weighted by the number of rows in their groups. With one group the result is its
    clustering. Several clusterings to avoid are replaced by their product, because within a group of one of them,
    another one may be the strongest structure. Rows that one of them does not cover are in no group and are only
    labeled. If no row is covered by all of them, rows that are covered by the same ones form groups, with a warning. If
    the groups of two or more rows have fewer rows than there are clusters, all rows are clustered together, with a
    warning. Rows are passed to the clusterer in the order of a random linear function of their columns, so that their
    order in X does not matter.

    References
    ----------
    .. [Gondek2005] D. Gondek and T. Hofmann, "Non-redundant clustering with conditional ensembles", 11th ACM SIGKDD
       International Conference on Knowledge Discovery in Data Mining, 2005.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.alternative import CondEns
    >>> X = [[0, 0], [0.2, 4], [6, 0.1], [6.1, 4.2], [0.3, 0.2], [0.1, 4.1], [5.9, 0.3], [6.2, 3.9]]
    >>> left_or_right = [0, 0, 1, 1, 0, 0, 1, 1]
    >>> model = CondEns(2, random_state=0).fit(X, clues=Clues(8, avoid=left_or_right))
    >>> low, high = model.labels_[::2], model.labels_[1::2]
    >>> (low == low[0]).all() and (high != low[0]).all()
    np.True_
    >>> model.variation_.round(3)
    array([1.386])
    """

    _drawn_start = "random"

    card = Card(
        paper="Gondek2005",
        title="Conditional ensemble",
        accepts=frozenset({"avoid"}),
        invariant=frozenset({"shift", "scale"}),
        weights=False,
        plain="",
        means=False,
        equation="Alg. 15 of the survey by Truong and Battiti (2013)",
        cost="O(nk groups), and the clusterer on each group",
        aliases=("Conditional ensembles",),
    )
    _parameter_constraints = {
        name: rule for name, rule in Clusterer._parameter_constraints.items() if name != "init"
    } | {
        "estimator": [None, object],
        "n_local": [Interval(Integral, 1, None, closed="left"), None],
        "combine": [StrOptions({"kmeans", "select"})],
        "difference": [Interval(Real, 0, 1, closed="both")],
    }

    estimators_: list[Any]
    local_labels_: Ints
    variation_: Floats
    inertia_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_local: int | None = None,
        combine: str = "kmeans",
        difference: float = 0.9,
        n_init: int | str = 10,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_local = n_local
        self.combine = combine
        self.difference = difference
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Cluster the rows of X within the groups to avoid, and combine the results.

        Parameters
        ----------
        {X}
        {y}
        clues : Clues, optional
            Clusterings to avoid; without any, the result is that of the clusterer on all rows.

        Returns
        -------
        {self}
        """
        return super().fit(X, y, clues=clues)

    def _n_starts(self, problem: Problem) -> int:
        return self._wanted_starts if problem.shared.chosen is None else 1

    def _prepare(self, problem: Problem) -> Setup:
        rows, rng = problem.rows, problem.rng
        groups = self._groups(problem, np.asarray(rows.X @ rng.normal(size=rows.d)))
        k, seed = self.n_local or self.n_clusters, int(rng.integers(2**31))
        local = [local_clustering(self._base(), rows.X, group, k, seed) for group in groups]
        sizes = np.array([own.size for own in local], dtype=np.float64)
        basis = consensus.basis_of([own.labels for own in local], sizes / sizes.sum(), UTILITY, False, rng)
        chosen = None
        if self.combine == "select":
            chosen = self._select(problem, local)
        elif len(local) == 1 and len(local[0].names) <= problem.k and local[0].labels.min() >= 0:
            chosen = 0
        return Setup(local, basis, chosen)

    def _groups(self, problem: Problem, key: Floats) -> list[Ints]:
        """Rows to cluster together: the known groups, or all rows if these have too few."""
        warn_of_gaps(problem.clues)
        known = covering(problem.clues)
        groups = groups_of(known, key, max(problem.k, 2))
        if groups:
            return groups
        if known:
            warn(
                f"the known groups of two or more rows have fewer than n_clusters={problem.k} rows, "
                "so all rows are clustered together and nothing is avoided.",
                ClueWarning,
            )
        return [np.argsort(key, kind="stable")]

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.cluster import KMeans

        return KMeans(n_init=10)

    def _select(self, problem: Problem, local: list[Local]) -> int:
        """The local clustering of lowest squared error among those that differ enough from all known ones."""
        able = [i for i, own in enumerate(local) if len(own.names) <= problem.k and own.labels.min() >= 0]
        if not able:
            raise ValueError(
                f"combine='select' needs a local clustering with at most n_clusters={problem.k} clusters that labels "
                "all rows, but there is none."
            )
        apart = [difference(local[i].labels, problem.clues) for i in able]
        enough = [i for i, found in zip(able, apart) if found >= min(self.difference, max(apart))]
        return min(enough, key=lambda i: _inertia(problem.rows, problem.total, local[i].labels, problem.k))

    def _solve(self, problem: Problem) -> loop.Result[State]:
        setup: Setup = problem.shared
        if setup.chosen is None:
            start = consensus.begin(setup.basis, distinct_rows(setup.basis.place, problem.k, problem.rng))
            ran = loop.run(consensus.step, start, problem.limits, slack=1e-10 * (1 + problem.rows.n))
            rules = [Rule(own, share) for own, share in zip(setup.local, ran.state.shares)]
            return loop.Result(State(ran.state.labels, rules, setup.local), ran.trace, ran.converged)
        own = setup.local[setup.chosen]
        value = _inertia(problem.rows, problem.total, own.labels, problem.k) if self.combine == "select" else 0.0
        state = State(own.labels, [Rule(own, np.eye(problem.k, len(own.names)))], setup.local)
        problem.limits.watch(state, [value])
        return loop.Result(state, [value], True)

    def _attributes(self, problem: Problem, result: loop.Result[State]) -> Attributes:
        rows, state = problem.rows, result.state
        return super()._attributes(problem, result) | {
            "local_labels_": np.stack([own.labels for own in state.local]),
            "estimators_": [own.estimator for own in state.local],
            "inertia_": _inertia(rows, problem.total, state.labels, problem.k),
            "variation_": variation(state.labels, problem.clues),
            # Rows that no rule labels go to the largest cluster, as in the consensus.
            "_rules": [(own.rule, own.names, own.size * UTILITY.costs(share).T) for own, share in state.rules],
            "_largest": int(np.bincount(state.labels).argmax()),
        }

    def predict(self, X: Any) -> Ints:
        """Cluster of new rows, by the labels that the local clusterings give them.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        {labels}
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        costs = np.zeros((X.shape[0], self.n_clusters))
        known = np.zeros(X.shape[0], dtype=bool)
        for rule, names, prices in self._rules:
            codes = codes_of(rule.predict(X), names)
            costs[codes >= 0] += prices[codes[codes >= 0]]
            known |= codes >= 0
        return np.where(known, costs.argmin(axis=1), self._largest).astype(np.int32)


def _inertia(rows: Rows, total: float, labels: Ints, k: int) -> float:
    """Squared error around the means of the clusters."""
    return centers.within(total, centers.tally(rows, labels, k))
