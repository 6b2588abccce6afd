"""How a cluster differs from the rest, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from cluewise._typing import Bools, Floats, Ints
from cluewise.explain.columns import Column, moment_of, time_of

__all__ = ["LEAST", "Contrast", "Difference", "compare_shares", "contrast", "format_number"]

LEAST = 0.147
"""Differences that are smaller count as negligible (Romano et al., 2006)."""

_RATIO = 1.5  # from here on two numbers are compared by their ratio


@dataclass(frozen=True)
class Difference:
    """How the cells of one column differ between a cluster and the rest; print it to read it.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : {"median", "mean", "date", "level", "word", "empty"}
        What is compared: the median of numbers, or their mean if the medians agree; the median date, or the mean
        if the medians agree; the share of
        rows with a level of a category, with a word in a text, or with an empty cell.
    value : str or None
        The level or the word.
    inside, outside : float or str
        What is compared, in the cluster and in the rest; dates as text.
    effect : float
        Cliff's delta, between -1 and 1: the probability that a row of the cluster has a larger value than one of the
        rest, minus the opposite. For levels, words and empty cells this is the difference of the shares.

    Examples
    --------
    >>> import cluewise as cw
    >>> found = cw.describe([0, 0, 1, 1], {"spend": [40.0, 44.0, 10.0, 11.0], "city": ["Rome", "Rome", "Rome", "Oslo"]})
    >>> for difference in found[0].differences:
    ...     print(difference)
    spend 4× the rest (42 against 10.5)
    city Rome 100 % against 50 %
    """

    column: str
    kind: str
    value: str | None
    inside: Any
    outside: Any
    effect: float

    def __str__(self) -> str:
        return f"{self.column} {self.comparison}"

    @property
    def comparison(self) -> str:
        """The comparison without the name of the column."""
        match self.kind:
            case "median" | "mean":
                a, b = format_number(self.inside), format_number(self.outside)
                mean = "on average " if self.kind == "mean" else ""
                if self.inside > 0 and self.outside > 0:
                    ratio = self.inside / self.outside
                    if not 1 / _RATIO < ratio < _RATIO and np.isfinite(ratio):
                        return f"{mean}{format_number(ratio, 2)}× the rest ({a} against {b})"
                return f"{mean}{a} against {b}"
            case "date":
                return f"{self.inside} against {self.outside}"
            case "word":
                what = f"has “{self.value}” in "
            case "empty":
                what = "empty in "
            case _:
                what = f"{self.value} "
        return f"{what}{100 * self.inside:.0f} % against {100 * self.outside:.0f} %"

    @property
    def name(self) -> str:
        """A few words for the name of a cluster."""
        more = self.effect > 0
        match self.kind:
            case "median" | "mean":
                return f"{'high' if more else 'low'} {self.column}"
            case "date":
                return f"{'late' if more else 'early'} {self.column}"
            case "word":
                return f"“{self.value}”" if more else f"no “{self.value}”"
            case "empty":
                return f"no {self.column}" if more else f"{self.column} known"
        if self.value in ("yes", "no"):
            return self.column if more == (self.value == "yes") else f"not {self.column}"
        return str(self.value) if more else f"not {self.value}"


def format_number(value: float, digits: int = 3) -> str:
    """A number with a few significant digits, but with all digits before the decimal point."""
    if not 1e-4 <= abs(value) < 1e9:
        return "0" if value == 0 else f"{value:.{digits}g}"
    before = int(np.floor(np.log10(abs(value)))) + 1
    text = f"{value:.{max(digits - before, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class Contrast(NamedTuple):
    """One column in every cluster against the rest; shares are those of a level among the cells that are not empty."""

    column: Column
    delta: Floats  # (k,) Cliff's delta of numbers and dates; 0 for other kinds
    inside: Floats  # (k, levels) shares of the levels of a category
    outside: Floats
    empty_inside: Floats  # (k,) shares of empty cells
    empty_outside: Floats

    @property
    def strength(self) -> Floats:
        """Largest effect in each cluster, of shape (k,)."""
        gaps = np.column_stack([self.delta, self.empty_inside - self.empty_outside, self.inside - self.outside])
        return np.abs(gaps).max(axis=1)

    def tell(self, cluster: int, codes: Ints) -> Difference:
        """The largest difference between a cluster and the rest."""
        column, delta = self.column, float(self.delta[cluster])
        empty = float(self.empty_inside[cluster]), float(self.empty_outside[cluster])
        found = [Difference(column.name, "empty", None, *empty, empty[0] - empty[1])]
        gaps = self.inside[cluster] - self.outside[cluster]
        if column.is_ordered:
            found.append(_compare_values(column, codes == cluster, delta))
        elif len(gaps):
            # Of two levels, both differ as much; the one that is there says more than the one that is not.
            level = int(np.lexsort([-gaps, -np.abs(gaps).round(9)])[0])
            inside, outside = float(self.inside[cluster, level]), float(self.outside[cluster, level])
            found.append(Difference(column.name, "level", column.levels[level], inside, outside, inside - outside))
        return max(reversed(found), key=lambda difference: abs(difference.effect))


def contrast(column: Column, codes: Ints, k: int) -> Contrast:
    """Compare each cluster with the rest; ``codes`` are clusters 0 … k − 1, or -1 for rows in none."""
    missing = column.missing
    empty = compare_shares(np.where(missing, 0, -1), codes, k, 1)
    held, where = column.values[~missing], codes[~missing]
    delta: Floats = np.zeros(k)
    inside: Floats = np.empty((k, 0))
    outside = inside
    if column.is_ordered:
        delta = _find_deltas(held, where, k)
    elif column.kind == "category":
        inside, outside = compare_shares(held.astype(np.int64), where, k, len(column.levels))
    return Contrast(column, delta, inside, outside, empty[0][:, 0], empty[1][:, 0])


def compare_shares(levels: Ints, codes: Ints, k: int, count: int) -> tuple[Floats, Floats]:
    """Share of each level in each cluster and in the rest, of shape (k, count); where there are no rows, both are 0."""
    used = (levels >= 0) & (codes >= 0)
    pairs = np.bincount(codes[used] * count + levels[used], minlength=k * count)[: k * count].reshape(k, count)
    size, total = np.bincount(codes[codes >= 0], minlength=k), np.bincount(levels[levels >= 0], minlength=count)
    rest = len(codes) - size
    with np.errstate(invalid="ignore"):
        inside, outside = pairs / size[:, None], (total - pairs) / rest[:, None]
    comparable = ((size > 0) & (rest > 0))[:, None]
    return np.where(comparable, inside, 0.0), np.where(comparable, outside, 0.0)


def _find_deltas(values: Floats, codes: Ints, k: int) -> Floats:
    """Cliff's delta of each cluster against the rest, by the rank sum of Mann and Whitney."""
    used = codes >= 0
    size = np.bincount(codes[used], minlength=k).astype(np.float64)
    wins = np.bincount(codes[used], weights=rankdata(values)[used], minlength=k) - size * (size + 1) / 2
    pairs = size * (len(values) - size)
    return np.where(pairs > 0, 2 * wins / np.maximum(pairs, 1) - 1, 0.0)


def _compare_values(column: Column, inside: Bools, delta: float) -> Difference:
    values, held = column.values, ~column.missing
    a, b = values[inside & held], values[~inside & held]
    if delta == 0 or not len(a) or not len(b):
        return Difference(column.name, "median", None, np.nan, np.nan, 0.0)
    middle = float(np.median(a)), float(np.median(b))
    if column.kind == "date":
        shown = _tell_dates(*middle)
        if shown[0] == shown[1]:
            shown = _tell_dates(float(a.mean()), float(b.mean()))
        return Difference(column.name, "date", None, *shown, delta)
    if format_number(middle[0]) == format_number(middle[1]):
        with np.errstate(over="ignore"):
            return Difference(column.name, "mean", None, float(a.mean()), float(b.mean()), delta)
    return Difference(column.name, "median", None, *middle, delta)


def _tell_dates(a: float, b: float) -> tuple[str, str]:
    """Two dates, with the time if they are on the same day."""
    days = time_of(float(np.floor(a))), time_of(float(np.floor(b)))
    return days if days[0] != days[1] else (moment_of(a), moment_of(b))
