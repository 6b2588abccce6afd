"""Sentences of seed 000 as checks: each returns whether it holds, and the numbers that say so."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...document import Grid
from ...findings import Findings, Where
from ...parts import count_of
from ...published import printed
from .runs import FIGURE_3, FIGURE_4, LARGE, PUBLISHED, SHARES, SMALL, TABLE_3, TOO_MANY, TRUSTS, cell


def nmi(found: Findings, data: str, setting: str, method: str) -> float:
    """Mean in percent."""
    return 100 * found.mean(cell(data, setting, method), "nmi")


def row(found: Findings, data: str, method: str) -> list[float]:
    """Means from 10 to 50 % labels."""
    return [nmi(found, data, f"{share}%", method) for share in SHARES]


def said(values: list[float]) -> str:
    """Numbers for a reader."""
    return " ".join(f"{value:.1f}" for value in values)


def best(found: Findings) -> tuple[bool, str]:
    """Ours has the highest mean in more than half of the scenarios."""
    wins = []
    for data, share in product(SMALL | LARGE, SHARES):
        run = [method for method in PUBLISHED if (data, f"{share}%", method) != TOO_MANY]
        wins.append(max(run, key=lambda method: nmi(found, data, f"{share}%", method)) == "Ours")
    return sum(wins) > len(wins) / 2, f"best in {count_of(wins)} scenarios"


def except_large(found: Findings) -> tuple[bool, str]:
    """KCC is ahead on the two large sets with many labels."""
    ahead = [nmi(found, d, s, "KCC") > nmi(found, d, s, "Ours") for d in LARGE for s in ("40%", "50%")]
    return all(ahead), f"KCC is ahead in {count_of(ahead)}"


def rises(found: Findings, method: str) -> tuple[bool, str]:
    """Higher with 50 % labels than with 10 %, on all sets."""
    gains = {data: nmi(found, data, "50%", method) - nmi(found, data, "10%", method) for data in SMALL | LARGE}
    words = ", ".join(f"{data} {gain:+.1f}" for data, gain in gains.items())
    return min(gains.values()) > 0, f"50 % against 10 %: {words}"


def no_gain(found: Findings) -> tuple[bool, str]:
    """LCVQE gains less on glass, from 10 to 50 % labels, than it varies between repetitions."""
    values = row(found, "glass", "LCVQE")
    spread = 100 * found.std(cell("glass", "50%", "LCVQE"), "nmi")
    return values[-1] - values[0] < spread, f"10 to 50 %: {said(values)}, std {spread:.1f}"


def worse(found: Findings) -> tuple[bool, str]:
    """LCVQE ends lower than it begins, on four sets."""
    last = {"glass": "50%", "pendigits": "40%", "satimage": "50%", "wine": "50%"}
    gains = {d: nmi(found, d, share, "LCVQE") - nmi(found, d, "10%", "LCVQE") for d, share in last.items()}
    words = ", ".join(f"{data} {gain:+.1f}" for data, gain in gains.items())
    return max(gains.values()) < 0, f"50 % (pendigits 40 %) against 10 %: {words}"


def steadier(found: Findings) -> tuple[bool, str]:
    """Ours has the smallest standard deviation, on average."""
    spread = {
        method: float(np.mean([100 * found.std(cell(d, f"{s}%", method), "nmi") for d in SMALL for s in SHARES]))
        for method in PUBLISHED
    }
    return min(spread, key=spread.__getitem__) == "Ours", ", ".join(f"{m} {v:.2f}" for m, v in spread.items())


def level(found: Findings, data: str, method: str) -> list[tuple[float, float]]:
    """Figure 3: mean and standard deviation for every λ."""
    cells = [Where(FIGURE_3.name, data, "50%", f"{method} {t:g}") for t in TRUSTS]
    return [(100 * found.mean(c, "nmi"), 100 * found.std(c, "nmi")) for c in cells]


def rises_with_trust(found: Findings) -> tuple[bool, str]:
    """Ours is higher at 1e6 than at 1e2, and at most a fifth of the rise comes after 1e4."""
    curves = {data: [mean for mean, _ in level(found, data, "Ours")] for data in LARGE}
    ok = all(v[-1] > v[0] and abs(v[-1] - v[2]) <= (v[-1] - v[0]) / 5 for v in curves.values())
    return ok, "λ from 1e2 to 1e6, " + "; ".join(f"{data}: {said(v)}" for data, v in curves.items())


def kcc_steady(found: Findings) -> tuple[bool, str]:
    """The means of KCC differ by less than its standard deviation, which is larger than that of Ours over all λ."""
    words, ok = [], True
    for data in LARGE:
        means, theirs = zip(*level(found, data, "KCC"))
        _, mine = zip(*level(found, data, "Ours"))
        ok &= bool(np.ptp(means) < np.mean(theirs) and np.mean(theirs) > np.mean(mine))
        words.append(f"{data}: {said(list(means))}, std {np.mean(theirs):.1f} (Ours {np.mean(mine):.1f})")
    return ok, "; ".join(words)


def fall(found: Findings, data: str, method: str) -> float:
    """Figure 4: points lost between no noise and half of the labels drawn anew."""
    ends = [Where(FIGURE_4.name, data, noise, method) for noise in ("0%", "50%")]
    clean, noisy = (100 * found.mean(end, "nmi") for end in ends)
    return clean - noisy


def robust(found: Findings) -> tuple[bool, str]:
    """Ours loses least, and not more than 5 points."""
    lost = {data: {method: fall(found, data, method) for method in PUBLISHED} for data in FIGURE_4.data}
    ok = all(v["Ours"] <= 5 and v["Ours"] == min(v.values()) for v in lost.values())
    return ok, "; ".join(f"{d}: " + ", ".join(f"{m} −{x:.1f}" for m, x in v.items()) for d, v in lost.items())


def sharp(found: Findings) -> tuple[bool, str]:
    """LCVQE and KCC lose more than 5 points."""
    lost = {(data, method): fall(found, data, method) for data in FIGURE_4.data for method in ("LCVQE", "KCC")}
    return min(lost.values()) > 5, ", ".join(f"{data} {method} −{x:.1f}" for (data, method), x in lost.items())


def ratios(found: Findings) -> Grid:
    """Table III: how many times the others take longer, printed and here."""
    times = {(n.data, n.method): n.mean for n in printed("seed000_table3_time")}
    rows = []
    for data in TABLE_3.data:
        cells = {method: Where(TABLE_3.name, data, "10%", method) for method in PUBLISHED}
        ours = {method: found.mean(where, "value") for method, where in cells.items()}
        theirs = {method: times[data, method] or np.nan for method in PUBLISHED}
        rows.append(
            [
                data,
                *(f"{theirs[m] / theirs['Ours']:.1f}" for m in ("LCVQE", "KCC")),
                *(f"{ours[m] / ours['Ours']:.1f}" for m in ("LCVQE", "KCC")),
                *(f"{ours[m]:.4f}" for m in PUBLISHED),
                found.runs(cells["Ours"]),
            ]
        )
    header = ["data", "LCVQE : Ours, printed", "KCC : Ours, printed", "LCVQE : Ours, here", "KCC : Ours, here"]
    return Grid([*header, *(f"{m}, seconds" for m in PUBLISHED), "repetitions"], rows)


def faster(found: Findings, method: str, times: float) -> tuple[bool, str]:
    """So many times faster on pendigits."""
    took = {m: found.mean(Where(TABLE_3.name, "pendigits", "10%", m), "value") for m in ("Ours", method)}
    ratio = took[method] / took["Ours"]
    return ratio >= times, f"{ratio:.1f} times ({took['Ours']:.4f} s against {took[method]:.4f} s)"
