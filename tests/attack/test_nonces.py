"""A nonce that somebody else has used: what is sent with it is an answer of its own."""

from __future__ import annotations

import numpy as np
import pytest

from cluewise.active import Answer, Project, Question, RandomPairs
from cluewise.store import Record, Store
from cluewise.workspace.offline import take_in
from web_room import open_room

X = np.arange(12.0).reshape(6, 2)
QUESTION = Question("pair", (0, 1))


@pytest.fixture
def project(tmp_path):
    with Project.begin(tmp_path / "p.cluewise", RandomPairs(), X, budget=9, random_state=0) as made:
        yield made


def test_the_nonce_of_another_person_is_another_one(project):
    mine = Answer(QUESTION, True, who="ann", nonce="n1")
    hers = Answer(QUESTION, False, who="eve", nonce="n1")
    assert project.tell([mine, hers, mine]) == [1, 2, 1]
    assert project.tell([hers, mine]) == [2, 1]
    assert [(said.who, said.value) for said in project.state.answers] == [("ann", True), ("eve", False)]
    assert project.change(2, Answer(QUESTION, None, who="eve", nonce="n2")) == 4
    assert project.change(1, Answer(QUESTION, None, who="ann", nonce="n2")) == 6
    assert project.change(1, Answer(QUESTION, None, who="ann", nonce="n2")) == 6  # sent again
    assert [(said.who, said.value) for said in project.state.answers] == [("eve", None), ("ann", None)]


def test_after_a_restart_and_after_forgetting_as_well(tmp_path):
    path = tmp_path / "p.cluewise"
    some = [Record({"nonce": "a"}, i, who) for i, who in enumerate(("ann", "eve", ""))]
    with Store.open(path, create=True) as store:
        assert store.extend(some) == [1, 2, 3]
    with Store.open(path) as store:
        assert store.extend(some) == [1, 2, 3]
        store.forget("eve")
        assert store.extend(some) == [1, 4, 3]


def test_on_the_page(tmp_path):
    room = open_room(tmp_path)
    try:
        first = room.answer(room.owner, 0, 1, nonce="n").json()["entry"]
        eve = room.person("eve", "answers")
        second = room.answer(eve, 0, 1, value=False, nonce="n").json()["entry"]
        assert second != first
        assert room.answer(room.owner, 0, 1, nonce="n").json()["entry"] == first
        assert room.answer(eve, 0, 1, value=False, nonce="n").json()["entry"] == second
        assert [said.who for said in room.session.project.state.answers] == ["ann", "eve"]
    finally:
        room.close()


def test_a_file_of_answers_takes_back_nothing_of_others(project):
    ann = [Answer(QUESTION, True, who="ann", nonce="page-0.1")]
    assert take_in(ann, project) == ("ann", 1, 0, 0)
    assert take_in([Answer(QUESTION, False, who="eve", nonce="page-0.2")], project) == ("eve", 1, 0, 0)
    assert [(said.who, said.value) for said in project.state.answers] == [("ann", True), ("eve", False)]
    assert take_in(ann, project) == ("ann", 0, 0, 1)
    assert take_in([Answer(QUESTION, False, who="ann", nonce="page-0.2")], project) == ("ann", 1, 1, 0)
    assert {(said.who, said.value) for said in project.state.answers} == {("ann", False), ("eve", False)}
