"""Two who answer: a cheap one that errs, and a person for what it cannot tell and for what matters most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import numpy as np

from cluewise.active._agreement import agreement
from cluewise.active._dialog import Answer, Question
from cluewise.active._interview import Oracle

__all__ = ["PersonLast", "Work"]

LATEST = 10
"""Number of earlier questions with whose scores a question is compared."""


@dataclass(frozen=True)
class Work:
    """What a source did in a conversation.

    Attributes
    ----------
    who : str
        Name of the source.
    calls : int
        Number of questions that it was asked.
    unknown : int
        How often it did not know.
    cost : float
        What the calls cost.

    Examples
    --------
    >>> from cluewise.active import Work
    >>> Work("model", 90, 3, 0.18).calls
    90
    """

    who: str
    calls: int
    unknown: int
    cost: float


class PersonLast:
    """Two oracles in one: the first answers everything, a person what it cannot answer and what matters most.

    Parameters
    ----------
    first : callable
        An oracle, cheap and at times wrong, such as a language model. It is asked every question; "don't know" is its
        way to waver.
    person : callable
        An oracle that is expensive and mostly right.
    share : float, default=0.1
        Maximum share of the questions for the person.
    costs : (float, float), default=(0.0, 1.0)
        What a call of each costs, for the report.

    Attributes
    ----------
    both : list of (Answer, Answer)
        What the first and the person said where both were asked.

    See Also
    --------
    GroupQuestions : Learns how often each of the two is wrong; ``error_rate={"me": 0.0}`` says it.

    Notes
    -----
    Out of every ten questions, for a share of 0.1, the person gets one: the first that the other cannot tell, that was
    answered before and is asked again, or whose score is at least the median of the last ten (with a share above one
    half, a lower quantile). Unused questions are not lost. The person's answer replaces the other one, unless it is
    "don't know".

    Examples
    --------
    >>> from cluewise.active import PersonLast, RandomPairs, SimulatedOracle, interview
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> model = SimulatedOracle(y, error_rate=0.1, unknown_rate=0.2, who="model", random_state=0)
    >>> oracle = PersonLast(model, SimulatedOracle(y, who="me"), share=0.25, costs=(0.01, 1.0))
    >>> state = interview(RandomPairs(), X, oracle, budget=5, random_state=0)
    >>> [(work.who, work.calls) for work in oracle.work()]
    [('model', 5), ('me', 2)]
    """

    def __init__(
        self, first: Oracle, person: Oracle, *, share: float = 0.1, costs: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share!r}; it is a share of the questions, from 0 to 1.")
        self.first = first
        self.person = person
        self.share = share
        self.costs = costs
        self.both: list[tuple[Answer, Answer]] = []
        self._scores: list[float] = []
        self._keys: set[object] = set()
        self._asked_of_person = 0
        self._first_said: list[Answer] = []
        self._person_said: list[Answer] = []

    def __call__(self, questions: list[Question]) -> Iterable[Answer]:
        """Answers to questions, in their order; those that nobody answers are left out."""
        said = {answer.question.key: answer for answer in self.first(questions)}
        self._first_said += said.values()
        chosen = [question for question in questions if self._matters(question, said.get(question.key))]
        for answer in self.person(chosen) if chosen else ():
            key = answer.question.key
            self._person_said.append(answer)
            if key in said:
                self.both.append((said[key], answer))
            if answer.value is not None or key not in said:
                said[key] = answer
        return [said[question.key] for question in questions if question.key in said]

    def _matters(self, question: Question, answer: Answer | None) -> bool:
        """Whether the person is asked, too; counts the question."""
        wavers = answer is None or answer.value is None
        score = question.score or 0.0
        high = score >= float(np.quantile(self._scores[-LATEST:] or [score], 1.0 - max(self.share, 0.5)))
        again = question.key in self._keys
        self._scores.append(score)
        self._keys.add(question.key)
        left = ceil(self.share * len(self._scores)) - self._asked_of_person
        if left < 1 or not (wavers or high or again):
            return False
        self._asked_of_person += 1
        return True

    def work(self) -> list[Work]:
        """What each of the two did, and what it cost; the first one first, without those who said nothing.

        Returns
        -------
        list of Work
            One entry for each name.
        """
        found = []
        for said, price in zip((self._first_said, self._person_said), self.costs):
            for who in dict.fromkeys(answer.who for answer in said):
                own = [answer.value for answer in said if answer.who == who]
                found.append(Work(who, len(own), own.count(None), price * len(own)))
        return found

    def agreement(self) -> list[tuple[str, str, int, int]]:
        """How often the two agree, over all pairs of rows that both decided; as `agreement` counts.

        Returns
        -------
        list of (str, str, int, int)
            Two names, how much both answered, and in how much of it they agree.
        """
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for two in self.both:
            for a, b, both, same in agreement(two):
                count = found.get((a, b), (0, 0))
                found[a, b] = count[0] + both, count[1] + same
        return [(*names, *count) for names, count in sorted(found.items())]
