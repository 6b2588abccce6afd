"""Table 2 of the survey as tables and checks: a check returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ...document import Grid
from ...findings import Findings, Missing, Where
from .claims import block, told
from .runs import BLOCK, DATA, METHODS, MIXED, PAIRS, RULES, TABLE_2, VARIANTS

NEAREST = "10 pairs, exact"  # the variant of Table 2 that is nearest to 25 pairs, of which no set is coherent


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
    mean = float(np.mean(shares))
    return mean > 0.5, f"{100 * mean:.0f} % of them, by method and data {lowest:.0f} to {highest:.0f} %"
