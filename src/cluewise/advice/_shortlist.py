"""A short list of methods to try: a few of different kinds, chosen by their cards and their cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.preprocessing import StandardScaler

from cluewise import catalogue
from cluewise._typing import UNASSIGNED
from cluewise.base import Card
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics.segments import count_pairs_among

__all__ = ["KINDS", "ClassifierClusterer", "make_classifiers", "make_method", "make_shortlist"]

# What each method stands for; the default of the command line comes first.
KINDS = {
    "Cluewise": "compares clusterings by itself",
    "PCKMeans": "K-means with a penalty for broken clues",
    "ConstrainedKMeans": "K-means that starts from labels and keeps them",
    "PCCC": "K-means that keeps every clue",
    "MPCKMeans": "K-means that learns a metric",
    "EquivalenceGMM": "Gaussian clusters",
    "E2CP": "spectral: clusters of any shape",
    "ConstrainedAgglomerative": "a tree of merges that keeps every clue",
    "PartitionKMeans": "K-means that uses partitions",
}
_PAIRS = 50_000  # maximum number of pairs that labels and groups expand to
_ROWS = 5_000  # maximum number of rows for methods that compare all rows with each other
_CELLS = 3 * 10**6  # maximum of rows times squared columns, for full covariances


def make_shortlist(clues: Clues, n: int, d: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Make a list of estimators to try, and give the reasons for those left out."""
    kinds = clues.kinds - {"avoid"}
    chosen: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name in KINDS:
        method = catalogue.get(name)
        why = _explain_cost(method.card, clues, n, d)
        if not kinds <= method.card.accepts:
            missing = ", ".join(sorted(kinds - method.card.accepts))
            left_out[name] = f"does not use clues of the kind {missing}"
        elif why:
            left_out[name] = why
        else:
            chosen[name] = make_method(name)
    if not chosen:
        raise ClueError(
            f"no method of the short list uses clues of the kinds {', '.join(sorted(kinds)) or 'none'} together; "
            "give a list of methods."
        )
    return chosen, left_out


def _explain_cost(card: Card, clues: Clues, n: int, d: int) -> str:
    """Explain why a method is too expensive for these data, by its card; empty if it is not."""
    if card.time_rows == "square" and n > _ROWS:
        return f"compares all of {n} rows with each other"
    if card.time_columns == "square" and n * d * d > _CELLS:
        return f"covariances of {d} columns are too expensive for {n} rows"
    pairs = count_pairs_among(clues, np.arange(clues.n)) if card.memory == "pairs" else 0
    return f"labels and groups would make {pairs} pairs" if pairs > _PAIRS else ""


def make_method(method: Any) -> Any:
    """Make an estimator from a name in the catalogue; instances are returned as they are."""
    if not isinstance(method, str):
        return method
    made: Any = catalogue.get(method)()
    # A search must not spend all its time in one fit.
    return made.set_params(time_limit=5.0) if "time_limit" in made.get_params() else made


def make_classifiers(clues: Clues) -> dict[str, Any]:
    """Make plain classifiers, if at least two classes have labels."""
    if len(np.unique(clues.labels[clues.labels >= 0])) < 2:
        return {}
    # Imported here, because they slow down the command line.
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.semi_supervised import LabelSpreading

    # A graph of neighbors needs more rows than neighbors.
    spreading = LabelSpreading(kernel="knn", n_neighbors=min(7, clues.n - 1))
    return {
        "LogisticRegression": ClassifierClusterer(LogisticRegression(max_iter=1000), scales=True),
        "LabelSpreading": ClassifierClusterer(spreading, spreads=True),
        "1-nearest-neighbor": ClassifierClusterer(KNeighborsClassifier(1)),
    }


class ClassifierClusterer(ClusterMixin, BaseEstimator):
    """A clusterer that trains a classifier on the labels among the clues and predicts the class of every row.

    ``spreads``: the classifier is trained on all rows, with -1 for rows without a label. ``scales``: columns are
    standardized first, by all rows.
    """

    def __init__(self, classifier: Any, spreads: bool = False, scales: bool = False) -> None:
        self.classifier = classifier
        self.spreads = spreads
        self.scales = scales

    def fit(self, X: Any, y: Any = None, *, clues: Clues) -> Self:
        """Train on the labeled rows and classify all rows."""
        known = clues.labels >= 0
        if not known.any():
            raise ClueError("there are no labels to train on.")
        model = clone(self.classifier)
        if self.scales:
            X = StandardScaler(with_mean=not issparse(X)).fit_transform(X)
        if self.spreads:
            dense = X.toarray() if hasattr(X, "toarray") else X
            labels = model.fit(dense, np.where(known, clues.labels, UNASSIGNED)).transduction_
        else:
            labels = model.fit(X[known], clues.labels[known]).predict(X)
        self.labels_ = np.asarray(labels, dtype=np.int32)
        return self
