"""Texts that cannot be written down: refused wherever they come in; a store that holds one can be read all the same.

Half of a surrogate pair is what JSON may hold and UTF-8 may not.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from contextlib import closing
from itertools import product

import numpy as np
import pytest

from cluewise import Clues, tables
from cluewise.active import Act, Answer, Project, Question, RandomPairs
from cluewise.exceptions import ClueError
from cluewise.store import Record, Store, rescue
from cluewise.store._json import checksum
from web_room import open_room

HALVES = ["\ud800", "a\udfffb", "\udc80", "\ude00\ud83d", "🙂\ud83d"]
X = np.arange(8.0).reshape(4, 2)


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    made = open_room(tmp_path_factory.mktemp("room"))
    yield made
    made.close()


def bodies(half):
    """What a page can send, with half a character in each place."""
    label = {"kind": "label", "rows": [0], "why": "", "value": "a", "seconds": 1.5, "nonce": ""}
    for key in ("kind", "why", "value", "nonce"):
        yield "POST", "/api/answers", {**label, key: half}
    yield "POST", "/api/answers", {**label, half: 1}
    yield "POST", "/api/answers", {"kind": "group", "rows": [0, 1], "value": [[half]]}
    yield "PUT", "/api/answers/1", {"value": half}
    for act in ("name", "merge", half):
        yield "POST", "/api/acts", {"act": act, "cluster": half, "clusters": [0, half], "name": half}
    yield "POST", "/api/people", {"name": half, "role": "answers"}
    yield "POST", "/api/people", {"name": "eve", "role": half}
    yield "POST", "/api/settings", {"overlap": half}


def test_the_page_sends_none(room, sweep, record_property):
    sent = 0
    for half in HALVES[: sweep(2, len(HALVES))]:
        for method, path, body in bodies(half):
            answer = room.owner.request(method, path, content=json.dumps(body))
            assert answer.status_code == 422, (path, body)
            assert answer.json()["error"] == "The request holds half a character (a lone surrogate)."
            sent += 1
    assert room.owner.get("/api/answers").json() == []
    record_property("requests with halves of characters", sent)


@pytest.mark.parametrize("half", HALVES)
def test_nothing_takes_one_in(tmp_path, half):
    with pytest.raises(ValueError, match="label of row 3 holds half a character"):
        Answer(Question("label", (3,)), half)
    for kind, values in (("labels", [half, "a", None, None]), ("together", ["a", half, half, None])):
        with pytest.raises(ClueError, match=rf"{kind} holds half a character"):
            Clues(4, **{kind: values})
    with Store.open(tmp_path / "p.cluewise", create=True) as store:
        for question, answer in ((half, 1), (1, half), ({half: 1}, 1), (1, [{"a": [half]}])):
            with pytest.raises(ValueError, match=r"the (question|answer) holds half a character \(a lone surrogate\)"):
                store.extend([Record(question, answer)])
        with pytest.raises(ValueError, match="is not the name of a person"):
            store.append(1, 1, who=half)
        assert store.entries() == []
        assert store.entries() == [] == [store.append(1, "🙂 שלום", who="שלום")][1:]
    with Project.begin(tmp_path / "q.cluewise", RandomPairs(), X, budget=3, random_state=0) as project:
        with pytest.raises(ValueError, match="the question holds half a character"):
            project.tell(Answer(Question("pair", (0, 1), why=half), True))
        with pytest.raises(ValueError, match="the answer holds half a character"):
            project.act(Act("name", half, cluster=1, name="a"))


def files(folder, half):
    """Files that hold half a character in each place."""
    path = folder / "file.json"
    for content in (
        {"labels": {"a": half}}, {"labels": {half: "a"}}, {"together": {half: ["a", "b"]}}, {"must": [["a", half]]},
        {"partitions": [{"a": half}]}, {"must": [{"a": "a", "b": "b", "source": half}]}, {half: 1},
        [{"id": "a", "label": half}], {"id": ["a"], half: ["b"]}, [{"id": half, "x": 1}],
    ):  # fmt: skip
        path.write_text(json.dumps(content))
        yield path
    np.savez(folder / "file.npz", id=np.array(["a", half]), x=np.zeros(2))
    yield folder / "file.npz"
    text = folder / "file.csv"
    text.write_bytes(b"id,label\na," + half.encode("utf-8", "surrogatepass") + b"\n")
    yield text


def test_files_bring_none_in(tmp_path, sweep, record_property):
    read = 0
    for half in HALVES[: sweep(2, len(HALVES))]:
        for path in files(tmp_path, half):
            for reader in (tables.read, lambda path: Clues.read(path, ids=["a", "b"])):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # what is not UTF-8 is read as Latin-1
                        found = reader(path)
                except (tables.TableError, ClueError) as error:
                    str(error).encode()  # also the sentence can be written down
                else:
                    found.write(tmp_path / "out.csv") if isinstance(found, Clues) else tables.write(
                        tmp_path / "out.csv", found
                    )
                read += 1
    record_property("files with halves of characters", read)


def old_store(path, half):
    """Give the last answer of a project a label that an older version took."""
    with closing(sqlite3.connect(path)) as base:
        row = base.execute("SELECT id, who, at, question, answer, takes_back FROM answers ORDER BY id DESC").fetchone()
        new = [*row[:4], json.dumps(half), row[5]]
        base.execute("UPDATE answers SET answer = ?, crc32 = ? WHERE id = ?", (new[4], checksum(*new), row[0]))
        base.commit()


@pytest.mark.parametrize("half", HALVES)
def test_a_store_that_holds_one_can_be_read(tmp_path, half):
    path = tmp_path / "p.cluewise"
    with Project.begin(path, RandomPairs(), X, budget=9, random_state=0) as project:
        project.tell(Answer(Question("label", (3,)), "a", who="ann"))
    old_store(path, half)
    with Store.open(path) as store:
        (said,) = (entry.answer for entry in store.standing())
        assert said.encode()
        assert "\N{REPLACEMENT CHARACTER}" in said
    with Project.open(path, RandomPairs(), X) as project:
        project.tell(Answer(Question("label", (2,)), "b", who="ann"))
        assert project.state.clues.labels.tolist()[2:] != [-1, -1]
        project.state.clues.write(tmp_path / "clues.csv")
    with Project.open(path, RandomPairs(), X) as again:  # from its snapshot
        assert len(again.state.answers) == 2
    assert rescue(path, tmp_path / "new.cluewise") == (2, 0)


def test_every_view_and_export_of_such_a_store_works(tmp_path, sweep, record_property):
    got = 0
    for number, half in enumerate(HALVES[: sweep(1, len(HALVES))]):
        room = open_room(tmp_path / str(number))
        try:
            said = {"kind": "label", "rows": [1], "why": "", "value": "a", "seconds": 1.5, "nonce": ""}
            assert room.owner.post("/api/answers", json=said).status_code == 200
            old_store(room.session.project.store.name, half)
            room.session.project.store._log = type(room.session.project.store._log)()  # as after a restart
            views = ["state", "clusters", "doubts", "answers", "rows?ids=1", "links", "people", "people/ann/answers"]
            forms = [f"{what}.{form}" for what, form in product(("answers", "clusters"), ("csv", "parquet", "json"))]
            views += [f"export/{name}" for name in (*forms, "report.html", "project.cluewise")]
            for view in (*views, "questions"):
                assert room.owner.get(f"/api/{view}").status_code == 200, view
                got += 1
        finally:
            room.close()
    record_property("views of such stores", got)
