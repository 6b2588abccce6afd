"""A whole conversation in one call, and oracles that answer without a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cluewise._docs import documented
from cluewise._typing import ArrayLike
from cluewise.active._dialog import Answer, Question
from cluewise.active._state import State
from cluewise.active._strategy import Strategy
from cluewise.base import generator

__all__ = ["FunctionOracle", "Oracle", "SimulatedOracle", "interview"]

Oracle = Callable[[list[Question]], Iterable[Answer]]


@documented
def interview(
    strategy: Strategy,
    X: Any,
    oracle: Oracle,
    *,
    budget: int | None = None,
    clues: Any = None,
    size: int = 1,
    state: State | None = None,
    watch: Callable[[State], Any] | None = None,
    random_state: Any = None,
) -> State:
    """Ask an oracle until the budget is spent or nothing is left to ask.

    Parameters
    ----------
    {strategy}
    {X}
    oracle : callable
        Takes a list of questions and returns their answers, or those of some of them.
    budget : int, optional
        Number of questions; required unless ``state`` is given.
    {clues}
    size : int, default=1
        Number of questions asked at once.
    state : State, optional
        A conversation to continue, instead of a new one.
    watch : callable, optional
        Called with the state after each round of answers; a true result ends the conversation.
    {random_state}

    Returns
    -------
    State
        The conversation; ``state.clues`` holds what it has brought to light.

    Examples
    --------
    >>> from cluewise import PCKMeans
    >>> from cluewise.active import RandomPairs, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> state = interview(RandomPairs(), X, SimulatedOracle(y), budget=3, random_state=0)
    >>> state.asked, PCKMeans(2, random_state=0).fit(X, clues=state.clues).labels_.tolist()
    (3, [1, 1, 0, 0])
    """
    if (state is None) == (budget is None):
        raise ValueError("interview takes a budget for a new conversation or a state to go on with, one of them.")
    if state is not None and (clues is not None or random_state is not None):
        raise ValueError("clues and random_state belong to a new conversation; the state has its own.")
    if state is None:
        assert budget is not None
        state = strategy.start(X, clues, budget=budget, random_state=random_state)
    while questions := strategy.ask(state, X, size=size):
        answers = list(oracle(questions))
        if not answers:
            return state
        state = strategy.tell(state, answers)
        if watch is not None and watch(state):
            return state
    return state


class SimulatedOracle:
    """Answers from true classes, with errors and "don't know" at given rates; for tests and experiments.

    Parameters
    ----------
    y : array-like of shape (n,)
        True class of each row.
    error_rate : float, default=0.0
        Probability that an answer is wrong: the opposite for a pair, another class or row otherwise. In a group, the
        probability that a row is put into another pile, for each row.
    unknown_rate : float, default=0.0
        Probability of "don't know".
    random_state : int, RandomState, Generator or None, default=None
        Seed of the errors. A question asked again gets a new draw.
    who : str, default="simulated"
        Who answers.

    See Also
    --------
    FunctionOracle : Answers from a function.

    Notes
    -----
    The choices of a question "which" are rows of different classes as far as the strategy knows. If several are of
    the class of the row in question (an earlier answer was wrong, or somebody else made up the question), the first of
    them is the answer, as a person would take the first that fits; `Answer.links` then says no to the others.

    Examples
    --------
    >>> from cluewise.active import Question, SimulatedOracle
    >>> oracle = SimulatedOracle(["a", "b", "a"])
    >>> [answer.value for answer in oracle([Question("pair", (0, 2)), Question("label", (1,))])]
    [True, 'b']
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        error_rate: float = 0.0,
        unknown_rate: float = 0.0,
        random_state: Any = None,
        who: str = "simulated",
    ) -> None:
        for name, rate in (("error_rate", error_rate), ("unknown_rate", unknown_rate)):
            if not 0 <= rate <= 1:
                raise ValueError(f"{name} is {rate}; it is a probability.")
        self.y = np.asarray(y)
        if self.y.ndim != 1:
            raise ValueError(f"y has the shape {self.y.shape}; it is one class for each row.")
        self.error_rate = error_rate
        self.unknown_rate = unknown_rate
        self.who = who
        self._classes = np.unique(self.y)
        self._rng = generator(random_state)

    def __call__(self, questions: Iterable[Question]) -> list[Answer]:
        """Answers to questions, in their order."""
        return [Answer(question, self._value(question), who=self.who) for question in questions]

    def _value(self, question: Question) -> Any:
        unknown, wrong = self._rng.random(2) < (self.unknown_rate, self.error_rate)
        if unknown:
            return None
        row, *others = question.rows
        if question.kind == "label":
            choices = [c for c in self._classes if not wrong or c != self.y[row]]
            return (self._rng.choice(choices) if wrong else self.y[row]) if len(choices) else self.y[row]
        if question.kind == "group":
            return self._piles(question.rows)
        same = [other for other in others if self.y[other] == self.y[row]]
        if question.kind == "pair":
            return bool(same) != bool(wrong)
        truth = same[0] if same else False
        choices = [*(other for other in others if other not in same), *([False] if same else [])]
        return choices[self._rng.integers(len(choices))] if wrong and choices else truth

    def _piles(self, rows: tuple[int, ...]) -> list[list[int]]:
        """Rows sorted by class; each may be misplaced into the pile of another class, or alone if there is none."""
        own = [self.y[row].item() for row in rows]
        classes = list(dict.fromkeys(own))
        piles: dict[Any, list[int]] = {}
        for row, c in zip(rows, own):
            others = [other for other in classes if other != c] or [("alone", row)]
            misplaced = self._rng.random() < self.error_rate
            pile = others[self._rng.integers(len(others))] if misplaced else c
            piles.setdefault(pile, []).append(row)
        return list(piles.values())


class FunctionOracle:
    """Answers from a function that takes one question; each answer says who gave it and when.

    Parameters
    ----------
    function : callable
        Takes a `Question`, returns the value of an `Answer`: True, False, a class, a row, piles of rows, or None for
        "don't know".
    who : str, default=""
        Who answers.

    See Also
    --------
    SimulatedOracle : Answers from true classes.

    Examples
    --------
    >>> from cluewise.active import FunctionOracle, Question
    >>> close = FunctionOracle(lambda question: abs(question.rows[0] - question.rows[1]) < 3, who="a rule")
    >>> close([Question("pair", (0, 2))])[0].value
    True
    """

    def __init__(self, function: Callable[[Question], Any], *, who: str = "") -> None:
        self.function = function
        self.who = who

    def __call__(self, questions: Iterable[Question]) -> list[Answer]:
        """Answers to questions, in their order."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        value = self.function(question)
        return Answer(question, value, who=self.who, when=datetime.now(UTC).isoformat(timespec="seconds"))
