"""Sentences and tables of seed 002 as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

import numpy as np

from ...document import Grid
from ...findings import Findings, Missing, Where
from ...parts import count_of
from .runs import COUNTS, FIGURE_1, FIGURE_3, ORDER, SETS, TABLE_1


def rand(found: Findings, data: str, count: int, method: str) -> float:
    """Mean Rand index."""
    setting = "0" if method == "K-means" else str(count)
    return found.mean(Where(FIGURE_3.name, data, setting, method), "rand")


def beats(found: Findings, better: str, others: tuple[str, ...]) -> tuple[bool, str]:
    """Above all others, for every set and number of pairs."""
    leads = {
        (data, count): rand(found, data, count, better) - max(rand(found, data, count, other) for other in others)
        for data in SETS
        for count in COUNTS
    }
    (data, count), least = min(leads.items(), key=lambda item: item[1])
    won = count_of([lead > 0 for lead in leads.values()])
    return least > 0, f"ahead in {won}; smallest lead {least:+.4f} ({data}, {count} pairs)"


def rising(found: Findings, method: str) -> tuple[bool, str]:
    """Higher with 500 pairs than with 50, on every set."""
    gains = {data: rand(found, data, COUNTS[-1], method) - rand(found, data, COUNTS[0], method) for data in SETS}
    words = ", ".join(f"{data} {gain:+.3f}" for data, gain in gains.items())
    return min(gains.values()) > 0, f"500 against 50 pairs: {words}"


def harmed(found: Findings) -> tuple[bool, str]:
    """PCKmeans below K-means on three sets for at least one count up to 150."""
    worst = {
        data: min(rand(found, data, count, "PCKmeans") - rand(found, data, count, "K-means") for count in COUNTS[:3])
        for data in ("iris", "wine", "protein")
    }
    words = ", ".join(f"{data} {gap:+.4f}" for data, gap in worst.items())
    return max(worst.values()) < 0, f"lowest difference up to 150 pairs: {words}"


def order(found: Findings) -> tuple[bool, str]:
    """The removals are those of the last column, and the class follows the reverse of them."""
    steps = [Where(TABLE_1.name, FIGURE_1, "graph", "Eq. (3)", f"removed {step}") for step in range(5)]
    right = [found.mean(step, "value") == 1 for step in steps]
    same, other = (
        found.mean(Where(ORDER.name, FIGURE_1, "graph", "ClosurePCKMeans", told), "value")
        for told in ("D B E C A", "E D C B A")
    )
    words = f"removals as printed: {count_of(right)}; on random data the class does as it does when told D B E C A in"
    return all(right) and same == 1, f"{words} {100 * same:.0f} % of draws, when told E D C B A in {100 * other:.0f} %"


def failures(found: Findings) -> Grid:
    """Runs of COP-KMeans without a result."""
    rows = [row for row in found.rows if row["experiment"] == FIGURE_3.name and row["method"] == "COP-KMeans"]
    if not rows:
        raise Missing("COP-KMeans")
    bad = {data: [row["status"] != "ok" for row in rows if row["data"] == data] for data in SETS}
    return Grid(["data", "runs", "without a result"], [[d, str(len(b)), str(sum(b))] for d, b in bad.items()])


def means(found: Findings, names: tuple[str, ...]) -> Grid:
    """Mean Rand index over all numbers of pairs."""
    rows = []
    for data in SETS:
        values = [np.mean([rand(found, data, count, name) for count in COUNTS]) for name in names]
        runs = found.runs(Where(FIGURE_3.name, data, tuple(map(str, COUNTS)), "PCCK-means"))
        rows.append([data, *(f"{value:.3f}" for value in values), runs])
    return Grid(["data", *names, "repetitions"], rows)
