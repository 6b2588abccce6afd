"""Properties that are computed once, without a lock."""

import os
import pickle
import signal
import threading
from functools import cached_property
from pathlib import Path

import cluewise
from cluewise._lazy import lazy


class Thing:
    count = 0

    @lazy
    def value(self):
        """What it is worth."""
        self.count += 1
        return [1]


class Pair:
    """Its value waits until two threads compute it at once."""

    def __init__(self):
        self.gate = threading.Barrier(2, timeout=60)

    @lazy
    def value(self):
        self.gate.wait()
        return object()


class Slow:
    def __init__(self):
        self.inside, self.leave = threading.Event(), threading.Event()

    @lazy
    def value(self):
        self.inside.set()
        assert self.leave.wait(60)
        return 1


def test_computed_once():
    thing = Thing()
    assert thing.value is thing.value
    assert (thing.count, thing.__dict__["value"]) == (1, [1])
    assert isinstance(Thing.value, lazy)
    assert Thing.value.__doc__ == "What it is worth."
    assert pickle.loads(pickle.dumps(thing)).value == [1]


def test_two_threads_at_once_are_given_the_same_value():
    """With a lock for the class the second would wait outside, and the gate would never open."""
    pair, found = Pair(), []
    others = [threading.Thread(target=lambda: found.append(pair.value)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert len(found) == 2
    assert found[0] is found[1] is pair.value


def test_a_fork_does_not_wait_for_a_thread_it_does_not_have():
    slow, quick = Slow(), Slow()
    quick.leave.set()
    other = threading.Thread(target=lambda: slow.value)
    other.start()
    slow.inside.wait()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os._exit(quick.value - 1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    slow.leave.set()
    other.join()
    assert code == 0


def test_nothing_else_in_the_library_takes_the_lock():
    source = Path(cluewise.__file__).parent
    users = [path.name for path in source.rglob("*.py") if cached_property.__name__ in path.read_text("utf-8")]
    assert users == ["_lazy.py"]
