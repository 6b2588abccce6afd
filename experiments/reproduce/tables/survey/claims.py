"""Sentences and tables of the survey as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from ...document import Grid
from ...findings import Findings, Missing, Where
from ...parts import Table, Verdict
from ...published import Printed, printed
from .runs import BLOCK, DATA, DEFAULTS, METHODS, MIXED, PAIRS, READINGS, RULES, TABLE_1, TABLE_2, VARIANTS

MOST, FEW = 50.0, 5.0  # percent of the sets: "high" and "near 0"
NEAREST = "10 pairs, exact"  # the variant of Table 2 that is nearest to 25 pairs, of which no set is coherent


@dataclass(frozen=True)
class Beside(Table):
    """A table of ours beside printed numbers that no rule compares; the summary names these, and why."""

    of: Callable[[Printed], bool] = lambda number: True
    why: Callable[[Printed], str] = lambda number: ""

    def verdicts(self, findings: Findings) -> list[Verdict]:
        """One for each printed number: left out."""
        numbers = [number for number in printed("survey") if self.of(number)]
        return [Verdict("number", self.title, " ".join(n[1:4]), None, self.why(n)) for n in numbers]


def told(table: str, data: str, method: str, words: str = "") -> str:
    """A printed number, as printed."""
    found = [n for n in printed("survey") if (n.table, n.data.lower(), n.method) == (table, data, method)]
    return next((f"{n.mean:g}" for n in found if words in n.setting), "–")


# --- Table 1


def block(data: str, method: str, stage: str, name: str = TABLE_1.name) -> Where:
    """Cells of Table 1."""
    return Where(name, data, f"{PAIRS} pairs", method, stage)


def share(found: Findings, data: str, method: str, stage: str = "worse entailed") -> float:
    """Percent of the sets with which a method does worse."""
    return 100 * found.mean(block(data, method, stage), "value")


def interval(found: Findings, data: str, method: str, stage: str, name: str = TABLE_1.name) -> str:
    """The same with the 95 % interval of a share (Wilson)."""
    mean = found.mean(block(data, method, stage, name), "value")
    sets = round(BLOCK * float((1 - found.values(block(data, method, "failed", name), "value")).sum()))
    low, high = binomtest(round(mean * sets), sets).proportion_ci(method="wilson")
    return f"{100 * mean:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def defaults_or_nothing(found: Findings, data: str, method: str) -> str:
    """The library's defaults, which see the pairs as they were drawn."""
    try:
        return interval(found, data, method, "worse with", DEFAULTS.name)
    except Missing:
        return ""


def table_1(found: Findings) -> Grid:
    """Shares beside the printed ones, and the Rand index."""
    rows = []
    for data, method in product(DATA, METHODS):
        try:
            failed = found.values(block(data, method, "failed"), "value")
            shares = [interval(found, data, method, stage) for stage in ("worse entailed", "worse with")]
            means = [found.mean(block(data, method, s), "value") for s in ("without", "entailed", "with")]
        except Missing:
            continue
        counts = [f"{BLOCK * failed.sum():.0f}", str(BLOCK * len(failed))]
        row = [data, method, told("1", data, method), *shares, defaults_or_nothing(found, data, method)]
        rows.append([*row, *(f"{100 * mean:.1f}" for mean in means), *counts])
    if not rows:
        raise Missing(TABLE_1.name)
    header = ["data", "method", "published", "ours, entailed pairs added", "ours, pairs as drawn", "library defaults"]
    return Grid([*header, "Rand without", "with, entailed", "with, as drawn", "failed", "sets"], rows)


def readings(found: Findings) -> Grid:
    """Shares of MKM by reading, beside the printed ones."""
    rows = []
    for data in DATA:
        others = [interval(found, data, name, "worse entailed", READINGS.name) for name in READINGS.methods]
        rows.append([data, told("1", data, "MKM"), interval(found, data, "MKM", "worse entailed"), *others])
    return Grid(["data", "published", "as above", *READINGS.methods], rows)


def often(found: Findings, data: str, method: str) -> tuple[bool, str]:
    """Most sets hurt."""
    added, alone = (share(found, data, method, f"worse {stage}") for stage in ("entailed", "with"))
    return added > MOST, f"{added:.1f} % of the sets; without entailed pairs {alone:.1f} %"


def seldom(found: Findings, data: str, method: str) -> tuple[bool, str]:
    """Hardly any set hurts."""
    added, alone = (share(found, data, method, f"worse {stage}") for stage in ("entailed", "with"))
    return added <= FEW, f"{added:.1f} % of the sets; without entailed pairs {alone:.1f} %"


def extreme(found: Findings) -> tuple[bool, str]:
    """At least one cell is as high as the lowest of the four that stand out in print."""
    cells = {(data, method): share(found, data, method) for data, method in product(DATA, METHODS)}
    bar = sorted(n.mean or 0.0 for n in printed("survey") if n.table == "1")[-4]
    high = {cell: value for cell, value in cells.items() if value >= bar}
    words = ", ".join(f"{data} {method} {value:.1f} %" for (data, method), value in high.items())
    return bool(high), f"{bar:g} % or more: {words or 'none'}"


def little_news(found: Findings) -> tuple[bool, str]:
    """Sets of 25 pairs, none of which is coherent, whose informativeness is at most the median: mean change below 0."""
    change = {
        data: [100 * found.mean(block(data, method, "change, little news"), "value") for method in METHODS]
        for data in DATA
    }
    words = "; ".join(f"{data}: {' '.join(f'{v:+.2f}' for v in row)}" for data, row in change.items())
    mean = float(np.mean(list(change.values())))
    return mean < 0, f"mean change of the Rand index {mean:+.2f} points; {', '.join(METHODS)} on {words}"


# --- Table 2


class Effect(NamedTuple):
    """What informativeness does: percent with much and with little of it, and the error of the difference."""

    high: float
    low: float
    error: float

    @property
    def gain(self) -> float:
        """Points more with much news."""
        return self.high - self.low


def effect(found: Findings, data: str, method: str, variant: str = NEAREST) -> Effect:
    """Means above and up to the median informativeness."""
    cell = Where(TABLE_2.name, data, "coherent", variant)
    news = found.values(cell._replace(stage="news"), "value")
    result = 100 * found.values(cell._replace(stage=method), "value")
    much = news > np.median(news)
    if min(much.sum(), (~much).sum()) < 2:
        raise Missing(f"{data} / {variant}: sets above and below the median")
    high, low = result[much], result[~much]
    return Effect(high.mean(), low.mean(), np.sqrt(high.var(ddof=1) / len(high) + low.var(ddof=1) / len(low)))


def table_2(found: Findings) -> Grid:
    """Accuracy of the halves beside the printed one."""
    rows = []
    for data, method in product(DATA, METHODS):
        row = [data, method, " / ".join(told("2", data, method, f"{level} info") for level in ("high", "low"))]
        for variant in VARIANTS:
            try:
                e = effect(found, data, method, variant)
            except Missing:
                row.append("")
            else:
                row.append(f"{e.high:.1f} / {e.low:.1f} ({e.gain:+.1f} ± {e.error:.1f})")
        rows += [row] if any(row[3:]) else []
    if not rows:
        raise Missing(TABLE_2.name)
    return Grid(["data", "method", "published", *VARIANTS], rows)


def kept(found: Findings) -> Grid:
    """How many sets are fully coherent."""
    rows = []
    for data in DATA:
        row = [data]
        for rule in RULES:
            cell = block(data, "coherent", rule)
            sets = BLOCK * len(found.values(cell, "value"))
            row.append(f"{found.mean(cell, 'value') * sets:.0f} of {sets}")
        for variant in VARIANTS:
            cell = Where(TABLE_2.name, data, "coherent", variant)
            if not TABLE_2.only(data, "coherent", variant):
                row.append("")
                continue
            stages = ("found", "draws", "one kind")
            good, draws, alike = (found.values(cell._replace(stage=stage), "value").sum() for stage in stages)
            row.append(f"{good:.0f} of {draws:.0f}; {alike:.0f} of one kind")
        rows.append(row)
    return Grid(["data", *(f"{PAIRS} pairs, {rule}" for rule in RULES), *VARIANTS], rows)


def helps(found: Findings, data: str, method: str) -> tuple[bool, str]:
    """Significantly: by more than two standard errors."""
    e, mixed = effect(found, data, method), effect(found, data, method, MIXED)
    words = f"{e.high:.1f} against {e.low:.1f}, {e.gain:+.2f} ± {e.error:.2f} points"
    return e.gain > 2 * e.error, f"{words}; {MIXED}: {mixed.gain:+.2f} ± {mixed.error:.2f}"


def no_effect(found: Findings, data: str) -> tuple[bool, str]:
    """No method differs by more than two standard errors."""
    every = {method: effect(found, data, method) for method in METHODS}
    words = ", ".join(f"{method} {e.gain:+.2f} ± {e.error:.2f}" for method, e in every.items())
    return all(abs(e.gain) <= 2 * e.error for e in every.values()), f"difference in points: {words}"


def improves(found: Findings) -> tuple[bool, str]:
    """More than half of the coherent sets with much news improve a method, over all methods and data sets."""
    shares = []
    for data, method in product(DATA, METHODS):
        cell = Where(TABLE_2.name, data, "coherent", NEAREST)
        news = found.values(cell._replace(stage="news"), "value")
        much = news > np.median(news)
        if not much.any():
            raise Missing(f"{data} / {NEAREST}: sets above the median")
        shares.append(found.values(cell._replace(stage=f"{method} better"), "value")[much].mean())
    lowest, highest = 100 * min(shares), 100 * max(shares)
    return np.mean(
        shares
    ) > 0.5, f"{100 * np.mean(shares):.0f} % of them, by method and data {lowest:.0f} to {highest:.0f} %"
