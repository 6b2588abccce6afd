"""A whole conversation in one call: ask, carry the questions to an oracle, tell, until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cluewise.active._dialog import Answer, Question
from cluewise.active._state import State
from cluewise.active._strategy import Strategy

__all__ = ["Oracle", "interview"]

Oracle = Callable[[list[Question]], Iterable[Answer]]


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
    strategy : Strategy
        What to ask.
    X : {array-like, sparse matrix} of shape (n, d)
        The data.
    oracle : callable
        From a list of questions to their answers. It may answer only some of them.
    budget : int, optional
        How many questions; needed unless ``state`` is given.
    clues : Clues or array-like of shape (n,), optional
        What is known already.
    size : int, default=1
        Questions that are asked at once.
    state : State, optional
        A conversation to go on with, instead of a new one.
    watch : callable, optional
        Called with the state after each round of answers; a true result ends the conversation.
    random_state : int, RandomState, Generator or None, default=None
        Seed of a new conversation.

    Returns
    -------
    State
        What was said; ``state.clues`` holds it as clues.

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
