"""What the committed tables of experiments say, and the directive ``leaderboard-chart``, which draws it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import drawing
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
LEADERBOARD = EXPERIMENTS / "report" / "leaderboard.md"
RIVAL = "KMeans"  # what everybody has: it hears of no clues

# The settings that the landing page shows, in words of its own.
SHOWN = {
    "n/2 pairs": "A pair for every two rows",
    "n/2 pairs, 10 % wrong": "The same, one pair in ten wrong",
    "10 % labels": "Labels for a tenth of the rows",
}


class Result(NamedTuple):
    """A method in one setting of the leaderboard."""

    place: int  # by the mean of its places on the data sets
    method: str
    rival: bool
    ari: float  # mean over the data sets
    broken: str  # percent of the clues, empty if there are none to break
    seconds: str  # median, empty if every fit failed
    failed: int  # fits without a result, those stopped for time included


class Setting(NamedTuple):
    """A table of the leaderboard."""

    results: dict[str, Result]
    close: int  # how many methods are within the critical difference of the first

    @property
    def plain(self) -> float:
        """The mean ARI of K-means without clues."""
        return self.results[RIVAL].ari


def tables(text: str) -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    """Every table of a page in Markdown: the heading above it, the words between, and its lines by column."""
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        for found in re.finditer(r"(?:^\|.*\|\n?)+", body, re.MULTILINE):
            header, _, *lines = ([cell.strip() for cell in row.strip("|").split("|")] for row in found[0].splitlines())
            yield heading, body[: found.start()], [dict(zip(header, cells, strict=True)) for cells in lines]


@cache
def leaderboard() -> dict[str, Setting]:
    """The leaderboard by setting, such as "n/2 pairs, 10 % wrong"."""
    found = {}
    for heading, words, lines in tables(LEADERBOARD.read_text("utf-8")):
        if "mean place" in lines[0]:
            close = re.search(r"(\d+) others are within it", words)
            results = [_result(cells) for cells in lines]
            found[heading] = Setting({result.method: result for result in results}, int(close[1]) if close else 0)
    return found


def _result(cells: dict[str, str]) -> Result:
    name = cells["method"].strip("*")
    failed = int(cells["failed"]) + int(next(cells[column] for column in cells if column.startswith("over ")))
    numbers = float(cells["ARI"]), cells["broken (%)"], cells["median s"], failed
    return Result(int(cells[""]), name, name != cells["method"], *numbers)


def chart(docname: str, n_shown: int = 8) -> str:
    """The leaderboard in one picture: the methods with the largest means, and K-means without clues."""
    width, gap, step, top = 300, 24, 23, 46
    parts = []
    for number, (setting, words) in enumerate(SHOWN.items()):
        table = leaderboard()[setting]
        ranked = sorted(table.results.values(), key=lambda result: -result.ari)
        shown = [r for r in ranked if not r.rival][:n_shown] + [r for r in ranked if r.rival][:2]
        shown = sorted({result.method: result for result in [*shown, table.results[RIVAL]]}.values(), key=ranked.index)
        left = number * (width + gap)
        start, scale = left + 190, 120
        parts.append(drawing.text(left, 16, words, "title"))
        bottom = top + step * len(shown)
        plain = start + scale * table.plain
        for row, result in enumerate(shown):
            y = top + step * row
            kind = "bar rival" if result.rival else "bar"
            name = f"{result.method}, no clues" if result.method == RIVAL else result.method
            label = drawing.text(start - 8, y + 13, name, "rival" if result.rival else "", "end")
            if not result.rival:
                label = drawing.link(drawing.method(result.method, docname), label)
            parts += [label, drawing.box(start, y + 2, scale * max(result.ari, 0), 15, kind, 2)]
            parts.append(drawing.text(start + scale * max(result.ari, 0) + 5, y + 14, f"{result.ari:.2f}", "note"))
        parts.append(drawing.line(plain, top - 4, plain, bottom, "plain"))
        parts.append(drawing.text(plain, top - 9, "K-means", "note", "middle"))
    size = 3 * width + 2 * gap, top + step * (n_shown + 3) + 4
    return drawing.svg(*size, parts, "Bars: mean adjusted Rand index of the best methods in three settings.")


class LeaderboardChart(SphinxDirective):
    """The chart of the landing page."""

    def run(self) -> list[nodes.Node]:
        """Put the picture on the page."""
        self.env.note_dependency(str(LEADERBOARD))
        self.env.note_dependency(__file__)
        return [nodes.raw("", f'<div class="cw-wide">{chart(self.env.docname)}</div>', format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("leaderboard-chart", LeaderboardChart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
