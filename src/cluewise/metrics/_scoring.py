"""A score on held-out rows, for cross-validation and grid search."""

from __future__ import annotations

from typing import Any

from cluewise._typing import Array, ArrayLike
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics._satisfaction import satisfaction

__all__ = ["clue_score"]


def clue_score(estimator: Any, X: Array, y: Any = None, *, clues: Clues | ArrayLike | None = None) -> float:
    """How well the predicted clusters of held-out rows keep the clues among those rows.

    Pass the function itself as ``scoring``. Scikit-learn must be told once to route the clues, with
    ``sklearn.set_config(enable_metadata_routing=True)``. Then ``GridSearchCV(…, scoring=clue_score)`` in its
    ``fit(X, clues=clues)``, and ``cross_validate(…, scoring=clue_score, params={"clues": clues})``, hand each
    fold its own clues.

    Parameters
    ----------
    estimator : fitted clusterer
        Anything with ``predict``.
    X : array-like of shape (n, d)
        The held-out rows.
    y : ignored
        Present because scikit-learn passes it.
    clues : Clues or array-like of shape (n,)
        What is known about the held-out rows, or their partial labels.

    Returns
    -------
    float
        Mean over the kinds of clues present of the share that is kept, between 0 and 1. Each kind counts the
        same, so that many cannot-links do not drown a few must-links. Bounds on sizes speak of all rows and
        do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> from cluewise import Clues
    >>> from cluewise.metrics import clue_score
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> model = KMeans(2, n_init=1, random_state=0).fit(X)
    >>> clue_score(model, X, clues=Clues(4, must=[(0, 1), (1, 2)], cannot=[(0, 3)]))
    0.75
    """
    if clues is None:
        raise TypeError(
            "clue_score was called without clues; with sklearn.set_config(enable_metadata_routing=True) "
            "cross-validation and grid search pass them on."
        )
    if not hasattr(estimator, "predict"):
        raise TypeError(f"clue_score needs clusters of held-out rows, but {type(estimator).__name__} has no predict.")
    if not isinstance(clues, Clues):  # partial labels, as `fit` takes them
        clues = Clues.from_labels(clues)
    shares = satisfaction(estimator.predict(X), clues)
    shares.pop("sizes", None)
    if not shares:
        raise ClueError("none of the held-out rows share a clue, so there is nothing to score.")
    return sum(shares.values()) / len(shares)


def _request_clues() -> Any:
    """What scikit-learn asks a scorer for: this one wants the clues."""
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="clue_score")
    request.score.add_request(param="clues", alias=True)
    return request


# Scikit-learn looks for this attribute on whatever is given as `scoring`, and a function may carry it.
clue_score.get_metadata_routing = _request_clues  # type: ignore[attr-defined]
