"""Threads: blocks of rows over a pool, results in block order whatever the number of threads."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import Any, Generic, TypeVar
from weakref import ref

import numpy as np

from cluewise._interrupts import deferred
from cluewise._typing import Ints

__all__ = ["map_blocks", "one_blas_thread", "pieces", "threads", "usable_threads"]

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
        Number of threads. As in scikit-learn, -1 means all usable cores, -2 all but one, and so on.

    Examples
    --------
    >>> import cluewise as cw
    >>> with cw.threads(1):
    ...     model = cw.PCKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    >>> len(set(model.labels_))
    2
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n == 0:
        raise ValueError(f"threads needs a whole number of at least 1, or -1 for all cores; it was given {n!r}.")
    token = _chosen.set(int(n) if n > 0 else max(_cores() + 1 + int(n), 1))
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


def pieces(work: Ints, most: int) -> list[slice]:
    """Consecutive pieces of at most ``most`` steps of work each, at least one item long.

    Examples
    --------
    >>> from cluewise.core.threads import pieces
    >>> pieces([2, 2, 9, 1], most=4)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    done, found, start = np.cumsum(work), [], 0
    while start < len(work):
        stop = max(int(np.searchsorted(done, done[start] - work[start] + most, side="right")), start + 1)
        found.append(slice(start, stop))
        start = stop
    return found


def map_blocks(work: Callable[[T], R], blocks: Sequence[T], spare: int = 3) -> Iterator[R]:
    """``work`` on every block, in threads; results in block order.

    At most ``spare`` results per thread wait to be taken, so that large results do not pile up. The threads belong to
    the process: an iterator that is dropped half-way has nothing to close.
    """
    n = usable_threads()
    if n == 1 or len(blocks) < FEW or _helps.get():  # a helper that waited for helpers might wait for itself
        return map(work, blocks)
    return _in_order(_Run(work, blocks), _helpers(n), (1 + spare) * n)


class _Run(Generic[T, R]):
    """The blocks of one `map_blocks`; helpers refer to it weakly, so they skip the blocks of a run that was dropped.

    The queues are those written in C: a wait for a `threading.Condition` now and then turns a KeyboardInterrupt into
    a RuntimeError.
    """

    def __init__(self, work: Callable[[T], R], blocks: Sequence[T]) -> None:
        self.work = work
        self.blocks = blocks
        self.done: SimpleQueue[tuple[int, R | None, BaseException | None]] = SimpleQueue()
        self.early: dict[int, Any] = {}  # what came out of blocks before it was their turn
        self.running: set[int] = set()
        self.stopped = False

    def __call__(self, i: int) -> None:
        """Work on a block, in a helper."""
        self.running.add(i)
        try:
            self.done.put((i, None if self.stopped else self.work(self.blocks[i]), None))
        except BaseException as error:  # raised where the block is waited for
            self.done.put((i, None, error))
        finally:
            self.running.discard(i)

    def wait(self, i: int) -> R:
        """Result of a block."""
        while i not in self.early:
            j, *found = self.done.get()
            self.early[j] = found
        found = self.early.pop(i)
        if found[1] is None:
            return found[0]
        try:
            raise found[1]
        finally:
            del found  # its traceback refers to this frame

    def stop(self) -> None:
        """Start nothing new, and wait the few milliseconds until running blocks have ended."""
        self.stopped = True
        while self.running:
            sleep(0.001)
        self.early, self.done = {}, SimpleQueue()  # tracebacks of other exceptions in there refer to this run


def _in_order(run: _Run[T, R], calls: _Calls, ahead: int) -> Iterator[R]:
    """Results of a run in the order of its blocks.

    The ``yield`` does not stand inside the ``try``: closing a generator that is dropped then runs no code of ours, in
    which Python would swallow a KeyboardInterrupt.
    """
    weak, begun = ref(run), 0
    for i in range(len(run.blocks)):
        try:
            while begun < min(i + ahead, len(run.blocks)):
                calls.put((weak, begun))
                begun += 1
            result = run.wait(i)
        except BaseException:
            run.stop()
            raise
        yield result


_Calls = SimpleQueue[tuple["ref[_Run[Any, Any]]", int] | None]

_helps: ContextVar[bool] = ContextVar("cluewise_helps", default=False)


def _help(calls: _Calls) -> None:
    """The loop of a helper thread, until the process ends."""
    _helps.set(True)
    while (call := calls.get()) is not None:
        run = call[0]()
        if run is not None:
            run(call[1])
        del run  # a helper that waits keeps no results alive


def _helpers(n: int) -> _Calls:
    """The queue of the n threads that serve every run with n threads."""
    with _process.lock:
        if n not in _process.helpers:
            calls: _Calls = SimpleQueue()
            helpers = [Thread(target=_help, args=(calls,), name="cluewise", daemon=True) for _ in range(n)]
            for helper in helpers:
                helper.start()
            _process.helpers[n] = calls, helpers
        return _process.helpers[n][0]


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
    entered = False
    try:
        # Deferred: a limit set by halves would stay, and threadpoolctl works in a callback that swallows exceptions.
        with deferred(), _process.lock:
            if _process.limit is None:
                _process.limit = _controller().limit(limits=1, user_api="blas")
            _process.limited += 1
            entered = True
        yield
    finally:
        with deferred(), _process.lock:
            _process.limited = max(_process.limited - entered, 0)
            if not _process.limited and _process.limit is not None:
                _process.limit.restore_original_limits()
                _process.limit = None


class _Process:
    """What the threads of a process share: helpers, and the limit on those of BLAS."""

    def __init__(self) -> None:
        self.helpers: dict[int, tuple[_Calls, list[Thread]]] = {}
        self.limited = 0  # fits that need BLAS at one thread
        self.limit: Any = None
        self.renew()

    def renew(self) -> None:
        """Start over in a forked process: the other threads are gone, with all that they held or counted.

        BLAS is still limited if it was; the first fit that ends restores the old limit.
        """
        self.lock = Lock()
        self.helpers = {}
        self.limited = 0

    def end(self) -> None:
        """Let the helpers finish the blocks that they are at, so that none is inside BLAS when the process ends."""
        for calls, helpers in self.helpers.values():
            for _ in helpers:
                calls.put(None)
            for helper in helpers:
                helper.join()
        self.helpers = {}


_process = _Process()
atexit.register(_process.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.renew)
