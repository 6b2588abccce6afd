"""A clusterer that has its clues, for programs that pass only rows."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cluewise._docs import documented
from cluewise._typing import Ints

__all__ = ["WithClues"]


def _can_predict(self: Any) -> bool:
    return hasattr(self.clusterer, "predict")


@documented
class WithClues(ClusterMixin, BaseEstimator):
    """A clusterer with its clues: programs that call ``fit(X)`` use both.

    For BERTopic's ``hdbscan_model``, and for pipelines without metadata routing. The clues are about the rows of that
    one ``fit``, in their order.

    Parameters
    ----------
    clusterer : estimator
        A clusterer of cluewise. It is cloned, not changed.
    clues : Clues or array-like of shape (n,)
        The clues, or partial labels.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusterer.
    {labels_}

    Examples
    --------
    >>> import cluewise as cw
    >>> model = cw.adapters.WithClues(cw.Cluewise(2, random_state=0), cw.Clues(4, cannot=[(0, 1)]))
    >>> model.fit([[0.0], [1.0], [8.0], [9.0]]).clusterer_.clues_
    Clues(4 rows: 1 cannot-link)
    """

    labels_: Ints

    def __init__(self, clusterer: Any, clues: Any) -> None:
        self.clusterer = clusterer
        self.clues = clues

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows with the clues.

        Parameters
        ----------
        {X}
        {y}

        Returns
        -------
        {self}
        """
        self.clusterer_ = clone(self.clusterer).fit(X, clues=self.clues)
        self.labels_ = self.clusterer_.labels_
        return self

    @available_if(_can_predict)
    def predict(self, X: Any) -> Ints:
        """Predict the cluster of each row.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,)
            The cluster of each row.
        """
        check_is_fitted(self, "clusterer_")
        found: Ints = self.clusterer_.predict(X)
        return found
