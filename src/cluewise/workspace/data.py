"""The rows and clues of a file, opened together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cluewise import tables
from cluewise._texts import short
from cluewise._typing import Array, Floats, Ints
from cluewise.clues import Clues
from cluewise.exceptions import ClueError, Contradiction, Infeasible
from cluewise.workspace.names import split_kinds, split_names

if TYPE_CHECKING:
    from cluewise.rows import Rows

__all__ = ["Data", "add_columns", "as_written", "name_rows", "open_data", "rows_of", "stem_of"]

_NAMED = 10  # rows that a message names


class Data(NamedTuple):
    """What a command works on."""

    table: tables.Table
    ids: Array | Mapping[int, str] | None  # of rows in parts, those of rows with clues
    columns: list[str]  # to cluster by
    clues: Clues
    kinds: dict[str, str | list[str]]  # of columns, as the user names them
    folder: str  # where paths of pictures start
    ignored: frozenset[str] = frozenset()  # columns that questions do not show

    @property
    def shown(self) -> dict[str, Array]:
        """The columns that people see who answer questions; some of these may not be clustered by."""
        return {name: column for name, column in self.table.columns.items() if name not in self.ignored}

    def encode(self, *, raw: bool = False) -> tuple[Floats, Rows]:
        """The columns as numbers, and what each became; ``raw``: numbers as they are."""
        from cluewise.rows import Rows

        chosen = {name: self.table.columns[name] for name in self.columns}
        rows = Rows(kinds=self.kinds, balance=not raw, folder=self.folder)
        return rows.fit_transform(tables.Table(chosen, self.table.name, self.table.lines)), rows

    def numbers(self) -> dict[str, Floats]:
        """The columns to cluster by that hold numbers (nan: missing), as they are in the file."""
        columns = {name: self.table.columns[name] for name in self.columns}
        return {name: column.astype(np.float64) for name, column in columns.items() if column.dtype.kind != "O"}

    def name(self, row: int) -> str:
        """The id of a row, or else its number."""
        return str(row) if self.ids is None else str(self.ids[row])

    def describe(self, rows: Sequence[int] | Ints) -> str:
        """Which ids belong to some row numbers; nothing where rows have no ids."""
        if self.ids is None or not len(rows):
            return ""
        words = [f"row {row} is '{short(self.ids[row])}'" for row in sorted(map(int, rows))[:_NAMED]]
        return ", ".join(words) + (", …" if len(rows) > _NAMED else "")


def open_data(
    path: Path,
    clue_file: Path | None,
    *,
    id_column: str | None = None,
    columns: str | None = None,
    ignore: Sequence[str] = (),
    label_column: str | None = None,
    kinds: str | None = None,
    sheet: str | None = None,
) -> Data:
    """Read the data, the clues in a file and those in a column."""
    table = tables.read(path, text=() if id_column is None else (id_column,), sheet=sheet)
    asked, n = split_names(columns), len(table)
    ids, names = tables.choose_columns(
        _drop(table, ignore) if ignore else table,
        id_column=id_column,
        columns=asked or None,
        label_column=label_column,
    )
    given = split_kinds(kinds)
    for name in given:
        if name not in names:
            raise ValueError(f"--as: '{name}' is not one of the columns of {table.name} to cluster by.")
    # A column that is named is used, even if it looks like an id.
    for name in {*asked, *(set(names) & set(table.points or ()))}:
        given.setdefault(name, "auto")
    clues = Clues(n)
    if clue_file is not None:
        clues = Clues.read(clue_file, ids=ids, n=n)
        if not clues.kinds:
            raise ClueError(f"{clue_file.name} holds no clues; leave --clues out to do without.")
    if label_column is not None:
        try:
            _refuse_names(table.columns[label_column])
            known = Clues(n, labels=table.columns[label_column], label_source=table.sources())
        except ClueError as error:
            raise ClueError(f"column '{label_column}' of {table.name}: {error}") from None
        _refuse_other_labels(known, clues, ids)
        clues = known | clues
    return Data(table, ids, names, clues, given, str(path.parent), frozenset(ignore))


def stem_of(path: Path) -> str:
    """The name of a file without its suffixes: data of data.csv.gz."""
    inner = path.with_suffix("") if path.suffix.lower() in (".gz", ".zip") else path
    return inner.stem


def _refuse_names(labels: Array) -> None:
    """Refuse labels that differ in every row: they name rows, not classes."""
    known = [label for label in labels.tolist() if label == label and label not in (None, "", -1)]
    if len(known) > _NAMED and len(set(known)) == len(known):
        raise ClueError(f"all {len(known)} values differ, so they cannot be classes.")


def _refuse_other_labels(known: Clues, clues: Clues, ids: Any) -> None:
    """Refuse a row that has one label in a column and another in a file, with both places."""

    def quote(one: Clues) -> str:
        assert one.label_source is not None  # both were read from files
        return f"'{short(one.classes_[one.labels[row]])}' ({one.label_source[row]})"

    for row in np.flatnonzero((known.labels >= 0) & (clues.labels >= 0)).tolist():
        if known.classes_[known.labels[row]] != clues.classes_[clues.labels[row]]:
            who = row if ids is None else f"'{short(ids[row])}'"
            raise ClueError(f"row {who} is labeled {quote(known)} and {quote(clues)}.")


def _drop(table: tables.Table, names: Sequence[str]) -> tables.Table:
    """The table without some columns."""
    for name in names:
        if name not in table.columns:
            raise tables.unknown_column(table, name)
    dropped = set(names)
    columns = {name: column for name, column in table.columns.items() if name not in dropped}
    points = None if table.points is None else tuple(name for name in table.points if name in columns)
    return tables.Table(columns, table.name, table.lines, points, table.notes)


def add_columns(table: tables.Table, new: Mapping[str, Any]) -> dict[str, Any]:
    """All columns of the input and new ones, which are renamed where a name is taken."""
    columns = dict(table.columns)
    for name, values in new.items():
        free, number = name, 2
        while free in columns:
            free, number = f"{name}_{number}", number + 1
        columns[free] = as_written(values)
    return columns


def as_written(values: Any) -> Any:
    """Results with six digits, as people would write them: .9, and not .8999999761581421."""
    real = getattr(values, "dtype", None) in (np.float32, np.float64)
    return np.char.mod("%.6g", values).astype(float) if real else values


@contextmanager
def name_rows(data: Data) -> Iterator[None]:
    """Add the ids of the rows named in an error."""
    try:
        yield
    except (Contradiction, Infeasible) as error:
        who = data.describe(rows_of(error))
        if not who:
            raise
        raise ClueError(f"{str(error).removesuffix('.')} ({who}).") from None


def rows_of(error: Any) -> list[int]:
    """Rows that a contradiction or an impossibility is about."""
    if isinstance(error, Contradiction):
        first = error.conflicts[0]
        return sorted({first.first, first.second, *(row for step in first.chain for row in step[:2])})
    return [] if error.witness is None else list(error.witness.tied)
