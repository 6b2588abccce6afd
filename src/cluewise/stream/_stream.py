"""StreamingClues: clues as they come, applied to a saved model in batches, each exactly once."""

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
from cluewise.stream._lines import Aside, Reader, Understood
from cluewise.stream._lock import locked
from cluewise.tables._files import read_bytes
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
    changed: Ints  # rows whose label is not what it was


class StreamingClues:
    """Append clues as they come, and apply them to a saved `SCSC` in batches.

    Lines are written to a journal before anything else happens. A batch is applied by saving, in one step, the new
    weights together with the place in the journal up to which lines are in them. So a process may be killed at any
    moment: started again, it goes on with the first line that is not yet applied. Lines that cannot be used are set
    aside with the reason; they stop nothing. Lines and files have checksums: weights that were damaged are rebuilt from
    the journal, and what cannot be rebuilt is refused with the name of the file (`cluewise.stream.rescue` saves the
    clues).

    Parameters
    ----------
    path : str or path
        The folder of a model that `SCSC.save` or `StreamingClues.begin` has written.
    batch_size : int, default=500
        Most lines in a batch.

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
        self._lock = locked(self.path)
        try:
            try:
                self.model, self._kept = scsc_folder.load(self.path)
            except scsc_folder.DamagedWeights as problem:
                self.model, self._kept = self._rebuilt(problem)
            self._journal = Journal(self.path / JOURNAL, self._applied)
            self.ids = read_ids(self.path, self._kept)
            self._reader = Reader(self.model._ensemble.n, self.ids, SCSC.card.accepts)
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
        """Save a fitted model, with names of its rows if they have any, for a stream of clues.

        Parameters
        ----------
        path : str or path
            The folder; there must be no model in it.
        model : SCSC
            Fitted.
        ids : sequence of str, optional
            Names of the rows, by which clues call them; by default rows are called by their numbers.
        """
        folder = Path(path)
        scsc_folder.refuse_model(folder)
        folder.mkdir(parents=True, exist_ok=True)
        kept = {}
        if ids is not None:
            names = tables.row_names(tables.column_of(ids, "ids"))
            Reader(model._ensemble.n, names, SCSC.card.accepts)  # refuses names that are missing or not unique
            with tables.atomic(folder / IDS) as aside:
                aside.write_text(json.dumps(names), "utf-8")
            kept["ids"] = checksum(folder / IDS)
        scsc_folder.save(model, folder, kept)

    def _rebuilt(self, problem: scsc_folder.DamagedWeights) -> tuple[SCSC, dict[str, Any]]:
        """The model that its clues lead to once more, batch by batch; only if the journal holds all of them."""
        model, kept, seen = scsc_folder.load_unlearned(self.path)
        reader = Reader(model._ensemble.n, read_ids(self.path, kept), SCSC.card.accepts)
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
        """Batches applied so far, by this process and earlier ones."""
        return int(self._kept.get("batches", 0))

    @property
    def n_pending(self) -> int:
        """Lines that wait to be applied."""
        return len(self._pending)

    @property
    def aside(self) -> list[Aside]:
        """All lines that were set aside so far."""
        return [Aside(*bad) for bad in self._kept.get("aside", [])]

    def append(self, lines: Iterable[str], *, source: str = "stdin") -> None:
        """Take in lines, one clue in each: ``a17,b3,must``, as in a file of clues.

        Parameters
        ----------
        lines : iterable of str
            They are on disk when this returns; after an error, none of them is.
        source : str, default="stdin"
            Who says so; lines are counted on from the last one of the same source.
        """
        last = self._positions.get(source, [0, 0])[1]
        self._take([Line(source, last + i, text.rstrip("\r\n")) for i, text in enumerate(lines, 1)])

    def read(self, path: str | Path) -> str:
        """Take in the lines that a growing file has got since it was read last.

        Parameters
        ----------
        path : str or path
            An ordinary text file of clues, one per line. It may grow between two calls and must not shrink.

        Returns
        -------
        str
            What stands behind the last line break; it may be half a line, so it is not taken yet.
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
            with deferred():  # what the journal holds waits here too
                for line, offset in self._journal.append(lines):
                    self._await(line, offset)

    def _await(self, line: Line, offset: int) -> None:
        last = self._positions.get(line.key, [0, 0])[1]
        if line.number > last + 1:  # lines of a source are counted without gaps
            raise self._journal.damaged(f"lines {last + 1} to {line.number - 1} of '{line.source}' are missing")
        self._pending.append((line, offset))
        self._positions[line.key] = [line.end, line.number]

    def apply(self) -> Iterator[Batch]:
        """Apply everything that waits, batch by batch; a batch is on disk when it is yielded."""
        while self._pending:
            some = self._pending[: self.batch_size]
            before, headers = copy(self.model), dict(self._reader.headers)
            try:
                told = _learn(self.model, self._reader, [line for line, _ in some])
                changed = self.model.changed_
                kept = dict(self._kept)
                kept["applied"] = some[-1][1]
                kept["batches"] = self.n_batches + 1
                if self.n_batches == len(kept.get("ends", [])):  # else an older version applied some
                    kept["ends"] = [*kept.get("ends", []), some[-1][1]]
                kept["headers"] = self._reader.headers
                kept["positions"] = kept.get("positions", {}) | {line.key: [line.end, line.number] for line, _ in some}
                kept["aside"] = [*kept.get("aside", []), *told.aside]
                scsc_folder.save(self.model, self.path, kept)
            except BaseException:
                self.model, self._reader.headers = before, headers  # the batch still waits
                raise
            self._kept = kept
            self._pending = self._pending[len(some) :]
            yield Batch(self.n_batches, told.counts, told.aside, changed)

    def close(self) -> None:
        """Let others use the folder."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def read_ids(folder: Path, kept: dict[str, Any]) -> Any:
    """Names of the rows, None where they have none; refused unless they are those that the stream began with."""
    path = folder / IDS
    if "ids" in kept and (not path.exists() or checksum(path) != kept["ids"]):
        raise tables.FileError(
            f"'{path}' is damaged: it is not what was saved; 'cluewise rescue' saves the clues in '{folder}'."
        )
    return tables.read_json(path) if path.exists() else None


def _learn(model: SCSC, reader: Reader, lines: list[Line]) -> Understood:
    """Move the weights of a model by what some lines say."""
    told = reader.read(lines, model._log.groups)
    if told.counts:
        model._learn(told.reports, told.groups)
    return told
