"""Questions for `Cluewise`: robust to wrong answers, and with clusters at any moment."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Ints
from cluewise.active._led import contradicts_less, fit_led
from cluewise.active._pairs_at_stake.pairs_at_stake import PairsAtStake
from cluewise.active._second_look import LEARNED, error_rate_of
from cluewise.active._state import State
from cluewise.active._strategy import StrategyCard

__all__ = ["CluewiseQuestions"]

FEW = 15
"""Answers, all of them right, up to which `Cluewise` finds better clusters than the answers alone (decision 0018)."""


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
    there are fewer than 15 answers, and later if it contradicts no more answers than the other; else `Cluewise` starts
    from the super-instances. An answer that is wrong with probability e counts as (1 − 2e)² answers.

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
        cost="O(m³) for m answers; Ward's tree once: O(n²d), above 12,000 rows O(nd)",
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
        return fit_led(self, state, X)

    def correct(self, state: State, X: Any, labels: Any, n_clusters: int | None = None) -> Ints | None:
        """The clusters of super-instances, if they contradict fewer answers than other clusters do.

        Parameters
        ----------
        {state}
        {X_same}
        labels : array-like of shape (n,)
            Other clusters, such as those of a `Cluewise` that was fitted to all answers.
        n_clusters : int, optional
            Number of clusters at most; small ones join the closest large one.

        Returns
        -------
        ndarray of shape (n,) or None
            Cluster of each row, from 0; None if there are few answers, or the other clusters contradict no more.
        """
        rate = error_rate_of(self.error_rate, state.answers)
        if state.asked * (1 - 2 * rate) ** 2 < FEW:
            return None
        exact = self._read_clusters(self._scene(state, X), n_clusters)
        return exact if contradicts_less(exact, labels, state) else None
