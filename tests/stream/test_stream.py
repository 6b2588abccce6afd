"""StreamingClues: batches, growing files, names, bad lines; what one process begins another goes on with."""

import errno
import json
import os
import signal
from contextlib import nullcontext
from io import FileIO
from pathlib import Path

import numpy as np
import pytest

from cluewise import Clues
from cluewise.ensemble._scsc import SCSC
from cluewise.exceptions import ClueWarning
from cluewise.stream import Aside, StreamingClues, rescue
from cluewise.stream._journal import Journal, Line
from cluewise.tables import FileError, TableError, folders
from cluewise.tables.folders import StateError

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
        assert stream.model._log.clues() == expected._log.clues()
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
        assert stream.model._log.clues().must_source.tolist() == ["stdin:1", "stdin:3"]


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
        told = stream.model._log.clues()
    assert told.must.tolist() == [[0, 1], [4, 5]]
    assert told.must_source.tolist() == ["clues.csv:2", "clues.csv:4"]
    assert told.cannot_source.tolist() == ["zoe"]
    file.write_text("b,a,kind\n")
    with StreamingClues(folder) as stream, pytest.raises(FileError, match="shorter than it was"):
        stream.read(file)
    with StreamingClues(folder) as stream, pytest.raises(FileError, match="there is no file"):
        stream.read(tmp_path / "nowhere.csv")


def test_only_ordinary_files_that_are_not_too_large(folder, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    file = tmp_path / "clues.csv"
    with StreamingClues(folder) as stream:
        for path in ("/dev/null", tmp_path / "pipe"):
            with pytest.raises(FileError, match="is a pipe, a socket or a device"):
                stream.read(path)
        with pytest.raises(FileError, match="is a folder"):
            stream.read(tmp_path)
        monkeypatch.setenv("CLUEWISE_FILE_LIMIT", "15")
        for _ in range(2):  # what was read before does not count
            with file.open("a") as more:
                more.write("ann,bob,must\n")
            stream.read(file)
        with file.open("a") as more:
            more.write("ann,bob,must\n" * 2)
        with pytest.raises(TableError, match="CLUEWISE_FILE_LIMIT"):
            stream.read(file)
        assert stream.n_pending == 2


def test_a_row_that_is_linked_to_itself_says_nothing(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,ann,must", "ann,bob,must"], source="me")
        list(stream.apply())
        expected = updated(Clues(6, must=[(0, 0), (0, 1)], must_source=["me:1", "me:2"]))
        assert stream.model._state.seen == expected._state.seen == 1.0
        np.testing.assert_array_equal(stream.model.gamma_, expected.gamma_)
        assert stream.model._log.clues() == expected._log.clues()


def test_ctrl_c_after_the_journal_was_written(folder, monkeypatch):
    """The lines wait, as they will in the next process."""
    real = Journal.append

    def append(journal, lines):
        taken = real(journal, lines)
        signal.raise_signal(signal.SIGINT)
        return taken

    with StreamingClues(folder) as stream:
        monkeypatch.setattr(Journal, "append", append)
        with pytest.raises(KeyboardInterrupt):
            stream.append(["ann,bob,must", "cat,dan,must"])
        assert stream.n_pending == 2
        monkeypatch.undo()
        stream.append(["eve,fay,must"])
        assert [line.number for line, _ in stream._pending] == [1, 2, 3]


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
            "not a kind of clue",
            "no row is called 'zed'",
            "linked to itself",
            "2 cells instead of a,b,kind (up to 5)",
            "quotes do not match",
            "kind size cannot be used",
            "negative",
            "infinite weight",
            "row 'ann' is labeled 'blue', but labeled 'red'",
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
        assert "labeled 'red' in one set of clues" in batches[1].aside[0].why
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
            patch.setattr(folders, "sync", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                list(stream.apply())
        assert SCSC.load(folder).n_iter_ == stream.model.n_iter_ == 0
        assert len(list(folder.glob("weights-*"))) == 1
        (batch,) = stream.apply()
        assert batch.number == stream.model.n_iter_ == 1
        np.testing.assert_array_equal(stream.model.gamma_, updated(Clues(6, must=[(0, 1)])).gamma_)


# --- the journal -------------------------------------------------------------------------------------------------


def kept(path):
    return [line for line, _ in Journal(path).lines]


def test_an_append_that_was_cut_off_does_not_count(tmp_path):
    """Cut at any byte, the journal keeps the first append whole, and the second whole or not at all."""
    path = tmp_path / "journal"
    journal = Journal(path)
    lines = [Line("me", 1, "a,b,must", 9, "x/me"), Line("me", 2, "ä,b\u2028\ud800,must"), Line("me", 3, "")]
    journal.append(lines[:1])
    first = journal.size
    journal.append(lines[1:])
    whole = path.read_bytes()
    assert journal.size == len(whole)
    torn = tmp_path / "journal.torn"
    for cut in range(first, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with nullcontext() if cut == first else pytest.warns(ClueWarning, match=f"journal' .* its {cut - first} bytes"):
            assert kept(path) == lines[:1]
        assert path.read_bytes() == whole[:first]
        if cut > first:
            assert torn.read_bytes() == whole[first:cut]
            torn.unlink()
    path.write_bytes(whole)
    assert kept(path) == lines
    assert [line for line, _ in Journal(path, first).lines] == lines[1:]


def test_a_long_half_line_is_cut_off(tmp_path):
    path = tmp_path / "journal"
    for _ in range(2):
        path.write_bytes(json.dumps(Line("me", 1, "x")).encode() + b"\n" + b"y" * 200_000)
        with pytest.warns(ClueWarning, match=r"200000 bytes were moved to '.*journal\.torn'; if no append was interr"):
            assert [line.text for line in kept(path)] == ["x"]
    assert (tmp_path / "journal.torn").read_bytes() == b"y" * 400_000  # nothing is overwritten


@pytest.mark.parametrize("end", [b"", b"\0", b"\r", b"x"])
def test_a_line_break_is_mended(tmp_path, end):
    """The line before it is whole, and it may have been acknowledged."""
    path = tmp_path / "journal"
    lines = [Line("me", i, f"{i},0,must") for i in range(1, 4)]
    Journal(path).append(lines)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + end)
    with pytest.warns(ClueWarning, match="its line break, which was added; if no append was interrupted, the file was"):
        assert kept(path) == lines
    assert path.read_bytes() == whole
    assert kept(path) == lines
    assert not (tmp_path / "journal.torn").exists()


def test_a_line_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "journal"
    Journal(path).append([Line("me", i, f"{i},0,must") for i in range(1, 4)])
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if at == len(whole) - 1:  # the line break, behind which nothing was lost
            with pytest.warns(ClueWarning):
                assert len(kept(path)) == 3
        else:
            with pytest.raises(FileError, match=r"journal' is damaged.*'cluewise rescue'"):
                Journal(path)


def test_a_journal_without_checksums_is_still_read(folder):
    lines = [Line("me", 1, "ann,bob,must"), Line("me", 2, "cat,dän,must")]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "journal.jsonl").write_text(text, "utf-8")
    with StreamingClues(folder) as stream:
        stream.append(["eve,fay,must"], source="me")
    with StreamingClues(folder) as stream:
        assert [line.number for line, _ in stream._pending] == [1, 2, 3]
        (batch,) = stream.apply()
    assert batch.counts == {"must": 2}


class Short(FileIO):
    """A file that takes 40 bytes at a time, and fails when ``room`` is used up."""

    room = 100

    def write(self, data):
        if not Short.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = super().write(data[: min(40, Short.room)])
        Short.room -= count
        return count


@pytest.mark.parametrize("again", ["same process", "next process"])
@pytest.mark.parametrize("stuck", [False, True])
def test_a_failed_append_keeps_nothing_and_a_retry_doubles_nothing(folder, monkeypatch, again, stuck):
    """Also when not even the half line could be removed."""
    stream = StreamingClues(folder)
    stream.append(["ann,bob,must"])
    size = (folder / "journal.jsonl").stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode, **_: Short(path, mode))
        patch.setattr(Short, "room", 100)
        if stuck:
            patch.setattr(Short, "truncate", lambda self, size: size)
        with pytest.raises(FileError, match=r"journal\.jsonl' cannot be written: no space left on device; no line"):
            stream.append(["cat,dan,must", "eve,fay,must", "ann,fay,cannot"])
    assert (folder / "journal.jsonl").stat().st_size == size + (100 if stuck else 0)
    if again == "next process":
        stream.close()
        with pytest.warns(ClueWarning, match="its 100 bytes") if stuck else nullcontext():
            stream = StreamingClues(folder)
    assert stream.n_pending == 1
    stream.append(["cat,dan,must", "eve,fay,must", "ann,fay,cannot"])
    stream.close()
    with StreamingClues(folder) as stream:
        assert [line.number for line, _ in stream._pending] == [1, 2, 3, 4]
        assert [batch.counts for batch in stream.apply()] == [{"must": 3, "cannot": 1}]


# --- damaged folders ---------------------------------------------------------------------------------------------


def test_damaged_weights_are_rebuilt_from_the_journal(folder):
    lines = ["b,a,kind", "bob,ann,must", "dan,cat,cannot", "red,ann,label", "red,bob,label", "eve,fay,must", "?"]
    with StreamingClues(folder, batch_size=2) as stream:
        stream.append(lines)
        list(stream.apply())
        stream.append(["ann,fay,cannot"])
        gamma, labels, aside = stream.model.gamma_, stream.model.labels_, stream.aside
    for kind in ("weights", "groups"):
        next(folder.glob(f"{kind}-*")).write_bytes(b"damaged")
        with pytest.raises(StateError, match=f"{kind}-.* is damaged .*'cluewise rescue'"):
            SCSC.load(folder)
        with pytest.warns(ClueWarning, match=f"{kind}-.* is damaged .*rebuilt from the journal"):
            stream = StreamingClues(folder, batch_size=2)
        np.testing.assert_array_equal(stream.model.gamma_, gamma)
        np.testing.assert_array_equal(stream.model.labels_, labels)
        assert (stream.n_batches, stream.n_pending, stream.aside) == (4, 1, aside)
        if kind == "groups":
            list(stream.apply())
        else:
            stream.model.save(folder)
        stream.close()
    np.testing.assert_array_equal(SCSC.load(folder).gamma_, stream.model.gamma_)


def test_weights_with_other_clues_in_them_are_not_rebuilt(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
    SCSC.load(folder).update(Clues(6, cannot=[(2, 3)], source="me")).save(folder)
    next(folder.glob("weights-*")).unlink()
    with pytest.raises(StateError, match=r"weights-.* is missing; 'cluewise rescue' saves"):
        StreamingClues(folder)


def test_damaged_votes_are_counted_again(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
        labels = stream.model.labels_
    next(folder.glob("votes-*")).write_bytes(b"damaged")
    with StreamingClues(folder) as stream:
        np.testing.assert_array_equal(stream.model.labels_, labels)


def test_names_and_journals_are_those_that_were_saved(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
    whole = (folder / "journal.jsonl").read_bytes()
    (folder / "journal.jsonl").unlink()
    with pytest.raises(FileError, match=r"journal.jsonl' is damaged: \d+ bytes were applied, and only 0 are there"):
        StreamingClues(folder)
    (folder / "journal.jsonl").write_bytes(whole)
    (folder / "ids.json").write_text(json.dumps([*NAMES[:5], "gus"]))
    with pytest.raises(FileError, match=r"ids.json' is damaged"):
        StreamingClues(folder)
    (folder / "ids.json").unlink()
    with pytest.raises(FileError, match=r"ids.json' is damaged"):
        StreamingClues(folder)


def test_missing_lines_are_noticed(folder):
    with StreamingClues(folder) as stream:
        for text in ("ann,bob,must", "cat,dan,must", "eve,fay,must"):
            stream.append([text])
    records = (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "journal.jsonl").write_bytes(records[0] + records[2])
    with pytest.raises(FileError, match="lines 2 to 2 of 'stdin' are missing"):
        StreamingClues(folder)


def test_a_rescue_takes_no_part_of_an_append(folder, tmp_path):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must", "cat,dan,must"])
        stream.append(["eve,fay,must", "ann,fay,cannot", "bob,fay,cannot"])
    (folder / "state.json").unlink()
    journal = folder / "journal.jsonl"
    whole = journal.read_bytes()
    records = whole.splitlines(keepends=True)
    last = sum(map(len, records[:4]))
    for case, (data, found) in enumerate(
        [
            (whole[:-1], (5, 0)),  # only the line break is missing
            (whole[:-2], (2, 0)),
            (whole[:last], (2, 0)),
            (whole[: last - 1], (2, 0)),
            (whole[:-9] + b"?" + whole[-8:], (4, 1)),  # complete, so it was acknowledged
            (records[0] + b"?" + b"".join(records[1:]), (4, 1)),
        ]
    ):
        journal.write_bytes(data)
        assert rescue(folder, tmp_path / f"{case}.csv") == found


def test_a_rescue_leaves_the_folder_as_it_is(folder, tmp_path):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        with pytest.raises(ValueError, match="another process is at work"):
            rescue(folder, tmp_path / "busy.csv")
    (folder / "lock").unlink()
    before = sorted(folder.iterdir())
    assert rescue(folder, tmp_path / "one.csv") == (1, 0)
    assert sorted(folder.iterdir()) == before
    (folder / "lock").mkdir()  # it cannot be opened, as on a disk that cannot be written to
    assert rescue(folder, tmp_path / "two.csv") == (1, 0)
    with pytest.raises(ValueError, match="there is no folder"):
        rescue(folder / "nowhere", tmp_path / "three.csv")


def test_a_folder_of_version_1_is_read_and_brought_up_to_date(folder):
    with StreamingClues(folder) as stream:
        stream.append(["ann,bob,must"])
        list(stream.apply())
        gamma = stream.model.gamma_
    index = json.loads((folder / "state.json").read_text())
    for new in ("crc32", "n"):
        del index[new]
    for new in ("ends", "ids"):
        del index["extra"][new]
    (folder / "state.json").write_text(json.dumps({**index, "version": 1}))
    with StreamingClues(folder) as stream:
        np.testing.assert_array_equal(stream.model.gamma_, gamma)
        stream.append(["cat,dan,must"])
        list(stream.apply())
    index = json.loads((folder / "state.json").read_text())
    assert index["version"] == 2
    assert "ends" not in index["extra"]  # a part of the batches would not be enough
    SCSC.load(folder)
