"""DenseSeeds: local density and order of the worked example, outliers, samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cluewise import Clues
from cluewise.active import Answer, SimulatedOracle, interview
from cluewise.active import _dense as module
from cluewise.active._dense import DenseSeeds, local_density
from cluewise.active._minmax import ExploreMinMax
from cluewise.core.graphs.neighbors import nearest_rows

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
TRUTH = [0, 0, 0, 1, 2, 2, 2, 1]
LDS = [2, 1.666667, 1.666667, 1, 1.333333, 1.666667, 1.666667, 0.666667]


def rows_asked(strategy, X, y, budget, **more):
    state = interview(strategy, X, SimulatedOracle(y), budget=budget, **more)
    return [answer.question.rows[0] for answer in state.answers]


def test_local_density_of_the_worked_example():
    np.testing.assert_allclose(local_density(nearest_rows(A8, 3).rows), LDS, atol=1e-6)


def test_the_order_of_the_worked_example():
    state = interview(DenseSeeds(3, threshold=1.0), A8, SimulatedOracle(TRUTH), budget=7, random_state=0)
    assert [answer.question.rows[0] for answer in state.answers] == [0, 6, 3, 5, 1, 4, 2]
    assert [answer.value for answer in state.answers] == [0, 2, 1, 2, 0, 2, 0]
    assert {answer.question.kind for answer in state.answers} == {"label"}
    assert "in a dense region" in state.answers[0].question.why


def test_rows_that_are_not_dense_come_last():
    strategy = DenseSeeds(3, threshold=1.0)
    state = interview(strategy, A8, SimulatedOracle(TRUTH), budget=9, random_state=0)
    assert state.answers[7].question.rows == (7,)
    assert "dense" not in state.answers[7].question.why
    assert state.asked == 8  # then nothing is left
    assert strategy.ask(state, A8) == []


def test_the_median_is_the_threshold_where_none_is_given_or_none_is_reached():
    for threshold in (None, 5.0):
        strategy = DenseSeeds(3, threshold=threshold)
        ready = strategy._prepare(A8, strategy.start(A8, budget=1, random_state=0))
        assert ready.dense.tolist() == [score >= np.median(LDS) for score in LDS]
        assert ready.first == 0


@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 12))
def test_local_density_counts_shared_neighbors(seed, n, k):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    order = np.argsort(cdist(X, X) + np.diag([np.inf] * n), axis=1)[:, : min(k, n - 1)]
    sets = [set(row.tolist()) for row in order]
    plain = [sum(len(own & sets[q]) for q in own) / len(own) if own else 0.0 for own in sets]
    found = local_density(nearest_rows(X, k).rows)
    np.testing.assert_allclose(found, plain)
    assert (found >= 0).all()
    assert (found <= max(k - 1, 0)).all()


def test_blocks_change_nothing(monkeypatch):
    neighbors = nearest_rows(np.random.default_rng(0).normal(size=(50, 3)), 4).rows
    whole = local_density(neighbors)
    monkeypatch.setattr(module, "BLOCK", 64 * 7)
    np.testing.assert_array_equal(local_density(neighbors), whole)


@pytest.mark.parametrize("seed", range(4))
def test_most_scattered_rows_are_left_alone(seed):
    """Two tight groups in a thin cloud: seeds lie in the groups, rows that are plainly farthest lie in the cloud."""
    rng = np.random.default_rng(seed)
    groups = np.concatenate([rng.normal(scale=0.1, size=(40, 2)) - 3, rng.normal(scale=0.1, size=(40, 2)) + 3])
    X = np.concatenate([groups, rng.uniform(-9, 9, size=(20, 2))])
    y = np.concatenate([np.repeat([0, 1], 40), np.full(20, 2)])
    dense = y[rows_asked(DenseSeeds(), X, y, 12, random_state=seed)]
    far = y[rows_asked(ExploreMinMax(questions="label"), X, y, 12, random_state=seed)]
    assert (dense == 2).sum() <= 2
    assert (far == 2).sum() >= 9
    assert {0, 1} <= set(dense[:4].tolist())


@given(st.integers(0, 2**16))
def test_seeds_are_farthest_first_among_dense_rows(seed):
    X = np.random.default_rng(seed).normal(size=(30, 3))
    strategy = DenseSeeds(4)
    ready = strategy._prepare(X, strategy.start(X, budget=1, random_state=0))
    rows = rows_asked(strategy, X, np.zeros(30), int(ready.dense.sum()), random_state=seed)
    assert sorted(rows) == np.flatnonzero(ready.dense).tolist()
    for i in range(1, len(rows)):
        closest = np.where(ready.dense, cdist(X, X[rows[:i]]).min(axis=1), -1)
        assert closest[rows[i]] == pytest.approx(closest.max())


def test_labels_that_are_given_count_as_asked():
    clues = Clues(8, labels=["a", "", "", "", "", "", "c", ""])
    state = interview(
        DenseSeeds(3, threshold=1.0), A8, SimulatedOracle(list("aaabcccb")), budget=5, clues=clues, random_state=0
    )
    assert [answer.question.rows[0] for answer in state.answers] == [3, 5, 1, 4, 2]
    known = [state.clues.classes_[code] for code in state.clues.labels[:7]]
    assert known == list("aaabccc")


def test_contradictory_labels_of_one_component_are_one_set():
    clues = Clues(8, labels=["a", "c", *[""] * 6], must=[(0, 1)])
    rows = rows_asked(DenseSeeds(3), A8, list("aaabcccb"), 6, clues=clues, random_state=0)
    assert sorted(rows) == [2, 3, 4, 5, 6, 7]


def test_pairs_begin_at_the_densest_row():
    strategy = DenseSeeds(3, threshold=1.0, questions="pair")
    state = interview(strategy, A8, SimulatedOracle(TRUTH), budget=4, random_state=9)
    assert [answer.question.rows for answer in state.answers] == [(6, 0), (3, 0), (3, 6), (5, 6)]


def test_what_nobody_knows_is_not_asked_again():
    strategy = DenseSeeds(3, threshold=1.0)
    state = strategy.start(A8, budget=8, random_state=0)
    rows = []
    while questions := strategy.ask(state, A8, size=2):
        rows += [question.rows[0] for question in questions if question.kind == "label"]
        state = strategy.tell(state, [Answer(question, None) for question in questions])
    assert rows == [0, 6, 3, 5, 1, 4, 2, 7]


def test_many_rows_are_sampled():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 9])
    strategy = DenseSeeds(5, sample_size=60)
    ready = strategy._prepare(X, strategy.start(X, budget=1, random_state=0))
    assert 30 <= ready.dense.sum() < 60
    y = np.repeat([0, 1], 150)
    assert len({y[row] for row in rows_asked(strategy, X, y, 2, random_state=0)}) == 2
    # When the sample is exhausted, the other rows follow.
    rows = rows_asked(strategy, X, y, 300, random_state=0)
    assert sorted(rows) == list(range(300))


@pytest.mark.parametrize("X", [[[3.0]], [[3.0], [3.0]], [[0.0], [0.0], [1.0]]])
def test_few_rows(X):
    assert sorted(rows_asked(DenseSeeds(), X, list(range(len(X))), 9, random_state=0)) == list(range(len(X)))
