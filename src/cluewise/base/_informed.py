"""What clusterers and metrics have in common: a card, callbacks, and clues that are never dropped in silence."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from cluewise._docs import documented
from cluewise._squares import largest
from cluewise.base._card import Card
from cluewise.base._given import as_clues, warn_of_partial
from cluewise.clues import Clues
from cluewise.exceptions import ClueError, SoftClueWarning, UnusedClueWarning

__all__ = ["Informed"]


HEAVIEST = 1e12
"""The most that a soft clue may weigh: squared distances that are added to it keep a few digits."""

ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_")


class Informed(BaseEstimator):
    """Base of all estimators that are told clues; a subclass has a ``card`` and a ``fit`` that checks here first."""

    card: ClassVar[Card]
    __metadata_request__fit = {"clues": True}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        documented(cls)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Let callbacks watch or stop the next fits.

        Parameters
        ----------
        *callbacks : objects
            Each with ``setup``, ``on_fit_task_begin``, ``on_fit_task_end`` (true = stop) and ``teardown``, all
            taking ``estimator`` and ``context``: the shape of scikit-learn 1.9's callbacks, which work as well.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from cluewise import PCKMeans
        >>> class Stop:
        ...     def setup(self, estimator, context): ...
        ...     def on_fit_task_begin(self, estimator, context): ...
        ...     def on_fit_task_end(self, estimator, context): return True
        ...     def teardown(self, estimator, context): ...
        >>> PCKMeans(2).set_callbacks(Stop()).fit([[0.0], [1.0], [9.0]]).n_iter_
        1
        """
        hooks = ("setup", "on_fit_task_begin", "on_fit_task_end", "teardown")
        for callback in callbacks:
            missing = [hook for hook in hooks if not callable(getattr(callback, hook, None))]
            if missing or isinstance(callback, type):
                raise TypeError(f"{callback!r} is not a callback: it has no {', '.join(missing) or 'instance'}.")
        # scikit-learn 1.9 knows this name, so that its `clone` keeps the callbacks.
        self._skl_callbacks = list(callbacks)
        return self

    def _reset(self, y: Any, clues: Any) -> None:
        """Drop the results of an earlier fit, so that a failed one leaves no mixture of both, and warn about ``y``."""
        for name in self._results():
            delattr(self, name)
        card = getattr(self, "card", None)  # a search among methods has none
        if clues is None and (card is None or "labels" in card.accepts):
            warn_of_partial(y, type(self).__name__)

    def _results(self) -> list[str]:
        """Names of what a fit has published."""
        return [name for name in vars(self) if name.endswith("_") and name not in ABOUT_COLUMNS and name[0] != "_"]

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there are results; the number of columns alone, which a failed fit leaves, is none."""
        return bool(self._results())

    def _check_clues(self, clues: Any, n: int) -> Clues:
        """Clues for n rows of the kinds that this method uses; the others are named in a warning."""
        known = as_clues(clues, n)
        unused = sorted(known.kinds - self.card.accepts)
        if unused:
            warnings.warn(
                f"{type(self).__name__} does not use clues of the kind {', '.join(unused)}; they are ignored.",
                UnusedClueWarning,
                stacklevel=4,
            )
            known = known.only(known.kinds & self.card.accepts)
        self._check_weights(known)
        return known

    def _check_weights(self, known: Clues) -> None:
        """Warn where weights that differ are ignored, and refuse infinite ones where nothing can be hard."""
        weights = np.concatenate(
            [known.must_weight, known.cannot_weight, *(g.weights for g in (*known.together, *known.apart))]
        )
        if self.card.hard:
            if len(np.unique(weights)) > 1:
                warnings.warn(
                    f"{type(self).__name__} takes every clue as hard; the weights, which differ, are ignored.",
                    SoftClueWarning,
                    stacklevel=5,
                )
            return
        if np.isinf(weights).any() and not self.card.mixes:
            raise ClueError(
                f"{type(self).__name__} cannot mix hard and soft clues: a weight is infinite. "
                "Give it a finite weight, or use a method whose card says hard or mixes."
            )
        heaviest = largest(weights[np.isfinite(weights)])
        if heaviest > HEAVIEST:
            raise ClueError(
                f"a clue has weight {heaviest:.3g}, and beside weights beyond {HEAVIEST:g} the rows are lost in "
                "rounding; divide all weights, or use a method whose card says hard."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.card.sparse
        return tags
