"""A document in blocks, written once as Markdown and once as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Block", "Bullets", "Grid", "Heading", "Picture", "Text", "to_html", "to_markdown"]


class Heading(NamedTuple):
    """A title; level 1 is that of the document."""

    level: int
    text: str


class Text(NamedTuple):
    """A paragraph; words between backticks are code."""

    text: str


class Bullets(NamedTuple):
    """A list."""

    items: Sequence[str]


class Grid(NamedTuple):
    """A table."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class Picture(NamedTuple):
    """A figure in a file beside the document."""

    file: str
    caption: str


Block = Heading | Text | Bullets | Grid | Picture

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 2px 12px 2px 0; border-bottom: 1px solid #ddd; }
th { border-bottom-color: #888; }
img { max-width: 100%; }
figcaption { color: #555; font-size: 13px; }
.held { color: #006d4e; } .broken { color: #b00020; font-weight: bold; }
"""


def to_markdown(blocks: Sequence[Block]) -> str:
    """GitHub's kind of Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Bullets(items):
            return "\n".join(f"- {item}" for item in items)
        case Picture(file, caption):
            return f"![{caption}]({file})"
        case Grid(header, rows):
            lines = [header, ["---"] * len(header), *rows]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def to_html(blocks: Sequence[Block]) -> str:
    """One page that needs nothing but its figures."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block) for block in blocks)
    head = f'<meta charset="utf-8"><title>{_inline(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
        case Picture(file, caption):
            words = _inline(caption)
            return f'<figure><img src="{html.escape(file)}" alt="{words}"><figcaption>{words}</figcaption></figure>'
        case Grid(header, rows):
            head = "".join(f"<th>{_inline(cell)}</th>" for cell in header)
            body = "\n".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
            return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _cell(text: str) -> str:
    kind = {"✓": ' class="held"', "✗": ' class="broken"'}.get(text, "")
    return f"<td{kind}>{_inline(text)}</td>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
