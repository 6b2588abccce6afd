"""The lines of a clue file: their kinds, weights, confidences and sources, checked one column at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cluewise import tables
from cluewise._typing import Array, Floats, Ints
from cluewise.clues.files._values import factorize
from cluewise.exceptions import ClueError

__all__ = ["FIELDS", "Lines", "split_kind"]

FIELDS = ("a", "b", "kind", "weight", "confidence", "source")

_KINDS = {
    **dict.fromkeys(("must", "ml", "must-link", "must_link", "mustlink", "1", "+1"), "must"),
    **dict.fromkeys(("cannot", "cl", "cannot-link", "cannot_link", "cannotlink", "-1"), "cannot"),
    **{kind: kind for kind in ("label", "together", "apart", "partition", "avoid", "size", "rows")},
    "0": "0",  # known, so that it can be refused with a reason
}
_NAMED = ("together", "apart", "partition", "avoid", "size")  # kinds that may go on with a colon and a name


def split_kind(cell: str) -> tuple[str, str] | None:
    """The kind of clue and the name behind its colon; None when the cell is not a kind."""
    word, _, name = cell.strip().partition(":")
    kind = _KINDS.get(word.strip().lower())
    if kind is None or (name and kind not in _NAMED) or (kind == "size" and name not in ("", "weight")):
        return None
    return kind, name.strip()


class Lines:
    """The columns of a clue table, checked and ready to be picked by kind."""

    def __init__(self, table: tables.Table) -> None:
        self.table = table
        columns = {name.lower(): column for name, column in table.columns.items()}
        for field in columns:
            if field not in FIELDS:
                raise ClueError(f"{table.name} has a column '{field}'; clues have {', '.join(FIELDS)}.")
        for field in ("a", "b"):
            if field not in columns and columns:
                raise ClueError(f"{table.name} has a column kind, but no column {field}.")
        cells = {field: tables.row_names(column) for field, column in columns.items()}
        self.a, self.b = (tables.column_of(cells.get(field, [])) for field in ("a", "b"))
        self.codes, spelled = factorize(cells.get("kind", []))
        self.kinds = [self._kind(word, code) for code, word in enumerate(spelled)]
        self.weight = self._numbers("weight", cells.get("weight"))
        self.confidence = self._numbers("confidence", cells.get("confidence"))
        self.source, self.has_source = self._sources(cells.get("source"))
        self._check_weights()

    def error(self, line: int, problem: str) -> ClueError:
        """The error that names a line."""
        return ClueError(f"{self.table.name} {self.table.where(int(line))}: {problem}")

    def of(self, kind: str) -> Ints:
        """Positions of the lines of one kind."""
        mask = np.array([k == kind for k, _ in self.kinds] + [False])
        return np.flatnonzero(mask[self.codes])

    def columns(self, kind: str) -> list[Ints]:
        """Positions of the lines of one kind, apart for each name behind the colon."""
        names: dict[str, int] = {}
        column = [names.setdefault(name, len(names)) if k == kind else -1 for k, name in self.kinds]
        found = np.array([*column, -1])[self.codes]
        order = np.argsort(found, kind="stable")
        ends = np.searchsorted(found[order], np.arange(len(names) + 1))
        return [order[start:end] for start, end in pairwise(ends.tolist())]

    def _kind(self, word: str, code: int) -> tuple[str, str]:
        pair = split_kind(word)
        if pair is None or pair[0] == "0":
            line = int(np.flatnonzero(self.codes == code)[0])
            if pair is not None:
                raise self.error(
                    line, "kind 0 is ambiguous ('cannot' in some files, 'unknown' in others); write cannot (or -1)."
                )
            known = "must, cannot, label, together, apart, partition, avoid or size"
            raise self.error(line, f"'{word}' is not a kind of clue; use {known}.")
        return pair

    def _sources(self, cells: list[str] | None) -> tuple[Array, bool]:
        """Where each clue comes from, and whether the file itself says so."""
        source = tables.column_of(self.table.sources())
        if cells is None:
            return source, False
        said = tables.column_of(cells)
        return np.where(said == "", source, said), bool((said != "").any())

    def _numbers(self, field: str, cells: list[str] | None) -> Floats:
        """The numbers of a column, nan where the cell is empty."""
        if cells is None:
            return np.full(len(self.table), np.nan)
        column = tables.typed(cells)
        if column.dtype == object:
            column = np.array([tables.number(cell) for cell in cells], dtype=np.float64)
        values = column.astype(np.float64)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            if cells[i]:
                raise self.error(i, f"{field} '{cells[i]}' is not a number.")
        return values

    def _check_weights(self) -> None:
        weight, sure = self.weight, self.confidence
        self._refuse(weight < 0, "weight {} is negative.", weight)
        self._refuse(~np.isnan(sure) & ~((sure > 0.5) & (sure <= 1)), "confidence {} is not in (0.5, 1].", sure)
        self._refuse(
            ~np.isnan(sure) & ~np.isnan(weight) & ~np.isclose(weight, 2 * sure - 1),
            "weight {} is not 2 * confidence - 1; give one of the two.",
            weight,
        )
        linked = np.array([k in ("must", "cannot") for k, _ in self.kinds] + [False])[self.codes]
        grouped = np.array([k in ("together", "apart") for k, _ in self.kinds] + [False])[self.codes]
        self._refuse(~linked & ~np.isnan(sure), "confidence {} is only for must and cannot.", sure)
        heavy = ~np.isnan(weight) & (weight != 1)
        self._refuse(heavy & ~linked & ~grouped, "weight {} is only for links and groups.", weight)

    def _refuse(self, bad: Array, problem: str, values: Floats) -> None:
        if bad.any():
            line = int(np.flatnonzero(bad)[0])
            raise self.error(line, problem.format(f"{values[line]:g}"))
