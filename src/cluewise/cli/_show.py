"""Text, tables and JSON on standard output."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import typer

from cluewise._texts import CONTROL

__all__ = ["as_json", "is_watched", "say", "standard_output", "table", "warn"]


@contextmanager
def standard_output() -> Iterator[None]:
    """Write now, and say so if that is impossible."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever reads our output has seen enough
    except OSError as error:
        with suppress(OSError, ValueError):  # else Python would try once more at the end, and fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(f"standard output cannot be written: {(error.strerror or str(error)).lower()}.") from None


def say(words: str = "", end: str = "\n") -> None:
    """A line of the answer, or the beginning of one."""
    with standard_output():
        typer.echo(_safe(words) + end, nl=False)


def warn(words: str) -> None:
    """A line on standard error."""
    typer.echo(_safe(words), err=True)


def _safe(words: str) -> str:
    """A text without what a terminal would obey; cells of the data may hold anything."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", words)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """An aligned table; columns of numbers are right-aligned."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    cells = [[_safe(str(cell)) for cell in row] for row in rows]
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="bold")
    for j, name in enumerate(header):
        numbers = bool(cells) and all(_is_number(row[j]) for row in cells)
        shown.add_column(_safe(name), justify="right" if numbers else "left", overflow="fold")
    for row in cells:
        shown.add_row(*row)
    width: Any = None if sys.stdout.isatty() else 120
    with standard_output():
        Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False).print(shown)


def is_watched() -> bool:
    """Whether standard error is a terminal, so that somebody can see a progress bar."""
    return sys.stderr.isatty()


def _is_number(cell: str) -> bool:
    cell = cell.removesuffix(" %")
    return cell in ("", "–") or cell.replace(".", "", 1).replace("-", "", 1).isdigit()


def as_json(value: Any) -> str:
    """JSON that every reader accepts: no NaN, no NumPy types."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    text = CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # only texts hold any
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
