"""When to stop asking: expected answers end a conversation, news do not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from cluewise import Clues, PCKMeans
from cluewise.active import Answer, Question, RandomPairs, SimulatedOracle, interview
from cluewise.active import _stopping as module
from cluewise.active._stopping import settled

X, Y = make_blobs([30, 30], n_features=2, centers=[[0, 0], [20, 0]], random_state=0)


class Fixed(BaseEstimator):
    """A clusterer that says what it is told to say, and remembers the clues."""

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, X, clues=None):
        self.labels_ = np.asarray(self.labels)
        SEEN.append(clues)
        return self


SEEN: list = []


def conversation(*said):
    state = RandomPairs().start(X, budget=100, random_state=0)
    return state.plus(Answer(Question(kind, rows), value, who) for kind, rows, value, who in said)


def pair(i, j, value, who=""):
    return "pair", (i, j), value, who


def test_it_stops_when_the_last_answers_were_expected():
    stop = settled(PCKMeans(2), X, last=10, every=1)
    state = interview(RandomPairs(), X, SimulatedOracle(Y), budget=200, random_state=0, watch=stop)
    assert state.asked == 10


def test_it_goes_on_while_answers_surprise():
    """Classes that have nothing to do with the data are never predicted."""
    noise = np.random.default_rng(0).integers(2, size=len(X))
    stop = settled(PCKMeans(2), X, last=10, every=5)
    state = interview(RandomPairs(), X, SimulatedOracle(noise), budget=60, random_state=0, watch=stop)
    assert state.asked == 60


def test_each_of_the_last_answers_counts_and_no_earlier_one():
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    watch = settled(Fixed(labels), X, last=2, every=1, n_fits=10)
    assert not watch(conversation(pair(0, 1, True)))  # too few
    assert watch(conversation(pair(0, 1, True), pair(0, 2, False)))
    assert not watch(conversation(pair(0, 1, True), pair(0, 2, True)))
    assert watch(conversation(pair(0, 2, True), pair(0, 1, True), pair(1, 2, False)))


def test_only_earlier_answers_are_learned_from():
    SEEN.clear()
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    state = conversation(pair(8, 9, True), pair(0, 1, True), pair(0, 2, False))
    assert settled(Fixed(labels), X, last=2, every=1, n_fits=10)(state)
    assert len(SEEN) == 10
    pairs = {tuple(link) for clues in SEEN for link in (*clues.must.tolist(), *clues.cannot.tolist())}
    assert pairs == {(8, 9)}
    assert any(not clues.kinds for clues in SEEN)  # a fifth of the answers is left out each time


def test_unknown_and_inferred_answers_are_not_counted():
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    watch = settled(Fixed(labels), X, last=2, every=1)
    assert watch(conversation(pair(0, 1, True), pair(0, 2, None), pair(0, 3, True, Answer.INFERRED), pair(0, 2, False)))


def test_labels_are_expected_where_rows_of_the_class_are_known():
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    watch = settled(Fixed(labels), X, last=1, every=1)
    first, second = ("label", (0,), "a", ""), ("label", (2,), "b", "")
    assert not watch(conversation(first, second))  # a new class is news
    assert watch(conversation(first, second, ("label", (1,), "a", "")))
    assert not watch(conversation(first, second, ("label", (3,), "a", "")))


def test_it_looks_only_now_and_then():
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    watch = settled(Fixed(labels), X, last=1, every=2)
    assert not watch(conversation(pair(0, 1, True)))
    assert watch(conversation(pair(0, 1, True), pair(0, 2, False)))


@pytest.mark.parametrize(("size", "looks"), [(1, [5, 10, 15, 20]), (3, [6, 12, 15, 20]), (7, [7, 14, 20])])
def test_it_looks_when_a_batch_has_passed_its_time(monkeypatch, size, looks):
    seen = []

    def labels(estimator, X, state, *rest):
        seen.append(state.asked)
        return np.zeros(len(X))

    monkeypatch.setattr(module, "_labels", labels)
    watch = settled(PCKMeans(2), X, last=5, every=5)
    for _ in range(2):  # the same rule for another conversation
        seen.clear()
        interview(RandomPairs(), X, SimulatedOracle(Y), budget=20, size=size, random_state=0, watch=watch)
        assert sorted(set(seen)) == looks


def test_a_state_that_is_seen_again_is_judged_again():
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    watch = settled(Fixed(labels), X, last=1, every=2)
    state = conversation(pair(0, 1, True), pair(0, 2, False))
    assert [watch(state), watch(state)] == [True, True]


@pytest.mark.parametrize("classes", [["a", "b"], [7, 8]])
def test_given_classes_are_no_news(classes):
    labels = [0, 0, 1, 1] + [0] * (len(X) - 4)
    given = Clues(len(X), labels=[classes[0], -1, classes[1]] + [-1] * (len(X) - 3)) if classes[0] == 7 else None
    if given is None:
        given = Clues(len(X), labels=[classes[0], None, classes[1]] + [None] * (len(X) - 3))
    state = RandomPairs().start(X, given, budget=9, random_state=0)
    for row, value, expected in ((1, classes[0], True), (3, classes[0], False), (1, "new", False)):
        watch = settled(Fixed(labels), X, last=1, every=1)
        assert watch(state.plus([Answer(Question("label", (row,)), value)])) == expected


@pytest.mark.parametrize("options", [{"last": 2.5}, {"last": "3"}, {"every": True}, {"n_fits": None}])
def test_numbers_are_whole(options):
    with pytest.raises(TypeError, match="is a whole number, at least 1"):
        settled(PCKMeans(2), X, **options)


@pytest.mark.parametrize("estimator", [KMeans(2), None])
def test_an_estimator_without_clues_is_refused_at_once(estimator):
    with pytest.raises(TypeError, match="does not take clues"):
        settled(estimator, X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"last": 0}, "last=0"),
        ({"n_fits": 0}, "n_fits=0"),
        ({"every": 0}, "every=0"),
        ({"probability": 1.0}, "probability=1.0"),
        ({"n_fits": 3}, "n_fits=3 votes cannot give"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        settled(PCKMeans(2), X, **options)
