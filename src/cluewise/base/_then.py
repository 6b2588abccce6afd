"""A learned metric followed by a clusterer, made by `MetricLearner.then`."""

from __future__ import annotations

import warnings
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from cluewise._dask import is_dask
from cluewise._docs import documented
from cluewise._elsewhere import is_elsewhere
from cluewise.base._clusterer import FitPredictMixin
from cluewise.base._input import as_clues, seed_steps, warn_of_ignored
from cluewise.clues import Clues
from cluewise.exceptions import UnusedClueWarning
from cluewise.metrics import broken

__all__ = ["MetricThen"]


def _clusterer_has(name: str) -> Any:
    """Whether the clusterer, fitted or not, has this method."""

    def has(self: MetricThen) -> bool:
        getattr(getattr(self, "clusterer_", self.clusterer), name)
        return True

    return has


@documented
class MetricThen(MetaEstimatorMixin, FitPredictMixin, BaseEstimator):
    """Learn a metric from the clues, then cluster the transformed rows.

    Made by ``metric.then(clusterer)``. Each step gets the clues of the kinds it uses; a warning names the kinds that
    neither uses. A clusterer that does not accept clues, such as scikit-learn's ``KMeans``, just clusters the
    transformed rows. The same two steps as a pipeline: ``make_pipeline(metric, clusterer)`` with scikit-learn's
    metadata routing enabled.

    Parameters
    ----------
    metric : estimator
        A transformer that learns from clues, such as ``RCA()``.
    clusterer : estimator
        Any clusterer with ``fit_predict``.
    random_state : int, numpy Generator or RandomState, default=None
        Seed from which those of both steps are drawn. None: each step uses its own ``random_state``.

    Attributes
    ----------
    {labels_}
    metric_ : estimator
        The fitted metric.
    clusterer_ : estimator
        The fitted clusterer; its centers and objective refer to the transformed rows.
    n_clusters_ : int
        Number of clusters, if the clusterer has this attribute.
    {broken_}
    {columns_}

    Notes
    -----
    The meta-estimator passes ``clues`` and ``sample_weight`` on itself, whether scikit-learn's metadata routing is
    enabled or not; ``sample_weight`` goes to the clusterer only.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from cluewise import Clues
    >>> from cluewise.metric_learning import RCA
    >>> X = [[0, 0], [0, 9], [1, 1], [1, 8], [5, 0], [5, 9]]
    >>> clues = Clues(6, must=[(0, 1), (2, 3), (4, 5)])
    >>> alone = KMeans(2, n_init=5, random_state=0).fit(X)
    >>> model = RCA().then(KMeans(2, n_init=5, random_state=0)).fit(X, clues=clues)
    >>> bool(alone.labels_[0] == alone.labels_[1]), bool(model.labels_[0] == model.labels_[1])
    (False, True)
    """

    __metadata_request__fit = {"clues": True}

    def __init__(self, metric: Any, clusterer: Any, random_state: Any = None) -> None:
        self.metric = metric
        self.clusterer = clusterer
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, clues: Any = None, sample_weight: Any = None) -> Self:
        """Fit the metric, then the clusterer on the transformed rows.

        Parameters
        ----------
        {X_dense}
        {y}
        {clues}
        {sample_weight}
            Only for the clusterer.

        Returns
        -------
        {self}
        """
        if clues is None:
            warn_of_ignored(y, type(self).__name__)
        metric, clusterer = clone(self.metric), clone(self.clusterer)
        if not hasattr(clusterer, "fit_predict"):
            raise TypeError(f"clusterer={clusterer!r} has no fit_predict.")
        seed_steps(self.random_state, metric, clusterer)
        if sample_weight is not None and not has_fit_parameter(clusterer, "sample_weight"):
            raise ValueError(f"{type(clusterer).__name__} does not accept sample_weight.")
        accepts = has_fit_parameter(clusterer, "clues")
        if is_elsewhere(X) and type(clusterer).__module__.partition(".")[0] == "sklearn":
            raise TypeError(
                f"{type(clusterer).__name__} would bring all of X, a {'dask array' if is_dask(X) else 'tensor'}, "
                "into memory; it does not take one."
            )
        known = None if clues is None else as_clues(clues, _count(X, clues))
        for_metric, for_clusterer = known, known if accepts else None
        if known is not None:
            for_metric, for_clusterer = self._share(known, metric, clusterer if accepts else None)
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        rows = metric.fit(X, **({} if for_metric is None else {"clues": for_metric})).transform(X)
        labels = clusterer.fit_predict(rows, **(more if for_clusterer is None else more | {"clues": for_clusterer}))
        self.metric_, self.clusterer_ = metric, clusterer
        self.labels_ = getattr(clusterer, "labels_", labels)  # mixtures and pipelines have none
        self.broken_ = self._broken(known, for_clusterer)
        self.n_features_in_ = metric.n_features_in_
        for step, name in ((clusterer, "n_clusters_"), (metric, "feature_names_in_")):
            if hasattr(step, name):
                setattr(self, name, getattr(step, name))
            elif hasattr(self, name):
                delattr(self, name)  # of an earlier fit
        return self

    def _broken(self, known: Clues | None, used: Clues | None) -> Clues:
        """The clues that the labels break; as far as the clusterer used them, its own account of it."""
        own = getattr(self.clusterer_, "broken_", None)
        if known is None:
            return Clues(len(self.labels_)) if own is None else own
        if own is None or used is None:
            return broken(self.labels_, known)
        unused = known.kinds - used.kinds
        return own | broken(self.labels_, known.only(unused)) if unused else own

    def _share(self, known: Clues, metric: Any, clusterer: Any) -> list[Clues | None]:
        """The clues for each step, of the kinds on its card if it has one; warn about kinds that neither uses."""
        steps = [metric, clusterer]
        accepts = [
            frozenset[str]() if step is None else step.card.accepts if hasattr(step, "card") else known.kinds
            for step in steps
        ]
        unused = sorted(known.kinds - accepts[0] - accepts[1])
        if unused:
            warnings.warn(
                f"neither {type(metric).__name__} nor {type(self.clusterer).__name__} uses clues of the kind "
                f"{', '.join(unused)}; they are ignored.",
                UnusedClueWarning,
                stacklevel=3,
            )
        return [
            None if step is None else known.only(known.kinds & kinds)
            for step, kinds in zip(steps, accepts, strict=True)
        ]

    @available_if(_clusterer_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict the cluster of each row of X.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the training data or new ones.

        Returns
        -------
        ndarray of shape (n,)
            What the clusterer predicts for the transformed rows.
        """
        check_is_fitted(self)
        return self.clusterer_.predict(self.metric_.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _count(X: Any, clues: Any) -> int:
    """Number of rows of X, which the metric checks later; that of the clues if X is one of dask's."""
    if is_dask(X):  # which may not know it
        return len(clues)
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        raise ValueError(f"X must have rows and columns; it is {X!r}.") from None
