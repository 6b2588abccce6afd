"""Killed at any moment and started again: no batch is lost, none is applied twice."""

import multiprocessing
import random
import signal
import time

import numpy as np
import pytest

from cluewise.ensemble._scsc import SCSC
from cluewise.stream import StreamingClues

ROWS, PARTITIONS, LINES, SIZE = 400, 30, 240, 8
START = multiprocessing.get_context("fork")  # at work at once, so that many moments can be tried


def apply(folder, clues, said):
    with StreamingClues(folder, batch_size=SIZE) as stream:
        said.send(0)
        stream.read(clues)
        for batch in stream.apply():
            said.send(batch.number)


def save(folder, said):
    model = SCSC.load(folder)
    said.send(0)
    while True:
        model.save(folder)


def killed(work, arguments, after):
    """Start a process, let it work for a while, kill it; the last it had said, and whether it was still there."""
    hears, says = START.Pipe(duplex=False)
    process = START.Process(target=work, args=(*arguments, says))
    process.start()
    says.close()
    last = hears.recv()
    time.sleep(after)
    process.kill()
    process.join()
    while True:
        try:
            last = hears.recv()
        except EOFError:
            return last, process.exitcode == -signal.SIGKILL


@pytest.fixture(scope="module")
def clues(tmp_path_factory):
    rng = np.random.default_rng(0)
    file = tmp_path_factory.mktemp("clues") / "clues.csv"
    pairs = rng.choice(ROWS, size=(LINES, 2))
    kinds = rng.choice(["must", "cannot", "perhaps"], p=[0.4, 0.5, 0.1], size=LINES)
    file.write_text("".join(f"{a},{b},{kind}\n" for (a, b), kind in zip(pairs, kinds)))
    return file


def begin(folder):
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=ROWS)
    labels = np.where(rng.random((PARTITIONS, ROWS)) < 0.6, truth, rng.integers(3, size=(PARTITIONS, ROWS)))
    SCSC.from_partitions(labels.astype(np.uint8), 3, inertia=200.0).save(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, clues):
    """What comes out when nobody kills anything."""
    folder = tmp_path_factory.mktemp("undisturbed")
    begin(folder)
    with StreamingClues(folder, batch_size=SIZE) as stream:
        stream.read(clues)
        assert sum(1 for _ in stream.apply()) == LINES // SIZE
        return stream.model.gamma_, stream.model.labels_, stream.aside


def kill_often(folder, clues, moments, longest):
    """Kill what applies the clues until all are applied; how often it was still at work."""
    begin(folder)
    done, kills = 0, 0
    while done < LINES // SIZE and kills < 12:
        said, early = killed(apply, (folder, clues), moments.uniform(0, longest))
        kills += early
        SCSC.load(folder)  # the folder holds a whole model at every moment
        with StreamingClues(folder) as stream:
            # Every batch that was reported is there; one more may be, which was saved before its report.
            assert stream.n_batches - max(done, said) in (0, 1)
            assert stream.model.n_iter_ == stream.n_batches
            done = stream.n_batches
    return kills


@pytest.mark.parametrize("seed", range(3))
def test_killed_while_applying(tmp_path, clues, undisturbed, seed):
    for longest in (0.06, 0.02, 0.005, 0.0):  # on a busy machine, kills come late
        folder = tmp_path / f"{longest}"
        kills = kill_often(folder, clues, random.Random(seed), longest)
        if kills >= 3:
            break
    assert kills >= 3
    with StreamingClues(folder, batch_size=SIZE) as stream:
        stream.read(clues)
        list(stream.apply())
        gamma, labels, aside = undisturbed
        assert stream.n_batches == stream.model.n_iter_ == LINES // SIZE
        np.testing.assert_array_equal(stream.model.gamma_, gamma)
        np.testing.assert_array_equal(stream.model.labels_, labels)
        assert stream.aside == aside


def test_killed_while_saving(tmp_path):
    begin(tmp_path)
    before = SCSC.load(tmp_path).gamma_
    moments = random.Random(3)
    for _ in range(15):
        _, early = killed(save, (tmp_path,), moments.uniform(0, 0.03))
        assert early
        np.testing.assert_array_equal(SCSC.load(tmp_path).gamma_, before)
    SCSC.load(tmp_path).save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3  # state.json, partitions, weights: the debris of the kills is gone
