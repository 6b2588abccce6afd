"""Columns of dates and times: a trend, and cycles of the day, the week and the year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoded, Encoder, Piece
from cluewise.rows.parse import guess_day_first, parse_moments

__all__ = ["Dates"]

_DAY = 86_400_000_000  # microseconds
_HOUR = _DAY // 24
_WEEKDAY_OF_EPOCH = 3  # the first of January 1970 was a Thursday
_TREND = 0.5  # of the variance; cycles share the rest
_CYCLES = {"hour": 24, "weekday": 7, "season": 366}


@dataclass(frozen=True, eq=False)
class Dates(Encoder):
    """Days since 1970, and a sine and a cosine for each cycle that the values can show."""

    kind: ClassVar[str] = "date"
    trouble: ClassVar[str] = "not dates that exist"

    day_first: bool
    cycles: list[str]
    trend: bool
    fill: float  # the median, in days

    @classmethod
    def fit(cls, cells: Cells) -> Dates:
        day_first = guess_day_first(cells.levels) if isinstance(cells, Words) else True
        moments, missing, _ = _read(cells, day_first)
        stamps = moments[~missing].astype(np.int64) if missing.any() else moments.astype(np.int64)
        if not len(stamps):
            return cls(day_first, [], True, 0.0)
        span = int(stamps.max() // _DAY - stamps.min() // _DAY)
        seen = {"hour": bool((stamps % _DAY).any()), "weekday": span >= 14, "season": span >= 300}
        cycles = [name for name, there in seen.items() if there]
        return cls(day_first, cycles, span > 0 or not cycles, float(np.median(stamps)) / _DAY)

    def encode(self, cells: Cells) -> Encoded:
        moments, missing, bad = _read(cells, self.day_first)
        stamps = moments.astype(np.int64)
        if missing.any():
            stamps[missing] = int(self.fill * _DAY)
        days = stamps // _DAY
        first = int(days.min())
        # Cycles are computed once per day of the calendar, not once per row.
        calendar, places = np.arange(first, int(days.max()) + 1), (days - first).astype(np.int32)
        pieces = [Piece((stamps / _DAY)[:, None], None, _TREND)] if self.trend else []
        for cycle in self.cycles:
            if cycle == "hour":
                phase, codes = np.arange(24), (stamps // _HOUR % 24).astype(np.int32)
            else:
                phase, codes = _phase(cycle, calendar), places
            angle = 2 * np.pi * phase / _CYCLES[cycle]
            pieces.append(
                Piece(np.column_stack([np.sin(angle), np.cos(angle)]), codes, (1 - _TREND) / len(self.cycles))
            )
        return Encoded(pieces, missing, bad)

    def names(self, name: str) -> list[str]:
        trend = [name] if self.trend else []
        return trend + [f"{name} {cycle} {wave}" for cycle in self.cycles for wave in ("sin", "cos")]

    def describe(self) -> str:
        return f"date: {', '.join([*(['trend'] if self.trend else []), *self.cycles])}"

    def inverse(self, block: Floats) -> list[Any]:
        if not self.trend:  # times of a day
            hour = np.arctan2(block[:, 0], block[:, 1]) / (2 * np.pi) * 24 % 24
            return [f"{int(h):02d}:{int(h % 1 * 60):02d}" for h in hour]
        days = np.clip(block[:, 0], -719_162, 2_932_896)  # years 1 to 9999
        return np.datetime_as_string((days * _DAY).astype("datetime64[us]"), unit="D").tolist()


def _read(cells: Cells, day_first: bool) -> tuple[Array, Bools, Bools]:
    """The points in time (NaT: none), which cells are missing, and which of them hold something else."""
    if isinstance(cells, Words):
        moments = np.append(parse_moments(cells.levels, day_first)[0], np.datetime64("NaT"))[cells.codes]
        empty = cells.codes < 0
    elif cells.dtype.kind == "M":
        moments, empty = cells, np.isnat(cells)
    else:
        moments, empty = _from_numbers(cells)
    missing = np.isnat(moments)
    return moments, missing, missing & ~empty


def _phase(cycle: str, days: Array) -> Array:
    """Where in the week or in the year some days are."""
    if cycle == "weekday":
        return (days + _WEEKDAY_OF_EPOCH) % 7
    dates = days.astype("datetime64[D]")
    return (dates - dates.astype("datetime64[Y]")).astype(np.int64)


def _from_numbers(values: Array) -> tuple[Array, Bools]:
    """Years, dates like 20240131, or seconds since 1970."""
    if values.ndim == 2:
        return np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]"), np.zeros(len(values), dtype=bool)
    empty = np.isnan(values)
    moments = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
    inside = np.abs(values) < 1e13
    whole = np.where(inside, values, 0).astype(np.int64)
    if (empty | ((whole > 1000) & (whole < 3000))).all():
        moments[inside] = (whole[inside] - 1970).astype("datetime64[Y]")
    elif (empty | ((whole > 10_000_000) & (whole < 30_000_000))).all():
        moments[inside] = parse_moments(
            [f"{v // 10_000}-{v // 100 % 100:02d}-{v % 100:02d}" for v in whole[inside]], True
        )[0]
    else:
        unit = 1 if np.nanmax(np.where(inside, values, np.nan), initial=0) > 1e11 else 1000  # of milliseconds
        moments[inside] = (values[inside] * unit).astype("datetime64[ms]")
    return moments, empty
