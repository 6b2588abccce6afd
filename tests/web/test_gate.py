"""The gate in front of a small app: tokens, names, origins, sizes, headers."""

from __future__ import annotations

import json
import stat

import pytest
from fastapi import FastAPI, HTTPException, Request, WebSocket
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from cluewise.store import Store
from cluewise.web._gate import LARGEST, Gate, Person

HOME = "http://127.0.0.1:8000"
LIVE = "ws://127.0.0.1:8000/api/live"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "wine.cluewise", create=True) as made:
        yield made


def gate_of(store, owner="ann"):
    return Gate(store, hosts=["127.0.0.1", "localhost", "::1"], port=8000, owner=owner)


@pytest.fixture
def client(store):
    app = FastAPI()

    @app.post("/api/echo")
    async def echo(request: Request):
        return {"bytes": len(await request.body())}

    @app.get("/api/state")
    def state():
        return {}

    @app.get("/")
    def page():
        return {}

    @app.websocket("/api/live")
    async def live(socket: WebSocket):
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    gate = gate_of(store)
    gate.install(app, remote_images=True)
    made = TestClient(app, base_url=HOME)
    made.headers["authorization"] = f"Bearer {gate.token('ann')}"
    return made


def test_a_link_says_who_comes_in_until_it_is_ended(store):
    gate = gate_of(store)
    token = gate.add("bob", "answers")
    assert gate.who(token) == Person("bob", "answers")
    assert gate.people() == [Person("ann", "owner"), Person("bob", "answers")]
    assert gate.link(token) == f"http://127.0.0.1:8000/?token={token}"
    gate.end("bob")
    for wrong in (token, "", "ünicode", "\ud800", token[:-1]):
        with pytest.raises(HTTPException) as refused:
            gate.who(wrong)
        assert refused.value.status_code == 401


def test_links_survive_a_restart_and_another_process_ends_them(store, monkeypatch):
    first = gate_of(store)
    owner, bob = first.token("ann"), first.add("bob", "reads")
    second = gate_of(store)
    assert (second.token("ann"), second.token("bob")) == (owner, bob)
    first.end("bob")
    monkeypatch.setattr("cluewise.web._gate._FRESH", 0.0)
    with pytest.raises(HTTPException):
        second.who(bob)


def test_the_project_holds_no_token_and_the_file_beside_it_is_private(store, tmp_path):
    gate = gate_of(store)
    tokens = [gate.token("ann"), gate.add("bob", "answers")]
    beside = tmp_path / "wine.cluewise-links"
    assert stat.S_IMODE(beside.stat().st_mode) == 0o600
    assert set(tokens) < set(json.loads(beside.read_text()).values())
    store.close()
    others = [path for path in tmp_path.iterdir() if path != beside]
    assert not any(token.encode() in path.read_bytes() for token in tokens for path in others)


def test_without_the_file_beside_it_links_work_if_the_owner_says_so_and_she_gets_a_new_one(store, tmp_path):
    gate = gate_of(store)
    owner, bob = gate.token("ann"), gate.add("bob", "answers")
    (tmp_path / "wine.cluewise-links").write_text("[broken")
    again = Gate(store, hosts=["localhost"], port=8000, owner="ann", keep_links=True)
    assert again.who(bob).name == "bob"
    assert again.token("bob") is None
    assert again.token("ann") not in (None, owner)


@pytest.mark.parametrize(
    ("name", "role", "status"),
    [("", "answers", 422), ("x" * 61, "answers", 422), ("a\nb", "reads", 422), ("inferred", "answers", 422),
     ("bob", "owner", 422), ("bob", "king", 422), ("ann", "answers", 409)],
)  # fmt: skip
def test_names_and_roles_that_are_none(store, name, role, status):
    with pytest.raises(HTTPException) as refused:
        gate_of(store).add(name, role)
    assert refused.value.status_code == status


def test_the_link_of_the_owner_stays_and_nobody_else_becomes_owner_by_an_old_link(store):
    gate = gate_of(store)
    bob = gate.add("bob", "answers")
    with pytest.raises(HTTPException, match=r"409.*stays"):
        gate.end("ann")
    with pytest.raises(HTTPException, match=r"404.*has no link"):
        gate.end("eve")
    later = gate_of(store, owner="bob")  # bob starts the server himself: his old link must not become the owner's
    assert later.token("bob") != bob
    with pytest.raises(HTTPException):
        later.who(bob)


def test_the_overlap_is_kept_with_the_project(store):
    gate_of(store).overlap = 0.25
    assert gate_of(store).overlap == 0.25
    for wrong in (1.5, -0.1, "many", True, float("nan")):
        with pytest.raises(HTTPException, match="422"):
            gate_of(store).overlap = wrong


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "evil.example:8000", "[::2]", "a, b"])
def test_another_name_of_the_server_is_refused(client, host):
    for path in ("/", "/api/state"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 421
        assert answer.json() == {"error": "This server does not go by the name that it was called."}
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(LIVE, headers={"host": host}):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "LOCALHOST:9000", "localhost", "[::1]:8000"])
def test_its_own_names_are_answered_at_any_port(client, host):
    assert client.get("/api/state", headers={"host": host}).status_code == 200
    assert client.post("/api/echo", headers={"host": host, "origin": f"http://{host}"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:3000", "null", "http://localhost:8000"])
def test_another_page_can_neither_write_nor_listen(client, origin):
    answer = client.post("/api/echo", headers={"origin": origin})
    assert (answer.status_code, answer.json()) == (403, {"error": "This request comes from another page."})
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(LIVE, headers={"origin": origin}):
        pass
    with client.websocket_connect(LIVE, headers={"origin": HOME}) as socket:
        assert socket.receive_text() == "hello"


def test_no_route_can_forget_the_token(client):
    del client.headers["authorization"]
    assert client.get("/").status_code == 200
    for path in ("/api/state", "/api/nothing", "/api"):
        assert client.get(path).status_code == 401


def test_a_request_is_bounded_whether_it_tells_its_length_or_not(client):
    def chunks(size):
        yield from (b"x" * 2**16 for _ in range(size // 2**16))

    assert client.post("/api/echo", content=chunks(LARGEST)).json() == {"bytes": LARGEST}
    for content in (b"x" * (LARGEST + 1), chunks(LARGEST + 2**16)):
        answer = client.post("/api/echo", content=content)
        assert (answer.status_code, answer.json()) == (413, {"error": "A request is at most 1 MiB."})
    assert client.post("/api/echo", headers={"content-length": "-5"}).status_code == 413


def test_nothing_may_be_loaded_from_elsewhere_and_nothing_is_kept(client):
    page, api = client.get("/").headers, client.get("/api/state").headers
    policy = dict(part.strip().split(" ", 1) for part in page["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' blob: data: https:",
        "connect-src": "'self' ws://127.0.0.1:8000 wss://127.0.0.1:8000",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "form-action": "'none'",
    }
    assert (page["x-content-type-options"], page["referrer-policy"]) == ("nosniff", "no-referrer")
    assert (page["cache-control"], api["cache-control"]) == ("no-cache", "no-store")
