"""One self-contained page with the next questions."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cluewise.rows import Rows
from cluewise.workspace.data import Data
from cluewise.workspace.items import Line, compare_rows, sentence, spreads
from cluewise.workspace.offline.pictures import Pictures

if TYPE_CHECKING:
    from cluewise.active import Project, Question

__all__ = ["FORMAT", "KEY", "write_page"]

FORMAT = 1
KEY = "key"
"""The setting that tells a project from others; made with its first page."""

LETTERS = 4000
"""Of a cell that are shown."""

_PLACES = re.compile(r"\{\{(\w+)\}\}")


def write_page(
    talk: Project, data: Data, rows: Rows, questions: Sequence[Question], who: str = ""
) -> tuple[str, list[str]]:
    """The page as text, and a sentence for each thing that is left out of it."""
    pictures, spread = Pictures(data, rows), spreads(data)
    shown = [_show(question, data, spread, pictures) for question in questions]
    content = {
        "format": FORMAT,
        "project": _key(talk),
        "page": secrets.token_hex(8),
        "title": data.table.name,
        "who": who,
        "classes": [str(name) for name in talk.state.clues.classes_.tolist()],
        "questions": shown,
        "pictures": pictures.uris,
    }
    notes = []
    if pictures.unread:
        notes.append(f"Pictures that cannot be read and are left out: {pictures.unread}.")
    if pictures.too_many:
        notes.append(f"Pictures left out because the page would be too large for a mail: {pictures.too_many}.")
    return _fill(content), notes


def _key(talk: Project) -> str:
    talk.store.settings.claim(KEY, {KEY: secrets.token_hex(8)})  # unless it has one
    return str(talk.store.settings[KEY])


def _show(question: Question, data: Data, spread: dict[str, float], pictures: Pictures) -> dict[str, Any]:
    lines, left_out = compare_rows(data, question.rows, spread)
    return {
        "kind": question.kind,
        "rows": list(question.rows),
        "text": sentence(question, data),
        "why": question.why,
        "names": [data.name(row) for row in question.rows],
        "lines": [_line(line) for line in lines if line.name not in pictures.columns],
        "more": len(left_out),
        "pictures": pictures.of(question.rows),
    }


def _line(line: Line) -> dict[str, Any]:
    """A column in words for people who do not count in standard deviations."""
    several = len(line.cells) > 1
    return {
        "name": line.name,
        "cells": [cell if len(cell) <= LETTERS else cell[: LETTERS - 1] + "…" for cell in line.cells],
        "apart": _apart(line) if several else "",
        "share": round(min(line.deviations / 3, 1), 3),
        "far": line.deviations >= 2,
    }


def _apart(line: Line) -> str:
    if line.deviations == 0:
        return {"=": "same", "differs": "different"}.get(line.apart, "")
    limits = ((0.1, "nearly the same"), (1, "a little apart"), (2, "apart"))
    return next((words for limit, words in limits if line.deviations < limit), "far apart")


def _fill(content: dict[str, Any]) -> str:
    """The template with style, script and content; its policy allows these, pictures in it, and nothing else."""
    own = files("cluewise.workspace.offline")
    style, script = (own.joinpath(name).read_text("utf-8") for name in ("style.css", "script.js"))
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    # No "<" of the data may end the element that holds them, or begin a comment in it.
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"policy": policy, "style": style, "script": script, "data": text}
    return _PLACES.sub(lambda found: parts[found[1]], own.joinpath("template.html").read_text("utf-8"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
