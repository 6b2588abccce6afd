"""Sentences of seed 003 on its figures as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from ...findings import Findings, Missing, Where
from ...parts import count_of
from .runs import LARGE, SLOW, SMALL, cell
from .tiers import SIZES, SOME

SETS = SMALL + LARGE
RIVALS = ("RCA", "DCA", "ITML", *(name for name in SLOW if "defaults" not in name))
STEADY = ("RCA", "DCA", "ITML")  # those that the text calls less variable
HALF_POINT = 0.5


def nmi(found: Findings, data: str, method: str, stage: str) -> float:
    """Mean in percent."""
    return 100 * found.mean(cell(data, method, stage), "nmi")


def said(values: list[float]) -> str:
    """Numbers for a reader."""
    return " ".join(f"{value:.1f}" for value in values)


def change(found: Findings, before: Where, after: Where) -> tuple[float, float]:
    """NMI after less that before, in percent: mean over the repetitions that have both, and its standard error."""
    first, second = (found.repetitions(where, "nmi") for where in (before, after))
    both = [(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())]
    steps = 100 * np.array([b - a for a, b in both if a is not None and b is not None])
    if not len(steps):
        raise Missing(" / ".join(map(str, after)))
    return float(steps.mean()), float(steps.std(ddof=1) / np.sqrt(len(steps))) if len(steps) > 1 else 0.0


def with_error(mean: float, error: float) -> str:
    """A difference and its standard error; level: no more than that."""
    return f"{mean:+.2f} ± {error:.2f}" + (" (level)" if abs(mean) <= error else "")


def over_sizes(found: Findings, variant: str) -> dict[str, list[float]]:
    """Figure 1: NMI in percent from 50 to 300 partitions."""
    return {data: [nmi(found, data, "SCSC", f"{variant}m={size}") for size in SIZES] for data in LARGE}


def rises_with_m(found: Findings, variant: str = "") -> tuple[bool, str]:
    """More at 300 than at 50, and no step on the way falls by more than half a point."""
    curves = over_sizes(found, variant)
    ok = all(v[-1] > v[0] and min(b - a for a, b in pairwise(v)) >= -HALF_POINT for v in curves.values())
    ends = {d: [cell(d, "SCSC", f"{variant}m={SIZES[end]}") for end in (0, -1)] for d in curves}
    words = (f"{d}: {said(v)} (in all {with_error(*change(found, *ends[d]))})" for d, v in curves.items())
    return ok, f"m from {SIZES[0]} to {SIZES[-1]}, " + "; ".join(words)


def flattens(found: Findings, variant: str = "") -> tuple[bool, str]:
    """The curve rises, and its last step is at most a fifth of its range."""
    curves = over_sizes(found, variant)
    ok = all(v[-1] > v[0] and abs(v[-1] - v[-2]) <= np.ptp(v) / 5 for v in curves.values())
    words = (
        f"{data}: in all {v[-1] - v[0]:+.2f}, last step {v[-1] - v[-2]:+.2f}, range {np.ptp(v):.2f}"
        for data, v in curves.items()
    )
    return ok, "; ".join(words)


def gains(found: Findings, method: str, variant: str = "") -> tuple[bool, str]:
    """NMI after five tiers is not below that before any pair by more than one standard error, on all sets."""
    steps = {d: change(found, *(cell(d, method, f"{variant}{t}") for t in ("t0", "t5"))) for d in SETS}
    starts = {data: nmi(found, data, method, f"{variant}t0") for data in SETS}
    words = ", ".join(f"{data} {with_error(*step)} (from {starts[data]:.1f})" for data, step in steps.items())
    return all(mean >= -error for mean, error in steps.values()), f"t5 less t0, with standard error: {words}"


def above_plain(found: Findings, method: str, variant: str = "") -> tuple[bool, str]:
    """NMI with the pairs of five tiers is above that of K-means without pairs, on all sets."""
    steps = {d: change(found, cell(d, "K-means", ""), cell(d, method, f"{variant}t5")) for d in SETS}
    wins = [mean > 0 for mean, _ in steps.values()]
    words = ", ".join(f"{data} {with_error(*step)}" for data, step in steps.items())
    return all(wins), f"above on {count_of(wins)}; t5 less K-means, with standard error: {words}"


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
    wins, words = [], []
    for data in SETS:
        mine, single = nmi(found, data, "SCSC", "t0"), 100 * found.mean(cell(data, "SCSC", "single"), "value")
        clusters = found.mean(cell(data, "SCSC", "t0"), "clusters")
        wins.append(mine > single)
        words.append(f"{data} {mine:.1f} against {single:.1f} ({clusters:.1f} clusters have rows)")
    return all(wins), ", ".join(words)


def varies(found: Findings, shrunk: bool = False) -> tuple[bool, str]:
    """A larger standard deviation than each of the three, on average over sets and tiers."""
    rival = [f"{name}, defaults" if shrunk and name != "ITML" else name for name in STEADY]
    spread = {
        name: [float(np.mean([100 * found.std(cell(d, name, f"t{t}"), "nmi") for t in SOME])) for d in SETS]
        for name in ("SCSC", *rival)
    }
    ok = all(np.mean(spread["SCSC"]) > np.mean(spread[name]) for name in rival)
    words = (f"{name} {np.mean(values):.2f} ({said(values)})" for name, values in spread.items())
    return ok, f"standard deviation, mean ({', '.join(SETS)}): " + "; ".join(words)


def falls(found: Findings, stages: tuple[str, str], measure: str, factor: float = 1.0) -> tuple[bool, str]:
    """A number of SCSC is smaller at the second stage than at the first, on all sets."""
    ends = {d: [factor * found.mean(cell(d, "SCSC", stage), measure) for stage in stages] for d in SETS}
    words = ", ".join(f"{data} {a:.2f} → {b:.2f}" for data, (a, b) in ends.items())
    return all(b < a for a, b in ends.values()), words


def loss_falls(found: Findings, variant: str = "") -> tuple[bool, str]:
    """The loss of the memberships over all pairs is smaller after five tiers, on all sets."""
    ok, words = falls(found, (f"{variant}loss t0", f"{variant}loss t5"), "value")
    return ok, f"mean loss of a pair: {words}"


def fewer_broken(found: Findings, variant: str = "") -> tuple[bool, str]:
    """Hard clusters break a smaller share of all pairs after five tiers, on all sets."""
    ok, words = falls(found, (f"{variant}t0", f"{variant}t5"), "broken", 100)
    return ok, f"broken pairs (%, mean of both kinds): {words}"


def favors(found: Findings, pairs: str, variant: str = "") -> tuple[bool, str]:
    """Weights of the first tier lie on partitions that break fewer of some pairs, on all sets."""
    ok, words = falls(found, (f"{variant}{pairs} before", f"{variant}{pairs} after"), "value", 100)
    return ok, f"pairs that partitions break (%, weighted): {words}"


def unharmed(found: Findings) -> tuple[bool, str]:
    """No rival as published is worse after five tiers than after one, by more than one standard error."""
    cases, fallen = 0, []
    for data in SETS:
        for name in rivals(data):
            before, after = (cell(data, name, f"t{t}") for t in (1, 5))
            mean, error = change(found, before, after)
            cases += 1
            if mean < -error:
                first, last = nmi(found, data, name, "t1"), nmi(found, data, name, "t5")
                fallen.append(f"{name} on {data} {first:.1f} → {last:.1f}")
    return not fallen, f"worse in {len(fallen)} of {cases} cases" + (f": {', '.join(fallen)}" if fallen else "")


def as_good_as_defaults(found: Findings) -> tuple[bool, str]:
    """RCA, DCA and CCSKL as published are not below the library's defaults, by more than one standard error."""
    cases, below = 0, []
    for data, name, tier in product(SETS, ("RCA", "DCA", "CCSKL"), SOME):
        if name in rivals(data):
            theirs, ours = (cell(data, method, f"t{tier}") for method in (name, f"{name}, defaults"))
            mean, error = change(found, ours, theirs)
            cases += 1
            if mean < -error:
                below.append((mean, f"{name} on {data} at t{tier} {mean:+.1f}"))
    shown = ", ".join(words for _, words in sorted(below)[:6])
    return not below, f"below in {len(below)} of {cases} cases" + (f", farthest: {shown}" if below else "")
