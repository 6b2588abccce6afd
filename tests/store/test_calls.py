"""Calls to language models in the store: noted before they are sent, never beyond a limit, saved by a rescue."""

from __future__ import annotations

import sqlite3
import threading
import warnings
from contextlib import closing

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from cluewise.exceptions import ClueWarning
from cluewise.store import Store, Totals, rescue
from cluewise.store._calls import calls
from cluewise.tables import FileError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "p.cluewise"


def by_hand(path, *commands):
    with closing(sqlite3.connect(path)) as connection, connection:
        for command in commands:
            connection.execute(command)


def test_a_project_without_calls_has_no_table_for_them(path):
    with Store.open(path, create=True) as store:
        assert store.calls.totals() == Totals(0, 0, 0, 0.0)
        assert store.calls.every() == store.calls.exported() == []
        assert store.calls.reply("a") is None
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone() is None


def test_calls_and_replies_are_kept(path):
    with Store.open(path, create=True) as store:
        first = store.calls.begin("a", {"kind": "pair"}, 0.5)
        second = store.calls.begin("b", {"kind": "pair"}, 0.5)
        third = store.calls.begin("c", {"kind": "pair"}, 0.5)
        store.calls.end(first, {"text": "yes"}, 0.25)
        store.calls.end(second, {"fault": "down"}, 0.0, failed=True)
    with Store.open(path) as store:
        assert store.calls.reply("a") == {"text": "yes"}
        assert store.calls.reply("b") is None
        assert store.calls.reply("c") is None
        assert store.calls.totals() == Totals(3, 1, 1, 0.75)  # what is in flight may cost all that was set aside
        store.calls.end(third, {"text": "no"}, 0.1)
        assert [call.state for call in store.calls.every()] == ["replied", "failed", "replied"]
        assert store.entries() == []


def test_limits_hold_for_all_threads(path):
    with Store.open(path, create=True) as store:
        made = []
        threads = [
            threading.Thread(target=lambda: made.append(store.calls.begin("k", {}, 1.0, most=5))) for _ in range(9)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(number is None for number in made) == [False] * 5 + [True] * 4
        assert store.calls.begin("k", {}, 1.0, limit=5.5) is None
        assert store.calls.begin("k", {}, 0.5, limit=5.5) == 6


def test_exported_calls_count_when_they_come_back(path):
    with Store.open(path, create=True) as store:
        store.calls.export({"a": {"turn": 0}, "b": {"turn": 1}})
        store.calls.export({"b": {"turn": 1}, "c": {"turn": 0}})
        assert [call.key for call in store.calls.exported()] == ["a", "b", "c"]
        assert store.calls.totals().calls == 0
        store.calls.take_in({})
        store.calls.take_in({"b": ({"text": "no"}, 2.0), "z": ({"text": "no"}, 9.0)})
        assert store.calls.totals() == Totals(1, 1, 0, 2.0)
        assert [call.key for call in store.calls.exported()] == ["a", "c"]


def filled(path):
    with Store.open(path, create=True) as store:
        store.append({"kind": "pair", "rows": [0, 1]}, True)
        store.settings["budget"] = 5
        for key in "abcde":
            number = store.calls.begin(key, {"kind": "pair"})
            store.calls.end(number, {"text": key}, 0.5)


def test_a_changed_reply_is_refused(path):
    filled(path)
    by_hand(path, "UPDATE calls SET reply = '{\"text\":\"no\"}' WHERE key = 'b'")
    with Store.open(path) as store:
        assert store.calls.reply("a") == {"text": "a"}
        with pytest.raises(FileError, match="is damaged: call 2 is not what was saved"):
            store.calls.reply("b")


def test_a_rescue_saves_replies(path, tmp_path):
    filled(path)
    by_hand(path, "UPDATE calls SET reply = '{\"text\":\"no\"}' WHERE key = 'b'")
    with pytest.warns(ClueWarning, match="1 of 5 calls are lost"):
        assert rescue(path, tmp_path / "out") == (1, 0)
    with Store.open(tmp_path / "out") as store:
        assert [call.reply["text"] for call in store.calls.every()] == ["a", "c", "d", "e"]
        assert store.calls.totals().cost == 2.0
    by_hand(path, "DELETE FROM answers", "DELETE FROM settings", "DELETE FROM sqlite_sequence WHERE name = 'answers'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClueWarning)
        assert rescue(path, tmp_path / "replies only") == (0, 0)
    with Store.open(tmp_path / "replies only") as store:
        assert store.calls.totals().calls == 4


def test_forgetting_a_person_leaves_calls(path):
    filled(path)
    with Store.open(path) as store:
        store.forget("ann")
        assert store.calls.totals().replies == 5


def test_the_table_is_plain_sql_for_postgresql():
    text = str(CreateTable(calls).compile(dialect=postgresql.dialect()))
    assert "id SERIAL NOT NULL" in text
    assert "AUTOINCREMENT" not in text
