"""Ctrl-C: held back for the few moments that must be complete."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred"]


def _replaced(handler: Callable[[int, Any], None]) -> bool:
    """Answer Ctrl-C in another way, if this is the thread that hears it; Python alone knows which one that is."""
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        return False
    return True


@contextmanager
def deferred() -> Iterator[None]:
    """Hold Ctrl-C back inside this block, and answer it afterwards.

    For moments in which half done is wrong, or in which Python would swallow a KeyboardInterrupt (a callback of ctypes,
    a finalizer). Only the main thread hears signals, so in the others there is nothing to do.
    """
    heard: list[tuple[int, Any]] = []
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or not _replaced(lambda number, frame: heard.append((number, frame))):
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            handler(*heard[0])
