"""What all clusterers have in common: clues are told to them, and rows are what they put into clusters."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClusterMixin

from cluewise._typing import Ints
from cluewise.base._informed import Informed

__all__ = ["Clusterer", "FitPredictMixin"]


class FitPredictMixin(ClusterMixin):
    """scikit-learn's `ClusterMixin`, but ``fit_predict`` hands on ``y``, so that ``fit`` can warn of partial labels."""

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Ints:
        """Cluster the rows of X and give their labels.

        Parameters
        ----------
        X : array-like
            The data, as for ``fit``.
        y : ignored
            Present for scikit-learn's sake.
        **kwargs : dict
            Arguments of ``fit``, such as ``clues``.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row.
        """
        return self.fit(X, y, **kwargs).labels_


class Clusterer(FitPredictMixin, Informed):
    """Base of all clusterers; a subclass has a ``card`` and a ``fit`` that calls the checks of `Informed` first."""
