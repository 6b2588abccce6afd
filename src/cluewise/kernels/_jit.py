"""The one decorator for compiled code: cached on disk, free of the interpreter lock, strict floating point.

``fma`` allows a multiply and an add to become one instruction (it rounds once instead of twice) and nothing
else: sums keep their order, so equal seeds give equal labels at any thread count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["fma", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` when it is first called."""
    compiled: Any = njit(cache=True, nogil=True)(function)
    return compiled


def fma(function: F) -> F:
    """Compile ``function`` with fused multiply-add."""
    compiled: Any = njit(cache=True, nogil=True, fastmath={"contract"})(function)
    return compiled
