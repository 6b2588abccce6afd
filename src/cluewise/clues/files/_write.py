"""Clues as the long table of a clue file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Floats
from cluewise.clues._groups import Groups, expand
from cluewise.clues.files._lines import Names, spell
from cluewise.clues.links import GIVEN

if TYPE_CHECKING:
    from cluewise.clues._clues import Clues

__all__ = ["tabulate", "write"]


def write(clues: Clues, path: str | Path, ids: Any = None, *, raw_cells: bool = False) -> None:
    """Write clues as a CSV, Parquet or JSON table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import Clues
    >>> from cluewise.clues import files
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "clues.csv"
    >>> files.write(Clues(2, cannot=[(0, 1)]), path, ids=["a17", "b3"])
    >>> path.read_text().splitlines()
    ['a,b,kind,source', 'a17,b3,cannot,given']
    """
    tables.write(path, tabulate(clues, ids), raw_cells=raw_cells)


def tabulate(clues: Clues, ids: Any = None) -> tables.Table:
    """The long table of clues, one clue per row.

    Examples
    --------
    >>> from cluewise import Clues
    >>> from cluewise.clues import files
    >>> table = files.tabulate(Clues(2, labels=["red", None]), ids=["a17", "b3"])
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
    by = GIVEN if clues.label_source is None else clues.label_source[known]
    page.add(name[known], classes[clues.labels[known]], "label", by)
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
        """All lines; the columns for weights and confidences only where there are any."""
        columns: dict[str, Any] = {key: self.text[key] for key in ("a", "b", "kind")}
        weight, confidence = np.concatenate(self.weight), np.concatenate(self.confidence)
        if not np.isin(weight[~np.isnan(weight)], 1.0).all():
            columns["weight"] = weight
        if not np.isnan(confidence).all():
            columns["confidence"] = confidence
        return tables.Table(columns | {"source": self.text["source"]}, "clues")
