"""Wrong answers: what depends on an answer, which are asked for again, and how little a single one can do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.active import (
    Answer,
    CluewiseQuestions,
    PairsAtStake,
    Question,
    SimulatedOracle,
    SuperInstances,
    interview,
)
from cluewise.active._pairs_at_stake.stakes import Table
from cluewise.active._pairs_at_stake.ward_groups import WardGroups
from cluewise.active._second_look import count_voices, error_rate_of, list_verdicts
from cluewise.metrics import ari

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) + np.repeat(np.eye(3) * 6, 40, axis=0)
Y = np.repeat([0, 1, 2], 40)


def said(i: int, j: int, value: bool | None) -> Answer:
    return Answer(Question("pair", (i, j)), value)


def test_verdicts_by_hand():
    """Rows 0 to 3 stand for 10, 20, 30 and 40 rows; 0–1–2 are joined by two yes, and 3 is apart from 2."""
    size = {0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0}
    odds = {(0, 1): np.log(9), (1, 2): np.log(4), (2, 3): -np.log(9)}
    found = {one.pair: one for one in list_verdicts(odds, size)}
    assert {pair: one.stake for pair, one in found.items()} == {(0, 1): 10 * 50, (1, 2): 30 * 30, (2, 3): 60 * 40}
    assert [found[pair].doubt for pair in odds] == pytest.approx([0.1, 0.2, 0.1])
    # Another yes closes the ring: nothing depends on a single one of the three.
    ring = {one.pair: one.stake for one in list_verdicts(odds | {(0, 2): np.log(4)}, size)}
    assert [ring[pair] for pair in ((0, 1), (1, 2), (0, 2))] == [0, 0, 0]
    # Another no between the same two clusters: both are more certain.
    two = {one.pair: one.doubt for one in list_verdicts(odds | {(0, 3): -np.log(9)}, size)}
    assert two[2, 3] == two[0, 3] == pytest.approx(1 / 82)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(-3, 3).filter(bool)), max_size=15))
def test_the_stake_of_a_yes_is_what_falls_apart_without_it(links):
    odds = {(min(i, j), max(i, j)): value for i, j, value in links if i != j}
    size = {row: float(row + 1) for row in range(8)}

    def together(pairs) -> float:
        """Pairs of rows in the same cluster, twice."""
        parts = Clues(8, must=[pair for pair in pairs if odds[pair] > 0]).components
        return float(sum(sum(size[row] for row in np.flatnonzero(parts == part)) ** 2 for part in set(parts)))

    for one in list_verdicts(odds, size):
        if odds[one.pair] > 0:
            without = together(pair for pair in odds if pair != one.pair)
            assert 2 * one.stake == pytest.approx(together(odds) - without)


def test_the_error_rate_is_learned_from_repeated_questions():
    assert error_rate_of(0.3, []) == 0.3
    assert error_rate_of("learned", [said(0, 1, True)] * 1) == pytest.approx(0.1)
    again = [said(0, 1, True), said(1, 0, True), said(0, 1, False), said(2, 3, True), said(2, 3, None)]
    assert error_rate_of("learned", again) == pytest.approx((1 + 1) / (10 + 3))
    assert count_voices(again) == {(0, 1): (1, 2), (2, 3): (0, 1)}


def test_a_surprising_answer_takes_a_second_one_to_be_believed():
    """If a yes is as likely as 9 to 1, one no at an error rate of 0.2 leaves odds of 9/4 for yes, two leave 9/16."""
    table = Table(WardGroups(X, 0), Clues(len(X)), 0.2)
    table._before[0, 1] = float(np.log(9))
    for count, believed in ((1, True), (2, False)):
        table.voices = {(0, 1): (count, 0)}
        assert table._weigh((0, 1)) == pytest.approx(np.log(9 / 4**count))
        assert table._judge(said(0, 1, False)).value is believed


@pytest.mark.parametrize("seed", range(2))
def test_no_single_answer_joins_large_groups(seed):
    """Each of 40 right answers turned into its opposite: what stands on several answers stays."""
    strategy = PairsAtStake(error_rate=0.1)
    state = interview(strategy, X, SimulatedOracle(Y), budget=40, random_state=seed)
    before = strategy.clustering(state, X)
    assert ari(Y, before) > 0.9
    again = {answer.question.key for answer in state.answers}
    assert len(again) < 40  # some were asked for again
    for t in (0, 1, 2):  # the first questions are about the largest groups
        answers = list(state.answers)
        answers[t] = said(*answers[t].question.rows, not answers[t].value)
        wrong = strategy.tell(strategy.start(X, budget=60, random_state=seed), answers)
        then = interview(strategy, X, SimulatedOracle(Y), state=wrong)
        assert ari(before, strategy.clustering(then, X)) > 0.9


@pytest.mark.parametrize("make", [PairsAtStake, SuperInstances])
def test_an_error_rate_survives_wrong_answers(make):
    def mean(error_rate) -> float:
        found = []
        for seed in range(2):
            strategy = make(error_rate=error_rate)
            oracle = SimulatedOracle(Y, error_rate=0.15, random_state=seed)
            state = interview(strategy, X, oracle, budget=60, random_state=seed)
            found.append(ari(Y, strategy.clustering(state, X)))
        return float(np.mean(found))

    assert mean("learned") > mean(0.0) + 0.15


@pytest.mark.parametrize("make", [PairsAtStake, SuperInstances])
def test_a_conversation_that_is_older_than_the_error_rate_goes_on(make):
    strategy = make()
    state = strategy.start(X, budget=5, random_state=0)
    old = type(state)(state.strategy, {}, *[getattr(state, f) for f in ("n", "fingerprint", "budget", "seed", "given")])
    assert strategy.ask(old, X) == strategy.ask(state, X)
    with pytest.raises(ValueError, match="this conversation was started by"):
        make(error_rate=0.1).ask(old, X)


def test_clusters_come_from_cluewise_first_then_from_the_answers():
    strategy = CluewiseQuestions(3)
    state = strategy.start(X, budget=50, random_state=0)
    assert ari(Y, strategy.clustering(state, X)) > 0.9  # before any answer
    state = interview(strategy, X, SimulatedOracle(Y, error_rate=0.1, random_state=0), state=state)
    found = strategy.clustering(state, X)
    assert ari(Y, found) > 0.9
    assert len(set(found)) == 3
    assert len(set(CluewiseQuestions(2).clustering(_told(state, 2), X))) == 2


def test_clusters_that_many_answers_contradict_are_corrected():
    strategy = CluewiseQuestions(3)
    state = interview(strategy, X, SimulatedOracle(Y), budget=60, random_state=0)
    assert strategy.correct(state, X, Y) is None  # nothing to correct
    wrong = np.roll(Y, 7)
    assert ari(Y, strategy.correct(state, X, wrong, 3)) > 0.9
    few, more = (dataclasses.replace(state, answers=state.answers[:count]) for count in (12, 25))
    assert strategy.correct(few, X, wrong) is None
    assert strategy.correct(more, X, wrong) is not None


def _told(state, k):
    return type(state)(
        state.strategy,
        {**state.parameters, "n_clusters": k},
        *[getattr(state, f) for f in ("n", "fingerprint", "budget", "seed", "given", "answers")],
    )


def test_the_number_of_clusters_changes_no_question():
    logs = [
        interview(CluewiseQuestions(k), X, SimulatedOracle(Y), budget=12, random_state=0).answers for k in (None, 5)
    ]
    assert logs[0] == logs[1]
