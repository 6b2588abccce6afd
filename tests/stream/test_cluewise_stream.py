"""A stream of clues for a Cluewise in a file: the journal is beside it, and the file knows its place in it."""

import multiprocessing
import random
import time

import numpy as np
import pytest

import cluewise as cw
from cluewise import models
from cluewise.stream import StreamingClues, rescue
from cluewise.tables import FileError

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 20)
X = RNG.normal(size=(60, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
FIRST = cw.Clues.sample(Y, pairs=20, random_state=0)
LINES = [f"{a},{b},{'must' if Y[a] == Y[b] else 'cannot'}" for a, b in RNG.choice(60, size=(40, 2)) if a != b]
START = multiprocessing.get_context("fork")


@pytest.fixture(scope="module")
def fitted():
    return cw.Cluewise(3, random_state=0).fit(X, clues=FIRST)


@pytest.fixture
def file(tmp_path, fitted):
    cw.save(fitted, tmp_path / "model.cw")
    return tmp_path / "model.cw"


def open_stream(file, size=8):
    stream = StreamingClues(file, batch_size=size)
    stream.resume(X)
    return stream


def test_batches_are_updates_and_another_process_goes_on(file, tmp_path):
    direct = cw.load(file).resume(X)
    for part in (LINES[:8], LINES[8:12]):
        (tmp_path / "part.csv").write_text("\n".join(["a,b,kind", *part]))
        direct.update(cw.Clues.read(tmp_path / "part.csv", n=60))
    with open_stream(file) as stream:
        stream.append(LINES[:12], source="ann")
        ids = stream.model.cluster_ids_[stream.model.labels_]
        first = next(stream.apply())
        now = stream.model.cluster_ids_[stream.model.labels_]
        assert first.changed.tolist() == np.flatnonzero(now != ids).tolist()
        assert sum(first.counts.values()) == 8
    with open_stream(file) as stream:
        assert (stream.n_batches, stream.n_pending) == (1, 4)
        list(stream.apply())
        np.testing.assert_array_equal(stream.model.margin_, direct.margin_)
        np.testing.assert_array_equal(stream.model.cluster_ids_, direct.cluster_ids_)
    again = cw.load(file)  # the file is a model as any other
    np.testing.assert_array_equal(again.predict(X), direct.predict(X))
    assert again.clues_.must.tolist() == direct.clues_.must.tolist()


def test_without_its_rows_the_lines_wait(file):
    with StreamingClues(file) as stream:
        stream.append(LINES[:3])
        with pytest.raises(ValueError, match=r"does not hold its rows; pass them to resume\(X\)"):
            list(stream.apply())
        assert stream.n_pending == 3
    with open_stream(file) as stream:
        assert sum(next(stream.apply()).counts.values()) == 3


def test_lines_that_do_not_fit_are_set_aside(file):
    lines = ["0,1,must,inf", "1,2,must,inf", "0,2,cannot,inf", "5,a,label", "5,b,label", "0,3..,size", "1,3,must"]
    with open_stream(file) as stream:
        stream.append(lines, source="ann")
        (batch,) = stream.apply()
        assert batch.counts == {"must": 3, "label": 1}
        assert [bad.line for bad in batch.aside] == [3, 5, 6]
        assert "must be apart" in batch.aside[0].why
        assert stream.model.labels_[0] == stream.model.labels_[1] == stream.model.labels_[2]
    with StreamingClues(file) as stream:
        assert [bad.line for bad in stream.aside] == [3, 5, 6]


def work(file, said):
    with open_stream(file) as stream:
        if not stream.n_batches and not stream.n_pending:
            stream.append(LINES)
        said.send(0)  # all lines are acknowledged
        for batch in stream.apply():
            said.send(batch.number)


def test_killed_at_any_moment_no_clue_is_lost_and_none_counts_twice(tmp_path, fitted):
    whole, killed = tmp_path / "whole.cw", tmp_path / "killed.cw"
    for path in (whole, killed):
        cw.save(fitted, path)
    with open_stream(whole) as stream:
        stream.append(LINES)
        batches = sum(1 for _ in stream.apply())
        expected = stream.model
    moments = random.Random(0)
    for heard in (1, 2, 1, 2):  # messages before the kill
        hears, says = START.Pipe(duplex=False)
        process = START.Process(target=work, args=(killed, says))
        process.start()
        last = [hears.recv() for _ in range(heard)][-1]
        time.sleep(moments.uniform(0, 0.05))
        process.kill()
        process.join()
        with StreamingClues(killed) as stream:
            read = sum(place[1] for place in stream._kept.get("positions", {}).values())
            assert read + stream.n_pending == len(LINES)
            assert stream.n_batches >= last
    with open_stream(killed) as stream:
        list(stream.apply())
        assert stream.n_batches == batches
        np.testing.assert_array_equal(stream.model.margin_, expected.margin_)
        assert stream.model.clues_ == expected.clues_


def test_clues_are_rescued_from_a_damaged_model(file, tmp_path):
    with open_stream(file) as stream:
        stream.append(LINES[:6])
        list(stream.apply())
        stream.append(LINES[6:8])
        count = len(stream.model.clues_.must) + len(stream.model.clues_.cannot)
    beside = file.with_name("model.cw.journal")
    assert rescue(file, tmp_path / "all.csv") == (count + 2, 0)
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    with pytest.raises(FileError, match=r"is damaged: .*'cluewise rescue' saves the clues in '.*model.cw.journal'"):
        StreamingClues(file)
    assert rescue(beside, tmp_path / "saved.csv") == (8, 0)  # the clues of the fit were in the model only


def test_a_journal_is_of_one_model(file, fitted):
    with open_stream(file) as stream:
        stream.append(LINES[:2])
    cw.save(fitted, file)
    with pytest.raises(FileError, match=r"was saved anew, but '.*model.cw.journal' holds clues for an earlier model"):
        StreamingClues(file)


def test_only_a_cluewise_is_taken_and_nothing_is_left_behind(tmp_path):
    cw.save(cw.PCKMeans(2, random_state=0).fit(X), tmp_path / "model.cw")
    with pytest.raises(FileError, match="holds a PCKMeans, which takes no further clues"):
        StreamingClues(tmp_path / "model.cw")
    assert [path.name for path in tmp_path.iterdir()] == ["model.cw"]


def test_a_folder_begins_with_names_and_clusters_are_named_by_labels(tmp_path, fitted):
    names = [f"row{i}" for i in range(60)]
    StreamingClues.begin(tmp_path / "state", fitted, names, {"clusters": {}})
    with pytest.raises(ValueError, match="holds a model already"):
        StreamingClues.begin(tmp_path / "state", fitted)
    with open_stream(tmp_path / "state") as stream:
        stream.append(["row0,rose,label", "row1,rose,label"])
        list(stream.apply())
        home = int(stream.model.cluster_ids_[stream.model.labels_[0]])
    assert models.read(tmp_path / "state" / "model.cw").sections["clusters"] == {home: "rose"}
