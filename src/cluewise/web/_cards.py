"""Rows, questions and answers as the page reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from cluewise._typing import Array
from cluewise.active import Act, Answer, Question
from cluewise.rows import Rows
from cluewise.workspace import items
from cluewise.workspace.data import Data

__all__ = ["Cards", "entry_json", "find_kinds"]

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".avif")
LARGE = 2.0
"""Standard deviations from which on a difference is marked."""

_KINDS = {"ordered": "category", "vector": "text"}
_LOOKED_AT = 200  # cells that tell the kind of a column that is not clustered by


def find_kinds(data: Data, rows: Rows) -> dict[str, str]:
    """The kind of each column that is shown: number, category, date, text, image or url."""
    plans = {plan.name: plan.kind for plan in rows.plan_ if plan.width}
    return {
        name: _recognize(column) or _KINDS.get(plans.get(name, ""), plans.get(name, _guess(column)))
        for name, column in data.shown.items()
    }


def _recognize(column: Array) -> str | None:
    """Whether texts are addresses or paths of pictures."""
    if column.dtype.kind != "O":
        return None
    some = [str(cell).strip().lower() for cell in column[:_LOOKED_AT] if cell not in (None, "") and cell == cell]
    if some and all(cell.startswith(("http://", "https://")) for cell in some):
        return "url"
    if some and all(cell.endswith(PICTURES) for cell in some):
        return "image"
    return None


def _guess(column: Array) -> str:
    if column.dtype.kind == "M":
        return "date"
    if column.dtype.kind != "O":
        return "number"
    some = {str(cell) for cell in column[:_LOOKED_AT]}
    return "category" if len(some) <= min(20, len(column) / 2) else "text"


class Cards:
    """Writes cards of rows and questions.

    Parameters
    ----------
    data : Data
        The table.
    kinds : dict of str to str
        The kind of each column.
    remote_images : bool
        Whether pictures may come from addresses in the table.
    """

    def __init__(self, data: Data, kinds: dict[str, str], remote_images: bool) -> None:
        self._data, self._kinds, self._remote = data, kinds, remote_images
        self._spread = items.spreads(data)

    def question(self, question: Question, *, number: int, again: bool, classes: Sequence[str]) -> dict[str, Any]:
        """A question with everything that a person has to see."""
        data, rows = self._data, list(question.rows)
        shown, more = items.compare_rows(data, rows, self._spread)
        return {
            "kind": question.kind,
            "rows": rows,
            "words": items.sentence(question, data),
            "why": question.why,
            "number": number,
            "again": again,
            "items": [{"row": row, "name": data.name(row), "images": self.images(row)} for row in rows],
            "columns": [
                {
                    "name": line.name,
                    "kind": self._kinds[line.name],
                    "cells": line.cells,
                    "apart": line.apart.removesuffix(" !"),
                    "large": line.deviations >= LARGE,
                }
                for line in shown
                if self._kinds[line.name] != "image"
            ],
            "more_columns": len(more),
            "classes": list(classes) if question.kind == "label" else [],
        }

    def cells(self, row: int) -> list[dict[str, Any]]:
        """What a row has in each column."""
        table = self._data.table.columns
        return [
            {"column": name, "kind": kind, "text": items.text(table[name][row])} for name, kind in self._kinds.items()
        ]

    def images(self, row: int) -> list[str]:
        """Addresses of the pictures of a row."""
        found = []
        for name, kind in self._kinds.items():
            cell = self._data.table.columns[name][row]
            if cell is None or cell != cell or cell == "":
                continue
            if kind == "image":
                found.append(f"/api/images/{row}/{quote(name, safe='')}")
            elif kind == "url" and self._remote and str(cell).lower().split("?")[0].endswith(PICTURES):
                found.append(str(cell))
        return found


def entry_json(
    number: int, said: Answer | Act, stands: bool, data: Data, *, broken: bool = False, doubt: float | None = None
) -> dict[str, Any]:
    """An entry of the history."""
    if isinstance(said, Act):
        ends = [*(row for pair in (*said.must, *said.cannot) for row in pair), *(row for row, _ in said.labels)]
        rows = list(dict.fromkeys([*ends, *said.anchors]))[:100]
        what: dict[str, Any] = {"kind": "act", "words": said.shown, "rows": rows, "value": None, "seconds": None}
    else:
        what = {
            "kind": said.question.kind,
            "words": items.words(said, data),
            "rows": list(said.question.rows),
            "value": said.value,
            "seconds": said.seconds,
        }
    doubt = None if doubt is None or np.isnan(doubt) else float(doubt)
    return {
        "id": number,
        "who": said.who,
        "when": said.when,
        **what,
        "stands": stands,
        "broken": broken,
        "doubt": doubt,
    }
