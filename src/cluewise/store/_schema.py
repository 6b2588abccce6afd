"""The tables of a project, their version, and the migrations from older versions."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    insert,
    inspect,
    text,
    update,
)
from sqlalchemy import select as pick

from cluewise.store._json import checksum
from cluewise.tables import FileError

__all__ = ["VERSION", "answers", "bring_up_to_date", "is_current", "metadata", "settings", "snapshots"]

VERSION = 3

metadata = MetaData()

about = Table("cluewise", metadata, Column("version", Integer, nullable=False))

answers = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("who", Text, nullable=False),
    Column("at", Text, nullable=False),  # ISO 8601 in UTC: SQLite has no type for moments
    Column("question", Text, nullable=False),  # JSON as text: either database returns it unchanged
    Column("answer", Text, nullable=False),
    Column("takes_back", Integer, ForeignKey("answers.id")),
    Column("crc32", Text),  # of all columns before it
    sqlite_autoincrement=True,
)
Index("answers_takes_back", answers.c.takes_back, unique=True)

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("crc32", Text),  # of both
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("upto", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("crc32", Text),  # of all but the id
    sqlite_autoincrement=True,
)


def _add_undo(connection: Connection) -> None:
    """Migrate version 1, which could only add answers."""
    connection.execute(text("ALTER TABLE answers ADD COLUMN takes_back INTEGER REFERENCES answers (id)"))
    connection.execute(text("CREATE UNIQUE INDEX answers_takes_back ON answers (takes_back)"))


def _add_checksums(connection: Connection) -> None:
    """Migrate version 2, which had no checksums."""
    for table, key, columns in (
        ("answers", "id", "id, who, at, question, answer, takes_back"),
        ("settings", "name", "name, value"),
        ("snapshots", "id", "at, upto, state"),
    ):
        connection.execute(text(f"ALTER TABLE {table} ADD COLUMN crc32 TEXT"))
        rows = connection.execute(text(f"SELECT {key}, {columns} FROM {table}")).all()
        sums = [{"key": row[0], "sum": checksum(*row[1:])} for row in rows]
        if sums:
            connection.execute(text(f"UPDATE {table} SET crc32 = :sum WHERE {key} = :key"), sums)


# Written out in SQL and never changed: the tables above will change, old files will not.
STEPS: dict[int, Callable[[Connection], None]] = {1: _add_undo, 2: _add_checksums}


def is_current(connection: Connection) -> bool:
    """Whether the tables exist, in this version."""
    if not inspect(connection).has_table(about.name):
        return False
    return connection.execute(pick(about.c.version)).scalar() == VERSION


def bring_up_to_date(connection: Connection, name: str, *, create: bool) -> None:
    """Create the tables in an empty database, or migrate those of an older version, in one transaction."""
    found = inspect(connection).get_table_names()
    if about.name not in found:
        if found or not create:
            what = "a database of another program" if found else "empty"
            raise FileError(f"'{name}' is {what}, not a cluewise project.")
        metadata.create_all(connection)
        connection.execute(insert(about).values(version=VERSION))
        return
    version = connection.execute(pick(about.c.version)).scalar()
    if not isinstance(version, int) or version < 1:
        raise FileError(f"'{name}' does not say which version of a cluewise project it is.")
    if version > VERSION:
        raise FileError(
            f"'{name}' was written by a newer cluewise (project version {version}; this one knows {VERSION}): "
            "update cluewise to open it."
        )
    for old in range(version, VERSION):
        STEPS[old](connection)
    if version < VERSION:
        connection.execute(update(about).values(version=VERSION))
