"""The one decorator for compiled code: cached on disk, free of the interpreter lock, strict floating point.

``fma`` allows a multiply and an add to become one instruction (it rounds once instead of twice) and nothing
else: sums keep their order, so equal seeds give equal labels at any thread count.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from numba import njit
from numba.core import serialize

__all__ = ["fma", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

# A kernel that returns an array calls this function of numba, which looks something up, while it packs its results.
# Written in Python it answers Ctrl-C in there, and a SystemError comes out; a cache written in C does not.
if hasattr(serialize, "_numba_unpickle"):
    serialize._numba_unpickle = cache(serialize._numba_unpickle)


def kernel(function: F) -> F:
    """Compile ``function`` when it is first called."""
    compiled: Any = njit(cache=True, nogil=True)(function)
    return compiled


def fma(function: F) -> F:
    """Compile ``function`` with fused multiply-add."""
    compiled: Any = njit(cache=True, nogil=True, fastmath={"contract"})(function)
    return compiled
