"""Who answers: a program that knows the truth, or any function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cluewise._typing import ArrayLike
from cluewise.active._dialog import Answer, Question
from cluewise.base import generator

__all__ = ["FunctionOracle", "SimulatedOracle"]


class SimulatedOracle:
    """Answers from true classes, sometimes wrong, sometimes without knowing; for tests and experiments.

    Parameters
    ----------
    y : array-like of shape (n,)
        True class of each row.
    error_rate : float, default=0.0
        Probability that an answer is wrong: the opposite for a pair, another class or row otherwise.
    unknown_rate : float, default=0.0
        Probability of "don't know".
    random_state : int, RandomState, Generator or None, default=None
        Seed of the mistakes. A question asked again gets a new draw.

    See Also
    --------
    FunctionOracle : Answers by a function.

    Notes
    -----
    The choices of a question "which" are rows of different classes as far as the strategy knows. Where several are of
    the class of the row that is asked about (an earlier answer was wrong, or somebody else made up the question), the
    first of them is the answer, as a person would take the first that fits; `Answer.links` then says no to the
    others.

    Examples
    --------
    >>> from cluewise.active import Question, SimulatedOracle
    >>> oracle = SimulatedOracle(["a", "b", "a"])
    >>> [answer.value for answer in oracle([Question("pair", (0, 2)), Question("label", (1,))])]
    [True, 'b']
    """

    def __init__(
        self, y: ArrayLike, *, error_rate: float = 0.0, unknown_rate: float = 0.0, random_state: Any = None
    ) -> None:
        for name, rate in (("error_rate", error_rate), ("unknown_rate", unknown_rate)):
            if not 0 <= rate <= 1:
                raise ValueError(f"{name} is {rate}; it is a probability.")
        self.y = np.asarray(y)
        if self.y.ndim != 1:
            raise ValueError(f"y has the shape {self.y.shape}; it is one class for each row.")
        self.error_rate = error_rate
        self.unknown_rate = unknown_rate
        self._classes = np.unique(self.y)
        self._rng = generator(random_state)

    def __call__(self, questions: Iterable[Question]) -> list[Answer]:
        """Answers to questions, in their order."""
        return [Answer(question, self._value(question), who="simulated") for question in questions]

    def _value(self, question: Question) -> Any:
        unknown, wrong = self._rng.random(2) < (self.unknown_rate, self.error_rate)
        if unknown:
            return None
        row, *others = question.rows
        if question.kind == "label":
            choices = [c for c in self._classes if not wrong or c != self.y[row]]
            return (self._rng.choice(choices) if wrong else self.y[row]) if len(choices) else self.y[row]
        same = [other for other in others if self.y[other] == self.y[row]]
        if question.kind == "pair":
            return bool(same) != bool(wrong)
        truth = same[0] if same else False
        choices = [*(other for other in others if other not in same), *([False] if same else [])]
        return choices[self._rng.integers(len(choices))] if wrong and choices else truth


class FunctionOracle:
    """Answers by a function of one question; says who answered, and when.

    Parameters
    ----------
    function : callable
        Takes a `Question`, returns the value of an `Answer`: True, False, a class, a row, or None for "don't know".
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
