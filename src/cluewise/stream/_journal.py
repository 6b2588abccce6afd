"""The journal: every line that came in, on disk before anybody acts on it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Journal", "Line"]


class Line(NamedTuple):
    """One line of a source."""

    source: str
    number: int  # counted from 1
    text: str
    end: int = 0  # bytes of the file up to the end of the line
    file: str = ""  # the file that may be read again, if it is one

    @property
    def key(self) -> str:
        """What tells this source from others; two files may have one name."""
        return self.file or self.source


class Journal:
    """An append-only file of lines. What `append` has returned from survives a kill; half a line does not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        self._cut()

    def _cut(self) -> None:
        """Forget the last line if a kill has left only the first half of it."""
        with self.path.open("rb+") as stream:
            size = stream.seek(0, os.SEEK_END)
            start = size
            tail = b""
            while start and b"\n" not in tail:
                start = max(0, start - 2**16)
                stream.seek(start)
                tail = stream.read(size - start)
            complete = start + tail.rfind(b"\n") + 1
            if complete < size:
                stream.truncate(complete)
                os.fsync(stream.fileno())
        self.size = complete

    def append(self, lines: Iterable[Line]) -> None:
        """Write lines and wait until the disk has them."""
        data = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
        with self.path.open("ab") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        self.size += len(data)

    def since(self, offset: int) -> Iterator[tuple[Line, int]]:
        """The lines behind an offset, each with the offset of the next."""
        with self.path.open("rb") as stream:
            stream.seek(offset)
            for record in stream:
                offset += len(record)
                yield Line(*json.loads(record)), offset
