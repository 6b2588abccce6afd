"""Variants of K-means dressed as scikit-learn's, so that they can be asked what its documentation promises."""

from __future__ import annotations

from typing import Any

from cluewise import clusterers

VARIANTS = [name for name, cls in clusterers().items() if cls.card.plain == "k-means"]


class Peer:
    """A clusterer without clues, by the names that scikit-learn uses: ``inertia_`` is the objective in its units."""

    def __init__(self, name: str, n_clusters: int = 8, **params: Any) -> None:
        self.model = clusterers()[name](n_clusters, **params)
        has_half = name in ("PCKMeans", "ClosurePCKMeans", "CVQE", "LCVQE")  # half of the squared distances
        self.unit = 2.0 if has_half else 1.0

    def fit(self, X: Any, sample_weight: Any = None) -> Peer:
        """Fit without clues."""
        self.model.fit(X, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        return self

    @property
    def inertia_(self) -> float:
        """Sum of squared distances to the nearest centers."""
        return self.unit * float(self.model.objective_)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)
