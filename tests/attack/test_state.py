"""Attacks on what is kept: kills, full disks, people who begin at once, damaged files.

Nothing acknowledged is ever lost or doubled; what is damaged is as it was, or named in one sentence; what a rescue
saves is what was said. The whole of it: CLUEWISE_SLOW=1 pytest tests/attack/test_state.py; with
--junitxml=FILE -o junit_family=legacy the counts are written.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from cluewise import Clues
from cluewise.active import Answer, Project, RandomPairs
from cluewise.clues.files import tabulate
from cluewise.ensemble._scsc import SCSC
from cluewise.exceptions import ClueWarning
from cluewise.store import Store
from cluewise.store import rescue as rescue_project
from cluewise.stream import StreamingClues
from cluewise.stream import rescue as rescue_folder
from cluewise.stream._journal import Journal, records
from cluewise.tables import FileError

pytestmark = pytest.mark.timeout(3600)  # the whole form takes half an hour on a busy machine
START = multiprocessing.get_context("fork")  # at work at once, so that many moments can be tried
ROWS = 40
NAMES = [f"row{i}" for i in range(ROWS)]
X = np.random.default_rng(0).normal(size=(ROWS, 2))


def begin(folder):
    """A small model whose rows have names."""
    labels = np.random.default_rng(1).integers(3, size=(6, ROWS))
    StreamingClues.begin(folder, SCSC.from_partitions(labels, 3, inertia=50.0), NAMES)


def clue(i):
    """The i-th clue; no two are alike."""
    return f"row{i % ROWS},row{(i + 1 + i // ROWS) % ROWS},{('must', 'cannot')[i % 3 > 0]},{1 + i / 1000}"


# Kills


def killed(work, path, seconds):
    """Let a process work for a while and kill it; everything that it had acknowledged."""
    hears, says = START.Pipe(duplex=False)
    child = START.Process(target=work, args=(path, says))
    child.start()
    says.close()
    assert hears.poll(120), "the process does not begin"
    said = [hears.recv()]
    time.sleep(seconds)
    child.kill()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    while True:
        try:
            said.append(hears.recv())
        except EOFError:
            return said


def append_lines(folder, says):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClueWarning)
        stream = StreamingClues(folder, batch_size=5)
    at = stream._positions.get("stdin", [0, 0])[1]
    says.send(at)
    while True:
        size = 1 + at % 3
        stream.append([clue(i) for i in range(at, at + size)])
        at += size
        says.send(at)
        if at % 7 == 0:
            list(stream.apply())


def test_streams_that_are_killed(tmp_path, sweep, record_property):
    moments = random.Random(0)
    begin(tmp_path)
    torn = 0
    for _ in range(sweep(8, 300)):
        acknowledged = killed(append_lines, tmp_path, moments.uniform(0, 0.03))[-1]
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            with StreamingClues(tmp_path) as stream:
                count = stream._positions.get("stdin", [0, 0])[1]
                assert stream.n_batches == stream.model.n_iter_
        torn += len(heard)
        texts = [line.text for line, _ in Journal(tmp_path / "journal.jsonl").lines]
        assert texts == [clue(i) for i in range(count)]  # in order, none lost, none doubled
        assert count in (acknowledged, acknowledged + 1 + acknowledged % 3)  # the last append whole or not at all
    record_property("kills of a stream", {"kills": sweep(8, 300), "lines": count, "torn": torn})


def answer(path, says):
    with Store.open(path, create=True) as store:
        at = len(store.standing())
        says.send(at)
        while True:
            store.append({"question": at}, "yes")
            at += 1
            says.send(at)
            if at % 5 == 0:
                store.undo()
                store.append({"question": at - 1}, "yes")
                store.settings["at"] = at
                store.snapshot(list(range(at)), store.entries()[-1].id, keep=2)


def test_projects_that_are_killed(tmp_path, sweep, record_property):
    moments = random.Random(1)
    path = tmp_path / "project"
    for _ in range(sweep(8, 300)):
        acknowledged = killed(answer, path, moments.uniform(0, 0.05))[-1]
        with Store.open(path) as store:
            found = [entry.question["question"] for entry in store.standing()]
            if len(found) == acknowledged - 1:  # between the undo and the answer after it
                assert store.entries()[-1].takes_back is not None
                store.redo()
                found.append(acknowledged - 1)
            assert found == list(range(len(found)))
            assert len(found) in (acknowledged, acknowledged + 1)
            assert store.settings.get("at", 0) <= acknowledged
            store.last_snapshot()
    record_property("kills of a project", {"kills": sweep(8, 300), "answers": len(found)})


# Several people


def begin_project(path, seed, barrier, says):
    barrier.wait()
    try:
        project = Project.begin(path, RandomPairs(), X, budget=10 + seed, random_state=seed)
    except ValueError as error:
        says.put((seed, str(error)))
    else:
        says.put((seed, (project.state.seed, project.state.budget)))
        project.close()


def test_people_who_begin_at_once(tmp_path, sweep):
    """One of them begins; the others hear that it has begun, and how."""
    people = 3
    for turn in range(sweep(3, 40)):
        path, barrier, says = tmp_path / str(turn), START.Barrier(people), START.Queue()
        everybody = [START.Process(target=begin_project, args=(path, who, barrier, says)) for who in range(people)]
        for one in everybody:
            one.start()
        said = dict(says.get(timeout=60) for _ in everybody)
        for one in everybody:
            one.join()
        ((who, (seed, budget)),) = [item for item in said.items() if isinstance(item[1], tuple)]
        assert budget == 10 + who
        for other, words in said.items():
            assert other == who or f"RandomPairs, seed {seed} and a budget of {budget}; open it" in words
        assert (Project.peek(path).seed, Project.peek(path).budget) == (seed, budget)


# A full disk


class Disk:
    """A folder on a disk that can be filled: a small one of its own, or else a limit on the size of files."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
        self.own = shutil.which("mount") is not None and subprocess.run(mount, capture_output=True).returncode == 0

    @contextmanager
    def full(self, left):
        """Little room is left on it, or in one file."""
        if self.own:
            filler = self.folder / "filler"
            usage = os.statvfs(self.folder)
            try:
                filler.write_bytes(b"x" * max(usage.f_bavail * usage.f_frsize - left, 0))
                yield
            finally:
                filler.unlink()
        else:
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "disk")
    yield disk
    if disk.own:
        subprocess.run(["umount", "-l", str(disk.folder)], check=True)


@pytest.mark.parametrize("left", [0, 4096, 8192])
def test_a_full_disk(disk, left):
    """Append and apply until nothing fits, make room, go on in the same process and in the next."""
    folder = disk.folder / "state"
    begin(folder)
    at = 0
    for _ in range(3):
        with StreamingClues(folder, batch_size=50) as stream:
            with disk.full(left):
                sentence = r"journal\.jsonl' cannot be written: .*; no line was added"
                with pytest.raises(FileError, match=sentence):  # noqa: PT012
                    while True:
                        stream.append([clue(i) for i in range(at, at + 3)])
                        at += 3
                attempt(folder, list, stream.apply())
                assert stream.n_batches == stream.model.n_iter_
            stream.append([clue(i) for i in range(at, at + 3)])
            at += 3
        with StreamingClues(folder, batch_size=50) as stream:
            list(stream.apply())
            assert stream.n_batches == stream.model.n_iter_
            assert len(stream.model._log.reports.rows) == at
    assert [line.text for line, _ in Journal(folder / "journal.jsonl").lines] == [clue(i) for i in range(at)]


def test_a_project_on_a_full_disk(disk):
    with Store.open(disk.folder / "project", create=True) as store:
        saved = 0
        with disk.full(40_000), pytest.raises(FileError, match=r"project' (cannot|is)"):  # noqa: PT012
            while True:
                store.append("x" * 500, saved)
                saved += 1
        assert [entry.answer for entry in store.entries()] == list(range(saved))
        assert store.append("again", saved) == saved + 1


# Damage


def damaged(file, chance, spare=()):
    """Change a file in some way; in words. It is never cut off where an append ends, which nothing could notice."""
    data = bytearray(file.read_bytes())
    kind = chance.choice(["flip", "flip", "flips", "zeros", "noise", "cut", "gone", "other"])
    at = chance.randrange(len(data))
    if kind == "flip":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "flips":
        for _ in range(20):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind in ("zeros", "noise"):
        size = min(chance.choice([8, 64, 512, 4096]), len(data) - at)
        data[at : at + size] = bytes(size) if kind == "zeros" else chance.randbytes(size)
    elif kind == "cut":
        del data[at + (at in spare) :]
    elif kind == "other":
        data = bytearray(chance.randbytes(len(data)))
    if kind == "gone":
        file.unlink()
    else:
        file.write_bytes(data)
    return f"{kind} at {at} of {file.name}"


def attempt(path, work, *arguments):
    """What some work gives, or None where it is refused in one sentence that names a file of ours."""
    try:
        return work(*arguments)
    except ValueError as error:
        words = str(error)
    assert str(path) in words, words
    assert words.endswith("."), words
    assert "\n" not in words
    return None


@pytest.fixture(scope="module")
def stream_folder(tmp_path_factory):
    """A stream with lines that are applied, lines that wait, labels, groups and bad lines; and what is in it."""
    folder = tmp_path_factory.mktemp("stream") / "state"
    begin(folder)
    with StreamingClues(folder, batch_size=20) as stream:
        stream.append([clue(i) for i in range(50)])
        stream.append([f"row{i},{'rb'[i % 2]},label" for i in range(6)] + ["row1,g,together", "row9,g,together", "?"])
        list(stream.apply())
        for i in range(100, 120, 2):
            stream.append([clue(i), clue(i + 1)])
    shutil.copytree(folder, folder.with_name("applied"))
    truth = opened(folder.with_name("applied"))
    return folder, truth, meanings(SCSC.load(folder.with_name("applied"))._log.clues())


def meanings(clues):
    """The clues one by one."""
    columns = tabulate(clues, NAMES).columns
    return set(zip(*(map(str, columns[name]) for name in ("a", "b", "kind", "weight"))))


def opened(folder):
    """What a stream holds, what waits, and what it comes to when that is applied."""
    with StreamingClues(folder, batch_size=20) as stream:
        waiting = [line.text for line, _ in stream._pending]
        learned = stream.model.gamma_.tolist(), stream.model.labels_.tolist(), stream.ids, stream.aside
        list(stream.apply())
        return learned, waiting, stream.model.gamma_.tolist()


def test_damaged_streams(stream_folder, tmp_path, sweep, record_property):
    folder, truth, said = stream_folder
    names = sorted(file.name for file in folder.iterdir() if file.stat().st_size)
    whole = (folder / "journal.jsonl").read_bytes()
    appends = [record.end for record in records(folder / "journal.jsonl") if not record.left]
    outcomes, chance = Counter(), random.Random(2)
    for case in range(sweep(40, 800)):
        copy, out = tmp_path / "state", tmp_path / "out.csv"
        shutil.copytree(folder, copy)
        what = damaged(copy / names[case % len(names)], chance, appends)
        journal = copy / "journal.jsonl"
        left = journal.read_bytes() if journal.exists() else b""
        rescued = attempt(copy, rescue_folder, copy, out)
        if rescued is not None:
            assert meanings(Clues.read(out, ids=NAMES)) <= said, what
            out.unlink()
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ClueWarning)
            found = attempt(copy, opened, copy)
        if found is None:
            outcome = f"refused, {'rescued' if rescued else 'nothing to rescue'}"
        elif any("cut off" in str(one.message) for one in heard):
            outcome = "cut off, with a warning"
            assert found[0] == truth[0], what
            same = next((i for i, (a, b) in enumerate(zip(whole, left)) if a != b), len(left))
            kept = sum(end - 1 <= same for end in appends)  # a line break is mended
            assert found[1] == truth[1][: 2 * max(kept - 2, 0)], what  # two are applied; the others have two lines
            torn = copy / "journal.torn"
            if torn.exists():
                assert journal.read_bytes() + torn.read_bytes() == left, what
            else:
                assert journal.read_bytes() == whole[: appends[kept - 1]], what
        else:
            outcome = "rebuilt, with a warning" if heard else "as it was"
            assert found == truth, what
        outcomes[outcome] += 1
        shutil.rmtree(copy)
    record_property("damaged streams", dict(outcomes))


@pytest.fixture(scope="module")
def project_file(tmp_path_factory):
    """A project with answers, some of them taken back, and a snapshot; and what is in it."""
    path = tmp_path_factory.mktemp("project") / "talk.cluewise"
    with Project.begin(path, RandomPairs(), X, budget=99, random_state=0, settings={"note": "x" * 3000}) as project:
        for i in range(50):
            project.tell(Answer(project.ask()[0], i % 3 == 0, who="long name " * 50))  # several pages
            if i % 10 == 9:
                project.undo()
    return path, inside(path)


def inside(path):
    with Store.open(path) as store:
        entries, settings = store.entries(), dict(store.settings)
    with Project.open(path, RandomPairs(), X) as project:
        return entries, settings, project.state, project.ask()


def test_damaged_projects(project_file, tmp_path, sweep, record_property):
    path, truth = project_file
    answers = [entry[1:5] for entry in truth[0]]
    outcomes, chance = Counter(), random.Random(3)
    for _ in range(sweep(30, 1200)):
        copy, out = tmp_path / "damaged", tmp_path / "out"
        shutil.copyfile(path, copy)
        what = damaged(copy, chance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClueWarning)
            rescued = attempt(copy, rescue_project, copy, out)
            found = attempt(copy, inside, copy)
        if rescued is not None:
            with Store.open(out) as store:
                saved = [entry[1:5] for entry in store.entries()]
                assert dict(store.settings).items() <= truth[1].items(), what
            assert len(saved) == rescued[0], what
            assert is_part(saved, answers), what
        assert found is None or found == truth, what
        outcomes["as it was" if found else f"refused, {'rescued' if rescued else 'nothing to rescue'}"] += 1
        for file in tmp_path.iterdir():
            file.unlink()
    record_property("damaged projects", dict(outcomes))


def is_part(some, whole):
    """Whether some things stand among others in the same order."""
    rest = iter(whole)
    return all(one in rest for one in some)
