"""Strategies: what to ask next. They never call a person; somebody else carries questions and answers."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cluewise._docs import documented
from cluewise.active._card import StrategyCard
from cluewise.active._dialog import INFERRED, Answer, Question
from cluewise.active._known import Known, resolved
from cluewise.active._recheck import doubtful
from cluewise.active._state import State, fingerprint
from cluewise.base import as_clues, checked_data, generator

__all__ = ["Scene", "Strategy"]


class Scene:
    """What a strategy sees when it is asked for questions.

    ``X`` is checked; ``known`` holds what clues and answers entail; ``answers`` are those that count (one per question,
    by majority); ``ready`` is what the strategy prepared from X alone; ``memo`` is a place for what only saves time:
    it may be empty at any call, and a question must not depend on whether it is.
    """

    def __init__(self, X: Any, state: State, ready: Any) -> None:
        self.X = X
        self.n = int(X.shape[0])
        self.ready = ready
        self.start(state)

    def start(self, state: State) -> None:
        """Begin with what is known before the first question, then take in all answers."""
        self.known = Known(state.given)
        self.memo: dict[str, Any] = {}
        self.state = state
        self.answers = resolved(state.answers)
        for answer in self.answers:
            self.known.learn(answer)

    def follow(self, state: State) -> None:
        """Come to a later state; only what is new is taken in, unless an old question was answered again."""
        seen = len(self.state.answers)
        new = state.answers[seen:]
        keys = [answer.question.key for answer in new]
        again = len(set(keys)) < len(keys) or any(key in self.known.asked for key in keys)
        if again or state.answers[:seen] != self.state.answers:
            self.start(state)
            return
        self.state = state
        self.answers = [*self.answers, *new]
        for answer in new:
            self.known.learn(answer)


class Strategy(BaseEstimator, ABC):
    """Base of all strategies; a subclass says what it prepares from X and what it asks next.

    Every strategy answers `start`, `ask` and `tell`. Questions whose answer is known or follows from others are never
    asked; where a strategy has nothing more to ask, pairs drawn at random fill the budget, so that exactly as many
    questions come as were paid for, as long as there is anything left to ask. When answers contradict each other, the
    weakest of the answers in conflict is asked again before anything else, and the majority counts.

    See Also
    --------
    strategies : Those of the library.
    interview : Carries questions to whoever answers.

    Examples
    --------
    A strategy of your own says what to ask next; here, always about the row that comes next in the file:

    >>> from cluewise.active import Question, SimulatedOracle, Strategy, StrategyCard, interview
    >>> class InOrder(Strategy):
    ...     card = StrategyCard(paper="", title="one row after another", asks=frozenset({"label"}), cost="none")
    ...
    ...     def _choose(self, scene, size, rng):
    ...         rows = (Question("label", (row,), "it comes next.") for row in range(scene.n))
    ...         return [question for question in rows if scene.known.open(question)][:size]
    >>> state = interview(InOrder(), [[0.0], [1.0], [9.0]], SimulatedOracle(["a", "a", "b"]), budget=2)
    >>> state.clues
    Clues(3 rows: 2 labels in 1 class)
    """

    card: ClassVar[StrategyCard]
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        documented(cls)

    def start(self, X: Any, clues: Any = None, *, budget: int, random_state: Any = None) -> State:
        """Begin a conversation about X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            The data.
        clues : Clues or array-like of shape (n,), optional
            What is known already.
        budget : int
            How many questions may be asked.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        State
            To be handed to `ask`.
        """
        self._validate_params()
        if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 0:
            raise ValueError(f"budget is {budget!r}; it is the number of questions, at least 0.")
        checked = self._checked(X)
        n = int(checked.shape[0])
        return State(
            type(self).__name__,
            self._plain_parameters(),
            n,
            fingerprint(checked),
            int(budget),
            int(generator(random_state).integers(2**31)),
            as_clues(clues, n),
        )

    def ask(self, state: State, X: Any, *, size: int = 1) -> list[Question]:
        """The next questions.

        Parameters
        ----------
        state : State
            From `start` or `tell`.
        X : {array-like, sparse matrix} of shape (n, d)
            The same data; they must not be changed while a conversation goes on.
        size : int, default=1
            How many questions to ask at once. Fewer come when the budget ends, or when there are no more that make
            sense before one of these is answered; none when the conversation is over.

        Returns
        -------
        list of Question
            Questions that do not follow from each other's answers as far as that can be seen.
        """
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"size={size}; at least one question is asked at a time.")
        self._check_state(state)
        size = min(size, state.left)
        if not size:
            return []
        scene = self._scene(state, X)
        # Of what was asked before, only the number counts: the same state always draws the same numbers.
        rng = np.random.default_rng([state.seed, len(state.answers)])
        questions = doubtful(state, scene.known)[:size]
        if len(questions) < size:
            questions += self._choose(scene, size - len(questions), rng)
        return questions or _any_pairs(scene, size, rng)

    def tell(self, state: State, answers: Answer | Iterable[Answer]) -> State:
        """The state after some answers.

        Parameters
        ----------
        state : State
            From `start` or `tell`.
        answers : Answer or iterable of Answer
            Answers to what `ask` asked, all or some of them, or whatever else somebody said on this occasion.

        Returns
        -------
        State
            A new state; the old one stays as it is.
        """
        self._check_state(state)
        new = [answers] if isinstance(answers, Answer) else list(answers)
        for answer in new:
            if not isinstance(answer, Answer):
                raise TypeError(f"{answer!r} is not an Answer.")
            if answer.who == INFERRED:
                raise ValueError(f"who={INFERRED!r} is reserved for answers that were inferred; choose another name.")
            if max(answer.question.rows) >= state.n:
                raise ValueError(f"the answer speaks of row {max(answer.question.rows)}, but there are {state.n} rows.")
        if len(new) > state.left:
            raise ValueError(f"{len(new)} answers were told, but only {state.left} questions of the budget are left.")
        for answer in new:
            state = state.plus([answer])
            state = state.plus(self._infer(state))
        return state

    # --- what a subclass says -----------------------------------------------------------------------------------

    @abstractmethod
    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        """Up to ``size`` open questions, the best first; none when the strategy has nothing more to ask."""

    def _prepare(self, X: Any, state: State) -> Any:
        """What depends on X, what was known at the start, the budget, the seed and the parameters, but on no answer."""
        return None

    def _infer(self, state: State) -> list[Answer]:
        """Answers that follow from the last one for reasons of the strategy's own; who = `INFERRED`."""
        return []

    # --- what all share -----------------------------------------------------------------------------------------

    def _scene(self, state: State, X: Any) -> Scene:
        """The scene of this state: the one of the last call if that has come further, or a new one."""
        kept: tuple[Any, str, Scene] | None = getattr(self, "_kept", None)
        if kept is not None and kept[0] is X and kept[1] == _identity(state):
            given = kept[2].state.given
            if given is state.given or given == state.given:
                kept[2].follow(state)
                return kept[2]
        checked = self._checked(X)
        if fingerprint(checked) != state.fingerprint:
            raise ValueError("X is not what this conversation is about: its numbers are not the same as at the start.")
        scene = Scene(checked, state, self._prepare(checked, state))
        self._kept = X, _identity(state), scene
        return scene

    def _checked(self, X: Any) -> Any:
        return checked_data(self, X, reset=True, sparse=self.card.sparse)

    def _check_state(self, state: State) -> None:
        if not isinstance(state, State):
            raise TypeError(f"a state comes from start() or tell(), it is not {state!r}.")
        if (state.strategy, state.parameters) != (type(self).__name__, self._plain_parameters()):
            settings = ", ".join(f"{name}={value}" for name, value in state.parameters.items())
            raise ValueError(f"this conversation was started by {state.strategy}({settings}), not by {self!r}.")

    def _plain_parameters(self) -> dict[str, Any]:
        """Parameters as JSON gives them back; what is not JSON by its repr."""
        plain = json.dumps(self.get_params(deep=False), default=_spelled)
        return dict(json.loads(plain))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.card.sparse
        return tags


def _spelled(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


def _identity(state: State) -> str:
    return f"{state.fingerprint} {state.seed} {state.budget} {state.parameters}"


def _any_pairs(scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
    """Open pairs drawn at random; none when everything is known."""
    from cluewise.active.strategies._random import open_pairs

    why = "nothing that the strategy looks for is left; a pair drawn at random."
    return [Question("pair", pair, why) for pair in open_pairs(scene, size, rng)]
