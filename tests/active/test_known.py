"""What clues and answers entail together, against a closure computed by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.active import Answer, Question
from cluewise.active._known import Known, resolve

N = 7


@st.composite
def stories(draw):
    """Given clues that agree with a truth, and true answers."""
    truth = draw(st.lists(st.integers(0, 2), min_size=N, max_size=N))
    pairs = draw(st.lists(st.sampled_from(list(combinations(range(N), 2))), max_size=4, unique=True))
    labels = [truth[i] if draw(st.booleans()) else -1 for i in range(N)] if draw(st.booleans()) else None
    groups = [i if truth[i] not in truth[:i] else None for i in range(N)]  # one row of each class
    clues = Clues(
        N,
        labels=labels,
        must=[p for p in pairs if truth[p[0]] == truth[p[1]]] or None,
        cannot=[p for p in pairs if truth[p[0]] != truth[p[1]]] or None,
        apart=[None if g is None else "g" for g in groups] if draw(st.booleans()) else None,
    )
    answers = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["pair", "label", "which"]))
        rows = draw(st.permutations(range(N)))[: {"pair": 2, "label": 1, "which": 4}[kind]]
        same = [r for r in rows[1:] if truth[r] == truth[rows[0]]]
        if kind == "which" and len(same) > 1:  # choices are of different classes
            continue
        value = {"pair": bool(same), "label": truth[rows[0]], "which": same[0] if same else False}[kind]
        answers.append(Answer(Question(kind, tuple(rows)), value))
    return truth, clues, answers


def partitions(items):
    """All ways to give classes 0…k-1 to rows, classes numbered by first use."""
    if not items:
        yield []
        return
    for rest in partitions(items[:-1]):
        for c in range(max(rest, default=-1) + 2):
            yield [*rest, c]


ALL = np.array(list(partitions(list(range(N)))))


def allowed(clues, answers):
    """Every clustering of the rows that agrees with all that was said; labels name clusters consistently."""
    keep = np.ones(len(ALL), dtype=bool)
    must, _, cannot, _ = clues.pairs(expand=True)
    told = [(i, j, True) for i, j in must] + [(i, j, False) for i, j in cannot]
    told += [link for answer in answers for link in answer.links()]
    named = {int(r): int(clues.classes_[clues.labels[r]]) for r in np.flatnonzero(clues.labels >= 0)}
    named |= {a.question.rows[0]: a.value for a in answers if a.question.kind == "label"}
    told += [(a, b, named[a] == named[b]) for a, b in combinations(named, 2)]
    for i, j, together in told:
        keep &= (ALL[:, i] == ALL[:, j]) == together
    return ALL[keep]


@settings(max_examples=80, deadline=None)
@given(stories())
def test_the_closure_says_what_holds_in_every_clustering(story):
    _, clues, answers = story
    known = Known(clues)
    for answer in answers:
        known.learn(answer)
    assert not known.conflicts
    left = allowed(clues, answers)
    for i, j in combinations(range(N), 2):
        together = (left[:, i] == left[:, j]).mean()
        assert known.same(i, j) is {0.0: False, 1.0: True}.get(together)


@settings(max_examples=60, deadline=None)
@given(stories(), st.lists(st.booleans(), min_size=6, max_size=6))
def test_wrong_answers_are_set_aside_and_never_fatal(story, flips):
    _, clues, answers = story
    wrong = [
        Answer(a.question, not a.value) if flip and a.question.kind == "pair" else a for a, flip in zip(answers, flips)
    ]
    known = Known(clues)
    for answer in wrong:
        before = {(i, j): known.same(i, j) for i, j in combinations(range(N), 2)}
        known.learn(answer)
        # What was known stays known.
        assert all(known.same(*pair) is said for pair, said in before.items() if said is not None)


def test_clues_that_contradict_themselves_are_taken_as_they_are():
    known = Known(Clues(4, must=[(0, 1)], cannot=[(0, 1), (1, 2)]))
    assert (known.same(0, 1), known.same(0, 2), known.same(0, 3)) == (True, False, None)
    known.learn(Answer(Question("pair", (0, 3)), True))
    assert known.same(2, 3) is False


def test_open_questions():
    known = Known(Clues(6, labels=["a", None, "b", None, None, None], must=[(0, 1)]))
    known.learn(Answer(Question("pair", (3, 4)), None))
    assert not known.open(Question("pair", (1, 2)))  # classes differ
    assert not known.open(Question("label", (1,)))  # it belongs to a labeled row
    assert not known.open(Question("pair", (4, 3)))  # somebody did not know
    assert known.open(Question("pair", (3, 5)))
    assert known.open(Question("which", (3, 0, 2)))
    known.learn(Answer(Question("pair", (3, 0)), False))
    assert known.open(Question("which", (3, 0, 2)))
    known.learn(Answer(Question("pair", (3, 2)), True))
    assert not known.open(Question("which", (3, 0, 2)))
    assert known.label(3) == "b"


def test_labels_join_and_part():
    known = Known(Clues(5))
    for row, label in ((0, "a"), (1, "b"), (2, "a")):
        known.learn(Answer(Question("label", (row,)), label))
    assert (known.same(0, 2), known.same(0, 1)) == (True, False)
    known.learn(Answer(Question("label", (2,)), "b"))
    assert len(known.conflicts) == 1
    known.learn(Answer(Question("pair", (3, 0)), False))
    known.learn(Answer(Question("label", (3,)), "a"))
    assert len(known.conflicts) == 2


def test_the_majority_counts():
    pair, other = Question("pair", (0, 1)), Question("pair", (1, 2))
    answers = [Answer(pair, True), Answer(other, False), Answer(pair, False), Answer(pair, None)]
    assert [a.value for a in resolve(answers)] == [None, False]
    assert [a.value for a in resolve([*answers, Answer(Question("pair", (1, 0)), False)])] == [False, False]
