"""The project store: who gave which answer to which question, and when, in one file that survives crashes."""

from __future__ import annotations

from cluewise.store._calls import Call, Calls, Totals
from cluewise.store._entries import Entry, Record, Snapshot
from cluewise.store._log import Answers
from cluewise.store._rescue import rescue
from cluewise.store._settings import Settings
from cluewise.store._store import Store

__all__ = ["Answers", "Call", "Calls", "Entry", "Record", "Settings", "Snapshot", "Store", "Totals", "rescue"]
