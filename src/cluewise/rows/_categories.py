"""Columns of a few levels: one column per level, or one column for levels that are ordered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats, Ints
from cluewise.rows._cells import Cells
from cluewise.rows._encoder import Encoded, Encoder, Piece, as_words

__all__ = ["Categories", "Ordered", "find_order"]

_SCALES = (
    "none very_low low rather_low medium_low medium moderate medium_high rather_high high very_high extreme",
    "none very_low low mid high very_high",
    "low normal high",
    "bad average good",
    "tiny small medium large huge",
    "xxs xs s m l xl xxl xxxl",
    "never rarely seldom sometimes often usually always",
    "very_poor poor fair good very_good excellent",
    "very_bad bad ok good very_good",
    "strongly_disagree disagree neutral agree strongly_agree",
    "very_dissatisfied dissatisfied neutral satisfied very_satisfied",
    "minor major critical",
    "mild moderate severe",
    "bronze silver gold platinum diamond",
    "junior senior lead",
    "primary secondary tertiary",
    "first second third fourth fifth",
    "beginner intermediate advanced expert",
    "cold cool mild warm hot",
    "daily weekly monthly yearly",
)
_RANGE = re.compile(
    r"(?:[<≤>≥]=?\s*)?\D{0,3}?(\d+(?:\.\d+)?)\s*(?:(?:-|–|to|\.\.)\s*\D{0,3}?\d+(?:\.\d+)?|\+)?\s*\D{0,8}"
)
_BOUND = re.compile(r"[<≤>≥+–]|\d\s*(?:-|to|\.\.)\s*\D{0,3}\d")
_TRUTH = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"})


def find_order(levels: Sequence[str]) -> list[str] | None:
    """The order of three or more levels that are words of a known scale, or ranges of numbers."""
    plain = {re.sub(r"[\s_-]+", "_", level.lower()): level for level in levels}
    if len(plain) < 3 or len(plain) != len(levels):
        return None
    for scale in _SCALES:
        words = scale.split()
        if plain.keys() <= set(words):
            return [plain[word] for word in words if word in plain]
    matches = [_RANGE.fullmatch(level) for level in levels]
    if sum(_BOUND.search(level) is not None for level in levels) * 2 <= len(levels):
        return None
    found = [(float(match[1]), level) for match, level in zip(matches, levels) if match]
    if len(found) < len(levels):
        return None
    # "<18" is below "18-25", and "65+" or ">65" above "60-65".
    side = {"<": -1, "≤": -1, ">": 1, "≥": 1}
    return [level for _, _, level in sorted((low, side.get(level[0], 0), level) for low, level in found)]


@dataclass(frozen=True, eq=False)
class Categories(Encoder):
    """One column per level (one for two levels); a missing value is as far from all as it is frequent."""

    kind: ClassVar[str] = "category"
    trouble: ClassVar[str] = "levels that were not there in fit"

    levels: list[str]
    shares: Array

    @classmethod
    def fit(cls, cells: Cells) -> Categories:
        words = as_words(cells)
        counts = words.counts
        return cls(list(words.levels), counts / max(counts.sum(), 1))

    def encode(self, cells: Cells) -> Encoded:
        codes, missing, bad = _find_codes(cells, self.levels)
        if len(self.levels) == 1:  # a mark, or none: that it is missing is what the column says
            return Encoded([Piece(np.array([[1.0], [0.0]]), codes)], bad, bad)
        table = np.vstack([np.eye(len(self.levels)), self.shares])  # the last row is for missing values
        if len(self.levels) == 2:
            table = table[:, 1:]
        return Encoded([Piece(table, codes)], missing, bad)

    def names(self, name: str) -> list[str]:
        return [f"{name}={level}" for level in (self.levels[1:] if len(self.levels) == 2 else self.levels)]

    def describe(self) -> str:
        if {level.lower() for level in self.levels} in _TRUTH:
            return "yes or no"
        if len(self.levels) == 1:
            return f"'{self.levels[0]}' or nothing"
        return f"category of {len(self.levels)} levels, a column each"

    def inverse(self, block: Floats) -> list[Any]:
        if len(self.levels) <= 2:
            return [("", *self.levels)[-2:][int(value >= 0.5)] for value in block[:, 0]]
        return [self.levels[best] for best in block.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class Ordered(Encoder):
    """One column: the place of the level in the order."""

    kind: ClassVar[str] = "ordered"
    trouble: ClassVar[str] = "levels that were not there in fit"

    levels: list[str]
    fill: float

    @classmethod
    def fit(cls, cells: Cells, order: Sequence[str]) -> Ordered:
        places = _find_codes(cells, order)[0]
        places = places[places < len(order)]
        return cls(list(order), float(places.mean()) if len(places) else 0.0)

    def encode(self, cells: Cells) -> Encoded:
        codes, missing, bad = _find_codes(cells, self.levels)
        return Encoded([Piece(np.append(np.arange(len(self.levels)), self.fill)[:, None], codes)], missing, bad)

    def names(self, name: str) -> list[str]:
        return [name]

    def describe(self) -> str:
        shown = self.levels if len(self.levels) <= 5 else [*self.levels[:2], "…", *self.levels[-2:]]
        return f"ordered category ({' < '.join(shown)})"

    def inverse(self, block: Floats) -> list[Any]:
        places = np.clip(np.rint(block[:, 0]), 0, len(self.levels) - 1)
        return [self.levels[int(place)] for place in places]


def _find_codes(cells: Cells, levels: Sequence[str]) -> tuple[Ints, Bools, Bools]:
    """The place of each cell among known levels, behind the last for missing and unknown ones."""
    words, none = as_words(cells), len(levels)
    index = {level: code for code, level in enumerate(levels)}
    places = np.array([*(index.get(level, none) for level in words.levels), none], dtype=np.int32)
    codes = places[words.codes]
    missing = codes == none
    return codes, missing, missing & (words.codes >= 0)
