"""Confirmed answers: posterior by hand, when a question is asked again, confidences, JSON."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from cluewise import Clues
from cluewise.active import Answer, Question, RandomPairs, SimulatedOracle, State, interview
from cluewise.active._confirmed import MOST, Confirmed, posterior
from cluewise.active._explore import ExploreConsolidate

X, Y = make_blobs([20, 15, 10], n_features=3, cluster_std=2.0, center_box=(-5, 5), random_state=3)


def told(strategy, state, question, *values):
    for value in values:
        state = strategy.tell(state, Answer(question, value))
    return state


@pytest.mark.parametrize(("yes", "no", "error"), [(1, 0, 0.1), (2, 0, 0.1), (2, 1, 0.2), (5, 2, 0.3), (1, 1, 0.2)])
def test_posterior_of_a_pair_by_bayes(yes, no, error):
    """Both hypotheses spelled out with binomials, prior ½."""
    right = comb(yes + no, yes) * (1 - error) ** yes * error**no
    wrong = comb(yes + no, yes) * error**yes * (1 - error) ** no
    assert posterior([yes, no], 2, error) == pytest.approx(right / (right + wrong))


def test_posterior_of_several_answers_by_bayes():
    """Three choices, votes 2 and 1 and 0, error rate 0.2: each wrong one has 0.1."""
    likelihoods = [0.8**2 * 0.1, 0.8 * 0.1**2, 0.1**3]
    assert posterior([2, 1], 3, 0.2) == pytest.approx(likelihoods[0] / sum(likelihoods))
    assert posterior([], 3, 0.2) == pytest.approx(1 / 3)


def test_posterior_of_people_who_never_err():
    assert posterior([1], 2, 0.0) == 1
    assert posterior([1, 1], 2, 0.0) == 0.5
    assert posterior([], 2, 0.0) == 0.5


def test_leads_that_are_enough():
    """As the documentation says: 2 for e = 0.1, 3 for e = 0.2, at alpha = 0.05."""
    assert posterior([1], 2, 0.1) < 0.95 <= posterior([2], 2, 0.1)
    assert posterior([2], 2, 0.2) < 0.95 <= posterior([3], 2, 0.2)


def test_a_question_is_asked_until_it_is_sure():
    strategy = Confirmed(RandomPairs(), error_rate=0.2)
    state = strategy.start(X, budget=20, random_state=0)
    first = strategy.ask(state, X)[0]
    for values, again in (
        ((True,), True),
        ((True, False), True),
        ((True, False, True, True), True),
        ((True,) * 3, False),
    ):
        later = told(strategy, state, first, *values)
        asked = strategy.ask(later, X)[0]
        assert (asked.key == first.key) == again
        assert asked.why == ("asked again, to be sure of the answer." if again else "drawn at random.")


def test_the_first_question_is_the_one_of_the_other_strategy():
    inner = ExploreConsolidate(3)
    plain = inner.ask(inner.start(X, budget=9, random_state=0), X)
    strategy = Confirmed(ExploreConsolidate(3))
    assert strategy.ask(strategy.start(X, budget=9, random_state=0), X) == plain


def test_dont_know_ends_a_question():
    strategy = Confirmed(RandomPairs(), error_rate=0.2)
    state = strategy.start(X, budget=40, random_state=0)
    first = strategy.ask(state, X)[0]
    assert strategy.ask(told(strategy, state, first, None), X)[0].key != first.key
    assert strategy.ask(told(strategy, state, first, True, None), X)[0].key != first.key
    assert strategy.ask(told(strategy, state, first, True, True, None), X)[0].key == first.key


def test_nobody_is_asked_for_ever():
    strategy = Confirmed(RandomPairs(), error_rate=0.2)
    state = strategy.start(X, budget=40, random_state=0)
    first = strategy.ask(state, X)[0]
    state = told(strategy, state, first, *([True, False] * MOST)[:MOST])
    assert strategy.ask(state, X)[0].key != first.key


def test_budget_counts_every_answer_and_is_spent():
    state = interview(
        Confirmed(RandomPairs()), X, SimulatedOracle(Y, error_rate=0.1, random_state=0), budget=30, random_state=0
    )
    assert state.asked == 30
    assert len({answer.question.key for answer in state.answers}) <= 15


def test_in_a_batch_questions_are_different_and_those_begun_come_first():
    strategy = Confirmed(RandomPairs())
    state = strategy.start(X, budget=30, random_state=0)
    batch = strategy.ask(state, X, size=4)
    state = strategy.tell(state, [Answer(question, False) for question in batch])
    again = strategy.ask(state, X, size=6)
    assert [question.key for question in again[:4]] == [question.key for question in batch]
    assert len({question.key for question in again}) == 6


def test_the_other_strategy_sees_only_what_is_sure():
    strategy = Confirmed(RandomPairs())
    state = strategy.start(X, budget=30, random_state=0)
    first = Question("pair", (0, 1))
    assert strategy._inner(told(strategy, state, first, True)).answers == ()
    inner = strategy._inner(told(strategy, state, first, True, True))
    assert [answer.value for answer in inner.answers] == [True]
    assert (inner.strategy, inner.parameters) == ("RandomPairs", {})


def test_inferred_answers_wait_until_the_last_no_is_sure():
    """Two classes: a row that is apart from the first is in the second, but not before the no is confirmed."""
    strategy = Confirmed(ExploreConsolidate(2))
    state = strategy.start(X, Clues(len(X), labels=[0, 1] + [-1] * (len(X) - 2)), budget=30, random_state=0)
    question = Question("pair", (5, 0))
    state = told(strategy, state, question, False)
    assert len(state.answers) == 1
    state = told(strategy, state, question, False)
    assert [answer.who for answer in state.answers] == ["", "", "inferred"]
    assert state.answers[-1].question.key == ("pair", (1, 5))
    sure = strategy.clues(state)
    assert sure.must_confidence == pytest.approx(sure.cannot_confidence)


def test_a_conversation_goes_on_from_json_with_the_same_question():
    strategy = Confirmed(ExploreConsolidate(3), error_rate=0.2)
    oracle = SimulatedOracle(Y, error_rate=0.2, unknown_rate=0.1, random_state=0)
    state = strategy.start(X, budget=30, random_state=1)
    while questions := strategy.ask(state, X, size=2):
        other = Confirmed(ExploreConsolidate(3), error_rate=0.2)
        assert other.ask(State.from_json(state.to_json()), X.copy(), size=2) == questions
        state = strategy.tell(state, oracle(questions))
    assert state.parameters["strategy"]["ExploreConsolidate"]["n_clusters"] == 3
    with pytest.raises(ValueError, match="was started by Confirmed"):
        Confirmed(ExploreConsolidate(4), error_rate=0.2).ask(state.undone(), X)


def test_clues_carry_confidences():
    strategy = Confirmed(RandomPairs(), error_rate=0.2)
    state = strategy.start(X, Clues(len(X), must=[(40, 41)]), budget=30, random_state=0)
    state = told(strategy, state, Question("pair", (0, 1)), True, True, True)
    state = told(strategy, state, Question("pair", (2, 3)), False)
    state = told(strategy, state, Question("pair", (4, 5)), False, True)  # as likely right as wrong
    state = told(strategy, state, Question("which", (6, 7, 8)), 7)
    state = told(strategy, state, Question("label", (9,)), "a")
    clues = strategy.clues(state)
    assert clues.must.tolist() == [[0, 1], [6, 7], [40, 41]]
    # 4³ : 1 for three votes; 0.8 : 0.1 : 0.1 for one vote among three choices.
    np.testing.assert_allclose(clues.must_confidence, [64 / 65, 0.8, np.nan])
    assert clues.cannot.tolist() == [[2, 3], [6, 8]]
    np.testing.assert_allclose(clues.cannot_confidence, [0.8, 0.8])
    assert clues.classes_[clues.labels[9]] == "a"
    assert clues.must_source[0] == "question 1"


def test_a_conversation_of_labels():
    strategy = Confirmed(ExploreConsolidate(3, questions="label"), error_rate=0.1)
    oracle = SimulatedOracle(Y, error_rate=0.1, random_state=1)
    state = interview(strategy, X, oracle, budget=40, random_state=0)
    clues = strategy.clues(state)
    rows = np.flatnonzero(clues.labels >= 0)
    assert len(rows) >= 10
    assert np.mean(clues.classes_[clues.labels[rows]] == Y[rows]) > 0.9


def test_fewer_wrong_clues_at_the_same_budget():
    """Error rate 0.2, 120 answers: single answers are wrong in one of five cases, confirmed ones seldom."""
    share = {}
    for name, strategy in (("plain", RandomPairs()), ("confirmed", Confirmed(RandomPairs(), error_rate=0.2))):
        wrong = total = 0
        for seed in range(5):
            oracle = SimulatedOracle(Y, error_rate=0.2, random_state=seed)
            clues = interview(strategy, X, oracle, budget=120, random_state=seed).clues
            for pairs, together in ((clues.must, True), (clues.cannot, False)):
                wrong += int(((Y[pairs[:, 0]] == Y[pairs[:, 1]]) != together).sum())
                total += len(pairs)
        share[name] = wrong / total
    assert share["plain"] > 0.1
    assert share["confirmed"] < 0.05


def test_sparse_data_only_where_the_other_strategy_takes_them():
    S = sparse.csr_array(X)
    strategy = Confirmed(RandomPairs())
    assert strategy.ask(strategy.start(S, budget=2, random_state=0), S)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Confirmed(_Dense()).start(S, budget=2)


class _Dense(RandomPairs):
    card = replace(RandomPairs.card, sparse=False)


@pytest.mark.parametrize("parameters", [{"error_rate": 0.5}, {"alpha": 0}, {"strategy": "random"}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Confirmed(**{"strategy": RandomPairs(), **parameters}).start(X, budget=1)


def test_what_is_settled_out_of_order_is_inferred_from():
    """In a batch the last question may be sure before the first one is."""
    x = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    strategy = Confirmed(ExploreConsolidate(2, order="index"), error_rate=0.1)
    state = strategy.start(x, Clues(6, labels=[0, -1, -1, -1, -1, 1]), budget=9, random_state=0)
    first, second = Question("pair", (1, 5)), Question("pair", (4, 0))
    said = [Answer(first, False), Answer(second, False), Answer(second, False), Answer(first, False)]
    inferred = [answer.question.rows for answer in strategy.tell(state, said).answers if answer.inferred]
    assert inferred == [(4, 5), (1, 0)]
