"""The widget: the same app by messages, without a server."""

from __future__ import annotations

import re
import sys
from queue import Queue

import anywidget
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cluewise._extras import install
from cluewise.active import Answer, Project, Question, RandomPairs
from cluewise.tables import FileError
from cluewise.web import _widget, page, widget
from web_room import PNG, open_room


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """A built page, and all that widgets send to their pages."""
    for name in ("widget.js", "widget.css"):
        (tmp_path / name).write_text("/* built */")
    monkeypatch.setattr(page, "STATIC", tmp_path)
    messages = Queue()
    monkeypatch.setattr(
        anywidget.AnyWidget, "send", lambda _, content, buffers=None: messages.put((content, buffers or []))
    )
    _widget._widget_class.cache_clear()
    yield messages
    _widget._widget_class.cache_clear()


@pytest.fixture
def shown(room, sent):
    made = widget(room.session, who="ann")
    yield made
    made.close()


def ask(shown, sent, method, path, body=None, number=7):
    """Send a request as the page does, and wait for its answer between what is pushed."""
    shown._handle_custom_msg({"id": number, "method": method, "path": path, "body": body}, [])
    while True:
        content, buffers = sent.get(timeout=30)
        if content.get("id") == number:
            return content, buffers


def test_requests_are_answered_with_json(room, shown, sent):
    content, buffers = ask(shown, sent, "GET", "/api/project")
    assert (content["status"], buffers) == (200, [])
    assert content["json"]["me"] == {"name": "ann", "role": "owner"}
    said = {"kind": "pair", "rows": [0, 1], "why": "", "value": True, "seconds": 1, "nonce": "n1"}
    entry = ask(shown, sent, "POST", "/api/answers", said)[0]["json"]["entry"]
    last = ask(shown, sent, "GET", "/api/answers?last=1")[0]["json"]
    assert [(one["id"], one["rows"], one["who"]) for one in last] == [(entry, [0, 1], "ann")]
    assert room.session.project.state.answers[-1].value is True


def test_frames_and_pictures_travel_as_bytes(room, shown, sent):
    content, (frame,) = ask(shown, sent, "GET", "/api/labels")
    assert (content["status"], content["json"], content["type"]) == (200, None, "application/octet-stream")
    assert b'"labels"' in frame
    content, (picture,) = ask(shown, sent, "GET", "/api/images/0/picture")
    assert (content["type"], picture) == ("image/png", PNG)


def test_what_happens_is_pushed(room, shown, sent):
    kinds = set()
    sent.get(timeout=30)  # the line begins with the state: from now on the widget listens
    room.answer(room.owner, 4, 5)
    while not {"state", "entry", "frame"} <= kinds:
        content, buffers = sent.get(timeout=30)
        kinds.add(content["push"]["type"] if content["push"] else "frame")
        assert bool(buffers) == (content["push"] is None)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("GET", "/index.html", 404), ("TRACE", "/api/state", 404), ("GET", None, 404),
     ("POST", "/api/answers", 422), ("GET", "/api/rows?ids=999", 404)],
)  # fmt: skip
def test_a_request_that_is_none_gets_one_sentence(shown, sent, method, path, status):
    content, _ = ask(shown, sent, method, path)
    assert content["status"] == status
    assert set(content["json"]) == {"error"}


def test_after_close_nothing_goes_on(room, sent):
    made = widget(room.session, who="ann")
    made.close()
    made.close()
    while not sent.empty():
        sent.get()
    room.session.hub.push({"type": "questions"})
    assert sent.empty()
    assert room.owner.get("/api/state").status_code == 200  # the session goes on


def test_what_is_missing_is_said(room, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "STATIC", tmp_path)
    with pytest.raises(FileError, match="the page is not built: `make page` builds it"):
        widget(room.session)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=re.escape(install("notebook"))):
        widget(room.session)


X = np.array([[0.0, 0.5], [0.2, 0.4], [0.1, 0.6], [5.0, 0.5], [5.2, 0.4], [5.1, 0.6]])


def begin(folder, rows):
    return Project.begin(folder / "rows.cluewise", RandomPairs(), rows, budget=5, random_state=0)


@pytest.mark.parametrize(
    ("rows", "data", "name", "cells"),
    [
        (X, None, "3", [("x0", "number", "5"), ("x1", "number", "0.5")]),
        (pd.DataFrame(X, columns=["a", "b"]), None, "3", [("a", "number", "5"), ("b", "number", "0.5")]),
        (
            X,
            {"id": list("pqrstu"), "color": ["red"] * 3 + ["blue"] * 3},
            "s",
            [("id", "text", "s"), ("color", "category", "blue")],
        ),
    ],
)
def test_a_project_of_python_shows_its_numbers_or_a_table(tmp_path, sent, rows, data, name, cells):
    with begin(tmp_path, rows) as project:
        shown = widget(project, data, who="ann")
        card = ask(shown, sent, "GET", "/api/rows?ids=3")[0]["json"][0]
        shown.close()
        project.tell(Answer(Question("pair", (0, 1)), True))  # it is still open
    assert card["name"] == name
    assert [tuple(cell.values()) for cell in card["cells"]] == cells


def test_what_a_widget_cannot_show_is_refused(tmp_path, room, sent):
    with pytest.raises(ValueError, match="a session has its own data; leave data out"):
        widget(room.session, {"x": range(12)})
    with pytest.raises(TypeError, match=r"'rows\.csv' is neither a Project nor a Session"):
        widget("rows.csv")
    with begin(tmp_path, X) as project, pytest.raises(ValueError, match="has 2 rows, but the project is about 6"):
        widget(project, pd.DataFrame({"a": [1, 2]}))
    (tmp_path / "rows.cluewise").unlink()
    with begin(tmp_path, sparse.csr_array(X)) as project, pytest.raises(ValueError, match="X is sparse; the page"):
        widget(project)
