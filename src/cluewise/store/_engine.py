"""Connections: all differences of SQLite and PostgreSQL, and their errors in one sentence."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from cluewise._extras import install
from cluewise.tables import FileError

__all__ = ["WRITES", "clearly", "connect", "damaged", "last_id", "lock", "name_of", "scrub", "use_wal"]

WRITES = "cluewise_writes"  # execution option of connections that will write
PROJECT = 0x636C7565  # names our lock in PostgreSQL


def name_of(path: str | os.PathLike[str]) -> str:
    """The name of a project in messages, without a password."""
    if _is_url(path):
        try:
            return make_url(str(path)).render_as_string()
        except ArgumentError:
            raise ValueError("the address of the project is not one: postgresql://user@host/database.") from None
    return os.fspath(path)


def connect(path: str | os.PathLike[str], *, create: bool, timeout: float) -> Engine:
    """An engine for a file or a postgresql:// address; nothing is created yet."""
    return _postgresql(str(path), timeout) if _is_url(path) else _sqlite(Path(path), create, timeout)


def lock(connection: Connection) -> None:
    """Make other writers wait, so that entries become visible in the order of their numbers."""
    if connection.dialect.name == "postgresql":  # SQLite has done it in _begin
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": PROJECT})


def last_id(connection: Connection, name: str) -> int:
    """The number of the last entry; SQLite also counts entries outside of the table, so that a lost end is found."""
    top = connection.execute(text("SELECT max(id) FROM answers")).scalar() or 0
    if connection.dialect.name == "sqlite":
        given = connection.execute(text("SELECT seq FROM sqlite_sequence WHERE name = 'answers'")).scalar() or 0
        if given != top:
            raise damaged(name, f"of {given} entries the last is number {top}")
    return int(top)


def damaged(name: str, how: str) -> FileError:
    """The error for a damaged project, with advice on how to save what is whole."""
    advice = "." if _is_url(name) else f"; {_RESCUE}"  # a rescue needs the file
    return FileError(f"'{name}' is damaged: {how}{advice}")


def _is_url(path: str | os.PathLike[str]) -> bool:
    return isinstance(path, str) and "://" in path


def _postgresql(address: str, timeout: float) -> Engine:
    url = make_url(address)
    if url.get_backend_name() != "postgresql":
        raise ValueError(f"a project is a file or a postgresql:// address, not {url.get_backend_name()}.")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    try:
        return create_engine(url, connect_args={"options": f"-c lock_timeout={round(timeout * 1000)}"})
    except ImportError:
        raise ImportError(f"projects in PostgreSQL need psycopg: {install('postgres')}.") from None


def _sqlite(path: Path, create: bool, timeout: float) -> Engine:
    if path.is_dir():
        raise FileError(f"'{path}' is a folder, not a project file.")
    if path.exists():
        if not path.is_file():
            raise FileError(f"'{path}' is not an ordinary file.")
        if not os.access(path, os.W_OK):
            raise FileError(f"'{path}' is write-protected, and a project saves every answer.")
    elif not create:
        raise FileError(f"there is no project '{path}'.")
    elif not path.absolute().parent.is_dir():
        raise FileError(f"'{path}' cannot be created: there is no folder '{path.absolute().parent}'.")
    # The absolute path: SQLite would read "file:..." as an address and ":memory:" as no file at all.
    url = URL.create("sqlite", database=str(path.absolute()))
    engine = create_engine(url, connect_args={"timeout": timeout})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, record: Any) -> None:
    """Apply the settings that SQLite keeps per connection."""
    connection.isolation_level = None  # _begin begins transactions, not the driver
    for setting in ("synchronous=FULL", "fullfsync=ON", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {setting}").close()


def use_wal(engine: Engine) -> None:
    """Switch a file to a write-ahead log, so that readers never wait.

    Two processes may try to switch a new file at the same time, which SQLite refuses without waiting. On a file system
    that does not support it the old kind of journal stays, which is as safe.
    """
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()
    try:
        for pause in (0.01, 0.03, 0.1, 0.3, 1.0, None):
            try:
                connection.cursor().execute("PRAGMA journal_mode=WAL").close()
                return
            except sqlite3.OperationalError as error:
                if pause is None or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(pause)
    finally:
        connection.close()


def scrub(engine: Engine, name: str) -> None:
    """Overwrite what was deleted: rebuild the file and empty its log.

    PostgreSQL does this itself, in its own time.
    """
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("VACUUM")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]  # waits as long as any writer does
        cursor.close()
    finally:
        connection.close()
    if busy:
        raise FileError(
            f"what was deleted from '{name}' is still in its log, because another process is reading; "
            "delete it again when nobody else uses the project."
        )


def _begin(connection: Connection) -> None:
    """Begin a transaction. A writer takes the lock at once: after a read it would fail instead of wait."""
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_RESCUE = "'cluewise rescue' saves every answer that is whole."
_SENTENCES = {
    "SQLITE_NOTADB": "'{}' is not a cluewise project; if it was one, " + _RESCUE,
    "SQLITE_CORRUPT": "'{}' is damaged: part of it was overwritten or is missing; " + _RESCUE,
    "SQLITE_READONLY": "'{}' is write-protected, and a project saves every answer.",
    "SQLITE_FULL": "'{}' cannot grow, the disk is full; this was not saved, everything before it is.",
    "SQLITE_IOERR": "'{}' cannot be read or written, the disk reports an error; what was saved before is kept.",
    "SQLITE_BUSY": "'{}' is busy: another process has been writing to it for too long; this was not saved.",
    "SQLITE_CANTOPEN": "'{}' cannot be opened or its folder cannot be written to.",
}
_SENTENCES |= {"53100": _SENTENCES["SQLITE_FULL"], "55P03": _SENTENCES["SQLITE_BUSY"]}  # what PostgreSQL calls them


@contextmanager
def clearly(name: str) -> Iterator[None]:
    """Turn errors of the database into one sentence."""
    try:
        yield
    except UnicodeDecodeError as error:  # Python cannot read what SQLite says about a schema that is not UTF-8
        raise damaged(name, "a text in it is not UTF-8") from error
    except (DBAPIError, sqlite3.Error) as error:
        original = getattr(error, "orig", None) or error
        code = getattr(original, "sqlite_errorname", None) or getattr(original, "sqlstate", None) or ""
        for start, sentence in _SENTENCES.items():
            if code.startswith(start):
                raise FileError(sentence.format(name)) from error
        first = (str(original).splitlines() or [type(original).__name__])[0]
        end = f"; {_RESCUE}" if code.startswith("SQLITE") else "."
        raise FileError(f"'{name}' cannot be used, the database says: {first}{end}") from error
