"""Columns of numbers: heavy tails are recognized, missing values are filled with the median."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoded, Encoder, Piece
from cluewise.rows._parse import guess_style, parse_numbers

__all__ = ["Numbers"]

_HUGE = 1e100  # squares of larger numbers overflow in sums
_FEWEST = 50  # rows from which on a tail can be told from a few rows
_HEAVY = 0.5
_GRID = 256


@dataclass(frozen=True, eq=False)
class Numbers(Encoder):
    """One column: the number, its logarithm or its normal score."""

    kind: ClassVar[str] = "number"
    trouble: ClassVar[str] = "not numbers"

    style: str
    fill: float
    unit: float  # numbers are divided by it first, so that 1e308 can be squared
    scaling: str  # "", "log" or "quantile"
    origin: float
    width: float
    grid: Array  # quantiles, for "quantile"

    @classmethod
    def fit(cls, cells: Cells, *, plain: bool) -> Numbers:
        """Look at the numbers; ``plain``: only to fill in missing ones."""
        style = guess_style(cells.levels) if isinstance(cells, Words) else "."
        none = np.empty(0)
        values = _read(cells, style)[0]
        values = values[~np.isnan(values)]
        if not len(values):
            return cls(style, 0.0, 1.0, "", 0.0, 1.0, none)
        largest = float(np.abs(values).max())
        unit = largest if largest > _HUGE and not plain else 1.0
        values = values / unit if unit != 1 else values
        fill = float(np.median(values))
        if plain or _tail(values) < _HEAVY or len(values) < _FEWEST or len(np.unique(values[:10_000])) < 10:
            return cls(style, fill, unit, "", 0.0, 1.0, none)
        away = np.abs(values - fill)
        origin = 0.0 if values.min() >= 0 else fill
        width = float(np.median(away[away > 0]))
        log = cls(style, fill, unit, "log", origin, width, none)
        before = _tail(values)
        if _tail(log._scale(values)) <= before / 2:
            return log
        grid = np.quantile(values, np.linspace(0, 1, _GRID))
        quantile = cls(style, fill, unit, "quantile", 0.0, 1.0, grid)
        return quantile if _tail(quantile._scale(values)) <= before / 2 else cls(style, fill, unit, "", 0.0, 1.0, none)

    def encode(self, cells: Cells) -> Encoded:
        values, missing, bad = _read(cells, self.style)
        if self.unit != 1:
            values = values / self.unit
        if missing.any():
            values = np.where(missing, self.fill, values)
        return Encoded([Piece(self._scale(values)[:, None])], missing, bad)

    def _scale(self, values: Floats) -> Floats:
        if self.scaling == "log":
            away = (values - self.origin) / self.width
            return np.copysign(np.log1p(np.abs(away)), away)
        if self.scaling == "quantile":
            from scipy.special import ndtri

            levels = np.linspace(0, 1, len(self.grid))
            # Equal values fill a stretch of the grid, of which they get the middle.
            share = (np.interp(values, self.grid, levels) - np.interp(-values, -self.grid[::-1], levels) + 1) / 2
            return np.asarray(ndtri(np.clip(share, 1 / _GRID, 1 - 1 / _GRID)))
        return values

    def names(self, name: str) -> list[str]:
        return [name]

    def describe(self) -> str:
        words = {"": "number", "log": "logarithm of a number", "quantile": "normal score of a number"}[self.scaling]
        return words + (", heavy tail" if self.scaling else "") + self._written()

    def _written(self) -> str:
        marks = ([f"in {self.style[1:]}"] if self.style[1:] else []) + (["decimal comma"] * (self.style[0] == ","))
        return f" ({', '.join(marks)})" if marks else ""

    def inverse(self, block: Floats) -> list[Any]:
        values = block[:, 0]
        if self.scaling == "log":
            values = self.origin + self.width * np.copysign(np.expm1(np.abs(values)), values)
        elif self.scaling == "quantile":
            from scipy.special import ndtr

            values = np.interp(ndtr(values), np.linspace(0, 1, len(self.grid)), self.grid)
        return (values * self.unit).tolist()


def _read(cells: Cells, style: str) -> tuple[Floats, Bools, Bools]:
    """The numbers (nan: none), which cells are missing, and which of them hold something else than a number."""
    if isinstance(cells, Words):
        parsed = np.append(parse_numbers(cells.levels, style), np.nan)  # code -1: missing
        values, empty = parsed[cells.codes], cells.codes < 0
    elif cells.dtype.kind == "M":
        empty = np.isnat(cells)
        values = np.where(empty, np.nan, cells.astype(np.int64) / 86_400e6)
    elif cells.ndim == 2:
        values, empty = np.full(len(cells), np.nan), np.zeros(len(cells), dtype=bool)
    else:
        values, empty = cells, np.isnan(cells)
    bad = ~(np.isfinite(values) | empty)
    if bad.any():
        values = np.where(bad, np.nan, values)
    return values, empty | bad, bad


def _tail(values: Floats) -> float:
    """Share of the variance that the hundredth of the rows which are farthest from the mean has."""
    squares = (values - values.mean()) ** 2
    total = float(squares.sum())
    count = math.ceil(len(values) / 100)
    return 0.0 if total == 0 else float(np.partition(squares, -count)[-count:].sum()) / total
