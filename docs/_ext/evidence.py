"""What the committed tables of experiments say, and the directive ``front-door-chart``, which draws one of them."""

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
FRONT_DOOR = EXPERIMENTS / "results" / "front_door.md"
RIVAL = "KMeans"  # what everybody has: it hears of no clues

# The settings that the landing page shows, in words of its own.
SHOWN = {
    "n/2 pairs, 0 % wrong": "A pair for every two rows",
    "n/2 pairs, 20 % wrong": "The same, one pair in five wrong",
    "5 % labels, 0 % wrong": "Labels for a twentieth of the rows",
}
OTHERS = (RIVAL, "LabelSpreading", "1-NN", "LogisticRegression")  # from scikit-learn


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


@cache
def front_door() -> dict[str, dict[str, float]]:
    """Mean ARI by setting and method, of the table that compares `Cluewise` with single methods."""
    lines = next(lines for heading, _, lines in tables(FRONT_DOOR.read_text("utf-8")) if heading == "Mean ARI")
    return {
        line["setting"]: {name: float(cell.split()[0]) for name, cell in line.items() if name != "setting" and cell}
        for line in lines
    }


def chart(docname: str) -> str:
    """`Cluewise` and the methods that it was compared with, in three settings; those of other packages in gray."""
    width, gap, step, top = 300, 24, 23, 46
    parts, rows = [], 0
    for number, (setting, words) in enumerate(SHOWN.items()):
        means = {name: mean for name, mean in front_door()[setting].items() if "," not in name}
        left = number * (width + gap)
        start, scale = left + 190, 80
        parts.append(drawing.text(left, 16, words, "title"))
        plain = start + scale * means[RIVAL]
        for row, (name, mean) in enumerate(sorted(means.items(), key=lambda item: -item[1])):
            y, rival = top + step * row, name in OTHERS
            words = f"{name}, no clues" if name == RIVAL else name
            label = drawing.text(start - 8, y + 13, words, "rival" if rival else "", "end")
            if not rival:
                label = drawing.link(drawing.method(name, docname), label)
            parts += [label, drawing.box(start, y + 2, scale * max(mean, 0), 15, "bar rival" if rival else "bar", 2)]
            parts.append(drawing.text(start + scale * max(mean, 0) + 5, y + 14, f"{mean:.2f}", "note"))
        rows = max(rows, len(means))
        parts.append(drawing.line(plain, top - 4, plain, top + step * len(means), "plain"))
        parts.append(drawing.text(plain, top - 9, "K-means", "note", "middle"))
    size = 3 * width + 2 * gap, top + step * rows + 4
    return drawing.svg(*size, parts, "Bars: mean adjusted Rand index of Cluewise and single methods in three settings.")


class FrontDoorChart(SphinxDirective):
    """The chart of the landing page."""

    def run(self) -> list[nodes.Node]:
        """Put the picture on the page."""
        self.env.note_dependency(str(FRONT_DOOR))
        self.env.note_dependency(__file__)
        return [nodes.raw("", f'<div class="cw-wide">{chart(self.env.docname)}</div>', format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("front-door-chart", FrontDoorChart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
