"""A conversation in a file: every answer is on disk before the next question is asked."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from cluewise._docs import documented
from cluewise._typing import Ints
from cluewise.active._act import Act
from cluewise.active._dialog import Answer, Question
from cluewise.active._state import State
from cluewise.active._strategy import Strategy
from cluewise.exceptions import ClueWarning
from cluewise.tables import FileError

if TYPE_CHECKING:
    from cluewise.store import Entry, Record, Store

__all__ = ["Project"]

BEGINNING, BUDGET = "beginning", "budget"
ACT = "act"  # instead of the kind of a question


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
    X : {array-like, sparse matrix} of shape (n, d)
        The data, as they were given.

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
    ...     _ = project.tell(Answer(project.ask()[0], False, who="ann"))
    >>> with Project.open(path, RandomPairs(), X) as project:
    ...     project.state.clues, project.undo().who, project.state.clues
    (Clues(4 rows: 1 cannot-link), 'ann', Clues(4 rows: no clues))
    """

    def __init__(self, store: Store, strategy: Strategy, X: Any) -> None:
        self.store = store
        self.strategy = strategy
        self.X = X
        self._lock = RLock()  # of the state
        self._thinking = RLock()  # of the strategy, which may take long: answers are saved meanwhile
        self._heard: list[int] = []
        self._version: tuple[int, int] | None = None  # of the answers in the store
        self._state = _begun(store)
        self._budget = self._state.budget  # in case the setting was lost with a part of the file
        self._unsaved = False  # whether there is no snapshot of the last answers
        strategy._check_state(self._state)
        snapshot = store.last_snapshot()
        if snapshot is not None:
            self._heard = list(snapshot.state["heard"])
            self._state = _numbered(State.from_json(json.dumps(snapshot.state["state"])), self._heard)

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
        """All answers and acts that stand, whoever they come from; what is new is read from the file."""
        with self._lock:
            standing, entries, settings, version = self.store.answers()
            known = len(self._heard)
            if version != self._version and standing[:known] != self._heard:
                pairs = enumerate(zip(self._heard, standing))
                known = next((i for i, (old, new) in pairs if old != new), len(standing))
                self._state = _before(self._state, self._heard[known])
            fresh: list[Any] = [_said(entries[id]) for id in standing[known:]]
            # Two people may have answered the last question at the same time: both answers count.
            asked = self._state.asked + sum(isinstance(said, Answer) for said in fresh)
            given = settings.get(BUDGET)
            budget = max(given if type(given) is int else self._budget, asked)
            if self._state.budget != budget:
                self._state = self._state.allowed(budget)
            for kind, some in groupby(fresh, type):
                add = self._state.acted if kind is Act else partial(self.strategy._told, self._state)
                self._state = add(some)
            self._heard, self._version = standing, version
            return self._state

    def ask(self, size: int = 1) -> list[Question]:
        """The next questions; none when the budget is spent or nothing is left to ask."""
        state = self.state
        with self._thinking:
            return self.strategy.ask(state, self.X, size=size)

    def clustering(self) -> Ints:
        """The clusters that the strategy has found, for strategies with a method ``clustering``."""
        if not hasattr(self.strategy, "clustering"):
            name = type(self.strategy).__name__
            raise ValueError(f"{name} finds no clusters itself; fit a clusterer to state.clues.")
        state = self.state
        with self._thinking:
            found: Ints = self.strategy.clustering(state, self.X)
        return found

    def correct(self, state: State, labels: Any, n_clusters: int | None = None) -> Ints | None:
        """The clusters of the strategy, if they contradict fewer answers than others do (`CluewiseQuestions.correct`).

        Parameters
        ----------
        {state}
        labels : array-like of shape (n,)
            Other clusters, fitted to the answers of the state.
        n_clusters : int, optional
            Number of clusters at most.

        Returns
        -------
        ndarray of shape (n,) or None
            Cluster of each row; None if the others are as good, or for strategies that do not compare.
        """
        if not hasattr(self.strategy, "correct"):
            return None
        with self._thinking:
            found: Ints | None = self.strategy.correct(state, self.X, labels, n_clusters)
        return found

    def tell(self, answers: Answer | Iterable[Answer]) -> list[int]:
        """Save answers in one transaction, all or none; when this returns they are on disk.

        Parameters
        ----------
        answers : Answer or iterable of Answer
            Answers to questions of `ask`, or to any other questions about the rows. An answer whose ``nonce`` is stored
            already is not stored again.

        Returns
        -------
        list of int
            Number of the entry of each answer.
        """
        new = [answers] if isinstance(answers, Answer) else list(answers)
        # Somebody else may have used up the budget since the question was asked; these answers count all the same.
        self.strategy._check_answers(self._state, new)
        ids = self.store.extend(_record(answer) for answer in new)
        self._unsaved = True
        return ids

    def change(self, id: int, answer: Answer) -> int:
        """Take back an answer and save another in its place, in one transaction; when this returns it is on disk.

        Parameters
        ----------
        id : int
            Number of the entry to take back.
        answer : Answer
            What takes its place; if its ``nonce`` is stored already, nothing changes.

        Returns
        -------
        int
            Number of the new entry.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cluewise.active import Answer, Project, Question, RandomPairs
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.cluewise"
        >>> with Project.begin(path, RandomPairs(), [[0.0], [1.0], [9.0]], budget=3, random_state=0) as project:
        ...     (first,) = project.tell(Answer(Question("pair", (0, 1)), False))
        ...     _ = project.change(first, Answer(Question("pair", (0, 1)), True))
        ...     project.state.clues
        Clues(3 rows: 1 must-link)
        """
        self.strategy._check_answers(self._state, [answer])
        number = self.store.replace(id, _record(answer))
        self._unsaved = True
        return number

    def act(self, act: Act, nonce: str = "") -> int:
        """Save an act; when this returns it is on disk.

        An act of the kind "unlock" takes back the last "lock" of its cluster instead.

        Parameters
        ----------
        act : Act
            What somebody did with clusters.
        nonce : str, default=""
            A text made up by the sender: an act whose nonce is stored already is not stored again.

        Returns
        -------
        int
            Number of the entry; for "unlock", that of the lock that was taken back.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cluewise.active import Act, Project, RandomPairs
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.cluewise"
        >>> with Project.begin(path, RandomPairs(), [[0.0], [1.0], [9.0]], budget=3, random_state=0) as project:
        ...     number = project.act(Act("merge", "Merged clusters 1 and 2", must=[(0, 2)], change=-1, who="ann"))
        ...     number, project.state.count(3), project.state.clues
        (1, 2, Clues(3 rows: 1 must-link))
        """
        from cluewise.store import Record

        if not isinstance(act, Act):
            raise TypeError(f"{act!r} is not an Act.")
        if max(act.rows, default=0) >= self._state.n:
            raise ValueError(f"the act is about row {max(act.rows)}, but there are {self._state.n} rows.")
        self._unsaved = True
        if act.kind == "unlock":
            return self._unlock(act)
        question = {"kind": ACT, "rows": [], **({"nonce": nonce} if nonce else {})}
        said = {name: value for name, value in act.to_json().items() if name not in ("who", "when", "entry")}
        return self.store.extend([Record(question, said, act.who, _moment(act.when))])[0]

    def _unlock(self, act: Act) -> int:
        locks = [(id, stands) for id, said, stands in self.history() if _is_lock(said, act.cluster)]
        if not locks:
            raise ValueError(f"cluster {act.cluster} is not locked.")
        id, stands = locks[-1]
        if stands:  # otherwise somebody else was faster, or it is sent twice
            self.store.undo(id, who=act.who)
        return id

    def undo(self, id: int | None = None, of: str | None = None, who: str = "") -> Answer | Act | None:
        """Take back an answer or an act; it stays in the history.

        Parameters
        ----------
        id : int, optional
            Number of the entry; the last one that stands by default.
        of : str, optional
            Only what this person said or did.
        who : str, default=""
            Who takes it back.

        Returns
        -------
        Answer, Act or None
            What was taken back; None if there is nothing.
        """
        entry = self.store.undo(id, of=of, who=who)
        return None if entry is None else _said(entry)

    def redo(self, of: str | None = None, who: str = "") -> Answer | Act | None:
        """Restore what was taken back last; None if there is nothing, or something new came since.

        Parameters
        ----------
        of : str, optional
            Only what this person said.
        who : str, default=""
            Who restores it.

        Returns
        -------
        Answer, Act or None
            What stands again.
        """
        entry = self.store.redo(of=of, who=who)
        return None if entry is None else _said(entry)

    def history(self, last: int | None = None) -> list[tuple[int, Answer | Act, bool]]:
        """All answers and acts, those that were taken back included.

        Parameters
        ----------
        last : int, optional
            Only so many, the newest.

        Returns
        -------
        list of (int, Answer or Act, bool)
            Number of the entry, what was said or done, and whether it stands; the newest comes last.
        """
        found = self.store.answers()
        stands, entries = set(found.standing), found.entries
        ids = sorted(entries)
        if last is not None:
            ids = ids[max(len(ids) - last, 0) :]
        return [(id, _said(entries[id]), id in stands) for id in ids]

    def forget(self, who: str) -> int:
        """Delete all that a person said and did from the file, bytes included (`Store.forget`).

        Parameters
        ----------
        who : str
            The person.

        Returns
        -------
        int
            Number of entries that are gone.
        """
        return self.store.forget(who)

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
                kept = {"state": json.loads(state.to_json()), "heard": self._heard}
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
        text = json.dumps(store.settings[BEGINNING])
    except KeyError:
        raise ValueError(f"there is no conversation in '{store.name}'.") from None
    with store.settings.reading(BEGINNING):
        return State.from_json(text)


def _numbered(state: State, heard: list[int]) -> State:
    """The state of a snapshot; in those of older versions answers do not know their entries."""
    given = [answer for answer in state.answers if not answer.inferred]
    if not given or given[0].entry is not None:
        return state
    number = {id(answer): entry for answer, entry in zip(given, heard, strict=True)}
    answers = (replace(answer, entry=number.get(id(answer))) for answer in state.answers)
    return replace(state, answers=tuple(answers))


def _said(entry: Entry) -> Answer | Act:
    """What an entry holds, with who, when and its number."""
    known: dict[str, Any] = {"who": entry.who, "when": entry.when.isoformat(timespec="seconds"), "entry": entry.id}
    if entry.question["kind"] == ACT:
        return Act.from_json({**entry.answer, **known})
    more = {name: entry.question[name] for name in ("seconds", "nonce") if name in entry.question}
    return Answer(Question.from_json(entry.question), entry.answer, **known, **more)


def _record(answer: Answer) -> Record:
    """An answer for the store; how long it took and its nonce go with the question, where older versions skip them."""
    from cluewise.store import Record

    plain = answer.to_json()
    more = {name: plain[name] for name in ("seconds", "nonce") if name in plain}
    return Record({**plain["question"], **more}, plain["value"], answer.who, _moment(answer.when))


def _moment(when: str) -> datetime | None:
    """A moment that was given as text; None for now."""
    try:
        return datetime.fromisoformat(when) if when else None
    except ValueError:
        raise ValueError(f"when={when!r} is not a moment such as '2026-11-15T20:00:00+00:00'.") from None


def _is_lock(said: Answer | Act, cluster: Any) -> bool:
    return isinstance(said, Act) and said.kind == "lock" and said.cluster == cluster


def _before(state: State, entry: int) -> State:
    """The state before an entry: without it, all later ones, and what was inferred from them."""
    later = (i for i, answer in enumerate(state.answers) if answer.entry is not None and answer.entry >= entry)
    acts = tuple(act for act in state.acts if act.entry is not None and act.entry < entry)
    return replace(state, answers=state.answers[: next(later, len(state.answers))], acts=acts)
