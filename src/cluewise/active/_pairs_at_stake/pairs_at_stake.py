"""Pairs at stake: ask where most pairs of rows are likely to change sides; groups of Ward's tree split and merge."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Ints
from cluewise.active._dialog import Question
from cluewise.active._pairs_at_stake.stakes import Table
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.active._second_look import LEARNED, count_voices, error_rate_of
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy, StrategyCard

__all__ = ["PairsAtStake", "number_clusters"]

AGAIN = "much depends on the answer, which may have been wrong."

WORTH = 0.5
"""What another answer is worth, as a share of the pairs of rows that a wrong one costs; it may be wrong, too."""

LEAST = 0.05
"""Expected number of pairs of rows for which a question is not asked again."""

LOOKED_AT = 20
"""Number of candidates considered for each question of a batch."""


class PairsAtStake(Strategy):
    r"""Ask about the two groups of rows for which the answer is expected to change most pairs of rows.

    Rows form super-instances, each with one representative row, and super-instances form clusters, as the answers say.
    There are two kinds of questions: do the two halves of a super-instance belong together, as is assumed, and do two
    clusters belong together, which is not known yet? Each puts a number of pairs of rows at stake, and the probability
    that they change is learned from the answers so far: the farther apart, the less likely a "yes". The question with
    the most expected changes comes next. The number of clusters need not be known. Use it when classes consist of
    compact groups, however many; read the clusters from `clustering`, or fit any clusterer to ``state.clues``.

    Parameters
    ----------
    error_rate : float or "learned", default=0.0
        Probability that an answer is wrong. If it is above 0, an answer on which much depends is asked for again, and
        a surprising one takes more than one answer to be believed. "learned": 0.1 at first, then as answers to the same
        question disagree.

    See Also
    --------
    CluewiseQuestions : The same with a learned error rate, and `Cluewise` for the clusters at the beginning.
    SuperInstances : Super-instances by k-means, in rounds of splitting and merging.

    Notes
    -----
    Super-instances are nodes of the tree of Ward's linkage; a split replaces a node by its two parts
    :math:`S = S_1 \cup S_2`. The part that holds the row of :math:`S` keeps it, so that each split asks about one new
    row only, the one closest to the mean of the other part. The values of the questions are

    .. math::

       V(S) = |S_1||S_2| \, (1 - p(\delta(S_1, S_2))), \qquad
       V(A, B) = |A||B| \max_{S \in A,\, T \in B} p(\delta(S, T)),

    for super-instances :math:`S` and clusters :math:`A, B` not known to be apart, with the logarithm :math:`\delta`
    of the distance of two means and the probability of a "yes"

    .. math:: p(\delta) = \mathrm{E}\left[ 1 / (1 + e^{-a (\theta - \delta)}) \right]

    under the posterior of :math:`a` and :math:`\theta` given the answers. A priori :math:`\theta` is normal around
    the median of :math:`\delta` of the 30 highest unions of the tree, and :math:`\log a` around :math:`\log 4`.

    ==================== ==========================
    symbol               in the code
    ==================== ==========================
    :math:`V`            ``Table.values``
    :math:`p`            ``Odds.yes``
    :math:`\delta`       ``Table._far``
    ==================== ==========================

    What follows from clues and answers is done at once, without a question. If a super-instance has rows with given
    labels, one of these represents it. After "don't know" the two stay apart for now, and other rows of their clusters
    may be asked about. With more than 12,000 rows, the leaves of the tree are 2,000 small clusters by k-means; with
    fewer, nothing is random.

    With an error rate e, the log-odds that two super-instances belong together are those of p before the first answer
    plus log((1 − e)/e) for each yes and minus as much for each no; their sign decides. A wrong yes costs the pairs
    between the two sides that no other yes joins, a wrong no those between the two clusters. Asking again is worth half
    of these times the probability that the answer is wrong, and competes with new questions.

    *Deviations* from the super-instances of COBRAS [VanCraenendonck2018]_: the tree instead of k-means, single
    questions in the order of their value instead of rounds of splitting and merging, and clusters that are never
    complete: two that are small or far apart are not asked about while more is at stake elsewhere.

    References
    ----------
    .. [VanCraenendonck2018] Van Craenendonck, T., Dumančić, S., Van Wolputte, E., & Blockeel, H. (2018). COBRAS:
       Interactive clustering with pairwise queries. Intelligent Data Analysis XVII, LNCS 11191, 353-366.

    Examples
    --------
    >>> from cluewise.active import PairsAtStake, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> strategy = PairsAtStake()
    >>> state = interview(strategy, X, SimulatedOracle(y), budget=3, random_state=0)
    >>> strategy.clustering(state, X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="",
        title="most pairs of rows at stake",
        asks=frozenset({"pair"}),
        cost="O(m²) for m super-instances; Ward's tree once: O(n²d), above 12,000 rows O(nd)",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "error_rate": [Interval(Real, 0, 0.5, closed="left"), StrOptions({LEARNED})],
    }

    def __init__(self, *, error_rate: float | str = 0.0) -> None:
        self.error_rate = error_rate

    def clustering(self, state: State, X: Any) -> Ints:
        """The clusters of super-instances as they are now.

        Parameters
        ----------
        {state}
        {X_same}

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row, from 0; rows with clues are placed as the clues say.
        """
        return self._read_clusters(self._scene(state, X), None)

    def _read_clusters(self, scene: Scene, most: int | None) -> Ints:
        """Clusters of the super-instances."""
        table, state = self._table(scene), scene.state
        # The table has weighed the answers; of clues that may be wrong, only those given are kept to the letter.
        return number_clusters(table.labels(scene.firm if table.error_rate else state.clues, most))

    def _prepare(self, X: Any, state: State) -> WardGroups:
        return WardGroups(X, state.seed)

    def _table(self, scene: Scene) -> Table:
        table: Table | None = scene.memo.get("table")
        if table is None:
            # Only an answer to an old question changes the rate, and then there is a new table.
            rate = error_rate_of(self.error_rate, scene.state.answers)
            table = scene.memo["table"] = Table(scene.ready, scene.firm, rate)
        table.voices = count_voices(scene.state.answers)
        for answer in scene.answers[table.learned :]:
            table.learn(answer)
        return table

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        table = self._table(scene)
        values = table.values()
        questions: list[Question] = []
        used: set[int] = set()
        order = np.argsort(-values, axis=None, kind="stable")[: LOOKED_AT * size]
        for i, j in np.column_stack(np.unravel_index(order, values.shape)).tolist():
            touched = {int(table.cluster[i]), int(table.cluster[j])}
            if values[i, j] < 0 or len(questions) == size:
                break
            question = Question("pair", table.pair(i, j), _why(table, i, j), float(values[i, j]))
            if not touched & used and scene.known.open(question):
                questions.append(question)
                used |= touched
        if not table.error_rate:
            return questions
        worth = [(one.pair, WORTH * one.doubt * one.stake) for one in table.verdicts()]
        again = [Question("pair", pair, AGAIN, value) for pair, value in worth if value > LEAST]
        return sorted([*questions, *again], key=lambda question: -(question.score or 0.0))[:size]


def number_clusters(labels: Ints) -> Ints:
    """The same clusters, numbered by their first rows."""
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels.reshape(-1)]


def _why(table: Table, i: int, j: int) -> str:
    size = table.groups.size[table.node].astype(int)
    if i == j:
        return f"each stands for one half of a group of {size[i]} rows, and the halves may not belong together."
    return f"they stand for {size[i]} and {size[j]} rows that may belong together."
