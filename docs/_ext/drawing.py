"""Pictures as SVG inside a page: colors follow the theme, light or dark, and parts of a picture can be links.

The classes of the shapes get their colors in ``_static/cluewise.css``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from cluewise import Clues

N_COLORS = 7
WIDTH = 690  # of most pictures: what a page has room for beside its sidebars


def svg(width: float, height: float, parts: Iterable[str], words: str) -> str:
    """A whole picture; the words tell it to those who cannot see it."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px"'
    return f'<svg class="cw" {size} role="img" aria-label="{escape(words)}">{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words on one line."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def width(words: str, size: float = 13.5, weight: str = "normal") -> float:
    """How wide words are in pixels, by default those of a picture; in DejaVu Sans, of the usual fonts the widest."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(words, font, ismath=False)[0])


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def path(points: Iterable[Sequence[float]], kind: str) -> str:
    """A line through points."""
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>'


def dot(x: float, y: float, kind: str, radius: float = 3.2) -> str:
    """A disc."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, corner: float = 5) -> str:
    """A rectangle with round corners."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} rx="{corner:g}" class="{kind}"/>'


def link(target: str, inside: str, hint: str = "") -> str:
    """A part of the picture that leads elsewhere; the hint appears under the pointer."""
    title = f"<title>{escape(hint)}</title>" if hint else ""
    return f'<a href="{escape(target)}">{title}{inside}</a>'


def relative(target: str, docname: str) -> str:
    """The address of a built page, such as ``guide/clues``, as seen from another one."""
    page, _, anchor = target.partition("#")
    found = posixpath.relpath(f"{page}.html", posixpath.dirname(docname) or ".")
    return f"{found}#{anchor}" if anchor else found


def method(name: str, docname: str) -> str:
    """The address of the page of a method."""
    return relative(f"api/generated/cluewise.{name}#cluewise.{name}", docname)


class Frame(NamedTuple):
    """A rectangle of the picture, and the part of the plane that it shows."""

    x: float
    y: float
    width: float
    height: float
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, X: np.ndarray, x: float, y: float, width: float, height: float, margin: float = 8) -> Frame:
        """A frame that shows all rows, with a margin."""
        low, high = X.min(axis=0), X.max(axis=0)
        rim = (high - low) * margin / (np.array([width, height]) - 2 * margin)
        return cls(x, y, width, height, low - rim, high + rim)

    def at(self, X: np.ndarray) -> np.ndarray:
        """Where points of the plane are in the picture."""
        share = (np.asarray(X, dtype=float) - self.low) / (self.high - self.low)
        return np.array([self.x, self.y + self.height]) + share * [self.width, -self.height]


def grid(n: int, columns: int, height: float) -> tuple[list[tuple[float, float, float, float]], float]:
    """Where n panels of this height go, as x, y, width and height, and the height of the whole picture."""
    gap, above, below = 14, 28, 26
    width = (WIDTH - 2 - gap * (columns - 1)) / columns
    step = above + height + below
    places = [(1 + i % columns * (width + gap), above + i // columns * step, width, height) for i in range(n)]
    return places, -(-n // columns) * step


def colors(labels: Iterable[int]) -> list[str]:
    """A class for each row: clusters by their first row, noise and rows that are alone in their cluster gray."""
    labels = np.asarray(labels)
    names, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    large = [name for name in names[np.argsort(first)] if name >= 0 and sizes[names == name][0] > 1]
    shades = {name: f"c{number % N_COLORS}" for number, name in enumerate(large)}
    return [shades.get(label, "c-none") for label in labels]


def rows(frame: Frame, X: np.ndarray, kinds: Iterable[str] | None = None, radius: float = 3.2) -> str:
    """Rows as dots."""
    kinds = ["c-plain"] * len(X) if kinds is None else kinds
    return "".join(dot(x, y, kind, radius) for (x, y), kind in zip(frame.at(X), kinds, strict=True))


def links(frame: Frame, X: np.ndarray, clues: Clues, broken: Clues | None = None) -> str:
    """Must-links as lines, cannot-links dashed, broken ones red; a labeled row has a rim in the color of its class."""
    red = set() if broken is None else {tuple(pair) for pair in (*broken.must.tolist(), *broken.cannot.tolist())}
    P, found = frame.at(X), []
    for kind, pairs in (("must", clues.must), ("cannot", clues.cannot)):
        for a, b in pairs.tolist():
            found.append(line(*P[a], *P[b], f"link {kind} broken" if (a, b) in red else f"link {kind}"))
    for row in np.flatnonzero(clues.labels >= 0):
        wrong = broken is not None and broken.labels[row] >= 0
        found.append(dot(*P[row], "rim broken" if wrong else f"rim rim{clues.labels[row] % N_COLORS}", 5.6))
    return "".join(found)


def framed(frame: Frame, title: str, note: str = "") -> str:
    """The border of a panel, its title above and a note below."""
    parts = [box(frame.x, frame.y, frame.width, frame.height, "frame")]
    parts.append(text(frame.x, frame.y - 8, title, "title"))
    parts += [text(frame.x, frame.y + frame.height + 17, note, "note")] if note else []
    return "".join(parts)
