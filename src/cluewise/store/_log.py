"""Entries that were read before, so that only new ones have to be read."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from cluewise.store._entries import FORGOTTEN, Entry, entry_of, rows_of
from cluewise.store._ledger import Ledger
from cluewise.store._settings import settings_in

__all__ = ["EPOCH", "Answers", "Log"]

EPOCH = "forgotten"
"""Setting that counts how often somebody was forgotten: then entries that were read before are no longer the same."""


SHORT = 100
"""Letters of the settings that are read with the answers, such as a budget; others may be long."""


class Answers(NamedTuple):
    """The answers at one moment, from `Store.answers`.

    Examples
    --------
    >>> from cluewise.store import Answers
    >>> Answers([], {}, {"budget": 50}, (0, 0)).settings
    {'budget': 50}
    """

    standing: list[int]  # ids of those that nobody has taken back, in order
    entries: dict[int, Entry]  # all of them by id, also those that were taken back; not to be changed
    settings: dict[str, Any]  # those whose JSON text is short
    version: tuple[int, int]  # as long as it stays the same, answers were added and none was taken back


class Log:
    """Answers by number, the numbers of those that stand, and which nonce belongs to which entry.

    Entries are never changed, so each is read and checked once; only `Store.forget` makes it start again.
    """

    def __init__(self, epoch: int = 0) -> None:
        self.epoch = epoch
        self.last = 0
        self.entries: dict[int, Entry] = {}
        self.standing: list[int] = []
        self.settings: dict[str, Any] = {}
        self.nonces: dict[tuple[str, str], int] = {}  # by person, too: what one sends is not what another said
        self._ledger = Ledger()

    def read(self, connection: Connection, name: str) -> Log:
        """The log with what is new; a new one if somebody was forgotten."""
        small = settings_in(connection, name, SHORT)
        given = small.get(EPOCH, 0)
        epoch = given if isinstance(given, int) else 0
        log = Log(epoch) if epoch > self.epoch else self
        log.settings = small
        for row in rows_of(connection, name, log.last):
            log._add(row, name)
        return log

    def answers(self) -> Answers:
        """The answers as they are now."""
        return Answers(list(self.standing), self.entries, self.settings, (self.epoch, len(self._ledger.turns)))

    def _add(self, row: Row[Any], name: str) -> None:
        entry = entry_of(row, name)  # first of all: it may be damaged
        self.last = row.id
        answer = self._ledger.add(row.id, row.takes_back)
        if row.takes_back is not None:
            if answer not in self.entries:
                return  # it was forgotten
            place = bisect_left(self.standing, answer)
            if place < len(self.standing) and self.standing[place] == answer:
                self.standing.pop(place)
            else:
                insort(self.standing, answer)
        elif row.question != FORGOTTEN:
            self.entries[row.id] = entry
            self.standing.append(row.id)
            if isinstance(entry.question, dict) and isinstance(entry.question.get("nonce"), str):
                self.nonces.setdefault((entry.who, entry.question["nonce"]), row.id)
