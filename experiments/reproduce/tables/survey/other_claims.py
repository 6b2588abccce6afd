"""Other sentences of the survey as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...document import Grid
from ...findings import Findings, Missing, Where
from ...parts import count_of
from .claims import told
from .others import BOOSTED, GPS, LANE, RIVALS, STRENGTHS, UNLIKE
from .runs import DATA


def lane_table(found: Findings) -> Grid:
    """The introduction's numbers beside those of made-up roads."""
    rows = []
    for setting, method in (("no constraints", "KMEANS"), ("with constraints", "COP-KMEANS")):
        cell = Where(LANE.name, GPS, setting, method)
        mean = f"{100 * found.mean(cell, 'rand'):.1f} ± {100 * found.std(cell, 'rand'):.1f}"
        rows.append([method, setting, told("intro", GPS.lower(), method), mean, found.runs(cell)])
    return Grid(["method", "setting", "published", "ours", "repetitions"], rows)


def lane_effect(found: Findings) -> tuple[bool, str]:
    """Nearly perfect with constraints (95 % and more), far from it without (below 70 %)."""
    plain = 100 * found.mean(Where(LANE.name, GPS, "no constraints", "KMEANS"), "rand")
    linked = 100 * found.mean(Where(LANE.name, GPS, "with constraints", "COP-KMEANS"), "rand")
    return linked >= 95 and plain < 70, f"{linked:.1f} % against {plain:.1f} %"


def score(found: Findings, data: str, method: str) -> float:
    """Mean ARI among the rivals."""
    return found.mean(Where(RIVALS.name, data, "100 pairs", method), "ari")


def beats(found: Findings, better: str, other: str) -> tuple[bool, str]:
    """Ahead on more than half of the data sets."""
    pairs = {data: (score(found, data, better), score(found, data, other)) for data in DATA}
    ahead = [mine > theirs for mine, theirs in pairs.values()]
    words = ", ".join(f"{data} {mine:.2f} against {theirs:.2f}" for data, (mine, theirs) in pairs.items())
    return sum(ahead) > len(ahead) / 2, f"ahead on {count_of(ahead)}; ARI: {words}"


def boosts(found: Findings) -> tuple[bool, str]:
    """BoostCluster around one of three clusterers is ahead of HMRF-KMEANS in more than half of the twelve cases."""
    ahead = {name: [score(found, d, name) > score(found, d, "HMRF-KMEANS") for d in DATA] for name in BOOSTED}
    words = ", ".join(f"{name.partition(', ')[2]} {sum(won)}" for name, won in ahead.items())
    every = [won for each in ahead.values() for won in each]
    return sum(every) > len(every) / 2, f"ahead in {count_of(every)}; by clusterer, of {len(DATA)}: {words}"


def rivals(found: Findings) -> Grid:
    """Mean ARI of all."""
    rows = [[name, *(f"{score(found, data, name):.3f}" for data in DATA)] for name in RIVALS.methods]
    return Grid(["method", *DATA], rows)


def mostly_must(found: Findings) -> tuple[bool, str]:
    """Must-links alone gain more than half of what all links gain, and more than cannot-links by two standard errors.

    Pairs are the same for every method, so a draw is one case: the mean over the data sets of what differs there.
    """
    names = {"all links": "GMM-EM", "must-links": "GMM-EM, must-links", "cannot-links": "GMM-EM, cannot-links"}
    plain, *linked = paired(found, ["GMM-EM, no links", *names.values()])
    gains = {words: values - plain for words, values in zip(names, linked)}
    more = gains["must-links"] - gains["cannot-links"]
    error = more.std(ddof=1) / np.sqrt(len(more))
    said = ", ".join(f"{words} {gain.mean():+.3f}" for words, gain in gains.items())
    holds = gains["must-links"].mean() > gains["all links"].mean() / 2 > 0 and more.mean() > 2 * error
    return holds, f"mean gain in ARI: {said}; must-links beyond cannot-links {more.mean():+.3f} ± {error:.3f}"


def paired(found: Findings, methods: Sequence[str]) -> np.ndarray:
    """ARI by method and draw, mean over the data sets; draws that lack a result are left out for all."""
    cells = [[Where(RIVALS.name, data, "100 pairs", method) for data in DATA] for method in methods]
    runs = [[found.repetitions(where, "ari") for where in row] for row in cells]
    values = np.array([[[run.get(n) for n in range(RIVALS.seeds)] for run in row] for row in runs], dtype=float)
    means = values.mean(axis=1)
    whole = means[:, ~np.isnan(means).any(axis=0)]
    if whole.shape[1] < 2:
        raise Missing(f"{RIVALS.name} / {', '.join(methods)}")
    return whole


def unlike(found: Findings, stage: str, method: str, strength: int) -> np.ndarray:
    """ARI with the wanted clustering, or seconds."""
    return found.values(Where(UNLIKE.name, "documents", "avoid", f"{method}, {strength}", stage), "value")


def competitive(found: Findings, strength: int) -> tuple[bool, str]:
    """The mean of CondEns is at most .05, or a standard deviation of CCIB if that is more, below that of CCIB."""
    names = ("CondEns", "CCIB", "CondEns on roots")
    mine, theirs, roots = (unlike(found, "ari", name, strength) for name in names)
    words = f"ARI {mine.mean():.3f} ± {mine.std():.3f} against {theirs.mean():.3f} ± {theirs.std():.3f}"
    words += f"; on the roots of the counts {roots.mean():.3f} ± {roots.std():.3f}"
    return mine.mean() >= theirs.mean() - max(0.05, theirs.std()), words


def quicker(found: Findings) -> tuple[bool, str]:
    """CondEns takes less than half the time."""
    mine, theirs = (
        float(np.median(np.concatenate([unlike(found, "seconds", method, strength) for strength in STRENGTHS])))
        for method in ("CondEns", "CCIB")
    )
    return 2 * mine < theirs, f"{mine:.3f} s against {theirs:.3f} s on the wall clock (medians)"
