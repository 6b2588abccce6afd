"""Which methods are worth a trial: a few of different kinds, chosen by their cards and by what they would cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone

from cluewise import catalogue
from cluewise._typing import UNASSIGNED
from cluewise.clues import Clues
from cluewise.exceptions import ClueError

__all__ = ["Classified", "classifiers", "method_of", "shortlist"]

# One or two of each kind, the default of the command line first: what each stands for.
_KINDS = {
    "PCKMeans": "K-means that pays for broken clues",
    "ConstrainedKMeans": "K-means that starts from labels and keeps them",
    "PCCC": "K-means that keeps every clue",
    "MPCKMeans": "K-means that learns a metric",
    "EquivalenceGMM": "Gaussians instead of balls",
    "E2CP": "spectral: clusters of any shape",
    "ConstrainedAgglomerative": "a tree of merges that keeps every clue",
    "PartitionKMeans": "K-means that listens to partitions",
}
_PAIRS = 50_000  # pairs that labels and groups may expand to
_ROWS = 5_000  # rows of methods that compare all rows with all
_CELLS = 3 * 10**6  # rows times squared columns of full covariances


def shortlist(clues: Clues, n: int, d: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Estimators to try, and of those left out the reason."""
    kinds = clues.kinds - {"avoid"}
    chosen: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name in _KINDS:
        method = catalogue.get(name)
        why = _too_much(method.card.cost, clues, n, d)
        if not kinds <= method.card.accepts:
            missing = ", ".join(sorted(kinds - method.card.accepts))
            left_out[name] = f"does not use clues of the kind {missing}"
        elif why:
            left_out[name] = why
        else:
            chosen[name] = method_of(name)
    if not chosen:
        raise ClueError(
            f"no method of the short list uses clues of the kinds {', '.join(sorted(kinds)) or 'none'} together; "
            "name some with methods."
        )
    return chosen, left_out


def _too_much(cost: str, clues: Clues, n: int, d: int) -> str:
    """Why a method is too dear for these data, by the cost on its card; empty where it is not."""
    if "n²d" in cost and n > _ROWS:
        return f"compares all of {n} rows with each other"
    if "d²" in cost and n * d * d > _CELLS:
        return f"covariances of {d} columns are too dear for {n} rows"
    if "n² pairs" in cost and _expanded(clues) > _PAIRS:
        return f"labels and groups would make {_expanded(clues)} pairs"
    return ""


def _expanded(clues: Clues) -> int:
    """Number of pairs that labels and groups stand for."""
    labelled = int((clues.labels >= 0).sum())
    groups = sum(int((g.sizes * (g.sizes - 1) // 2).sum()) for g in (*clues.together, *clues.apart))
    return labelled * (labelled - 1) // 2 + groups


def method_of(method: Any) -> Any:
    """An estimator from a name of the catalogue or an instance; a search must not hang in one fit."""
    if not isinstance(method, str):
        return method
    made: Any = catalogue.get(method)()
    return made.set_params(time_limit=5.0) if "time_limit" in made.get_params() else made


def words_for(names: Iterable[str]) -> dict[str, str]:
    """What each method stands for, where the short list says it."""
    return {name: _KINDS[name] for name in names if name in _KINDS}


def classifiers(clues: Clues) -> dict[str, Any]:
    """Plain classifiers, if two classes or more have labels."""
    if len(np.unique(clues.labels[clues.labels >= 0])) < 2:
        return {}
    # Here, because the command line should not wait for them.
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.semi_supervised import LabelSpreading

    # With fewer rows than neighbors a graph of them cannot be made.
    spreading = LabelSpreading(kernel="knn", n_neighbors=min(7, clues.n - 1))
    return {
        "LabelSpreading": Classified(spreading, spreads=True),
        "1-nearest-neighbor": Classified(KNeighborsClassifier(1)),
    }


class Classified(ClusterMixin, BaseEstimator):
    """A classifier that learns from the labels among the clues and says the class of every row: its cluster.

    ``spreads``: it learns from all rows, with -1 for those of which nothing is known.
    """

    def __init__(self, classifier: Any, spreads: bool = False) -> None:
        self.classifier = classifier
        self.spreads = spreads

    def fit(self, X: Any, y: Any = None, *, clues: Clues) -> Self:
        """Learn from the labels and classify all rows."""
        known = clues.labels >= 0
        if not known.any():
            raise ClueError("no label is left to learn from.")
        model = clone(self.classifier)
        if self.spreads:
            dense = X.toarray() if hasattr(X, "toarray") else X
            labels = model.fit(dense, np.where(known, clues.labels, UNASSIGNED)).transduction_
        else:
            labels = model.fit(X[known], clues.labels[known]).predict(X)
        self.labels_ = np.asarray(labels, dtype=np.int32)
        return self
