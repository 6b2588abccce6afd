"""What kind of column it is, by the look of its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cluewise._typing import Array
from cluewise.rows._categories import Categories, Ordered, find_order
from cluewise.rows._cells import Cells, Words
from cluewise.rows._dates import Dates
from cluewise.rows._encoder import Encoded, Encoder, as_words
from cluewise.rows._numbers import Numbers
from cluewise.rows._text import Spelling, Text
from cluewise.rows._vectors import IMAGES, Images, Vectors
from cluewise.rows.parse import guess_day_first, guess_style, is_code, parse_moments, parse_numbers, parse_vectors

__all__ = ["ENCODERS", "KINDS", "LEFT_OUT", "LIKE_AN_ID", "Settings", "fit_encoder", "recognize"]

ENCODERS: dict[str, type[Encoder]] = {
    cls.__name__: cls for cls in (Numbers, Categories, Ordered, Dates, Text, Spelling, Vectors, Images)
}
KINDS = ("number", "category", "ordered", "date", "text", "vector", "image")
"""Kinds of columns that a user can ask for."""

_MOST = 1000  # values that are looked at
_MOSTLY = 0.9  # of the values are of a kind, or the column is not
_UNIQUE = 0.95  # of the rows have a value of their own: names, not levels
_FEWEST_IDS = 20
_WHOLE = 2.0**53  # up to here a float64 holds every whole number
_ID_NAME = re.compile(r"(?:^|[_\s-])(?:id|uuid|guid|key|nr|no)$|[a-z]Id$|ID$", re.IGNORECASE)
_UNSPACED = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"  # scripts in which a character is about a word
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Settings(NamedTuple):
    """What `fit_encoder` has to know."""

    max_levels: int
    n_components: int
    random_state: int
    folder: str
    plain: bool  # numbers stay as they are


class Guess(NamedTuple):
    """The kind of a column, or why it is left out."""

    kind: str
    why: str = ""
    order: Sequence[str] | None = None


LEFT_OUT = "left out"
LIKE_AN_ID = "it looks like an id: every value occurs once"


def recognize(name: str, cells: Cells, *, max_levels: int, order: Sequence[str] | None, ids: bool) -> Guess:
    """The kind of a column; ``order`` is what the frame declares, ``ids`` whether ids are left out."""
    if isinstance(cells, Words):
        return _recognize_words(name, cells, max_levels, order, ids)
    if cells.dtype.kind == "M":
        seen = cells[~np.isnat(cells)]
        return _if_varied(seen, len(seen) < len(cells), "date")
    if cells.ndim == 2:
        return Guess("vector") if np.isfinite(cells).any() else Guess(LEFT_OUT, "it is empty")
    seen = cells[np.isfinite(cells)]
    if ids and len(seen) == len(cells) >= _FEWEST_IDS and _counts_rows(name, seen):
        return Guess(LEFT_OUT, LIKE_AN_ID)
    return _if_varied(seen, len(seen) < len(cells), "number")


def _if_varied(seen: Array, gaps: bool, kind: str) -> Guess:
    if not len(seen):
        return Guess(LEFT_OUT, "it is empty")
    if not gaps and (seen == seen[0]).all():
        return Guess(LEFT_OUT, "it is constant")
    return Guess(kind)


def _counts_rows(name: str, values: Array) -> bool:
    """Whether the values number the rows, in any order."""
    low, high = float(values.min()), float(values.max())
    if not -_WHOLE < low <= high < _WHOLE or (values != np.rint(values)).any():
        return False
    if high - low != len(values) - 1 and not _ID_NAME.search(name):
        return False
    return len(np.unique(values)) == len(values)


def _recognize_words(name: str, words: Words, max_levels: int, order: Sequence[str] | None, ids: bool) -> Guess:
    levels, rows = words.levels, int((words.codes >= 0).sum())
    if not levels:
        return Guess(LEFT_OUT, "it is empty")
    if len(levels) == 1 and rows == len(words):
        return Guess(LEFT_OUT, "it is constant")
    if order is not None:
        return Guess("ordered", order=order)
    sample = levels[:: -(-len(levels) // _MOST)]
    if _mostly([level.lower().endswith(IMAGES) for level in sample]):
        return Guess("image")
    if _mostly(parse_moments(sample, guess_day_first(sample))[1]):
        return Guess("date")
    if not is_code(sample) and _mostly(~np.isnan(parse_numbers(sample, guess_style(sample)))):
        whole = ids and len(levels) == len(words) >= _FEWEST_IDS
        counted = whole and _counts_rows(name, parse_numbers(levels, "."))
        return Guess(LEFT_OUT, LIKE_AN_ID) if counted else Guess("number")
    if sample[0][:1] in "[(" and parse_vectors(sample) is not None:
        return Guess("vector")
    tokens = [_TOKEN.findall(level.lower()) for level in sample]
    length = float(np.mean(list(map(len, tokens))))
    if len(levels) >= _UNIQUE * rows and len(levels) > 1:
        if length >= 3 and _recurrence(tokens) >= 0.3:
            return Guess("text")
        if ids:
            return Guess(LEFT_OUT, LIKE_AN_ID)
    if len(levels) <= max_levels:
        found = find_order(levels)
        return Guess("category") if found is None else Guess("ordered", order=found)
    return Guess("text" if length >= 4 else "category")


def _mostly(found: Any) -> bool:
    return bool(np.mean(found) >= _MOSTLY)


def _recurrence(texts: Sequence[Sequence[str]]) -> float:
    """Share of the words that other texts have, too."""
    counts = Counter(word for text in texts for word in set(text))
    total = sum(counts.values())
    return sum(count for count in counts.values() if count > 1) / max(total, 1)


Fitted: TypeAlias = tuple[Encoder, Encoded]


def fit_encoder(cells: Cells, guess: Guess, settings: Settings) -> Fitted | str:
    """The encoder of a column and the encoded column, or why there is none."""
    found = _FITTERS[guess.kind](cells, guess, settings)
    if isinstance(found, Encoder):
        found = found, found.encode(cells)
    if not isinstance(found, str) and found[1].missing.all():
        return f"it holds no {guess.kind}"
    return found


def _fit_category(cells: Cells, guess: Guess, settings: Settings) -> Encoder | Fitted | str:
    words = as_words(cells)
    if len(words.levels) > settings.max_levels:
        return _fit_terms(words, "levels", settings)
    return Categories.fit(words) if words.levels else "it is empty"


def _fit_ordered(cells: Cells, guess: Guess, settings: Settings) -> Encoder:
    words = as_words(cells)
    return Ordered.fit(words, guess.order or find_order(words.levels) or sorted(words.levels, key=_natural))


def _natural(level: str) -> list[Any]:
    """A key that puts "grade 9" before "grade 10"."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d{1,18})", level.lower())]


def _fit_text(cells: Cells, guess: Guess, settings: Settings) -> Fitted | str:
    words = as_words(cells)
    if not words.levels:
        return "it is empty"
    sample = words.levels[:: -(-len(words.levels) // _MOST)]
    length = float(np.mean([len(_TOKEN.findall(level)) for level in sample]))
    return _fit_terms(words, "long" if length > 50 else "short", settings)


def _fit_terms(words: Words, form: str, settings: Settings) -> Fitted | str:
    encoder = Spelling if form == "levels" else Text
    return encoder.fit(words, form=form, n_components=settings.n_components, random_state=settings.random_state)


def _fit_images(cells: Cells, guess: Guess, settings: Settings) -> Encoder | str:
    found = Images.fit(as_words(cells), folder=settings.folder, n_components=settings.n_components)
    return found or f"none of its pictures can be read in the folder '{settings.folder}'"


_FITTERS: dict[str, Callable[[Cells, Guess, Settings], Encoder | Fitted | str]] = {
    "number": lambda cells, guess, settings: Numbers.fit(cells, plain=settings.plain),
    "category": _fit_category,
    "ordered": _fit_ordered,
    "date": lambda cells, guess, settings: Dates.fit(cells),
    "text": _fit_text,
    "vector": lambda cells, guess, settings: Vectors.fit(cells) or "it holds no vector",
    "image": _fit_images,
}
