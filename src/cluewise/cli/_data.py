"""From files to rows and clues, as all commands read them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cluewise import tables
from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueError, Contradiction, Infeasible

__all__ = ["Data", "beside", "names_in", "named_rows", "open_data", "scaled", "suited"]

_NAMED = 10  # rows that a message names


class Data(NamedTuple):
    """What a command works on."""

    table: tables.Table
    X: Floats  # as it is in the file
    ids: Array | None
    columns: list[str]  # of X
    clues: Clues

    def name(self, row: int) -> str:
        """How a person calls a row."""
        return str(row) if self.ids is None else str(self.ids[row])

    def who(self, rows: Sequence[int] | Ints) -> str:
        """Which names belong to some row numbers, in words; nothing where rows are called by numbers."""
        if self.ids is None or not len(rows):
            return ""
        words = [f"row {row} is '{self.ids[row]}'" for row in sorted(map(int, rows))[:_NAMED]]
        return ", ".join(words) + (", …" if len(rows) > _NAMED else "")


def beside(data: Data, new: Mapping[str, Any]) -> dict[str, Any]:
    """All columns of the input and new ones, whose names make way: nothing of the input gets lost."""
    columns = dict(data.table.columns)
    for name, values in new.items():
        free, number = name, 2
        while free in columns:
            free, number = f"{name}_{number}", number + 1
        columns[free] = values
    return columns


def names_in(value: str | None) -> list[str]:
    """Names separated by commas, none for None; a name that holds a comma stands in quotes."""
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


def open_data(
    path: Path,
    clue_file: Path | None,
    *,
    id_column: str | None = None,
    columns: str | None = None,
    ignore: Sequence[str] = (),
    label_column: str | None = None,
) -> Data:
    """Read the data, the clues in a file and those in a column."""
    table = tables.read(path, text=() if id_column is None else (id_column,))
    for name in ignore:
        if name not in table.columns:
            raise tables.TableError(f"{table.name} has no column '{name}'.")
    X, ids, names = tables.features(
        _less(table, ignore), id_column=id_column, columns=names_in(columns) or None, label_column=label_column
    )
    clues = Clues(len(X))
    if clue_file is not None:
        clues = Clues.read(clue_file, ids=ids, n=len(X))
        if not clues.kinds:
            raise ClueError(f"{clue_file.name} holds no clues; leave --clues out to do without.")
    if label_column is not None:
        try:
            known = Clues(len(X), labels=table.columns[label_column], label_source=table.sources())
        except ClueError as error:
            raise ClueError(f"column '{label_column}' of {table.name}: {error}") from None
        clues = known | clues
    return Data(table, X, ids, names, clues)


def _less(table: tables.Table, names: Sequence[str]) -> tables.Table:
    left_out = set(names)
    columns = {name: column for name, column in table.columns.items() if name not in left_out}
    points = None if table.points is None else tuple(name for name in table.points if name in columns)
    return tables.Table(columns, table.name, table.lines, points)


def scaled(X: Floats) -> Floats:
    """Every column with mean 0 and variance 1; constant columns become 0."""
    from sklearn.preprocessing import StandardScaler

    standardized: Floats = StandardScaler().fit_transform(X)
    return standardized


def suited(X: Floats, model: Any, raw: bool) -> tuple[Floats, bool]:
    """The columns as the method wants them, and whether they are standardized: not where it takes counts."""
    from sklearn.utils import get_tags

    if raw or get_tags(model).input_tags.positive_only:
        return X, False
    return scaled(X), True


@contextmanager
def named_rows(data: Data) -> Iterator[None]:
    """Say the names of the rows that an error speaks of."""
    try:
        yield
    except (Contradiction, Infeasible) as error:
        who = data.who(mentioned(error))
        if not who:
            raise
        raise ClueError(f"{str(error).removesuffix('.')} ({who}).") from None


def mentioned(error: Any) -> list[int]:
    """Rows that a contradiction or an impossibility is about."""
    if isinstance(error, Contradiction):
        first = error.conflicts[0]
        return sorted({first.first, first.second, *(row for step in first.chain for row in step[:2])})
    return [] if error.witness is None else list(error.witness.tied)
