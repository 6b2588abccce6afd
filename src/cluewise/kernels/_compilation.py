"""When kernels are compiled: a clock that leaves it out, and news for those who wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from time import monotonic
from typing import Any

__all__ = ["begin", "end", "watch_compilation", "working_time"]

_LOCK = RLock()
_WATCHERS: list[Callable[[bool], None]] = []
_OWN = "cluewise."


class _State:
    """Seconds spent so far, how deep compilation is nested now, and when it began."""

    spent = 0.0
    depth = 0
    began = 0.0


def begin(event: Any) -> None:
    """Note that numba begins to compile; a kernel that calls others compiles them on the way."""
    if not _is_ours(event):
        return
    with _LOCK:
        _State.depth += 1
        if _State.depth > 1:
            return
        _State.began = monotonic()
        watchers = list(_WATCHERS)
    logging.getLogger("cluewise").info("cluewise compiles %s, once.", event.data["dispatcher"].py_func.__qualname__)
    for watcher in watchers:
        watcher(True)


def end(event: Any) -> None:
    """Note that numba has compiled a kernel, or failed to."""
    if not _is_ours(event):
        return
    with _LOCK:
        _State.depth -= 1
        if _State.depth:
            return
        _State.spent += monotonic() - _State.began
        watchers = list(_WATCHERS)
    for watcher in watchers:
        watcher(False)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith(_OWN)


def working_time() -> float:
    """Read a clock, in seconds, that stands still while kernels are compiled.

    Time limits of searches count in it: compiling takes seconds, once after installation, and a search that it leaves
    no time for would find something else than the same search a minute later.
    """
    with _LOCK:
        now = _State.began if _State.depth else monotonic()
        return now - _State.spent


@contextmanager
def watch_compilation(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call ``watcher(True)`` whenever compilation begins and ``watcher(False)`` when it is over, within the block."""
    with _LOCK:
        _WATCHERS.append(watcher)
    try:
        yield
    finally:
        with _LOCK:
            _WATCHERS.remove(watcher)
