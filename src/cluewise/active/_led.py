"""Clusters by all answers, for strategies that find some: `Cluewise`, started from them if they keep more answers."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cluewise._typing import Ints
from cluewise.active._pairs_at_stake.pairs_at_stake import number_clusters
from cluewise.active._state import State

__all__ = ["Leads", "contradicts_less", "fit_led"]


class Leads(Protocol):
    """A strategy with clusters of its own."""

    n_clusters: int | None

    def correct(self, state: State, X: Any, labels: Any, n_clusters: int | None = None) -> Ints | None:
        """Its clusters, if they are better than others."""


def fit_led(strategy: Leads, state: State, X: Any) -> Ints:
    """Cluster of each row, from 0, in the order of their first rows."""
    from cluewise.front import Cluewise

    clues = state.clues.only(state.clues.kinds - {"avoid"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # empty clusters
        model = Cluewise(strategy.n_clusters, random_state=state.seed).fit(X, clues=clues)
        start = strategy.correct(state, X, model.labels_, strategy.n_clusters)
        if start is not None:
            k = max(int(start.max()) + 1, len(model.cluster_ids_))
            model.set_params(n_clusters=k).refit(clues, start=start)
    return number_clusters(model.labels_)


def contradicts_less(labels: Ints, others: Any, state: State) -> bool:
    """Whether clusters contradict fewer answers than others do; a group counts as its pairs."""
    other = np.asarray(others)
    return _count_broken(labels, state) < _count_broken(other, state)


def _count_broken(labels: Ints, state: State) -> int:
    return sum((labels[i] == labels[j]) != same for answer in state.answers for i, j, same in answer.links())
