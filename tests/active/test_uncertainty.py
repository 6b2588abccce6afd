"""Neighborhood-based uncertainty: H, E and p by hand and by definition, and which rows are asked about."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_blobs

from cluewise import Clues, COPKMeans, PCKMeans
from cluewise.active import Answer, SimulatedOracle, interview
from cluewise.active import _uncertainty as module
from cluewise.active._uncertainty import NeighborhoodUncertainty, _Forest, _renumber, membership, uncertainty


def line(*centers: float, each: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Groups of rows along a line, half a unit wide."""
    X = np.concatenate([center + np.linspace(-0.25, 0.25, each) for center in centers])[:, None]
    return X, np.repeat(np.arange(len(centers)), each)


def test_entropy_and_questions_by_hand():
    p = np.array([[0.5, 1.0, 0.2, 0.25], [0.25, 0.0, 0.2, 0.5], [0.25, 0.0, 0.6, 0.25]])
    entropy, questions = uncertainty(p)
    np.testing.assert_allclose(entropy, [1.5 * np.log(2), 0, 0.95027, 1.5 * np.log(2)], atol=1e-5)
    np.testing.assert_allclose(questions, [0.5 + 2 * 0.25 + 3 * 0.25, 1, 0.6 + 2 * 0.2 + 3 * 0.2, 1.75])


def test_rows_like_nothing_may_belong_anywhere():
    np.testing.assert_allclose(membership(np.array([[0.0, 0.4], [0.0, 0.1]])), [[0.5, 0.8], [0.5, 0.2]])


weights = st.integers(1, 5).flatmap(lambda count: arrays(np.float64, (count, 3), elements=st.floats(0, 1, width=16)))


@given(weights)
@settings(max_examples=40)
def test_no_other_order_takes_fewer_questions(shares):
    p = membership(shares)
    np.testing.assert_allclose(p.sum(axis=0), 1)
    entropy, questions = uncertainty(p)
    assert (entropy >= -1e-12).all()
    assert (entropy <= np.log(len(p)) + 1e-12).all()
    ranks = np.arange(1, len(p) + 1)
    least = np.min([ranks @ p[list(order)] for order in permutations(range(len(p)))], axis=0)
    np.testing.assert_allclose(questions, least)


def test_similarity_is_the_share_of_trees_with_a_common_leaf():
    X, y = make_blobs(40, n_features=3, centers=4, cluster_std=3.0, random_state=0)
    forest = _Forest(X.astype(np.float32), np.arange(40), y, 7, 0)
    M = (forest.leaves[:, :, None] == forest.leaves[:, None, :]).mean(axis=0)
    assert (np.diag(M) == 1).all()
    assert 0 < (M < 1).mean() < 1
    sets = [[0, 5, 9], [1], [2, 3]]
    np.testing.assert_allclose(forest.shares(sets), [M[:, rows].mean(axis=1) for rows in sets])
    np.testing.assert_allclose(forest.to([4, 8]), M[:, [4, 8]].max(axis=1))
    # A tree whose leaves are pure in its own sample separates the classes on most rows.
    assert M[y[:, None] == y].mean() > 2 * M[y[:, None] != y].mean()


def test_names_of_clusters_do_not_count():
    assert _renumber(np.array([4, 4, 0, 7, 0])).tolist() == [0, 0, 1, 2, 1]
    assert _renumber(np.array([-1, 2, -1])).tolist() == [0, 1, 0]


def test_the_row_between_two_neighborhoods_is_asked_about():
    """Rows 0…7 and 8…15 are two tight groups; row 16 lies half way between them."""
    X, _ = line(0, 10)
    X = np.vstack([X, [[5.0]]])
    strategy = NeighborhoodUncertainty(2, n_trees=200)
    labels = np.full(17, -1)
    labels[[0, 1, 6, 7]], labels[[8, 9, 14, 15]] = 0, 1
    state = strategy.start(X, Clues.from_labels(labels), budget=5, random_state=0)
    (question,) = strategy.ask(state, X)
    assert question.rows[0] == 16
    assert question.score > 0.1
    assert question.why == "a row that may belong to several neighborhoods."
    scene = strategy._scene(state, X)
    hoods = strategy._hoods(scene)
    score = strategy._fit(scene, hoods).score
    assert score[16] == score.max()
    # The more likely neighborhood comes first.
    order = np.argsort(strategy._distances(scene, hoods, 16), kind="stable")
    p = strategy._fit(scene, hoods).p[:, 16]
    assert p[order[0]] >= p[order[1]]
    assert question.rows[1] in hoods.sets[order[0]]


def test_with_one_neighborhood_an_unlike_row_is_asked_about():
    X, y = line(0, 10, 20)
    strategy = NeighborhoodUncertainty(3)
    state = strategy.start(X, Clues(24, labels=[0, 0] + [-1] * 22), budget=5, random_state=0)
    (question,) = strategy.ask(state, X)
    assert y[question.rows[0]] != 0
    assert question.why == "a row unlike those that are placed."


def test_all_classes_are_found_soon():
    """A row of a class without a neighborhood is like none of them: its place is the least certain."""
    X, y = line(0, 10, 20, 30)
    state = interview(NeighborhoodUncertainty(4), X, SimulatedOracle(y), budget=6, random_state=0)
    asked = {row for answer in state.answers for row in answer.question.rows}
    assert {y[row] for row in asked} == {0, 1, 2, 3}


def test_nothing_is_fitted_while_a_row_is_on_its_way(monkeypatch):
    X, y = make_blobs([20, 15, 15], n_features=2, cluster_std=2.0, center_box=(-5, 5), random_state=3)
    fits = []
    plain = PCKMeans.fit
    monkeypatch.setattr(PCKMeans, "fit", lambda self, *a, **b: fits.append(1) or plain(self, *a, **b))
    strategy = NeighborhoodUncertainty(3, infer_last=False)
    labels = np.full(50, -1)
    labels[[np.flatnonzero(y == c)[0] for c in range(3)]] = range(3)
    state = strategy.start(X, Clues.from_labels(labels), budget=9, random_state=0)
    (question,) = strategy.ask(state, X)
    assert len(fits) == 1
    state = strategy.tell(state, Answer(question, False))
    (again,) = strategy.ask(state, X)
    assert again.rows[0] == question.rows[0]
    assert len(fits) == 1
    state = strategy.tell(state, Answer(again, True))
    strategy.ask(state, X)
    assert len(fits) == 2


def test_a_forest_is_kept_only_where_it_would_be_the_same(monkeypatch):
    """A new object that fits everything anew asks the same, whatever was kept."""
    X, y = make_blobs([30, 20, 20], n_features=2, cluster_std=3.0, center_box=(-5, 5), random_state=5)
    grown = []
    plain = _Forest.__init__
    monkeypatch.setattr(_Forest, "__init__", lambda self, *a: grown.append(1) or plain(self, *a))
    strategy = NeighborhoodUncertainty(3)
    state = strategy.start(X, budget=30, random_state=0)
    oracle, placed = SimulatedOracle(y), 0
    while questions := strategy.ask(state, X):
        before, fresh = len(grown), NeighborhoodUncertainty(3)
        assert fresh.ask(state, X) == questions
        grown[before:] = []
        state = strategy.tell(state, oracle(questions))
        placed += bool(state.answers[-1].value)
    assert 0 < len(grown) <= placed + 3


def test_large_data_are_sampled_by_a_stated_rule(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 40)
    monkeypatch.setattr(module, "PER_TREE", 15)
    X, y = make_blobs([40, 40, 20], n_features=2, cluster_std=1.0, center_box=(-9, 9), random_state=3)
    strategy = NeighborhoodUncertainty(3)
    state = interview(strategy, X, SimulatedOracle(y), budget=15, random_state=0)
    ready = strategy._scene(state, X).ready
    assert len(ready.sample) == 40
    assert (np.diff(ready.sample) > 0).all()
    fit = strategy._fit(strategy._scene(state, X), strategy._hoods(strategy._scene(state, X)))
    assert fit.p.shape == (3, 100)
    assert fit.forest.labels.shape == (40,)


def test_another_clusterer_in_between():
    X, y = make_blobs([20, 20, 20], n_features=2, cluster_std=1.0, center_box=(-9, 9), random_state=3)
    strategy = NeighborhoodUncertainty(3, estimator=COPKMeans(n_init=1))
    state = interview(strategy, X, SimulatedOracle(y), budget=12, random_state=0)
    assert state.asked == 12
    assert strategy.estimator.n_clusters == 8  # a copy was told


def test_given_links_reach_the_clustering_in_between():
    X, _ = line(0, 10, 20)
    strategy = NeighborhoodUncertainty(3)
    given_clues = Clues(24, labels=[0] + [-1] * 23, must=[(1, 2), (9, 10)], cannot=[(9, 20)], must_weight=np.inf)
    scene = strategy._scene(strategy.start(X, given_clues, budget=5, random_state=0), X)
    clues = module._clues(scene, strategy._hoods(scene))
    assert clues.components[9] == clues.components[10]
    assert clues.cannot.tolist() == [[9, 20]]
    assert not np.isinf(clues.must_weight).any()
    assert clues.labels[1] == clues.labels[2] >= 0  # the largest of what is joined is a neighborhood


@pytest.mark.parametrize(("questions", "whole"), [("pair", False), ("which", True), ("label", True)])
def test_where_one_question_places_a_row_only_uncertainty_counts(questions, whole):
    X, y = make_blobs([20, 20, 20], n_features=2, cluster_std=2.0, center_box=(-9, 9), random_state=3)
    strategy = NeighborhoodUncertainty(3, questions=questions)
    state = interview(strategy, X, SimulatedOracle(y), budget=10, random_state=0)
    assert {answer.question.kind for answer in state.answers} <= {questions, "pair"}
    scene = strategy._scene(state, X)
    fit = strategy._fit(scene, strategy._hoods(scene))
    entropy, expected = uncertainty(fit.p)
    np.testing.assert_allclose(fit.score, entropy if whole else entropy / expected)


def test_labels_begin_with_a_row_drawn_at_random():
    X, _ = line(0, 10)
    strategy = NeighborhoodUncertainty(2, questions="label")
    (question,) = strategy.ask(strategy.start(X, budget=3, random_state=0), X)
    assert question.why == "a row drawn at random, to begin with."


def test_a_batch_keeps_away_from_similar_rows():
    """Two groups of rows between the neighborhoods: a batch of two takes one row of each."""
    X, _ = line(0, 10, 20, each=4)
    X = np.vstack([X, np.full((5, 1), 5.0), np.full((5, 1), 15.0)])
    labels = np.full(22, -1)
    labels[:12] = np.repeat([0, 1, 2], 4)
    strategy = NeighborhoodUncertainty(3, n_trees=100)
    state = strategy.start(X, Clues.from_labels(labels), budget=9, random_state=0)
    rows = [question.rows[0] for question in strategy.ask(state, X, size=2)]
    assert {X[row, 0] for row in rows} == {5.0, 15.0}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_and_equal_rows(n):
    X = np.ones((n, 2), dtype=np.float32)
    state = interview(NeighborhoodUncertainty(5), X, SimulatedOracle(np.arange(n)), budget=10, random_state=0)
    assert state.asked == n * (n - 1) // 2


def test_more_neighborhoods_than_clusters():
    X, y = line(0, 10, 20, 30)
    strategy = NeighborhoodUncertainty(2, infer_last=False)
    state = interview(strategy, X, SimulatedOracle(y), budget=20, random_state=0)
    assert len(strategy._hoods(strategy._scene(state, X)).sets) == 4


def test_golden_questions():
    X, _ = make_blobs([20, 15, 10], n_features=3, cluster_std=2.0, center_box=(-5, 5), random_state=3)
    strategy = NeighborhoodUncertainty(3)
    labels = np.full(45, -1)
    labels[[0, 20, 40]] = [0, 1, 2]
    state = strategy.start(X, Clues.from_labels(labels), budget=9, random_state=7)
    assert [question.rows for question in strategy.ask(state, X, size=3)] == [(41, 0), (25, 0), (34, 0)]


def test_numbers_far_from_zero_change_no_question():
    """Seconds since 1970: trees compare numbers of 24 bits, in which all of these were equal."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 30)
    x = np.round(64 * (rng.normal(size=(90, 2)) * 20 + 60 * np.eye(3)[y, :2])) / 64  # the shift loses nothing
    asked = [
        [
            answer.question.rows
            for answer in interview(
                NeighborhoodUncertainty(3), x + shift, SimulatedOracle(y), budget=20, random_state=0
            ).answers
        ]
        for shift in (0.0, 1.7e9)
    ]
    assert asked[0] == asked[1]
