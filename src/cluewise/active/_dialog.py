"""Questions and answers: plain values that JSON can hold."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar

from cluewise._notebook import as_html
from cluewise._texts import HALF, short

__all__ = ["KINDS", "Answer", "Question", "row_numbers"]

KINDS = ("pair", "label", "which", "group")

MOST = 12
"""Maximum number of rows in a question of the kind "group": more cannot be compared at a glance."""


@dataclass(frozen=True)
class Question:
    """A question about rows.

    Parameters
    ----------
    kind : {"pair", "label", "which", "group"}
        "pair": do these two rows belong together? "label": which class is this row of? "which": to which of the
        other rows does the first one belong, if to any? "group": which of these 2 to 12 rows belong together?
    rows : tuple of int
        The rows; in "which", the row in question comes first, and the others are of different classes as far as is
        known.
    why : str, default=""
        Why the question is asked, for people.
    score : float, optional
        How useful the strategy expects the answer to be; comparable within one strategy only.

    See Also
    --------
    Answer : What comes back.

    Examples
    --------
    >>> from cluewise.active import Question
    >>> str(Question("pair", (4, 7)))
    'Do rows 4 and 7 belong together?'
    >>> str(Question("which", (4, 7, 9)))
    'Row 4: does it belong to row 7 or 9, or to none of them?'
    >>> str(Question("group", (3, 5, 8, 9)))
    'Which of rows 3, 5, 8 and 9 belong together?'
    """

    kind: str
    rows: tuple[int, ...]
    why: str = ""
    score: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a question is of the kind {', '.join(KINDS)}, not {self.kind!r}.")
        object.__setattr__(self, "rows", row_numbers(self.rows))
        count = len(self.rows)
        if {"pair": count != 2, "label": count != 1, "which": count < 2, "group": not 2 <= count <= MOST}[self.kind]:
            raise ValueError(f"a question of the kind {self.kind} about {count} rows makes no sense.")
        if len(set(self.rows)) < count or min(self.rows) < 0:
            raise ValueError(f"the rows of a question are different row numbers, not {list(self.rows)}.")

    @property
    def key(self) -> tuple[str, tuple[int, ...]]:
        """Equal for questions that ask the same: the order of a pair, a group and of choices does not matter."""
        head = 1 if self.kind == "which" else 0
        return self.kind, (*self.rows[:head], *sorted(self.rows[head:]))

    def __str__(self) -> str:
        if self.kind == "pair":
            return f"Do rows {self.rows[0]} and {self.rows[1]} belong together?"
        if self.kind == "label":
            return f"Which class is row {self.rows[0]} of?"
        if self.kind == "group":
            return f"Which of rows {', '.join(map(str, self.rows[:-1]))} and {self.rows[-1]} belong together?"
        *others, last = (str(row) for row in self.rows[1:])
        choices = f"row {', '.join(others)} or {last}, or to none of them" if others else f"row {last}"
        return f"Row {self.rows[0]}: does it belong to {choices}?"

    def _repr_html_(self) -> str:
        return as_html(f"{self}\n{self.why}" if self.why else str(self))

    def to_json(self) -> dict[str, Any]:
        """Plain values; empty ones are left out."""
        more = {"why": self.why or None, "score": self.score}
        plain = {name: value for name, value in more.items() if value is not None}
        return {"kind": self.kind, "rows": list(self.rows), **plain}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Question:
        """The question that `to_json` wrote."""
        return cls(value["kind"], tuple(value["rows"]), value.get("why", ""), value.get("score"))


@dataclass(frozen=True)
class Answer:
    """An answer to a question.

    Parameters
    ----------
    question : Question
        The question.
    value : bool, int, float, str, tuple or None
        None: don't know. To a "pair" True (yes) or False (no); to a "label" the class; to "which" the row that it
        belongs to, or False for none of them. A row also says no to all other choices: if one of them belongs to it,
        too, that no is an error, like any wrong answer. To a "group" piles, each a tuple of rows that belong together;
        rows of different piles do not, and rows in no pile are left open.
    who : str, default=""
        Who gave the answer.
    when : str, default=""
        When, as text such as "2026-11-15T20:00:00+00:00".
    seconds : float, optional
        How long the person took.
    nonce : str, default=""
        A text made up by the sender. A `Project` stores answers of a person with the same nonce once, so that sending
        an answer twice does no harm.
    entry : int, optional
        Number of the entry in the store; None before the answer is stored.

    Examples
    --------
    >>> from cluewise.active import Answer, Question
    >>> answer = Answer(Question("which", (4, 7, 9)), 7, who="ann")
    >>> list(answer.links())
    [(4, 7, True), (4, 9, False)]
    >>> list(Answer(Question("group", (3, 5, 8, 9)), [[3, 8], [5]]).links())
    [(3, 8, True), (3, 5, False)]
    """

    INFERRED: ClassVar[str] = "inferred"  # who "says" what follows from other answers; it costs nothing

    question: Question
    value: Any
    who: str = ""
    when: str = ""
    seconds: float | None = None
    nonce: str = ""
    entry: int | None = None

    def __post_init__(self) -> None:
        seconds = self.seconds
        if seconds is not None and not (_is_number(seconds) and 0 <= seconds < math.inf):
            raise ValueError(f"seconds={seconds!r} is not how long somebody took.")
        if not isinstance(self.nonce, str):
            raise ValueError(f"nonce={self.nonce!r} is not a text.")
        value = self.value
        if getattr(value, "ndim", 0):
            raise ValueError(f"an answer is one value, not an array: {value!r}.".replace("\n", " "))
        value = value.item() if hasattr(value, "item") else value  # numpy's numbers are not JSON
        object.__setattr__(self, "value", value)
        if value is None:
            return
        kind, rows = self.question.kind, self.question.rows
        if kind == "group":
            object.__setattr__(self, "value", _piles(value, rows))
        if kind == "pair" and not isinstance(value, bool):
            raise ValueError(f"the answer about rows {rows[0]} and {rows[1]} is True, False or None, not {value!r}.")
        if isinstance(value, str) and HALF.search(value):
            raise ValueError(f"the label of row {rows[0]} holds half a character (a lone surrogate): {short(value)!a}.")
        if kind == "label" and not _is_class(value):
            raise ValueError(f"the label of row {rows[0]} is a text or a number, or None, not {value!r}.")
        if kind == "which" and value is not False and (isinstance(value, bool) or value not in rows[1:]):
            raise ValueError(f"row {rows[0]} belongs to one of {list(rows[1:])}, or False, or None, not {value!r}.")

        if kind == "which" and value is not False:
            object.__setattr__(self, "value", rows[rows.index(value)])  # 7.0 is row 7

    @property
    def inferred(self) -> bool:
        """Whether the answer follows from others, and nobody was asked."""
        return self.who == self.INFERRED

    @property
    def meaning(self) -> Hashable:
        """Equal for answers that say the same: the order of piles, and of rows in a pile, does not matter."""
        return frozenset(map(frozenset, self.value)) if isinstance(self.value, tuple) else repr(self.value)

    def links(self) -> Iterator[tuple[int, int, bool]]:
        """The pairs that the answer decides, each with whether the rows belong together; none for a label."""
        rows, kind = self.question.rows, self.question.kind
        if self.value is None or kind == "label":
            return
        if kind == "pair":
            yield rows[0], rows[1], self.value
            return
        if kind == "group":
            yield from ((i, j, True) for pile in self.value for i, j in pairwise(pile))
            yield from ((i, j, False) for i, j in combinations([pile[0] for pile in self.value], 2))
            return
        for row in rows[1:]:
            yield rows[0], row, self.value is not False and row == self.value

    def entailed(self) -> Iterator[tuple[int, int, bool]]:
        """All pairs that the answer decides, those that follow from `links` included; none for a label.

        Examples
        --------
        >>> from cluewise.active import Answer, Question
        >>> list(Answer(Question("which", (4, 7, 9)), 7).entailed())
        [(4, 7, True), (4, 9, False), (7, 9, False)]
        """
        kind, value = self.question.kind, self.value
        if kind == "group" and value is not None:
            pile_of = {row: pile for pile, rows in enumerate(value) for row in rows}
            yield from ((i, j, pile_of[i] == pile_of[j]) for i, j in combinations(pile_of, 2))
            return
        yield from self.links()
        if kind == "which" and value is not None and value is not False:
            yield from ((value, row, False) for row in self.question.rows[1:] if row != value)

    def to_json(self) -> dict[str, Any]:
        """Plain values; empty ones are left out."""
        value = [list(pile) for pile in self.value] if isinstance(self.value, tuple) else self.value
        more = {"who": self.who, "when": self.when, "seconds": self.seconds, "nonce": self.nonce, "entry": self.entry}
        said = {name: some for name, some in more.items() if some not in ("", None)}
        return {"question": self.question.to_json(), "value": value, **said}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Answer:
        """The answer that `to_json` wrote."""
        question = Question.from_json(value["question"])
        names = ("who", "when", "seconds", "nonce", "entry")
        return cls(question, value["value"], **{name: value[name] for name in names if name in value})


def row_numbers(rows: Any, what: str = "the rows of a question") -> tuple[int, ...]:
    """Row numbers as ints; booleans, text and fractions are refused."""
    try:
        if not any(isinstance(row, (bool, str)) for row in rows):
            return tuple(operator.index(row) for row in rows)
    except TypeError:
        pass
    raise ValueError(f"{what} are row numbers, not {short(repr(rows))}.")


def _piles(value: Any, rows: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Piles of some rows as tuples; empty ones are left out."""
    try:
        piles = tuple(row_numbers(pile) for pile in value if len(pile))
    except (TypeError, ValueError):
        raise ValueError(f"an answer to a group is a list of piles, each a list of rows, not {value!r}.") from None
    seen: set[int] = set()
    for row in (row for pile in piles for row in pile):
        if row not in rows:
            raise ValueError(f"row {row} is in a pile, but the question is about {list(rows)}.")
        if row in seen:
            raise ValueError(f"row {row} is in two piles, or twice in one.")
        seen.add(row)
    return piles


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_class(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return False
    if isinstance(value, str):
        return value != ""
    return isinstance(value, int) or math.isfinite(value)  # of a whole number with 400 digits this cannot be asked
