"""Table 1 of the survey as tables and checks: a check returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import binomtest, spearmanr

from ...document import Grid
from ...findings import Findings, Missing, Where
from ...published import printed
from .runs import BLOCK, DATA, DEFAULTS, METHODS, PAIRS, READINGS, SAME_START, STARTED, TABLE_1

MOST, FEW = 50.0, 5.0  # percent of the sets: "high" and "near 0"


def told(table: str, data: str, method: str, words: str = "") -> str:
    """A printed number, as printed."""
    found = [n for n in printed("survey") if (n.table, n.data.lower(), n.method) == (table, data, method)]
    return next((f"{n.mean:g}" for n in found if words in n.setting), "–")


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


def or_nothing(found: Findings, data: str, method: str, stage: str, name: str) -> str:
    """The same, or nothing where it has not been run."""
    try:
        return interval(found, data, method, stage, name)
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
        shares.append(or_nothing(found, data, method, "worse with", DEFAULTS.name))
        row = [data, method, told("1", data, method), *shares]
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


def starts(found: Findings) -> Grid:
    """Shares of PKM and MPKM from a start that the pairs have no part in, and the Rand index."""
    rows = []
    for data, method in product(DATA, STARTED):
        shares = [interval(found, data, method, "worse entailed", name) for name in (TABLE_1.name, SAME_START.name)]
        cells = [block(data, method, stage, SAME_START.name) for stage in ("without", "entailed")]
        means = [f"{100 * found.mean(cell, 'value'):.1f}" for cell in cells]
        rows.append([data, method, told("1", data, method), *shares, *means])
    return Grid(["data", "method", "published", "as above", "same start", "Rand without", "with, entailed"], rows)


def often(found: Findings, data: str, method: str) -> tuple[bool, str]:
    """Most sets hurt."""
    added, alone = (share(found, data, method, f"worse {stage}") for stage in ("entailed", "with"))
    return added > MOST, f"{added:.1f} % of the sets; without entailed pairs {alone:.1f} %"


def seldom(found: Findings, data: str, method: str) -> tuple[bool, str]:
    """Hardly any set hurts; beside it, what comes out if the start is the same with pairs and without."""
    added, alone = (share(found, data, method, f"worse {stage}") for stage in ("entailed", "with"))
    same = or_nothing(found, data, method, "worse entailed", SAME_START.name) or "not run"
    return (
        added <= FEW,
        f"{added:.1f} % of the sets; without entailed pairs {alone:.1f} %; from the same start, in %: {same}",
    )


def cells_1(found: Findings) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """All shares of Table 1 as printed, and ours."""
    theirs = {(n.data.lower(), n.method): n.mean or 0.0 for n in printed("survey") if n.table == "1"}
    return theirs, {cell: share(found, *cell) for cell in theirs}


def no_others(found: Findings) -> tuple[bool, str]:
    """No cell is above half that is not in print; and how like the two orders of all cells are."""
    theirs, ours = cells_1(found)
    high = {cell: value for cell, value in ours.items() if value > MOST >= theirs[cell]}
    words = ", ".join(f"{data} {method} {v:.1f} % ({theirs[data, method]:g})" for (data, method), v in high.items())
    rank = spearmanr(list(theirs.values()), list(ours.values()))[0]
    return not high, f"above half here, not in print: {words or 'none'}; rank correlation of all cells {rank:+.2f}"


def extreme(found: Findings) -> tuple[bool, str]:
    """At least one cell is as high as the lowest of the four that stand out in print."""
    theirs, cells = cells_1(found)
    bar = sorted(theirs.values())[-4]
    high = {cell: value for cell, value in cells.items() if value >= bar}
    words = ", ".join(f"{data} {method} {value:.1f} %" for (data, method), value in high.items())
    return bool(high), f"{bar:g} % or more: {words or 'none'}"


def little_news(found: Findings) -> tuple[bool, str]:
    """Sets of 25 pairs, none of which is coherent, with at most the median informativeness: mean change below 0.

    The median is that of the sets of a cell, and the pairs are those drawn.
    """
    change = {
        data: [100 * found.mean(block(data, method, "change, little news"), "value") for method in METHODS]
        for data in DATA
    }
    words = "; ".join(f"{data}: {' '.join(f'{v:+.2f}' for v in row)}" for data, row in change.items())
    mean = float(np.mean(list(change.values())))
    what = f"pairs as drawn, sets up to the median informativeness of each block of {BLOCK}"
    return mean < 0, f"mean change of the Rand index {mean:+.2f} points ({what}); {', '.join(METHODS)} on {words}"
