"""Lists of columns, and of their kinds, in one line of text."""

from __future__ import annotations

import csv
from collections import Counter

__all__ = ["split_kinds", "split_names"]


def split_names(value: str | None) -> list[str]:
    """Names separated by commas, none for None; a name that holds a comma is quoted."""
    if value is None:
        return []
    try:
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
    except csv.Error:  # a line break
        names = []
    if not all(names) or not names:
        raise ValueError(f"'{value}' is not a list of columns; separate their names by commas.")
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"'{value}' names column '{twice}' more than once.")
    return names


def split_kinds(value: str | None) -> dict[str, str | list[str]]:
    """The kinds of columns in ``age:number,size:S<M<L``; an order is a list."""
    kinds: dict[str, str | list[str]] = {}
    for entry in split_names(value):
        name, colon, kind = (part.strip() for part in entry.rpartition(":"))
        if not (name and colon and kind):
            raise ValueError(f"--as '{entry}' names no kind; write it as age:number.")
        levels = [level.strip() for level in kind.split("<")]
        kinds[name] = levels if len(levels) > 1 else kind
    return kinds
