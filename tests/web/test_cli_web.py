"""cluewise web: the command in a process of its own, and the mistakes that it answers with one sentence."""

from __future__ import annotations

import signal
import socket
import sys
import urllib.request
from importlib import import_module
from pathlib import Path

import pytest
from uvicorn.config import WS_PROTOCOLS

from cluewise._extras import install
from cluewise.cli import main
from cluewise.store import Store
from cluewise.web import _serve, page

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from web_kill import Server, kill_often, write_data


@pytest.fixture
def built():
    """A page to serve, where `make page` has not built one."""
    index = page.STATIC / "index.html"
    made = not index.exists()
    if made:
        page.STATIC.mkdir(exist_ok=True)
        index.write_text("<!doctype html><title>cluewise</title>")
    yield
    if made:
        index.unlink()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data(tmp_path)
    return tmp_path


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["web", "data.csv", "--no-browser", *words])
    return end.value.code, capsys.readouterr().err


def test_a_page_an_answer_and_ctrl_c(folder, built):
    server = Server(folder, "--strategy", "RandomPairs")
    assert server.address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(server.address) as response:
        assert b"<title>cluewise" in response.read()
        assert "script-src 'self'" in response.headers["content-security-policy"]
    said = {"kind": "pair", "rows": [0, 1], "why": "", "value": False, "seconds": 2, "nonce": "n"}
    entry = server.call("POST", "/api/answers", said)["entry"]
    assert server.end(signal.SIGINT) == (130, "\ncluewise: stopped; every answer is saved in data.cluewise.\n")
    with Store.open("data.cluewise") as store:
        assert [(one.id, one.who) for one in store.standing()] == [(entry, "ann")]


@pytest.mark.filterwarnings("error")
def test_the_protocol_of_the_live_connection_is_not_deprecated(monkeypatch):
    """Its module is imported as if for the first time, when it would warn."""
    for name in [
        name for name in sys.modules if name.startswith(("uvicorn.protocols.websockets.", "websockets.legacy"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    module, _ = WS_PROTOCOLS[_serve._PROTOCOL].split(":")
    import_module(module)


def test_no_acknowledged_answer_is_lost_by_kills(folder, built, sweep):
    acknowledged, lost = kill_often(folder, sweep(1, 200))
    assert acknowledged > 0
    assert lost == 0


def test_what_is_missing_is_said_before_a_project_is_begun(folder, monkeypatch, capsys):
    monkeypatch.setattr(page, "STATIC", folder)
    assert run(capsys) == (
        2, "cluewise: the page is not built: `make page` builds it in a checkout; the wheel has it.\n"
    )  # fmt: skip
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    code, said = run(capsys)
    assert (code, said.count("\n")) == (2, 1)
    assert install("web") in said
    assert not (folder / "data.cluewise").exists()


def test_a_port_that_is_taken_and_an_address_that_is_none(folder, built, capsys):
    words = ("--strategy", "RandomPairs", "--who", "ann")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said = run(capsys, *words, "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "is taken by another program; choose another, or leave --port out." in said
    code, said = run(capsys, "--host", "192.0.2.7")
    assert code == 2
    warning, error = said.splitlines()
    assert "whoever has a link can answer, and what goes over the network is not encrypted." in warning
    assert error == "cluewise: '192.0.2.7' is not an address of this machine."


def test_data_that_changed_are_told_with_what_can_still_be_used(folder, built, capsys):
    words = ("--strategy", "RandomPairs", "--layout", "x")
    code, said = run(capsys, *words)  # begins the project, then refuses the layout
    assert (code, said.count("\n")) == (2, 1)
    (folder / "data.csv").write_text((folder / "data.csv").read_text().replace("r5,", "r5,1"))
    code, said = run(capsys)
    assert code == 2
    assert "data.csv is not what it was when 'data.cluewise' was begun: its numbers differ." in said
    assert "put the old file back to go on" in said
    with (folder / "data.csv").open("a") as file:
        file.write("more,1,1\n")
    assert "'data.cluewise' is about 60 rows, but data.csv has 61." in run(capsys)[1]


def test_the_port_of_last_time_is_taken_again_if_it_is_free():
    first = _serve._listen("127.0.0.1", 0, 0)
    port = first.getsockname()[1]
    with first, _serve._listen("127.0.0.1", 0, port) as other:
        assert other.getsockname()[1] != port
    with _serve._listen("127.0.0.1", 0, port) as again:
        assert again.getsockname()[1] == port


def test_names_under_which_the_machine_may_be_called():
    assert _serve._names_of("localhost")[0] == "localhost"
    assert _serve._names_of("10.0.0.5") == ["10.0.0.5", "127.0.0.1", "localhost", "::1"]
    everywhere = _serve._names_of("0.0.0.0")
    assert socket.gethostname() in everywhere
    assert "0.0.0.0" not in everywhere
