"""Ctrl-C is held back while something must be completed, and never lost."""

import signal
import subprocess
import sys
import threading

import pytest

from cluewise._interrupts import deferred, terminable


def test_it_comes_afterwards():
    done = []

    def act():
        with deferred():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        act()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_does_not_hide_it():
    def act():
        with deferred():
            signal.raise_signal(signal.SIGINT)
            raise OSError("full")

    with pytest.raises(KeyboardInterrupt) as caught:
        act()
    assert isinstance(caught.value.__context__, OSError)


def test_within_each_other():
    done = []

    def act():
        with deferred():
            with deferred():
                signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        act()
    assert done == [1]


def test_without_a_signal_nothing_happens():
    before = signal.getsignal(signal.SIGINT)
    with deferred():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_leave_the_handler_alone():
    seen = []

    def act():
        with deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    other = threading.Thread(target=act)
    other.start()
    other.join()
    assert seen == [signal.default_int_handler]


def test_ignored_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_host_whose_main_thread_is_not_ours():
    """Python may take another thread for the main one, as hosts that embed it do; nothing is held back then."""
    code = (
        "import _thread, time\n"
        "done = []\n"
        "def work():\n"
        "    import numpy as np, cluewise as cw\n"
        "    done.append(cw.PCKMeans(2, random_state=0).fit(np.arange(8.0)[:, None]).n_clusters_)\n"
        "    done.append('end')\n"
        "_thread.start_new_thread(work, ())\n"
        "while 'end' not in done: time.sleep(0.01)\n"
        "print(done[0])\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert answer.stdout == "2\n", answer.stderr


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_is_answered_as_ctrl_c(handler):
    """Also by a command in the background, for which a shell ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt), terminable():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_is_held_back_where_ctrl_c_is():
    done = []

    def act():
        with terminable(), deferred():
            signal.raise_signal(signal.SIGTERM)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        act()
    assert done == [1]


def test_the_answer_of_somebody_else_to_sigterm_stays():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        with terminable():
            signal.raise_signal(signal.SIGTERM)
        assert heard == [1]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_leave_sigterm_alone():
    done = []

    def act():
        with terminable():
            done.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    assert done == [signal.SIG_DFL]
