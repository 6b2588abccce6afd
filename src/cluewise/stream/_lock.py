"""One process at a time: a lock that ends with the process that holds it, even if that is killed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

__all__ = ["locked", "locked_as_found"]

NAME = "lock"


def locked(folder: Path) -> IO[bytes]:
    """The open lock file of a folder; closing it unlocks. Refused while another process holds it."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}'.")
    return _held((folder / NAME).open("ab"), folder)


def locked_as_found(folder: Path) -> AbstractContextManager[Any]:
    """The same for somebody who only reads: no lock where there is no file for it, or none that can be written."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}'.")
    try:
        stream = (folder / NAME).open("rb+")
    except OSError:
        return nullcontext()
    return _held(stream, folder)


def _held(stream: IO[bytes], folder: Path) -> IO[bytes]:
    try:
        _lock(stream)
    except OSError:
        stream.close()
        raise ValueError(f"another process is at work in '{folder}'.") from None
    return stream


try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    import msvcrt

    def _lock(stream: IO[bytes]) -> None:
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

else:

    def _lock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
