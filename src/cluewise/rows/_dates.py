"""Columns of dates and times: a trend, and cycles of the day, the week and the year."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoder
from cluewise.rows._parse import guess_day_first, parse_moments

__all__ = ["Dates"]

_DAY = 86_400_000_000  # microseconds
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
    fills: Array  # what stands in for a missing date

    @classmethod
    def fit(cls, cells: Cells) -> Dates:
        day_first = guess_day_first(cells.levels) if isinstance(cells, Words) else True
        moments, missing, _ = cls(day_first, [], True, np.zeros(1)).prepare(cells)
        stamps = moments[~missing].astype(np.int64)
        if not len(stamps):
            return cls(day_first, [], True, np.zeros(1))
        days = stamps // _DAY
        span = int(days.max() - days.min())
        seen = {"hour": bool((stamps % _DAY).any()), "weekday": span >= 14, "season": span >= 300}
        cycles = [name for name, there in seen.items() if there]
        found = cls(day_first, cycles, span > 0 or not cycles, np.empty(0))
        fills = found.transform(moments[~missing]).mean(axis=0)
        if found.trend:
            fills[0] = np.median(stamps) / _DAY
        return cls(day_first, cycles, found.trend, fills)

    def prepare(self, cells: Cells) -> tuple[Array, Bools, Bools]:
        if isinstance(cells, Words):
            moments = np.append(parse_moments(cells.levels, self.day_first)[0], np.datetime64("NaT"))[cells.codes]
            empty = cells.codes < 0
        elif cells.dtype.kind == "M":
            moments, empty = cells, np.isnat(cells)
        else:
            moments, empty = _from_numbers(cells)
        missing = np.isnat(moments)
        return moments, missing, missing & ~empty

    def transform(self, prepared: Array) -> Floats:
        missing = np.isnat(prepared)
        stamps = np.where(missing, 0, prepared.astype(np.int64))
        block = np.empty((len(prepared), len(self.names(""))))
        if self.trend:
            block[:, 0] = stamps / _DAY
        for j, cycle in enumerate(self.cycles):
            first = self.trend + 2 * j
            # A table of the cycle is cheaper than a sine per row.
            angles = 2 * np.pi * np.arange(_CYCLES[cycle]) / _CYCLES[cycle]
            phase = _phase(cycle, stamps)
            block[:, first], block[:, first + 1] = np.sin(angles)[phase], np.cos(angles)[phase]
        if missing.any():
            block[missing] = self.fills
        return block

    def names(self, name: str) -> list[str]:
        trend = [name] if self.trend else []
        return trend + [f"{name} {cycle} {wave}" for cycle in self.cycles for wave in ("sin", "cos")]

    def parts(self) -> list[tuple[int, float]]:
        trend = [(1, _TREND)] if self.trend else []
        return trend + [(2, (1 - _TREND) / len(self.cycles)) for _ in self.cycles]

    def describe(self) -> str:
        return f"date: {', '.join([*(['trend'] if self.trend else []), *self.cycles])}"

    def inverse(self, block: Floats) -> list[Any]:
        if not self.trend:  # times of a day
            hour = np.arctan2(block[:, 0], block[:, 1]) / (2 * np.pi) * 24 % 24
            return [f"{int(h):02d}:{int(h % 1 * 60):02d}" for h in hour]
        days = np.clip(block[:, 0], -719_162, 2_932_896)  # years 1 to 9999
        return np.datetime_as_string((days * _DAY).astype("datetime64[us]"), unit="D").tolist()


def _phase(cycle: str, stamps: Array) -> Array:
    if cycle == "hour":
        return stamps // (_DAY // 24) % 24
    days = stamps // _DAY
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
