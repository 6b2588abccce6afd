"""StreamingClues: batches, growing files, names, bad lines; what one process begins another goes on with."""

import json

import numpy as np
import pytest

from cluewise import Clues
from cluewise.ensemble import _state
from cluewise.ensemble._scsc import SCSC
from cluewise.stream import Aside, StreamingClues
from cluewise.stream._journal import Journal, Line
from cluewise.tables import FileError

RAW = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]])
NAMES = ["ann", "bob", "cat", "dan", "eve", "fay"]


@pytest.fixture
def folder(tmp_path):
    StreamingClues.begin(tmp_path / "state", SCSC.from_partitions(RAW, inertia=50.0), NAMES)
    return tmp_path / "state"


def updated(*batches):
    model = SCSC.from_partitions(RAW, inertia=50.0)
    for clues in batches:
        model.update(clues)
    return model


def test_batches_are_updates(folder):
    with StreamingClues(folder, batch_size=2) as stream:
        stream.append(["ann,bob,must", "cat,dan,cannot", "eve,fay,must,2.5"], source="me")
        assert stream.n_pending == 3
        first, second = stream.apply()
        assert stream.n_pending == 0
        assert (first.number, first.counts) == (1, {"must": 1, "cannot": 1})
        assert (second.number, second.counts, second.aside) == (2, {"must": 1}, [])
        expected = updated(
            Clues(6, must=[(0, 1)], cannot=[(2, 3)], must_source=["me:1"], cannot_source=["me:2"]),
            Clues(6, must=[(4, 5)], must_weight=2.5, must_source=["me:3"]),
        )
        np.testing.assert_array_equal(stream.model.gamma_, expected.gamma_)
        assert stream.model._told.clues() == expected._told.clues()
        np.testing.assert_array_equal(stream.model.labels_, expected.labels_)
    np.testing.assert_array_equal(SCSC.load(folder).gamma_, expected.gamma_)


def test_changed_rows_are_reported(folder):
    strong = [f"{a},{b},cannot,40" for a, b in (("ann", "bob"), ("cat", "bob"), ("bob", "eve"))]
    with StreamingClues(folder) as stream:
        before = stream.model.labels_.copy()
        stream.append(strong)
        (batch,) = stream.apply()
        np.testing.assert_array_equal(batch.changed, np.flatnonzero(stream.model.labels_ != before))
        assert len(batch.changed)


def test_another_process_goes_on(folder):
    """Lines that were taken in but not applied are applied later, once."""
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
        stream.append(["cat,dan,cannot"])
    with StreamingClues(folder) as stream:
        assert (stream.n_batches, stream.n_pending) == (1, 1)
        (batch,) = stream.apply()
        assert batch.counts == {"cannot": 1}
        stream.append(["eve,fay,must"])
        list(stream.apply())
    with StreamingClues(folder) as stream:
        assert (stream.n_batches, stream.n_pending) == (3, 0)
        assert list(stream.apply()) == []
        assert stream.model.n_iter_ == 3
        assert stream.model._told.clues().must_source.tolist() == ["stdin:1", "stdin:3"]


def test_a_file_that_grows(folder, tmp_path):
    file = tmp_path / "clues.csv"
    file.write_text("b,a,kind,source\nbob,ann,must,\n")
    with StreamingClues(folder) as stream:
        assert stream.read(file) == ""
        assert [batch.counts for batch in stream.apply()] == [{"must": 1}]
        with file.open("a") as more:
            more.write("dan,cat,cannot,zoe\r\nfay,ev")
        assert stream.read(file) == "fay,ev"
        assert [batch.counts for batch in stream.apply()] == [{"cannot": 1}]
    with file.open("a") as more:
        more.write("e,must,\nfay,zed,must,\n")
    with StreamingClues(folder) as stream:  # the header is remembered too
        stream.read(file)
        (batch,) = stream.apply()
        assert batch.counts == {"must": 1}
        assert [str(bad) for bad in batch.aside] == ["clues.csv line 5: no row is called 'zed'."]
        told = stream.model._told.clues()
    assert told.must.tolist() == [[0, 1], [4, 5]]
    assert told.must_source.tolist() == ["clues.csv:2", "clues.csv:4"]
    assert told.cannot_source.tolist() == ["zoe"]
    file.write_text("b,a,kind\n")
    with StreamingClues(folder) as stream, pytest.raises(FileError, match="shorter than it was"):
        stream.read(file)
    with StreamingClues(folder) as stream, pytest.raises(FileError, match="there is no file"):
        stream.read(tmp_path / "nowhere.csv")


def test_two_files_of_one_name(folder, tmp_path):
    with StreamingClues(folder) as stream:
        for place, line in (("here", "ann,bob,must"), ("there", "cat,dan,cannot")):
            (tmp_path / place).mkdir()
            (tmp_path / place / "clues.csv").write_text(line + "\n")
            stream.read(tmp_path / place / "clues.csv")
        (batch,) = stream.apply()
        assert batch.counts == {"must": 1, "cannot": 1}


def test_bad_lines_are_set_aside_with_their_number(folder):
    lines = [
        "a,b,kind,weight,confidence",
        "ann,bob,must",
        "ann,bob,perhaps",
        "ann,zed,must",
        "ann,ann,cannot",
        "ann,bob",
        "",
        'ann,"bob,must',
        "ann,3..5,size",
        "ann,bob,must,-1",
        "ann,bob,must,inf",
        "ann,red,label",
        "ann,blue,label",
        "cat,dan,cannot",
        "bob,eve,must,,0.4",
        "*,6,rows",
    ]
    with StreamingClues(folder, batch_size=50) as stream:
        stream.append(lines)
        (batch,) = stream.apply()
        assert batch.counts == {"must": 1, "label": 1, "cannot": 1}
        assert [bad.line for bad in batch.aside] == [3, 4, 5, 6, 8, 9, 10, 11, 13, 15, 16]
        words = [bad.why for bad in batch.aside]
    for why, expected in zip(
        words,
        [
            "no kind of clue",
            "no row is called 'zed'",
            "linked to itself",
            "2 cells instead of a,b,kind (up to 5)",
            "quotes do not match",
            "kind size cannot be used",
            "negative",
            "infinite weight",
            "row 'ann' is labelled 'blue', but labelled 'red'",
            "confidence 0.4",
            "the rows have other names",
        ],
        strict=True,
    ):
        assert expected in why
    with StreamingClues(folder) as stream:
        assert [bad.line for bad in stream.aside] == [bad.line for bad in batch.aside]
        assert stream.aside[1] == Aside("stdin", 4, "ann,zed,must", words[1])


def test_a_label_against_an_earlier_batch_is_set_aside(folder):
    with StreamingClues(folder, batch_size=1) as stream:
        stream.append(["ann,red,label", "ann,blue,label", "bob,red,label", "cat,g,together", "dan,g,together"])
        batches = list(stream.apply())
        assert [len(batch.aside) for batch in batches] == [0, 1, 0, 0, 0]
        assert "labelled 'red' in one set of clues" in batches[1].aside[0].why
        assert stream.model._state.seen == 1.0  # ann and bob together; a group of one row says nothing


def test_only_bad_lines_still_count_as_applied(folder):
    with StreamingClues(folder) as stream:
        stream.append(["nonsense"])
        (batch,) = stream.apply()
        assert (batch.counts, len(batch.aside), batch.changed.tolist()) == ({}, 1, [])
        assert stream.model.n_iter_ == 0
    with StreamingClues(folder) as stream:
        assert stream.n_pending == 0


def test_rows_without_names_are_numbers(tmp_path):
    SCSC.from_partitions(RAW).save(tmp_path)
    with StreamingClues(tmp_path) as stream:
        stream.append(["*,6,rows", "0,1,must", "1,6,must", "*,7,rows"])
        (batch,) = stream.apply()
    assert batch.counts == {"must": 1}
    assert "there is no row 6" in batch.aside[0].why
    assert batch.aside[1].why == "there are 6 rows."


def test_a_model_that_was_saved_in_between_keeps_its_place(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
    SCSC.load(folder).update(Clues(6, cannot=[(2, 3)], source="me")).save(folder)
    with StreamingClues(folder) as stream:
        assert stream.n_pending == 0
        assert stream.model.n_iter_ == 2


def test_one_process_at_a_time(folder):
    with StreamingClues(folder), pytest.raises(ValueError, match="another process is at work"):
        StreamingClues(folder)
    StreamingClues(folder).close()


def test_refusals(folder, tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        StreamingClues(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no state"):
        StreamingClues(tmp_path)
    with pytest.raises(ValueError, match="at least one line"):
        StreamingClues(folder, batch_size=0)
    with pytest.raises(ValueError, match="holds a model already"):
        StreamingClues.begin(folder, SCSC.from_partitions(RAW))
    with pytest.raises(ValueError, match="ids must differ"):
        StreamingClues.begin(tmp_path / "other", SCSC.from_partitions(RAW), ["ann"] * 6)


def test_a_failed_save_applies_nothing(folder, monkeypatch):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        with monkeypatch.context() as patch:
            patch.setattr(_state.json, "dumps", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                list(stream.apply())
        assert SCSC.load(folder).n_iter_ == 0
        (batch,) = stream.apply()
        assert batch.number == 1
        np.testing.assert_array_equal(stream.model.gamma_, updated(Clues(6, must=[(0, 1)])).gamma_)


# --- the journal -------------------------------------------------------------------------------------------------


def test_half_a_line_in_the_journal_does_not_count(tmp_path):
    path = tmp_path / "journal"
    journal = Journal(path)
    lines = [Line("me", 1, "a,b,must", 9, "x/me"), Line("me", 2, "ä,b\u2028,must")]
    journal.append(lines)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        found = [line for line, _ in Journal(path).since(0)]
        assert found == lines[: whole[:cut].count(b"\n")]
    path.write_bytes(whole)
    again = Journal(path)
    assert again.size == len(whole)
    ends = [offset for _, offset in again.since(0)]
    assert ends[-1] == len(whole)
    assert [line for line, _ in again.since(ends[0])] == lines[1:]


def test_a_long_half_line_is_cut_off(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(json.dumps(Line("me", 1, "x")).encode() + b"\n" + b"y" * 200_000)
    assert [line.text for line, _ in Journal(path).since(0)] == ["x"]
    path.write_bytes(b"y" * 200_000)
    assert Journal(path).size == 0
