"""SCSC: an ensemble of partitions, weighted by clues that arrive in batches [Yi2015]_."""

from __future__ import annotations

from copy import copy
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._elsewhere import is_elsewhere, is_tensor
from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Array, Floats, Ints
from cluewise.base import Card, Clusterer, checked_chunks, checked_data, generator
from cluewise.clues import Clues, Pairs
from cluewise.clues.check import row_numbers
from cluewise.core.loop import Progress
from cluewise.core.tensors import import_arrays
from cluewise.core.threads import one_blas_thread
from cluewise.ensemble import _sequence
from cluewise.ensemble._aligned import align, check_partitions
from cluewise.ensemble._chunks import ChunkElection, Recipe, hold_election, learn_recipe
from cluewise.ensemble._election import Election
from cluewise.ensemble._partitions import Partitioner, make_partitioner
from cluewise.ensemble._reports import ReportLog, Reports, has_only_links, list_reports
from cluewise.metrics import broken

__all__ = ["SCSC"]

RULE = "relaxed"
"""The default update rule, chosen by experiment."""


class SCSC(Clusterer):
    r"""Weight an ensemble of partitions by clues that arrive over time.

    Many partitions of the rows are made once. Each has a weight, and a row belongs to the cluster that most weight
    votes for. New clues only move the weights, which takes milliseconds whatever the number of rows. Use it when clues
    arrive over time, or when there are millions of rows. Clues choose among the partitions: no single row is moved,
    and clues may stay broken. Rows that are not in the ensemble cannot be labeled.

    Parameters
    ----------
    {n_clusters}
    n_partitions : int, default=300
        Number of partitions in the ensemble.
    update_rule : {"relaxed", "exact"}, default="relaxed"
        "relaxed": a partition loses weight for each link that it violates. "exact": the weights minimize the
        squared distance (must-links) or overlap (cannot-links) of the memberships.
    memory : {"last", "all"}, default="last"
        "last": new clues move the current weights. "all": all clues since the fit count equally.
    trust : float, default=1.0
        Factor of the clues in the objective.
    inertia : float or "auto", default="auto"
        Resistance of the weights to change. "auto" is 10 for relaxed updates: each link that a partition violates
        costs it a fifth of an equal share. For exact updates it is the weight of all earlier links, at least 1.
    hard : {"rounding", "kmeans"}, default="rounding"
        How memberships become clusters: by the largest one, or by k-means on them.
    partitioner : callable, optional
        Makes the ensemble: called as ``partitioner(X, n_partitions=, n_clusters=, random_state=)``, it returns labels
        of shape (m, n). By default k-means, for each partition on a random twentieth of the columns.
    {random_state}

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each row; computed when it is first read after an update.
    changed_ : ndarray
        Rows whose label changed since `labels_` was last computed.
    gamma_ : ndarray of shape (n_partitions,)
        Weights of the partitions, nonnegative with sum 1.
    {n_clusters_}
    n_iter_ : int
        Number of updates.
    objective_ : float
        Objective after the last update.
    trace_ : ndarray
        Objective after every update.
    broken_ : Clues
        The clues since the fit that the labels break.
    margin_ : ndarray of shape (n,)
        Weight by which each row's cluster leads.

    See Also
    --------
    PCKMeans : Soft links that move single rows.

    Notes
    -----
    With :math:`P_k` the 0/1 matrix of partition k, its clusters matched to those of the first partition, memberships
    are :math:`F = \sum_k \gamma_k P_k`. Update t minimizes over the simplex (Eq. 8)

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

    *Deviations.* Misprints in the losses of Eqs. (4)–(6) and in Algorithm 1 are corrected. Only the sum of the matrices
    of the pairs is kept. The steps of Eq. (11) are replaced by their limit. Links have weights; labels and groups count
    as the links that they imply. A link that the same source repeats counts once. The partitions come from k-means
    instead of approximate kernel k-means. Between the gradient steps of the exact update, the minimum over the nonzero
    weights is tried, and with ``memory="all"`` a ridge of 1e-8 for each link makes it unique.

    X may be a dask array, or a dask data frame of numbers. Then all partitions learn from the same rows, up to 100,000,
    and are kept as centers; labels of a chunk are made from them when it is read. ``labels_``, ``margin_`` and
    ``memberships()`` are dask arrays; ``changed_`` and ``n_clusters_`` take a pass over X. With up to 100,000 rows the
    results are those of the rows in memory. ``partitioner`` must be None and ``hard`` "rounding".

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
        chunks=True,
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

    gamma_: Floats
    _log: ReportLog
    _state: _sequence.State
    _election: Any  # Election, or ChunkElection if X is a dask array

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
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Make the ensemble with equal weights, and apply the first clues.

        Parameters
        ----------
        {X}
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        in_chunks, given = is_elsewhere(X), X
        if in_chunks:
            self._refuse_in_chunks()
        X = checked_chunks(self, X) if in_chunks else checked_data(self, X, reset=True)
        n = X.shape[0]
        self._check_count(n)
        known = self._check_clues(clues, n)
        self._reset(y, clues)
        log = ReportLog(n)
        pairs = log.add(list_reports(known), known)  # before the partitions are made: there may be too many pairs
        with Progress(self, getattr(self, "_skl_callbacks", ()), 1, 1) as progress, one_blas_thread():
            progress.begin_start(0)
            if in_chunks:
                state, rng = _sequence.begin(self.n_partitions, self._rule), generator(self.random_state)
                each = partial(progress.each, "partitions")
                m, r = self.n_partitions, self.n_clusters
                if is_tensor(given):
                    election = _label_rows(given, learn_recipe(X, m, r, rng, each), r).elect(state.gamma)
                else:
                    election = hold_election(X, m, r, state.gamma, rng, each)
                self._publish(ReportLog(n), state, election, [])
            else:
                make = make_partitioner(progress) if self.partitioner is None else self.partitioner
                labels = make(
                    X,
                    n_partitions=self.n_partitions,
                    n_clusters=self.n_clusters,
                    random_state=generator(self.random_state),
                )
                self._begin(check_partitions(labels), n, X.dtype)
            if known.kinds:
                self._apply(log, pairs)
                self._election.base = self.gamma_  # labels change with later clues; these are the first
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
        """Make a fitted model from existing partitions.

        Parameters
        ----------
        partitions : array-like of shape (m, n)
            Labels from 0, one line per partition. An unsigned array is not copied, and may be mapped into memory. If it
            is a torch tensor, or an array of CuPy or JAX, votes are counted on its device, and ``labels_``, ``margin_``
            and `memberships` are of its kind.
        n_clusters : int, optional
            Number of clusters; by default that of the partition with the most labels.
        update_rule, memory, trust, inertia, hard
            As for the class.

        Returns
        -------
        SCSC
            A model with equal weights and no clues.
        """
        sent = _send(partitions, n_clusters, hard) if is_tensor(partitions) else None
        labels = check_partitions(partitions) if sent is None else sent.labels
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
        if sent is None:
            model._begin(labels, labels.shape[1], np.dtype(np.float64))
        else:
            state = _sequence.begin(len(labels), model._rule)
            model._publish(ReportLog(sent.n), state, sent.elect(state.gamma), [])
        return model

    def _begin(self, labels: Array, n: int, dtype: Any) -> None:
        """Begin with equal weights and no clues."""
        if labels.shape[1] != n:
            raise ValueError(f"the partitions are for {labels.shape[1]} rows, but X has {n}.")
        state = _sequence.begin(len(labels), self._rule)
        election = Election(align(labels, self.n_clusters), state.gamma, hard=self.hard, dtype=dtype)
        self._publish(ReportLog(n), state, election, [])

    @property
    def _rule(self) -> _sequence.Rule:
        inertia = None if isinstance(self.inertia, str) else float(self.inertia)
        return _sequence.Rule(self.update_rule == "exact", self.memory == "all", float(self.trust), inertia)

    def _refuse_in_chunks(self) -> None:
        if self.partitioner is not None:
            raise ValueError(
                "partitioner must be None if X is a dask array or a tensor; partitions are made by k-means."
            )
        if self.hard != "rounding":
            raise ValueError(
                f"hard={self.hard!r} needs all memberships in memory; for a dask array or a tensor it is 'rounding'."
            )

    def _publish(
        self, log: ReportLog, state: _sequence.State, election: Election | ChunkElection, trace: list[float]
    ) -> None:
        """Write all results, in one step: Ctrl-C must not leave half of them."""
        self.__dict__.update(
            _log=log,
            _state=state,
            _election=election,
            gamma_=state.gamma,
            trace_=np.array(trace),
            n_iter_=len(trace),
            objective_=trace[-1] if trace else 0.0,
        )

    def update(self, clues: Any) -> Self:
        """Move the weights by new clues.

        Parameters
        ----------
        clues : Clues or array-like of shape (n,)
            New clues about the same rows; an array is taken as partial labels. A link that the same source has
            given before is ignored.

        Returns
        -------
        {self}
        """
        check_is_fitted(self, "gamma_")
        n = self._log.n
        if isinstance(clues, Clues) and clues.n == n and has_only_links(clues):
            reports = list_reports(clues)
            if np.isfinite(reports.weight).all():
                return self._learn(reports)  # this path takes no time in proportion to the rows
        known = self._check_clues(clues, n)
        return self._learn(list_reports(known), known)

    def _learn(self, reports: Reports, groups: Clues | None = None) -> Self:
        """Move the weights by links, and by labels and groups among the clues."""
        log = copy(self._log)  # Ctrl-C leaves the log as it was
        return self._apply(log, log.add(reports, groups))

    def _apply(self, log: ReportLog, pairs: Pairs) -> Self:
        """Move the weights by new links, which are in the log already."""
        ensemble, near = self._election.gather(pairs)
        state, value = _sequence.step(self._state, near, ensemble, self._rule)
        election = self._election.reweigh(state.gamma, self.hard)
        self._publish(log, state, election, [*self.trace_.tolist(), value])
        return self

    @property
    def _current_election(self) -> Election | ChunkElection:
        """The election, if the model is fitted; a failed fit leaves an earlier one behind."""
        check_is_fitted(self, "gamma_")
        return self._election

    def memberships(self, rows: Any = None) -> Floats:
        """How much weight votes for each cluster.

        Parameters
        ----------
        rows : array-like, slice or mask, optional
            Which rows; all by default.

        Returns
        -------
        ndarray of shape (rows, n_clusters)
            Nonnegative; each row sums to 1.
        """
        election = self._current_election
        return election.memberships(None if rows is None else row_numbers(rows, election.n))

    @property
    def labels_(self) -> Ints:  # type: ignore[override]  # computed when asked for
        """Cluster of each row."""
        return self._current_election.labels

    @property
    def changed_(self) -> Ints:
        """Rows whose label changed since the labels were last counted."""
        return self._current_election.changed

    @property
    def n_clusters_(self) -> int:  # type: ignore[override]  # computed when asked for
        """Number of clusters that have rows."""
        return self._current_election.count_clusters()

    @property
    def margin_(self) -> Floats:
        """Weight by which each row's cluster leads; negative where k-means chose another cluster than the largest."""
        return self._current_election.margin()

    @property
    def broken_(self) -> Clues:  # type: ignore[override]  # computed when asked for
        """The clues since the fit that the labels break."""
        known = self._log.clues()
        return broken(self._current_election.find_labels(known), known)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled model, or one from the time when models held their votes themselves."""
        if "_ensemble" in state:
            state = dict(state)
            log = state["_log"]
            state["_log"] = ReportLog.restore(log.n, log.reports, log.groups)
            state["_election"] = Election.restore(state)
        super().__setstate__(state)

    def save(self, path: str | Path) -> None:
        """Write the model to a folder, as arrays and JSON; an interrupted save leaves the previous one intact.

        Parameters
        ----------
        path : str or path
            The folder; created if it does not exist. The labels of the partitions are written only once.
        """
        from cluewise.ensemble import scsc_folder

        check_is_fitted(self, "gamma_")
        if not isinstance(self._election, Election):
            self._election._get_saved_state()  # refuses
        scsc_folder.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> SCSC:
        """Read a saved model; the labels of the partitions stay on disk, mapped into memory.

        Parameters
        ----------
        path : str or path
            The folder.

        Returns
        -------
        SCSC
            The model as it was saved.
        """
        from cluewise.ensemble import scsc_folder

        return scsc_folder.load(path)[0]


def _send(partitions: Any, n_clusters: int | None, hard: str) -> Any:
    """An ensemble on the device of the partitions."""
    if hard == "kmeans":
        raise ValueError("hard='kmeans' needs partitions in memory; pass them as a NumPy array.")
    import_arrays("for partitions that are not in memory")
    from cluewise.ensemble._on_device import DeviceEnsemble

    return DeviceEnsemble(partitions, n_clusters)


def _label_rows(X: Any, recipe: Recipe, r: int) -> Any:
    """The same for partitions of a tensor that have been learned."""
    from cluewise.ensemble._on_device import label_rows

    return label_rows(X, recipe, r)
