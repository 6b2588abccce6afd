"""Drawings of the report as SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from cluewise._typing import Floats, Ints
from cluewise.plots.style import BROKEN, INK, get_style
from cluewise.plots.view import make_view

__all__ = ["draw_bar", "draw_map", "draw_effect"]

POINTS = 3000
"""Maximum number of rows on the map."""

_NAMED = 1500  # up to so many points tell their names
_LINES = 200  # broken links
_WIDE, _HIGH, _EDGE = 720, 460, 16


def draw_map(X: Floats, labels: Ints, tied: Ints, broken: Ints, name: Callable[[int], str]) -> tuple[str, str]:
    """A map of the rows in the colors of their clusters, and what to write below it.

    ``tied`` rows have a rim; ``broken`` are pairs of rows.
    """
    n = len(labels)
    lines = broken[:_LINES]
    rows = np.arange(n)
    if n > POINTS:
        rows = np.random.default_rng(0).choice(n, POINTS, replace=False)
        rows = np.unique(np.concatenate([rows, lines.ravel()]))
    view = make_view(X[rows], None, np.empty(0, dtype=np.int64))
    low, span = view.xy.min(axis=0), np.ptp(view.xy, axis=0)
    xy = (view.xy - low) / np.where(span > 0, span, 1)
    xy = _EDGE + xy * [_WIDE - 2 * _EDGE, _HIGH - 2 * _EDGE]
    xy[:, 1] = _HIGH - xy[:, 1]
    size = float(np.clip(60 / np.sqrt(len(rows)), 1.6, 5))
    parts = [f'<svg viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="Map of the rows" class="map">']
    rim = np.isin(rows, tied)
    for cluster in np.unique(labels[rows]).tolist():
        parts.append(f'<g fill="{get_style(cluster)[0]}" fill-opacity=".85">')
        for i in np.flatnonzero(labels[rows] == cluster).tolist():
            mark = f' stroke="{INK}" stroke-width="1.3"' if rim[i] else ""
            circle = f'<circle cx="{xy[i, 0]:.1f}" cy="{xy[i, 1]:.1f}" r="{size:.1f}"{mark}'
            title = f"<title>{escape(name(int(rows[i])))}</title></circle>" if len(rows) <= _NAMED else ""
            parts.append(f"{circle}>{title}" if title else f"{circle}/>")
        parts.append("</g>")
    place = {int(row): i for i, row in enumerate(rows)}
    for a, b in lines.tolist():
        (x1, y1), (x2, y2) = xy[place[a]], xy[place[b]]
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        parts.append(f'<line {ends} stroke="{BROKEN}" stroke-width="1.2" stroke-opacity=".8"/>')
    for cluster in np.unique(labels[labels >= 0]).tolist():
        own = xy[labels[rows] == cluster]
        if len(own):
            x, y = np.median(own, axis=0)
            parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="tag">{cluster}</text>')
    words = f"Across: {view.names[0]}; up: {view.names[1]}."
    if len(rows) < n:
        words += f" {len(rows)} of {n} rows are drawn."
    return "".join([*parts, "</svg>"]), words


def draw_bar(share: float, color: str) -> str:
    """A bar from the left."""
    width = 100 * min(max(share, 0), 1)
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" class="bar" aria-hidden="true">'
        f'<rect width="100" height="10" fill="#eee"/><rect width="{width:.1f}" height="10" fill="{color}"/></svg>'
    )


def draw_effect(effect: float, color: str) -> str:
    """A bar from the middle: to the right for more, to the left for less."""
    width = 50 * min(abs(effect), 1)
    start = 50 if effect > 0 else 50 - width
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" class="bar" aria-hidden="true">'
        f'<rect width="100" height="10" fill="#eee"/><rect x="{start:.1f}" width="{width:.1f}" height="10" '
        f'fill="{color}"/><rect x="49.7" width=".6" height="10" fill="{INK}"/></svg>'
    )
