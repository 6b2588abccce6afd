"""Entries of the append-only list: on their way in, and as they come out."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert
from sqlalchemy import select as pick

from cluewise.store._json import moment_of, moment_text, person, text_of, value_of
from cluewise.store._ledger import Ledger
from cluewise.store._schema import answers

__all__ = ["Record", "Entry", "Snapshot", "add", "entries_of", "ledger_of", "row", "turn"]


class Record(NamedTuple):
    """An answer on its way into the store (`Store.extend`).

    Examples
    --------
    >>> from cluewise.store import Record
    >>> Record({"pair": [0, 7]}, "yes").who
    ''
    """

    question: Any
    answer: Any
    who: str = ""
    when: datetime | None = None


class Entry(NamedTuple):
    """One line of the append-only list.

    An answer has ``takes_back=None``. An entry that undoes has neither question nor answer, and ``takes_back`` is the
    id of the entry that it makes void: an answer, or (a redo) an earlier entry that undid.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from cluewise.store import Entry
    >>> Entry(1, "Ann", datetime(2026, 1, 2, tzinfo=UTC), {"pair": [0, 7]}, "yes", None).answer
    'yes'
    """

    id: int
    who: str
    when: datetime
    question: Any
    answer: Any
    takes_back: int | None


class Snapshot(NamedTuple):
    """A strategy's state, and the id of the last entry that it knows.

    Examples
    --------
    >>> from cluewise.store import Snapshot
    >>> Snapshot({"asked": 3}, 3).upto
    3
    """

    state: Any
    upto: int


def row(some: Record) -> dict[str, Any]:
    """What the table of answers holds of one."""
    return {
        "who": person(some.who),
        "at": moment_text(some.when),
        "question": text_of(some.question, "question"),
        "answer": text_of(some.answer, "answer"),
        "takes_back": None,
    }


def add(connection: Connection, row: dict[str, Any]) -> int:
    """Append a row; its id."""
    key = connection.execute(insert(answers).values(row)).inserted_primary_key
    assert key is not None
    return int(key[0])


def turn(connection: Connection, ledger: Ledger, answer: int, who: str, when: datetime | None) -> Entry:
    """Append the entry that takes back an answer or lets it stand again; the answer."""
    add(connection, {**row(Record(None, None, who, when)), "takes_back": ledger.tip[answer]})
    return _entry(connection.execute(pick(answers).where(answers.c.id == answer)).one())


def ledger_of(connection: Connection) -> Ledger:
    """Which answers stand."""
    links = connection.execute(pick(answers.c.id, answers.c.takes_back).order_by(answers.c.id))
    return Ledger.read((id, back) for id, back in links)


def entries_of(connection: Connection, after: int) -> list[Entry]:
    """The entries behind one."""
    return [_entry(row) for row in connection.execute(pick(answers).where(answers.c.id > after).order_by(answers.c.id))]


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.id, row.who, moment_of(row.at), value_of(row.question), value_of(row.answer), row.takes_back)
