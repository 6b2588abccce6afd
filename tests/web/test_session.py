"""A session: what is said is stored at once, clusters follow, and keep their ids."""

from __future__ import annotations

import threading
from dataclasses import replace
from time import monotonic
from types import SimpleNamespace

import numpy as np
import pytest

from cluewise.active import Answer, Question, RandomPairs
from cluewise.web._acts import Acts
from cluewise.web._fits import Fit, Fitter, _margins, anchors_of
from cluewise.web._questions import Questions
from cluewise.web._writer import Writer

GROUPS = np.arange(60) // 20


def say(session, a, b, value, who="ann", nonce=""):
    return session.tell(Answer(Question("pair", (a, b)), value, who=who, nonce=nonce))[1].result(30)


def act(session, who="ann", **asked):
    number = session.do(asked, who).result(30)
    session.wait()
    return number


def cluster_of(session, row):
    return int(session.labels()[row])


def test_the_first_fit_finds_the_groups(session):
    labels = session.labels()
    assert [len(set(labels[g == GROUPS])) for g in range(3)] == [1, 1, 1]
    assert len(set(labels)) == 3
    assert session.fit.revision == 1
    assert session.margins().min() >= 0


def test_clusters_begin_with_those_of_the_strategy_if_answers_contradict_the_chosen_ones(session):
    """Ids follow what people saw before, whichever clusters are shown."""
    before, other = session.fit, np.arange(60) % 2
    asked = []

    def correct(state, labels, n_clusters):
        asked.append((len(state.answers), n_clusters))
        return other if len(asked) > 1 else None

    fitter = Fitter(session.X, 3, None, 0, correct)
    first = fitter.fit(before.state, before)
    assert (first.labels == before.labels).all()
    second = fitter.fit(before.state, first)
    assert len(set(zip(second.labels, other))) == 2
    assert set(second.ids) <= set(first.ids)
    assert asked == [(0, 3), (0, 3)]
    assert session.project.correct(before.state, before.labels) is None  # there are no answers yet


def test_answers_given_during_a_fit_are_stored_at_once_and_one_more_fit_takes_them_all(session, monkeypatch):
    running, go_on, states = threading.Event(), threading.Event(), []
    fit = Fitter.fit

    def slowly(self, state, before):
        states.append(len(state.answers))
        running.set()
        assert go_on.wait(30)
        return fit(self, state, before)

    monkeypatch.setattr(Fitter, "fit", slowly)
    say(session, 0, 1, True)
    assert running.wait(30)
    for i in range(2, 7):
        say(session, 0, i, True)  # returns although the fit waits
    assert len(session.project.state.answers) == 6
    go_on.set()
    session.wait()
    assert states == [1, 6]


def test_answers_of_many_people_share_transactions_and_none_is_lost(session, monkeypatch):
    groups = []
    tell = session.project.tell

    def counted(answers):
        groups.append(len(answers))
        return tell(answers)

    monkeypatch.setattr(session.project, "tell", counted)
    pairs = [(i, j) for i in range(12) for j in range(i + 1, 12)]
    threads = [
        threading.Thread(target=lambda k=k: [say(session, *pair, True, who=f"p{k}") for pair in pairs[k::6]])
        for k in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(groups) == len(pairs) == len(session.project.state.answers)
    assert max(groups) > 1


def test_an_answer_sent_twice_counts_once(session):
    assert say(session, 0, 1, True, nonce="n1") == say(session, 0, 1, True, nonce="n1")
    assert session.project.state.asked == 1


def test_an_invalid_answer_fails_alone(session):
    hold = threading.Event()
    writer = Writer(session.project, lambda: None)
    writer.do(lambda: hold.wait(30), quiet=True)
    jobs = [writer.tell(Answer(Question("pair", pair), True)) for pair in ((0, 1), (0, 999), (0, 2))]
    hold.set()
    assert jobs[0].result(30) != jobs[2].result(30)
    with pytest.raises(ValueError, match="999"):
        jobs[1].result(30)
    writer.close()


def test_questions_never_run_out_and_nobody_gets_those_of_another(session):
    mine, yours = (session.hand(who, 3) for who in ("ann", "bob"))
    assert len(mine) == len(yours) == 3
    assert not {tuple(q["rows"]) for q in mine} & {tuple(q["rows"]) for q in yours}
    assert [q["rows"] for q in session.hand("ann", 3)] == [q["rows"] for q in mine]
    for _ in range(30):
        first = session.hand("ann", 3)[0]
        say(session, *first["rows"], bool(GROUPS[first["rows"][0]] == GROUPS[first["rows"][1]]))
    assert len(session.hand("ann", 3)) == 3


def test_who_wants_labels_is_not_asked_about_pairs_while_the_strategy_chooses(session):
    wanted = Question("label", (3,))
    strategy = SimpleNamespace(questions="label", ask=lambda state, X, size: [wanted])
    questions = Questions(SimpleNamespace(strategy=strategy, state=session.project.state), session.X, {})
    assert questions.hand("ann", 3) == []
    assert questions.refill()
    assert questions.hand("ann", 1) == [(wanted, False)]


def test_a_strategy_that_fails_leaves_other_questions_and_the_page_asks_for_them(session, monkeypatch):
    def fail(state, X, size):
        raise RuntimeError("no idea")

    monkeypatch.setattr(session.project.strategy, "ask", fail)
    pushed = threading.Event()
    session.hub.listen(lambda message, who: pushed.set() if '"type": "questions"' in str(message) else None)
    say(session, 0, 1, True)
    assert pushed.wait(30)
    assert [question["kind"] for question in session.hand("ann", 2)] == ["pair", "pair"]


def test_overlap_gives_a_person_what_another_has_answered(session):
    session.questions.overlap = 1.0
    say(session, 0, 25, False, who="bob")
    (question,) = session.hand("ann", 1)
    assert sorted(question["rows"]) == [0, 25]
    assert question["again"]
    assert "agree" in question["why"]
    assert [q["again"] for q in session.hand("bob", 1)] == [False]


def test_a_failed_fit_leaves_the_clusters_and_one_sentence(session, monkeypatch):
    before = session.labels()

    def fail(self, state, before):
        raise RuntimeError("no luck\ntoday")

    monkeypatch.setattr(Fitter, "fit", fail)
    say(session, 0, 1, True)
    session.wait()
    assert session.labels() is before
    assert session.state()["error"].endswith("no luck today")
    monkeypatch.undo()
    say(session, 0, 2, True)
    session.wait()
    assert session.state()["error"] is None


def test_closing_does_not_wait_for_a_fit_and_keeps_what_was_said(session, monkeypatch):
    running, go_on = threading.Event(), threading.Event()
    fit, before = Fitter.fit, session.fit

    def slowly(self, state, last):
        running.set()
        assert go_on.wait(30)
        return fit(self, state, last)

    monkeypatch.setattr(Fitter, "fit", slowly)
    number = say(session, 0, 1, True)
    assert running.wait(30)
    begun = monotonic()
    session.close()
    assert monotonic() - begun < 5
    assert [entry.id for entry in session.project.store.standing()] == [number]
    go_on.set()
    for thread in session._threads:
        thread.join(30)
        assert not thread.is_alive()
    assert session.fit is before  # nobody hears of it


def fail_once(monkeypatch, session, name):
    """Let a method of a session fail the first time."""
    works, calls = getattr(session, name), []

    def method(*given):
        calls.append(given)
        if len(calls) == 1:
            raise OSError("the disk is full")
        return works(*given)

    monkeypatch.setattr(session, name, method)
    return calls


def test_a_state_that_cannot_be_pushed_is_pushed_later(session, monkeypatch):
    pushed = threading.Event()
    fail_once(monkeypatch, session, "state")
    session.hub.listen(lambda message, who: pushed.set() if '"type": "state"' in str(message) else None)
    say(session, 0, 1, True)
    assert pushed.wait(30)


def test_labels_that_cannot_be_pushed_do_not_end_the_fits(session, monkeypatch):
    fail_once(monkeypatch, session, "_push_labels")
    say(session, 0, 1, True)
    session.wait(30)
    assert "the disk is full" in session.state()["error"]
    say(session, 0, 2, True)
    session.wait(30)
    assert session.state()["error"] is None
    assert session.fit.count == 2


def test_closing_writes_what_waits_even_if_the_clusters_cannot_be_saved(session, monkeypatch):
    calls = fail_once(monkeypatch, session, "_save_clusters")
    stored = session.tell(Answer(Question("pair", (0, 1)), True, who="ann"))[1]
    session.close()
    assert calls
    assert stored.result(1)
    assert session.project.state.asked == 1


def test_rows_that_belong_elsewhere_move_and_stay_through_refits_until_undo(session):
    own, other = cluster_of(session, 0), cluster_of(session, 59)
    number = act(session, act="belongs", rows=[0, 1], cluster=other)
    assert session.labels()[[0, 1]].tolist() == [other, other]
    assert session.state()["last"]["words"].startswith("moved ")
    for i in range(2, 8):
        say(session, i, i + 1, True)
    session.wait()
    assert session.labels()[[0, 1, 2]].tolist() == [other, other, own]
    session.undo("ann", entry=number).result(30)
    session.wait()
    assert session.labels()[[0, 1]].tolist() == [own, own]


def test_never_there_again(session):
    own = cluster_of(session, 0)
    act(session, act="never", rows=[0], cluster=own)
    assert cluster_of(session, 0) != own
    assert cluster_of(session, 1) == own


def test_merge_and_split_change_the_number_of_clusters_and_keep_ids(session):
    a, b, c = (cluster_of(session, row) for row in (0, 20, 40))
    act(session, act="merge", clusters=[a, b])
    assert len(session.fit.ids) == 2
    assert cluster_of(session, 0) == cluster_of(session, 20) in (a, b)
    assert cluster_of(session, 40) == c
    session.undo("ann", of="ann").result(30)
    session.wait()
    assert [cluster_of(session, row) for row in (0, 20, 40)] == [a, b, c]  # what comes back has its id again
    act(session, act="split", cluster=c, piles=[[40, 41, 42], [50, 51, 52]])
    assert len(session.fit.ids) == 4
    assert cluster_of(session, 40) == cluster_of(session, 42) != cluster_of(session, 50) == cluster_of(session, 52)
    assert max(session.fit.ids) > max(a, b, c)  # an id is never used again for something else


def test_split_by_2_means_leaves_the_other_clusters_alone_and_can_be_undone(session):
    before = session.labels()
    one = cluster_of(session, 0)
    number = act(session, act="split", cluster=one)
    assert len(set(session.labels()[:20])) == 2
    assert (session.labels()[20:] == before[20:]).all()
    session.undo("ann", entry=number).result(30)
    session.wait()
    assert (session.labels() == before).all()


def test_merging_distant_groups_and_then_splitting_another_leaves_the_rest_whole():
    each, groups = 40, np.arange(240) // 40
    centers = np.array([[0, 0], [30, 0], [0, 9], [9, 9], [30, 9], [20, 20]])  # groups 2 and 3 are next to each other
    X = centers.repeat(each, axis=0) + np.random.default_rng(0).normal(size=(240, 2))
    state = RandomPairs().start(X, budget=1, random_state=0)
    fitter, fit = Fitter(X, 6, None, 0, lambda *_: None), Fit.nothing(state, len(X))
    fit = fitter.fit(state, fit)
    assert all(len(set(fit.labels[groups == g])) == 1 for g in range(6))
    kept = fit.labels.copy()

    def do(**asked):
        nonlocal state, fit
        act = Acts(fit, X, anchors_of(fit, X), state).make(asked, "ann")
        state = state.acted([replace(act, entry=len(state.acts) + 1)])
        fit = fitter.fit(state, fit)
        return [set(fit.labels[groups == g].tolist()) for g in range(6)]

    found = do(act="merge", clusters=[int(kept[0]), int(kept[-1])])  # the two that are farthest from each other
    assert found[0] == found[5]
    assert [len(one) for one in found] == [1] * 6
    assert len(set.union(*found)) == 5
    found = do(act="split", cluster=int(fit.labels[2 * each]))
    assert found[0] == found[5]
    assert [len(one) for one in found] == [1, 1, 2, 1, 1, 1]
    assert len(set.union(*found)) == 6
    assert [int(kept[g * each]) in found[g] for g in (1, 3, 4)] == [True] * 3
    found = do(act="merge", clusters=[int(fit.labels[g * each]) for g in (0, 1, 4)])  # three at once
    assert found[0] == found[1] == found[4] == found[5]
    assert [len(one) for one in found] == [1, 1, 2, 1, 1, 1]
    assert len(set.union(*found)) == 4


def test_acts_name_a_class_of_their_own_for_each_cluster_and_change_what_labels_say(session):
    a, b, c = (cluster_of(session, row) for row in (0, 20, 40))
    for row, name in ((0, "ash"), (1, "ash"), (20, "ash"), (40, "oak"), (41, "oak")):
        session.tell(Answer(Question("label", (row,)), name, who="ann"))[1].result(30)
    session.wait()
    acts = Acts(session.fit, session.X, session.anchors(), session.project.state)
    split = acts.make({"act": "split", "cluster": c}, "ann")
    said = dict(split.labels)
    assert {said[40], said[41]} <= {"oak", "oak (2)"} == {said[row] for pair in split.cannot for row in pair}
    others = {one: {said[row] for row in session.anchors()[one] if row in said} for one in (a, b)}
    assert sorted(map(sorted, others.values())) == [["ash"], ["ash (2)"]]  # two clusters are never of the same class
    assert not {0, 1, 20} & said.keys()  # what somebody said of the others stays
    merged = acts.make({"act": "merge", "clusters": [a, c]}, "ann")
    said = dict(merged.labels)
    assert {said[row] for row in (0, 1, 40, 41)} == {said[session.anchors()[c][0]]} < {"ash", "ash (2)"}


def test_classes_that_only_acts_made_are_not_shown(session):
    a, b = cluster_of(session, 0), cluster_of(session, 20)
    act(session, act="merge", clusters=[a, b])
    assert any(str(name).startswith("unnamed cluster") for name in session.fit.clues.classes_)
    assert all(question["classes"] == [] for question in session.hand("ann", 3))
    assert session._guess(Question("label", (0,))) is None
    assert not any("unnamed" in cluster["suggested"] for cluster in session.clusters())


def test_rows_that_clues_have_moved_have_margins_below_0_and_are_no_guess(session):
    model = SimpleNamespace(
        margin_=np.array([0.9, 0.9, 0.9, 0.9, -0.9]), labels_=np.array([0, 0, 1, 1, 1]), cluster_ids_=np.arange(2)
    )
    found = _margins(model, np.array([[0.0], [1.0], [9.0], [10.0], [0.5]]))
    assert found[4] == np.float32(-0.9)
    assert 0 < found[1] < found[0] < 0.9  # the others are told apart as if no row were moved
    session.fit = replace(session.fit, margins=np.full(session.n, -0.9, dtype=np.float32))
    for question in (Question("pair", (0, 1)), Question("which", (0, 1, 20))):
        assert session._guess(question)["probability"] == 0.5


def test_a_locked_cluster_keeps_its_rows_against_answers(session):
    one = cluster_of(session, 0)
    act(session, act="lock", cluster=one)
    for i in range(8):
        say(session, i, 30 + i, True)
        say(session, i, 19 - i, False)
    session.wait()
    assert set(session.labels()[:20]) == {cluster_of(session, 0)}
    assert session.state()["clusters"][session.fit.ids.index(cluster_of(session, 0))]["locked"]
    # What the lock demands does not drown the answers that contradict it.
    assert session.state()["trust"] < 0.8
    act(session, act="unlock", cluster=one)
    assert not any(cluster["locked"] for cluster in session.state()["clusters"])


def test_names_are_there_at_once_and_need_no_fit(session):
    one, revision = cluster_of(session, 0), session.fit.revision
    act(session, act="name", cluster=one, name="  Barolo  ")
    assert session.names()[one] == "Barolo"
    assert session.fit.revision == revision


def test_contradicting_acts_do_not_stop_the_fits(session):
    other = cluster_of(session, 59)
    act(session, act="belongs", rows=[0], cluster=other)
    act(session, act="never", rows=[0], cluster=other)
    assert cluster_of(session, 0) != other  # the last word counts
    found = session.state()
    assert found["error"] is None
    assert found["contradictions"] >= 1
    steps = session.doubts()["contradictions"][0]["steps"]
    assert len(steps) >= 2
    assert all(step["entry"] is not None for step in steps)
    session.undo("ann").result(30)
    session.wait()
    assert session.state()["contradictions"] == 0
    assert cluster_of(session, 0) == other


REFUSED = [
    ({"act": "explode"}, "An act is one of"),
    ({"act": "name", "cluster": 0, "name": ""}, "1 to 100 letters"),
    ({"act": "name", "cluster": 77, "name": "x"}, "no cluster 77"),
    ({"act": "merge", "clusters": [0]}, "two or more different clusters"),
    ({"act": "merge", "clusters": [0, 1, 0]}, "two or more different clusters"),
    ({"act": "belongs", "rows": [99], "cluster": 0}, "no row 99"),
    ({"act": "together", "rows": "all"}, "list of row numbers"),
    ({"act": "split", "cluster": 0, "piles": [[1, 2], [2, 3]]}, "Row 2 is in both"),
    ({"act": "unlock", "cluster": 0}, "not locked"),
]


def test_an_act_that_makes_no_sense_is_refused_in_a_sentence(session):
    for asked, words in REFUSED:
        with pytest.raises(ValueError, match=words):
            session.do(asked, "ann")


def test_wrong_answers_are_suspected_and_clues_are_measured(session):
    rng = np.random.default_rng(1)
    for a, b in rng.choice(60, (120, 2)).tolist():
        if a != b:
            say(session, a, b, bool(GROUPS[a] == GROUPS[b]))
    wrong = say(session, 5, 55, True)
    session.wait()
    suspects = session.doubts()["suspects"]
    assert suspects[0]["entry"] == wrong
    assert suspects[0]["right"] < 0.5
    assert "row05 and row55" in suspects[0]["words"]
    found = session.state()
    assert found["doubts"] == len(suspects)
    assert 0.5 < found["trust"] < 1
    entry = next(one for one in session.entries(100) if one["id"] == wrong)
    assert entry["doubt"] > 0.5
    help_ = session._fitter.measure_help(session.fit)
    assert 0.8 < help_["with"] <= 1
    assert help_["clues"] > 10


def test_what_a_person_said_can_be_forgotten(session):
    say(session, 0, 1, True, who="bob")
    say(session, 0, 2, True, who="ann")
    assert session.forget("bob").result(30) == 1
    session.wait()
    assert [answer.who for answer in session.project.state.answers] == ["ann"]
    assert session.fit.count == 1
