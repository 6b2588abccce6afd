"""Save what is whole in a damaged project into a new one."""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cluewise.exceptions import ClueWarning
from cluewise.store._calls import is_whole, restore
from cluewise.store._entries import add
from cluewise.store._json import checksum
from cluewise.store._store import Store
from cluewise.tables import FileError
from cluewise.tables.folders import refuse_existing

__all__ = ["rescue"]

_GAPS = 4
LEAST = 32  # least bytes of a row: the size of a file bounds how many rows a damaged part can hide


def rescue(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> tuple[int, int]:
    """Write what is whole in a damaged project into a new one; the damaged file is left as it is.

    Entries get new numbers without gaps. An entry that took back a lost one is lost, too. If a lost entry took back one
    that was saved, the latter stands again. Replies of language models, which were paid for, are saved as well.

    Parameters
    ----------
    path : str or path
        The damaged file.
    out : str or path
        The new file; it must not exist.

    Returns
    -------
    saved : int
        Saved entries.
    lost : int
        Lost entries, as far as can be known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cluewise.store import Store, rescue
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with Store.open(folder / "iris.cluewise", create=True) as store:
    ...     for row in range(5):
    ...         _ = store.append({"pair": [row, 7]}, "yes")
    >>> _ = (folder / "iris.cluewise").write_bytes((folder / "iris.cluewise").read_bytes().replace(b"[3,7]", b"[9,7]"))
    >>> rescue(folder / "iris.cluewise", folder / "new.cluewise")
    (4, 1)
    """
    path, out = Path(path), Path(out)
    if not path.is_file():
        raise FileError(f"there is no project '{path}'.")
    refuse_existing(out)
    with TemporaryDirectory() as folder:  # a copy, because opening a database may write to it
        copy = Path(folder) / "copy"
        shutil.copyfile(path, copy)
        log = path.with_name(path.name + "-wal")
        if log.exists():
            shutil.copyfile(log, copy.with_name("copy-wal"))
        gap = path.stat().st_size // LEAST
        calls = _calls(copy, gap)
        entries, every, given = _read(copy, gap)
        if not entries:
            _mend(copy)
            entries, every, given = _read(copy, gap)
            calls = calls or _calls(copy, gap)
    settings = {row[0]: row[1] for row in every if _is_setting(row)}
    last = entries[-1][0] if entries else 0
    top = given[0] if given and isinstance(given[0], int) and last <= given[0] <= last + gap else last
    whole = [row[1:] for row in calls if is_whole(row)]
    if not entries and not settings and not whole:
        raise FileError(f"nothing in '{path}' is whole enough to be saved.")
    new: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for id, who, at, question, answer, back in entries:
        if back is None or back in new:
            new[id] = len(rows) + 1
            rows.append(
                {"who": who, "at": at, "question": question, "answer": answer, "takes_back": back and new[back]}
            )
    try:
        with Store.open(out, create=True) as store:
            store.settings.claim("", {name: json.loads(text) for name, text in settings.items()})
            with store._write() as connection:
                if rows:
                    add(connection, store.name, rows)
                if whole:
                    restore(connection, whole)
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    if len(settings) < len(every):
        warnings.warn(f"{len(every) - len(settings)} of {len(every)} settings are lost.", ClueWarning, stacklevel=2)
    if len(whole) < len(calls):
        warnings.warn(f"{len(calls) - len(whole)} of {len(calls)} calls are lost.", ClueWarning, stacklevel=2)
    return len(rows), top - len(rows)


def _read(path: Path, gap: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], Any]:
    """Whole entries, all settings, and the number of entries that there should be."""
    with closing(sqlite3.connect(path)) as old:
        given = _fetch(old, "SELECT seq FROM sqlite_sequence WHERE name = 'answers'")
        entries = [(*row, None)[:6] for row in _rows(old, "answers", gap, given) if _is_entry(row)]
        indexed = _fetch(old, "SELECT max(+rowid) FROM settings INDEXED BY sqlite_autoindex_settings_1")
        return entries, list(_rows(old, "settings", gap, indexed)), given


def _calls(path: Path, gap: int) -> list[tuple[Any, ...]]:
    """Calls to language models, damaged ones included; few projects have any."""
    with closing(sqlite3.connect(path)) as old:
        if _fetch(old, "SELECT 1 FROM sqlite_master WHERE name = 'calls'") is None:
            return []
        return list(_rows(old, "calls", gap, _fetch(old, "SELECT seq FROM sqlite_sequence WHERE name = 'calls'")))


def _mend(path: Path) -> None:
    """Replace a damaged first page by that of a new project, whose tables begin on the same pages."""
    fresh = path.with_name("fresh")
    Store.open(fresh, create=True).close()
    first = bytearray(fresh.read_bytes())
    page = int.from_bytes(first[16:18], "big")
    with path.open("rb+") as stream:
        first[28:32] = (stream.seek(0, os.SEEK_END) // page).to_bytes(4, "big")
        stream.seek(0)
        stream.write(first[:page])


def _rows(old: sqlite3.Connection, table: str, gap: int, last: Any) -> Iterator[tuple[Any, ...]]:
    """Every row that can be read, each by a query of its own, because a damaged page ends a query.

    Where the table agrees with ``last``, which is stored elsewhere, that is the last row; otherwise rows end with a
    long gap. A damaged file may say that its last row has any number: what lies beyond a long gap is looked for in the
    table as a whole, and after several of them the numbers in between are not tried.
    """
    known = last is not None and last == _fetch(old, f"SELECT max(rowid) FROM {table}")
    end = last[0] or 0 if known else math.inf
    number = missing = tried = 0
    while number < end:
        if missing > gap or tried > _GAPS * gap:
            next_one = _fetch(old, f"SELECT min(rowid) FROM {table} WHERE rowid > ?", number)
            if next_one is None or not isinstance(next_one[0], int):
                return
            number, missing = next_one[0] - 1, 0
        number += 1
        row = _fetch(old, f"SELECT * FROM {table} WHERE rowid = ?", number)
        if row is None:
            missing, tried = missing + 1, tried + 1
        else:
            missing = 0
            yield row


def _fetch(old: sqlite3.Connection, query: str, *values: int) -> Any:
    try:
        return old.execute(query, values).fetchone()
    except (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError):  # the last of a message about the schema
        return None


def _is_entry(row: tuple[Any, ...]) -> bool:
    """Whether an entry is what was saved or, in an older version without checksums, whether it can be read."""
    if len(row) > 6:
        return bool(row[6] == checksum(*row[:6]))
    try:
        datetime.fromisoformat(row[2])
    except (TypeError, ValueError):
        return False
    return isinstance(row[1], str) and _is_json(row[3]) and _is_json(row[4])


def _is_setting(row: tuple[Any, ...]) -> bool:
    """The same of a setting."""
    return row[2] == checksum(*row[:2]) if len(row) > 2 else isinstance(row[0], str) and _is_json(row[1])


def _is_json(text: Any) -> bool:
    try:
        json.loads(text)
    except (TypeError, ValueError):
        return False
    return True
