"""Tables of seed 003: readings of SCSC, and the rivals."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from ...document import Grid
from ...findings import Findings, Missing, Where
from .claims import SETS, nmi
from .runs import FIGURES, cell
from .tiers import SOME, VARIANTS

READINGS = {
    "": "Eq. (8), largest membership",
    "K-means ": "Eq. (8), K-means",
    "relaxed ": "Eq. (11), largest membership",
    "relaxed K-means ": "Eq. (11), K-means",
}
ENDS = ("t0", "t1", "t5")


def fewest(found: Findings, cells: list[Where]) -> str:
    """Repetitions of the cell that has the fewest, of those that have any."""
    runs = [found.runs(where) for where in cells]
    return min((text for text in runs if not text.startswith("0 ")), key=lambda text: int(text.split()[0]), default="0")


def readings(found: Findings) -> Grid:
    """All variants before, after the first tier and at the end."""
    lines = [("SCSC", variant) for variant in VARIANTS] + [("SCSC, defaults", "")]
    rows = []
    for method, variant in lines:
        name = "library defaults" if "," in method else READINGS[variant]
        places = [cell(data, method, variant + stage) for data, stage in product(SETS, ENDS)]
        texts = []
        for where in places:
            texts.append("")
            with suppress(Missing):
                texts[-1] = f"{100 * found.mean(where, 'nmi'):.1f}"
        rows.append([name, *texts, fewest(found, places)])
    alone = [f"{nmi(found, data, 'K-means', ''):.1f}" for data in SETS]
    runs = fewest(found, [cell(data, "K-means", "") for data in SETS])
    rows.append(["K-means on all columns, no pairs", *(text for value in alone for text in (value, "", "")), runs])
    return Grid(["variant", *(f"{data} {stage}" for data in SETS for stage in ENDS), "repetitions"], rows)


def rival_table(found: Findings) -> Grid:
    """Mean and standard deviation after the first, third and fifth tier."""
    rows = []
    for method in (name for name in FIGURES.methods if name != "K-means"):
        places = [cell(data, method, f"t{tier}") for data, tier in product(SETS, SOME)]
        texts = []
        for where in places:
            texts.append("")
            with suppress(Missing):
                texts[-1] = f"{100 * found.mean(where, 'nmi'):.1f} ± {100 * found.std(where, 'nmi'):.1f}"
        if any(texts):
            rows.append([method, *texts, fewest(found, places)])
    return Grid(["method", *(f"{data} t{tier}" for data in SETS for tier in SOME), "repetitions"], rows)
