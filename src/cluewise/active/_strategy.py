"""Strategies choose the next questions; they never talk to people themselves."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from cluewise._docs import documented
from cluewise._lazy import lazy
from cluewise.active._dialog import Answer, Question
from cluewise.active._known import Known, open_pairs, resolve
from cluewise.active._recheck import doubtful_questions
from cluewise.active._state import State, fingerprint
from cluewise.base import as_clues, checked_data, generator
from cluewise.core.rows import Rows, rows_of

__all__ = ["Scene", "Strategy", "StrategyCard"]


@dataclass(frozen=True, kw_only=True)
class StrategyCard:
    """What a strategy is, asks and costs; read by tests, documentation and command line.

    Parameters
    ----------
    paper : str
        Key in ``references.bib``; "" for a strategy of our own.
    title : str
        The strategy in a few words.
    asks : frozenset of str
        The kinds of questions that it may ask.
    cost : str
        Cost of the next question, and of the preparation.
    sparse : bool
        Whether X may be sparse.

    Examples
    --------
    >>> from cluewise.active import RandomPairs
    >>> RandomPairs.card.title
    'pairs drawn at random'
    """

    paper: str
    title: str
    asks: frozenset[str]
    cost: str
    sparse: bool = False


class Scene:
    """What a strategy sees when it is asked for questions.

    ``X`` is validated; ``known`` holds what clues and answers entail; ``answers`` are those that count (one per
    question, by majority); ``firm`` holds the clues that were given and those of acts; ``ready`` is what the strategy
    prepared from X alone. ``memo`` is a cache: it may be empty at any call, and no question may depend on whether it
    is.
    """

    def __init__(self, X: Any, state: State, ready: Any) -> None:
        self.X = X
        self.n = int(X.shape[0])
        self.ready = ready
        self.start(state)

    @lazy
    def rows(self) -> Rows:
        """X as the core reads it."""
        return rows_of(self.X)

    def start(self, state: State) -> None:
        """Begin with what was known before the first question, then learn all answers."""
        self.state = state
        self.memo: dict[str, Any] = {}
        self.answers = resolve(state.answers)
        self.firm = state.firm
        self.known = Known(self.firm, self.answers)

    def follow(self, state: State) -> None:
        """Advance to a later state: learn only the new answers, unless an old question was answered again."""
        seen = len(self.state.answers)
        new = state.answers[seen:]
        keys = [answer.question.key for answer in new]
        again = len(set(keys)) < len(keys) or any(key in self.known.asked for key in keys)
        if again or state.answers[:seen] != self.state.answers or state.acts != self.state.acts:
            self.start(state)  # a majority may have changed, and what was learned cannot be unlearned
            return
        self.state = state
        self.answers = [*self.answers, *new]
        for answer in new:
            self.known.learn(answer)


@documented
class Strategy(BaseEstimator, ABC):
    """Base of all strategies; a subclass says what it prepares from X and what it asks next.

    Every strategy has `start`, `ask` and `tell`. A question whose answer is known or follows from others is never
    asked. When a strategy has nothing more to ask, pairs drawn at random use up the budget. When answers contradict
    each other, the weakest of them is asked again before anything else, and the majority counts.

    See Also
    --------
    strategies : Those of the library.
    interview : Takes questions to whoever answers them.

    Examples
    --------
    A strategy of your own implements ``_choose``; this one asks about one row after another:

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
        {X}
        {clues}
        budget : int
            Number of questions that may be asked.
        {random_state}

        Returns
        -------
        State
            For `ask`.
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
        {state}
        {X_same}
        size : int, default=1
            Number of questions to ask at once. There are fewer at the end of the budget, and when no other question
            makes sense before one of these is answered; none when the conversation is over.

        Returns
        -------
        list of Question
            As far as can be foreseen, no answer to one of them settles another.
        """
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"size={size}; at least one question is asked at a time.")
        self._check_state(state)
        size = min(size, state.left)
        if not size:
            return []
        scene = self._scene(state, X)
        # Seeded by the number of answers, not by how often anybody asked: the same state always draws the same.
        rng = np.random.default_rng([state.seed, len(state.answers)])
        questions = self._contradicted(scene)[:size]
        if len(questions) < size:
            questions += self._choose(scene, size - len(questions), rng)
        why = "the strategy has no more questions; a pair drawn at random."
        return questions or [Question("pair", pair, why) for pair in open_pairs(scene.known, scene.n, size, rng)]

    def tell(self, state: State, answers: Answer | Iterable[Answer]) -> State:
        """The state after some answers.

        Parameters
        ----------
        {state}
        answers : Answer or iterable of Answer
            Answers to questions of `ask`, or to any other questions about the rows.

        Returns
        -------
        State
            A new state; the old one is not changed.
        """
        self._check_state(state)
        new = [answers] if isinstance(answers, Answer) else list(answers)
        self._check_answers(state, new)
        if len(new) > state.left:
            raise ValueError(f"{len(new)} answers were told, but only {state.left} questions of the budget are left.")
        return self._told(state, new)

    def _told(self, state: State, answers: Iterable[Answer]) -> State:
        """The state after answers that were checked before."""
        if type(self)._infer is Strategy._infer:
            return state.plus(answers)
        for answer in answers:
            state = state.plus([answer])
            state = state.plus(self._infer(state))
        return state

    @staticmethod
    def _check_answers(state: State, answers: Iterable[Answer]) -> None:
        for answer in answers:
            if not isinstance(answer, Answer):
                raise TypeError(f"{answer!r} is not an Answer.")
            if answer.inferred:
                raise ValueError(f"who={answer.who!r} is reserved for answers that were inferred; choose another name.")
            if max(answer.question.rows) >= state.n:
                raise ValueError(f"the answer is about row {max(answer.question.rows)}, but there are {state.n} rows.")

    # --- for subclasses -----------------------------------------------------------------------------------------

    @abstractmethod
    def _choose(self, scene: Scene, size: int, rng: np.random.Generator) -> list[Question]:
        """Up to ``size`` open questions, the best first; none when the strategy has nothing more to ask."""

    def _prepare(self, X: Any, state: State) -> Any:
        """Whatever depends on X, the given clues, the budget, the seed and the parameters, but on no answer."""
        return None

    def _contradicted(self, scene: Scene) -> list[Question]:
        """Questions that come before all others, since their answers contradict each other."""
        return doubtful_questions(scene.state, scene.known)

    def _infer(self, state: State) -> list[Answer]:
        """Answers that the strategy infers from the last one; who = `Answer.INFERRED`."""
        return []

    # --- shared by all ------------------------------------------------------------------------------------------

    def _scene(self, state: State, X: Any) -> Scene:
        """The scene of this state: that of the last call, brought up to date, or a new one."""
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
        own = self._plain_parameters()
        # A conversation may be older than a parameter: then it was begun with the default.
        begun = {name: p.default for name, p in signature(type(self)).parameters.items() if name in own}
        if (state.strategy, {**begun, **state.parameters}) != (type(self).__name__, own):
            settings = ", ".join(f"{name}={value}" for name, value in state.parameters.items())
            raise ValueError(f"this conversation was started by {state.strategy}({settings}), not by {self!r}.")

    def _plain_parameters(self) -> dict[str, Any]:
        """Parameters as they come back from JSON; what JSON cannot hold is written as its repr."""
        return dict(json.loads(json.dumps(self.get_params(deep=False), default=_json_value)))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.card.sparse
        return tags


def _json_value(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else repr(value)


def _identity(state: State) -> str:
    return f"{state.fingerprint} {state.seed} {state.budget} {state.parameters}"
