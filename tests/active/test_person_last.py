"""Two who answer: the person gets what the other cannot tell, what is asked again, and what matters most."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from cluewise.active import FunctionOracle, GroupQuestions, PersonLast, Question, SimulatedOracle, interview
from cluewise.metrics import ari

X, Y = make_blobs([40, 30, 30], n_features=3, cluster_std=1.5, center_box=(-5, 5), random_state=3)


def pair(i, j, score=0.0):
    return Question("pair", (i, j), score=score)


def saying(value, who):
    return FunctionOracle(lambda question: value, who=who)


def test_the_person_gets_what_the_other_cannot_tell():
    oracle = PersonLast(saying(None, "model"), saying(True, "me"), share=0.5)
    answers = oracle([pair(0, i, score=-1.0) for i in range(1, 7)])
    assert [answer.who for answer in answers] == ["me", "model"] * 3
    assert [(work.who, work.calls, work.unknown) for work in oracle.work()] == [("model", 6, 6), ("me", 3, 0)]


def test_the_person_gets_high_scores_and_what_is_asked_again():
    oracle = PersonLast(saying(False, "model"), saying(True, "me"), share=0.25, costs=(0.5, 3.0))
    scores = [5.0, 4.0, 3.0, 2.0, 1.0, 9.0]  # the first, and then the first that is not below the median
    said = [oracle([pair(0, i + 1, score)])[0].who for i, score in enumerate(scores)]
    assert said == ["me", "model", "model", "model", "model", "me"]
    for i in range(7, 9):
        assert oracle([pair(0, i, 0.0)])[0].who == "model"
    assert oracle([pair(2, 0, 0.0)])[0].who == "me"  # asked before, in the other order
    assert [work.cost for work in oracle.work()] == [4.5, 9.0]
    assert oracle.agreement() == [("me", "model", 3, 0)]


def test_a_person_who_does_not_know_leaves_the_other_answer():
    oracle = PersonLast(saying(False, "model"), saying(None, "me"), share=1.0)
    assert [answer.who for answer in oracle([pair(0, 1), pair(0, 2)])] == ["model", "model"]
    assert oracle.agreement() == []
    silent = PersonLast(lambda questions: [], saying(True, "me"), share=0.5)
    assert [answer.who for answer in silent([pair(0, 1), pair(0, 2)])] == ["me"]  # nobody answers the second
    assert [work.who for work in silent.work()] == ["me"]
    with pytest.raises(ValueError, match=r"share is 1\.5"):
        PersonLast(silent, silent, share=1.5)


def test_no_more_than_the_share():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.1, 0.35, 1.0):
        oracle = PersonLast(
            SimulatedOracle(Y, unknown_rate=0.3, who="model"), SimulatedOracle(Y, who="me"), share=share
        )
        for count in range(1, 41):
            oracle([pair(*rng.choice(len(X), 2, replace=False), rng.random())])
            asked = sum(work.calls for work in oracle.work() if work.who == "me")
            assert asked <= np.ceil(share * count)
        assert asked >= np.floor(0.85 * share * 40)


def test_a_person_for_every_tenth_question_helps():
    """A model with one in four wrong; the strategy learns who is right."""
    found = []
    for share in (0.0, 0.2):
        scores = []
        for seed in range(2):
            model = SimulatedOracle(Y, error_rate=0.25, random_state=seed, who="model")
            oracle = PersonLast(model, SimulatedOracle(Y, who="me"), share=share)
            strategy = GroupQuestions(3)
            state = interview(strategy, X, oracle, budget=30, random_state=seed)
            scores.append(ari(Y, strategy.clustering(state, X)))
        found.append(np.mean(scores))
    assert found[1] > found[0]
    rates = strategy._board(strategy._scene(state, X)).rates
    assert rates["me"] < rates["model"]
