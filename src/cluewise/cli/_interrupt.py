"""Ctrl-C while a command runs: whatever becomes of the KeyboardInterrupt on its way, the command ends with code 130."""

from __future__ import annotations

import _thread
import os
import signal
import sys
from time import sleep

TYPE_CHECKING = False  # light: Ctrl-C is not answered before this module is loaded
if TYPE_CHECKING:
    from typing import Any

__all__ = ["INTERRUPTED", "Interrupt", "heard"]

INTERRUPTED = 130
PATIENCE = 1.0
"""Seconds after which a KeyboardInterrupt that has not ended the command is raised again."""

_current: Interrupt | None = None


def heard() -> bool:
    """Whether somebody has pressed Ctrl-C during this command."""
    return _current is not None and _current.heard


class Interrupt:
    """Answers Ctrl-C inside a block, and leaves it with exit code 130 if there was one.

    A KeyboardInterrupt during an import may come out as an ImportError, and one in a finalizer or in a callback from C
    is dropped. So it is remembered, raised again after a while, and any exception that follows counts as it. A process
    that only runs this command (``stay``) ignores Ctrl-C once the command is over.
    """

    def __init__(self, stay: bool) -> None:
        self.stay = stay
        self.heard = self.over = False

    def __enter__(self) -> None:
        global _current
        self.handler = signal.getsignal(signal.SIGINT)
        if self.handler is not signal.default_int_handler:  # ignored, or somebody else's business
            return
        try:
            signal.signal(signal.SIGINT, self._hear)
        except ValueError:  # not the main thread
            return
        self.hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        _current = self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        global _current
        self.over = True
        if _current is not self:
            return
        signal.signal(signal.SIGINT, signal.SIG_IGN if self.stay else self.handler)
        if not self.stay:
            sys.unraisablehook = self.hook
        _current = None
        if self.heard:
            if self.stay:
                _leave()
            raise SystemExit(INTERRUPTED) from None

    def _hear(self, *_: object) -> None:
        if self.over:
            return
        if not self.heard:
            self.heard = True
            _thread.start_new_thread(self._insist, ())  # of threading's parts this thread may hold a lock
        raise KeyboardInterrupt

    def _insist(self) -> None:
        while not self.over:
            sleep(PATIENCE)
            if not self.over:
                _thread.interrupt_main()

    def _unraisable(self, what: Any) -> None:
        if not (self.heard and issubclass(what.exc_type, KeyboardInterrupt)):
            self.hook(what)


def _leave() -> None:
    """End the process at once: the usual end may crash after a compiled module whose import was cut short."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # there is none, it is full, or closed
            continue
    os._exit(INTERRUPTED)
