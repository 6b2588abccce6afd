"""Numbers, points in time and vectors that are written as text."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.rows._cells import stack_vectors

__all__ = ["Style", "guess_day_first", "guess_style", "is_code", "parse_moments", "parse_numbers", "parse_vectors"]

Style = str
"""How numbers are written: the decimal mark, then the unit that follows them."""

_NUMBER = re.compile(
    r"^[€$£¥]?\s*(?P<body>[+-]?\s?(?:\d[\d.,'\s\u00a0\u202f]*|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\d\s.,][^\d\s]{0,9})?$"
)
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_BODY = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?")  # thousands in groups of three
_SWAP = str.maketrans(".,", ",.")
_CODE = re.compile(r"0\d{2,}")
_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[T ,]+(\d.*))?")
_NAMED = re.compile(
    r"(?:(\d{1,2})\.?[ -]+)?([A-Za-z]{3,9})\.?(?:[ -]+(\d{1,2})(?:st|nd|rd|th)?)?,?[ -]+(\d{4})(?:[T ,]+(\d.*))?"
)
_CLOCK = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?\s*([AaPp][Mm])?(?:\s*(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
)
_MONTHS = {"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * i : 3 * i + 3].lower(): i + 1 for i in range(12)}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")
_MOST = 1000  # values that are looked at to guess


def is_code(levels: Sequence[str]) -> bool:
    """Whether digits stand for codes, such as postal codes: some begin with a zero and all have three or more."""
    return any(map(_CODE.fullmatch, levels)) and all(level.isdigit() and len(level) > 2 for level in levels)


def guess_style(levels: Sequence[str]) -> Style:
    """Decimal mark and unit of most of the values."""
    found = [match for match in map(_NUMBER.match, levels[:_MOST]) if match]
    bodies = [match["body"] for match in found]
    commas = [body for body in bodies if "," in body]
    both = [body for body in commas if "." in body]
    if both:
        comma = sum(body.rindex(",") > body.rindex(".") for body in both) * 2 > len(both)
    else:  # 1,234 is a thousand unless another number shows that the comma is a decimal mark
        dots = any(body.count(".") == 1 for body in bodies)
        comma = bool(commas) and not dots and not all(map(_GROUPS.fullmatch, commas))
        comma = comma or any(body.count(".") > 1 for body in bodies)
    unit, _ = Counter(match["unit"] or "" for match in found).most_common(1)[0] if found else ("", 0)
    return ("," if comma else ".") + unit


def parse_numbers(levels: Sequence[str], style: Style) -> Floats:
    """The number that each text holds, nan where there is none."""
    values = np.full(len(levels), np.nan)
    for i, level in enumerate(levels):
        if "_" in level:
            continue
        try:
            if style == ".":
                values[i] = float(level)
                continue
        except ValueError:
            pass
        match = _NUMBER.match(level)
        if match is None or (match["unit"] or "") not in ("", style[1:]):
            continue
        body = re.sub(r"['\s\u00a0\u202f]", "", match["body"])
        if style[0] == ",":
            body = body.translate(_SWAP)
        with suppress(ValueError):
            if _BODY.fullmatch(body):
                values[i] = float(body.replace(",", ""))
    return values


def guess_day_first(levels: Sequence[str]) -> bool:
    """Whether 3/4 is the third of April: yes, unless a value shows that months come first."""
    parts = [(int(m[1]), int(m[3])) for m in map(_DATE.fullmatch, levels[:_MOST]) if m and len(m[1]) < 3]
    first, second = sum(a > 12 for a, _ in parts), sum(b > 12 for _, b in parts)
    return second <= first


def parse_moments(levels: Sequence[str], day_first: bool) -> tuple[Array, Array]:
    """The point in time in each text (NaT: none), and whether it looks like one, even if there is no such day."""
    if all(map(_ISO.fullmatch, levels)):
        with suppress(ValueError):
            return np.array(levels, dtype="datetime64[us]"), np.ones(len(levels), dtype=bool)
    moments = np.full(len(levels), np.datetime64("NaT"), dtype="datetime64[us]")
    looks = np.zeros(len(levels), dtype=bool)
    for i, level in enumerate(levels):
        parts = _split_date(level, day_first)
        if parts is None:
            continue
        looks[i] = True
        with suppress(ValueError, OverflowError):
            moments[i] = np.datetime64(datetime.datetime(*parts))
    return moments, looks


def _split_date(text: str, day_first: bool) -> tuple[int, int, int, int, int, int, int] | None:
    """Year, month, day and time of day of a text that looks like a date or a time."""
    if match := _DATE.fullmatch(text):
        first, middle, last, clock = match[1], int(match[3]), match[4], match[5]
        if len(first) == 4:
            date = (int(first), middle, int(last))
        elif len(first) > 2 or len(last) not in (2, 4):
            return None
        else:
            year = int(last) if len(last) == 4 else int(last) + (2000 if int(last) < 70 else 1900)
            date = (year, middle, int(first)) if day_first else (year, int(first), middle)
    elif match := _NAMED.fullmatch(text):
        month = _MONTHS.get(match[2][:3].lower())
        if month is None:
            return None
        date, clock = (int(match[4]), month, int(match[1] or match[3] or 1)), match[5]
    elif _CLOCK.fullmatch(text):
        date, clock = (1970, 1, 1), text
    else:
        return None
    time = _split_clock(clock)
    return None if time is None else (*date, *time)


def _split_clock(text: str | None) -> tuple[int, int, int, int] | None:
    if text is None:
        return 0, 0, 0, 0
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour = int(match[1])
    if match[5]:
        hour = hour % 12 + (12 if match[5].lower() == "pm" else 0)
    return hour, int(match[2]), int(match[3] or 0), int((match[4] or "").ljust(6, "0"))


def parse_vectors(levels: Sequence[str]) -> Floats | None:
    """The vectors in texts such as ``[0.5, 2]``; None when fewer than nine in ten hold one."""
    cells = []
    for level in levels:
        found = None
        if level[:1] in "[(" and level[-1:] in "])":
            body = re.sub(r"[\s,;]+", ",", level[1:-1].strip())
            with suppress(ValueError, RecursionError):
                found = json.loads(f"[{body}]")
        cells.append(found)
    if sum(cell is not None for cell in cells) < 0.9 * len(cells):
        return None
    return stack_vectors(cells)
