"""Agglomerative clustering in which every must-link and cannot-link holds, at every level [Davidson2009]_."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import Bools, Floats, Ints
from cluewise.base import Attributes, Card, Clusterer, checked_data
from cluewise.clues import Clues
from cluewise.core.distances.distance_matrix import require_distances, require_memory, warn_of_time
from cluewise.core.loop import Progress
from cluewise.core.trees import linkage_means, linkage_pairs
from cluewise.core.trees.linkage import Merges, Tree, existing, level, tree_of
from cluewise.exceptions import Undecided
from cluewise.hierarchy._detours import find_route
from cluewise.kernels import working_time
from cluewise.metrics import broken

__all__ = ["ConstrainedAgglomerative"]


class ConstrainedAgglomerative(Clusterer):
    r"""A tree of clusters, merged two at a time, in which every clue holds at every level.

    Use it when clues are certain, when the number of clusters is unknown, or when clusters within clusters are of
    interest. Rows that must be together are joined first; then, repeatedly, the two closest clusters without a
    cannot-link between them. The tree ends when all remaining clusters must be apart.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters. If joining the closest clusters ends before that level, detours are made (see Notes). With
        None, ``distance_threshold`` decides, or, without one, the last level, ``k_min_``, is used.
    linkage : {"ward", "complete", "average", "single", "centroid"}, default="ward"
        Distance of two clusters. "ward": the increase of the sum of squares when they are joined; "complete",
        "average" and "single": the largest, mean and smallest distance between their rows; "centroid": the distance
        of their means.
    metric : str or callable, default="euclidean"
        Distance of two rows: a metric of ``scipy.spatial.distance.cdist`` ("euclidean", "sqeuclidean",
        "cityblock", "chebyshev", "cosine", "correlation", "canberra", "braycurtis", "hamming"), a function of two rows,
        or "precomputed" if X is the (n, n) matrix of distances. "ward" and "centroid" need "euclidean".
    distance_threshold : float or None, default=None
        Stop before the first union at this height or above; ``n_clusters`` must then be None.
    max_distance : float or None, default=None
        Clusters farther apart than this are never joined (the :math:`\gamma`-constraint): the tree ends there.
    memory_limit : float, default=4.0
        Maximum memory in GiB for distances, checked before any work. "complete", "average" and "single" need 4n² bytes
        (n = 32,000 rows in 4 GiB). "ward" and "centroid" need memory proportional to X; for speed, "ward" uses 4n²
        bytes if X has more than 48 columns and the limit allows it. A warning is issued first if comparing all pairs
        takes more than about a minute.
    time_limit : float or None, default=30.0
        Seconds for the search for detours; building the tree and compiling do not count. With None only the number of
        detours is limited.

    Attributes
    ----------
    {labels_}
        Cluster 0 is the largest.
    n_clusters_ : int
        Number of clusters.
    linkage_ : ndarray of shape (n - 1, 4)
        The tree in SciPy's format, for ``scipy.cluster.hierarchy.dendrogram``: must-links at height 0 first, forbidden
        unions last.
    forbidden_ : ndarray of shape (n - 1,)
        Mask of the rows of ``linkage_`` that clues or ``max_distance`` forbid. They only complete the tree; all have
        the same height, a quarter above the highest allowed union.
    children_ : ndarray of shape (n - 1, 2)
        The first two columns of ``linkage_``, named as in scikit-learn.
    distances_ : ndarray of shape (n - 1,)
        The third column of ``linkage_``: the heights.
    k_max_ : int
        Number of clusters at the first level: the number of must-link components.
    k_min_ : int
        Number of clusters at the last level. Fewer may be possible, but not by joining the closest clusters.
    n_detours_ : int
        Number of unions that were skipped because ``n_clusters`` could not be reached after them.
    objective_ : float
        Height of the last union in ``labels_``; 0 if there is none.
    trace_ : ndarray
        Heights of the unions in ``labels_``, without must-links, in order.
    n_iter_ : int
        Number of these unions.
    {none_broken_}

    Raises
    ------
    {contradiction}
    Infeasible
        When ``n_clusters`` is above ``k_max_``, when the clues need more clusters (``witness`` then contains clues that
        prove it), or when no sequence of unions that reaches ``n_clusters`` was found.
    Undecided
        When ``time_limit`` was reached before ``n_clusters`` was; ``n_clusters=None`` makes no detours.
    MemoryError
        When the distances need more than ``memory_limit``.

    See Also
    --------
    cluewise.metric_learning.PropagatedDistances : Distances in which clues also act on the neighbors of their rows.

    Notes
    -----
    Every step joins, among the clusters that have no cannot-link between them,

    .. math:: \arg\min_{A, B} d(A, B), \qquad
        d_{ward} = \sqrt{\tfrac{2 |A| |B|}{|A| + |B|}}\, \lVert \mu_A - \mu_B \rVert, \quad
        d_{centroid} = \lVert \mu_A - \mu_B \rVert, \quad
        d_{average} = \tfrac{1}{|A| |B|} \sum_{a \in A, b \in B} D_{ab}

    and the maximum and minimum of :math:`D_{ab}` for complete and single linkage. Without clues this is
    ``scipy.cluster.hierarchy.linkage``. A union inherits the cannot-links of its parts, and clusters with a cannot-link
    between them count as infinitely far apart. All linkages except "centroid" remain reducible, so the nearest-neighbor
    chain algorithm finds the same tree in O(n²) steps. With "centroid", heights may decrease; with ``max_distance``,
    the triangle inequality avoids most of its distances: centers whose distances from a pivot differ by more than that
    are not compared.

    Where distances tie, as on a grid, the order of the rows decides which of the closest clusters are joined first,
    and another order may give another tree.

    Joining the closest clusters may end in a dead end, above ``n_clusters``. Then the first union after which
    ``n_clusters`` cannot be reached (a question of coloring the cannot-links, decided by a short search) is skipped,
    and the tree continues without it, for at most 100 such unions or ``time_limit`` seconds. ``n_clusters=None`` makes
    no detours.

    ========================== ============================================
    paper                      code
    ========================== ============================================
    :math:`C_=`                ``clues.components``, joined first
    :math:`C_{\ne}`            ``clues.graph``, ``clues.cliques``
    :math:`k_{max}, k_{min}`   ``k_max_``, ``k_min_``
    :math:`\gamma`             ``max_distance``
    ========================== ============================================

    *Deviations.* The closest pair is sought among those that may be joined, unlike in the printed algorithm (erratum E4
    of the survey), and clusters farther apart than :math:`\gamma` are never joined, whether or not they were screened
    (E5, E6). The :math:`\gamma`-constraint applies to every linkage, in terms of its own heights. Detours
    and Ward's linkage are not in the paper.

    References
    ----------
    .. [Davidson2009] I. Davidson and S. S. Ravi, "Using instance-level constraints in agglomerative hierarchical
       clustering: theoretical and empirical results", Data Mining and Knowledge Discovery 18, 2009.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.hierarchy import ConstrainedAgglomerative
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(2, 7), (1, 5)])
    >>> model = ConstrainedAgglomerative(n_clusters=3, linkage="average").fit(X, clues=clues)
    >>> model.labels_, model.k_min_
    (array([1, 1, 1, 2, 0, 0, 0, 2], dtype=int32), 2)
    >>> model.cut(n_clusters=2)
    array([1, 1, 1, 0, 0, 0, 0, 0], dtype=int32)
    """

    card = Card(
        paper="Davidson2009",
        title="Agglomerative clustering with hard links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        closes=True,
        descends=False,
        predicts=False,
        sparse=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        equation="Algorithms 3 to 5 of the survey",
        time_rows="square",
        cost="O(n²d), memory O(n²), or O(nd) with Ward's and centroid linkage",
        aliases=("constrained hierarchical clustering", "C-HAC"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions({"ward", "complete", "average", "single", "centroid"})],
        "metric": [StrOptions({*linkage_pairs.METRICS, "precomputed"}), callable],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "max_distance": [Interval(Real, 0, None, closed="left"), None],
        "memory_limit": [Interval(Real, 0, None, closed="neither")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    children_: Ints
    distances_: Floats
    linkage_: Floats
    forbidden_: Bools
    k_min_: int
    k_max_: int
    n_detours_: int

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "ward",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        max_distance: float | None = None,
        memory_limit: float = 4.0,
        time_limit: float | None = 30.0,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.max_distance = max_distance
        self.memory_limit = memory_limit
        self.time_limit = time_limit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:  # type: ignore[override]  # no weights
        """Build the tree and cut it.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
            The data, or distances between the rows.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=False)
        known = self._check(X, clues)
        given = self.metric == "precomputed"  # nothing to compute, and COPKMeans takes no distances
        instead = "use fewer rows" if given else "COPKMeans takes time proportional to the number of rows"
        warn_of_time(known.n_components, 0 if given else X.shape[1], "ConstrainedAgglomerative", instead)
        callbacks = getattr(self, "_skl_callbacks", ())
        with Progress(self, callbacks, 1, known.n_components) as progress:
            progress.begin_start(0)
            stopped = False

            def watch(found: Merges) -> bool:
                nonlocal stopped
                stopped = progress(found, [float(found.height[-1]) if len(found.height) else 0.0])
                return stopped

            try:
                tree, detours = self._tree(known, self._merges(X, known, watch)), 0
                if not stopped:
                    tree, detours = self._reach_n_clusters(tree, X, known)
            except KeyboardInterrupt:
                if progress.last is not None:
                    self._write(_results(self._tree(known, progress.last[0]), None))
                raise
            found = _results(tree, None if stopped else self._choose_level(tree), detours)
            self._write(found | {"broken_": broken(found["labels_"], known)})
            progress.end_start()
        return self

    def _check(self, X: Floats, clues: Any) -> Clues:
        """Check parameters, data, clues and memory, and return the clues."""
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ValueError("n_clusters and distance_threshold cannot both be set: set one of them to None.")
        by_means = self.linkage in ("ward", "centroid")
        if by_means and self.metric != "euclidean":
            raise ValueError(
                f"linkage={self.linkage!r} works on means and needs metric='euclidean', not {self.metric!r}; "
                "use linkage 'complete', 'average' or 'single'."
            )
        if self.metric == "precomputed":
            require_distances(X)
        if self.n_clusters is not None and self.n_clusters > len(X):
            raise ValueError(f"n_clusters={self.n_clusters} is larger than the number of rows, n_samples={len(X)}.")
        known = self._check_clues(clues, len(X))
        known.require(known.n if self.n_clusters is None else self.n_clusters)
        m = known.n_components
        if by_means:
            needed, what = linkage_means.means_bytes(m, X.shape[1], known), "means and cannot-links"
        else:
            needed, what = linkage_pairs.table_bytes(m), f"distances between {m} clusters"
        require_memory(
            needed,
            self.memory_limit,
            what,
            "use fewer rows, linkage 'ward' or 'centroid' (which keep no distances), or a larger memory_limit",
        )
        return known

    def _merges(self, X: Floats, known: Clues, watch: Any) -> Merges:
        """All unions of must-link components."""
        if self.linkage == "ward":
            given, m = linkage_means.means_of(X, known), known.n_components
            # Computing distances of many columns again and again takes longer than keeping a table of them.
            if X.shape[1] > linkage_pairs.WIDE and linkage_pairs.table_bytes(m) <= self.memory_limit * 2**30:
                table = linkage_pairs.ward_table(given.means, given.size, known)
                return linkage_pairs.merge_by_distance(table, given.size, "ward", watch)
            return linkage_means.merge_by_ward(given, watch)
        if self.linkage == "centroid":
            reach = np.inf if self.max_distance is None else float(self.max_distance)
            return linkage_means.merge_by_center(linkage_means.means_of(X, known), reach, watch)
        distance = linkage_pairs.pairwise(X, self.metric)
        table = linkage_pairs.table_of(distance, known, self.linkage)
        size = np.bincount(known.components).astype(np.float64)
        return linkage_pairs.merge_by_distance(table, size, self.linkage, watch)

    def _tree(self, known: Clues, merges: Merges) -> Tree:
        most = np.inf if self.max_distance is None else float(self.max_distance)
        return tree_of(known.components, merges, most=most, ordered=self.linkage == "centroid")

    def _reach_n_clusters(self, tree: Tree, X: Floats, known: Clues) -> tuple[Tree, int]:
        """A tree that reaches ``n_clusters``, by detours if this one does not, and their number."""
        if self.n_clusters is None or self.max_distance is not None or tree.k_min <= self.n_clusters:
            return tree, 0

        until = np.inf if self.time_limit is None else working_time() + self.time_limit

        def join(now: Clues) -> Merges:
            return self._merges(X, now, lambda _: working_time() > until)

        route = find_route(known, tree, self.n_clusters, join, self.linkage == "centroid", until)
        if route.merges is None:
            raise Undecided(
                f"n_clusters={self.n_clusters} was not reached within time_limit={self.time_limit} seconds and "
                f"{route.detours} detours; increase time_limit, set n_clusters=None to use the level where the tree "
                "ends, or use a method that searches, such as COPKMeans."
            )
        return tree_of(known.components, route.merges, ordered=True), route.detours

    def _choose_level(self, tree: Tree) -> int:
        """The number of clusters that the parameters ask for."""
        if self.n_clusters is not None:
            return existing(tree, int(self.n_clusters), self.max_distance)
        if self.distance_threshold is not None:
            return tree.clusters_below(float(self.distance_threshold))
        return tree.k_min

    def cut(self, *, n_clusters: int | None = None, distance: float | None = None) -> Ints:
        """Labels at another level of the tree.

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters, between ``k_min_`` and ``k_max_``.
        distance : float, optional
            Cut before the first union at this height or above. Give either this or ``n_clusters``.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row; cluster 0 is the largest.
        """
        check_is_fitted(self, "linkage_")
        tree = Tree(self.linkage_, self.k_max_, self.k_min_)
        if distance is not None and n_clusters is None:
            if not isinstance(distance, Real) or np.isnan(float(distance)):
                raise ValueError(f"distance must be a number, not {distance!r}.")
            return level(tree, tree.clusters_below(float(distance)))
        if n_clusters is None or distance is not None:
            raise ValueError("cut needs either n_clusters or distance.")
        if not isinstance(n_clusters, Integral) or isinstance(n_clusters, bool):
            raise ValueError(f"n_clusters must be a whole number, not {n_clusters!r}.")
        return level(tree, existing(tree, int(n_clusters), self.max_distance))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _results(tree: Tree, k: int | None, detours: int = 0) -> Attributes:
    """The tree and its level of k clusters; None is the last level, also of an unfinished tree."""
    k = tree.k_min if k is None else k
    merges = tree.k_max - k
    trace = tree.heights[:merges].copy()
    return {
        "linkage_": tree.Z,
        "children_": tree.Z[:, :2].astype(np.int64),
        "distances_": tree.Z[:, 2].copy(),
        "forbidden_": tree.forbidden,
        "k_max_": tree.k_max,
        "k_min_": tree.k_min,
        "n_detours_": detours,
        "n_clusters_": k,
        "labels_": level(tree, k),
        "n_iter_": merges,
        "trace_": trace,
        "objective_": float(trace[-1]) if merges else 0.0,
    }
