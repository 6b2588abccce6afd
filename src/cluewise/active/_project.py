"""A conversation in a file: every answer is on disk before the next question is asked."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cluewise._docs import documented
from cluewise._typing import Ints
from cluewise.active._dialog import Answer, Question
from cluewise.active._state import State
from cluewise.active._strategy import Strategy
from cluewise.exceptions import ClueWarning
from cluewise.tables import FileError

if TYPE_CHECKING:
    from cluewise.store import Entry, Store

__all__ = ["Project"]

BEGINNING, BUDGET = "beginning", "budget"


@documented
class Project:
    """A conversation in a file: after a crash, or on another day, it continues with the same question.

    Begin one with `Project.begin` and continue it with `Project.open`. Several people may answer at the same time; the
    next question takes account of all answers.

    Parameters
    ----------
    store : Store
        Holds the answers.
    {strategy}
    X : {array-like, sparse matrix} of shape (n, d)
        The data; they are not in the file.

    Attributes
    ----------
    store : Store
        Holds the answers; ``store.entries()`` is the whole history.
    {strategy}

    See Also
    --------
    interview : The same without a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.active import Answer, Project, RandomPairs
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.cluewise"
    >>> with Project.begin(path, RandomPairs(), X, budget=3, random_state=0) as project:
    ...     project.tell(Answer(project.ask()[0], False, who="ann"))
    >>> with Project.open(path, RandomPairs(), X) as project:
    ...     project.state.clues, project.undo().who, project.state.clues
    (Clues(4 rows: 1 cannot-link), 'ann', Clues(4 rows: no clues))
    """

    def __init__(self, store: Store, strategy: Strategy, X: Any) -> None:
        self.store = store
        self.strategy = strategy
        self._X = X
        self._heard: tuple[int, ...] = ()
        self._state = _begun(store)
        self._budget = self._state.budget  # in case the setting was lost with a part of the file
        self._unsaved = False  # whether there is no snapshot of the last answers
        snapshot = store.last_snapshot()
        if snapshot is not None:
            self._state = State.from_json(json.dumps(snapshot.state["state"]))
            self._heard = tuple(snapshot.state["heard"])

    @classmethod
    def begin(
        cls,
        path: str | PathLike[str],
        strategy: Strategy,
        X: Any,
        clues: Any = None,
        *,
        budget: int,
        random_state: Any = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """Begin a conversation in a new file.

        Parameters
        ----------
        path : str or path
            The file; it must not hold a conversation.
        {strategy}
        {X}
        {clues}
        budget : int
            Number of questions that may be asked; `grow` changes it.
        {random_state}
        settings : mapping of str to JSON values, optional
            More values for ``store.settings``.

        Returns
        -------
        Project
            Close it after use, best by ``with``.
        """
        from cluewise.store import Store

        state = strategy.start(X, clues, budget=budget, random_state=random_state)  # before anything is written
        store = Store.open(path, create=True)
        try:
            # In one step: of several people who begin at once one does, and after a kill it can begin again.
            new = {**(settings or {}), BUDGET: state.budget, BEGINNING: json.loads(state.to_json())}
            if not store.settings.claim(BEGINNING, new):
                found = _begun(store)
                raise ValueError(
                    f"there is a conversation in '{store.name}' already, begun with {found.strategy}, "
                    f"seed {found.seed} and a budget of {found.budget}; open it to go on."
                )
            return cls(store, strategy, X)
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, path: str | PathLike[str], strategy: Strategy, X: Any) -> Self:
        """Continue the conversation in a file.

        Parameters
        ----------
        path : str or path
            The file.
        strategy : Strategy
            The strategy that began it, with the same parameters.
        {X_same}

        Returns
        -------
        Project
            Close it after use, best by ``with``.
        """
        from cluewise.store import Store

        store = Store.open(path)
        try:
            project = cls(store, strategy, X)
            strategy._scene(
                project.state, X
            )  # other data or another strategy are refused now, not at the first question
            return project
        except BaseException:
            store.close()
            raise

    @staticmethod
    def begun(path: str | PathLike[str]) -> bool:
        """Whether there is a conversation in a file to go on with.

        Parameters
        ----------
        path : str or path
            The file; there need not be one.

        Returns
        -------
        bool
            False where nothing has begun yet: there is no file, or whoever began was killed on the way.
        """
        from cluewise.store import Store

        if not Path(path).exists() or not Path(path).stat().st_size:
            return False
        with Store.open(path) as store:
            return BEGINNING in store.settings

    @staticmethod
    def peek(path: str | PathLike[str]) -> State:
        """The beginning of the conversation in a file: which strategy, which parameters, which clues.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        State
            Before the first answer.
        """
        from cluewise.store import Store

        with Store.open(path) as store:
            return _begun(store)

    @property
    def state(self) -> State:
        """All answers that stand, whoever gave them; read from the file."""
        budget = int(self.store.settings.get(BUDGET, self._budget))
        standing = self.store.standing()
        ids = tuple(entry.id for entry in standing)
        known = len(self._heard)
        if ids[:known] != self._heard:
            self._state, known = _begun(self.store), 0
        # Two people may have answered the last question at the same time: both answers count.
        self._state = replace(self._state, budget=max(budget, len(ids)))
        for entry in standing[known:]:
            self._state = self.strategy.tell(self._state, _answer(entry))
        self._heard = ids
        return self._state

    def ask(self, size: int = 1) -> list[Question]:
        """The next questions; none when the budget is spent or nothing is left to ask."""
        return self.strategy.ask(self.state, self._X, size=size)

    def clustering(self) -> Ints:
        """The clusters that the strategy has found, for strategies with a method ``clustering``."""
        if not hasattr(self.strategy, "clustering"):
            name = type(self.strategy).__name__
            raise ValueError(f"{name} finds no clusters itself; fit a clusterer to state.clues.")
        found: Ints = self.strategy.clustering(self.state, self._X)
        return found

    def tell(self, answers: Answer | Iterable[Answer]) -> None:
        """Save answers, one by one; when this returns they are on disk."""
        for answer in [answers] if isinstance(answers, Answer) else answers:
            state = self.state
            # Somebody else may have used up the budget since the question was asked; this answer counts all the same.
            self.strategy.tell(replace(state, budget=state.asked + 1), answer)  # refuses invalid answers
            self.store.append(answer.question.to_json(), answer.value, who=answer.who)
            self._unsaved = True

    def undo(self, *, of: str | None = None, who: str = "") -> Answer | None:
        """Take back the last answer (``of`` one person) and return it, or None; it stays in the history."""
        entry = self.store.undo(of=of, who=who)
        return None if entry is None else _answer(entry)

    def grow(self, budget: int) -> None:
        """Change how many questions may be asked."""
        if budget < 0:
            raise ValueError(f"budget is {budget}; it is the number of questions, at least 0.")
        self.store.settings[BUDGET] = int(budget)

    def close(self) -> None:
        """Close the file; all answers are in it already."""
        if self._unsaved:  # a snapshot, so that the next session need not replay all answers
            self._unsaved = False
            try:
                state = self.state
                # The snapshot says which answers it includes, because undo and redo may change which of them stand.
                kept = {"state": json.loads(state.to_json()), "heard": list(self._heard)}
                self.store.snapshot(kept, upto=max(self._heard, default=0), keep=1)
            except FileError as error:
                warnings.warn(f"every answer is saved, but {error}", ClueWarning, stacklevel=2)
            finally:
                self.store.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _begun(store: Store) -> State:
    try:
        return State.from_json(json.dumps(store.settings[BEGINNING]))
    except KeyError:
        raise ValueError(f"there is no conversation in '{store.name}'.") from None


def _answer(entry: Entry) -> Answer:
    when = entry.when.isoformat(timespec="seconds")
    return Answer(Question.from_json(entry.question), entry.answer, who=entry.who, when=when)
