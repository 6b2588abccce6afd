"""Rows of the data side by side, for people who have to tell whether they belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise.clues import Clues
from cluewise.workspace.data import Data

if TYPE_CHECKING:
    from cluewise.active import Act, Answer, Question

__all__ = ["Line", "as_item", "class_of", "compare_rows", "sentence", "spreads", "text", "words"]

MOST = 15
"""Columns that are shown; of more, those in which the rows differ most."""

DIGITS = 6
"""Digits of a number that are shown, unless two numbers that differ need more."""

NOTHING = "–"
"""An empty cell, and how far it is from another."""


def spreads(data: Data) -> dict[str, float]:
    """Standard deviation of each column of numbers that is clustered by; of all rows, so once is enough."""
    finite = {name: values[np.isfinite(values)] for name, values in data.numbers().items()}
    return {name: float(np.std(values)) if len(values) else 0.0 for name, values in finite.items()}


class Line(NamedTuple):
    """A column, and what some rows have in it."""

    name: str
    cells: list[str]
    apart: str
    deviations: float  # range in standard deviations of the column; 0 for what is not a number


def compare_rows(data: Data, rows: Sequence[int], spread: Mapping[str, float]) -> tuple[list[Line], list[Line]]:
    """A line for each column that is worth showing, what differs most first; and lines that are left out.

    Columns that hold no numbers, or that are not clustered by, stand at the top: a person may know more than the
    method. Ignored columns are not shown: they may hold the answer. ``spread`` is from `spreads`.
    """
    names = [data.name(row) for row in rows]  # stand above the lines already
    said = [name for name in data.shown if name not in spread and _texts(data, name, rows) != names]
    numbers = {name: data.table.columns[name][list(rows)].astype(float) for name in spread}
    differs = {name: _differs(values, spread[name]) for name, values in numbers.items()}
    ranked = sorted(spread, key=lambda name: -differs[name]) if len(rows) > 1 else list(spread)
    top = []
    for name in said[:MOST]:
        texts = _texts(data, name, rows)
        top.append(Line(name, texts, _same(texts), 0.0))
    lines = [Line(name, _numbers(numbers[name]), _words(differs[name]), differs[name]) for name in ranked]
    room = max(MOST - len(said), 5)
    return [*top, *lines[:room]], lines[room:]


def as_item(data: Data, row: int, columns: Sequence[str]) -> dict[str, str]:
    """Some columns of a row as texts, for somebody who sees nothing else; empty cells are left out."""
    cells = {name: data.table.columns[name][row] for name in columns}
    short = {
        name: float(f"{cell:.{DIGITS}g}") if isinstance(cell, np.floating) else cell for name, cell in cells.items()
    }
    texts = {name: text(cell) for name, cell in short.items()}
    return {name: cell for name, cell in texts.items() if cell != NOTHING}


def class_of(name: str, clues: Clues) -> Any:
    """The class of a name; where classes are whole numbers so far, a whole number is one as well."""
    known = {str(value): value for value in clues.classes_.tolist()}
    if name in known:
        return known[name]
    whole = known and all(isinstance(value, int) for value in known.values())
    return int(name) if whole and name.isdecimal() else name


def sentence(question: Question, data: Data) -> str:
    """A question with the names of its rows."""
    names = [data.name(row) for row in question.rows]
    if question.kind == "pair":
        return f"Do {names[0]} and {names[1]} belong together?"
    if question.kind == "label":
        return f"Which class is {names[0]} of?"
    if question.kind == "group":
        return f"Which of {', '.join(names[:-1])} and {names[-1]} belong together?"
    return f"Where does {names[0]} belong?"


def words(said: Answer | Act, data: Data) -> str:
    """A question and its answer, or the sentence of an act."""
    from cluewise.active import Act

    return said.shown if isinstance(said, Act) else f"{sentence(said.question, data)} {_value(said, data)}"


def _value(answer: Answer, data: Data) -> str:
    question, value = answer.question, answer.value
    if value is None:
        return "don't know"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if question.kind == "group":
        return " / ".join(", ".join(map(data.name, pile)) for pile in value)
    return data.name(value) if question.kind == "which" else str(value)


def _differs(values: Any, spread: float) -> float:
    """Range of some values in standard deviations of the column."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return 0.0
    width = float(values.max() - values.min())
    return width / spread if spread > 0 else 0.0


def _words(deviations: float) -> str:
    if deviations == 0:
        return "="
    if deviations < 0.1:
        return "< 0.1 sd"
    return f"{deviations:.1f} sd" + (" !" if deviations >= 2 else "")


def _numbers(values: Any) -> list[str]:
    """Short texts of some numbers; those that differ are never shown alike."""
    if not np.isfinite(values).all():
        return [text(value) for value in values.tolist()]
    different = len(set(values.tolist()))
    for digits in range(DIGITS, 17):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) >= different:
            return texts
    return [repr(value) for value in values.tolist()]


def _texts(data: Data, name: str, rows: Sequence[int]) -> list[str]:
    return [text(data.table.columns[name][row]) for row in rows]


def text(value: Any) -> str:
    """A cell as a person would write it: a whole number without decimal point, nothing as a dash."""
    if value is None or value != value:  # only nan is not itself
        return NOTHING
    if isinstance(value, (float, np.floating)):
        number = float(value)
        value = int(number) if number.is_integer() and abs(number) < 1e15 else value
    return " ".join(str(value).split()) or NOTHING


def _same(texts: Sequence[str]) -> str:
    if NOTHING in texts:
        return NOTHING
    return "=" if len(set(texts)) == 1 else "differs"
