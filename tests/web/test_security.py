"""What the server promises: nobody without a link, nothing outside of the folder, nothing that runs."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from starlette.routing import Route
from starlette.websockets import WebSocketDisconnect

import cluewise
from cluewise.web._gate import LARGEST
from cluewise.web._images import image
from web_room import HOME, LIVE, PNG, open_room

SOURCE = Path(cluewise.__file__).parent


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


def calls(app):
    """Every method of every route, with something in the place of its parameters."""
    for route in app.routes:
        if isinstance(route, Route):
            path = re.sub(
                r"\{(\w+)(:\w+)?\}", lambda found: {"what": "answers", "form": "csv"}.get(found[1], "1"), route.path
            )
            yield from ((method, path) for method in sorted(route.methods - {"HEAD"}))


def test_every_route_needs_a_token(room):
    found = list(calls(room.app))
    assert len(found) > 30
    for token in (None, "wrong", room.gate.token("ann")[:-1]):
        stranger = room.client(token)
        for method, path in found:
            answer = stranger.request(method, path, json={})
            assert answer.status_code == 401, (method, path)
            assert set(answer.json()) == {"error"}
    assert room.client(None).get("/api/state?token=" + room.gate.token("ann")).status_code == 401


@pytest.mark.parametrize("first", ['{"token": "wrong"}', "{}", "[]", "no json", '{"token": null}'])
def test_the_socket_needs_a_token(room, first):
    with room.client(None).websocket_connect(LIVE) as socket:
        socket.send_text(first)
        with pytest.raises(WebSocketDisconnect) as end:
            socket.receive_text()
    assert end.value.code in (4400, 4401)


def test_who_reads_cannot_write_and_who_answers_is_not_the_owner(room):
    reads, answers = room.person("rea", "reads"), room.person("bob", "answers")
    assert room.answer(room.owner, 0, 4, value=False).status_code == 200
    entry = room.answer(answers, 0, 1).json()["entry"]
    writes = [("POST", "answers"), ("POST", "acts"), ("POST", "undo"), ("POST", "redo"), ("GET", "questions")]
    writes += [(method, f"answers/{entry}") for method in ("PUT", "DELETE")]
    owns = [("POST", "people"), ("DELETE", "people/rea"), ("POST", "settings"), ("GET", "export/project.cluewise")]
    owns += [(method, "people/ann/answers") for method in ("GET", "DELETE")]
    for method, path in writes + owns:
        assert reads.request(method, f"/api/{path}", json={}).status_code == 403, (method, path)
    for method, path in [*owns, ("DELETE", "answers/1"), ("PUT", "answers/1")]:
        assert answers.request(method, f"/api/{path}", json={}).status_code == 403, (method, path)
    assert reads.get("/api/state").status_code == 200
    links = [person["link"] for person in reads.get("/api/people").json()["people"]]
    assert links == [None] * len(links)
    assert any(person["link"] for person in room.owner.get("/api/people").json()["people"])


def test_an_ended_link_is_closed_at_once(room):
    eve = room.person("eve", "answers")
    assert eve.get("/api/state").status_code == 200
    assert room.owner.delete("/api/people/eve").status_code == 200
    assert eve.get("/api/state").status_code == 401


def test_host_origin_size_and_headers_are_checked_for_every_route(room):
    owner = room.owner
    for method, path in calls(room.app):
        assert owner.request(method, path, headers={"host": "evil.example"}).status_code == 421
        if method != "GET":
            assert owner.request(method, path, headers={"origin": "http://evil.example"}).status_code == 403
            assert owner.request(method, path, content=b"x" * (LARGEST + 1)).status_code == 413
    for origin in ("http://evil.example", "null"):
        with pytest.raises(WebSocketDisconnect), owner.websocket_connect(LIVE, headers={"origin": origin}):
            pass
    for path in ("/api/state", "/api/nothing", "/api/rows?ids=x"):
        headers = owner.get(path, headers={"origin": HOME}).headers
        assert "script-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "https:" not in headers["content-security-policy"]  # only with --remote-images
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
        assert headers["content-type"] == "application/json"


def test_pictures_come_from_the_folder_of_the_data_and_are_pictures(room):
    status = [room.owner.get(f"/api/images/{row}/picture").status_code for row in range(12)]
    #                 good  ..   link  abs  html missing inside shelf svg good empty ..
    assert status == [200, 404, 404, 404, 415, 404, 200, 404, 415, 200, 404, 404]
    answer = room.owner.get("/api/images/0/picture")
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert room.owner.get("/api/images/3/picture").json()["error"].startswith("Row +x has no picture '/")
    for path in ("0/note", "0/nothing", "99/picture", "-1/picture", "0/picture/../../secret.png"):
        assert room.owner.get(f"/api/images/{path}").status_code in (404, 422), path


@pytest.mark.parametrize("text", ["good.png\0.png", "../data/good.png", "~/good.png", "a" * 5000 + ".png", "loop.png"])
def test_paths_that_lead_nowhere(room, monkeypatch, text):
    loop = room.folder / "data" / "loop.png"
    if not loop.is_symlink():
        loop.symlink_to(loop)
    monkeypatch.setitem(room.session.data.table.columns, "picture", [text] * 12)
    with pytest.raises(Exception, match="404: Row =1\\+1 has no picture"):
        image(room.session, 0, "picture")


def test_the_page_itself_does_not_lead_out_of_its_folder(room):
    for path in ("/../_gate.py", "/%2e%2e/_gate.py", "/..%2f_gate.py", "//etc/passwd", "/assets/../../_gate.py"):
        assert b"compare_digest" not in room.owner.get(path).content
        assert b"root:" not in room.owner.get(path).content


def test_text_with_scripts_is_sent_as_text(room):
    answer = room.owner.get("/api/rows?ids=7")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()[0]["name"] == "<script>"
    report = room.owner.get("/api/export/report.html")
    assert "<script" not in report.text
    assert "&lt;script&gt;" in report.text
    assert "attachment" in report.headers["content-disposition"]


def test_nothing_is_unpickled(room, monkeypatch):
    def refuse(*_):
        raise AssertionError("something was unpickled")

    bomb = pickle.dumps(Path("x"))
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    for method, path in calls(room.app):
        if method != "GET":
            answer = room.owner.request(
                method, path, content=bomb, headers={"content-type": "application/octet-stream"}
            )
            assert answer.status_code < 500, (method, path)
    places = [*SOURCE.glob("web/*.py"), *SOURCE.glob("store/*.py"), *SOURCE.glob("active/**/*.py")]
    assert not [path for path in places if re.search(r"\b(pickle|marshal|shelve|eval|exec)\b\(?", path.read_text())]


def test_what_is_exported_holds_no_token(room):
    tokens = [room.gate.token(person.name) for person in room.gate.people()]
    hashes = [entry["hash"] for entry in room.session.project.store.settings["people"].values()]
    assert None not in tokens
    names = ("project.cluewise", "report.html", "answers.json", "clusters.csv")
    for content in (room.owner.get(f"/api/export/{name}").content for name in names):
        assert content
        assert not [one for one in (*tokens, *hashes) if one.encode() in content]
