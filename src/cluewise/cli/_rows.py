"""Rows of the data side by side, for people who have to tell whether they belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cluewise.cli import _show
from cluewise.cli._data import Data

__all__ = ["show_rows"]

MOST = 15
"""Columns that are shown; of more, those in which the rows differ most."""

WIDEST = 60
"""Letters of a cell that are shown."""


def show_rows(data: Data, rows: Sequence[int], titles: Sequence[str]) -> None:
    """A table with a line for each column of the data and a column for each row; what differs most comes first.

    Columns that are not clustered by (names, texts) stand at the top: a person may know more than the method.
    """
    spread = {name: float(np.std(data.X[:, j])) for j, name in enumerate(data.columns)}
    names = [data.name(row) for row in rows]  # stand above the table already
    said = [name for name in data.table.columns if name not in spread and _texts(data, name, rows) != names]
    numbers = {name: data.X[list(rows), data.columns.index(name)].astype(float) for name in data.columns}
    differs = {name: _differs(values, spread[name]) for name, values in numbers.items()}
    ranked = sorted(data.columns, key=lambda name: -differs[name]) if len(rows) > 1 else list(data.columns)
    shown = ranked[: max(MOST - len(said), 5)]
    lines = []
    for name in said[:MOST]:
        texts = _texts(data, name, rows)
        lines.append([name, *map(_short, texts), _same(texts)])
    for name in shown:
        cells = [_number(value) for value in numbers[name]]
        lines.append([name, *cells, _words(differs[name])])
    header = ["", *titles, "apart by"]
    if len(rows) == 1:
        header, lines = header[:-1], [line[:-1] for line in lines]
    _show.table(header, lines)
    if len(shown) < len(ranked):
        rest = sum(differs[name] > 0 for name in ranked[len(shown) :])
        words = f", of which {rest} differ less" if len(rows) > 1 else ""
        _show.say(f"({len(ranked) - len(shown)} more columns{words}.)")


def _differs(values: Any, spread: float) -> float:
    """Range of some values in standard deviations of the column."""
    width = float(values.max() - values.min())
    return width / spread if spread > 0 else 0.0


def _words(deviations: float) -> str:
    if deviations == 0:
        return "="
    if deviations < 0.1:
        return "< 0.1 sd"
    return f"{deviations:.1f} sd" + (" !" if deviations >= 2 else "")


def _number(value: float) -> str:
    return f"{value:.6g}"


def _texts(data: Data, name: str, rows: Sequence[int]) -> list[str]:
    return [" ".join(str(data.table.columns[name][row]).split()) for row in rows]


def _same(texts: Sequence[str]) -> str:
    return "=" if len(set(texts)) == 1 else "differs"


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
