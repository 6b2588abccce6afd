"""The directive ``speed-history``: tables of ``benchmarks/history.json``, with a small picture of each figure."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HISTORY = BENCHMARKS / "history.json"

WIDTH, HEIGHT, EDGE = 110, 36, 4
LOWEST, HIGHEST = 1 / 8, 2.0
"""Ratios, divided by the goal, between which pictures are drawn; what lies outside is drawn at the edge."""


class Point(NamedTuple):
    """A figure of one run."""

    run: int
    words: str  # version, commit and date
    ratio: float
    goal: float
    noise: float | None
    against: str


def collect(entries: list[dict[str, Any]]) -> dict[str, dict[str, list[Point]]]:
    """Points by benchmark and figure, in the order of the runs."""
    found: dict[str, dict[str, list[Point]]] = {}
    for run, entry in enumerate(entries):
        words = f"{entry['version']}, {entry['commit']}, {entry['date']}"
        for benchmark, figures in entry["figures"].items():
            for name, f in figures.items():
                point = Point(run, words, f["ratio"], f["goal"], f.get("noise"), f["against"])
                found.setdefault(benchmark, {}).setdefault(name, []).append(point)
    return found


def draw(points: list[Point], runs: int) -> str:
    """A picture of one figure over all runs: ratios on a logarithmic scale, their noise, and the goal as a line."""
    goal = _height(1.0)
    parts = [f'<line x1="0" x2="{WIDTH}" y1="{goal:.1f}" y2="{goal:.1f}" stroke="#d62728" stroke-dasharray="3 2"/>']
    places = [(_place(p.run, runs), _height(p.ratio / p.goal)) for p in points]
    if len(points) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-opacity=".4"/>')
    for p, (x, y) in zip(points, places):
        if p.noise is not None:
            low, high = _height(p.ratio / p.noise / p.goal), _height(p.ratio * p.noise / p.goal)
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="currentColor"/>')
        title = escape(f"{p.ratio:g} ({p.words})")
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="currentColor"><title>{title}</title></circle>')
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">{"".join(parts)}</svg>'


def _place(run: int, runs: int) -> float:
    """Left to right; a single run stands in the middle."""
    return WIDTH / 2 if runs == 1 else EDGE + run / (runs - 1) * (WIDTH - 2 * EDGE)


def _height(share: float) -> float:
    """Pixels from above of a ratio divided by its goal."""
    share = min(max(share, LOWEST), HIGHEST)
    return EDGE + math.log(HIGHEST / share) / math.log(HIGHEST / LOWEST) * (HEIGHT - 2 * EDGE)


def question(benchmark: str) -> str:
    """What a benchmark asks: the first line of its file."""
    text = (BENCHMARKS / f"{benchmark}.py").read_text("utf-8")
    first = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    return re.sub(r"^P\d+: ", "", first)  # the number of a goal


def page(entries: list[dict[str, Any]]) -> Iterator[str]:
    """The runs, then a table for each benchmark, in Markdown."""
    yield from ("| run | version | commit | date of the commit | machine |", "|---|---|---|---|---|")
    for number, entry in enumerate(entries, 1):
        yield f"| {number} | {entry['version']} | `{entry['commit']}` | {entry['date']} | {entry['machine']} |"
    for benchmark, figures in collect(entries).items():
        yield from ("", f"**{benchmark}**: {question(benchmark)}", "")
        yield from ("| figure and its anchor | ratio | noise | goal | all runs |", "|---|---:|---:|---:|---|")
        for name, points in figures.items():
            last = points[-1]
            noise = "" if last.noise is None else f"{last.noise:.2f}"
            mark = "" if last.ratio <= last.goal else " ✗"
            numbers = f"{last.ratio:.3g}{mark} | {noise} | {last.goal:.3g}"
            yield f"| {name}<br><small>{last.against}</small> | {numbers} | {draw(points, len(entries))} |"


class SpeedHistory(SphinxDirective):
    """All figures of all runs."""

    def run(self) -> list[nodes.Node]:
        """Let Sphinx read the lines as if they stood on the page."""
        self.env.note_dependency(str(HISTORY))
        box = nodes.container()
        lines = list(page(json.loads(HISTORY.read_text("utf-8"))))
        self.state.nested_parse(StringList(lines, "speed"), self.content_offset, box)
        return box.children


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("speed-history", SpeedHistory)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
