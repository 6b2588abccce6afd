"""A lock for one process at a time, which ends with the process, even if that is killed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

__all__ = ["NAME", "lock", "lock_if_possible"]

NAME = "lock"


def lock(folder: Path) -> IO[bytes]:
    """Lock a folder: an open file, which unlocks when it is closed. Refused while another process holds the lock."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}'.")
    return _hold((folder / NAME).open("ab"), folder)


def lock_if_possible(folder: Path) -> AbstractContextManager[Any]:
    """The same for a reader: no lock if there is no lock file, or none that can be written."""
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}'.")
    try:
        stream = (folder / NAME).open("rb+")
    except OSError:
        return nullcontext()
    return _hold(stream, folder)


def _hold(stream: IO[bytes], folder: Path) -> IO[bytes]:
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
