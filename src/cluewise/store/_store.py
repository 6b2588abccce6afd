"""The project store: every answer that was ever given, and what is needed to continue from there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from threading import Lock
from typing import Any, Self

from sqlalchemy import Connection, Engine, Row, delete, insert, update
from sqlalchemy import select as pick

from cluewise._texts import mended
from cluewise.store._calls import Calls
from cluewise.store._engine import WRITES, clearly, connect, last_id, lock, name_of, scrub, use_wal
from cluewise.store._entries import FORGOTTEN, Entry, Record, Snapshot, add, entry_of, ledger_of, row, rows_of
from cluewise.store._json import checksum, moment_text, text_of
from cluewise.store._ledger import Ledger
from cluewise.store._log import EPOCH, SHORT, Answers, Log
from cluewise.store._schema import answers, bring_up_to_date, is_current, snapshots
from cluewise.store._settings import Settings, settings_in
from cluewise.tables import FileError

__all__ = ["Store"]


class Store:
    """A project: the answers that people gave, its settings, and snapshots of the strategy that asks.

    Open one with `Store.open`. Undoing is one more entry; only `forget` deletes answers. When `append` returns, the
    answer is on disk and survives a kill or a power cut. Several processes and threads may use a project at the same
    time. Questions, answers and states are any JSON; a tuple comes back as a list. Everything is read with its
    checksum: a damaged or lost answer is an error, never another answer (`cluewise.store.rescue` saves the others).

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
    calls : Calls
        Calls to language models, and their replies.

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
        self.calls = Calls(name, self._read, self._write)
        self._engine: Engine | None = engine
        self._process = os.getpid()
        self._log = Log()
        self._reading = Lock()

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

    def extend(self, many: Iterable[Record]) -> list[int]:
        """Save answers in one transaction, all or none, and return their ids.

        A question may be a dict with a ``nonce``, a text made up by the sender. If there is an entry of the same person
        with the same nonce, standing or not, the answer is not saved again, and the id of that entry is returned.
        """
        rows = [row(Record(*some)) for some in many]
        nonces = [(some["who"], _nonce(some["question"])) for some in rows]
        if not rows:
            return []
        with self._write() as connection:
            stored = self._nonces(connection) if any(nonce for _, nonce in nonces) else {}
            first = last_id(connection, self.name) + 1
            new: list[dict[str, Any]] = []
            fresh: dict[tuple[str, str], int] = {}
            ids = []
            for some, key in zip(rows, nonces):
                id = (stored.get(key) or fresh.get(key)) if key[1] else None
                if id is None:
                    id = fresh[key] = first + len(new)
                    new.append(some)
                ids.append(id)
            if new:
                add(connection, self.name, new)
        return ids

    def replace(self, id: int, new: Record) -> int:
        """Take back an answer and save another in its place, in one transaction: never do both stand, or neither.

        Parameters
        ----------
        id : int
            The answer to take back; it must stand.
        new : Record
            What takes its place. Whoever says it also takes back the other. If this person's nonce is stored already,
            nothing changes.

        Returns
        -------
        int
            Id of the new answer.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cluewise.store import Record, Store
        >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
        ...     old = store.append({"pair": [0, 7]}, "yes")
        ...     store.replace(old, Record({"pair": [0, 7]}, "no")), [entry.answer for entry in store.standing()]
        (3, ['no'])
        """
        fresh = row(new)
        nonce = _nonce(fresh["question"])
        with self._write() as connection:
            stored = self._nonces(connection).get((fresh["who"], nonce)) if nonce else None
            if stored is not None:
                return stored
            standing, ledger = self._standing(connection)
            # Taking back comes first: what is new ends what can be redone, so that no redo brings the old one back.
            self._turn(connection, self._pick(standing, id), ledger.tip, new.who, new.when)
            return add(connection, self.name, [fresh])

    def answers(self) -> Answers:
        """Which answers stand, and all of them by id; only what is new is read from the file.

        Each entry is checked when it is first read, not each time as in `entries` and `standing`.
        """
        with self._read() as connection, self._reading:
            self._log = self._log.read(connection, self.name)
            return self._log.answers()

    def forget(self, who: str) -> int:
        """Delete all that a person said and did, and her name wherever she took something back.

        The content of her entries is overwritten in the file and in its log, and all snapshots are deleted. The numbers
        of the entries stay. In PostgreSQL old content lasts until the next VACUUM, and in backups for ever.

        Parameters
        ----------
        who : str
            The person.

        Returns
        -------
        int
            Number of entries that were overwritten.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cluewise.store import Store
        >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
        ...     _ = store.append({"pair": [0, 7]}, "yes", who="Ann")
        ...     _ = store.append({"pair": [0, 9]}, "no", who="Bob")
        ...     store.forget("Ann"), [entry.who for entry in store.standing()]
        (1, ['Bob'])
        """
        with self._write() as connection:
            epoch = settings_in(connection, self.name, SHORT).get(EPOCH, 0)
            hers = [one for one in rows_of(connection, self.name) if one.who == who]
            for one in hers:
                empty = {"question": FORGOTTEN if one.takes_back is None else one.question, "answer": "null"}
                new = {"id": one.id, "who": "", "at": moment_text(None), **empty, "takes_back": one.takes_back}
                new["crc32"] = checksum(*new.values())
                connection.execute(update(answers).where(answers.c.id == one.id).values(new))
            if hers:
                connection.execute(delete(snapshots))
                self.settings.put(connection, EPOCH, epoch + 1)
        with clearly(self.name):
            scrub(self._live(), self.name)
        return len(hers)

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
            everything, ledger = self._standing(connection)
            standing = [answer for answer in everything if of in (None, answer.who)]
            if id is not None:
                standing = [self._pick(standing, id)]
            return self._turn(connection, standing[-1], ledger.tip, who, when) if standing else None

    def redo(self, *, of: str | None = None, who: str = "", when: datetime | None = None) -> Entry | None:
        """Restore the answer (``of`` one person) taken back last; None if there is none or a new answer came since."""
        with self._write() as connection:
            rows = rows_of(connection, self.name)
            ledger = ledger_of(rows)
            said = {answer.id: answer for answer in rows if of in (None, answer.who)}
            undone = [said[id] for id in reversed(ledger.undone) if id in said]
            return self._turn(connection, undone[0], ledger.tip, who, when) if undone else None

    def _standing(self, connection: Connection) -> tuple[list[Row[Any]], Ledger]:
        """The answers that nobody has taken back, in order, and the ledger that says so."""
        rows = rows_of(connection, self.name)
        ledger = ledger_of(rows)
        return [answer for answer in rows if answer.id in ledger.tip and answer.id not in ledger.void], ledger

    def _pick(self, standing: list[Row[Any]], id: int) -> Row[Any]:
        """The answer with an id; refused unless it stands."""
        for answer in standing:
            if answer.id == id:
                return answer
        raise ValueError(f"entry {id} of '{self.name}' is not an answer that stands.")

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
            standing, _ = self._standing(connection)
        return [entry_of(answer, self.name) for answer in standing if answer.id > after]

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
                    return Snapshot(mended(found.state), found.upto)
        return None

    def _nonces(self, connection: Connection) -> dict[tuple[str, str], int]:
        """Entries by person and nonce, all that a transaction sees."""
        with self._reading:
            self._log = self._log.read(connection, self.name)
            return self._log.nonces

    def _live(self) -> Engine:
        """The engine; a forked child must not use its parent's connections."""
        if self._engine is None:
            raise ValueError(f"'{self.name}' is closed.")
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._process = os.getpid()
            self._log, self._reading = Log(), Lock()  # a thread of the parent may have held it
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


def _nonce(question: str) -> str:
    """The nonce in the JSON text of a question, or an empty text."""
    found = json.loads(question)
    nonce = found.get("nonce") if isinstance(found, dict) else None
    return nonce if isinstance(nonce, str) else ""
