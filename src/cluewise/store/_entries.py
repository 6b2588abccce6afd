"""Entries of the append-only list, as they are written and as they are read."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert
from sqlalchemy import select as pick

from cluewise._texts import HALF, mended
from cluewise.store._engine import damaged, last_id
from cluewise.store._json import checksum, moment_text, person, text_of
from cluewise.store._ledger import Ledger
from cluewise.store._schema import answers

__all__ = ["FORGOTTEN", "Record", "Entry", "Snapshot", "add", "entry_of", "ledger_of", "row", "rows_of"]


FORGOTTEN = '{"forgotten":true}'
"""Question of an answer that was forgotten, as text; its number stays, because lost numbers mean damage."""


class Record(NamedTuple):
    """An answer to be stored by `Store.extend`.

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
    """One entry of the append-only list.

    An answer has ``takes_back=None``. An entry that takes back another has neither question nor answer, and
    ``takes_back`` is the id of the other one: an answer (undo), or an entry that took back an answer (redo).

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
    """An answer as a row of the table, without id and checksum."""
    return {
        "who": person(some.who),
        "at": moment_text(some.when),
        "question": _whole(text_of(some.question, "question"), "question"),
        "answer": _whole(text_of(some.answer, "answer"), "answer"),
        "takes_back": None,
    }


def _whole(text: str, what: str) -> str:
    """A text that every page and file can hold."""
    if "\\ud" in text and HALF.search(json.dumps(json.loads(text), ensure_ascii=False)):
        raise ValueError(f"the {what} holds half a character (a lone surrogate).")
    return text


def add(connection: Connection, name: str, rows: list[dict[str, Any]]) -> int:
    """Append rows; the id of the last."""
    last = last_id(connection, name)
    new = [{"id": id, **row} for id, row in enumerate(rows, last + 1)]
    connection.execute(insert(answers), [{**row, "crc32": checksum(*row.values())} for row in new])
    return last + len(rows)


def rows_of(connection: Connection, name: str, after: int = 0) -> list[Row[Any]]:
    """The rows after an entry; refused unless all of them are there and as they were saved."""
    rows = list(connection.execute(pick(answers).where(answers.c.id > after).order_by(answers.c.id)))
    for row in rows:
        if row.crc32 != checksum(*row[:-1]):
            raise damaged(name, f"entry {row.id} is not what was saved")
    ids, last = [row.id for row in rows], last_id(connection, name)
    # PostgreSQL, which has checksums of its own, skips the numbers of transactions that failed.
    whole = len(ids) == last - after and (not ids or (ids[0], ids[-1]) == (after + 1, last))  # they are in order
    if connection.dialect.name == "sqlite" and not whole:
        raise damaged(name, f"of the entries {after + 1} to {last} only {len(ids)} are there")
    return rows


def ledger_of(rows: list[Row[Any]]) -> Ledger:
    """Which answers stand."""
    ledger = Ledger.read((row.id, row.takes_back) for row in rows)
    ledger.forget(row.id for row in rows if row.question == FORGOTTEN)
    return ledger


def entry_of(row: Row[Any], name: str) -> Entry:
    """A row of the table as an entry."""
    try:
        question, answer = mended(row.question), mended(row.answer)  # as people could once save
        return Entry(row.id, row.who, datetime.fromisoformat(row.at), question, answer, row.takes_back)
    except (TypeError, ValueError):  # damaged before there were checksums
        raise damaged(name, f"entry {row.id} is not what was saved") from None
