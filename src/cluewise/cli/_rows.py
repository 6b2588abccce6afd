"""Rows of the data side by side, for people who have to tell whether they belong together."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise.cli import _show
from cluewise.cli._files import Data

if TYPE_CHECKING:
    from cluewise.active import Answer, Question

__all__ = ["sentence", "show_rows", "spreads", "words"]

MOST = 15
"""Columns that are shown; of more, those in which the rows differ most."""

WIDEST = 60
"""Letters of a cell that are shown."""


DIGITS = 6
"""Digits of a number that are shown, unless two numbers that differ need more."""

NOTHING = "–"
"""An empty cell, and how far it is from another."""

GAP = 3
"""Letters between two columns of a table."""

NARROW = 16
"""Letters that a column may always have, and at which names and texts are folded where space runs out."""


def spreads(data: Data) -> dict[str, float]:
    """Standard deviation of each column of numbers that is clustered by; of all rows, so once is enough."""
    finite = {name: values[np.isfinite(values)] for name, values in data.numbers().items()}
    return {name: float(np.std(values)) if len(values) else 0.0 for name, values in finite.items()}


def show_rows(data: Data, rows: Sequence[int], titles: Sequence[str], spread: Mapping[str, float]) -> None:
    """A table with a line for each column of the data and a column for each row; what differs most comes first.

    Columns that hold no numbers, or that are not clustered by, stand at the top: a person may know more than the
    method. Where many rows do not fit side by side, several tables come, each with the first row again. ``spread`` is
    from `spreads`.
    """
    names = [data.name(row) for row in rows]  # stand above the table already
    said = [name for name in data.table.columns if name not in spread and _texts(data, name, rows) != names]
    numbers = {name: data.table.columns[name][list(rows)].astype(float) for name in spread}
    differs = {name: _differs(values, spread[name]) for name, values in numbers.items()}
    ranked = sorted(spread, key=lambda name: -differs[name]) if len(rows) > 1 else list(spread)
    shown = ranked[: max(MOST - len(said), 5)]
    lines = []
    for name in said[:MOST]:
        texts = _texts(data, name, rows)
        lines.append([name, *map(_short, texts), _same(texts)])
    widest = NARROW
    for name in shown:
        cells = _numbers(numbers[name])
        widest = max(widest, *map(len, cells))
        lines.append([name, *cells, _words(differs[name])])
    header = ["", *titles, "apart by"]
    if len(rows) == 1:
        header, lines = header[:-1], [line[:-1] for line in lines]
    for block in _blocks(header, lines, len(rows), widest):
        _show.table([header[j] for j in block], [[line[j] for j in block] for line in lines])
    if len(shown) < len(ranked):
        rest = sum(differs[name] > 0 for name in ranked[len(shown) :])
        less = f", of which {rest} differ less" if len(rows) > 1 else ""
        _show.say(f"({len(ranked) - len(shown)} more columns{less}.)")


def sentence(question: Question, data: Data) -> str:
    """A question with the names of its rows."""
    names = [data.name(row) for row in question.rows]
    if question.kind == "pair":
        return f"Do {names[0]} and {names[1]} belong together?"
    if question.kind == "label":
        return f"Which class is {names[0]} of?"
    return f"Where does {names[0]} belong?"


def words(answer: Answer, data: Data) -> str:
    """A question and its answer."""
    question, value = answer.question, answer.value
    if value is None:
        said = "don't know"
    elif isinstance(value, bool):
        said = "yes" if value else "no"
    else:
        said = data.name(value) if question.kind == "which" else str(value)
    return f"{sentence(question, data)} {said}"


def _blocks(header: Sequence[str], lines: Sequence[Sequence[str]], count: int, widest: int) -> list[list[int]]:
    """Which columns stand in one table, such that none gets narrower than its numbers.

    A table that is too wide takes letters from its widest columns first, so none falls below ``widest`` as long as all
    columns fit when each has at most that.
    """
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
    need = [GAP + min(max(map(len, column)), widest) for column in zip(header, *lines, strict=True)]
    ends = [0, 1, *range(count + 1, len(header))]  # names, the first row, how far apart
    left = room - GAP - sum(need[j] for j in ends)
    blocks: list[list[int]] = [[]]
    used = 0
    for j in range(2, count + 1):
        if blocks[-1] and used + need[j] > left:
            blocks.append([])
            used = 0
        blocks[-1].append(j)
        used += need[j]
    return [[0, 1, *block, *ends[2:]] for block in blocks]


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
        return [_text(value) for value in values.tolist()]
    different = len(set(values.tolist()))
    for digits in range(DIGITS, 17):
        texts = [f"{value:.{digits}g}" for value in values]
        if len(set(texts)) >= different:
            return texts
    return [repr(value) for value in values.tolist()]


def _texts(data: Data, name: str, rows: Sequence[int]) -> list[str]:
    return [_text(data.table.columns[name][row]) for row in rows]


def _text(value: Any) -> str:
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


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
