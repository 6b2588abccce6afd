"""Ctrl-C: held back for the few moments that must be complete; and SIGTERM that is answered like it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred", "terminable"]


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


@contextmanager
def terminable() -> Iterator[None]:
    """Answer SIGTERM inside this block as Ctrl-C, so that what is written aside is removed.

    It would end the process at once. Somebody else's answer stays, and so does the signal in other threads.
    """
    mine = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if mine:
        try:
            signal.signal(signal.SIGTERM, _press_ctrl_c)
        except ValueError:  # not the thread that hears signals
            mine = False
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _press_ctrl_c(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):  # as that of a command in the background
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
