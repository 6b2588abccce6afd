"""StreamingClues: clues that arrive over time, applied to a saved model in batches, each exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple, Self

from cluewise import models, tables
from cluewise._interrupts import deferred
from cluewise._typing import Ints
from cluewise.clues.files import Names
from cluewise.ensemble import SCSC, scsc_folder
from cluewise.front import Cluewise
from cluewise.stream._journal import JOURNAL, Journal, Line
from cluewise.stream._lines import Aside, Reader
from cluewise.stream._lock import lock
from cluewise.stream._stores import IDS, MODEL, SUFFIX, find_store, has_model
from cluewise.tables import read_bytes
from cluewise.tables.folders import checksum

__all__ = ["Batch", "StreamingClues"]


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
    """Append clues as they arrive, and apply them to a saved `Cluewise` or `SCSC` in batches.

    Lines are written to a journal before anything else happens. To apply a batch, the new model is saved in one step
    with the place in the journal up to which lines are in them. So a process may be killed at any moment: the next one
    continues with the first line that is not applied yet. Lines that cannot be used are set aside with the reason.
    Lines and files have checksums: damaged weights of an `SCSC` are rebuilt from the journal; other damage is refused
    with the name of the file (`cluewise.stream.rescue` saves the clues).

    Parameters
    ----------
    path : str or path
        The folder of a model, written by `SCSC.save` or `StreamingClues.begin`, or the file of a `Cluewise`, written by
        `cluewise.save`: its journal is in a folder beside it. A `Cluewise` needs `resume` before `apply`.
    batch_size : int, default=500
        Maximum number of lines in a batch.

    See Also
    --------
    Cluewise, SCSC : The models.

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
        self._store = store = find_store(self.path)
        store.enter()
        self._lock = lock(store.folder)
        try:
            self._kept = store.load()
            self._journal = Journal(store.folder / JOURNAL, self._applied)
            self._reader = Reader(store.count_rows(), store.ids, store.accepts, store.check)
            self._reader.headers = dict(self._kept.get("headers", {}))
            self._positions: dict[str, list[int]] = {
                source: list(place) for source, place in self._kept.get("positions", {}).items()
            }
            self._pending: list[tuple[Line, int]] = []
            for line, offset in self._journal.lines:
                self._await(line, offset)
        except BaseException:
            store.leave()
            self.close()
            raise

    @classmethod
    def begin(cls, path: str | Path, model: SCSC | Cluewise, ids: Any = None, sections: Any = None) -> None:
        """Save a fitted model, and the names of its rows if they have any, for a stream of clues.

        Parameters
        ----------
        path : str or path
            The folder; it must not hold a model. For a `Cluewise` it may also be a new file with the suffix ``.cw``.
        model : SCSC or Cluewise
            The fitted model.
        ids : sequence of str, optional
            Names of the rows in clues; by default rows go by their numbers.
        sections : dict, optional
            What else to save in the file of a `Cluewise`.
        """
        folder = Path(path)
        if has_model(folder):
            raise ValueError(f"'{path}' holds a model already.")
        names = None
        if ids is not None:
            names = tables.row_names(tables.column_of(ids, "ids"))
            Names(
                names, model.clues_.n if isinstance(model, Cluewise) else model._log.n
            )  # refuses names that are missing or not unique
        file = isinstance(model, Cluewise) and folder.suffix == SUFFIX
        (folder.parent if file else folder).mkdir(parents=True, exist_ok=True)
        if isinstance(model, Cluewise):
            models.write(folder if file else folder / MODEL, model, {"row_names": names} | (sections or {}))
            return
        kept = {}
        if names is not None:
            with tables.atomic(folder / IDS) as aside:
                aside.write_text(json.dumps(names), "utf-8")
            kept["ids"] = checksum(folder / IDS)
        scsc_folder.save(model, folder, kept)

    @property
    def model(self) -> Any:
        """The model with all clues that are applied."""
        return self._store.model

    @property
    def ids(self) -> Any:
        """Names of the rows, or None."""
        return self._store.ids

    @property
    def sections(self) -> dict[str, Any]:
        """What is in the file of a `Cluewise` besides the model, such as how its columns were prepared."""
        return self._store.sections

    def resume(self, X: Any) -> None:
        """Give a `Cluewise` the rows of its fit, which it needs to apply clues.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows, as for `Cluewise.resume`.
        """
        self.model.resume(X)

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
                content = self._reader.read([line for line, _ in some])
                changed = self._store.learn(content)
                kept = dict(self._kept)
                kept["applied"] = some[-1][1]
                kept["batches"] = self.n_batches + 1
                if self.n_batches == len(kept.get("ends", [])):  # an older version may have kept none
                    kept["ends"] = [*kept.get("ends", []), some[-1][1]]
                kept["headers"] = self._reader.headers
                kept["positions"] = kept.get("positions", {}) | {line.key: [line.end, line.number] for line, _ in some}
                kept["aside"] = [*kept.get("aside", []), *map(list, content.aside)]
                self._store.save(kept)
            except BaseException:
                self._store.model, self._reader.headers = before, headers  # the batch still waits
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
