"""Columns of numbers: heavy tails are recognized, missing values are filled with the median."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Bools, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoded, Encoder, Piece
from cluewise.rows.parse import guess_style, parse_numbers

__all__ = ["Numbers"]

_HUGE = 1e100  # squares of larger numbers overflow in sums
_FEWEST = 50  # rows from which on a tail can be told from a few rows
_HEAVY = 0.3  # share of the variance that the farthest hundredth has; 0.08 of a normal, 0.22 of an exponential one
_GRID = 1024
_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class Numbers(Encoder):
    """One column: the number, its logarithm or its normal score."""

    kind: ClassVar[str] = "number"
    trouble: ClassVar[str] = "not finite numbers"

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
        fill = float(np.median(values))
        largest = float(np.abs(values).max())
        as_it_is = cls(style, fill, 1.0 if plain or largest < _HUGE else largest, "", 0.0, 1.0, none)
        rest = values[values != fill]  # where most values are the same, the others decide
        before = 0.0 if plain or len(rest) < _FEWEST else _tail(values)
        if before < _HEAVY or _tail(rest) < _HEAVY:
            return as_it_is
        away = np.abs(values - fill)
        width = float(np.median(away[away > 0]))
        log = cls(style, fill, 1.0, "log", 0.0 if values.min() >= 0 else fill, width, none)
        grid = np.quantile(values, np.linspace(0, 1, _GRID), method="nearest")
        quantile = cls(style, fill, 1.0, "quantile", 0.0, 1.0, grid)
        for found in (log, quantile):
            if _tail(found._scale(values)) <= before / 2:
                return found
        return as_it_is

    def encode(self, cells: Cells) -> Encoded:
        values, missing, bad = _read(cells, self.style)
        if missing.any():
            values = np.where(missing, self.fill, values)
        if self.unit != 1:
            values = values / self.unit
        return Encoded([Piece(self._scale(values)[:, None])], missing, bad)

    def _scale(self, values: Floats) -> Floats:
        if self.scaling == "log":
            with np.errstate(over="ignore"):
                away = np.clip((values - self.origin) / self.width, -_LARGEST, _LARGEST)
            return np.copysign(np.log1p(np.abs(away)), away)
        if self.scaling == "quantile":
            from scipy.special import ndtri

            # Equal values fill a stretch of the grid, of which they get the middle.
            places = self.grid.searchsorted(values, "left") + self.grid.searchsorted(values, "right")
            return np.asarray(ndtri(np.clip(places / 2, 0.5, _GRID - 0.5) / _GRID))
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

            places = np.clip(ndtr(values) * _GRID, 0, len(self.grid) - 1)
            values = self.grid[places.astype(np.int64)]
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
    largest = float(np.abs(values).max())
    values = values / largest if largest > _HUGE else values
    squares = (values - values.mean()) ** 2
    total = float(squares.sum())
    count = math.ceil(len(values) / 100)
    return 0.0 if total == 0 else float(np.partition(squares, -count)[-count:].sum()) / total
