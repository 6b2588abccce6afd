"""The project store: who answered which question what and when, kept safe in one file; undoing is one more entry."""

from __future__ import annotations

from cluewise.store._entries import Entry, Record, Snapshot
from cluewise.store._rescue import rescue
from cluewise.store._settings import Settings
from cluewise.store._store import Store

__all__ = ["Entry", "Record", "Settings", "Snapshot", "Store", "rescue"]
