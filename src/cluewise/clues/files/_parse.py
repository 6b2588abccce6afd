"""From a clue file to the arguments of `Clues`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cluewise import tables
from cluewise._texts import short
from cluewise._typing import Array, Ints
from cluewise.clues._groups import Groups, codes_of
from cluewise.clues.files._json import is_table, unfold
from cluewise.clues.files._lines import FIELDS, Lines, Mentioned, Names, factorize, split_kind, values_of
from cluewise.exceptions import ClueError

__all__ = ["list_names", "parse", "parse_clues", "read"]

_CODE = 4  # bytes of a row in a grouping
_VERBS = {
    "label": "labeled", "together": "in group", "apart": "in group", "partition": "in class", "avoid": "in cluster"
}  # fmt: skip
_BOUNDS = re.compile(r"\s*(\d+(?:\.\d+)?)?\s*\.\.\s*(\d+(?:\.\d+)?)?\s*")


def read(path: str | Path, ids: Any = None, n: int | None = None) -> dict[str, Any]:
    """Arguments for `Clues` from a CSV, TSV, Parquet or JSON file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.clues import files
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _ = path.write_text("a17,red,label")
    >>> arguments = files.read(path, ids=["b3", "a17"])
    >>> arguments["labels"].tolist(), arguments["label_source"].tolist()
    ([None, 'red'], ['', 'clues.csv:1'])
    """
    return _read(Path(path), Names(ids, n))


def list_names(path: str | Path) -> list[str]:
    """Names of the rows that a file of clues mentions, whether there are such rows or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.clues import files
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _ = path.write_text("a,b,kind" + chr(10) + "a17,b3,must" + chr(10) + "b3,red,label")
    >>> files.list_names(path)
    ['a17', 'b3']
    """
    names = Mentioned(headless=False)
    try:
        _read(Path(path), names)
    except ClueError:  # only names tell a first clue from a header, and they are not known yet
        names = Mentioned(headless=True)
        _read(Path(path), names)
    return list(names.index or ())


def _read(path: Path, names: Names) -> dict[str, Any]:
    if path.suffix.lower() == ".json":
        return _parse(tables.read_json(path), names, path.name)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return _parse_table(tables.read(path), names)
    top = tables.peek(path, 2)
    if _starts_with_a_clue(top, names):
        return parse_clues(tables.read(path, header=FIELDS[: len(top[0])], text=FIELDS), names)
    return _parse_table(tables.read(path, text=top[0] if top else ()), names)


def _starts_with_a_clue(top: list[list[str]], names: Names) -> bool:
    """Whether a file has no header; a header may contain words such as label or size, which are kinds of clues, too."""
    kinds = [split_kind(record[2]) if len(record) > 2 else None for record in top]
    if not kinds or kinds[0] is None:
        return False
    if len(top) == 1 or top[0][0] == "*" or names.knows(top[0][0]):
        return True
    return kinds[1] is not None and top[1][2][:1].isalpha()


def parse(given: Any, ids: Any = None, n: int | None = None, name: str = "clues") -> dict[str, Any]:
    """Arguments for `Clues` from a table of clues, a table of labels, or what a JSON file held.

    Examples
    --------
    >>> from cluewise.clues import files
    >>> arguments = files.parse({"n": 3, "must": [[0, 2]]})
    >>> arguments["n"], arguments["must"].tolist(), arguments["must_source"]
    (3, [[0, 2]], ['clues:must[0]'])
    """
    return _parse(given, Names(ids, n), name)


def _parse(given: Any, names: Names, name: str) -> dict[str, Any]:
    if isinstance(given, tables.Table):
        table = given
    elif is_table(given):
        table = tables.from_json(given, name)
    else:
        table, stated = unfold(given, names, name)
        if stated is not None:
            names.state(stated, name)
    return _parse_table(table, names)


def _parse_table(table: tables.Table, names: Names) -> dict[str, Any]:
    """Arguments for `Clues` from a table of clues or a table of labels."""
    columns = {column.lower(): values for column, values in table.columns.items()}
    if "kind" in columns or not columns:
        return parse_clues(table, names)
    if "label" in columns or "labels" in columns:
        return _parse_labels(table, names)
    raise ClueError(f"{table.name} has neither the columns a, b and kind nor a column label.")


def parse_clues(table: tables.Table, names: Names) -> dict[str, Any]:
    """Arguments for `Clues` from a table of clues."""
    lines = Lines(table)
    present = {kind for kind, _ in lines.kinds}
    if "rows" in present:
        _state_rows(lines, names)
    pairs: dict[str, tuple[Ints, Ints]] = {
        kind: _pairs(lines, names, kind) for kind in ("must", "cannot") if kind in present
    }
    placed = {
        kind: [_placed(lines, names, at, verb) for at in lines.columns(kind)]
        for kind, verb in _VERBS.items()
        if kind in present
    }
    if names.n is None:  # the largest number in the file is that of the last row
        found = [rows for rows, _ in pairs.values()] + [rows for each in placed.values() for _, rows, _ in each]
        names.state(max((int(rows.max(initial=-1)) for rows in found), default=-1) + 1, table.name)
    n = names.n or 0
    columns = sum(len(each) for kind, each in placed.items() if kind != "label")
    if columns * n * _CODE > tables.limit():
        raise ClueError(f"{table.name} names {columns} groupings of {n} rows, more than fit in memory.")
    arguments: dict[str, Any] = {"n": n}
    for kind, (rows, at) in pairs.items():
        arguments[kind] = rows
        arguments[f"{kind}_weight"] = np.where(np.isnan(lines.weight[at]), 1.0, lines.weight[at])
        arguments[f"{kind}_confidence"] = lines.confidence[at]
        arguments[f"{kind}_source"] = lines.source[at].tolist()
    for at, rows, values in placed.get("label", []):
        if len(at):
            arguments["labels"] = _column(n, rows, values)
            arguments["label_source"] = np.full(n, "", dtype=object)
            arguments["label_source"][rows[::-1]] = lines.source[at[::-1]]
    for kind in ("together", "apart"):
        if kind in placed:
            arguments[kind] = [_groups(lines, n, kind, *one) for one in placed[kind]]
    for kind, argument in (("partition", "partitions"), ("avoid", "avoid")):
        if kind in placed:
            arguments[argument] = [_codes(n, kind, rows, values)[0] for _, rows, values in placed[kind]]
    if "size" in present:
        arguments |= _sizes(lines)
    return arguments


def _state_rows(lines: Lines, names: Names) -> None:
    for i in lines.of("rows"):
        if tables.typed([lines.b[i]]).dtype != np.int64 or int(lines.b[i]) < 0:
            raise lines.error(i, f"'{short(lines.b[i])}' is not a number of rows.")
        names.state(int(lines.b[i]), f"{lines.table.name} {lines.table.where(int(i))}", numbered=True)


def _pairs(lines: Lines, names: Names, kind: str) -> tuple[Ints, Ints]:
    at = lines.of(kind)
    rows = np.empty((len(at), 2), dtype=np.int64)
    for end, cells in enumerate((lines.a, lines.b)):
        rows[:, end] = names.rows(cells[at].tolist(), lines.table, at)
    same = np.flatnonzero(rows[:, 0] == rows[:, 1])
    if kind == "cannot" and len(same):
        raise lines.error(at[same[0]], f"row '{short(lines.a[at[same[0]]])}' is linked to itself.")
    return rows, at


def _placed(lines: Lines, names: Names, at: Ints, verb: str) -> tuple[Ints, Ints, Array]:
    """The lines, the row that each names and the value it gets; no row may get two different ones."""
    rows = names.rows(lines.a[at].tolist(), lines.table, at)
    blank = lines.b[at] == ""
    if blank.any():
        if verb != "labeled":
            raise lines.error(at[blank][0], "column b is empty.")
        at, rows = at[~blank], rows[~blank]  # an empty label is an unknown one
    codes, cells = factorize(lines.b[at])
    _, firsts, which = np.unique(rows, return_index=True, return_inverse=True)
    held = firsts[which]  # the first line that names the same row
    other = np.flatnonzero(codes[held] != codes)
    if len(other):
        i, first = int(other[0]), int(held[other[0]])
        raise lines.error(
            at[i],
            f"row '{short(lines.a[at[i]])}' is {verb} '{short(lines.b[at[i]])}', "
            f"but {verb} '{short(lines.b[at[first]])}' in {lines.table.where(int(at[first]))}.",
        )
    values = values_of(cells)
    infinite = [value in (math.inf, -math.inf) for value in values]
    if any(infinite):
        i = int(np.flatnonzero(np.array(infinite)[codes])[0])
        raise lines.error(
            at[i], f"row '{short(lines.a[at[i]])}' is {verb} '{short(lines.b[at[i]])}', which is infinite."
        )
    return at, rows, values[codes]


def _column(n: int, rows: Ints, values: Array) -> Array:
    """One value per row, None where there is none (-1 where all are whole numbers)."""
    column = np.full(n, None, dtype=object)
    column[rows] = values
    kinds = set(map(type, values))
    if kinds == {int}:
        numbers = np.full(n, -1, dtype=np.int64)
        numbers[rows] = values.astype(np.int64)
        return numbers
    return column


def _codes(n: int, kind: str, rows: Ints, values: Array, *, by_appearance: bool = False) -> tuple[Ints, Array]:
    """`codes_of` a column of which only some rows are known, without looking at the others."""
    order = np.argsort(rows, kind="stable")
    codes = np.full(n, -1, dtype=np.int32)
    codes[rows[order]], found = codes_of(kind, len(rows), values[order], by_appearance=by_appearance)
    return codes, found


def _groups(lines: Lines, n: int, kind: str, at: Ints, rows: Ints, values: Array) -> Groups:
    codes, found = _codes(n, kind, rows, values, by_appearance=True)
    at, rows = at[codes[rows] >= 0], rows[codes[rows] >= 0]  # -1 means no group, as in `Clues`
    given = np.where(np.isnan(lines.weight[at]), 1.0, lines.weight[at])
    mine = codes[rows]
    weights = np.ones(len(found))
    weights[mine[::-1]] = given[::-1]
    other = np.flatnonzero(weights[mine] != given)
    if len(other):
        i = int(other[0])
        raise lines.error(
            at[i],
            f"group '{short(lines.b[at[i]])}' has weight {given[i]:g} here and {weights[mine[i]]:g} before.",
        )
    return Groups(codes, weights, found, _group_source(lines, at))


def _group_source(lines: Lines, at: Ints) -> str:
    if lines.has_source:
        return " + ".join(dict.fromkeys(lines.source[at].tolist()))
    if len(at) == 0:
        return lines.table.name
    first, last = lines.source[at[0]], lines.source[at[-1]]
    return str(first) if first == last else f"{first}-{last.rpartition(':')[2]}"


def _sizes(lines: Lines) -> dict[str, Any]:
    columns = lines.columns("size")
    if len(columns) > 1:
        raise lines.error(max(at[0] for at in columns), "sizes are of points or of weight, not of both.")
    at = columns[0]
    bounds: dict[str, tuple[float, float]] = {}
    for i in at:
        cluster, match = lines.a[i], _BOUNDS.fullmatch(lines.b[i])
        if match is None:
            raise lines.error(i, f"'{short(lines.b[i])}' is not a pair of bounds; write 3..20, 3.. or ..20.")
        if cluster in bounds:
            raise lines.error(i, f"cluster '{short(cluster)}' already has bounds.")
        low, high = float(match[1] or 0), float(match[2] or np.inf)
        if low > high:
            raise lines.error(i, f"the lower bound {low:g} is above the upper bound {high:g}.")
        bounds[cluster] = (low, high)
    weight = ("size", "weight") in lines.kinds
    unit = {"size_unit": "weight" if weight else "points"}
    if list(bounds) == ["*"]:
        return unit | {"sizes": bounds["*"]}
    wanted = [str(c) for c in range(len(bounds))]
    if set(wanted) != set(bounds):
        strange = next(c for c in bounds if c not in wanted)
        i = int(at[np.flatnonzero(lines.a[at] == strange)[0]])
        raise lines.error(
            i, f"sizes need a line for every cluster from 0 on (or one for *); '{short(strange)}' does not fit."
        )
    return unit | {"sizes": np.array([bounds[c] for c in wanted])}


def _parse_labels(table: tables.Table, names: Names) -> dict[str, Any]:
    """Arguments for `Clues` from a table with a column label; an empty cell is an unknown label."""
    columns = {name.lower(): column for name, column in reversed(list(table.columns.items()))}
    which = "label" if "label" in columns else "labels"
    ids = _id_column(columns, which, names)
    if ids is None:
        if names.n is not None and names.n != len(table):
            raise ClueError(f"{table.name} has {len(table)} labels, but there are {names.n} rows and no ids.")
        names.state(len(table), table.name, numbered=True)
        called: Sequence[str] = names.listed()
    else:
        called = tables.row_names(columns[ids])
        found = names.rows(called, table, np.arange(len(table)))
        if names.n is None:
            names.state(int(found.max(initial=-1)) + 1, table.name)
    lines = {
        "a": tables.column_of(called),
        "b": columns[which],
        "kind": np.full(len(table), "label", dtype=object),
    }
    return parse_clues(tables.Table(lines, table.name, table.lines), names)


def _id_column(columns: dict[str, Array], which: str, names: Names) -> str | None:
    found = next((name for name in tables.ID_NAMES if name in columns), None)
    if found is None and names.index is not None and len(columns) == 2:
        return next(name for name in columns if name != which)
    return found
