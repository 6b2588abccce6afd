"""A score on held-out rows, for cross-validation and grid search."""

from __future__ import annotations

from typing import Any

from cluewise._typing import Array, ArrayLike
from cluewise.clues import Clues
from cluewise.exceptions import ClueError
from cluewise.metrics._satisfaction import satisfaction

__all__ = ["clue_score"]


def clue_score(estimator: Any, X: Array, y: Any = None, *, clues: Clues | ArrayLike | None = None) -> float:
    """Share of the clues among held-out rows that their predicted clusters keep.

    Pass the function itself as ``scoring``, after ``sklearn.set_config(enable_metadata_routing=True)``. Then
    ``GridSearchCV(…, scoring=clue_score).fit(X, clues=clues)`` and
    ``cross_validate(…, scoring=clue_score, params={"clues": clues})`` give each fold its own clues.

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
        Share that is kept, between 0 and 1, averaged over the kinds of clues: many cannot-links do not drown a few
        must-links. Bounds on sizes concern all rows and do not count.

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
            "cross-validation and grid search pass them."
        )
    if not hasattr(estimator, "predict"):
        raise TypeError(f"clue_score needs clusters of held-out rows, but {type(estimator).__name__} has no predict.")
    if not isinstance(clues, Clues):  # partial labels, as `fit` takes them
        clues = Clues.from_labels(clues)
    shares = satisfaction(estimator.predict(X), clues)
    shares.pop("sizes", None)
    if not shares:
        raise ClueError("no clue relates the held-out rows, so there is nothing to score.")
    return sum(shares.values()) / len(shares)


def _request_clues() -> Any:
    """The metadata that this scorer requests from scikit-learn: the clues."""
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="clue_score")
    request.score.add_request(param="clues", alias=True)
    return request


# Scikit-learn looks for this attribute on whatever is passed as `scoring`, and a function may have it.
clue_score.get_metadata_routing = _request_clues  # type: ignore[attr-defined]
