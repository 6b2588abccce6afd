"""Calls to language models: each is on disk before it is sent, and its reply before it is used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    Row,
    Table,
    Text,
    func,
    insert,
    inspect,
    update,
)
from sqlalchemy import select as pick

from cluewise.store._engine import damaged
from cluewise.store._json import checksum, moment_text, text_of

__all__ = ["Call", "Calls", "Totals", "calls"]

SENT, REPLIED, FAILED, EXPORTED = "sent", "replied", "failed", "exported"

_metadata = MetaData()  # of its own: the table is made with the first call, and most projects have none

calls = Table(
    "calls",
    _metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("key", Text, nullable=False),  # a hash of what is sent
    Column("state", Text, nullable=False),
    Column("cost", Float, nullable=False),  # the most that it may cost, until its cost is known
    Column("request", Text, nullable=False),
    Column("reply", Text, nullable=False),
    Column("crc32", Text, nullable=False),  # of all columns before it, without the id
    sqlite_autoincrement=True,
)
Index("calls_key", calls.c.key)

Transaction = Callable[[], AbstractContextManager[Connection]]


class Call(NamedTuple):
    """A call that was sent or exported, from `Calls`.

    Examples
    --------
    >>> from cluewise.store import Call
    >>> Call(1, "2f", "replied", 0.0, {"kind": "pair"}, {"text": "yes"}).reply
    {'text': 'yes'}
    """

    id: int
    key: str
    state: str
    cost: float
    request: Any
    reply: Any


class Totals(NamedTuple):
    """How many calls were sent, and what they cost.

    Examples
    --------
    >>> from cluewise.store import Totals
    >>> Totals(calls=12, replies=11, lost=1, cost=0.02).lost
    1
    """

    calls: int
    replies: int
    lost: int  # without reply or error: in flight now, or their process was killed
    cost: float


class Calls:
    """The calls of a project. Several threads and processes may make calls; together they keep to one limit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store
    >>> with Store.open(pathlib.Path(tempfile.mkdtemp()) / "iris.cluewise", create=True) as store:
    ...     number = store.calls.begin("2f", {"kind": "pair"}, most=1)
    ...     store.calls.end(number, {"text": "yes"})
    ...     store.calls.begin("3e", {"kind": "pair"}, most=1), store.calls.reply("2f"), store.calls.totals()
    (None, {'text': 'yes'}, Totals(calls=1, replies=1, lost=0, cost=0.0))
    """

    def __init__(self, name: str, read: Transaction, write: Transaction) -> None:
        self._name, self._read, self._write = name, read, write

    def begin(
        self, key: str, request: Any, cost: float = 0.0, *, most: int | None = None, limit: float | None = None
    ) -> int | None:
        """Note a call before it is sent, and return its id; None if it would exceed a limit.

        Parameters
        ----------
        key : str
            What is sent, such as a hash of it.
        request : JSON value
            What the call is about.
        cost : float
            The most that it may cost.
        most : int, optional
            Number of calls that may be sent in all.
        limit : float, optional
            What all calls may cost.
        """
        with self._write() as connection:
            _metadata.create_all(connection)
            before = _totals(connection)
            if most is not None and before.calls + 1 > most:
                return None
            if limit is not None and before.cost + cost > limit:
                return None
            return _add(connection, key, SENT, cost, text_of(request, "request"))

    def end(self, id: int, reply: Any, cost: float = 0.0, *, failed: bool = False) -> None:
        """Keep the reply to a call, or how it failed; when this returns it is on disk."""
        text = text_of(reply, "reply")
        with self._write() as connection:
            row = connection.execute(pick(calls).where(calls.c.id == id)).one()
            self._change(connection, row, FAILED if failed else REPLIED, cost, text)

    def export(self, requests: Mapping[str, Any]) -> None:
        """Note calls, by key, that somebody else will send; they count when their replies come."""
        with self._write() as connection:
            _metadata.create_all(connection)
            known = set(connection.scalars(pick(calls.c.key).where(calls.c.state == EXPORTED)))
            for key, request in requests.items():
                if key not in known:
                    _add(connection, key, EXPORTED, 0.0, text_of(request, "request"))

    def take_in(self, replies: Mapping[str, tuple[Any, float]]) -> None:
        """Keep replies to exported calls, by key and each with its cost, all or none."""
        with self._write() as connection:
            if replies:
                for row in connection.execute(pick(calls).where(calls.c.state == EXPORTED)).all():
                    if row.key in replies:
                        reply, cost = replies[row.key]
                        self._change(connection, row, REPLIED, cost, text_of(reply, "reply"))

    def reply(self, key: str) -> Any:
        """The reply that was received under a key, or None."""
        found = self._find(calls.c.key == key, calls.c.state == REPLIED)
        return found[-1].reply if found else None

    def exported(self) -> list[Call]:
        """The calls that were exported and have no reply yet."""
        return self._find(calls.c.state == EXPORTED)

    def every(self) -> list[Call]:
        """All calls in order."""
        return self._find()

    def totals(self) -> Totals:
        """How many calls were sent, how many have a reply, how many neither reply nor error, and what they cost."""
        with self._read() as connection:
            return _totals(connection) if _exists(connection) else Totals(0, 0, 0, 0.0)

    def _find(self, *conditions: Any) -> list[Call]:
        with self._read() as connection:
            if not _exists(connection):
                return []
            rows = connection.execute(pick(calls).where(*conditions).order_by(calls.c.id)).all()
        return [self._call(row) for row in rows]

    def _call(self, row: Row[Any]) -> Call:
        if row.crc32 != checksum(*row[1:-1]):
            raise damaged(self._name, f"call {row.id} is not what was saved")
        return Call(row.id, row.key, row.state, row.cost, json.loads(row.request), json.loads(row.reply))

    def _change(self, connection: Connection, row: Row[Any], state: str, cost: float, reply: str) -> None:
        new = {
            "at": row.at,
            "key": row.key,
            "state": state,
            "cost": float(cost),
            "request": row.request,
            "reply": reply,
        }
        new["crc32"] = checksum(*new.values())
        connection.execute(update(calls).where(calls.c.id == row.id).values(new))


def restore(connection: Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write rows of another project, each without its number."""
    _metadata.create_all(connection)
    names = [column.name for column in calls.columns][1:]
    connection.execute(insert(calls), [dict(zip(names, row, strict=True)) for row in rows])


def is_whole(row: tuple[Any, ...]) -> bool:
    """Whether a row, number included, is what was saved."""
    return len(row) == len(calls.columns) and row[-1] == checksum(*row[1:-1])


def _exists(connection: Connection) -> bool:
    return inspect(connection).has_table(calls.name)


def _add(connection: Connection, key: str, state: str, cost: float, request: str) -> int:
    new = {
        "at": moment_text(None),
        "key": key,
        "state": state,
        "cost": float(cost),
        "request": request,
        "reply": "null",
    }
    made = connection.execute(insert(calls).values(**new, crc32=checksum(*new.values())))
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def _totals(connection: Connection) -> Totals:
    rows = pick(calls.c.state, func.count(), func.sum(calls.c.cost)).group_by(calls.c.state)
    found = {state: (int(count), float(cost)) for state, count, cost in connection.execute(rows)}
    found.pop(EXPORTED, None)
    number = sum(count for count, _ in found.values())
    cost = sum(cost for _, cost in found.values())
    return Totals(number, found.get(REPLIED, (0, 0.0))[0], found.get(SENT, (0, 0.0))[0], cost)
