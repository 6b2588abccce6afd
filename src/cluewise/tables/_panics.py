"""Polars tells of its panics on standard error before it raises them; users get one sentence instead."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

__all__ = ["quiet_panics"]

_STDERR = 2
_alone = threading.Lock()  # two threads that swap the same file number would not find it again


def _renew() -> None:
    global _alone
    _alone = threading.Lock()


if hasattr(os, "register_at_fork"):  # a child must not wait for a thread that it does not have
    os.register_at_fork(after_in_child=_renew)


@contextmanager
def quiet_panics() -> Iterator[None]:
    """Hold back what is written to standard error; it is shown at the end, unless the block fails."""
    with _alone, ExitStack() as stack:
        try:
            held = stack.enter_context(tempfile.TemporaryFile())
            kept = os.dup(_STDERR)
        except OSError:  # no place for a temporary file, or standard error is closed
            yield
            return
        os.dup2(held.fileno(), _STDERR)
        try:
            yield
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
        held.seek(0)
        with suppress(OSError):
            os.write(_STDERR, held.read())
