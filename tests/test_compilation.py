"""Compiling takes seconds, once after installation: no time limit counts it, and those who wait are told."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numba
import pytest

from cluewise.centroid._clock import Clock
from cluewise.kernels import _compilation, watch_compilation, working_time


def event_of(module):
    def function():
        """A kernel of some module."""

    function.__module__ = module
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


@pytest.fixture
def clock(monkeypatch):
    """A clock that is put forward by hand; nothing has been compiled yet."""
    now = SimpleNamespace(time=1000.0)
    monkeypatch.setattr(_compilation, "monotonic", lambda: now.time)
    monkeypatch.setattr(_compilation._State, "spent", 0.0)
    return now


def test_the_clock_stands_still_while_kernels_are_compiled(clock):
    outer, inner = event_of("cluewise.kernels.outer"), event_of("cluewise.kernels.inner")
    began = working_time()
    clock.time += 1
    _compilation.begin(outer)
    clock.time += 5
    _compilation.begin(inner)  # what a kernel calls is compiled on the way
    clock.time += 20
    assert working_time() - began == 1  # as another thread sees it
    _compilation.end(inner)
    clock.time += 5
    _compilation.end(outer)
    clock.time += 2
    assert working_time() - began == 3


def test_other_packages_may_compile_what_they_like(clock):
    began = working_time()
    _compilation.begin(event_of("umap.layouts"))
    clock.time += 4
    _compilation.end(event_of("umap.layouts"))
    assert working_time() - began == 4


def test_what_is_compiled_in_a_search_is_not_taken_from_its_time(clock):
    limit = Clock(30.0)
    with limit as seconds:
        assert seconds == 30
        _compilation.begin(event_of("cluewise.kernels.branching"))
        clock.time += 3600
        _compilation.end(event_of("cluewise.kernels.branching"))
        clock.time += 2
    assert limit.left == 28


def test_numba_tells_when_it_compiles(caplog):
    def kernel(x):
        return x + 1

    kernel.__module__ = "cluewise.kernels.made"
    compiled, heard = numba.njit(kernel), []
    with caplog.at_level(logging.INFO, "cluewise"), watch_compilation(heard.append):
        assert compiled(1) == 2
        assert heard == [True, False]
        assert compiled(2) == 3
    assert heard == [True, False]  # compiled code is used again
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert "compiles" in caplog.text
    compiled(1.5)
    assert heard == [True, False]  # the block is over


def test_a_failure_to_compile_is_an_end():
    def kernel(x):
        return x + "no number"

    kernel.__module__ = "cluewise.kernels.made"
    heard = []
    with watch_compilation(heard.append), pytest.raises(numba.TypingError):
        numba.njit(kernel)(1)
    assert heard == [True, False]
    assert _compilation._State.depth == 0
