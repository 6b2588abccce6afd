"""Blocks over threads: results in order, few waiting, nothing new after an error, nothing left behind."""

import gc
import os
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import cluewise as cw
from cluewise.core import threads as module
from cluewise.core.threads import map_blocks, one_blas_thread, pieces, usable_threads


def test_results_come_in_order():
    def work(i):
        time.sleep(0.002 * (i % 3))
        return i * i

    for n in (1, 2, 5):
        with cw.threads(n):
            assert list(map_blocks(work, list(range(40)))) == [i * i for i in range(40)]


def test_nothing_to_do():
    assert list(map_blocks(lambda block: block, [])) == []


def test_threads_are_used(monkeypatch):
    monkeypatch.setattr(module, "FEW", 2)
    seen = set()
    gate = threading.Barrier(2, timeout=60)

    def work(i):
        seen.add(threading.get_ident())
        gate.wait()  # passes only when two threads are inside at once

    with cw.threads(2):
        list(map_blocks(work, [0, 1]))
    assert len(seen) == 2


def test_few_results_wait():
    """A slow reader must not make the blocks pile up in memory."""
    done = []
    with cw.threads(2):
        results = map_blocks(done.append, list(range(100)))
        next(results)
        time.sleep(0.2)
        assert len(done) <= 10
        results.close()
    assert len(done) <= 10


def test_after_an_error_nothing_new_starts():
    done = []

    def work(i):
        if i == 3:
            raise RuntimeError("block 3")
        done.append(i)
        time.sleep(0.005)

    with cw.threads(2), pytest.raises(RuntimeError, match="block 3"):
        list(map_blocks(work, list(range(100))))
    count = len(done)
    assert count < 30
    time.sleep(0.05)
    assert len(done) == count


def test_who_decides_about_threads(monkeypatch):
    monkeypatch.delenv("CLUEWISE_THREADS", raising=False)
    assert usable_threads() == module._cores() >= 1
    monkeypatch.setenv("CLUEWISE_THREADS", "3")
    assert usable_threads() == 3
    with cw.threads(5):
        assert usable_threads() == 5
        with cw.threads(1):
            assert usable_threads() == 1
        assert usable_threads() == 5
    assert usable_threads() == 3


@pytest.mark.parametrize("value", ["0", "two", "-1", "1.5"])
def test_a_bad_variable_is_named(monkeypatch, value):
    monkeypatch.setenv("CLUEWISE_THREADS", value)
    with pytest.raises(ValueError, match=f"CLUEWISE_THREADS is '{value}'"):
        usable_threads()


@pytest.mark.parametrize("n", [0, 1.0, True, "2"])
def test_a_bad_number_is_named(n):
    with pytest.raises(ValueError, match="threads needs a whole number of at least 1"), cw.threads(n):
        raise AssertionError("not reached")


def test_negative_numbers_leave_cores_free_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr(module, "_cores", lambda: 4)
    for given, used in ((-1, 4), (-2, 3), (-9, 1), (np.int64(2), 2)):
        with cw.threads(given):
            assert usable_threads() == used


def test_the_choice_belongs_to_one_thread():
    """A context variable: another thread of the same process keeps its own number."""
    found = []
    with cw.threads(7):
        other = threading.Thread(target=lambda: found.append(usable_threads()))
        other.start()
        other.join()
    assert found != [7]


def test_blas_has_one_thread_inside_and_what_it_had_outside(monkeypatch):
    """Two overlapping fits: the first to leave must not free BLAS while the second is at work, nor leave it limited."""
    state = {"limit": 4}

    class Limiter:
        def __init__(self, limits, user_api):
            assert user_api == "blas"
            self.before = state["limit"]
            state["limit"] = limits

        def restore_original_limits(self):
            state["limit"] = self.before

    class Controller:
        limit = Limiter

    monkeypatch.setattr(module, "_controller", Controller)
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    assert state["limit"] == 1
    second.__enter__()
    first.__exit__(None, None, None)
    assert state["limit"] == 1
    second.__exit__(None, None, None)
    assert state["limit"] == 4
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert state["limit"] == 4


def test_the_real_controller():
    from threadpoolctl import threadpool_info

    with one_blas_thread():
        assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {1}


def helpers():
    return {thread for thread in threading.enumerate() if thread.name == "cluewise"}


def test_all_runs_share_their_threads():
    with cw.threads(3):
        list(map_blocks(abs, range(20)))
        before = helpers()
        for _ in range(50):
            list(map_blocks(abs, range(20)))
        assert helpers() == before
    assert len(before) >= 3


def test_a_run_that_is_dropped_runs_no_code_and_keeps_nothing():
    """`zip` leaves its last iterator suspended; a KeyboardInterrupt while that is closed would be swallowed."""

    class Result:
        pass

    def work(i):
        made.append(weakref.ref(result := Result()))
        return result

    made, ran = [], []
    blocks = range(10)
    with cw.threads(2):
        results = map_blocks(work, blocks)
        assert sum(1 for _ in zip(blocks, results)) == len(blocks)
        half = map_blocks(work, blocks)
        next(half)
        while len(made) < 2 * len(blocks) - 2:  # as far ahead as the helpers go
            time.sleep(0.001)
        sys.setprofile(lambda frame, event, _: ran.append(frame.f_code.co_name) if event == "call" else None)
        try:
            del results, half
        finally:
            sys.setprofile(None)
        assert set(ran) <= {"_in_order"}  # its frame is unwound; nothing is called
        deadline = time.monotonic() + 60
        while any(kept() is not None for kept in made) and time.monotonic() < deadline:
            time.sleep(0.001)  # a helper may just be dropping its own
    assert [kept() for kept in made if kept() is not None] == []


def test_an_exception_keeps_nothing_alive():
    class Data:
        pass

    def fail(data, i):
        raise KeyError(i)

    data = Data()
    kept = weakref.ref(data)
    gc.disable()
    try:
        with cw.threads(2), pytest.raises(KeyError):
            list(map_blocks(lambda i, data=data: fail(data, i), range(10)))
        del data
        deadline = time.monotonic() + 60
        while kept() is not None and time.monotonic() < deadline:
            time.sleep(0.001)
        assert kept() is None
    finally:
        gc.enable()


def test_blocks_within_blocks():
    """Helpers that waited for each other would wait for ever."""

    def work(i):
        with cw.threads(2):
            return sum(map_blocks(lambda j: i * j, range(10)))

    with cw.threads(2):
        assert list(map_blocks(work, range(20))) == [45 * i for i in range(20)]


def test_ctrl_c_while_waiting():
    """It arrives at the caller, and then no block runs any more."""
    running, begun = [], threading.Event()

    def work(i):
        running.append(i)
        begun.set()
        time.sleep(0.02)
        running.remove(i)

    def press():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    other = threading.Thread(target=press)
    with cw.threads(2):
        other.start()
        with pytest.raises(KeyboardInterrupt):
            list(map_blocks(work, range(10_000)))
    assert running == []
    other.join()


def in_child(act):
    """Exit code of ``act`` in a fork of this process; -SIGALRM when it hangs."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_fork_has_helpers_and_locks_of_its_own():
    """The child has none of the parent's helpers, and a lock that another thread held would stay held."""

    def act():
        assert list(map_blocks(abs, range(20))) == list(range(20))
        with one_blas_thread():
            pass

    with cw.threads(2):
        act()
        with module._process.lock:
            assert in_child(act) == 0


def test_a_fork_restores_what_blas_had(monkeypatch):
    """The limit that a fit in the parent has set is not taken for what was there before."""
    state = {"limit": 4}

    class Controller:
        def limit(self, limits, user_api):
            self.before, state["limit"] = state["limit"], limits
            return self

        def restore_original_limits(self):
            state["limit"] = self.before

    monkeypatch.setattr(module, "_controller", Controller)

    def act():
        with one_blas_thread():
            assert state["limit"] == 1
        assert state["limit"] == 4

    with one_blas_thread():
        assert in_child(act) == 0
    assert state["limit"] == 4


def test_pieces_cover_everything_once():
    work = np.array([3, 3, 3, 3, 50, 1, 1, 20])
    cuts = pieces(work, 10)
    assert [(c.start, c.stop) for c in cuts] == [(0, 3), (3, 4), (4, 5), (5, 7), (7, 8)]
    assert not pieces(np.empty(0, int), 10)
