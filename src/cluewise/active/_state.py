"""The state of a conversation: who asks, about which data, and everything that was said so far."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from cluewise._lazy import lazy
from cluewise._typing import Array
from cluewise.active._dialog import Answer
from cluewise.active._known import resolve
from cluewise.clues import Clues, files

__all__ = ["State", "fingerprint"]

FORMAT = 1


@dataclass(frozen=True)
class State:
    """Everything a strategy needs to go on asking; JSON holds all of it, and the data are not in it.

    A state is immutable: `Strategy.tell` returns a new one. Two equal states lead to the same next question.

    Attributes
    ----------
    strategy : str
        Name of the strategy, as its class is called.
    parameters : dict
        Its parameters.
    n : int
        Number of rows.
    fingerprint : str
        Hash of the data.
    budget : int
        Questions that may be asked.
    seed : int
        What all random choices follow from.
    given : Clues
        What was known before the first question.
    answers : tuple of Answer
        All answers in order, inferred ones included.

    See Also
    --------
    Strategy : Asks and is told.

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
        """Questions that somebody was asked."""
        return sum(not answer.inferred for answer in self.answers)

    @property
    def left(self) -> int:
        """Questions that may still be asked."""
        return max(self.budget - self.asked, 0)

    @lazy
    def clues(self) -> Clues:
        """What was known before together with what the answers say.

        Of several answers to one question the majority counts. The source of a clue is the number of its answer and
        who gave it.
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
        """All of the state as a text; equal states give equal texts.

        Examples
        --------
        >>> from cluewise.active import RandomPairs
        >>> RandomPairs().start([[0.0], [1.0]], budget=1, random_state=0).to_json()[:41]
        '{"format": 1, "strategy": "RandomPairs", '
        """
        return json.dumps(
            {
                "format": FORMAT,
                "strategy": self.strategy,
                "parameters": self.parameters,
                "n": self.n,
                "fingerprint": self.fingerprint,
                "budget": self.budget,
                "seed": self.seed,
                "given": _columns(self.given),
                "answers": [answer.to_json() for answer in self.answers],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> State:
        """The state that `to_json` wrote.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        State
            Equal to the one that was written.
        """
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not the state of a conversation: {error}.") from None
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            found = value.get("format") if isinstance(value, dict) else None
            raise ValueError(f"this is not the state of a conversation in format {FORMAT} (format: {found}).")
        missing = {"strategy", "parameters", "n", "fingerprint", "budget", "seed", "given", "answers"} - value.keys()
        if missing:
            raise ValueError(f"this is not the state of a conversation: there is no {', '.join(sorted(missing))}.")
        return cls(
            value["strategy"],
            value["parameters"],
            value["n"],
            value["fingerprint"],
            value["budget"],
            value["seed"],
            Clues(**files.parse(value["given"], n=value["n"])),
            tuple(Answer.from_json(answer) for answer in value["answers"]),
        )


def clues_of(answers: Iterable[Answer], n: int) -> Clues:
    """What answers say, as clues."""
    every = list(answers)
    number = {id(answer): i for i, answer in enumerate(every)}
    pairs: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    sources: dict[bool, list[str]] = {True: [], False: []}
    labels: dict[int, Any] = {}
    label_source = np.full(n, "", dtype=object)
    for answer in resolve(every):
        if answer.value is None:
            continue
        source = f"answer {number[id(answer)] + 1}" + (f" ({answer.who})" if answer.who else "")
        if answer.question.kind == "label":
            labels[answer.question.rows[0]] = answer.value
            label_source[answer.question.rows[0]] = source
        for i, j, together in answer.links():
            pairs[together].append((i, j))
            sources[together].append(source)
    column: Array | None = None
    if labels:
        column = np.full(n, None, dtype=object)
        column[list(labels)] = list(labels.values())
    return Clues(
        n,
        labels=column,
        must=pairs[True] or None,
        cannot=pairs[False] or None,
        must_source=sources[True] or None,
        cannot_source=sources[False] or None,
        label_source=label_source if labels else None,
    )


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
