"""Messages, numbers, ports and files that make no sense: one sentence, never a traceback."""

from __future__ import annotations

import json
import logging
import sqlite3
import warnings
from collections import Counter
from contextlib import closing, suppress

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect

from cluewise.active import Answer, Question
from cluewise.store import Store, rescue
from cluewise.store._json import checksum
from cluewise.tables import FileError
from cluewise.web import _serve
from web_room import LIVE, open_room

BIG = int("9" * 400)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


FIRST = {
    "brackets": {"text": "[" * 60_000}, "braces": {"text": '{"token":' * 10_000}, "binary": {"bytes": b"\x00\xff"},
    "nothing": {"text": ""}, "a list": {"text": "[[[]]]"}, "a number": {"text": "9" * 400},
    "digits": {"text": "9" * 6000}, "half": {"text": '{"token": "\\ud800"}'}, "deep": {"text": '{"token": [[[{}]]]}'},
    "nan": {"text": '{"token": NaN}'}, "zero": {"text": "\0"},
}  # fmt: skip


@pytest.mark.parametrize("first", FIRST)
def test_first_messages_that_are_no_token(room, first):
    with room.client(None).websocket_connect(LIVE) as socket:
        socket.send({"type": "websocket.receive", **FIRST[first]})
        with pytest.raises(WebSocketDisconnect) as end:
            socket.receive_text()
    assert end.value.code in (4400, 4401)


def test_later_messages_have_no_effect(room):
    with room.client(None).websocket_connect(LIVE) as socket:
        socket.send_text(json.dumps({"token": room.gate.token("ann")}))
        assert socket.receive_json()["type"] == "state"
        for message in FIRST.values():
            socket.send({"type": "websocket.receive", **message})
        room.session.hub.push({"type": "still here"})
        while (heard := socket.receive()).get("text") != '{"type": "still here"}':
            assert heard["type"] == "websocket.send"


def test_numbers_of_400_digits(room, sweep, record_property, caplog):
    owner, sent = room.owner, 0
    good = {"kind": "label", "rows": [0], "why": "", "value": "a", "seconds": 1.5, "nonce": ""}
    odd = [BIG, -BIG, 10**30, 1e308, -0.0, 2**63, -(2**63)]
    texts = ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"]
    paths = [("POST", "answers", {**good, key: "?"}) for key in good if key not in ("value", "rows")]
    paths += [("POST", "answers", {**good, "rows": ["?"]}), ("POST", "answers", {**good, "rows": "?"})]
    paths += [("POST", "answers", {"kind": kind, "rows": [0, 1], "value": "?"}) for kind in ("pair", "which", "group")]
    paths += [("POST", "answers", {"kind": "group", "rows": [0, 1], "value": [["?"]]})]
    paths += [("POST", "acts", {"act": act, "cluster": "?", "clusters": ["?", 0], "rows": ["?"], "piles": [["?"], [0]]})
              for act in ("name", "lock", "unlock", "merge", "split", "belongs", "never", "together")]  # fmt: skip
    paths += [("POST", "settings", {"overlap": "?"}), ("POST", "people", {"name": "?", "role": "?"})]
    for method, path, body in paths:
        for text in [*map(repr, odd), *texts][:: sweep(3, 1)]:
            said = owner.request(method, f"/api/{path}", content=json.dumps(body).replace('"?"', text))
            assert said.status_code in (200, 409, 422), (path, body, text[:20], said.text[:300])
            sent += 1
    for number in (BIG, -BIG, "9" * 6000, "٣", "1_0", "1e5"):
        for path in (
            "rows?ids=", "neighbors/", "neighbors/0?count=", "images/", "answers?last=", "links?limit=",
            "search?limit=", "questions?count=", "links?broken=",
        ):  # fmt: skip
            said = owner.get(f"/api/{path}{number}{'/picture' if path == 'images/' else ''}")
            assert said.status_code in (200, 404, 422), (path, said.text[:300])
            sent += 1
        assert owner.delete(f"/api/answers/{number}").status_code in (404, 422)
    record_property("odd numbers", sent)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_label_with_400_digits_is_a_class(room):
    assert Answer(Question("label", (3,)), BIG).value == BIG
    said = {"kind": "label", "rows": [3], "why": "", "value": BIG, "seconds": 1, "nonce": ""}
    assert room.owner.post("/api/answers", json=said).status_code == 200
    room.session.wait()
    for path in ("state", "clusters", "doubts", "answers", "rows?ids=3", "export/answers.csv", "export/report.html"):
        assert room.owner.get(f"/api/{path}").status_code == 200, path


@pytest.mark.parametrize("port", [99_999, 65_536, -1, 10**20])
def test_ports_that_are_none(room, port):
    with pytest.raises(ValueError, match=rf"port {port} is not one from 0 to 65535\."):
        _serve._listen("127.0.0.1", port, 0)
    with _serve._listen("127.0.0.1", 0, 0) as found:
        assert found.getsockname()[1] > 0


# Damaged projects


@pytest.fixture
def whole(tmp_path):
    """The bytes of a project with five answers."""
    path = tmp_path / "whole.cluewise"
    with Store.open(path, create=True) as store:
        store.settings["budget"] = 50
        for row in range(5):
            store.append({"pair": [row, 7]}, "yes", who="ann")
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def use(path):
    with Store.open(path) as store:
        dict(store.settings), store.standing(), store.answers(), store.last_snapshot(), store.calls.totals()


@pytest.mark.filterwarnings("ignore")
def test_broken_bytes_in_the_schema(whole, tmp_path, sweep, record_property):
    """Every byte of the first page, each with several values."""
    path, out = tmp_path / "p.cluewise", tmp_path / "out.cluewise"
    counts, wrong = Counter(), []
    first = next(i for i in range(108, 4096) if whole[i])
    places = [*range(108), *range(first, 4096)][:: sweep(97, 4)]
    for place in places:
        for value in {0, 0x80, 0xFF, whole[place] ^ 1, whole[place] ^ 0x20} - {whole[place]}:
            path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            for work in (lambda: use(path), lambda: rescue(path, out)):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        work()
                    counts["read"] += 1
                except FileError as error:
                    counts["refused"] += 1
                    if "\n" in str(error) or "p.cluewise" not in str(error):
                        wrong.append((place, value, str(error)))
                except Exception as error:
                    wrong.append((place, value, f"{type(error).__name__}: {str(error)[:200]}"))
                for left in tmp_path.glob("*.cluewise-*"):
                    left.unlink()
                out.unlink(missing_ok=True)
    record_property("broken bytes", dict(counts))
    assert not wrong, "\n".join(map(str, wrong[:30])) + f"\n{len(wrong)}"
    assert counts["read"] > 10


@pytest.mark.parametrize("last", [10**6, 10**12, 2**63 - 1, -5, 0])
@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("names", ["answers", "calls"])
def test_a_rescue_ends_whatever_the_last_number_is(whole, tmp_path, last, moved, names, monkeypatch):
    from cluewise.store import _rescue

    path = tmp_path / "p.cluewise"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as base:
        if moved:  # the row is there, with its checksum
            row = base.execute("SELECT who, at, question, answer, takes_back FROM answers WHERE id = 5").fetchone()
            base.execute("UPDATE answers SET id = ?, crc32 = ? WHERE id = 5", (last, checksum(last, *row)))
        base.execute("DELETE FROM sqlite_sequence WHERE name = ?", (names,))
        base.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (names, last))
        base.commit()
    asked = []
    fetch = _rescue._fetch
    monkeypatch.setattr(_rescue, "_fetch", lambda *given: (asked.append(1), fetch(*given))[1])
    saved, lost = rescue(path, tmp_path / "new.cluewise")
    assert saved >= 4
    assert lost >= 0
    assert len(asked) < 10 * len(whole) // _rescue.LEAST
    with Store.open(tmp_path / "new.cluewise") as store:
        assert len(store.standing()) == saved
    with suppress(FileError):  # and whoever opens it hears so, or gets what is there
        use(path)


def test_damaged_archives_are_refused_in_one_sentence(tmp_path, sweep):
    """Also those whose damage is in what bzip2 and LZMA unpack."""
    import zipfile

    from cluewise import tables

    rng = np.random.default_rng(0)
    for method in (0, 8, 12, 14):
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w", method) as made:
            made.writestr("a.csv", "x\n" + "1\n" * 500)
        good = path.read_bytes()
        for _ in range(sweep(20, 400)):
            bad = bytearray(good)
            bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
            path.write_bytes(bad)
            try:
                tables.read(path)
            except tables.TableError as error:
                assert "\n" not in str(error)  # noqa: PT017
