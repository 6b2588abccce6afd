"""The state of a conversation: the strategy, a hash of the data, and all answers so far (decision 0011)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cluewise._lazy import lazy
from cluewise._texts import mended
from cluewise.active._act import Act
from cluewise.active._dialog import Answer
from cluewise.active._known import Settled, resolve
from cluewise.clues import Clues, files
from cluewise.clues.links import GIVEN

__all__ = ["Link", "State", "arguments_of", "clues_of", "fingerprint", "with_acts"]

FORMAT = 1
_KINDS = {"strategy": str, "parameters": dict, "n": int, "fingerprint": str, "budget": int, "seed": int}

Key = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class State:
    """Everything but the data that a strategy needs to continue; it can be written as JSON.

    A state is immutable: `Strategy.tell` returns a new one. Equal states lead to the same next question.

    Attributes
    ----------
    strategy : str
        Name of the class of the strategy.
    parameters : dict
        Parameters of the strategy.
    n : int
        Number of rows.
    fingerprint : str
        Hash of the data.
    budget : int
        Number of questions that may be asked.
    seed : int
        Seed of all random choices.
    given : Clues
        What was known before the first question.
    answers : tuple of Answer
        All answers in order, inferred ones included.
    acts : tuple of Act
        What people did with clusters and did not take back, in order.

    See Also
    --------
    Strategy : Chooses questions and records answers.

    Examples
    --------
    >>> from cluewise.active import Answer, RandomPairs, State
    >>> strategy, X = RandomPairs(), [[0.0], [1.0], [8.0], [9.0]]
    >>> state = strategy.start(X, budget=2, random_state=0)
    >>> state = strategy.tell(state, [Answer(question, True) for question in strategy.ask(state, X)])
    >>> state.clues, state.left
    (Clues(4 rows: 1 must-link), 1)
    >>> State.from_json(state.to_json()) == state
    True
    """

    strategy: str
    parameters: dict[str, Any]
    n: int
    fingerprint: str
    budget: int
    seed: int
    given: Clues
    answers: tuple[Answer, ...] = ()
    acts: tuple[Act, ...] = ()

    @lazy
    def asked(self) -> int:
        """Number of questions that somebody answered."""
        return sum(not answer.inferred for answer in self.answers)

    @property
    def left(self) -> int:
        """Number of questions that may still be asked."""
        return max(self.budget - self.asked, 0)

    @lazy
    def firm(self) -> Clues:
        """The given clues and those of acts, without answers; a label of the last act replaces earlier ones."""
        return with_acts(self.given, self.acts)

    @lazy
    def clues(self) -> Clues:
        """The given clues, those of acts and those of the answers.

        If a question has several answers, the majority counts. The source of a clue is the number of its answer and who
        gave it. Where an answer names another class than an act or a given label, its label does not count.
        """
        earlier: State | None = vars(self).pop("_earlier", None)
        if earlier is not None:
            new = self.answers[len(earlier.answers) :]
            keys = {answer.question.key for answer in new}
            # An old question that is answered again may change a majority, and what was inferred from it.
            if len(keys) == len(new) and not keys & earlier._keys and not any(answer.inferred for answer in new):
                vars(self)["_keys"] = earlier._keys | keys
                return earlier.clues | clues_of(new, self.n, self.firm, len(earlier.answers))
        return self.firm | clues_of(self.answers, self.n, self.firm)

    @lazy
    def _keys(self) -> frozenset[Key]:
        return frozenset(answer.question.key for answer in self.answers)

    def count(self, default: int) -> int:
        """The number of clusters, as acts have changed it.

        Parameters
        ----------
        default : int
            Their number without acts.

        Returns
        -------
        int
            At least 1.
        """
        return max(1, default + sum(act.change for act in self.acts))

    def plus(self, answers: Iterable[Answer]) -> State:
        """The state with more answers."""
        new = tuple(answers)
        if not new:
            return self
        later = replace(self, answers=self.answers + new)
        # Carried over, so that one more answer does not cost as much as all answers before it.
        vars(later)["asked"] = self.asked + sum(not answer.inferred for answer in new)
        if "firm" in vars(self):
            vars(later)["firm"] = self.firm
        if "clues" in vars(self):
            vars(later)["_earlier"] = self
        elif "_earlier" in vars(self):
            vars(later)["_earlier"] = vars(self)["_earlier"]
        return later

    def allowed(self, budget: int) -> State:
        """The state with another budget."""
        other = replace(self, budget=budget)
        own = {one.name for one in fields(self)}
        # What was computed does not depend on the budget.
        vars(other).update({name: value for name, value in vars(self).items() if name not in own})
        return other

    def acted(self, acts: Iterable[Act]) -> State:
        """The state with more acts."""
        return replace(self, acts=(*self.acts, *acts))

    def undone(self) -> State:
        """The state before the last answer that somebody gave.

        Examples
        --------
        >>> from cluewise.active import Answer, RandomPairs
        >>> strategy, X = RandomPairs(), [[0.0], [1.0], [8.0], [9.0]]
        >>> state = strategy.start(X, budget=2, random_state=0)
        >>> later = strategy.tell(state, [Answer(question, True) for question in strategy.ask(state, X)])
        >>> later.undone() == state
        True
        """
        last = max((i for i, answer in enumerate(self.answers) if not answer.inferred), default=None)
        if last is None:
            raise ValueError("there is no answer to take back.")
        return replace(self, answers=self.answers[:last])

    def to_json(self) -> str:
        """The state as text; equal states give equal texts.

        Examples
        --------
        >>> from cluewise.active import RandomPairs
        >>> RandomPairs().start([[0.0], [1.0]], budget=1, random_state=0).to_json()[:41]
        '{"format": 1, "strategy": "RandomPairs", '
        """
        return json.dumps(
            {
                "format": FORMAT,
                **{one.name: getattr(self, one.name) for one in fields(self) if one.name != "acts"},
                "given": _columns(self.given),
                "answers": [answer.to_json() for answer in self.answers],
                **({"acts": [act.to_json() for act in self.acts]} if self.acts else {}),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> State:
        """The state that `to_json` wrote."""
        try:
            value = mended(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not the state of a conversation: {error}.") from None
        found = value.get("format") if isinstance(value, dict) else None
        if found != FORMAT:
            raise ValueError(f"this is not the state of a conversation in format {FORMAT} (format: {found}).")
        missing = {one.name for one in fields(cls)} - {"acts"} - value.keys()  # older texts have no acts
        if missing:
            raise ValueError(f"this is not the state of a conversation: there is no {', '.join(sorted(missing))}.")
        plain = {name: value[name] for name in ("strategy", "parameters", "n", "fingerprint", "budget", "seed")}
        for name, kind in _KINDS.items():
            if type(plain[name]) is not kind:
                raise TypeError(f"{name} is of another type")
        given = Clues(**files.parse(value["given"], n=value["n"]))
        answers, acts = map(Answer.from_json, value["answers"]), map(Act.from_json, value.get("acts", ()))
        return cls(**plain, given=given, answers=tuple(answers), acts=tuple(acts))


def clues_of(answers: Iterable[Answer], n: int, firm: Clues | None = None, before: int = 0) -> Clues:
    """The clues in answers; of several answers to one question the majority counts.

    Labels that contradict those of ``firm`` are left out: two classes for one row cannot be written down. ``before``
    is the number of answers that came before these.
    """
    every = list(answers)
    number = {id(answer): i for i, answer in enumerate(every, before + 1)}
    links: list[Link] = []
    labels: dict[int, tuple[Any, str]] = {}
    for answer in resolve(every):
        if answer.value is None:
            continue
        if isinstance(answer, Settled):
            number.setdefault(id(answer), number.get(id(answer.first), 0))
        source = f"answer {number[id(answer)]}" + (f" ({answer.who})" if answer.who else "")
        if answer.question.kind == "label":
            row, value = answer.question.rows[0], answer.value
            if firm is None or firm.labels[row] < 0 or firm.classes_[firm.labels[row]] == value:
                labels[row] = value, source
        links += [Link(i, j, together, source) for i, j, together in answer.links()]
    arguments = arguments_of(links)
    if labels:
        for name, empty, cells in zip(("labels", "label_source"), (None, ""), zip(*labels.values())):
            arguments[name] = np.full(n, empty, dtype=object)
            arguments[name][list(labels)] = cells
    return Clues(n, **arguments)


def with_acts(given: Clues, acts: Iterable[Act]) -> Clues:
    """Given clues and those of acts; where labels differ, the last one counts."""
    known = {str(value): value for value in given.classes_.tolist()}
    labels: dict[int, tuple[Any, str]] = {}
    found = given
    for act in acts:
        found |= replace(act, labels=()).clues(given.n)
        # The name of a class that was given as a number is that number.
        labels |= {row: (known.get(name, name), act.source) for row, name in act.labels}
    if not labels:
        return found
    cells = np.full(given.n, None, dtype=object)
    sources = np.full(given.n, "", dtype=object)
    rows = np.flatnonzero(given.labels >= 0)
    cells[rows] = given.classes_[given.labels[rows]]
    sources[rows] = GIVEN if given.label_source is None else given.label_source[rows]
    for row, (value, source) in labels.items():
        cells[row], sources[row] = value, source
    return Clues(given.n, labels=cells, label_source=sources) | found.only(found.kinds - {"labels"})


class Link(NamedTuple):
    """A pair that an answer decides."""

    i: int
    j: int
    together: bool
    source: str
    confidence: float | None = None


def arguments_of(links: list[Link]) -> dict[str, Any]:
    """Links as arguments of `Clues`."""
    found: dict[str, Any] = {}
    for kind, together in (("must", True), ("cannot", False)):
        if own := [link for link in links if link.together == together]:
            found[kind] = [(link.i, link.j) for link in own]
            found[f"{kind}_source"] = [link.source for link in own]
            if own[0].confidence is not None:
                found[f"{kind}_confidence"] = [link.confidence for link in own]
    return found


def _columns(clues: Clues) -> dict[str, list[Any]]:
    """The table of clues as columns; nan is not JSON."""
    columns = files.tabulate(clues).columns
    return {name: [None if cell != cell else cell for cell in column.tolist()] for name, column in columns.items()}


def fingerprint(X: Any) -> str:
    """A hash of the numbers in X and their places, the same on every machine."""
    digest = blake2b(digest_size=16)
    digest.update(repr((X.shape, X.dtype.str)).encode())
    parts = (X.data, X.indices.astype("<i8"), X.indptr.astype("<i8")) if sparse.issparse(X) else (X,)
    for part in parts:
        for start in range(0, len(part), 2**16):
            digest.update(np.ascontiguousarray(part[start : start + 2**16]).data)
    return digest.hexdigest()
