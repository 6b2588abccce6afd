"""Constrained DBSCAN: clusters are dense regions that respect every link [Zhao2011]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import UNASSIGNED, Array, Ints
from cluewise.base import Attributes, Card, Clusterer, checked_data, checked_weight
from cluewise.clues import Clues
from cluewise.core.assign import permutation
from cluewise.core.loop import Progress
from cluewise.core.threads import one_blas_thread
from cluewise.density import _growing as growing
from cluewise.density._radius import neighbors_from_distances, neighbors_within, require_given_distances
from cluewise.metrics import broken

__all__ = ["ConstrainedDBSCAN"]


FAR = 1e154
"""Larger radii are lowered to this: their squares would overflow, as those of such distances do."""


class ConstrainedDBSCAN(Clusterer):
    r"""Dense regions as clusters, sparse ones as noise, and every clue holds.

    Use it when clusters have arbitrary shapes, their number is unknown, some rows are noise, and clues are certain.
    A cluster grows from row to row through dense neighborhoods. A row joins together with all rows it must be with.
    Rows that a cannot-link, a label or an apart group keeps out stay outside and may start the next cluster. Without
    clues it is DBSCAN.

    Parameters
    ----------
    eps : float, default=0.5
        Rows at most this far apart are neighbors.
    min_samples : int, default=5
        Minimum number of rows (or total weight) in the neighborhood of a core row, counting itself.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        With "precomputed", X is a symmetric (n, n) matrix of distances; in a sparse X, missing entries are far.
    order : {"index", "density"} or permutation of the rows, default="index"
        Order in which rows start and join clusters: by row number, by decreasing mass of their neighborhoods, or as
        given. Without cannot-links it only decides which cluster a border row joins; with cannot-links it also
        decides which of two rows that must be apart gets a dense region.
    dense_components : bool, default=False
        Whether rows of must-link components with at least ``min_samples`` rows are core rows.
    strays : {"cluster", "noise"}, default="cluster"
        Treatment of must-linked or labeled rows that no cluster reaches. "cluster": each component becomes a
        cluster, so that every clue holds; "noise": they are noise, as in the paper, and ``broken_`` lists their clues.
    memory_limit : float, default=4.0
        Maximum memory in GiB for the pairs of rows within ``eps``, at 24 bytes a pair (180 million pairs in 4 GiB).

    Attributes
    ----------
    {labels_}
        Clusters are numbered in the order in which they start; -1 is noise.
    core_sample_indices_ : ndarray
        Row numbers of the core rows.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        Number, or total weight, of the noise rows. DBSCAN has no objective; this stands in for one.
    trace_ : ndarray of shape (1,)
        The objective.
    n_iter_ : int
        Always 1.
    broken_ : Clues
        Empty, unless ``strays="noise"``.

    Raises
    ------
    {contradiction}
    MemoryError
        When the pairs within ``eps`` need more than ``memory_limit``.

    Notes
    -----
    .. math:: N(x) = \{t : \lVert x - t \rVert \le \varepsilon\}, \qquad x \text{ core} \iff |N(x)| \ge minPts

    =========================== =========================================
    paper                       code
    =========================== =========================================
    :math:`\varepsilon, minPts` ``eps``, ``min_samples``
    closure of a row            ``clues.components``
    :math:`TCS_j`               one component
    cluster id                  ``labels_``
    =========================== =========================================

    *Deviations.* Components join as a whole, after a check of all their cannot-links (errata E48 and E49 of the
    survey). Components that would stay noise become clusters (see ``strays``): every noise row counts as alone, so a
    must-link between two of them would be broken. Noise rows may have cannot-links. A row of weight 0 is never a core
    row.

    Memory grows with the number of pairs within ``eps``, not with n².

    References
    ----------
    .. [Zhao2011] W. Zhao, Q. He, H. Ma and Z. Shi, "Effective semi-supervised document clustering via active learning
       with instance-level constraints", Knowledge and Information Systems, 2011.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.density import ConstrainedDBSCAN
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> ConstrainedDBSCAN(eps=2.2, min_samples=3).fit(X).labels_
    array([0, 0, 0, 0, 0, 0, 0, 0], dtype=int32)
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(0, 3)])
    >>> ConstrainedDBSCAN(eps=2.2, min_samples=3).fit(X, clues=clues).labels_
    array([0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    card = Card(
        paper="Zhao2011",
        title="DBSCAN with hard links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        invariant=frozenset({"shift", "rotation"}),
        finds=True,
        noise=True,
        predicts=False,
        deterministic=True,
        plain="",
        means=False,
        cost="O(n log n + pairs within eps) in few columns",
        equation="Algorithm Constrained-DBSCAN (Alg. 18 of the survey)",
        aliases=("C-DBSCAN", "Constrained-DBSCAN", "DBSCAN"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "eps": [Interval(Real, 0, None, closed="left")],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"euclidean", "precomputed"})],
        "order": [StrOptions({"index", "density"}), "array-like"],
        "dense_components": ["boolean"],
        "strays": [StrOptions({"cluster", "noise"})],
        "memory_limit": [Interval(Real, 0, None, closed="neither")],
    }

    core_sample_indices_: Ints

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: str = "euclidean",
        order: Any = "index",
        dense_components: bool = False,
        strays: str = "cluster",
        memory_limit: float = 4.0,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.order = order
        self.dense_components = dense_components
        self.strays = strays
        self.memory_limit = memory_limit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X with what is known about them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d), or (n, n) with metric="precomputed"
            The data, or distances between the rows.
        {y}
        {clues}
        sample_weight : array-like of shape (n,), optional
            Weight of each row in the neighborhoods that contain it.

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True)
        n = X.shape[0]
        if self.metric == "precomputed":
            require_given_distances(X)
        known = self._check_clues(clues, n)
        weight = None if sample_weight is None else checked_weight(sample_weight, X)
        if not isinstance(self.order, str):
            permutation(self.order, n, "'index', 'density'")
        if known.contradictions:
            known.require(n)  # raises the error; without contradictions n clusters are always enough
        with one_blas_thread(), Progress(self, getattr(self, "_skl_callbacks", ()), 1, 1) as progress:
            progress.begin_start(0)
            found = self._cluster(X, known, weight)
            self._write(found)
            progress(found["labels_"], list(found["trace_"]))
            progress.end_start()
        return self

    def _cluster(self, X: Any, clues: Clues, weight: Array | None) -> Attributes:
        eps, limit = float(self.eps), float(self.memory_limit)
        if self.metric == "precomputed":
            neighbors = neighbors_from_distances(X, eps, limit)
        else:
            neighbors = neighbors_within(X, min(eps, FAR), limit)
        mass = neighbors.mass(weight)
        core = mass >= self.min_samples
        if self.dense_components:
            size = growing.component_mass(clues, weight)
            core |= size >= self.min_samples
        if weight is not None:
            core &= weight > 0
        order = self._order(mass)
        labels = growing.grow_clusters(neighbors, core, clues, order)
        if self.strays == "cluster":
            labels = growing.cluster_strays(labels, clues, order)
        noise = labels == UNASSIGNED
        value = float(np.count_nonzero(noise) if weight is None else weight[noise].sum())
        return {
            "labels_": labels,
            "core_sample_indices_": np.flatnonzero(core),
            "n_clusters_": int(labels.max(initial=-1)) + 1,
            "objective_": value,
            "trace_": np.array([value]),
            "n_iter_": 1,
            "broken_": broken(labels, clues),
        }

    def _order(self, mass: Array) -> Ints | None:
        """The order of the rows, None for the order of their numbers."""
        if isinstance(self.order, str):
            return None if self.order == "index" else np.argsort(-mass, kind="stable")
        return permutation(self.order, len(mass), "'index', 'density'")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
