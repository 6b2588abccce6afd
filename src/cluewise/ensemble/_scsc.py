"""SCSC: an ensemble of partitions whose weights follow the clues, one batch after the other [Yi2015]_."""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Array
from cluewise.base import Card, checked_data, generator
from cluewise.clues import Clues, Pairs
from cluewise.core.loop import Progress
from cluewise.core.threads import one_blas_thread
from cluewise.ensemble import _sequence
from cluewise.ensemble._aligned import aligned, checked_partitions
from cluewise.ensemble._partitions import Partitioner, watched_by
from cluewise.ensemble._reports import GROUPS, ReportLog, Reports, list_reports, only_links
from cluewise.ensemble._voted import Voted
from cluewise.metrics import broken

__all__ = ["SCSC"]

RULE = "relaxed"
"""The default update, chosen by experiment."""


class SCSC(Voted):
    r"""Weight an ensemble of partitions by the clues, again and again as new clues come.

    Many partitions of the rows are made once. Each has a weight, and the clusters are those that most weight votes
    for. New clues only move the weights, which takes milliseconds however many rows there are; so use it when clues
    keep coming, or when there are millions of rows. Clues decide between partitions that are there: no row is moved
    for itself, and a clue may stay broken. Rows that are not in the ensemble cannot be labelled.

    Parameters
    ----------
    {n_clusters}
    n_partitions : int, default=300
        Number of partitions in the ensemble.
    update_rule : {"relaxed", "exact"}, default="relaxed"
        "relaxed": a partition loses weight for each link that it violates. "exact": the weights minimize the
        squared distance (must-links) or overlap (cannot-links) of the mixed memberships.
    memory : {"last", "all"}, default="last"
        "last": new clues move the weights that are there. "all": weights suit all clues since the fit equally well.
    trust : float, default=1.0
        How far clues are believed: a factor for their part of the objective.
    inertia : float or "auto", default="auto"
        How firmly the weights stay where they are. "auto" is 10 for relaxed updates: a link costs a partition that
        violates it a fifth of an equal share. For exact ones it is the weight of all links before, at least 1.
    hard : {"rounding", "kmeans"}, default="rounding"
        From memberships to clusters: the largest one, or k-means on them.
    partitioner : callable, optional
        Called as ``partitioner(X, n_partitions=, n_clusters=, random_state=)``, gives (m, n) labels; by default
        k-means in a random twentieth of the columns for each partition.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the ensemble.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row; counted when it is first read after an update.
    changed_ : ndarray
        Rows whose label is not what it was when `labels_` was counted before.
    gamma_ : ndarray of shape (n_partitions,)
        Weights of the partitions: not negative, with sum 1.
    n_clusters_ : int
        Number of clusters with rows.
    n_iter_ : int
        Number of updates.
    objective_ : float
        Objective after the last update.
    trace_ : ndarray
        Objective after every update.
    broken_ : Clues
        Those of all clues since the fit that the labels break.
    margin_ : ndarray of shape (n,)
        Weight by which the chosen cluster leads.

    See Also
    --------
    PCKMeans : Move single rows for the sake of links.

    Notes
    -----
    With :math:`P_k` the 0/1 matrix of partition k, its clusters named after those of the first by the best matching,
    memberships are :math:`F = \sum_k \gamma_k P_k`. Update t minimizes over the simplex (Eq. 8)

    .. math:: \sum_{must} \|F_i - F_j\|^2 + \sum_{cannot} \|F_i + F_j\|^2 + \lambda \|\gamma - \gamma^{t-1}\|^2
              = \gamma^T A_t \gamma + \lambda \|\gamma - \gamma^{t-1}\|^2,

    or, relaxed (Eq. 11), :math:`C\, e \cdot \gamma + \lambda \|\gamma - \gamma^{t-1}\|^2`, where :math:`e_k` is the
    weight of the new links that partition k violates; its minimum is the projection of
    :math:`\gamma^{t-1} - (C / 2 \lambda)\, e`.

    =================  =======================================
    paper              here
    =================  =======================================
    γ                  ``gamma_``
    m, r               ``n_partitions``, ``n_clusters``
    λ                  ``inertia``
    C                  ``trust`` · 4 / m
    F                  ``memberships()``
    =================  =======================================

    *Deviations.* The losses of Eqs. (4)–(6) and Algorithm 1 are printed with misprints, which are mended. Only the sum
    of the matrices of the pairs is kept. The steps of Eq. (11) are replaced by their limit. Must-links and cannot-links
    have weights; labels and groups count as the links that they stand for. A link that the same source repeats counts
    once. The partitions are those of k-means instead of approximate kernel k-means. Between the gradient steps of the
    exact update the minimum on the weights that are not zero is tried, and with ``memory="all"`` a ridge of 1e-8 for
    each link keeps it unique.

    References
    ----------
    .. [Yi2015] J. Yi, L. Zhang, T. Yang, W. Liu, J. Wang (2015). An Efficient Semi-Supervised Clustering Algorithm with
       Sequential Constraints. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from cluewise import Clues
    >>> from cluewise import SCSC
    >>> L = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]])
    >>> model = SCSC.from_partitions(L).update(Clues(6, must=[(0, 1)], cannot=[(2, 3)]))
    >>> model.gamma_
    array([0.275, 0.225, 0.225, 0.275])
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Yi2015",
        title="Weights of partitions that follow the clues",
        accepts=frozenset({"must", "cannot", "labels", "together", "apart"}),
        descends=False,
        invariant=frozenset({"shift", "scale"}),
        predicts=False,
        weights=False,
        plain="",
        means=False,
        memory="pairs",
        cost="O(pairs m + nm); labels and groups make up to n² pairs",
        equation="Eqs. (8) and (11)",
        aliases=("sequential-constraints",),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_partitions": [Interval(Integral, 1, None, closed="left")],
        "update_rule": [StrOptions({"relaxed", "exact"})],
        "memory": [StrOptions({"last", "all"})],
        "trust": [Interval(Real, 0, None, closed="neither")],
        "inertia": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "hard": [StrOptions({"rounding", "kmeans"})],
        "partitioner": [callable, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_partitions: int = 300,
        update_rule: str = RULE,
        memory: str = "last",
        trust: float = 1.0,
        inertia: float | str = "auto",
        hard: str = "rounding",
        partitioner: Partitioner | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_partitions = n_partitions
        self.update_rule = update_rule
        self.memory = memory
        self.trust = trust
        self.inertia = inertia
        self.hard = hard
        self.partitioner = partitioner
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
        """Make the ensemble, with equal weights, and apply the first clues.

        Parameters
        ----------
        {X}
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        X = checked_data(self, X, reset=True)
        n = X.shape[0]
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={n}.")
        known = self._check_clues(clues, n)
        self._reset(y, clues)
        recorded = self._record(ReportLog(n), list_reports(known), known)  # too many pairs are refused before any work
        with Progress(self, getattr(self, "_skl_callbacks", ()), 1, 1) as progress, one_blas_thread():
            progress.begin_start(0)
            make = watched_by(progress) if self.partitioner is None else self.partitioner
            made = make(
                X,
                n_partitions=self.n_partitions,
                n_clusters=self.n_clusters,
                random_state=generator(self.random_state),
            )
            self._begin(checked_partitions(made), n, X.dtype)
            if known.kinds:
                self._apply(*recorded)
                self._elect(self._ensemble, X.dtype)  # what the first clues do is no change
                progress(self.gamma_, list(self.trace_))
            progress.end_start()
        return self

    @classmethod
    def from_partitions(
        cls,
        partitions: Any,
        n_clusters: int | None = None,
        *,
        update_rule: str = RULE,
        memory: str = "last",
        trust: float = 1.0,
        inertia: float | str = "auto",
        hard: str = "rounding",
    ) -> SCSC:
        """A fitted model from partitions that are there already.

        Parameters
        ----------
        partitions : array-like of shape (m, n)
            Labels from 0, one line per partition. An unsigned array, in memory or mapped into it, is not copied.
        n_clusters : int, optional
            Number of clusters; as many as the partition with most labels has, by default.
        update_rule, memory, trust, inertia, hard
            As for the class.

        Returns
        -------
        SCSC
            With equal weights and no clues.
        """
        labels = checked_partitions(partitions)
        k = int(labels.max()) + 1 if n_clusters is None else n_clusters
        model = cls(
            k,
            n_partitions=len(labels),
            update_rule=update_rule,
            memory=memory,
            trust=trust,
            inertia=inertia,
            hard=hard,
        )
        model._validate_params()
        model._begin(labels, labels.shape[1], np.dtype(np.float64))
        return model

    def _begin(self, labels: Array, n: int, dtype: Any) -> None:
        if labels.shape[1] != n:
            raise ValueError(f"the partitions speak of {labels.shape[1]} rows, but X has {n}.")
        self._state = _sequence.begin(len(labels), self._rule)
        self._log = ReportLog(n)
        self._publish([])
        self._elect(aligned(labels, self.n_clusters), dtype)

    @property
    def _rule(self) -> _sequence.Rule:
        inertia = None if isinstance(self.inertia, str) else float(self.inertia)
        return _sequence.Rule(self.update_rule == "exact", self.memory == "all", float(self.trust), inertia)

    def _publish(self, trace: list[float]) -> None:
        self.gamma_ = self._state.gamma
        self.trace_ = np.array(trace)
        self.n_iter_ = len(trace)
        self.objective_ = trace[-1] if trace else 0.0

    def update(self, clues: Any) -> Self:
        """Move the weights by new clues.

        Parameters
        ----------
        clues : Clues or array-like of shape (n,)
            New clues about the same rows; an array is taken as partial labels. A link that the same source has
            given before is not new.

        Returns
        -------
        object
            The estimator.
        """
        check_is_fitted(self, "gamma_")
        n = self._ensemble.n
        if isinstance(clues, Clues) and clues.n == n and only_links(clues):
            reports = list_reports(clues)
            if np.isfinite(reports.weight).all():
                return self._learn(reports)  # nothing that takes time in proportion to the rows
        known = self._check_clues(clues, n)
        return self._learn(list_reports(known), known)

    def _learn(self, reports: Reports, groups: Clues | None = None) -> Self:
        """Move the weights by reported links, and by labels and groups among the clues."""
        # Ctrl-C leaves weights and log as they were.
        return self._apply(*self._record(copy(self._log), reports, groups))

    @staticmethod
    def _record(log: ReportLog, reports: Reports, groups: Clues | None = None) -> tuple[ReportLog, Pairs]:
        """Add links to a log, and labels and groups among the clues; the log and the links that are new."""
        pairs = log.add(reports)
        if groups is not None and groups.kinds & set(GROUPS):
            pairs = pairs.join(log.add_groups(groups))
        return log, pairs

    def _apply(self, log: ReportLog, pairs: Pairs) -> Self:
        """Move the weights by new links."""
        state, value = _sequence.step(self._state, pairs, self._ensemble, self._rule)
        self._log, self._state = log, state
        self._publish([*self.trace_.tolist(), value])
        self._counted = False
        return self

    @property
    def broken_(self) -> Clues:
        """The clues since the fit that the labels break."""
        return broken(self.labels_, self._log.clues())

    def save(self, path: str | Path) -> None:
        """Write the model into a folder, as arrays and JSON; an interrupted save leaves the earlier one as it was.

        Parameters
        ----------
        path : str or path
            The folder; it is made if it is not there. The labels of the partitions are written only once.
        """
        from cluewise.ensemble import scsc_folder

        check_is_fitted(self, "gamma_")
        scsc_folder.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> SCSC:
        """Read a model that `save` has written; the labels of the partitions stay on disk, mapped into memory.

        Parameters
        ----------
        path : str or path
            The folder.

        Returns
        -------
        SCSC
            As it was saved.
        """
        from cluewise.ensemble import scsc_folder

        return scsc_folder.load(path)[0]
