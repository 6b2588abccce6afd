"""The one decorator for compiled code: cached on disk, free of the interpreter lock, strict floating point.

``fma`` allows a multiply and an add to become one instruction (it rounds once instead of twice) and nothing
else: sums keep their order, so equal seeds give equal labels at any thread count.

Where numba cannot be installed, which is in the browser, kernels are the plain Python that they are written in.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from cluewise.kernels._compilation import begin, end

__all__ = ["fma", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def _leave(**options: Any) -> Callable[[F], F]:
    """In place of numba's decorator: leaves a function as it is."""
    return lambda function: function


SETTINGS: Any = None  # of numba; its attributes are made at run time
njit: Any = _leave
try:
    import numba
    from numba.core import config, event, serialize
except ModuleNotFoundError as error:
    if error.name != "numba":
        raise
    if sys.platform != "emscripten":  # Python in the browser
        warnings.warn("numba is not installed: cluewise works without it, but many times slower.", stacklevel=2)
else:
    SETTINGS, njit = config, numba.njit

    class _Listener(event.Listener):
        """Passes on that kernels are compiled; what is read from the cache makes no event."""

        def on_start(self, event: Any) -> None:
            begin(event)

        def on_end(self, event: Any) -> None:
            end(event)

    event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
    # A kernel that returns an array calls this function of numba, which looks something up, while it packs its results.
    # Written in Python it answers Ctrl-C in there, and a SystemError comes out; a cache written in C does not.
    if hasattr(serialize, "_numba_unpickle"):
        serialize._numba_unpickle = cache(serialize._numba_unpickle)


def kernel(function: F) -> F:
    """Compile ``function`` when it is first called."""
    return _compile(function)


def fma(function: F) -> F:
    """Compile ``function`` with fused multiply-add."""
    return _compile(function, fastmath={"contract"})


def _compile(function: F, **options: Any) -> F:
    compiled: Any
    try:
        compiled = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        # numba may write neither beside the kernels nor into the home of the user.
        given, SETTINGS.CACHE_DIR = SETTINGS.CACHE_DIR, _find_temporary()
        try:
            compiled = njit(cache=bool(SETTINGS.CACHE_DIR), nogil=True, **options)(function)
        finally:
            SETTINGS.CACHE_DIR = given
    return compiled


@cache
def _find_temporary() -> str:
    """Find a temporary folder for compiled code; "" if nothing can be written at all. The log says so once."""
    log = logging.getLogger("cluewise")
    try:
        folder = _make_folder()
    except OSError:
        log.warning("cluewise cannot write compiled code anywhere, so that every process compiles it again.")
        return ""
    log.warning("cluewise keeps compiled code in %s; NUMBA_CACHE_DIR chooses another folder.", folder)
    return folder


def _make_folder() -> str:
    """Make a folder, the same in all processes of a user; nobody else may write there, as numba runs what it finds."""
    if hasattr(os, "getuid"):
        folder = os.path.join(tempfile.gettempdir(), f"cluewise-{os.getuid()}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
            return folder
    return tempfile.mkdtemp(prefix="cluewise-")
