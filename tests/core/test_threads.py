"""Blocks over a pool: results in order, few waiting, nothing new after an error."""

import threading
import time

import pytest

import cluewise as cw
from cluewise.core import threads as module
from cluewise.core.threads import map_blocks, one_blas_thread, usable_threads


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


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "2"])
def test_a_bad_number_is_named(n):
    with pytest.raises(ValueError, match="threads needs a whole number of at least 1"), cw.threads(n):
        raise AssertionError("not reached")


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
