"""The project store: nothing acknowledged is lost, undo is one more entry, every refusal is one sentence."""

import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, inspect
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from cluewise._extras import install
from cluewise.exceptions import ClueWarning
from cluewise.store import Entry, Record, Snapshot, Store, _engine, _rescue, _schema, _store, rescue
from cluewise.store._ledger import Ledger
from cluewise.tables import FileError

START = multiprocessing.get_context("fork")  # at work at once, so that many moments can be tried


@pytest.fixture
def path(tmp_path):
    return tmp_path / "project.cluewise"


@pytest.fixture
def store(path):
    with Store.open(path, create=True) as store:
        yield store


def ids(entries):
    return [entry.id for entry in entries]


# Answers in, answers out


def test_answers_come_back_as_they_were_given(store, path):
    noon = datetime(2026, 3, 1, 12, 0, 0, 7, tzinfo=timezone(timedelta(hours=2)))
    question = {"pair": [0, 7], "why": 'ü "quoted" \x00', "nested": {"x": [0.1, None, True, 1e300, 2**70]}}
    before = datetime.now(UTC)
    assert store.append(question, "yes", who="Ann", when=noon) == 1
    assert store.append(None, {"label": 3}) == 2
    with Store.open(path) as other:  # another connection sees the same
        first, second = other.entries()
    assert first == Entry(1, "Ann", noon, question, "yes", None)
    assert first.when.utcoffset() == timedelta(0)
    assert second.question is None
    assert second.who == ""
    assert before <= second.when <= datetime.now(UTC)


def test_settings_are_a_mapping_that_is_saved(store, path):
    store.settings["data"] = {"file": "iris.csv", "fingerprint": "ab12"}
    store.settings["budget"] = 50
    store.settings["budget"] = 60
    store.settings["nothing"] = None
    with Store.open(path) as other:
        assert dict(other.settings) == {
            "budget": 60,
            "data": {"file": "iris.csv", "fingerprint": "ab12"},
            "nothing": None,
        }
        del other.settings["data"]
        assert "fingerprint" not in repr(other.settings)
    assert len(store.settings) == 2
    assert store.settings.get("data", "none") == "none"
    with pytest.raises(KeyError, match="strategy"):
        del store.settings["strategy"]
    with pytest.raises(ValueError, match="name of a setting is text, not 3"):
        store.settings[3] = 1


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (float("nan"), "the question cannot be written as JSON"),
        ({1, 2}, "the question cannot be written as JSON: Object of type set"),
        ([{"row": {7: "x"}}], "the question has the key 7, but keys in JSON are text"),
        ({None: 1}, "the question has the key 'None', but"),
    ],
)
def test_what_would_come_back_different_is_refused(store, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        store.append(value, "yes")
    assert store.entries() == []


def test_a_value_that_contains_itself_is_refused(store):
    ring = []
    ring.append(ring)
    with pytest.raises(ValueError, match="setting 'ring' cannot be written as JSON: Circular"):
        store.settings["ring"] = ring


def test_who_and_when_are_checked(store):
    with pytest.raises(ValueError, match="is not a datetime with a time zone"):
        store.append(1, 2, when=datetime(2026, 1, 1))
    for who in (None, "a\x00b", "\ud800"):
        with pytest.raises(ValueError, match="is not the name of a person"):
            store.append(1, 2, who=who)


def test_extend_is_all_or_nothing(store):
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert store.extend([Record(1, "yes", "Ann", noon), (2, "no")]) == [1, 2]
    with pytest.raises(ValueError, match="answer cannot be written"):
        store.extend([Record(3, "yes"), Record(4, {1, 2})])
    assert store.extend([]) == []
    assert [(e.question, e.who) for e in store.entries()] == [(1, "Ann"), (2, "")]


# Replace


def test_an_answer_takes_the_place_of_another_in_one_transaction(store, monkeypatch):
    assert store.extend([Record(i, "yes", "Ann") for i in range(3)]) == [1, 2, 3]
    assert store.replace(2, Record(1, "no", "Bob")) == 5
    assert [(e.id, e.who, e.answer) for e in store.standing()] == [
        (1, "Ann", "yes"),
        (3, "Ann", "yes"),
        (5, "Bob", "no"),
    ]
    assert [(e.who, e.takes_back) for e in store.entries(after=3)] == [("Bob", 2), ("Bob", None)]
    assert store.redo() is None
    with pytest.raises(ValueError, match=r"entry 2 of .* is not an answer that stands"):
        store.replace(2, Record(1, "no"))

    def fail(connection, name, rows):
        if rows[0]["takes_back"] is None:
            raise OSError("no space left")
        return add(connection, name, rows)

    add = _store.add
    monkeypatch.setattr(_store, "add", fail)
    with pytest.raises(OSError, match="no space"):  # after the old answer was taken back
        store.replace(3, Record(2, "no"))
    assert ids(store.standing()) == [1, 3, 5]
    assert len(store.entries()) == 5


def test_what_takes_the_place_of_an_answer_counts_once(store):
    store.append(0, "yes")
    new = Record({"pair": [0, 1], "nonce": "a"}, "no")
    assert store.replace(1, new) == store.replace(1, new) == 3
    assert ids(store.standing()) == [3]


# Undo


def test_undo_is_one_more_entry_and_works_across_restarts(path):
    with Store.open(path, create=True) as store:
        store.append("a", 1, who="Ann")
        store.append("b", 2, who="Bob")
        store.append("c", 3, who="Ann")
    with Store.open(path) as store:
        taken = store.undo(who="Bob")
        assert (taken.id, taken.question) == (3, "c")
    with Store.open(path) as store:
        assert store.undo().id == 2
        assert ids(store.standing()) == [1]
        assert [(e.id, e.who, e.takes_back) for e in store.entries(after=3)] == [(4, "Bob", 3), (5, "", 2)]
        assert store.redo().id == 2
        assert store.entries()[-1].takes_back == 5  # the undo is undone
        assert store.undo().id == 2  # and once more
        assert store.entries()[-1].takes_back == 6
        assert store.redo().id == 2
        assert store.redo().id == 3
        assert store.redo() is None
        assert ids(store.standing()) == [1, 2, 3]
        assert ids(store.standing(after=1)) == [2, 3]


def test_undo_by_id_and_by_person(store):
    for i, who in enumerate(["Ann", "Bob", "Ann", "Bob"]):
        store.append(i, "yes", who=who)
    assert store.undo(of="Ann").id == 3
    assert store.undo(2).id == 2
    assert ids(store.standing()) == [1, 4]
    for wrong in (2, 5, 99):  # taken back already; an entry that undoes; no entry
        with pytest.raises(ValueError, match=f"entry {wrong} of .* is not an answer that stands"):
            store.undo(wrong)
    assert store.undo(of="Eve") is None
    assert len(store.entries()) == 6
    store.append("new", "yes")
    assert store.redo() is None  # something new came


def test_undo_of_nothing(store):
    assert store.undo() is None
    assert store.redo() is None
    assert store.entries() == store.standing() == []


@given(st.lists(st.sampled_from(["answer", "undo", "redo"]), max_size=30))
def test_undo_and_redo_are_those_of_an_editor(moves):
    log, text, gone, number = [], [], [], 0
    for move in moves:
        ledger = Ledger.read(log)
        number = len(log) + 1
        if move == "answer":
            log.append((number, None))
            text.append(number)
            gone.clear()
        elif move == "undo" and text:
            gone.append(text.pop())
            log.append((number, ledger.tip[gone[-1]]))
        elif move == "redo" and gone:
            text.append(gone.pop())
            log.append((number, ledger.tip[text[-1]]))
    ledger = Ledger.read(log)
    assert [answer for answer in ledger.tip if answer not in ledger.void] == text
    assert ledger.undone == gone
    named = [back for _, back in log if back is not None]
    assert len(set(named)) == len(named)
    for upto in range(len(log) + 1):  # what stood then, and what stands of it now
        then = Ledger.read(log[:upto])
        stood = set(then.tip) - then.void
        stands = {answer for answer in text if answer <= upto}
        assert ledger.same_since(upto) == (stood == stands)


# Snapshots


def test_a_snapshot_counts_until_an_answer_in_it_is_taken_back(store):
    assert store.last_snapshot() is None
    store.snapshot({"heard": []}, 0)
    for i in range(1, 5):
        store.append(i, "yes")
        store.snapshot({"heard": list(range(1, i + 1))}, i)
    assert store.last_snapshot() == Snapshot({"heard": [1, 2, 3, 4]}, 4)
    store.undo(3)
    assert store.last_snapshot() == Snapshot({"heard": [1, 2]}, 2)
    assert ids(store.standing(after=2)) == [4]
    store.snapshot({"heard": [1, 2, 4]}, 5)
    assert store.last_snapshot().upto == 5
    store.redo()
    assert store.last_snapshot() == Snapshot({"heard": [1, 2, 3, 4]}, 4)  # as it was
    store.undo(1)
    assert store.last_snapshot() == Snapshot({"heard": []}, 0)


def test_old_snapshots_go_answers_stay(store):
    store.append("q", "yes")
    for i in range(5):
        store.snapshot(i, 1, keep=2)
    assert store.last_snapshot().state == 4
    with store._read() as connection:
        assert connection.exec_driver_sql("SELECT state FROM snapshots ORDER BY id").scalars().all() == ["3", "4"]
    for upto in (-1, 2):
        with pytest.raises(ValueError, match=f"upto={upto}, but the entries of .* end with 1"):
            store.snapshot(0, upto)
    with pytest.raises(ValueError, match="at least one"):
        store.snapshot(0, 1, keep=0)


# Files that cannot be used


def test_refusals_name_the_file_and_leave_it_alone(tmp_path):
    def refused(path, match, **options):
        with pytest.raises(FileError, match=match) as caught:
            Store.open(path, **options)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, OSError)
        assert "\n" not in str(caught.value)

    refused(tmp_path / "none", "there is no project '.*none'")
    refused(tmp_path, "is a folder, not a project file", create=True)
    refused(tmp_path / "no" / "p", "cannot be created: there is no folder '.*no'", create=True)
    refused("/dev/null", "is not an ordinary file")
    assert list(tmp_path.iterdir()) == []

    text = tmp_path / "notes.txt"
    text.write_text("not a database, and long enough to be looked at. " * 10)
    refused(text, "notes.txt' is not a cluewise project", create=True)
    assert text.read_text().startswith("not a database")

    empty = tmp_path / "empty"
    empty.touch()
    refused(empty, "is empty, not a cluewise project")
    assert empty.stat().st_size == 0

    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE bookmarks (x)")
    other.close()
    content = foreign.read_bytes()
    refused(foreign, "is a database of another program", create=True)
    assert foreign.read_bytes() == content  # not even its journal mode

    Store.open(empty, create=True).close()  # nothing is lost by making a project of an empty file
    with Store.open(empty) as store:
        assert store.entries() == []


def test_odd_names_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (":memory:", "file:p?mode=ro", "a b#ü%20.cluewise"):
        with Store.open(name, create=True) as store:
            store.append(name, "yes")
        assert (tmp_path / name).is_file()
        with Store.open(name) as store:
            assert store.entries()[0].question == name


def test_write_protected(path, monkeypatch):
    Store.open(path, create=True).close()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may everything
    with pytest.raises(FileError, match="write-protected"):
        Store.open(path)


def fill(store):
    for _ in range(100):
        store.append("x" * 4000, "yes")


def damage(store, pragma):
    """Let every connection of a store work under a PRAGMA."""
    store._engine.dispose()
    _engine.event.listen(store._engine, "connect", lambda connection, _: connection.execute(pragma).close())


@pytest.mark.parametrize(
    ("pragma", "sentence"),
    [
        ("PRAGMA query_only=ON", "is write-protected"),
        ("PRAGMA max_page_count=10", "the disk is full; this was not saved"),
    ],
)
def test_a_disk_that_refuses_loses_nothing(store, path, pragma, sentence):
    store.append("q", "yes")
    damage(store, pragma)
    with pytest.raises(FileError, match=sentence):
        fill(store)
    kept = store.entries()
    store.close()
    with Store.open(path) as store:
        assert store.entries() == kept
        assert kept[0].question == "q"
        assert store.append("again", "yes") == len(kept) + 1


def test_damaged_file(store, path):
    store.extend((["x" * 300, i], "yes") for i in range(200))
    store.close()
    content = bytearray(path.read_bytes())
    content[8192:40960] = b"\xff" * (40960 - 8192)
    path.write_bytes(content)
    with pytest.raises(FileError, match="is damaged"), Store.open(path) as store:
        store.entries()


def test_waiting_has_an_end(store, path):
    with sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with Store.open(path, timeout=0.05) as impatient:
            assert impatient.entries() == []  # reading waits for nobody
            with pytest.raises(FileError, match="is busy: another process"):
                impatient.append("q", "yes")
    other.close()


def test_closed_is_closed(store):
    store.close()
    store.close()
    assert "closed" in repr(store)
    with pytest.raises(ValueError, match=r"project.cluewise' is closed"):
        store.append("q", "yes")


def test_other_errors_are_one_sentence_too(store):
    with (
        pytest.raises(FileError, match=r"project\.cluewise' cannot be used, the database says: no such table: x"),
        store._read() as connection,
    ):
        connection.exec_driver_sql("SELECT * FROM x")


# Versions

VERSION_1 = """
CREATE TABLE cluewise (version INTEGER NOT NULL);
CREATE TABLE answers (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, who TEXT NOT NULL, at TEXT NOT NULL,
                      question TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE snapshots (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, upto INTEGER NOT NULL,
                        state TEXT NOT NULL);
INSERT INTO cluewise VALUES (1);
INSERT INTO answers VALUES (1, 'Ann', '2026-01-02T03:04:05.000000+00:00', '{"pair":[0,7]}', '"yes"');
INSERT INTO answers VALUES (2, 'Bob', '2026-01-02T03:04:06.000000+00:00', '{"pair":[0,8]}', '"no"');
INSERT INTO settings VALUES ('budget', '50');
INSERT INTO snapshots VALUES (1, '2026-01-02T03:04:07.000000+00:00', 2, '{"asked":2}');
"""


def by_hand(path, script):
    other = sqlite3.connect(path)
    other.executescript(script)
    other.close()


def shape(path):
    engine = create_engine(f"sqlite:///{path}")
    found = inspect(engine)
    tables = {
        table: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(table)],
            [(index["name"], index["column_names"], index["unique"]) for index in found.get_indexes(table)],
            [key["referred_table"] for key in found.get_foreign_keys(table)],
        )
        for table in found.get_table_names()
    }
    engine.dispose()
    return tables


def test_a_file_of_version_1_is_brought_up_to_date(tmp_path, path):
    by_hand(path, VERSION_1)
    with Store.open(path) as store:
        assert [(e.id, e.who, e.question, e.answer, e.takes_back) for e in store.entries()] == [
            (1, "Ann", {"pair": [0, 7]}, "yes", None),
            (2, "Bob", {"pair": [0, 8]}, "no", None),
        ]
        assert store.entries()[0].when == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        assert dict(store.settings) == {"budget": 50}
        assert store.last_snapshot() == Snapshot({"asked": 2}, 2)
        assert store.undo().id == 2  # which version 1 could not
    Store.open(tmp_path / "new", create=True).close()
    assert shape(path) == shape(tmp_path / "new")
    with Store.open(path) as store:  # and the second time there is nothing to do
        assert ids(store.standing()) == [1]
        with store._write() as connection:  # not even if another process did it while we waited
            _schema.bring_up_to_date(connection, store.name, create=False)
        assert ids(store.standing()) == [1]


def test_a_step_that_fails_leaves_the_old_file(path, monkeypatch):
    by_hand(path, VERSION_1)

    def half(connection):
        _schema._add_undo(connection)
        raise RuntimeError("in the middle")

    before = shape(path)
    with monkeypatch.context() as patch:
        patch.setitem(_schema.STEPS, 1, half)
        with pytest.raises(RuntimeError, match="in the middle"):
            Store.open(path)
    assert shape(path) == before
    with Store.open(path) as store:
        assert ids(store.standing()) == [1, 2]


def test_there_is_a_step_from_every_version():
    assert sorted(_schema.STEPS) == list(range(1, _schema.VERSION))


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("9", r"was written by a newer cluewise \(project version 9; this one knows 3\): update cluewise"),
        ("0", "does not say which version"),
        ("'x'", "does not say which version"),
    ],
)
def test_a_file_from_the_future(path, version, sentence):
    by_hand(path, VERSION_1.replace("VALUES (1);", f"VALUES ({version});"))
    content = path.read_bytes()
    with pytest.raises(FileError, match=sentence):
        Store.open(path, create=True)
    assert path.read_bytes() == content


# Damage


def filled(path, count=6):
    with Store.open(path, create=True) as store:
        store.settings["budget"] = 50
        for i in range(count):
            store.append({"pair": [0, i]}, "yes", who="Ann")
        store.undo()
        store.snapshot({"heard": 5}, count + 1)
        return store.entries()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("UPDATE answers SET answer = '\"no\"' WHERE id = 3", "entry 3 is not what was saved"),
        ("UPDATE answers SET who = 'Bob' WHERE id = 3", "entry 3 is not what was saved"),
        ("UPDATE answers SET takes_back = 2 WHERE id = 7", "entry 7 is not what was saved"),
        ("UPDATE answers SET crc32 = NULL WHERE id = 3", "entry 3 is not what was saved"),
        ("UPDATE answers SET at = x'00' WHERE id = 3", "entry 3 is not what was saved"),
        ("DELETE FROM answers WHERE id = 4", "of the entries 1 to 7 only 6 are there"),
        ("DELETE FROM answers WHERE id = 7", "of 7 entries the last is number 6"),
    ],
)
def test_a_changed_or_lost_entry_is_noticed(path, script, sentence):
    filled(path)
    by_hand(path, script)
    with Store.open(path) as store:
        for read in (store.entries, store.standing, store.undo, store.last_snapshot):
            with pytest.raises(FileError, match=rf"project.cluewise' is damaged: {sentence}; 'cluewise rescue' saves"):
                read()


def test_entries_that_nobody_can_read_and_that_had_no_checksum(path):
    by_hand(path, VERSION_1.replace('"yes"', '"yes'))
    with Store.open(path) as store, pytest.raises(FileError, match="entry 1 is not what was saved"):
        store.entries()


def test_changed_settings_are_noticed_and_changed_snapshots_ignored(path):
    filled(path)
    by_hand(path, "UPDATE snapshots SET state = '{\"heard\":6}'")
    with Store.open(path) as store:
        assert store.last_snapshot() is None
        assert store.settings["budget"] == 50
    by_hand(path, "UPDATE settings SET value = '51'")
    with Store.open(path) as store, pytest.raises(FileError, match="a setting is not what was saved"):
        store.settings.get("budget")
    by_hand(path, "UPDATE cluewise SET version = 2; ALTER TABLE settings DROP COLUMN crc32")
    by_hand(path, "ALTER TABLE answers DROP COLUMN crc32; ALTER TABLE snapshots DROP COLUMN crc32")
    by_hand(path, "UPDATE settings SET value = '5x'")
    with Store.open(path) as store, pytest.raises(FileError, match="setting 'budget' is not what was saved"):
        store.settings.get("budget")


def test_settings_are_claimed_once(store):
    assert store.settings.claim("seed", {"seed": 3, "budget": 50})
    assert not store.settings.claim("seed", {"seed": 4, "more": 1})
    assert dict(store.settings) == {"seed": 3, "budget": 50}


def test_rescue(path, tmp_path):
    entries = filled(path)
    out = tmp_path / "out"
    assert rescue(path, out) == (7, 0)
    with Store.open(out) as store:
        assert store.entries() == entries
        assert dict(store.settings) == {"budget": 50}
    with pytest.raises(FileError, match="out' is there already"):
        rescue(path, out)
    with pytest.raises(FileError, match="there is no project"):
        rescue(tmp_path / "no", tmp_path / "new")
    out.unlink()
    before = path.read_bytes()
    by_hand(path, "UPDATE answers SET answer = '\"no\"' WHERE id = 3; UPDATE settings SET value = '51'")
    damaged = path.read_bytes()
    assert before != damaged
    with pytest.warns(ClueWarning, match="1 of 1 settings are lost"):
        assert rescue(path, out) == (6, 1)
    assert path.read_bytes() == damaged
    with Store.open(out) as store:
        found = store.entries()
        assert [e.question for e in found] == [e.question for e in entries if e.id != 3]
        assert found[-1].takes_back == 5  # the answer that was number 6
        assert dict(store.settings) == {}


def test_who_took_back_a_lost_answer_is_lost_with_it(path, tmp_path):
    filled(path)
    by_hand(path, "UPDATE answers SET answer = '\"no\"' WHERE id = 6")
    assert rescue(path, tmp_path / "out") == (5, 2)


def test_rescue_of_an_older_version(path, tmp_path):
    by_hand(path, VERSION_1.replace('"no"', '"no').replace("'50'", "'x'"))
    with pytest.warns(ClueWarning, match="1 of 1 settings are lost"):
        assert rescue(path, tmp_path / "out") == (1, 1)
    with Store.open(tmp_path / "out") as store:
        assert [(e.who, e.answer) for e in store.entries()] == [("Ann", "yes")]


@pytest.mark.parametrize("size", [16, 100, 4096])
def test_rescue_of_a_file_without_its_beginning(path, tmp_path, size):
    entries = filled(path)
    path.write_bytes(bytes(size) + path.read_bytes()[size:])
    with pytest.raises(FileError, match="is not a cluewise project; if it was one, 'cluewise rescue' saves"):
        Store.open(path)
    assert rescue(path, tmp_path / "out") == (7, 0)
    with Store.open(tmp_path / "out") as store:
        assert store.entries() == entries


def test_rescue_of_nothing(path, tmp_path, monkeypatch):
    path.write_text("a,b,kind\n" * 1000)
    with pytest.raises(FileError, match=r"nothing in '.*project.cluewise' is whole enough"):
        rescue(path, tmp_path / "out")
    path.unlink()
    filled(path)
    monkeypatch.setattr(_rescue, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rescue(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_rescue_looks_no_further_than_the_last_entry(path, tmp_path, monkeypatch):
    filled(path)
    with Store.open(path) as store:
        store.settings["model"] = "PCKMeans"
        store.snapshot("x" * 100_000, 7)  # which makes the file large
    by_hand(path, "UPDATE answers SET answer = '\"no\"' WHERE id = 3")
    looks, real = [], _rescue._fetch

    def fetch(*query):
        looks.append(query)
        return real(*query)

    monkeypatch.setattr(_rescue, "_fetch", fetch)
    assert rescue(path, tmp_path / "out") == (6, 1)
    assert len(looks) == 4 + 7 + 2 + 1  # the last numbers, the entries, the settings, whether there are calls
    with Store.open(tmp_path / "out") as store:
        assert dict(store.settings) == {"budget": 50, "model": "PCKMeans"}
    by_hand(path, "DELETE FROM answers WHERE id = 7")  # the end was lost: now the last number is not certain
    looks.clear()
    assert rescue(path, tmp_path / "more") == (5, 2)
    assert len(looks) > 3000


def test_a_rescue_is_only_recommended_for_files():
    assert "cluewise rescue" in str(_engine.damaged("wine.cluewise", "entry 3 is not what was saved"))
    address = "postgresql://ann:***@here/wine"
    assert str(_engine.damaged(address, "entry 3 is missing")) == f"'{address}' is damaged: entry 3 is missing."


def test_rescue_of_what_is_still_in_the_log(path, tmp_path):
    with Store.open(path, create=True) as store:
        store.append("q", "yes")
        assert rescue(path, tmp_path / "out") == (1, 0)


# Several at once


def write_some(path, who, count):
    with Store.open(path, create=True) as store:
        for i in range(count):
            store.append([who, i], "yes", who=who)
            if i % 5 == 4:
                store.undo(of=who, who=who)


def test_several_processes_create_write_and_undo_at_once(path):
    people = ["Ann", "Bob", "Eve"]
    workers = [START.Process(target=write_some, args=(path, who, 20)) for who in people]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):  # and one reads all the while
        if path.exists() and path.stat().st_size:
            try:
                with Store.open(path) as store:
                    seen = ids(store.entries())
                    assert seen == list(range(1, len(seen) + 1))
            except FileError as error:
                assert "is empty" in str(error)  # noqa: PT017 - the others have not begun
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    with Store.open(path) as store:
        entries, standing = store.entries(), store.standing()
    assert ids(entries) == list(range(1, 3 * 24 + 1))
    for who in people:
        assert [e.question[1] for e in standing if e.who == who] == [i for i in range(20) if i % 5 != 4]


def test_threads_and_a_forked_child_share_one_store(store):
    threads = [threading.Thread(target=store.append, args=("thread", i)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child = START.Process(target=store.append, args=("child", 8))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert sorted(e.answer for e in store.entries()) == list(range(9))


def append_until_killed(path, says):
    with Store.open(path, create=True) as store:
        says.send(0)
        while True:
            says.send(store.append({"of": os.getpid()}, "yes"))
            if store.entries()[-1].id % 7 == 0:
                says.send(-store.undo().id)
                store.snapshot(list(range(500)), store.entries()[-1].id)


def test_killed_at_any_moment_nothing_acknowledged_is_lost(path, sweep):
    moments = random.Random(0)
    told, kept = [], []
    for number in range(sweep(6, 60)):
        hears, says = START.Pipe(duplex=False)
        child = START.Process(target=append_until_killed, args=(path, says))
        child.start()
        says.close()
        hears.recv()
        told += [hears.recv() for _ in range(5 * (number % 2))]  # every other time, before it may have said anything
        time.sleep(moments.uniform(0, 0.15))
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        while True:
            try:
                told.append(hears.recv())
            except EOFError:
                break
        with Store.open(path) as store:
            entries = store.entries()
            assert entries[: len(kept)] == kept  # what was there stays as it was
            kept = entries
            void = {e.id for e in entries} - set(ids(store.standing()))
            assert {-back for back in told if back < 0} <= void
            assert {new for new in told if new > 0} <= set(ids(entries))
            snapshot = store.last_snapshot()
            assert snapshot is None or snapshot.state == list(range(500))
    assert len(told) > 6


# PostgreSQL: the same tables, another address (there is no server in the tests)


def test_the_tables_are_plain_sql_for_postgresql():
    dialect = postgresql.dialect()
    made = {table.name: str(CreateTable(table).compile(dialect=dialect)) for table in _schema.metadata.sorted_tables}
    assert set(made) == {"cluewise", "answers", "settings", "snapshots"}
    assert "id SERIAL NOT NULL" in made["answers"]
    assert "FOREIGN KEY(takes_back) REFERENCES answers (id)" in made["answers"]
    assert not any("AUTOINCREMENT" in text for text in made.values())
    (index,) = _schema.answers.indexes
    assert str(CreateIndex(index).compile(dialect=dialect)).startswith("CREATE UNIQUE INDEX")


def test_addresses(monkeypatch):
    calls = []
    monkeypatch.setattr(_engine, "create_engine", lambda url, **options: calls.append((url, options)))
    for address in ("postgresql://ann:secret@host/db", "postgresql+psycopg://ann:secret@host/db"):
        _engine.connect(address, create=False, timeout=2.5)
        assert _engine.name_of(address).endswith("ann:***@host/db")
    assert {url.drivername for url, _ in calls} == {"postgresql+psycopg"}
    assert {json.dumps(options) for _, options in calls} == {'{"connect_args": {"options": "-c lock_timeout=2500"}}'}
    with pytest.raises(ValueError, match=r"a file or a postgresql:// address, not mysql"):
        Store.open("mysql://host/db")
    with pytest.raises(ValueError, match="address of the project is not one"):
        Store.open("://")


def test_postgresql_without_its_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=re.escape(install("postgres"))):
        Store.open("postgresql://host/db")


def test_postgresql_writers_wait_for_each_other_and_need_no_wal():
    said = []

    class Server:
        dialect = postgresql.dialect()
        execute = staticmethod(lambda statement, values: said.append((str(statement), values)))

    _engine.lock(Server())
    _engine.use_wal(Server())
    assert said == [("SELECT pg_advisory_xact_lock(:key)", {"key": 0x636C7565})]


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("08006", r"^'db' cannot be used, the database says: no\.$"),
        ("55P03", "'db' is busy"),
        ("53100", "disk is full"),
    ],
)
def test_errors_of_a_server_are_one_sentence(state, sentence):
    original = RuntimeError("no\nand more")
    original.sqlstate = state
    with pytest.raises(FileError, match=sentence), _engine.clearly("db"):
        raise DBAPIError("SELECT 1", None, original)


def test_wal_is_tried_again_when_two_want_it_at_once(path, monkeypatch):
    pauses = []
    monkeypatch.setattr(_engine.time, "sleep", pauses.append)
    Store.open(path, create=True).close()
    by_hand(path, "PRAGMA journal_mode=DELETE")
    engine = _engine.connect(path, create=False, timeout=0.01)
    engine.connect().close()
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(FileError, match="is busy"), _engine.clearly(str(path)):
        _engine.use_wal(engine)
    assert pauses == [0.01, 0.03, 0.1, 0.3, 1.0]
    other.rollback()
    other.close()
    _engine.use_wal(engine)
    engine.dispose()
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_answers_are_synced_and_logged_ahead(store):
    with store._read() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2}  # 2: FULL


def test_importing_cluewise_loads_no_database():
    code = "import sys, cluewise; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_redo_of_one_person(tmp_path):
    with Store.open(tmp_path / "p.cluewise", create=True) as store:
        mine, theirs = (store.append({"pair": [0, i]}, "yes", who=who) for i, who in ((1, "ann"), (2, "bob")))
        store.undo(mine)
        store.undo(theirs)
        assert store.redo(of="ann").id == mine
        assert store.redo(of="ann") is None
        assert store.redo().id == theirs
