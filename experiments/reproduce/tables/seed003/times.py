"""Table 1 of seed 003, and what its text says of times."""

from __future__ import annotations

import numpy as np

from ...document import Grid
from ...findings import Findings, Missing
from ...parts import count_of
from ...published import Printed, printed
from .claims import SETS, STEADY, rivals
from .runs import ROWS, SCALING, TABLE_1, U, cell, fits

STAGES = ("learn", "whole")


def seconds(found: Findings, data: str, method: str, stage: str) -> float:
    """Table 1: mean over repetitions, each the fastest of three runs."""
    return found.mean(cell(data, method, stage, TABLE_1), "value")


def times_longer(ratio: float) -> str:
    """A ratio; two decimals where it is small."""
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def why_apart(number: Printed) -> str:
    """Why a printed time is compared with nothing."""
    if number.mean is None:
        return number.flag
    if number.data == "MNIST8m":
        return "MNIST stands in for it, on another machine: only ratios are shown"
    return "seconds of another machine: only ratios are shown, and no rule says how close they should be"


def trouble(found: Findings, data: str, method: str) -> str:
    """Repetitions without a result, by kind: "1 late"; nothing where there are none."""
    where = cell(data, method, "", TABLE_1)
    counts = {state: found.without(where, state) for state in ("late", "failed")}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)


def ratios(found: Findings) -> Grid:
    """Table 1: how many times the others take longer than SCSC, printed and here."""
    times = {(n.data, n.method): n.mean for n in printed("seed003_table1_time")}
    rows = []
    for data in TABLE_1.data:
        theirs = {m: times.get(("MNIST8m" if data == "MNIST" else data, m)) for m in TABLE_1.methods}
        for method in (m for m in TABLE_1.methods if m != "SCSC" and fits(data, U[data], m)):
            there, base = theirs[method], theirs["SCSC"]
            ratio = "" if there is None or base is None else times_longer(there / base)
            bad = trouble(found, data, method)
            runs = ", ".join(filter(None, [found.runs(cell(data, method, "whole", TABLE_1)), bad]))
            rows.append([data, method, ratio, *here(found, data, method), runs])
    if not any(text for row in rows for text in row[3:-1]):
        raise Missing(TABLE_1.name)
    ours = ["learning alone, here", "the whole, here", "learning, seconds", "the whole, seconds"]
    return Grid(["data", "method", "printed", *ours, "SCSC, weights", "SCSC, the whole", "repetitions"], rows)


def here(found: Findings, data: str, method: str) -> list[str]:
    """Two ratios, two times of a method, two of SCSC; where nothing came out, why."""
    taken: dict[str, list[float] | None] = {}
    for name in (method, "SCSC"):
        try:
            taken[name] = [seconds(found, data, name, stage) for stage in STAGES]
        except Missing:
            taken[name] = None
    theirs, mine = taken[method], taken["SCSC"]
    texts = [[f"{t:.4f}" for t in took] if took else 2 * [trouble(found, data, name)] for name, took in taken.items()]
    ratio = [times_longer(a / b) for a, b in zip(theirs, mine)] if theirs and mine else ["", ""]
    return [*ratio, *texts[0], *texts[1]]


def fastest(found: Findings, stage: str) -> tuple[bool, str]:
    """SCSC takes less time than all rivals, on all sets; a rival that never ended in time takes more."""
    wins, words = [], []
    for data in SETS:
        others, late = {}, []
        for name in rivals(data):
            try:
                others[name] = seconds(found, data, name, stage)
            except Missing:
                if not found.without(cell(data, name, "", TABLE_1), "late"):
                    raise
                others[name] = np.inf
                late.append(f"; {name} was late")
        mine, top = seconds(found, data, "SCSC", stage), min(others, key=others.__getitem__)
        wins.append(mine < others[top])
        words.append(f"{data} {1e3 * mine:.1f} ms (next: {top} {1e3 * others[top]:.1f} ms{''.join(late)})")
    return all(wins), f"fastest on {count_of(wins)}: {', '.join(words)}"


def growth(found: Findings, method: str, stage: str) -> float:
    """How many times longer it takes with a hundred times as many rows."""
    few, many = (found.mean(cell(f"{rows} rows", method, stage, SCALING), "value") for rows in ROWS)
    return many / few


def independent(found: Findings, method: str) -> tuple[bool, str]:
    """New weights take at most twice as long with a hundred times as many rows."""
    factor = growth(found, method, "learn")
    first, second = (found.mean(cell(f"{n} rows", method, "learn", SCALING), "value") for n in ROWS)
    return factor <= 2, f"{1e3 * first:.2f} ms with {ROWS[0]} rows, {1e3 * second:.2f} ms with {ROWS[1]}"


def grows_least(found: Findings, stage: str) -> tuple[bool, str]:
    """The time of SCSC grows less with the number of rows than that of any rival, at the same stage."""
    mine = growth(found, "SCSC", stage)
    others = {name: growth(found, name, stage) for name in STEADY}
    words = ", ".join(f"{name} {factor:.1f}" for name, factor in others.items())
    return mine < min(
        others.values()
    ), f"times longer with {ROWS[1]} rows than with {ROWS[0]}: SCSC {mine:.1f}, {words}"
