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
from cluewise.active._dialog import Answer
from cluewise.active._known import resolve
from cluewise.clues import Clues, files

__all__ = ["Link", "State", "arguments_of", "clues_of", "fingerprint"]

FORMAT = 1


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

    @property
    def asked(self) -> int:
        """Number of questions that somebody answered."""
        return sum(not answer.inferred for answer in self.answers)

    @property
    def left(self) -> int:
        """Number of questions that may still be asked."""
        return max(self.budget - self.asked, 0)

    @lazy
    def clues(self) -> Clues:
        """The given clues and those of the answers.

        If a question has several answers, the majority counts. The source of a clue is the number of its answer and who
        gave it.
        """
        return self.given | clues_of(self.answers, self.n)

    def plus(self, answers: Iterable[Answer]) -> State:
        """The state with more answers."""
        return replace(self, answers=(*self.answers, *answers))

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
                **{one.name: getattr(self, one.name) for one in fields(self)},
                "given": _columns(self.given),
                "answers": [answer.to_json() for answer in self.answers],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> State:
        """The state that `to_json` wrote."""
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not the state of a conversation: {error}.") from None
        found = value.get("format") if isinstance(value, dict) else None
        if found != FORMAT:
            raise ValueError(f"this is not the state of a conversation in format {FORMAT} (format: {found}).")
        missing = {one.name for one in fields(cls)} - value.keys()
        if missing:
            raise ValueError(f"this is not the state of a conversation: there is no {', '.join(sorted(missing))}.")
        plain = {name: value[name] for name in ("strategy", "parameters", "n", "fingerprint", "budget", "seed")}
        given = Clues(**files.parse(value["given"], n=value["n"]))
        return cls(**plain, given=given, answers=tuple(map(Answer.from_json, value["answers"])))


def clues_of(answers: Iterable[Answer], n: int) -> Clues:
    """The clues in answers; of several answers to one question the majority counts."""
    every = list(answers)
    number = {id(answer): i for i, answer in enumerate(every, 1)}
    links: list[Link] = []
    labels: dict[int, tuple[Any, str]] = {}
    for answer in resolve(every):
        if answer.value is None:
            continue
        source = f"answer {number[id(answer)]}" + (f" ({answer.who})" if answer.who else "")
        if answer.question.kind == "label":
            labels[answer.question.rows[0]] = answer.value, source
        links += [Link(i, j, together, source) for i, j, together in answer.links()]
    arguments = arguments_of(links)
    if labels:
        for name, empty, cells in zip(("labels", "label_source"), (None, ""), zip(*labels.values())):
            arguments[name] = np.full(n, empty, dtype=object)
            arguments[name][list(labels)] = cells
    return Clues(n, **arguments)


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
