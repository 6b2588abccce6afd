"""Sentences of seed 001 as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...document import Grid
from ...findings import Findings, Where
from ...parts import count_of
from ...published import Printed, printed
from .images import IMAGES, TABLE_4_RATE, WORD_RATES, WORDS
from .runs import (
    CLUSTERS,
    DEFAULTS,
    DEVIATED,
    DEVIATION_SETTING,
    DEVIATIONS,
    GRID,
    PATTERN_SETTING,
    PATTERNS,
    PROFILE,
    RATES,
    RIGHT,
    SETS,
    TOLD,
    UCI,
    named,
    possible,
)

INFORMED = ("TVClust(variational)", "RDP-means", "MPCKMeans", "LCVQE")
MEASURES = {"F": ("f", 1.0), "AdjRnd": ("ari", 1.0), "NMI": ("nmi", 1.0)}
FLAT = 0.10  # a curve of Figure 3 whose highest and lowest point differ by less is called flat
TABLES = {"Table 1": "seed001_table1_uci", "Table 2": "seed001_table2_noise", "Table 3": "seed001_table3_noise_rate"}


def where(number: Printed) -> Where:
    """Which of our cells a number of Tables 1 to 3 is the mean of."""
    sets = (number.data,) if number.data in SETS else SETS
    if number.setting in GRID:
        settings: tuple[str, ...] = (number.setting,)
    elif number.setting.startswith("p="):
        settings = tuple(name for name in GRID if name.split(";")[0] == number.setting.split(";")[0])
    else:
        settings = tuple(GRID)
    return Where(UCI.name, sets, settings, number.method.replace("TVClust (", "TVClust("))


def score(found: Findings, method: str, *, right: object = None, rate: object = None, measure: str = "f") -> float:
    """Mean over the five sets, for some share of right pairs and some rate, or over all of them."""
    settings = tuple(named(p, r) for p in RIGHT for r in RATES if right in (None, p) and rate in (None, r))
    return found.mean(Where(UCI.name, SETS, settings, method), measure)


def said(values: Mapping[str, float]) -> str:
    """Numbers for a reader."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def best_overall(found: Findings) -> tuple[bool, str]:
    """RDP-means has the highest mean of all, by every measure."""
    scores = {m: [score(found, m, measure=column) for column, _ in MEASURES.values()] for m in PROFILE}
    leads = [max(scores, key=lambda m: scores[m][i]) == "RDP-means" for i in range(len(MEASURES))]
    return all(leads), "F / AdjRnd / NMI: " + ", ".join(
        f"{m} {' / '.join(f'{value:.2f}' for value in values)}" for m, values in scores.items()
    )


def best_by_set(found: Findings) -> tuple[bool, str]:
    """RDP-means has the highest F on every set, as the bold numbers of Table 1 say."""
    firsts = {}
    for data in SETS:
        scores = {m: found.mean(Where(UCI.name, data, tuple(GRID), m), "f") for m in PROFILE}
        firsts[data] = max(scores, key=scores.__getitem__)
    return set(firsts.values()) == {"RDP-means"}, "highest F: " + ", ".join(f"{d} {m}" for d, m in firsts.items())


def same_noise(found: Findings) -> tuple[bool, str]:
    """K-means and DP-means move by less than .03 with the noise, which they do not see."""
    rows = {m: [score(found, m, right=p) for p in RIGHT] for m in ("K-means", "DP-means")}
    words = "; ".join(f"{m} " + " ".join(f"{value:.2f}" for value in row) for m, row in rows.items())
    return max(np.ptp(row) for row in rows.values()) < 0.03, f"F from p = 1 to .8: {words}"


def pure(found: Findings) -> tuple[bool, str]:
    """MPCK-means has the highest F at p = 1."""
    scores = {m: score(found, m, right=1) for m in PROFILE}
    return max(scores, key=scores.__getitem__) == "MPCKMeans", f"F at p = 1: {said(scores)}"


def collapse(found: Findings) -> tuple[bool, str]:
    """MPCK-means loses more than .2 between p = 1 and p = .95, and more than any other."""
    lost = {m: score(found, m, right=1) - score(found, m, right=0.95) for m in INFORMED}
    ok = lost["MPCKMeans"] > 0.2 and lost["MPCKMeans"] == max(lost.values())
    return ok, f"F lost from p = 1 to .95: {said(lost)}"


def smaller_drops(found: Findings) -> tuple[bool, str]:
    """TVClust and RDP-means lose less than MPCK-means and LCVQE between p = 1 and p = .8."""
    lost = {m: score(found, m, right=1) - score(found, m, right=0.8) for m in INFORMED}
    ok = max(lost["TVClust(variational)"], lost["RDP-means"]) < min(lost["MPCKMeans"], lost["LCVQE"])
    return ok, f"F lost from p = 1 to .8: {said(lost)}"


def more_is_better(found: Findings) -> tuple[bool, str]:
    """F at r = .05 is above that at r = .01, for each method that uses pairs and each p."""
    gains = {
        (m, p): score(found, m, right=p, rate=0.05) - score(found, m, right=p, rate=0.01)
        for m in INFORMED
        for p in RIGHT
    }
    words = "; ".join(f"{m} " + " ".join(f"{gains[m, p]:+.2f}" for p in RIGHT) for m in INFORMED)
    return min(gains.values()) > 0, f"F at r = .05 less that at r = .01, for p = 1, .95, .9, .8: {words}"


def no_better(found: Findings) -> tuple[bool, str]:
    """At p = .8 and r = .01 the best of those with pairs and the best of those without differ by at most .1."""
    scores = {m: score(found, m, right=0.8, rate=0.01) for m in PROFILE}
    gap = max(scores[m] for m in INFORMED) - max(scores[m] for m in ("K-means", "DP-means"))
    return abs(gap) <= 0.1, f"F: {said(scores)}; difference of the best {gap:+.2f}"


# --- Figure 3


def off(found: Findings, data: str, method: str) -> dict[int, float]:
    """F by deviation, where so many clusters can be asked for."""
    names = {by: f"{method} {by:+d}" if method in TOLD else method for by in DEVIATIONS}
    return {
        by: found.mean(Where(DEVIATED.name, data, DEVIATION_SETTING, name), "f")
        for by, name in names.items()
        if CLUSTERS[data] > by and possible(data, DEVIATION_SETTING, name)
    }


def flat(found: Findings, method: str) -> tuple[bool, str]:
    """The highest and the lowest F differ by less than .1 on every set."""
    ranges = {data: float(np.ptp(list(off(found, data, method).values()))) for data in SETS}
    return max(ranges.values()) < FLAT, f"highest less lowest F: {said(ranges)}"


def too_few(found: Findings) -> tuple[bool, str]:
    """MPCK-means has F above .9 on each set if told k or more; told fewer, it loses more than .1 (mean over sets)."""
    curves = {data: off(found, data, "MPCKMeans") for data in SETS}
    enough = {data: min(value for by, value in curve.items() if by <= 0) for data, curve in curves.items()}
    few = {data: min(value for by, value in curve.items() if by > 0) for data, curve in curves.items()}
    lost = float(np.mean([enough[data] - few[data] for data in SETS]))
    return min(
        enough.values()
    ) > 0.9 and lost > 0.1, f"lowest F with k or more: {said(enough)}; with fewer: {said(few)}"


# --- Table 4 and Figure 4


def words(found: Findings, method: str, rate: float = 0, measure: str = "f") -> float:
    """Mean on the visual words."""
    return found.mean(Where(IMAGES.name, WORDS, f"r={rate:g}", method), measure)


def table_4(found: Findings, measure: str = "f") -> dict[str, dict[str, float]]:
    """By method and distribution."""
    rates = {"DP-means": 0.0, "K-means": 0.0, "RDP-means": TABLE_4_RATE}
    kinds = ("Gaussian", "Multinomial")
    return {m: {kind: words(found, f"{m} {kind}", rate, measure) for kind in kinds} for m, rate in rates.items()}


def best_on_words(found: Findings) -> tuple[bool, str]:
    """RDP-means is ahead of the two others, whatever the distribution."""
    table = table_4(found)
    leads = [table["RDP-means"][kind] > table[m][kind] for m in ("DP-means", "K-means") for kind in table[m]]
    return all(leads), said({f"{m} {kind}": value for m, row in table.items() for kind, value in row.items()})


def right_distribution(found: Findings) -> tuple[bool, str]:
    """The multinomial is ahead of the Gaussian for all three, by more than .005: less is a tie."""
    leads = {
        name: {m: row["Multinomial"] - row["Gaussian"] for m, row in table_4(found, measure).items()}
        for name, measure in (("F", "f"), ("AdjRnd", "ari"))
    }
    shown = "; ".join(
        f"in {name}: " + ", ".join(f"{m} {v:+.3f}" for m, v in row.items()) for name, row in leads.items()
    )
    return min(leads["F"].values()) > 0.005, f"lead of the multinomial {shown}"


def same_without(found: Findings) -> tuple[bool, str]:
    """Without pairs, RDP-means and DP-means have the same F."""
    both = {m: words(found, f"{m} Multinomial") for m in ("DP-means", "RDP-means")}
    return abs(both["DP-means"] - both["RDP-means"]) < 1e-9, f"F without pairs: {said(both)}"


def consistent(found: Findings) -> tuple[bool, str]:
    """F never falls by more than .01 from one rate to the next."""
    curve = {r: [words(found, "RDP-means Multinomial", r, measure) for measure in ("f", "ari")] for r in WORD_RATES}
    least = np.diff(list(curve.values()), axis=0).min(axis=0)
    shown = ", ".join(f"{100 * rate:g} % {f:.2f} / {ari:.2f}" for rate, (f, ari) in curve.items())
    return bool(least[0] >= -0.01), f"F / AdjRnd: {shown}; smallest step {least[0]:+.3f} / {least[1]:+.3f}"


def perfect(found: Findings) -> tuple[bool, str]:
    """F is at least .95 with 6 % of the pairs."""
    reached = words(found, "RDP-means Multinomial", 0.06)
    return reached >= 0.95, f"F {reached:.3f}"


# --- tables of our own


def closeness(found: Findings) -> Grid:
    """How close each method comes in Tables 1 to 3, a rule or not."""
    rows = []
    for title, name in TABLES.items():
        for method in PROFILE:
            numbers = [n for n in printed(name) if n.sound and where(n).method == method]
            gaps = [abs(found.mean(where(n), MEASURES[n.metric][0]) - (n.mean or 0)) for n in numbers]
            within = [count_of([gap <= allowed + 1e-9 for gap in gaps]) for allowed in (0.05, 0.06, 0.10)]
            rows.append([title, method, str(len(gaps)), *within, f"{np.mean(gaps):.3f}", f"{max(gaps):.2f}"])
    return Grid(
        ["table", "method", "numbers", "within .05", "within .06", "within .10", "mean distance", "largest"], rows
    )


def usual(found: Findings) -> Grid:
    """F, AdjRnd and NMI with the library's defaults, by set and by share of right pairs."""
    every = {data: (data, tuple(GRID)) for data in SETS} | {"average": (SETS, tuple(GRID))}
    every |= {f"average, p = {p:g}": (SETS, tuple(named(p, r) for r in RATES)) for p in RIGHT}
    rows = []
    for title, (data, settings) in every.items():
        cells = {method: Where(DEFAULTS.name, data, settings, method) for method in DEFAULTS.methods}
        shown = [" / ".join(f"{found.mean(cell, m):.2f}" for m, _ in MEASURES.values()) for cell in cells.values()]
        rows.append([title, *shown, found.runs(cells["RDP-means"])])
    return Grid(["data", *DEFAULTS.methods, "repetitions"], rows)


def best_of(found: Findings) -> Grid:
    """The highest F of the runs on each pattern."""
    rows = []
    for data in PATTERNS.data:
        cells = [Where(PATTERNS.name, data, PATTERN_SETTING, method) for method in PATTERNS.methods]
        rows.append([data, *(f"{found.values(cell, 'f').max():.2f}" for cell in cells), found.runs(cells[0])])
    return Grid(["pattern", *PATTERNS.methods, "repetitions"], rows)
