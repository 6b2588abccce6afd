"""Threads: blocks of rows over a pool, results in block order whatever the number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, TypeVar

__all__ = ["map_blocks", "one_blas_thread", "threads", "usable_threads"]

T = TypeVar("T")
R = TypeVar("R")

FEW = 8
"""Below this many blocks starting threads costs more than they save."""

_chosen: ContextVar[int | None] = ContextVar("cluewise_threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use ``n`` threads inside this block; the result does not depend on it.

    Parameters
    ----------
    n : int
        Number of threads, at least 1.

    Examples
    --------
    >>> import cluewise as cw
    >>> with cw.threads(1):
    ...     model = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    >>> len(set(model.labels_))
    2
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ValueError(f"threads needs a whole number of at least 1; it was given {n!r}.")
    token = _chosen.set(n)
    try:
        yield
    finally:
        _chosen.reset(token)


def usable_threads() -> int:
    """Threads to use: the surrounding `threads` block, else CLUEWISE_THREADS, else the usable cores."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    given = os.environ.get("CLUEWISE_THREADS", "")
    if given:
        if not given.isdigit() or int(given) < 1:
            raise ValueError(f"CLUEWISE_THREADS is {given!r}; it must be a whole number of at least 1.")
        return int(given)
    return _cores()


@cache
def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def map_blocks(work: Callable[[T], R], blocks: Sequence[T], spare: int = 3) -> Iterator[R]:
    """``work`` on every block, in threads; yields in block order.

    At most ``spare`` results per thread wait to be taken, so that large results do not pile up.
    """
    n = usable_threads()
    if n == 1 or len(blocks) < FEW:
        yield from map(work, blocks)
        return
    pool = ThreadPoolExecutor(n)
    try:
        ahead = (1 + spare) * n
        waiting = [pool.submit(work, block) for block in blocks[:ahead]]
        for i in range(len(blocks)):
            yield waiting[i % ahead].result()
            if i + ahead < len(blocks):
                waiting[i % ahead] = pool.submit(work, blocks[i + ahead])
    finally:
        # After an exception or Ctrl-C nothing new starts; a block in flight takes milliseconds.
        pool.shutdown(wait=True, cancel_futures=True)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS at one thread: our own threads work on blocks, and nested ones slow each other down.

    The limit belongs to the whole process, so fits in several threads share it: the first one in sets it, the last
    one out restores what was there before.
    """
    with _blas.lock:
        if _blas.users == 0:
            _blas.limit = _controller().limit(limits=1, user_api="blas")
        _blas.users += 1
    try:
        yield
    finally:
        with _blas.lock:
            _blas.users -= 1
            if _blas.users == 0:
                _blas.limit.restore_original_limits()


class _Blas:
    """Who holds BLAS at one thread."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0
        self.limit: Any = None


_blas = _Blas()
