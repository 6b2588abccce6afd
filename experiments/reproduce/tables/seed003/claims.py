"""Sentences of seed 003 as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise, product

import numpy as np

from ...document import Grid
from ...findings import Findings, Missing
from ...parts import count_of
from ...published import printed
from .runs import FIGURES, LARGE, ROWS, SCALING, SLOW, SMALL, TABLE_1, cell
from .tiers import SIZES, SOME, VARIANTS

SETS = SMALL + LARGE
RIVALS = ("RCA", "DCA", "ITML", *(name for name in SLOW if "defaults" not in name))
STEADY = ("RCA", "DCA", "ITML")  # those that the text calls less variable
HALF_POINT = 0.5
READINGS = {
    "": "Eq. (8), largest membership",
    "K-means ": "Eq. (8), K-means",
    "relaxed ": "Eq. (11), largest membership",
    "relaxed K-means ": "Eq. (11), K-means",
}


def nmi(found: Findings, data: str, method: str, stage: str) -> float:
    """Mean in percent."""
    return 100 * found.mean(cell(data, method, stage), "nmi")


def said(values: list[float]) -> str:
    """Numbers for a reader."""
    return " ".join(f"{value:.1f}" for value in values)


def over_sizes(found: Findings, data: str) -> list[float]:
    """Figure 1: NMI in percent from 50 to 300 partitions."""
    return [nmi(found, data, "SCSC", f"m={size}") for size in SIZES]


def rises_with_m(found: Findings) -> tuple[bool, str]:
    """More at 300 than at 50, and no step on the way falls by more than half a point."""
    curves = {data: over_sizes(found, data) for data in LARGE}
    ok = all(v[-1] > v[0] and min(b - a for a, b in pairwise(v)) >= -HALF_POINT for v in curves.values())
    return ok, "m from 50 to 300, " + "; ".join(f"{data}: {said(v)}" for data, v in curves.items())


def flattens(found: Findings) -> tuple[bool, str]:
    """The last step is at most a fifth of the whole range, or half a point."""
    curves = {data: over_sizes(found, data) for data in LARGE}
    ok = all(abs(v[-1] - v[-2]) <= max(np.ptp(v) / 5, HALF_POINT) for v in curves.values())
    words = (f"{data}: last step {v[-1] - v[-2]:+.2f}, range {np.ptp(v):.2f}" for data, v in curves.items())
    return ok, "; ".join(words)


def gains(found: Findings, method: str, variant: str = "") -> tuple[bool, str]:
    """NMI after five tiers is not below that before any pair, on all sets."""
    ends = {data: [nmi(found, data, method, f"{variant}{t}") for t in ("t0", "t5")] for data in SETS}
    words = ", ".join(f"{data} {b - a:+.1f} (from {a:.1f})" for data, (a, b) in ends.items())
    return all(b >= a for a, b in ends.values()), f"t5 less t0: {words}"


def rivals(data: str) -> tuple[str, ...]:
    """Those that the paper shows on a set."""
    return RIVALS if data in SMALL else STEADY


def best(found: Findings, tiers: tuple[int, ...] = SOME, variant: str = "") -> tuple[bool, str]:
    """Above every rival, on all sets, in those tiers that have been run for all of them."""
    wins, words = [], []
    for data, tier in product(SETS, tiers):
        others = {name: nmi(found, data, name, f"t{tier}") for name in rivals(data)}
        mine, top = nmi(found, data, "SCSC", f"{variant}t{tier}"), max(others, key=others.__getitem__)
        wins.append(mine > others[top])
        if tier == tiers[0]:
            words.append(f"{data} {mine:.1f} (best rival: {top} {others[top]:.1f})")
    return all(wins), f"best in {count_of(wins)} cases; t{tiers[0]}: {', '.join(words)}"


def starts_well(found: Findings) -> tuple[bool, str]:
    """With equal weights the ensemble is above its average partition, on all sets."""
    pairs = {d: (nmi(found, d, "SCSC", "t0"), 100 * found.mean(cell(d, "SCSC", "single"), "value")) for d in SETS}
    words = ", ".join(f"{data} {mine:.1f} against {single:.1f}" for data, (mine, single) in pairs.items())
    return all(mine > single for mine, single in pairs.values()), words


def varies(found: Findings) -> tuple[bool, str]:
    """A larger standard deviation than each of the three, on average over sets and tiers."""
    spread = {
        name: float(np.mean([100 * found.std(cell(data, name, f"t{t}"), "nmi") for data in SETS for t in SOME]))
        for name in ("SCSC", *STEADY)
    }
    ok = all(spread["SCSC"] > spread[name] for name in STEADY)
    return ok, "standard deviation: " + ", ".join(f"{name} {value:.2f}" for name, value in spread.items())


def loss_falls(found: Findings, variant: str = "") -> tuple[bool, str]:
    """The loss of the memberships over all pairs is smaller after five tiers, on all sets."""
    ends = {d: [found.mean(cell(d, "SCSC", f"{variant}loss {t}"), "value") for t in ("t0", "t5")] for d in SETS}
    words = ", ".join(f"{data} {a:.2f} → {b:.2f}" for data, (a, b) in ends.items())
    return all(b < a for a, b in ends.values()), f"mean loss of a pair: {words}"


def fewer_broken(found: Findings, variant: str = "") -> tuple[bool, str]:
    """Hard clusters break a smaller share of all pairs after five tiers, on all sets."""
    ends = {d: [100 * found.mean(cell(d, "SCSC", f"{variant}{t}"), "broken") for t in ("t0", "t5")] for d in SETS}
    words = ", ".join(f"{data} {a:.1f} → {b:.1f}" for data, (a, b) in ends.items())
    return all(b < a for a, b in ends.values()), f"broken pairs (%, mean of both kinds): {words}"


def favors(found: Findings, variant: str = "") -> tuple[bool, str]:
    """Weights of the first tier lie on partitions that break fewer of its pairs, on all sets."""
    stages = [f"{variant}broken {when}" for when in ("before", "after")]
    ends = {d: [100 * found.mean(cell(d, "SCSC", stage), "value") for stage in stages] for d in SETS}
    words = ", ".join(f"{data} {a:.1f} → {b:.1f}" for data, (a, b) in ends.items())
    return all(b < a for a, b in ends.values()), f"pairs that partitions break (%, weighted): {words}"


def readings(found: Findings) -> Grid:
    """All variants before, after the first tier and at the end."""
    lines = [("SCSC", variant) for variant in VARIANTS] + [("SCSC, defaults", "")]
    rows = []
    for method, variant in lines:
        name = "library defaults" if "," in method else READINGS[variant]
        cells = []
        for data, stage in product(SETS, ("t0", "t1", "t5")):
            cells.append("")
            with suppress(Missing):
                cells[-1] = f"{nmi(found, data, method, variant + stage):.1f}"
        rows.append([name, *cells])
    alone = [f"{nmi(found, data, 'K-means', ''):.1f}" for data in SETS]
    rows.append(["K-means on all columns, no pairs", *(text for value in alone for text in (value, "", ""))])
    return Grid(["variant", *(f"{data} {stage}" for data in SETS for stage in ("t0", "t1", "t5"))], rows)


def rival_table(found: Findings) -> Grid:
    """Mean and standard deviation after the first, third and fifth tier."""
    rows = []
    for method in (name for name in FIGURES.methods if name != "K-means"):
        cells = []
        for data, tier in product(SETS, SOME):
            cells.append("")
            with suppress(Missing):
                where = cell(data, method, f"t{tier}")
                cells[-1] = f"{100 * found.mean(where, 'nmi'):.1f} ± {100 * found.std(where, 'nmi'):.1f}"
        if any(cells):
            rows.append([method, *cells])
    return Grid(["method", *(f"{data} t{tier}" for data in SETS for tier in SOME)], rows)


def seconds(found: Findings, data: str, method: str, stage: str) -> float:
    """Table 1: mean over repetitions, each the fastest of three runs."""
    return found.mean(cell(data, method, stage, TABLE_1), "value")


def times_longer(ratio: float) -> str:
    """A ratio; two decimals where it is small."""
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def ratios(found: Findings) -> Grid:
    """Table 1: how many times the others take longer than SCSC, printed and here."""
    times = {(n.data, n.method): n.mean for n in printed("seed003_table1_time")}
    rows = []
    for data in TABLE_1.data:
        theirs = {m: times.get(("MNIST8m" if data == "MNIST" else data, m)) for m in TABLE_1.methods}
        for method in (m for m in TABLE_1.methods if m != "SCSC"):
            with suppress(Missing):
                learn, whole = (seconds(found, data, method, stage) for stage in ("learn", "whole"))
                mine = [seconds(found, data, "SCSC", stage) for stage in ("learn", "whole")]
                there = theirs[method]
                printed_ratio = "" if there is None else times_longer(there / (theirs["SCSC"] or np.nan))
                runs = found.runs(cell(data, method, "whole", TABLE_1))
                ours = [times_longer(learn / mine[0]), times_longer(whole / mine[1]), f"{learn:.4f}", f"{whole:.4f}"]
                rows.append([data, method, printed_ratio, *ours, *(f"{s:.4f}" for s in mine), runs])
    if not rows:
        raise Missing(TABLE_1.name)
    here = ["learning alone, here", "the whole, here", "learning, seconds", "the whole, seconds"]
    return Grid(["data", "method", "printed", *here, "SCSC, weights", "SCSC, the whole", "repetitions"], rows)


def fastest(found: Findings, stage: str) -> tuple[bool, str]:
    """SCSC takes less time than all rivals, on all sets."""
    wins, words = [], []
    for data in SETS:
        others = {name: seconds(found, data, name, stage) for name in rivals(data)}
        mine, top = seconds(found, data, "SCSC", stage), min(others, key=others.__getitem__)
        wins.append(mine < others[top])
        words.append(f"{data} {1e3 * mine:.1f} ms (next: {top} {1e3 * others[top]:.1f} ms)")
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


def grows_least(found: Findings) -> tuple[bool, str]:
    """The update of SCSC grows less with the number of rows than any rerun of a rival."""
    mine = growth(found, "SCSC", "learn")
    others = {name: growth(found, name, "whole") for name in STEADY}
    words = ", ".join(f"{name} {factor:.1f}" for name, factor in others.items())
    whole = growth(found, "SCSC", "whole")
    return mine < min(others.values()), f"times longer: SCSC {mine:.1f} (with all labels {whole:.1f}), {words}"
