"""A score on held-out rows, for cross-validation and grid search."""

from __future__ import annotations

import sys
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

    Raises
    ------
    TypeError
        When there are no clues, for example because metadata routing is not enabled, or no ``predict``.
    ClueError
        When no clue relates the held-out rows. In a search of scikit-learn, it is a ``RuntimeError``, which ends the
        search whatever ``error_score`` says.

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
    error: Exception
    if clues is None:
        error = TypeError(
            "clue_score was called without clues; with sklearn.set_config(enable_metadata_routing=True) "
            "cross-validation and grid search pass them."
        )
    elif not hasattr(estimator, "predict"):
        error = TypeError(
            f"clue_score needs clusters of held-out rows, but {type(estimator).__name__} has no predict; "
            "cluewise.ClueSearchCV holds out clues instead of rows, so it takes any clusterer."
        )
    else:
        if not isinstance(clues, Clues):  # partial labels, as `fit` takes them
            clues = Clues.from_labels(clues)
        shares = satisfaction(estimator.predict(X), clues)
        shares.pop("sizes", None)
        if shares:
            return sum(shares.values()) / len(shares)
        error = ClueError(
            "no clue relates the held-out rows, so there is nothing to score; "
            "use fewer folds, more clues or cluewise.ClueSearchCV."
        )
    if sys._getframe(1).f_globals.get("__name__") in _SCORE_OR_NAN:
        return _Refusal(error)  # type: ignore[return-value]
    raise error


_SCORE_OR_NAN = {"sklearn.model_selection._validation", "sklearn.metrics._scorer"}
"""Where scikit-learn calls a scorer, records an exception as nan, and then takes the first candidate for the best."""


class _Refusal:
    """What scikit-learn gets instead of a score: it asks for the number outside the block that makes nan of errors."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def item(self) -> float:
        """Raise the error, as one that scikit-learn does not catch here either."""
        if isinstance(self.error, ValueError):
            raise RuntimeError(str(self.error)) from self.error
        raise self.error


def _request_clues() -> Any:
    """The metadata that this scorer requests from scikit-learn: the clues."""
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="clue_score")
    request.score.add_request(param="clues", alias=True)
    return request


# Scikit-learn looks for this attribute on whatever is passed as `scoring`, and a function may have it.
clue_score.get_metadata_routing = _request_clues  # type: ignore[attr-defined]
