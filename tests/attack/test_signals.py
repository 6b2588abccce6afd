"""Ctrl-C at random moments of fits and commands, and forks of a process whose other threads fit.

Each attack runs a few times in `make test` and some hundred times with CLUEWISE_SLOW=1. A fit or a command that does
not end is killed after `PATIENCE` seconds and counts as a failure.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest

from cluewise.ensemble._scsc import SCSC
from cluewise.stream import StreamingClues

PATIENCE = 120  # seconds; everything here takes some tenths of a second on a quiet machine

# What is attacked: fits of some tenths of a second, in two threads even where the blocks are few.
FITS = """
import numpy as np
import cluewise as cw
from cluewise.core import threads

threads.FEW = 2
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 8)) + 4 * rng.integers(3, size=(40_000, 1))
pairs = rng.permutation(40_000)[:8000].reshape(-1, 2)
counts = rng.poisson(1.0 + 3 * (np.arange(300) % 3 == np.arange(600)[:, None] % 3))
apart = pairs[np.abs(X[pairs[:, 0], 0] - X[pairs[:, 1], 0]) > 6]


def clues():
    return cw.Clues(len(X), cannot=apart)  # made anew: what follows from them is computed in each fit


def links(cls):
    return lambda: cls(4, random_state=0, max_iter=5).fit(X, clues=clues()).labels_


def bottleneck():
    return cw.InformationBottleneck(3, random_state=0, max_iter=5).fit(counts).labels_


fits = {"PCKMeans": links(cw.PCKMeans), "COPKMeans": links(cw.COPKMeans), "PenalizedGMM": links(cw.PenalizedGMM)}
fits["InformationBottleneck"] = bottleneck
"""

STOPPED = (
    FITS
    + """
import itertools

for fit in fits.values():
    fit()
for n, fit in itertools.cycle([(n, fit) for fit in fits.values() for n in (1, 2)]):
    try:
        with cw.threads(n):
            print("ready", flush=True)
            while True:
                fit()
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""
)

FORKED = (
    FITS
    + """
import os, signal, sys, threading, time

pause = np.random.default_rng(int(sys.argv[2]))
expected = {name: fit() for name, fit in fits.items()}  # everything is imported and compiled before the first fork


def forever():
    while True:
        for fit in fits.values():
            with cw.threads(2):
                fit()


for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
for turn in range(int(sys.argv[1])):
    time.sleep(pause.uniform(0, 0.1))
    name = list(fits)[turn % len(fits)]
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        code = 1
        try:
            with cw.threads(2):
                code = 0 if (fits[name]() == expected[name]).all() else 2
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
os._exit(0)
"""
).replace("PATIENCE", str(PATIENCE))

COMMAND = "import os; from cluewise.cli import main; os.write(1, b'.'); main()"
COMMANDS = {
    "fit": ["data.npy", "--clues", "clues.csv", "-k", "12", "--report", "report.json"],
    "check": ["data.npy", "--clues", "clues.csv", "-k", "12"],
    "ask": ["data.npy", "-k", "3"],
    "update": ["state", "--clues", "clues.csv", "--batch", "50"],
}


WHOLE = {"fit": {"data-clusters.csv", "report.json"}, "check": set(), "ask": {"data.cluewise"}, "update": set()}


def started(*words: str, cwd: object = None) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", *words], cwd=cwd, **pipes)


@pytest.fixture
def patience():
    """``patience(process)`` gives it a while before it is killed."""
    watched, timers = set(), []

    def watch(process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
        for timer in timers:
            timer.cancel()
        watched.add(process)
        timers[:] = [threading.Timer(PATIENCE, process.kill)]
        timers[0].start()
        return process

    yield watch
    for timer in timers:
        timer.cancel()
    for process in watched:
        process.kill()
        process.communicate()


def test_a_fit_in_another_process(patience, sweep):
    """Every KeyboardInterrupt arrives at the caller, and nothing is said about another that does not."""
    moments = random.Random(1)
    process = started(STOPPED)
    for _ in range(sweep(4, 200)):
        expect(process, b"ready\n")
        patience(process)  # not before, because imports may take long on a busy machine
        time.sleep(moments.uniform(0, 0.15))
        process.send_signal(signal.SIGINT)
        expect(process, b"stopped\n")
    process.kill()
    assert process.stderr.read() == b""


def expect(process: subprocess.Popen[bytes], line: bytes) -> None:
    if process.stdout.readline() != line:
        said = process.communicate()[1].decode()
        raise AssertionError(
            f"no {line!r}: {'it hung' if process.returncode == -signal.SIGKILL else 'it died'}\n{said}"
        )


def test_a_fit_in_this_process(sweep):
    space: dict[str, object] = {}
    exec(FITS, space)
    fits = list(space["fits"].values())
    for fit in fits:
        fit()  # numba drops a KeyboardInterrupt now and then while it loads a kernel, in callbacks of its own
    moments, lost = random.Random(2), []
    before, sys.unraisablehook = sys.unraisablehook, lost.append
    try:
        for turn in range(sweep(2, 100)):
            sent = threading.Event()
            other = threading.Thread(target=press, args=(moments.uniform(0, 0.15), sent))
            with pytest.raises(KeyboardInterrupt):
                attacked(other, sent, fits[turn % len(fits)])
            other.join()
    finally:
        sys.unraisablehook = before
    assert lost == []


def press(seconds: float, sent: threading.Event) -> None:
    time.sleep(seconds)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    sent.set()


def attacked(other: threading.Thread, sent: threading.Event, fit: object) -> None:
    other.start()
    late = False
    while not late:  # a whole fit after Ctrl-C: it was swallowed
        late = sent.is_set()
        fit()


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    np.save(tmp_path / "data.npy", X)
    lines = [f"{a},{b},cannot" for a, b in rng.permutation(len(X))[:2000].reshape(-1, 2)]
    (tmp_path / "clues.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def test_a_command(files, patience, sweep):
    """Code 130, at most one line, no file but whole ones: from the first import to the last line of the answer."""
    moments, ends = random.Random(3), Counter()
    for turn in range(sweep(4, 120)):
        command, words = list(COMMANDS.items())[turn % len(COMMANDS)]
        if command == "update":
            StreamingClues.begin(files / "state", SCSC.from_partitions(np.arange(80_000).reshape(4, -1) % 3))
        process = patience(started(COMMAND, command, *words, cwd=files))
        assert process.stdout.read(1) == b"."
        time.sleep(moments.uniform(0, 3))
        process.send_signal(signal.SIGINT)
        if command == "ask":
            process.wait()  # for the answer, not for the end of its questions
        out, said = process.communicate()
        said = [line for line in said.decode().splitlines() if not line.startswith("cluewise: warning")]
        ends[process.returncode] += 1
        if command == "update":
            with StreamingClues(files / "state") as stream:  # a whole model, whenever it was interrupted
                assert stream.n_batches == stream.model.n_iter_
            shutil.rmtree(files / "state")
        left = {path.name for path in files.iterdir()} - {"data.npy", "clues.csv"}
        if process.returncode == 130:
            assert len([line for line in said if line]) <= 1, said
            assert all(line.startswith("cluewise: ") for line in said if line), said
        else:  # it was over before, with an answer that is complete
            assert (process.returncode, said) == (0, []), (command, said)
            assert command != "ask"
            assert out.endswith(b"\n")
        assert left in (set(), WHOLE[command]), left
        for name in left:
            (files / name).unlink()
    print(dict(ends))  # noqa: T201, shown by `pytest -s`


def test_forks_while_other_threads_fit(sweep):
    """The child fits as well, gets the same labels, and ends."""
    forks = sweep(2, 90)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, str(forks), "4"], capture_output=True, text=True, check=True
    )
    ends = Counter(map(int, done.stdout.split()))
    assert ends == {0: forks}, f"{ends} (-{signal.SIGALRM:d}: hung, 1: failed, 2: other labels)\n{done.stderr}"


def test_nothing_is_imported_before_ctrl_c_is_answered():
    """What stands between the interpreter and `main` takes no time: names only, and what any import needs."""
    code = "import sys; old = set(sys.modules); from cluewise.cli import main; print(*sorted({*sys.modules} - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    basics = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
    ours = {"cluewise", "cluewise._version", "cluewise.cli"}
    assert set(done.stdout.split()) - basics - {"os", "os.path"} == ours


def test_python_m_cluewise():
    done = subprocess.run([sys.executable, "-m", "cluewise", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cluewise ")
    assert os.linesep not in done.stdout.strip()
