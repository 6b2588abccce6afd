"""Several questions ahead, before any of them is answered."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cluewise._typing import Floats, Ints
from cluewise.clues import Clues

if TYPE_CHECKING:
    from cluewise.active import Question, State, Strategy

__all__ = ["look_ahead"]

TRIES = 3
"""Questions that may be foreseen for each that is wanted; a strategy may ask the same again, which a page does not."""


def look_ahead(strategy: Strategy, state: State, X: Floats, count: int) -> list[Question]:
    """The next questions if every answer is what the clusters so far suggest; fewer when nothing is left to ask.

    A strategy that chooses each question by the answer to the one before has only one to ask at a time.
    """
    from cluewise.active import Answer

    @cache
    def clusters() -> Ints:
        return _cluster(strategy, state, X)

    found: dict[Any, Question] = {}
    then = replace(state, budget=state.asked + TRIES * count)
    while len(found) < count and (asked := strategy.ask(then, X, size=count - len(found))):
        found |= {question.key: question for question in asked if question.key not in found}
        if len(found) < count:
            suggested = [Answer(question, _suggest(question, clusters(), state.clues)) for question in asked]
            then = strategy.tell(then, suggested)
    return list(found.values())


def _cluster(strategy: Strategy, state: State, X: Floats) -> Ints:
    """Clusters by all answers so far."""
    from cluewise.front import Cluewise

    k = strategy.get_params(deep=False).get("n_clusters")
    clues = state.clues.only(state.clues.kinds - {"avoid"})
    found: Ints = Cluewise(k, random_state=state.seed).fit(X, clues=clues).labels_
    return found


def _suggest(question: Question, clusters: Ints, clues: Clues) -> Any:
    """What the clusters say to a question; None where they say nothing."""
    rows = list(question.rows)
    home = clusters[rows]
    if question.kind == "pair":
        return bool(home[0] == home[1])
    if question.kind == "which":
        return next((row for row, own in zip(rows[1:], home[1:]) if own == home[0]), False)
    if question.kind == "label":
        codes = clues.labels[(clusters == home[0]) & (clues.labels >= 0)]
        return clues.classes_.tolist()[codes[0]] if len(codes) else None
    return [[row for row, own in zip(rows, home) if own == cluster] for cluster in dict.fromkeys(home.tolist())]
