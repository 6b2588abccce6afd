"""Distances changed by must-links and cannot-links, for their rows and for neighbors of these [Klein2002]_."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cluewise._sklearn import Interval, StrOptions, fit_context
from cluewise._typing import ArrayLike, Floats, Ints
from cluewise.base import Attributes, Card, ClueEstimator, checked_data
from cluewise.core.distances.distance_matrix import require_distances, require_memory
from cluewise.core.trees.linkage_pairs import METRICS, paired, pairwise
from cluewise.exceptions import ClueWarning
from cluewise.metric_learning import _propagation as propagation
from cluewise.metric_learning._propagation_radius import guarded_radius

__all__ = ["PropagatedDistances"]


class PropagatedDistances(TransformerMixin, ClueEstimator):
    r"""Distances in which clues also act on neighbors of their rows.

    Use it before any method that takes precomputed distances. A must-link sets the distance of its two rows to zero, so
    their neighbors come closer, too; a cannot-link puts its two rows farther apart than any others. Complete linkage
    then propagates cannot-links to neighbors. This can mislead if rows that belong together are not near each other:
    ``radius="auto"`` estimates from the clues how far to propagate, and is mostly cautious.

    Parameters
    ----------
    metric : str or callable, default="euclidean"
        A metric of ``scipy.spatial.distance.cdist`` ("euclidean", "cityblock", "chebyshev", …), a function of two rows,
        or "precomputed" if X is the (n, n) matrix of distances.
    radius : float or "auto", default=inf
        Maximum length of each step of a path through must-links. Infinity is the method as published, 0 only changes
        the distances of rows with clues, and "auto" estimates it.
    cross_cannot : bool, default=True
        Whether must-links also shorten distances between rows that must be apart, as in the paper.
    memory_limit : float, default=4.0
        Maximum memory for distances, in GiB.

    Attributes
    ----------
    radius_ : float
        The radius that was used.
    radii_ : ndarray
        The radii that were tried, with ``radius="auto"``.
    agreement_ : ndarray
        For each of them, the probability that a held-out must-link is shorter than a held-out cannot-link.

    See Also
    --------
    cluewise.hierarchy.ConstrainedAgglomerative : Takes these distances with ``metric="precomputed"``.

    Notes
    -----
    With must-links at distance 0, :math:`D'` are shortest paths; then all cannot-links get :math:`\max D' + 1`. Paths
    need only pass through the :math:`r` must-link components of two or more rows. With :math:`G_{ia}` the distance of
    row i to the nearest member of component a, and S the shortest paths between components,

    .. math:: D'_{ij} = \min\left(D_{ij},\; \min_{a, b} G_{ia} + S_{ab} + G_{jb}\right)

    in O(n²r + nr²) time for all pairs, or O(r) for one pair, with O(nr) memory for G. With a finite radius, longer
    steps (entries of G) are not allowed.

    ========================== ===================================
    paper                      code
    ========================== ===================================
    :math:`D`                  ``metric``, rows of X
    must-links                 ``clues.components``
    cannot-links               ``clues.pairs(expand=True)``
    ========================== ===================================

    *Deviations.* The maximum is taken once, after all paths (erratum E8 of the survey). If :math:`D` is not a metric,
    only paths through must-link components are considered. ``radius`` and ``cross_cannot`` are not in the paper. "auto"
    evaluates each link as if nothing were known about its two rows, by the shortest path through one must-link
    component, and uses the smallest radius whose agreement is within one standard error of the best. The radius is 0
    unless the best agreement is two standard errors above that of 0, and also without must-links or without
    cannot-links. A pair that must be both together and apart is far apart, with a warning. Weights of clues are
    ignored.

    References
    ----------
    .. [Klein2002] D. Klein, S. D. Kamvar and C. D. Manning, "From instance-level constraints to space-level
       constraints: making the most of prior knowledge in data clustering", ICML 2002.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.hierarchy import ConstrainedAgglomerative
    >>> from cluewise.metric_learning import PropagatedDistances
    >>> X = [[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]]
    >>> clues = Clues(8, must=[(3, 7)], cannot=[(2, 7)])
    >>> D = PropagatedDistances().fit_transform(X, clues=clues)
    >>> D[0].round(2)
    array([0.  , 1.02, 0.91, 2.  , 4.13, 4.86, 4.92, 2.  ])
    >>> ConstrainedAgglomerative(2, linkage="complete", metric="precomputed").fit(D).labels_
    array([1, 1, 1, 0, 0, 0, 0, 0], dtype=int32)
    """

    card = Card(
        paper="Klein2002",
        title="Shortest paths through must-links",
        accepts=frozenset({"labels", "must", "cannot", "together", "apart"}),
        hard=True,
        descends=False,
        predicts=False,
        sparse=False,
        weights=False,
        deterministic=True,
        plain="",
        means=False,
        equation="Algorithm 6 of the survey",
        time_rows="square",
        memory="square",
        cost="O(n²(d + r)), memory O(n²)",
        aliases=("space-level constraints", "CCL"),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({*METRICS, "precomputed"}), callable],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="both")],
        "cross_cannot": ["boolean"],
        "memory_limit": [Interval(Real, 0, None, closed="neither")],
    }

    radius_: float
    radii_: Floats
    agreement_: Floats

    def __init__(
        self,
        *,
        metric: Any = "euclidean",
        radius: float | str = np.inf,
        cross_cannot: bool = True,
        memory_limit: float = 4.0,
    ) -> None:
        self.metric = metric
        self.radius = radius
        self.cross_cannot = cross_cannot
        self.memory_limit = memory_limit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, clues: Any = None) -> Self:
        """Find the shortest paths through must-links; distances of pairs are computed on demand.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
            The data, or their distances; a reference is kept.
        {y}
        {clues}

        Returns
        -------
        {self}
        """
        self._reset(y, clues)
        X = checked_data(self, X, reset=True, sparse=False)
        if self.metric == "precomputed":
            require_distances(X)
        known = self._check_clues(clues, len(X))
        if known.contradictions:
            warnings.warn(f"{known.contradictions[0]}; it counts as a cannot-link.", ClueWarning, stacklevel=3)
        hubs = int(np.count_nonzero(np.bincount(known.components) > 1))
        self._require(16 * known.n * hubs, f"paths through {hubs} must-link components")
        self._X, self._clues = X, known
        distance = pairwise(X, self.metric)
        if isinstance(self.radius, str):
            members, start = propagation.members_of(known)
            radius, radii, agreement = guarded_radius(distance, known, members, start)
            found: Attributes = {"radius_": radius, "radii_": radii, "agreement_": agreement}
        else:
            found = {"radius_": float(self.radius)}
        self._write(found | {"_hubs": propagation.hubs_of(distance, known, found["radius_"])})
        return self

    def fit_transform(self, X: Any, y: Any = None, *, clues: Any = None) -> Floats:
        """Distances between all rows, changed by the clues.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) with ``metric="precomputed"``
            The data, or their distances.
        {y}
        {clues}

        Returns
        -------
        ndarray of shape (n, n)
            Symmetric; 0 for rows that must be together, and 1 more than the maximum of the others for cannot-links.
        """
        self.fit(X, y, clues=clues)
        n = len(self._X)
        self._require(8 * n * n, f"distances between {n} rows")
        sides = None if self.cross_cannot else propagation.Sides.of(self._clues)
        D = propagation.all_pairs(pairwise(self._X, self.metric), self._hubs, n, sides)
        cannot = self._clues.pairs(expand=True).cannot
        if len(cannot):
            i, j = cannot.T
            D[i, j] = D[j, i] = D.max() + 1  # E8: one maximum for all
        return D

    def transform(self, X: Any) -> Floats:
        """Distances of new rows, without clues, to the rows of the fit.

        Parameters
        ----------
        X : array-like of shape (m, d), or (m, n) with ``metric="precomputed"``
            New rows, or their distances to the rows of the fit.

        Returns
        -------
        ndarray of shape (m, n)
            Shortest paths; cannot-links, which are between rows of the fit, have no effect.
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False, sparse=False)
        self._require(8 * len(X) * len(self._X), f"distances of {len(X)} rows")
        distance = pairwise(X, self.metric, self._X)
        new, old = np.arange(len(X)), np.arange(len(self._X))
        hubs = self._hubs
        into = propagation.reach_of(distance, new, hubs.members, hubs.start, hubs.radius)
        return propagation.shorten(distance(new, old).copy(), hubs.through(into), hubs.into)

    def between(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """Changed distances of some pairs of rows of the fit.

        Parameters
        ----------
        first, second : array-like of shape (m,)
            Row numbers.

        Returns
        -------
        ndarray of shape (m,)
            The same as from `fit_transform`, except that cannot-links have infinite distance, because the maximum over
            all pairs is not known.
        """
        check_is_fitted(self)
        i, j = (_numbers(which, len(self._X)) for which in (first, second))
        if len(i) != len(j):
            raise ValueError(f"first and second must have the same length; got {len(i)} and {len(j)}.")
        D = paired(self._X, self.metric, i, j)
        into = self._hubs.into
        if len(self._hubs):
            shorter = np.minimum(D, (self._hubs.through(into[i]) + into[j]).min(axis=1))
            if not self.cross_cannot:
                sides = propagation.Sides.of(self._clues)
                kept = [bool(sides.across(a)[b]) for a, b in zip(i.tolist(), j.tolist())]
                shorter[kept] = D[kept]
            D = shorter
        D[i == j] = 0.0
        cannot = self._clues.pairs(expand=True).cannot.astype(np.int64)
        codes = np.minimum(i, j) * len(self._X) + np.maximum(i, j)
        D[np.isin(codes, cannot[:, 0] * len(self._X) + cannot[:, 1])] = np.inf
        return D

    def _require(self, needed: int, what: str) -> None:
        require_memory(needed, self.memory_limit, what, "use fewer rows or a larger memory_limit")

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of `transform`, one per row of the fit."""
        check_is_fitted(self)
        return np.asarray([f"propagateddistances{i}" for i in range(len(self._X))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _numbers(which: ArrayLike, n: int) -> Ints:
    rows = np.asarray(which)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):  # NumPy makes floats of an empty list
        raise ValueError(f"expected a list of row numbers; got {which!r}.")
    bad = np.flatnonzero((rows < 0) | (rows >= n))
    if len(bad):
        raise ValueError(f"there is no row {rows[bad[0]]}; rows are numbered from 0 to {n - 1}.")
    return rows.astype(np.int64)
