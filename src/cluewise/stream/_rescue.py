"""Save the clues of a damaged folder into a file of clues."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluewise import tables
from cluewise._typing import Array
from cluewise.clues.files import FIELDS, split_kind, tabulate
from cluewise.exceptions import ClueError
from cluewise.stream._journal import JOURNAL, records
from cluewise.stream._lines import cells_of
from cluewise.stream._lock import lock_if_possible
from cluewise.stream._stores import find_store
from cluewise.tables.folders import refuse_existing

__all__ = ["rescue"]


def rescue(path: str | Path, out: str | Path) -> tuple[int, int]:
    """Write every clue that is whole in a damaged folder into a file of clues; the folder is left as it is.

    Applied clues come from the saved model if it can be read, and otherwise from the journal. Lines that do not have
    the form of a clue are left out.

    Parameters
    ----------
    path : str or path
        The folder of a `StreamingClues`, or the file of its model.
    out : str or path
        The new file (CSV, Parquet, NPZ or JSON), for ``cluewise update`` or `Clues.read`.

    Returns
    -------
    saved : int
        Saved clues.
    lost : int
        Lost lines, as far as can be known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise import SCSC
    >>> from cluewise.stream import StreamingClues, rescue
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> SCSC.from_partitions([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]).save(folder)
    >>> with StreamingClues(folder) as stream:
    ...     stream.append(["1,2,must", "2,3,cannot"], source="ann")
    >>> (folder / "state.json").unlink()
    >>> rescue(folder, folder / "clues.csv")
    (2, 0)
    >>> (folder / "clues.csv").read_text().splitlines()[1]
    '1,2,must,,,ann:1'
    """
    out = Path(out)
    refuse_existing(out)
    store = find_store(Path(path))
    folder = store.folder
    with lock_if_possible(folder):
        try:
            clues, kept = store.read_clues()
            applied = tabulate(clues, store.ids).columns
        except ValueError:  # then all of it has to come from the journal
            kept, applied = {}, {}
        count = max(map(len, applied.values()), default=0)
        columns = {field: _texts(applied, field, count) for field in FIELDS}
        lost = _add_lines(folder / JOURNAL, kept, columns)
    saved = sum(kind != "rows" for kind in columns["kind"])
    if not saved:
        raise tables.FileError(f"nothing in '{folder}' is whole enough to be saved.")
    tables.write(out, columns)
    return saved, lost


def _texts(columns: Mapping[str, Array], field: str, count: int) -> list[str]:
    """A column of a table of clues as text, empty where a value is missing."""
    return ["" if cell is None or cell != cell else str(cell) for cell in columns.get(field, [None] * count)]


def _add_lines(journal: Path, kept: dict[str, Any], columns: dict[str, list[str]]) -> int:
    """Add the lines that are not applied yet, and return how many of them are lost."""
    headers = dict(kept.get("headers", {}))
    first = {key: place[1] for key, place in kept.get("positions", {}).items()}
    last, found, damaged = dict(first), 0, 0
    read = list(records(journal, kept.get("applied", 0))) if journal.exists() else []
    while read and (read[-1].left or not (read[-1].line or read[-1].complete)):
        read.pop()  # an append that was cut off does not count
    for record in read:
        if record.line is None:
            damaged += record.complete
            continue
        line = record.line
        found += line.number > last.get(line.key, 0)
        last[line.key] = max(line.number, last.get(line.key, 0))
        with suppress(ClueError):
            cells = cells_of(line, headers)
            kind = None if cells is None else split_kind(cells[2])
            if cells is not None and kind is not None:
                cells[2:3] = [":".join(filter(None, kind))]
                cells[-1] = cells[-1] or f"{line.source}:{line.number}"
                for column, cell in zip(columns.values(), cells):
                    column.append(cell)
    # A damaged part may have been many lines: the numbers of a source, which have no gaps, tell how many.
    return max(damaged, sum(last.values()) - sum(first.values()) - found)
