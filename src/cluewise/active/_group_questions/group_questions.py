"""Group questions: sort a few rows into piles, where most pairs of rows are at stake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cluewise._sklearn import Interval, StrOptions
from cluewise._typing import Floats, Ints
from cluewise.active._dialog import MOST, Answer, Question
from cluewise.active._group_questions.board import Board
from cluewise.active._group_questions.votes import ballots_of
from cluewise.active._led import contradicts_less, fit_led
from cluewise.active._pairs_at_stake.pairs_at_stake import number_clusters
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.active._second_look import LEARNED
from cluewise.active._state import State
from cluewise.active._strategy import Scene, Strategy, StrategyCard

__all__ = ["GroupQuestions"]

TRIES = 20
"""Number of questions that are made up for each that is asked; others may be known or were asked in vain."""

FEW = 40
"""Rows compared with others, all of them rightly, up to which `Cluewise` finds better clusters than the answers."""


class GroupQuestions(Strategy):
    r"""Show a few rows at a time to be sorted into piles, those that decide about most pairs of rows.

    One call to a person or a language model answers as much as a dozen questions about pairs. Rows form
    super-instances, each with one representative row, and these form clusters, as answers and neighbors say. A question
    shows representatives of clusters that may be confused, and rows that may belong to one or the other. Answers may be
    wrong: each is weighed against all others, and rows whose place is doubtful are shown again, among other rows.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters, which changes no question. None: as the answers say.
    size : int, default=8
        Number of rows in a question, 2 to 12.
    questions : {"group", "which"}, default="group"
        "group": all rows are sorted. "which": to which of the others, representatives of clusters, does the first row
        belong?
    error_rate : float, dict or "learned", default="learned"
        Probability that a row is put into a wrong pile. "learned": for each source (`Answer.who`), 0.1 at first, then
        as rows that were sorted several times are not with their cluster. A dict holds the rates of some sources, by
        name; the others are learned.

    See Also
    --------
    CluewiseQuestions : Asks about pairs.

    Notes
    -----
    Super-instances are parts of Ward's tree, each the largest that holds only one row that somebody was asked about.
    Clusters :math:`z` are a local maximum of

    .. math::

       \sum_{z_i = z_j} \left( w_{ij} + \tfrac{\gamma}{2} (v_{ij} + v_{ji}) \right),

    with :math:`v_{ij} \propto 1, \tfrac12, \dots, \tfrac18` for the eight closest super-instances j of i, of sum 1. An
    answer adds :math:`\log ((1 - e)(p - 1)/e)` to :math:`w`, for p piles and an error rate e, divided among the pairs
    of a row with a pile: it is the row that is misplaced, not each of its pairs.

    A row that stands for s rows changes :math:`s |A|` pairs of rows if it does not belong to its cluster A, and
    :math:`s |B|` if it belongs to B. Times the probability, this is what showing it beside A or B is worth, and half of
    it if it was shown before. A question begins with the most valuable row and cluster, or two clusters that may be
    one, and takes up the row or cluster that adds most until it is full.

    ==================== ====================================
    symbol               in the code
    ==================== ====================================
    :math:`w`            ``weigh``
    :math:`v`            ``Seats.neighbors``
    :math:`\gamma`       ``GEOMETRY``
    :math:`e`            ``Board.error_rate``
    ==================== ====================================

    `clustering` is that of `Cluewise` while fewer than 40 rows were compared with others, an error rate e making
    (1 − 2e)² rows of one.
    Contradictions are no reason to ask the same again, unless ``error_rate=0``.

    Examples
    --------
    >>> from cluewise.active import GroupQuestions, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> strategy = GroupQuestions(n_clusters=2, size=4)
    >>> state = strategy.start(X, budget=2, random_state=0)
    >>> print(strategy.ask(state, X)[0])
    Which of rows 0, 2, 3 and 5 belong together?
    >>> state = interview(strategy, X, SimulatedOracle(y), budget=2, random_state=0)
    >>> strategy.clustering(state, X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    card: ClassVar[StrategyCard] = StrategyCard(
        paper="",
        title="groups of rows, where most pairs of rows are at stake",
        asks=frozenset({"group", "which"}),
        cost="O(m²d) for m rows asked about; Ward's tree once: O(n²d), above 12,000 rows O(nd)",
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "size": [Interval(Integral, 2, MOST, closed="both")],
        "questions": [StrOptions({"group", "which"})],
        "error_rate": [Interval(Real, 0, 0.5, closed="left"), StrOptions({LEARNED}), dict],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        size: int = 8,
        questions: str = "group",
        error_rate: float | str | dict[str, float] = LEARNED,
    ) -> None:
        self.n_clusters = n_clusters
        self.size = size
        self.questions = questions
        self.error_rate = error_rate

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
        board = self._board(self._scene(state, X))
        return (
            number_clusters(board.labels(self.n_clusters)) if self._is_told(state, board) else fit_led(self, state, X)
        )

    def correct(self, state: State, X: Any, labels: Any, n_clusters: int | None = None) -> Ints | None:
        """The clusters of super-instances, if they contradict fewer answers than other clusters do.

        Parameters
        ----------
        {state}
        {X_same}
        labels : array-like of shape (n,)
            Other clusters, such as those of a `Cluewise` that was fitted to all answers.
        n_clusters : int, optional
            Number of clusters at most; small ones join the most likely large one.

        Returns
        -------
        ndarray of shape (n,) or None
            Cluster of each row, from 0; None if few rows were compared, or the other clusters contradict no more.
        """
        board = self._board(self._scene(state, X))
        if not self._is_told(state, board):
            return None
        exact = number_clusters(board.labels(n_clusters))
        return exact if contradicts_less(exact, labels, state) else None

    def _is_told(self, state: State, board: Board) -> bool:
        """Whether enough rows were compared for the answers to find better clusters than `Cluewise`."""
        compared = sum(sum(map(len, piles)) - 1 for piles, _ in ballots_of(state.answers))
        return bool(compared * (1 - 2 * board.error_rate) ** 2 >= FEW)

    def _prepare(self, X: Any, state: State) -> WardGroups:
        return WardGroups(X, state.seed)

    def _board(self, scene: Scene) -> Board:
        answers = scene.state.answers
        kept: tuple[int, Board] | None = scene.memo.get("board")
        if kept is None or kept[0] != len(answers):
            kept = len(answers), Board(scene.ready, ballots_of(answers), scene.firm, self._given_rates(answers))
            scene.memo["board"] = kept
        return kept[1]

    def _given_rates(self, answers: Iterable[Answer]) -> dict[str, float]:
        if isinstance(self.error_rate, dict):
            return self.error_rate
        return {} if isinstance(self.error_rate, str) else {answer.who: self.error_rate for answer in answers}

    def _validate_params(self) -> None:
        super()._validate_params()
        for who, rate in self.error_rate.items() if isinstance(self.error_rate, dict) else ():
            if not isinstance(rate, Real) or not 0 <= rate < 0.5:
                raise ValueError(f"the error rate of {who!r} is {rate!r}; it is at least 0 and below 0.5.")

    def _contradicted(self, scene: Scene) -> list[Question]:
        return [] if self.error_rate else super()._contradicted(scene)

    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        board = self._board(scene)
        unknown = np.zeros(scene.n)
        for answer in scene.state.answers:
            if answer.value is None:
                unknown[list(answer.question.rows)] += 1
        known = board.known if self.error_rate else scene.known
        found: dict[Any, Question] = {}
        for question in _offers(board, self.size, self.questions, unknown, TRIES * size):
            if known.open(question) and question.key not in scene.known.asked:
                found.setdefault(question.key, question)
            if len(found) == size:
                break
        return list(found.values())


class Mix(NamedTuple):
    """What a question shows: clusters, seats and halves, and what it is worth."""

    clusters: list[int]
    others: list[int]
    worth: float


def _offers(board: Board, size: int, kind: str, unknown: Floats, tries: int) -> Iterator[Question]:
    """Questions, the most valuable first; rows that nobody could place are worth half as much each time."""
    if not len(board.cluster):
        if board.groups.n_leaves > 1:
            # The choices of "which" are of different clusters; without clusters there is one choice.
            yield _first_question(board.groups, size if kind == "group" else 2, kind)
        return
    rows = np.array([*board.seats.rows, *(_row(board, half.node) for half in board.seats.halves)])
    anchors = board.anchors(unknown > 0)
    gains = board.gains * 0.5 ** unknown[rows][:, None]
    gains[anchors] = 0.0  # shown for their clusters or not at all
    merges = board.merges.copy()
    for _ in range(tries):
        mix = _fill(gains, merges, size, kind)
        if mix is None:
            return
        clusters, others = rows[anchors[mix.clusters]].tolist(), rows[mix.others].tolist()
        shown = (*clusters, *others) if kind == "group" else (*others, *clusters)
        yield Question(kind, shown, _why(board, mix), mix.worth)
        gains[mix.others] = 0.0
        merges[np.ix_(mix.clusters, mix.clusters)] = 0.0


def _fill(gains: Floats, merges: Floats, size: int, kind: str) -> Mix | None:
    """The best pair of a cluster with a seat, half or other cluster, and then what adds most, up to ``size`` rows."""
    first = np.unravel_index(int(gains.argmax()), gains.shape)
    two = np.unravel_index(int(merges.argmax()), merges.shape)
    if merges[two] > gains[first]:
        clusters, others, worth = [int(c) for c in two], [], float(merges[two])
    else:
        clusters, others, worth = [int(first[1])], [int(first[0])], float(gains[first])
    if worth <= 0:
        return None
    while len(clusters) + len(others) < size:
        row = gains[:, clusters].sum(axis=1)
        row[others] = 0.0
        cluster = gains[others].sum(axis=0) + merges[clusters].sum(axis=0)
        cluster[clusters] = 0.0
        best, more = int(row.argmax()), int(cluster.argmax())
        if max(row[best] * (kind == "group"), cluster[more]) <= 0:
            break
        if kind == "group" and row[best] >= cluster[more]:
            others.append(best)
        else:
            clusters.append(more)
        worth += float(max(row[best] * (kind == "group"), cluster[more]))
    return Mix(clusters, others, worth)


def _first_question(groups: WardGroups, size: int, kind: str) -> Question:
    """The largest and widest parts of the tree, each by one row."""
    nodes = [groups.root]
    while len(nodes) < min(size, groups.n_leaves):
        nodes += groups.parts[nodes.pop(int(np.argmax([_spread(groups, v) for v in nodes]))) - groups.n_leaves].tolist()
    rows = sorted(groups.medoid(v, np.zeros(len(groups.X), dtype=bool)) for v in nodes)
    return Question(kind, tuple(rows), f"they stand for {len(groups.X)} rows, of which nothing is known yet.")


def _spread(groups: WardGroups, v: int) -> float:
    """By how much the squared distances to the mean shrink if a part of the tree is divided; it is Ward's measure."""
    if v < groups.n_leaves:
        return -1.0
    a, b = groups.parts[v - groups.n_leaves].tolist()
    return float(groups.size[a] * groups.size[b] / groups.size[v] * groups.squared(a, np.array([b]))[0])


def _row(board: Board, node: int) -> int:
    return board.groups.medoid(node, np.zeros(len(board.groups.X), dtype=bool))


def _why(board: Board, mix: Mix) -> str:
    count = sum(board.mass[mix.clusters])
    if not mix.others:
        return f"they stand for {len(mix.clusters)} clusters with {count:.0f} rows, which may belong together."
    return f"some stand for clusters, {len(mix.others)} for rows that may belong to these or not."
