"""ExploreMinMax: the worked example of the specification; farthest first, whatever the width."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from cluewise import Clues
from cluewise.active import Answer, SimulatedOracle, interview
from cluewise.active import _minmax as module
from cluewise.active._minmax import ExploreMinMax

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
TRUTH = [0, 0, 0, 1, 2, 2, 2, 1]
START = Clues(8, labels=[0, -1, -1, -1, -1, -1, 1, 2])  # 0, 6 and 7 found the neighborhoods


def test_the_worked_example():
    state = interview(ExploreMinMax(3), A8, SimulatedOracle(TRUTH), budget=8, clues=START, random_state=0)
    queries = [[*answer.question.rows, int(answer.value)] for answer in state.answers]
    assert queries == [[3, 7, 1], [5, 6, 1], [1, 0, 1], [4, 6, 1], [2, 0, 1]]
    certainty = [1 - answer.question.score for answer in state.answers]
    np.testing.assert_allclose(certainty, [0.579826, 0.648725, 0.784057, 0.81969, 0.825462], atol=1e-6)


def test_the_width_of_the_worked_example():
    strategy = ExploreMinMax()
    ready = strategy._prepare(A8, strategy.start(A8, budget=1, random_state=0))
    assert ready == pytest.approx(1.462022, abs=1e-6)
    assert ready == pytest.approx(np.percentile(pdist(A8), 20))


def test_a_no_leads_to_the_next_similar_neighborhood():
    """Erratum E44: after one "no" the row is compared with the others; here 3 lies nearer to 7 than to 0 and 6."""
    strategy = ExploreMinMax(3)
    state = strategy.start(A8, START, budget=8, random_state=0)
    scores = []
    for rows in [(3, 7), (3, 0)]:
        (question,) = strategy.ask(state, A8)
        assert question.rows == rows
        scores.append(question.score)
        state = strategy.tell(state, Answer(question, False))
    assert scores[0] == scores[1]
    assert [(answer.question.rows, answer.value) for answer in state.answers[2:]] == [((3, 6), True)]  # inferred


@pytest.mark.parametrize("questions", ["pair", "which", "label"])
def test_rows_come_farthest_first(questions):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 12)), rng.integers(4, size=30)
    strategy = ExploreMinMax(4, questions=questions)
    state = interview(strategy, X, SimulatedOracle(y), budget=60, random_state=3)
    rows = list(dict.fromkeys(row for answer in state.answers for row in reversed(answer.question.rows)))
    distance = cdist(X, X)
    for i in range(1, len(rows)):
        closest = distance[:, rows[:i]].min(axis=1)
        assert closest[rows[i]] == pytest.approx(closest.max())


@given(st.integers(0, 2**16), st.integers(2, 20), st.integers(1, 4))
def test_certainty_never_falls(seed, n, classes):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(classes, size=n)
    state = interview(ExploreMinMax(questions="label"), X, SimulatedOracle(y), budget=n, random_state=seed)
    certainty = [1 - answer.question.score for answer in state.answers]
    assert len(certainty) == n
    assert all(0 <= before <= after + 1e-12 <= 1 + 1e-12 for before, after in pairwise(certainty))


@pytest.mark.parametrize("size", [1, 4])
def test_the_score_is_the_distance_to_all_that_were_asked_about(size):
    """Rows that nobody knows the place of count, and those ahead in the batch: scores never rise."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    strategy, oracle = ExploreMinMax(), SimulatedOracle(y, unknown_rate=0.4, random_state=0)
    state = strategy.start(X, budget=30, random_state=0)
    width = strategy._prepare(X, state)
    before: list[int] = []
    scores = []
    while questions := strategy.ask(state, X, size=size):
        for question in questions:
            row, other = question.rows
            before += [other] if not before else []
            if row not in before and "random" not in question.why:
                closest = cdist(X[[row]], X[before]).min()
                assert 1 - question.score == pytest.approx(np.exp(-0.5 * closest**2 / width**2))
                scores.append(question.score)
                before.append(row)
        state = strategy.tell(state, oracle(questions))
    assert len(scores) > 10
    assert all(after <= first + 1e-12 for first, after in pairwise(scores))


def test_many_rows_tell_the_width_by_a_sample(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    strategy = ExploreMinMax()
    whole = strategy._prepare(X, strategy.start(X, budget=1, random_state=0))
    assert whole == pytest.approx(np.percentile(pdist(X), 20))
    monkeypatch.setattr(module, "SAMPLE", 100)
    part = strategy._prepare(X, strategy.start(X, budget=1, random_state=0))
    assert part == pytest.approx(whole, rel=0.1)
    assert part != whole


@pytest.mark.parametrize("rows", [[[1.0, 2.0]] * 4, [[1.0, 2.0]]])
def test_equal_rows_have_no_width(rows):
    X, y = np.array(rows), [0, 0, 1, 1][: len(rows)]
    state = interview(ExploreMinMax(questions="label"), X, SimulatedOracle(y), budget=4, random_state=0)
    assert [answer.question.score for answer in state.answers] == [1.0, 0.0, 0.0, 0.0][: len(rows)]


def test_a_single_row_beside_equal_ones_is_not_like_them():
    X = np.array([[0.0]] * 9 + [[1.0]])
    state = interview(ExploreMinMax(), X, SimulatedOracle([0] * 9 + [1]), budget=3, random_state=0)
    assert 9 in state.answers[0].question.rows
    assert [answer.question.score for answer in state.answers] == [1.0, 0.0, 0.0]


def test_one_conversation_is_pinned():
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(4), 30)
    X = 2.5 * np.eye(4)[y] + rng.normal(size=(120, 4))
    state = interview(ExploreMinMax(4), X, SimulatedOracle(y), budget=500, random_state=7)
    assert [answer.question.rows for answer in state.answers[:4]] == [(11, 53), (51, 53), (93, 53), (93, 11)]
    assert state.asked == 155


def test_sparse_rows_are_asked_about_like_dense_ones():
    states = [
        interview(ExploreMinMax(3), X, SimulatedOracle(TRUTH), budget=9, random_state=5) for X in (A8, csr_array(A8))
    ]
    for one, other in zip(states[0].answers, states[1].answers, strict=True):
        assert one.question.key == other.question.key
        assert one.question.score == pytest.approx(other.question.score)
