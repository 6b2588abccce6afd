"""Conversations in a file: begun, gone on with, shared, taken back."""

from __future__ import annotations

import numpy as np
import pytest

from cluewise import Clues
from cluewise.active import Answer, Project, Question, RandomPairs, SimulatedOracle, interview
from cluewise.exceptions import ClueWarning
from cluewise.tables import FileError

X = np.random.default_rng(0).normal(size=(20, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.cluewise"


def test_the_file_leads_to_the_same_questions_as_memory(path):
    """Closed and opened after every answer, a project ends where an interview ends."""
    oracle = SimulatedOracle(Y)
    Project.begin(path, RandomPairs(), X, Clues(20, must=[(0, 1)]), budget=12, random_state=3).close()
    for _ in range(12):
        with Project.open(path, RandomPairs(), X) as project:
            project.tell(oracle(project.ask()))
    expected = interview(RandomPairs(), X, oracle, budget=12, clues=Clues(20, must=[(0, 1)]), random_state=3)
    with Project.open(path, RandomPairs(), X) as project:
        state = project.state
        assert [a.question for a in state.answers] == [a.question for a in expected.answers]
        assert state.clues == expected.clues
        assert project.ask() == []
        project.grow(14)
        assert len(project.ask(size=5)) == 2


def test_without_snapshots_the_answers_are_heard_again(path):
    """What a kill leaves: answers, but no snapshot."""
    project = Project.begin(path, RandomPairs(), X, budget=5, random_state=0)
    project.tell(SimulatedOracle(Y)(project.ask(size=3)))
    before = project.state
    assert project.store.last_snapshot() is None
    project.store.close()
    with Project.open(path, RandomPairs(), X) as again:
        assert again.state == before
        again.tell(Answer(again.ask()[0], True))
    with Project.open(path, RandomPairs(), X) as third:
        assert third.store.last_snapshot() is not None
        assert third.state.asked == 4


def test_two_people_see_each_other(path):
    ann = Project.begin(path, RandomPairs(), X, budget=2, random_state=0)
    bob = Project.open(path, RandomPairs(), X)
    question = ann.ask()[0]
    ann.tell(Answer(question, True, who="ann"))
    assert [a.who for a in bob.state.answers] == ["ann"]
    assert bob.ask() != [question]
    bob.tell(Answer(bob.ask()[0], False, who="bob"))
    assert ann.ask() == []
    assert ann.undo(of="ann").who == "ann"
    assert [a.who for a in bob.state.answers] == ["bob"]
    assert bob.state.left == 1
    ann.close()
    bob.close()


def test_two_people_who_answer_the_last_question_both_count(path):
    ann = Project.begin(path, RandomPairs(), X, budget=1, random_state=0)
    question = ann.ask()[0].to_json()
    for who in ("ann", "bob"):  # both saw it before either had answered
        ann.store.append(question, True, who=who)
    assert ann.state.asked == 2
    assert len(ann.state.clues.must) == 1
    ann.close()


def test_two_people_with_the_last_question_before_them(path):
    ann = Project.begin(path, RandomPairs(), X, budget=1, random_state=0)
    bob = Project.open(path, RandomPairs(), X)
    question = ann.ask()[0]
    assert bob.ask() == [question]
    ann.tell(Answer(question, True, who="ann"))
    bob.tell(Answer(question, True, who="bob"))
    assert [a.who for a in ann.state.answers] == ["ann", "bob"]
    ann.close()
    bob.close()


def test_an_undo_that_is_undone_after_a_snapshot_loses_nothing(path):
    with Project.begin(path, RandomPairs(), X, budget=5, random_state=0) as project:
        for _ in range(3):
            project.tell(SimulatedOracle(Y)(project.ask()))
        project.store.undo(1)
    with Project.open(path, RandomPairs(), X) as project:
        assert project.state.asked == 2
        assert project.store.redo() is not None
        assert project.state.asked == 3
    with Project.open(path, RandomPairs(), X) as project:
        assert project.state.asked == 3


def test_a_kill_while_beginning_leaves_a_place_to_begin(path):
    from cluewise.store import Store

    assert not Project.begun(path)
    path.touch()
    assert not Project.begun(path)
    with Store.open(path, create=True) as store:
        store.settings["budget"] = 3
    assert not Project.begun(path)
    Project.begin(path, RandomPairs(), X, budget=7, random_state=0, settings={"note": [1]}).close()
    assert Project.begun(path)
    with Project.open(path, RandomPairs(), X) as project:
        assert (project.state.budget, project.store.settings["note"]) == (7, [1])


def test_undo_after_a_snapshot_leads_back(path):
    with Project.begin(path, RandomPairs(), X, budget=5, random_state=0) as project:
        first = project.ask()
        project.tell(SimulatedOracle(Y)(first))
    with Project.open(path, RandomPairs(), X) as project:
        assert project.undo().question == first[0]
        assert project.ask() == first
        assert project.undo() is None


def test_not_every_strategy_has_clusters(path):
    with (
        Project.begin(path, RandomPairs(), X, budget=1) as project,
        pytest.raises(ValueError, match="RandomPairs finds no clusters itself"),
    ):
        project.clustering()


def test_what_makes_no_sense_is_not_saved(path):
    with Project.begin(path, RandomPairs(), X, budget=1, random_state=0) as project:
        with pytest.raises(ValueError, match="row 99"):
            project.tell(Answer(Question("pair", (0, 99)), True))
        assert project.store.entries() == []
        with pytest.raises(ValueError, match="budget is -3"):
            project.grow(-3)


def test_refusals(path, tmp_path):
    Project.begin(path, RandomPairs(), X, budget=1, random_state=0).close()
    with pytest.raises(ValueError, match=r"talk.cluewise' already, begun with RandomPairs, seed \d+ and a budget"):
        Project.begin(path, RandomPairs(), X, budget=1)
    with pytest.raises(ValueError, match="not what this conversation is about"):
        Project.open(path, RandomPairs(), X + 1)
    with pytest.raises(ValueError, match="there is no project"):
        Project.open(tmp_path / "other", RandomPairs(), X)
    with pytest.raises(ValueError, match="budget is -1"):
        Project.begin(tmp_path / "never", RandomPairs(), X, budget=-1)
    assert not (tmp_path / "never").exists()
    from cluewise.store import Store

    Store.open(tmp_path / "empty", create=True).close()
    with pytest.raises(ValueError, match="there is no conversation in"):
        Project.peek(tmp_path / "empty")


def test_a_damaged_snapshot_is_not_believed(path):
    with Project.begin(path, RandomPairs(), X, budget=5, random_state=0) as project:
        project.tell(SimulatedOracle(Y)(project.ask()))
        state = project.state
    before = path.read_bytes()
    assert before.count(b'"who":"simulated"') == 1  # in the snapshot
    path.write_bytes(before.replace(b'"who":"simulated"', b'"who":"emulated!"'))
    with Project.open(path, RandomPairs(), X) as project:
        assert project.store.last_snapshot() is None
        assert project.state == state


def test_a_snapshot_that_cannot_be_saved_is_no_loss(path, monkeypatch):
    project = Project.begin(path, RandomPairs(), X, budget=5, random_state=0)
    project.tell(SimulatedOracle(Y)(project.ask()))

    def full(*_, **__):
        raise FileError("the disk is full.")

    monkeypatch.setattr(project.store, "snapshot", full)
    with pytest.warns(ClueWarning, match=r"every answer is saved, but the disk is full\."):
        project.close()
    with Project.open(path, RandomPairs(), X) as project:
        assert project.state.asked == 1


def test_a_lost_budget_is_that_of_the_beginning(path):
    with Project.begin(path, RandomPairs(), X, budget=5, random_state=0) as project:
        del project.store.settings["budget"]
        assert project.state.budget == 5
