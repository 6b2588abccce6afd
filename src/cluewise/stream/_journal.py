"""The journal: every line that arrives is on disk, with a checksum, before it is used."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from cluewise import tables
from cluewise.exceptions import ClueWarning
from cluewise.tables.folders import sync

__all__ = ["JOURNAL", "Journal", "Line", "Record", "records"]

JOURNAL = "journal.jsonl"


class Line(NamedTuple):
    """One line of a source."""

    source: str
    number: int  # counted from 1
    text: str
    end: int = 0  # bytes of the file up to the end of the line
    file: str = ""  # the file that may be read again, if it is one

    @property
    def key(self) -> str:
        """What identifies the source; two files may have the same name."""
        return self.file or self.source


class Record(NamedTuple):
    """One record of a journal."""

    line: Line | None  # None if it is damaged
    left: int  # number of lines of the same append that follow
    end: int  # offset of the next record
    complete: bool  # it has a line break; only the last may have none


class Journal:
    """An append-only file of lines, for one process at a time; an append is kept completely or not at all.

    A record is a checksum and a JSON list: the line, and how many more lines belong to the same append. So a reader can
    tell where a kill or a full disk cut an append off. Damage at the end of the file looks the same, so such a tail is
    not deleted but moved into a file beside the journal, with a warning. Records of older versions are JSON lists of
    the line alone.
    """

    def __init__(self, path: Path, start: int = 0) -> None:
        self.path = path
        self.size = start
        self.lines: list[tuple[Line, int]] = []  # those after start, each with the offset of the next
        if not path.exists() and not start:
            with tables.atomic(path):  # syncs the folder too, so that the file survives a power cut
                pass
        size = path.stat().st_size if path.exists() else 0
        if size < start:
            raise self.damaged(f"{start} bytes were applied, and only {size} are there")
        waiting: list[tuple[Line, int]] = []
        whole = True
        for record in records(path, start):
            if record.line is not None:
                waiting.append((record.line, record.end))
                if not record.left:
                    self.lines += waiting
                    self.size, waiting, whole = record.end, [], record.complete
            elif record.complete:
                raise self.damaged(f"the line that ends at byte {record.end} is not what was written")
        if not whole:
            with path.open("rb+") as stream:
                stream.seek(self.size - 1)
                stream.write(b"\n")
                sync(stream)
            self._warn("before its line break, which was added")
        elif self.size < size:
            self._warn(f"before it was complete; its {size - self.size} bytes were moved to '{self._cut()}'")

    def _warn(self, how: str) -> None:
        warnings.warn(
            f"the last append to '{self.path}' was cut off {how}; if no append was interrupted, the file was damaged, "
            "and lines from its end are lost.",
            ClueWarning,
            stacklevel=4,
        )

    def _cut(self) -> Path:
        """Move everything after the last complete append to the end of another file."""
        torn = self.path.with_suffix(".torn")
        with self.path.open("rb+") as stream:
            stream.seek(self.size)
            with tables.atomic(torn) as aside, tables.writing(torn):
                aside.write_bytes((torn.read_bytes() if torn.exists() else b"") + stream.read())
            stream.truncate(self.size)
            sync(stream)
        return torn

    def append(self, lines: Sequence[Line]) -> list[tuple[Line, int]]:
        """Write lines, wait until they are on disk, and return each with the offset of the next."""
        end, taken, written = self.size, [], []
        for left, line in zip(range(len(lines) - 1, -1, -1), lines):
            text = json.dumps([*line, left]).encode()
            record = b"%08x %s\n" % (crc32(text), text)
            end += len(record)
            taken.append((line, end))
            written.append(record)
        try:
            with self.path.open("rb+", buffering=0) as stream:  # a buffer would be written again when it is closed
                if stream.seek(0, os.SEEK_END) < self.size:
                    raise self.damaged("it is shorter than it was")
                try:
                    stream.truncate(self.size)
                    stream.seek(self.size)
                    rest = memoryview(b"".join(written))
                    while rest:
                        rest = rest[stream.write(rest) :]
                    sync(stream)
                except BaseException:
                    stream.truncate(self.size)
                    raise
        except tables.FileError:
            raise
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise tables.FileError(f"'{self.path}' cannot be written: {reason}; no line was added.") from None
        self.size = end
        return taken

    def damaged(self, how: str) -> tables.FileError:
        """The error for a damaged journal, with advice on how to save what is whole."""
        saves = f"'cluewise rescue' saves the clues in '{self.path.parent}' that are whole"
        return tables.FileError(f"'{self.path}' is damaged: {how}; {saves}.")


def records(path: Path, start: int = 0) -> Iterator[Record]:
    """The records of a journal after an offset."""
    with path.open("rb") as stream:
        stream.seek(start)
        for data in stream:
            complete = data.endswith(b"\n")
            record = data if complete else _mend(data)
            start += len(record)
            yield Record(*_parse(record), start, complete)


def _mend(data: bytes) -> bytes:
    """The last record with its line break restored, if nothing else is wrong with it."""
    for text in (data, data[:-1]):  # the line break is missing, or another byte is in its place
        if text[:9] == b"%08x " % crc32(text[9:]):
            return text + b"\n"
    return data


def _parse(data: bytes) -> tuple[Line | None, int]:
    try:
        if not data.endswith(b"\n"):
            return None, 0
        if data.startswith(b"["):  # written before there were checksums
            return Line(*json.loads(data)), 0
        if data[:9] != b"%08x " % crc32(data[9:-1]):
            return None, 0
        *line, left = json.loads(data[9:])
        return Line(*line), left
    except (ValueError, TypeError, RecursionError):
        return None, 0
