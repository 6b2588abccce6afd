"""The project store: every answer that was ever given, and what is needed to continue from there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Self

from sqlalchemy import Connection, Engine, Row, delete, insert
from sqlalchemy import select as pick

from cluewise.store._engine import WRITES, clearly, connect, last_id, lock, name_of, use_wal
from cluewise.store._entries import Entry, Record, Snapshot, add, entry_of, ledger_of, row, rows_of
from cluewise.store._json import checksum, moment_text, text_of
from cluewise.store._schema import bring_up_to_date, is_current, snapshots
from cluewise.store._settings import Settings
from cluewise.tables import FileError

__all__ = ["Store"]


class Store:
    """A project: the answers that people gave, its settings, and snapshots of the strategy that asks.

    Open one with `Store.open`. Answers are never deleted: undoing is one more entry. When `append` returns, the answer
    is on disk and survives a kill or a power cut. Several processes and threads may use a project at the same time.
    Questions, answers and states are any JSON; a tuple comes back as a list. Everything is read with its checksum: a
    damaged or lost answer is an error, never another answer (`cluewise.store.rescue` saves the others).

    Parameters
    ----------
    engine : sqlalchemy.Engine
        The database, with its tables.
    name : str
        Its name in messages.

    Attributes
    ----------
    name : str
        Its name in messages.
    settings : Settings
        JSON values by name, such as the data file, the strategy or the budget.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise"
    >>> with Store.open(path, create=True) as store:
    ...     _ = store.append({"pair": [0, 7]}, "yes", who="Ann")
    ...     _ = store.append({"pair": [0, 99]}, "yes", who="Ann")
    ...     _ = store.undo(who="Ann")
    >>> with Store.open(path) as store:
    ...     [(entry.id, entry.question, entry.answer) for entry in store.standing()]
    [(1, {'pair': [0, 7]}, 'yes')]
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.settings = Settings(name, self._read, self._write)
        self._engine: Engine | None = engine
        self._process = os.getpid()

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, create: bool = False, timeout: float = 30.0) -> Self:
        """Open a project; a file of an older version is brought up to date, completely or not at all.

        Parameters
        ----------
        path : str or path
            A file, or a ``postgresql://user@host/database`` address (extra ``postgres``).
        create : bool
            Whether to create a project that does not exist.
        timeout : float
            Seconds to wait while another process writes.

        Returns
        -------
        Store
            Close it after use, best by ``with``.

        Raises
        ------
        cluewise.tables.FileError
            (A ValueError and an OSError.) The file is missing, not a project, of a newer version, write-protected...
        """
        name = name_of(path)
        store = cls(connect(path, create=create, timeout=timeout), name)
        try:
            with store._read() as connection:
                current = is_current(connection)
            if not current:
                with store._write() as connection:
                    bring_up_to_date(connection, name, create=create)
            with clearly(name):
                use_wal(store._live())
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the file; everything that was acknowledged is on disk already."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def append(self, question: Any, answer: Any, *, who: str = "", when: datetime | None = None) -> int:
        """Save one answer, wait until it is on disk, and return its id (ids grow)."""
        new = row(Record(question, answer, who, when))
        with self._write() as connection:
            return add(connection, self.name, [new])

    def extend(self, many: Iterable[Record]) -> int:
        """Save answers in one transaction, all or none, and return their number."""
        rows = [row(Record(*some)) for some in many]
        if rows:
            with self._write() as connection:
                add(connection, self.name, rows)
        return len(rows)

    def undo(
        self, id: int | None = None, *, of: str | None = None, who: str = "", when: datetime | None = None
    ) -> Entry | None:
        """Take back the last answer that stands, or the one with a given id; works across restarts.

        Parameters
        ----------
        id : int, optional
            The answer to take back; it must stand.
        of : str, optional
            Only answers of this person.
        who : str
            Who takes it back.
        when : datetime, optional
            With a time zone; now by default.

        Returns
        -------
        Entry or None
            The answer that was taken back; None if there is none.
        """
        with self._write() as connection:
            rows = rows_of(connection, self.name)
            ledger = ledger_of(rows)
            standing = [a for a in rows if a.id in ledger.tip and a.id not in ledger.void and of in (None, a.who)]
            if id is not None:
                standing = [answer for answer in standing if answer.id == id]
                if not standing:
                    raise ValueError(f"entry {id} of '{self.name}' is not an answer that stands.")
            return self._turn(connection, standing[-1], ledger.tip, who, when) if standing else None

    def redo(self, *, who: str = "", when: datetime | None = None) -> Entry | None:
        """Restore the answer that was taken back last; None if there is none or a new answer came since."""
        with self._write() as connection:
            rows = rows_of(connection, self.name)
            ledger = ledger_of(rows)
            undone = [answer for answer in rows if answer.id in ledger.undone[-1:]]
            return self._turn(connection, undone[0], ledger.tip, who, when) if undone else None

    def _turn(
        self, connection: Connection, answer: Row[Any], tip: dict[int, int], who: str, when: datetime | None
    ) -> Entry:
        """Append the entry that takes back an answer or restores it, and return the answer."""
        add(connection, self.name, [{**row(Record(None, None, who, when)), "takes_back": tip[answer.id]}])
        return entry_of(answer, self.name)

    def entries(self, after: int = 0) -> list[Entry]:
        """All entries after the entry ``after``, in order: answers, standing or not, and what took them back."""
        with self._read() as connection:
            return [entry_of(one, self.name) for one in rows_of(connection, self.name, after)]

    def standing(self, after: int = 0) -> list[Entry]:
        """The answers after the entry ``after`` that nobody has taken back, in order."""
        with self._read() as connection:
            rows = rows_of(connection, self.name)
        ledger = ledger_of(rows)
        behind = [a for a in rows if a.id > after and a.id in ledger.tip and a.id not in ledger.void]
        return [entry_of(answer, self.name) for answer in behind]

    def snapshot(self, state: Any, upto: int, *, keep: int = 10) -> None:
        """Save a state that includes all standing answers up to the entry ``upto`` (0: none).

        A snapshot only saves the time of replaying the answers; all but the newest ``keep`` are deleted.
        """
        new = {"at": moment_text(None), "upto": upto, "state": text_of(state, "state")}
        if keep < 1:
            raise ValueError(f"keep={keep}: at least one snapshot is kept.")
        with self._write() as connection:
            last = last_id(connection, self.name)
            if not 0 <= upto <= last:
                raise ValueError(f"upto={upto}, but the entries of '{self.name}' end with {last}.")
            connection.execute(insert(snapshots).values(**new, crc32=checksum(*new.values())))
            newest = pick(snapshots.c.id).order_by(snapshots.c.id.desc()).limit(keep)
            connection.execute(delete(snapshots).where(snapshots.c.id.not_in(newest.scalar_subquery())))

    def last_snapshot(self) -> Snapshot | None:
        """The newest snapshot whose answers still stand as they did; continue with ``standing(after=upto)``.

        None if there is none, or none that is whole: then all of `standing` has to be replayed.
        """
        with self._read() as connection:
            ledger = ledger_of(rows_of(connection, self.name))
        with suppress(FileError), self._read() as connection:
            for found in connection.execute(pick(snapshots).order_by(snapshots.c.upto.desc(), snapshots.c.id.desc())):
                if found.crc32 == checksum(*found[1:-1]) and ledger.same_since(found.upto):
                    return Snapshot(json.loads(found.state), found.upto)
        return None

    def _live(self) -> Engine:
        """The engine; a forked child must not use its parent's connections."""
        if self._engine is None:
            raise ValueError(f"'{self.name}' is closed.")
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._process = os.getpid()
        return self._engine

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A transaction that sees the project at one moment."""
        with clearly(self.name), self._live().begin() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """A transaction with no other writer, rolled back on any error."""
        with clearly(self.name), self._live().connect() as connection:
            connection.execution_options(**{WRITES: True})
            with connection.begin():
                lock(connection)
                yield connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.name!r}{'' if self._engine else ', closed'})"
