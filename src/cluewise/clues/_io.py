"""The file format of clues: one long table, one clue per line.

Columns ``a``, ``b``, ``kind``, and where wanted ``weight``, ``confidence`` and ``source``:

================================  ====================================================================
``a17,b3,must``                   two rows that belong together (also ``ml``, ``must-link``, ``1``)
``a17,b3,cannot``                 two rows that do not (also ``cl``, ``cannot-link``, ``-1``)
``a17,red,label``                 a row and its class
``a17,g1,together``               a row and its group; ``together:photo`` when there are several columns
``a17,g1,apart``                  the same for groups whose members are all apart
``a17,red,partition``             a row and its class in a partition; ``partition:name`` for several
``a17,2,avoid``                   a row and its cluster in a clustering to avoid; ``avoid:name``
``*,3..20,size``                  bounds for all clusters; ``0,3..,size`` for one; ``size:weight`` for weights
``*,150,rows``                    rows are called by their numbers 0 to 149, whatever other names they have
================================  ====================================================================

Names of rows and classes are text. Class and group names that are all whole numbers, all numbers, or all
True and False come back as such; text that only looks like one stands in quotes (``"1"``).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Floats
from cluewise.clues._groups import Groups, expand
from cluewise.clues._io_json import is_table, unfold
from cluewise.clues._io_lines import FIELDS, split_kind
from cluewise.clues._io_parse import clue_lines, label_lines
from cluewise.clues._io_values import Names, spell
from cluewise.clues._links import GIVEN
from cluewise.exceptions import ClueError

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["parse", "read", "rows", "write"]


def read(path: str | Path, ids: Any = None, n: int | None = None) -> dict[str, Any]:
    """Arguments for `Clues` from a CSV, TSV, Parquet or JSON file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.clues import _io
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _ = path.write_text("a17,red,label")
    >>> arguments = _io.read(path, ids=["b3", "a17"])
    >>> arguments["labels"].tolist(), arguments["label_source"].tolist()
    ([None, 'red'], ['', 'clues.csv:1'])
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        return parse(tables.read_json(path), ids, n, name=path.name)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return parse(tables.read(path), ids, n)
    top = tables.peek(path, 2)
    width = len(top[0]) if top else 0
    if _starts_with_a_clue(top, Names(ids, n)):
        return parse(tables.read(path, header=FIELDS[:width], text=FIELDS), ids, n)
    return parse(tables.read(path, text=top[0] if top else ()), ids, n)


def _starts_with_a_clue(top: list[list[str]], names: Names) -> bool:
    """Whether a file has no header: a column may well be called label or size, as kinds of clues are."""
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
    >>> from cluewise.clues import _io
    >>> arguments = _io.parse({"n": 3, "must": [[0, 2]]})
    >>> arguments["n"], arguments["must"].tolist(), arguments["must_source"]
    (3, [[0, 2]], ['clues:must[0]'])
    """
    names = Names(ids, n)
    if isinstance(given, tables.Table):
        table = given
    elif is_table(given):
        table = tables.from_json(given, name)
    else:
        table, stated = unfold(given, names, name)
        if stated is not None:
            names.state(stated, name)
    columns = {column.lower(): values for column, values in table.columns.items()}
    if "kind" in columns or not columns:
        return clue_lines(table, names)
    if "label" in columns or "labels" in columns:
        return label_lines(table, names)
    raise ClueError(f"{table.name} has neither the columns a, b and kind nor a column label.")


def write(clues: Clues, path: str | Path, ids: Any = None, *, raw_cells: bool = False) -> None:
    """Write clues as a CSV, Parquet or JSON table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import Clues
    >>> from cluewise.clues import _io
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> _io.write(Clues(2, cannot=[(0, 1)]), path, ids=["a17", "b3"])
    >>> path.read_text().splitlines()
    ['a,b,kind,source', 'a17,b3,cannot,given']
    """
    tables.write(path, rows(clues, ids), raw_cells=raw_cells)


def rows(clues: Clues, ids: Any = None) -> tables.Table:
    """The long table of clues, one clue per row.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.clues import _io
    >>> table = _io.rows(Clues(2, labels=["red", None]), ids=["a17", "b3"])
    >>> {name: column.tolist() for name, column in table.columns.items()}
    {'a': ['a17'], 'b': ['red'], 'kind': ['label'], 'source': ['given']}
    """
    names = Names(ids, clues.n)
    name = np.array(names.listed(), dtype=object)
    page = _Page()
    if ids is None:
        page.add(["*"], [str(clues.n)], "rows", "")
    for kind, pairs, weight, sure, source in (
        ("must", clues.must, clues.must_weight, clues.must_confidence, clues.must_source),
        ("cannot", clues.cannot, clues.cannot_weight, clues.cannot_confidence, clues.cannot_source),
    ):
        # A confidence stands for its weight.
        page.add(name[pairs[:, 0]], name[pairs[:, 1]], kind, source, np.where(np.isnan(sure), weight, np.nan), sure)
    known = np.flatnonzero(clues.labels >= 0)
    classes = np.array(spell(clues.classes_), dtype=object)
    told = GIVEN if clues.label_source is None else clues.label_source[known]
    page.add(name[known], classes[clues.labels[known]], "label", told)
    for kind, columns in (("together", clues.together), ("apart", clues.apart)):
        for t, group in enumerate(columns):
            _add_groups(page, name, group, _numbered(kind, t, len(columns)))
    partitions = [expand(stored) for stored in clues.partitions]
    for kind, lists in (("partition", partitions), ("avoid", list(clues.avoid))):
        for t, codes in enumerate(lists):
            known = np.flatnonzero(codes >= 0)
            page.add(name[known], codes[known].astype(str), _numbered(kind, t, len(lists)), "")
    if clues.sizes is not None:
        kind = "size" if clues.size_unit == "points" else "size:weight"
        bounds = [f"{_bound(low)}..{_bound(high)}" for low, high in np.atleast_2d(clues.sizes)]
        clusters = ["*"] if clues.sizes.ndim == 1 else [str(c) for c in range(len(bounds))]
        page.add(clusters, bounds, kind, "")
    return page.table()


def _add_groups(page: _Page, name: Array, group: Groups, kind: str) -> None:
    known = np.flatnonzero(group.codes >= 0)
    called = np.array(spell(group.names), dtype=object)
    codes = group.codes[known]
    page.add(name[known], called[codes], kind, group.source, group.weights[codes])


def _numbered(kind: str, t: int, count: int) -> str:
    return kind if count == 1 else f"{kind}:{t + 1}"


def _bound(value: float) -> str:
    if np.isinf(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


class _Page:
    """Lines as they are collected, kind by kind."""

    def __init__(self) -> None:
        self.text: dict[str, list[str]] = {"a": [], "b": [], "kind": [], "source": []}
        self.weight: list[Floats] = []
        self.confidence: list[Floats] = []

    def add(
        self,
        a: Iterable[str],
        b: Iterable[str],
        kind: str,
        source: Iterable[str] | str,
        weight: Floats | None = None,
        confidence: Floats | None = None,
    ) -> None:
        first = list(a)
        blank = np.full(len(first), np.nan)
        self.text["a"] += first
        self.text["b"] += list(b)
        self.text["kind"] += [kind] * len(first)
        self.text["source"] += [source] * len(first) if isinstance(source, str) else list(source)
        self.weight.append(blank if weight is None else weight)
        self.confidence.append(blank if confidence is None else confidence)

    def table(self) -> tables.Table:
        """All lines; the columns for weights and confidences only where one says something."""
        columns: dict[str, Any] = {key: self.text[key] for key in ("a", "b", "kind")}
        weight, confidence = np.concatenate(self.weight), np.concatenate(self.confidence)
        if not np.isin(weight[~np.isnan(weight)], 1.0).all():
            columns["weight"] = weight
        if not np.isnan(confidence).all():
            columns["confidence"] = confidence
        return tables.Table(columns | {"source": self.text["source"]}, "clues")
