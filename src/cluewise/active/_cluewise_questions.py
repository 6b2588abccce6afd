"""Questions for `Cluewise`: robust to wrong answers, and with clusters at any moment."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Ints
from cluewise.active._pairs_at_stake.pairs_at_stake import PairsAtStake, number_clusters
from cluewise.active._second_look import LEARNED, error_rate_of
from cluewise.active._state import State
from cluewise.active._strategy import StrategyCard

__all__ = ["CluewiseQuestions"]

FEW = 40
"""Answers, all of them right, up to which `Cluewise` finds better clusters than the answers alone."""


class CluewiseQuestions(PairsAtStake):
    """Ask where most pairs of rows are at stake, again where an answer may be wrong, and give clusters at any moment.

    The strategy to use first, if people or programs answer that err at times. It asks as `PairsAtStake` does, learns
    the share of wrong answers from those to repeated questions, and needs no number of clusters. The clusters are those
    of `Cluewise`, unless many answers contradict them.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, which changes no question. None: as `Cluewise` and the answers say.
    error_rate : float or "learned", default="learned"
        As in `PairsAtStake`.

    See Also
    --------
    PairsAtStake : How questions are chosen.

    Notes
    -----
    There are two clusterings: that of `Cluewise`, fitted to all answers, and that of the super-instances, where small
    clusters join the closest large one if there are more than n_clusters. `clustering` is that of `Cluewise` while
    there are fewer than 40 answers, and later if it contradicts no more answers than the other. An answer that is wrong
    with probability e counts as (1 − 2e)² answers.

    Examples
    --------
    >>> from cluewise.active import CluewiseQuestions, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> strategy = CluewiseQuestions(n_clusters=2)
    >>> state = interview(strategy, X, SimulatedOracle(y), budget=3, random_state=0)
    >>> strategy.clustering(state, X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="",
        title="most pairs of rows at stake; doubtful answers again",
        asks=frozenset({"pair"}),
        cost="O(m³) for m answers; Ward's tree once: O(n²d), above 12 000 rows O(nd)",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "error_rate": [Interval(Real, 0, 0.5, closed="left"), StrOptions({LEARNED})],
    }

    def __init__(self, n_clusters: int | None = None, *, error_rate: float | str = LEARNED) -> None:
        super().__init__(error_rate=error_rate)
        self.n_clusters = n_clusters

    def clustering(self, state: State, X: Any) -> Ints:
        """The clusters as they are now.

        Parameters
        ----------
        {state}
        {X_same}

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row, from 0, in the order of their first rows.
        """
        from cluewise.front import Cluewise

        scene = self._scene(state, X)
        clues = state.clues.only(state.clues.kinds - {"avoid"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # empty clusters
            model = Cluewise(self.n_clusters, random_state=state.seed).fit(scene.X, clues=clues)
        smooth, exact = number_clusters(model.labels_), self._read_clusters(scene, self.n_clusters)
        rate = error_rate_of(self.error_rate, state.answers)
        if state.asked * (1 - 2 * rate) ** 2 < FEW or _count_broken(smooth, state) <= _count_broken(exact, state):
            return smooth
        return exact


def _count_broken(labels: Ints, state: State) -> int:
    """Number of answers that clusters contradict."""
    return sum((labels[i] == labels[j]) != same for answer in state.answers for i, j, same in answer.links())
