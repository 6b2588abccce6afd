"""Links that should not open the page: ended ones, those of a copied project, and those that others could read."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import stat
import warnings
import webbrowser
from html import escape
from itertools import product
from pathlib import Path

import pytest
from fastapi import HTTPException

from cluewise.store import Store, rescue
from cluewise.web import _gate, _serve
from cluewise.web._gate import Gate, Person
from web_room import LIVE, open_room


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


def until_closed(socket):
    """The messages until a socket is closed, and the code with which it is."""
    heard = []
    while (message := socket.receive())["type"] != "websocket.close":
        heard.append(json.loads(message["text"]) if message.get("text") else message["bytes"])
        assert heard[-1] != {"type": "secret"}, "it is open still"
    return heard, message["code"]


@pytest.mark.parametrize("role", ["answers", "reads"])
def test_an_ended_link_loses_its_connection_at_once(room, role):
    token = room.gate.add("eve", role)
    with room.client(None).websocket_connect(LIVE) as socket, room.client(None).websocket_connect(LIVE) as other:
        socket.send_text(json.dumps({"token": token}))
        other.send_text(json.dumps({"token": room.gate.token("ann")}))
        assert socket.receive_json()["type"] == other.receive_json()["type"] == "state"
        assert room.owner.delete("/api/people/eve").status_code == 200
        room.session.hub.push({"type": "secret"})
        heard, code = until_closed(socket)
        assert code == 4401
        assert {"type": "ended"} not in heard
        while (message := other.receive()).get("text") != '{"type": "secret"}':  # nobody else is closed
            assert message["type"] == "websocket.send"


def test_a_link_that_another_process_ended_hears_nothing_more(room, monkeypatch):
    monkeypatch.setattr(_gate, "_FRESH", 0.0)
    token = room.gate.add("eve", "answers")
    elsewhere = Gate(room.session.project.store, hosts=["127.0.0.1"], port=8000, owner="ann")
    with room.client(None).websocket_connect(LIVE) as socket:
        socket.send_text(json.dumps({"token": token}))
        assert socket.receive_json()["type"] == "state"
        elsewhere.end("eve")
        room.session.hub.push({"type": "secret"})
        _, code = until_closed(socket)
    assert code == 4401


# Copies


def begin(folder, people):
    """A project with people, whose owner is ann: its file and the tokens of everybody."""
    folder.mkdir()
    path = folder / "wine.cluewise"
    with Store.open(path, create=True) as store:
        gate = Gate(store, hosts=["localhost"], port=8000, owner="ann")
        tokens = [gate.token("ann"), *(gate.add(name, role) for name, role in people)]
    return path, tokens


def copy_both(path, folder):
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)


def copy_project(path, folder):
    shutil.copy2(path, folder)


def copy_by_bytes(path, folder):
    for one in path.parent.iterdir():
        (folder / one.name).write_bytes(one.read_bytes())


def pack(path, folder):
    shutil.unpack_archive(shutil.make_archive(folder / "packed", "tar", path.parent), folder)


def save(path, folder):
    rescue(path, folder / path.name)
    shutil.copy2(f"{path}-links", folder)


WAYS = [copy_both, copy_project, copy_by_bytes, pack, save]
PEOPLE = [[], [("bob", "answers")], [("bob", "answers"), ("eve", "reads"), ("שלום", "answers")]]


def refused(gate, token):
    with pytest.raises(HTTPException):
        gate.who(token)
    return True


def test_a_project_that_was_copied_opens_to_nobody_who_was_in_it(tmp_path, sweep, record_property):
    tried = 0
    for number, (way, people, owner) in enumerate(product(WAYS, PEOPLE, ("ann", "zoe", "bob"))):
        if number % sweep(4, 1):
            continue
        path, tokens = begin(tmp_path / f"from{number}", people)
        there = tmp_path / f"to{number}"
        there.mkdir()
        way(path, there)
        with Store.open(there / path.name) as store:
            with pytest.warns(UserWarning, match="the links in .* are not valid here .*because it was copied"):
                gate = Gate(store, hosts=["localhost"], port=8000, owner=owner)
            tried += sum(refused(gate, token) for token in tokens)
            assert gate.people() == [Person(owner, "owner")]
            token = gate.token(owner)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                again = Gate(store, hosts=["localhost"], port=8000, owner=owner)  # now it is at home
            assert again.who(token) == Person(owner, "owner")
            tried += sum(refused(again, token) for token in tokens)
        with Store.open(path) as store:  # and where it came from nothing has changed
            home = Gate(store, hosts=["localhost"], port=8000, owner="ann")
            assert [home.who(token).name for token in tokens] == ["ann", *(name for name, _ in people)]
    record_property("tokens of copied projects", tried)


@pytest.mark.parametrize("way", WAYS)
def test_with_consent_its_people_come_in(tmp_path, way):
    path, tokens = begin(tmp_path / "from", PEOPLE[2])
    (tmp_path / "to").mkdir()
    way(path, tmp_path / "to")
    with Store.open(tmp_path / "to" / path.name) as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        for keep in (True, False):  # consent is given once
            gate = Gate(store, hosts=["localhost"], port=8000, owner="zoe", keep_links=keep)
            assert [gate.who(token).name for token in tokens] == ["ann", "bob", "eve", "שלום"]


def test_a_project_that_is_moved_stays_at_home(tmp_path):
    path, tokens = begin(tmp_path / "from", PEOPLE[1])
    (tmp_path / "from").rename(tmp_path / "to")
    with Store.open(tmp_path / "to" / path.name) as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        gate = Gate(store, hosts=["localhost"], port=8000, owner="ann")
        assert [gate.who(token).name for token in tokens] == ["ann", "bob"]


@pytest.mark.parametrize("mode", [0o644, 0o666, 0o640, 0o777])
def test_the_file_of_links_is_private_even_if_it_was_not(tmp_path, mode):
    path, _ = begin(tmp_path / "from", PEOPLE[1])
    beside = Path(f"{path}-links")
    beside.chmod(mode)
    with Store.open(path) as store:
        gate = Gate(store, hosts=["localhost"], port=8000, owner="ann")
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600
        beside.chmod(mode)
        gate.add("eve", "reads")
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600


def test_the_address_with_the_token_is_in_a_file_that_nobody_else_can_read(tmp_path):
    secret = "http://127.0.0.1:8000/?token=s3cret&x=<y>"
    for beside in (tmp_path / "wine.cluewise", tmp_path / "missing" / "wine.cluewise", None):
        file = _serve._lead_to(secret, beside)
        assert "token=s3cret&amp;x=&lt;y&gt;" in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.unlink()
    target = tmp_path / "victim"
    target.write_text("mine")
    os.symlink(target, tmp_path / "wine.cluewise-open.html")  # somebody else expects it there
    _serve._lead_to(secret, tmp_path / "wine.cluewise").unlink()
    assert target.read_text() == "mine"


def test_no_token_stands_in_a_command_line(tmp_path, monkeypatch):
    """The browser is a program that notes how it was called and what its page says, and then ends the server."""
    room = open_room(tmp_path)
    said, called = [], queue.Queue()

    def browse(address):
        called.put((address, Path(address.removeprefix("file://")).read_text()))
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(_serve, "_has_screen", lambda: True)
    monkeypatch.setattr(_serve, "check_page", lambda: None)
    project = room.session.project
    with pytest.raises(KeyboardInterrupt):
        _serve.serve(room.session, say=said.append, who="ann")
    address, text = called.get(timeout=60)
    assert escape(said[0]) in text
    assert said[0].rpartition("=")[2] not in address
    assert not Path(address.removeprefix("file://")).exists()
    project.close()
