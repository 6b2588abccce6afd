"""The routes give what `frontend/src/api.ts` says, field by field."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import event
from starlette.websockets import WebSocketDisconnect

API = (Path(__file__).parents[2] / "frontend" / "src" / "api.ts").read_text("utf-8")


def parse_types():
    """The fields of each interface, and the fields of objects inside them."""
    found = {}
    plain = re.sub(r"/\*.*?\*/", "", API, flags=re.S)
    for match in re.finditer(r"export interface (\w+)(?: extends (\w+))? \{", plain):
        body, depth, end = "", 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(plain[end], 0)
            body += plain[end]
            end += 1
        found[match[1]] = {**found.get(match[2], {}), **fields(body[:-1])}
    return found


def fields(body):
    """Name and type of each field; objects are dictionaries."""
    found, at = {}, 0
    while match := re.compile(r"\s*(\w+)\??:\s*").match(body, at):
        start, depth, end = match.end(), 0, match.end()
        while end < len(body) and (depth or body[end] not in ";\n"):
            depth += {"{": 1, "}": -1, "[": 1, "]": -1}.get(body[end], 0)
            end += 1
        kind = body[start:end].strip()
        inner = re.match(r"\{(.*?)\}(?=\s*(?:\[\]|\||$))", kind, flags=re.S)
        found[match[1]] = fields(inner[1].strip() + ";") if inner else kind
        at = end + 1
    return found


TYPES = parse_types()


def check(value, kind):
    """Compare a value with a type of api.ts, and the objects inside it."""
    shape = TYPES.get(kind.removesuffix("[]"), kind) if isinstance(kind, str) else kind
    if isinstance(value, list):
        for one in value:
            check(one, kind.removesuffix("[]") if isinstance(kind, str) else kind)
    elif isinstance(value, dict) and isinstance(shape, dict):
        assert set(value) == set(shape), kind
        for name, inside in value.items():
            check(inside, shape[name])
    elif isinstance(shape, str):
        allowed = {
            "number": (int, float), "string": str, "boolean": bool, "Row": int, "ClusterId": int, "null": type(None),
        }  # fmt: skip
        names = [one.strip() for one in shape.split("|")]
        if value is not None and all(name in allowed for name in names):
            assert isinstance(value, tuple(t for n in names for t in np.atleast_1d(allowed[n]))), (kind, value)


def frame(content):
    size = struct.unpack("<I", content[:4])[0]
    assert size % 4 == 0
    return json.loads(content[4 : 4 + size]), content[4 + size :]


def said(rows=(0, 1), value=True, **more):
    return {"kind": "pair", "rows": list(rows), "why": "", "value": value, "seconds": 1.5, "nonce": "", **more}


def get(client, path, kind=None):
    response = client.get(path)
    assert response.status_code == 200, response.text
    if kind is not None:
        check(response.json(), kind)
    return response.json()


def test_the_parser_reads_api_ts():
    assert len(TYPES) >= 14
    assert TYPES["Cluster"]["size"] == "number"
    assert set(TYPES["Doubts"]["contradictions"]) == {"words", "steps"}


def test_what_the_page_asks_for_when_it_opens(client, session):
    project = get(client, "/api/project", "Project")
    assert (project["rows"], project["me"]) == (60, {"name": "ann", "role": "owner"})
    kinds = {column["name"]: column["kind"] for column in project["columns"]}
    assert kinds == {"id": "text", "x": "number", "y": "number", "kind": "category", "note": "text"}
    state = get(client, "/api/state", "State")
    assert sum(cluster["size"] for cluster in state["clusters"]) == 60
    session._think()
    clusters = get(client, "/api/clusters", "Cluster[]")
    assert len(clusters) == 3
    assert all(cluster["typical"] and cluster["differences"] for cluster in clusters)
    get(client, "/api/doubts", "Doubts")
    (card,) = get(client, "/api/rows?ids=4", "Card[]")
    assert card["cells"][-1]["text"] == "note <b>4</b>"
    near = get(client, "/api/neighbors/0?count=4")
    assert [set(one) for one in near] == [{"row", "name", "distance"}] * 4
    assert near == sorted(near, key=lambda one: one["distance"])
    found = get(client, "/api/search?q=row1&limit=3")
    assert (found["total"], [one["name"] for one in found["rows"]]) == (10, ["row10", "row11", "row12"])
    assert get(client, "/api/search?q=%3Cb%3E7%3C")["rows"] == [{"row": 7, "name": "row07", "where": "note"}]


def test_frames(client, session):
    header, values = frame(client.get("/api/layouts/pca").content)
    assert header == {"type": "layout", "id": "pca", "rows": 60}
    assert np.frombuffer(values, "<f4").reshape(60, 2).std() > 0
    header, values = frame(client.get("/api/labels").content)
    assert header == {"type": "labels", "revision": 1, "rows": 60, "dtype": "u8"}
    assert np.frombuffer(values, "u1").tolist() == session.labels().tolist()
    client.post("/api/answers", json=said())
    client.post("/api/answers", json={**said([3]), "kind": "label", "value": "left"})
    session.wait()
    header, values = frame(client.get("/api/channels/known").content)
    assert header["legend"] == ["left"]
    assert [i for i, code in enumerate(values) if code != 255] == [3]
    header, values = frame(client.get("/api/channels/source").content)
    assert header["legend"] == ["ann"]
    assert [i for i, code in enumerate(values) if code != 255] == [0, 1, 3]
    assert frame(client.get("/api/channels/confidence").content)[0]["dtype"] == "u8"
    assert frame(client.get("/api/channels/doubt").content)[1][0] != 255


def test_an_answer_brings_the_next_questions(client, session):
    questions = get(client, "/api/questions?count=3", "Question[]")
    assert len(questions) == 3
    first = questions[0]
    assert first["words"].startswith("Do row")
    heard = client.post("/api/answers", json=said(first["rows"], False, why=first["why"], nonce="a1")).json()
    check(heard, "Heard")
    assert set(heard["guess"]) == {"value", "probability"}
    assert [q["rows"] for q in heard["questions"][:2]] == [q["rows"] for q in questions[1:]]
    assert client.post("/api/answers", json=said(first["rows"], False, nonce="a1")).json()["entry"] == heard["entry"]
    (entry,) = get(client, "/api/answers?last=5", "Entry[]")
    assert (entry["id"], entry["who"], entry["seconds"]) == (heard["entry"], "ann", 1.5)
    session.wait()
    links = get(client, "/api/links")
    assert links["total"] == 1
    check(links["links"], "Link[]")
    assert links["links"][0]["entry"] == heard["entry"]


def test_answers_can_be_changed_taken_back_and_restored(client, session):
    number = client.post("/api/answers", json=said(value=False)).json()["entry"]
    changed = client.put(f"/api/answers/{number}", json={"value": True}).json()["entry"]
    newest, older = get(client, "/api/answers?last=2", "Entry[]")
    assert (newest["id"], newest["value"], newest["stands"]) == (changed, True, True)
    assert (older["id"], older["stands"]) == (number, False)
    undone = client.post("/api/undo").json()["entry"]
    check(undone, "Entry")
    assert (undone["id"], session.project.state.asked) == (changed, 0)
    assert client.post("/api/redo").json()["entry"]["id"] == changed
    assert client.delete(f"/api/answers/{changed}").json() == {}
    assert client.post("/api/undo").json() == {"entry": None}
    assert client.delete(f"/api/answers/{changed}").status_code == 404


def test_a_changed_answer_is_one_transaction_and_can_be_sent_twice(client, session, monkeypatch):
    number = client.post("/api/answers", json=said(value=False)).json()["entry"]
    store = session.project.store
    with monkeypatch.context() as broken:
        broken.setattr(store, "undo", None)  # neither a second step may fail,
        broken.setattr(store, "extend", None)  # nor the first of two
        changed = client.put(f"/api/answers/{number}", json={"value": True, "nonce": "c1", "seconds": 2.5}).json()
        standing = [(entry.id, entry.answer) for entry in store.standing()]
        assert standing == [(changed["entry"], True)]
        again = client.put(f"/api/answers/{number}", json={"value": True, "nonce": "c1"})
    assert again.json()["entry"] == changed["entry"]
    assert len(store.entries()) == 3
    assert client.post("/api/redo").json() == {"entry": None}  # the answer before does not come back beside it
    assert client.put(f"/api/answers/{number}", json={"value": True, "nonce": "c2"}).status_code == 404


@pytest.mark.parametrize(
    ("pragma", "words"),
    [("query_only=ON", "is write-protected"), ("max_page_count=1", "the disk is full; this was")],
)
def test_a_read_only_folder_and_a_full_disk_are_one_sentence_and_the_answer_can_be_sent_again(
    client, session, pragma, words
):
    engine = session.project.store._live()
    answers = [said((0, i % 59 + 1), nonce=f"n{i}", why="w" * 900) for i in range(40)]

    def spoil(connection, record):
        connection.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", spoil)
    engine.dispose()
    kept = []
    for answer in answers:
        response = client.post("/api/answers", json=answer)
        if response.status_code != 200:
            break
        kept.append(response.json()["entry"])
    assert response.status_code == 507
    assert words in response.json()["error"]
    assert response.json()["error"].count(".") <= 2  # the sentence, and the name of a file
    assert client.get("/api/state").json()["answers"] == len(kept)
    event.remove(engine, "connect", spoil)
    engine.dispose()
    kept.append(client.post("/api/answers", json=answer).json()["entry"])
    assert [entry.id for entry in session.project.store.standing()] == kept


def test_acts(client, session):
    one = int(session.labels()[0])
    number = client.post("/api/acts", json={"act": "name", "cluster": one, "name": "Barolo"}).json()["entry"]
    assert get(client, "/api/state", "State")["clusters"][session.fit.ids.index(one)]["name"] == "Barolo"
    (entry,) = get(client, "/api/answers", "Entry[]")
    assert (entry["id"], entry["kind"], entry["words"]) == (number, "act", f"Named cluster {one} 'Barolo'")


def test_people(client, gate, session):
    made = client.post("/api/people", json={"name": "bob", "role": "answers"}).json()
    assert set(made) == {"name", "role", "link"}
    bob = {"authorization": f"Bearer {gate.token('bob')}"}
    for who in ({}, bob):
        client.post("/api/answers", json=said(), headers=who)
    people = get(client, "/api/people", "People")
    assert [(one["name"], one["answers"], bool(one["link"])) for one in people["people"]] == [
        ("ann", 1, True),
        ("bob", 1, True),
    ]
    assert people["agreement"] == [{"a": "ann", "b": "bob", "both": 1, "alike": 1}]
    seen = client.get("/api/people", headers=bob).json()
    assert all(one["link"] is None for one in seen["people"])
    assert client.post("/api/settings", json={"overlap": 0.5}).json() == {}
    assert session.questions.overlap == 0.5
    assert "bob" in client.get("/api/people/bob/answers").text
    assert client.delete("/api/people/bob/answers").status_code == 200
    assert get(client, "/api/people")["people"][1]["answers"] == 0
    assert client.delete("/api/people/bob").status_code == 200
    assert client.get("/api/state", headers=bob).status_code == 401


WRONG = [
    ("GET", "/api/nowhere", None, 404),
    ("GET", "/api/layouts/tsne", None, 404),
    ("GET", "/api/channels/taste", None, 404),
    ("GET", "/api/rows?ids=4,60", None, 404),
    ("GET", "/api/export/answers.exe", None, 404),
    ("GET", "/api/questions?count=many", None, 422),
    ("POST", "/api/answers", said([0, 60]), 422),
    ("POST", "/api/answers", said([0, 1], "maybe"), 422),
    ("POST", "/api/answers", ["no object"], 422),
    ("POST", "/api/acts", {"act": "merge", "clusters": [0, 0]}, 422),
    ("PUT", "/api/answers/77", {"value": True}, 404),
    ("POST", "/api/settings", {"overlap": 7}, 422),
]


def test_errors_are_one_sentence(client):
    for method, path, body, status in WRONG:
        response = client.request(method, path, json=body)
        assert response.status_code == status, response.text
        assert set(response.json()) == {"error"}
        assert response.json()["error"][0].isupper()


def test_roles(client, gate, session):
    gate.add("eve", "reads")
    gate.add("bob", "answers")
    eve, bob = ({"authorization": f"Bearer {gate.token(name)}"} for name in ("eve", "bob"))
    mine = client.post("/api/answers", json=said()).json()["entry"]
    assert client.get("/api/state", headers=eve).status_code == 200
    assert client.post("/api/answers", json=said(), headers=eve).status_code == 403
    assert client.get("/api/questions", headers=eve).status_code == 403
    assert client.delete(f"/api/answers/{mine}", headers=bob).status_code == 403
    assert client.post("/api/people", json={"name": "x", "role": "reads"}, headers=bob).status_code == 403
    assert client.get("/api/people/ann/answers", headers=bob).status_code == 403
    assert client.get("/api/state", headers={"authorization": ""}).status_code == 401


def test_pages_hear_each_other(client, gate, session):
    with client.websocket_connect("ws://127.0.0.1:8000/api/live") as page:
        page.send_json({"token": gate.token("ann")})
        first = json.loads(page.receive_text())
        check(first["state"], "State")
        assert first["state"]["people"][0]["online"]
        assert frame(page.receive_bytes())[0]["type"] == "labels"
        client.post("/api/acts", json={"act": "belongs", "rows": [0], "cluster": int(session.labels()[59])})
        entry, moved, state = hear(page)
        check(entry, "Entry")
        header, values = moved
        assert header == {"type": "changes", "revision": 2, "from": 1, "count": 1, "dtype": "u8"}
        assert struct.unpack("<IB", values) == (0, session.labels()[59])
        assert state["last"]["words"].startswith("moved 1 row")


def hear(page):
    """Wait for an entry, changed rows, and the state after them."""
    entry = moved = state = None
    while state is None or state["revision"] < 2 or moved is None:
        message = page.receive()
        if "bytes" in message and message["bytes"] is not None:
            moved = frame(message["bytes"])
        else:
            push = json.loads(message["text"])
            entry = push.get("entry", entry)
            state = push.get("state", state)
    return entry, moved, state


def test_a_page_without_a_token_is_turned_away(client):
    with client.websocket_connect("ws://127.0.0.1:8000/api/live") as page:
        page.send_json({"token": "guess"})
        with pytest.raises(WebSocketDisconnect) as error:
            page.receive_text()
        assert error.value.code == 4401
