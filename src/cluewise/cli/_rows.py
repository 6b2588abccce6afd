"""Rows of the data side by side, for people who have to tell whether they belong together."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence

from cluewise.cli import _show
from cluewise.workspace.data import Data
from cluewise.workspace.items import compare_rows

__all__ = ["show_rows"]


WIDEST = 60
"""Letters of a cell that are shown."""


GAP = 3
"""Letters between two columns of a table."""

NARROW = 16
"""Letters that a column may always have, and at which names and texts are folded where space runs out."""


def show_rows(data: Data, rows: Sequence[int], titles: Sequence[str], spread: Mapping[str, float]) -> None:
    """A table with a line for each column of the data and a column for each row; what differs most comes first.

    Where many rows do not fit side by side, several tables come, each with the first row again. ``spread`` is from
    `spreads`.
    """
    shown, left_out = compare_rows(data, rows, spread)
    lines = [[line.name, *map(_short, line.cells), line.apart] for line in shown]
    widest = max([NARROW, *(len(cell) for line in shown if line.name in spread for cell in line.cells)])
    header = ["", *titles, "apart by"]
    if len(rows) == 1:
        header, lines = header[:-1], [line[:-1] for line in lines]
    for block in _blocks(header, lines, len(rows), widest):
        _show.table([header[j] for j in block], [[line[j] for j in block] for line in lines])
    if left_out:
        rest = sum(line.deviations > 0 for line in left_out)
        less = f", of which {rest} differ less" if len(rows) > 1 else ""
        _show.say(f"({len(left_out)} more columns{less}.)")


def _blocks(header: Sequence[str], lines: Sequence[Sequence[str]], count: int, widest: int) -> list[list[int]]:
    """Which columns stand in one table, such that none gets narrower than its numbers.

    A table that is too wide takes letters from its widest columns first, so none falls below ``widest`` as long as all
    columns fit when each has at most that.
    """
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 120
    need = [GAP + min(max(map(len, column)), widest) for column in zip(header, *lines, strict=True)]
    ends = [0, 1, *range(count + 1, len(header))]  # names, the first row, how far apart
    left = room - GAP - sum(need[j] for j in ends)
    blocks: list[list[int]] = [[]]
    used = 0
    for j in range(2, count + 1):
        if blocks[-1] and used + need[j] > left:
            blocks.append([])
            used = 0
        blocks[-1].append(j)
        used += need[j]
    return [[0, 1, *block, *ends[2:]] for block in blocks]


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
