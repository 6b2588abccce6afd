"""Where a stream keeps its model: an `SCSC` in its folder, a `Cluewise` in a file of its own.

A store saves the model together with what the stream has to remember, in one step.
"""

from __future__ import annotations

import warnings
from bisect import bisect_right
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cluewise import models, tables
from cluewise._typing import Ints
from cluewise.clues import Clues
from cluewise.ensemble import SCSC, scsc_folder
from cluewise.ensemble.scsc_folder import Reports
from cluewise.exceptions import ClueError, ClueWarning
from cluewise.front import Cluewise, name_clusters
from cluewise.stream._journal import JOURNAL, Journal
from cluewise.stream._lines import Content, Reader
from cluewise.stream._lock import NAME as LOCK
from cluewise.tables.folders import INDEX, checksum

__all__ = ["IDS", "MODEL", "SUFFIX", "Store", "find_store", "has_journal", "has_model"]

IDS = "ids.json"
SUFFIX = ".cw"
MODEL = f"model{SUFFIX}"
"""The file of a `Cluewise` in the folder of a stream."""

BESIDE = ".journal"
"""What the name of a model file is followed by in that of the folder with its journal."""


class Store(Protocol):
    """A model on disk."""

    folder: Path  # with the journal and the lock
    model: Any
    sections: dict[str, Any]  # what else was saved with the model
    ids: Any  # names of the rows, or None
    accepts: frozenset[str]

    def enter(self) -> None:
        """Make the folder if it is beside a file."""

    def load(self) -> dict[str, Any]:
        """Read the model and the names of its rows, and return what the stream has to remember."""

    def save(self, kept: dict[str, Any]) -> None:
        """Save the model, and what the stream has to remember."""

    def count_rows(self) -> int:
        """Number of rows of the model."""

    def check(self, reports: Reports, groups: Clues | None) -> None:
        """Raise if clues cannot be added to those that the model has."""

    def learn(self, content: Content) -> Ints:
        """Update the model, and return the rows whose cluster has changed."""

    def read_clues(self) -> tuple[Clues, dict[str, Any]]:
        """The clues of a model of which other parts may be damaged, and what the stream has to remember."""

    def leave(self) -> None:
        """Remove the folder if it was made only to look at the model."""


def find_store(path: Path) -> Store:
    """The store of a folder or of a model file."""
    if path.is_file():
        return FileStore(path, path.with_name(path.name + BESIDE))
    if path.suffix == BESIDE and path.with_suffix("").is_file():
        return FileStore(path.with_suffix(""), path)
    if (path / MODEL).exists() and not (path / INDEX).exists():
        return FileStore(path / MODEL, path)
    return FolderStore(path)


def has_model(path: str | Path) -> bool:
    """Whether a path is a file or a folder with a model, so that a stream goes on there.

    Examples
    --------
    >>> from cluewise.stream import has_model
    >>> has_model("nowhere")
    False
    """
    path = Path(path)
    return path.is_file() or any((path / name).exists() for name in (INDEX, MODEL))


def has_journal(path: str | Path) -> bool:
    """Whether a path is a file or a folder that clues were streamed to.

    Examples
    --------
    >>> from cluewise.stream import has_journal
    >>> has_journal("nowhere")
    False
    """
    return (find_store(Path(path)).folder / JOURNAL).exists()


class FolderStore:
    """An `SCSC` in its folder; the names of the rows are in a file beside it."""

    model: SCSC
    accepts = SCSC.card.accepts

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sections: dict[str, Any] = {}
        self.ids: Any = None

    def enter(self) -> None:
        """Nothing to make: the model is in the folder."""

    def load(self) -> dict[str, Any]:
        """Read the model; damaged weights are rebuilt from the journal."""
        try:
            self.model, kept = scsc_folder.load(self.folder)
        except scsc_folder.DamagedWeights as problem:
            kept = self._rebuild(problem)
        self.ids = self._read_ids(kept)
        return kept

    def save(self, kept: dict[str, Any]) -> None:
        """Save the weights."""
        scsc_folder.save(self.model, self.folder, kept)

    def count_rows(self) -> int:
        """Number of rows of the partitions."""
        return self.model._log.n

    def check(self, reports: Reports, groups: Clues | None) -> None:
        """Raise if a weight is infinite, or a row has another label already."""
        if np.isinf(reports.weight).any():
            raise ClueError("an infinite weight is for methods that take clues as hard.")
        if groups is not None and self.model._log.groups is not None:
            self.model._log.groups | groups

    def learn(self, content: Content) -> Ints:
        """Move the weights, and count the votes."""
        self._move(content)
        return self.model.changed_

    def _move(self, content: Content) -> None:
        if content.counts:
            self.model._learn(content.reports, content.groups)

    def read_clues(self) -> tuple[Clues, dict[str, Any]]:
        """The clues in the log, even if the partitions are damaged."""
        log, kept = scsc_folder.load_log(self.folder)
        self.ids = self._read_ids(kept)
        return log.clues(), kept

    def leave(self) -> None:
        """Nothing to remove."""

    def _read_ids(self, kept: dict[str, Any]) -> Any:
        """Names of the rows, or None; refused unless they are those that the stream began with."""
        path = self.folder / IDS
        if "ids" in kept and (not path.exists() or checksum(path) != kept["ids"]):
            raise tables.FileError(
                f"'{path}' is damaged: it is not what was saved; 'cluewise rescue' saves the clues in '{self.folder}'."
            )
        return tables.read_json(path) if path.exists() else None

    def _rebuild(self, problem: scsc_folder.DamagedWeights) -> dict[str, Any]:
        """Learn all clues again, batch by batch; only if the journal holds all of them."""
        self.model, kept, seen = scsc_folder.load_unlearned(self.folder)
        reader = Reader(self.count_rows(), self._read_ids(kept), self.accepts, self.check)
        lines = Journal(self.folder / JOURNAL).lines
        ends, first = kept.get("ends", []), 0
        for end in ends:
            last = bisect_right(lines, end, key=itemgetter(1))
            self._move(reader.read([line for line, _ in lines[first:last]]))
            first = last
        if max(ends, default=0) != kept.get("applied", 0) or self.model._state.seen != seen:
            raise problem
        warnings.warn(f"{str(problem).split(';')[0]}; it was rebuilt from the journal.", ClueWarning, stacklevel=4)
        return kept


class FileStore:
    """A `Cluewise` in a file, which also holds what the stream has to remember."""

    model: Cluewise
    # Sizes and partitions are about all rows at once, not a line at a time.
    accepts = Cluewise.card.accepts - {"sizes", "partitions"}

    def __init__(self, file: Path, folder: Path) -> None:
        self.file = file
        self.folder = folder
        self.sections: dict[str, Any] = {}
        self.ids: Any = None

    def enter(self) -> None:
        """Make the folder of the journal."""
        with tables.writing(self.folder):
            self.folder.mkdir(exist_ok=True)

    def load(self) -> dict[str, Any]:
        """Read the model; one that has had no stream yet begins with an empty journal."""
        kept = self._read()
        if kept is not None:
            return kept
        journal = self.folder / JOURNAL
        if journal.exists() and journal.stat().st_size:
            raise tables.FileError(
                f"'{self.file}' was saved anew, but '{self.folder}' holds clues for an earlier model: save them with "
                "'cluewise rescue', then remove the folder."
            )
        self.save({})  # before the first line is in the journal, so that the journal is known to be of this model
        return {}

    def _read(self) -> dict[str, Any] | None:
        try:
            model, sections = models.read(self.file)
        except tables.FileError as error:
            if not (self.folder / JOURNAL).exists():
                raise
            raise tables.FileError(
                f"{str(error).removesuffix('.')}; 'cluewise rescue' saves the clues in '{self.folder}'."
            ) from None
        if not isinstance(model, Cluewise):
            raise tables.FileError(
                f"'{self.file}' holds a {type(model).__name__}, which takes no further clues; fit again with all clues."
            )
        if not hasattr(model, "labels_"):
            raise tables.FileError(
                f"'{self.file}' was fitted to rows in chunks, which are not here; fit again with all clues."
            )
        self.model, self.sections, self.ids = model, sections, sections.get("row_names")
        return sections.get("stream")

    def save(self, kept: dict[str, Any]) -> None:
        """Replace the file."""
        sections = self.sections | {"stream": kept}
        if "clusters" in sections:
            sections["clusters"] = name_clusters(self.model, self.model.clues_, sections["clusters"])
        models.write(self.file, self.model, sections)
        self.sections = sections

    def count_rows(self) -> int:
        """Number of rows of the fit."""
        return self.model.clues_.n

    def check(self, reports: Reports, groups: Clues | None) -> None:
        """Raise if a row has another label already, or what has to hold cannot hold together."""
        self.model._check_demands(self.model.clues_ | self._join(reports, groups))

    def learn(self, content: Content) -> Ints:
        """Fit the model again to all clues."""
        before = self.model.cluster_ids_[self.model.labels_]
        if content.counts:
            self.model.update(self._join(content.reports, content.groups))
        return np.flatnonzero(self.model.cluster_ids_[self.model.labels_] != before)

    def read_clues(self) -> tuple[Clues, dict[str, Any]]:
        """All clues of the model, those of its fit too."""
        kept = self._read() or {}
        return self.model.clues_, kept

    def leave(self) -> None:
        """Remove the folder if no journal was begun in it."""
        if self.folder != self.file.parent and not (self.folder / JOURNAL).exists():
            with suppress(OSError):
                (self.folder / LOCK).unlink(missing_ok=True)
                self.folder.rmdir()

    def _join(self, reports: Reports, groups: Clues | None) -> Clues:
        links = reports.clues(self.count_rows())
        return links if groups is None else links | groups
