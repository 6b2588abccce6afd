"""Ctrl-C: held back for the few moments that must be complete."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred"]


@contextmanager
def deferred() -> Iterator[None]:
    """Hold Ctrl-C back inside this block, and answer it afterwards.

    For moments in which half done is wrong, or in which Python would swallow a KeyboardInterrupt (a callback of ctypes,
    a finalizer). Only the main thread hears signals, so in the others there is nothing to do.
    """
    heard: list[tuple[int, Any]] = []
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        try:
            signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
        except ValueError:  # not the thread that hears signals; Python alone knows which one that is
            handler = None
    try:
        yield
    finally:
        if callable(handler):
            signal.signal(signal.SIGINT, handler)
            if heard:
                handler(*heard[0])
