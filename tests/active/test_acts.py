"""Acts: what people do with clusters is a hard clue, is stored between answers, and can be taken back."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import replace

import numpy as np
import pytest

from cluewise import Clues
from cluewise.active import Act, Answer, Project, Question, RandomPairs, State
from cluewise.store import Store

X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.cluewise"


@pytest.fixture
def project(path):
    with Project.begin(path, RandomPairs(), X, budget=20, random_state=0) as project:
        yield project


def pair(i, j, value=True, **more):
    return Answer(Question("pair", (i, j)), value, **more)


MERGE = Act("merge", "Merged 1 and 2", must=[(0, 5)], anchors=[0, 5], change=-1, who="ann")
SPLIT = Act("split", "Split 3", cannot=[[1, 2]], cluster=3, change=1, who="bob")
LOCK = Act("lock", "Locked Barolo", labels=[(3, "Barolo"), (4, "Barolo")], cluster=2, name="Barolo", who="ann")


# The value


@pytest.mark.parametrize("act", [MERGE, SPLIT, LOCK, Act("name", "Named it", cluster="c7", name="x", when="t")])
def test_acts_come_back_from_json(act):
    assert Act.from_json(json.loads(json.dumps(act.to_json()))) == act


def test_the_clues_of_an_act_are_hard_and_say_who():
    clues = SPLIT.clues(4)
    assert clues.cannot.tolist() == [[1, 2]]
    assert clues.cannot_weight.tolist() == [np.inf]
    assert clues.cannot_source.tolist() == ["act (bob)"]
    lock = Act.from_json({**LOCK.to_json(), "entry": 12}).clues(5)
    assert lock.labels.tolist() == [-1, -1, -1, 0, 0]
    assert lock.label_source[3] == "act 12 (ann)"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"kind": "burn"}, "an act is of the kind name, lock, .*, not 'burn'"),
        ({"shown": ""}, "shown to people as a sentence"),
        ({"change": 0.5}, "change=0.5; the number of clusters changes by"),
        ({"must": [(1, 1)]}, r"a must-link of an act is about two different rows, not \[1, 1\]"),
        ({"cannot": [(1, 2, 3)]}, "a cannot-link of an act is about two different rows"),
        ({"must": [("a", 1)]}, "a must-link of an act are row numbers"),
        ({"labels": [(1, "a"), (1, "b")]}, "an act labels row 1 'a' and 'b'"),
        ({"labels": [(1, 7)]}, "the label of row 1 in an act is the name of a class, not 7"),
        ({"anchors": [-1]}, "row -1 of an act is not a row number"),
    ],
)
def test_what_makes_no_sense_is_refused(more, sentence):
    with pytest.raises(ValueError, match=sentence):
        Act(**({"kind": "name", "shown": "x"} | more))


# In a state


def state_of(acts, answers=(), given=None):
    return State("RandomPairs", {}, 12, "", 9, 0, given or Clues(12), tuple(answers), tuple(acts))


def test_acts_change_the_number_of_clusters():
    assert state_of([MERGE, MERGE, SPLIT]).count(3) == 2
    assert state_of([MERGE, MERGE]).count(2) == 1
    assert state_of([MERGE, MERGE]).count(1) == 1


def test_contradictions_between_acts_answers_and_given_clues_do_not_crash():
    label = Question("label", (3,))
    given = Clues(12, labels=[0, -1, -1, 0, *[-1] * 8], must=[(1, 2)])
    again = Act("belongs", "3 is Merlot", labels=[(3, "Merlot")], must=[(0, 5)])
    apart = Act("never", "0 and 5", cannot=[(0, 5)])
    state = state_of([LOCK, SPLIT, MERGE, again, apart], [Answer(label, "Chianti"), pair(0, 5, False)], given)
    clues = state.clues
    assert clues.classes_[clues.labels[3]] == "Merlot"  # the last act counts
    assert clues.classes_[clues.labels[4]] == "Barolo"
    assert clues.classes_[clues.labels[0]] == 0  # given, and nobody said otherwise
    assert "Chianti" not in clues.classes_
    assert clues.must.tolist() == [[0, 5], [1, 2]]
    assert clues.cannot.tolist() == [[0, 5], [1, 2]]
    assert clues.contradictions


def test_the_name_of_a_class_that_was_given_as_a_number_is_that_class():
    state = state_of([Act("belongs", "x", labels=[(5, "1")])], given=Clues(12, labels=[0, 1] + [-1] * 10))
    assert state.clues.classes_.tolist() == [0, 1]
    assert state.clues.labels[5] == 1


def test_a_given_label_contradicts_an_answer_without_a_crash():
    state = state_of([], [Answer(Question("label", (0,)), "b")], Clues(12, labels=["a"] + [None] * 11))
    assert state.clues.classes_.tolist() == ["a"]


def test_states_with_acts_come_back_from_json_and_older_texts_are_read():
    state = state_of([MERGE, LOCK], [pair(0, 1, seconds=1.5, nonce="n", entry=3)])
    assert State.from_json(state.to_json()) == state
    old = json.loads(state_of([], [pair(0, 1)]).to_json())
    old.pop("acts", None)
    assert State.from_json(json.dumps(old)) == state_of([], [pair(0, 1)])


def test_clues_are_the_same_whether_or_not_earlier_ones_were_kept():
    """Answers of all kinds, again and again, also to old questions; some are inferred."""
    rng = np.random.default_rng(0)
    state = state_of([MERGE, LOCK], given=Clues(12, labels=["Barolo", *[None] * 11], must=[(1, 2)]))
    kinds = {"pair": 2, "label": 1, "which": 3, "group": 4}
    for step in range(150):
        kind = str(rng.choice(list(kinds)))
        rows = tuple(rng.choice(12, kinds[kind], replace=False).tolist())
        values = {
            "pair": bool(step % 3),
            "label": str(rng.choice(["a", "Barolo"])),
            "which": rows[-1] if step % 2 else False,
            "group": [rows[:2], rows[2:3]],
        }
        who = Answer.INFERRED if kind == "pair" and step % 10 == 0 else str(rng.choice(["ann", "bob"]))
        state = state.plus([Answer(Question(kind, rows), values[kind], who)]).allowed(9 + step)
        if step % 4:
            fresh = replace(state)
            assert "_earlier" not in vars(fresh)
            assert state.clues == fresh.clues
            assert state.asked == fresh.asked


def test_strategies_do_not_ask_what_acts_say(project):
    asked = project.ask()[0]
    project.act(Act("together", "They are one", must=[asked.rows]))
    assert project.ask()[0].key != asked.key
    assert project.state.left == 20  # acts cost nothing


# In a file


def test_the_order_of_acts_and_answers_is_kept(path, project):
    ids = [*project.tell([pair(0, 1), pair(2, 3)]), project.act(MERGE), *project.tell(pair(4, 5)), project.act(SPLIT)]
    assert ids == [1, 2, 3, 4, 5]
    history = project.history()
    assert [(id, type(said).__name__, said.entry, stands) for id, said, stands in history] == [
        (1, "Answer", 1, True),
        (2, "Answer", 2, True),
        (3, "Act", 3, True),
        (4, "Answer", 4, True),
        (5, "Act", 5, True),
    ]
    assert history[2][1].shown == MERGE.shown
    assert [id for id, *_ in project.history(last=2)] == [4, 5]
    assert project.history(last=0) == []
    state = project.state
    project.close()
    with Project.open(path, RandomPairs(), X) as again:  # from the snapshot
        assert again.state == state
        assert again.state.count(3) == 3


def test_undo_and_redo_of_acts_and_answers(project):
    project.tell(pair(0, 1, who="ann"))
    project.act(MERGE)
    project.tell(pair(2, 3, who="bob"))
    assert project.undo(2, who="bob").shown == MERGE.shown
    assert project.state.acts == ()
    assert [answer.entry for answer in project.state.answers] == [1, 3]
    assert [stands for *_, stands in project.history()] == [True, False, True]
    assert project.redo().entry == 2
    assert [act.entry for act in project.state.acts] == [2]
    assert project.redo() is None
    assert project.undo(of="ann").entry == 2
    assert project.undo(of="ann").entry == 1
    assert [answer.entry for answer in project.state.answers] == [3]
    with pytest.raises(ValueError, match=r"entry 1 of .* is not an answer that stands"):
        project.undo(1)


def test_unlock_takes_back_the_lock(project):
    with pytest.raises(ValueError, match="cluster 2 is not locked"):
        project.act(Act("unlock", "Unlocked", cluster=2))
    lock = project.act(LOCK)
    other = project.act(Act("lock", "Locked 9", labels=[(9, "x")], cluster=9))
    assert project.act(Act("unlock", "Unlocked", cluster=2, who="ann")) == lock
    assert [act.entry for act in project.state.acts] == [other]
    assert project.act(Act("unlock", "Unlocked", cluster=2)) == lock  # sent twice


def test_a_nonce_is_stored_once(path, project):
    first = [pair(0, 1, nonce="a", seconds=2.5), pair(2, 3, nonce="b")]
    assert project.tell(first) == [1, 2]
    assert project.tell([pair(4, 5, nonce="c"), *first, pair(6, 7), pair(4, 5, nonce="c")]) == [3, 1, 2, 4, 3]
    assert project.act(MERGE, nonce="d") == project.act(MERGE, nonce="d") == 5
    project.undo(1)
    assert project.tell(first[0]) == [1]  # a late copy does not bring it back
    assert [answer.entry for answer in project.state.answers] == [2, 3, 4]
    with Project.open(path, RandomPairs(), X) as other:  # which has read nothing yet
        assert other.tell(first[1]) == [2]
    assert [(said.nonce, said.seconds) for _, said, _ in project.history()[:2]] == [("a", 2.5), ("b", None)]


def test_all_answers_or_none(project):
    with pytest.raises(ValueError, match="row 99"):
        project.tell([pair(0, 1), pair(0, 99)])
    with pytest.raises(ValueError, match="'soon' is not a moment"):
        project.tell([pair(0, 1), pair(0, 2, when="soon")])
    with pytest.raises(ValueError, match="the act is about row 77, but there are 12 rows"):
        project.act(Act("never", "x", cannot=[(0, 77)]))
    with pytest.raises(TypeError, match="is not an Act"):
        project.act("merge")
    assert project.history() == []
    assert project.tell(pair(0, 1, when="2026-01-02T03:04:05+00:00")) == [1]
    assert project.state.answers[0].when == "2026-01-02T03:04:05+00:00"


def test_two_threads_tell_at_once(project):
    def work(who, base):
        for i in range(15):
            project.tell([pair(base, (base + i) % 5 + 6, who=who, nonce=f"{who}{i}")] * 2)
            seen.append(len(project.state.answers))

    seen = []
    threads = [threading.Thread(target=work, args=(who, base)) for base, who in enumerate("abc")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 45
    state = project.state
    assert [answer.entry for answer in state.answers] == list(range(1, 46))
    for who in "abc":
        assert [a.nonce for a in state.answers if a.who == who] == [f"{who}{i}" for i in range(15)]
    assert state.budget == 45


def test_the_state_is_that_of_a_replay_whatever_was_taken_back(path, project):
    """Truncated or extended, never another state than from the beginning."""
    rng = np.random.default_rng(1)
    other = Project.open(path, RandomPairs(), X)
    for step in range(40):
        move = rng.integers(5)
        if move < 2:
            project.tell(pair(*rng.choice(12, 2, replace=False).tolist(), bool(move)))
        elif move == 2:
            project.act(Act("never", f"act {step}", cannot=[rng.choice(12, 2, replace=False).tolist()]))
        elif move == 3 and (standing := [id for id, _, stands in project.history() if stands]):
            project.undo(int(rng.choice(standing)))
        else:
            project.redo()
        with Project.open(path, RandomPairs(), X) as fresh:
            assert fresh.state == project.state
        assert other.state == project.state
        assert other.state.asked == len(other.state.answers)
    other.close()


# Older and newer files


def test_a_file_with_answers_alone_is_as_older_versions_wrote_it(path, project):
    project.tell(pair(0, 1, who="ann"))
    project.close()
    rows = sqlite3.connect(path).execute("SELECT question, answer, takes_back FROM answers").fetchall()
    assert rows == [('{"kind":"pair","rows":[0,1]}', "true", None)]


def test_a_snapshot_of_an_older_version_is_read(path, project):
    project.tell([pair(0, 1), pair(2, 3)])
    project.undo(2)
    project.tell(pair(4, 5))
    state = project.state
    project.close()
    with Store.open(path) as store:
        kept = store.last_snapshot().state
        kept["state"].pop("acts", None)
        for answer in kept["state"]["answers"]:
            del answer["entry"]
        store.snapshot(kept, 4, keep=1)
    with Project.open(path, RandomPairs(), X) as again:
        assert again.state == state
        assert again.undo(1).entry == 1
        assert [answer.entry for answer in again.state.answers] == [4]


# Forgetting


def bytes_of(path):
    log = path.with_name(path.name + "-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


def test_forget_leaves_no_bytes(path, project):
    other = Project.open(path, RandomPairs(), X)
    for i in range(60):
        project.tell(pair(0, i % 11 + 1, who="Annabel", nonce=f"nonce-of-hers-{i}"))
    project.act(Act("lock", "Locked Zinfandel", labels=[(3, "Zinfandel")], who="Annabel"))
    project.tell(pair(7, 8, who="bob"))
    project.undo(2, who="Annabel")
    assert other.state.asked == 60
    project.close()  # which writes a snapshot
    assert b"Annabel" in bytes_of(path)
    with Project.open(path, RandomPairs(), X) as again:
        assert again.forget("Annabel") == 62
        found = bytes_of(path)
        assert not [word for word in (b"Annabel", b"Zinfandel", b"nonce-of-hers") if word in found]
        assert b"bob" in found
        assert [answer.who for answer in again.state.answers] == ["bob"]
        assert again.redo() is None
        assert len(again.history()) == 1
        assert again.tell(pair(1, 2, who="bob")) == [64]
        assert again.forget("Annabel") == 0
    assert [answer.entry for answer in other.state.answers] == [62, 64]  # whoever had read them
    assert other.state.acts == ()
    other.close()
    assert b"Annabel" not in bytes_of(path)
