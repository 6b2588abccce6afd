"""StreamingClues: clues that arrive over time, applied to a saved model in batches, each exactly once."""

from __future__ import annotations

import json
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from copy import copy
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Self

from cluewise import tables
from cluewise._interrupts import deferred
from cluewise._typing import Ints
from cluewise.ensemble import SCSC, scsc_folder
from cluewise.exceptions import ClueWarning
from cluewise.stream._journal import Journal, Line
from cluewise.stream._lines import Aside, Content, Reader
from cluewise.stream._lock import lock
from cluewise.tables import read_bytes
from cluewise.tables.folders import checksum

__all__ = ["Batch", "StreamingClues"]

JOURNAL = "journal.jsonl"
IDS = "ids.json"


class Batch(NamedTuple):
    """What one batch did.

    Examples
    --------
    >>> from cluewise.stream import Batch
    >>> Batch(1, {"must": 2}, [], [4, 7]).counts
    {'must': 2}
    """

    number: int  # counted from 1
    counts: dict[str, int]  # lines of each kind
    aside: list[Aside]  # lines that could not be used
    changed: Ints  # rows whose label changed


class StreamingClues:
    """Append clues as they arrive, and apply them to a saved `SCSC` in batches.

    Lines are written to a journal before anything else happens. To apply a batch, the new weights are saved in one step
    with the place in the journal up to which lines are in them. So a process may be killed at any moment: the next one
    continues with the first line that is not applied yet. Lines that cannot be used are set aside with the reason.
    Lines and files have checksums: damaged weights are rebuilt from the journal, and what cannot be rebuilt is refused
    with the name of the file (`cluewise.stream.rescue` saves the clues).

    Parameters
    ----------
    path : str or path
        The folder of a model, written by `SCSC.save` or `StreamingClues.begin`.
    batch_size : int, default=500
        Maximum number of lines in a batch.

    See Also
    --------
    SCSC : The model.

    Examples
    --------
    >>> import tempfile
    >>> from cluewise import SCSC
    >>> from cluewise.stream import StreamingClues
    >>> folder = tempfile.mkdtemp()
    >>> SCSC.from_partitions([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]).save(folder)
    >>> with StreamingClues(folder) as stream:
    ...     stream.append(["1,2,must", "2,3,perhaps"], source="ann")
    ...     for batch in stream.apply():
    ...         for bad in batch.aside:
    ...             str(bad)[:43]
    ...     stream.model.gamma_.round(2).tolist()  # the first partition joins rows 1 and 2
    "ann line 2: 'perhaps' is not a kind of clue"
    [0.55, 0.45]
    """

    def __init__(self, path: str | Path, *, batch_size: int = 500) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}; a batch has at least one line.")
        self.path = Path(path)
        self.batch_size = batch_size
        self._lock = lock(self.path)
        try:
            try:
                self.model, self._kept = scsc_folder.load(self.path)
            except scsc_folder.DamagedWeights as problem:
                self.model, self._kept = self._rebuild(problem)
            self._journal = Journal(self.path / JOURNAL, self._applied)
            self.ids = read_ids(self.path, self._kept)
            self._reader = Reader(self.model._log.n, self.ids, SCSC.card.accepts)
            self._reader.headers = dict(self._kept.get("headers", {}))
            self._positions: dict[str, list[int]] = {
                source: list(place) for source, place in self._kept.get("positions", {}).items()
            }
            self._pending: list[tuple[Line, int]] = []
            for line, offset in self._journal.lines:
                self._await(line, offset)
        except BaseException:
            self.close()
            raise

    @classmethod
    def begin(cls, path: str | Path, model: SCSC, ids: Any = None) -> None:
        """Save a fitted model, and the names of its rows if they have any, for a stream of clues.

        Parameters
        ----------
        path : str or path
            The folder; it must not hold a model.
        model : SCSC
            The fitted model.
        ids : sequence of str, optional
            Names of the rows in clues; by default rows go by their numbers.
        """
        folder = Path(path)
        scsc_folder.refuse_model(folder)
        folder.mkdir(parents=True, exist_ok=True)
        kept = {}
        if ids is not None:
            names = tables.row_names(tables.column_of(ids, "ids"))
            Reader(model._log.n, names, SCSC.card.accepts)  # refuses names that are missing or not unique
            with tables.atomic(folder / IDS) as aside:
                aside.write_text(json.dumps(names), "utf-8")
            kept["ids"] = checksum(folder / IDS)
        scsc_folder.save(model, folder, kept)

    def _rebuild(self, problem: scsc_folder.DamagedWeights) -> tuple[SCSC, dict[str, Any]]:
        """Learn all clues again, batch by batch; only if the journal holds all of them."""
        model, kept, seen = scsc_folder.load_unlearned(self.path)
        reader = Reader(model._log.n, read_ids(self.path, kept), SCSC.card.accepts)
        lines = Journal(self.path / JOURNAL).lines
        ends, first = kept.get("ends", []), 0
        for end in ends:
            last = bisect_right(lines, end, key=itemgetter(1))
            _learn(model, reader, [line for line, _ in lines[first:last]])
            first = last
        if max(ends, default=0) != kept.get("applied", 0) or model._state.seen != seen:
            raise problem
        warnings.warn(f"{str(problem).split(';')[0]}; it was rebuilt from the journal.", ClueWarning, stacklevel=3)
        return model, kept

    @property
    def _applied(self) -> int:
        return int(self._kept.get("applied", 0))

    @property
    def n_batches(self) -> int:
        """Number of batches applied so far, by this process and earlier ones."""
        return int(self._kept.get("batches", 0))

    @property
    def n_pending(self) -> int:
        """Number of lines that are not applied yet."""
        return len(self._pending)

    @property
    def aside(self) -> list[Aside]:
        """All lines set aside so far."""
        return [Aside(*bad) for bad in self._kept.get("aside", [])]

    def append(self, lines: Iterable[str], *, source: str = "stdin") -> None:
        """Add lines, one clue in each: ``a17,b3,must``, as in a file of clues.

        Parameters
        ----------
        lines : iterable of str
            All are on disk when this returns; after an error, none is.
        source : str, default="stdin"
            Where they come from; the lines of each source are numbered.
        """
        last = self._positions.get(source, [0, 0])[1]
        self._take([Line(source, last + i, text.rstrip("\r\n")) for i, text in enumerate(lines, 1)])

    def read(self, path: str | Path) -> str:
        """Add the lines that a growing file has gained since it was last read.

        Parameters
        ----------
        path : str or path
            An ordinary text file of clues, one per line. It may grow between two calls and must not shrink.

        Returns
        -------
        str
            What follows the last line break; it may be half a line, so it is not added yet.
        """
        source, file = Path(path).name, str(Path(path).resolve())
        end, number = self._positions.get(file, [0, 0])
        data = read_bytes(path, end)
        if Path(path).stat().st_size < end:
            raise tables.FileError(f"'{path}' is shorter than it was; a file that grows never shrinks.")
        *records, waiting = data.split(b"\n")
        lines = []
        for record in records:
            end, number = end + len(record) + 1, number + 1
            lines.append(Line(source, number, record.decode("utf-8", "replace").rstrip("\r"), end, file))
        self._take(lines)
        return waiting.decode("utf-8", "replace")

    def _take(self, lines: list[Line]) -> None:
        if lines:
            with deferred():  # a line in the journal must also be in the queue
                for line, offset in self._journal.append(lines):
                    self._await(line, offset)

    def _await(self, line: Line, offset: int) -> None:
        last = self._positions.get(line.key, [0, 0])[1]
        if line.number > last + 1:  # lines of a source are counted without gaps
            raise self._journal.damaged(f"lines {last + 1} to {line.number - 1} of '{line.source}' are missing")
        self._pending.append((line, offset))
        self._positions[line.key] = [line.end, line.number]

    def apply(self) -> Iterator[Batch]:
        """Apply all lines that wait, batch by batch; a batch is on disk when it is yielded."""
        while self._pending:
            some = self._pending[: self.batch_size]
            before, headers = copy(self.model), dict(self._reader.headers)
            try:
                content = _learn(self.model, self._reader, [line for line, _ in some])
                changed = self.model.changed_
                kept = dict(self._kept)
                kept["applied"] = some[-1][1]
                kept["batches"] = self.n_batches + 1
                if self.n_batches == len(kept.get("ends", [])):  # an older version may have kept none
                    kept["ends"] = [*kept.get("ends", []), some[-1][1]]
                kept["headers"] = self._reader.headers
                kept["positions"] = kept.get("positions", {}) | {line.key: [line.end, line.number] for line, _ in some}
                kept["aside"] = [*kept.get("aside", []), *content.aside]
                scsc_folder.save(self.model, self.path, kept)
            except BaseException:
                self.model, self._reader.headers = before, headers  # the batch still waits
                raise
            self._kept = kept
            self._pending = self._pending[len(some) :]
            yield Batch(self.n_batches, content.counts, content.aside, changed)

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_ids(folder: Path, kept: dict[str, Any]) -> Any:
    """Names of the rows, or None; refused unless they are those that the stream began with."""
    path = folder / IDS
    if "ids" in kept and (not path.exists() or checksum(path) != kept["ids"]):
        raise tables.FileError(
            f"'{path}' is damaged: it is not what was saved; 'cluewise rescue' saves the clues in '{folder}'."
        )
    return tables.read_json(path) if path.exists() else None


def _learn(model: SCSC, reader: Reader, lines: list[Line]) -> Content:
    """Update a model with some lines."""
    content = reader.read(lines, model._log.groups)
    if content.counts:
        model._learn(content.reports, content.groups)
    return content
