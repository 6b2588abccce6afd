"""Composite questions: utilities by hand, how they are combined, EXP3, batches, large data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from cluewise import Clues, PCKMeans
from cluewise.active import Answer, Question, RandomPairs, SimulatedOracle, State, interview
from cluewise.active._composite import pool as pool_module
from cluewise.active._composite.composite import CompositeQuestions
from cluewise.active._composite.utilities import UTILITIES, View, agreement, arms, chances, rank

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
# The committee of 10.8 of the specification.
BASES = np.array(
    [
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 1, 2, 2, 2, 1],
        [0, 0, 0, 0, 2, 2, 1, 1],
        [0, 0, 0, 0, 2, 2, 2, 1],
        [0, 0, 0, 1, 2, 2, 1, 1],
    ],
    dtype=np.uint8,
)
SETS = [np.array([0, 1, 2]), np.array([4, 5]), np.array([7])]
X, Y = make_blobs([25, 20, 15], n_features=3, cluster_std=2.0, center_box=(-6, 6), random_state=3)


def view(pairs, together, **changes):
    none = np.empty((0, 2), dtype=int)
    parts = {
        "X": A8,
        "pairs": np.array(pairs),
        "placing": np.ones(len(pairs), dtype=bool),
        "together": np.array(together, dtype=float),
        "chances": np.full((8, 2), 0.5),
        "committee": BASES,
        "density": np.arange(8.0),
        "asked": np.array([0]),
        "must": none,
        "cannot": none,
        "clustering": lambda: np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    }
    return View(**{**parts, **changes})


def test_agreement_is_the_row_of_the_specification():
    pairs = np.array([(3, j) for j in range(8)])
    np.testing.assert_allclose(agreement(BASES, pairs), [0.6, 0.6, 0.6, 1, 0, 0, 0.2, 0.4])


def test_chances_are_votes_of_members():
    # S of row 3 is (0.6, 0, 0.4) in the specification, means over 3, 2 and 1 members; sums are votes.
    votes = np.array([3 * 0.6, 0, 0.4])
    found = chances(BASES, SETS, 0.5, more=False)[3]
    np.testing.assert_allclose(found, [*(votes + 0.5 / 3) / (votes.sum() + 0.5), 0])
    more = chances(BASES, SETS, 0.5, more=True)[3]
    np.testing.assert_allclose(more, np.append(votes + 0.125, 0.125) / (votes.sum() + 0.5))


def test_chances_without_anybody_around_are_equal():
    apart = np.array([[0, 0, 1], [0, 0, 1]], dtype=np.uint8)
    np.testing.assert_allclose(chances(apart, [np.array([0]), np.array([1])], 0.5, more=True)[2], [1 / 3] * 3)


def test_a_set_outside_of_the_pool_gets_no_votes():
    found = chances(BASES, [np.array([0]), np.array([], dtype=int)], 0.5, more=False)
    np.testing.assert_allclose(found[0], [1.25 / 1.5, 0.25 / 1.5, 0])


def test_distance_is_to_the_nearest_row_asked_about():
    found = UTILITIES["distance"](view([(1, 0), (3, 0)], [0.5, 0.5], asked=np.array([0, 2])))
    np.testing.assert_allclose(found, [1.04, 1.5**2 + 0.3**2])
    assert UTILITIES["distance"](view([(1, 0)], [0.5], asked=np.array([], dtype=int))).tolist() == [0]


def test_uncertainty_is_the_entropy_of_the_row():
    odds = np.tile([0.7, 0.2, 0.1], (8, 1))
    odds[2] = [0.4, 0.4, 0.2]
    found = UTILITIES["uncertainty"](view([(1, 0), (2, 0)], [0.7, 0.4], chances=odds))
    np.testing.assert_allclose(found, [entropy([0.7, 0.2, 0.1]), entropy([0.4, 0.4, 0.2])])


def test_density_is_that_of_the_row():
    assert UTILITIES["density"](view([(5, 0), (2, 4)], [0.5, 0.5])).tolist() == [5, 2]


def test_disagreement_is_the_entropy_of_the_vote():
    found = UTILITIES["disagreement"](view([(3, 0), (3, 4)], [0.5, 0.5]))
    np.testing.assert_allclose(found, [entropy([0.6, 0.4]), 0], atol=1e-12)


def test_informativeness_is_the_probability_of_a_contradiction():
    found = UTILITIES["informativeness"](view([(3, 0), (3, 7)], [0.9, 0.3]))
    np.testing.assert_allclose(found, [0.1, 0.3])


def test_coherence_is_that_of_the_specification():
    """11.2: of three must-links and three cannot-links, 4 of 9 pairs do not overlap either way."""
    must, cannot = [(0, 1), (3, 7), (4, 6)], np.array([(2, 7), (3, 4), (1, 5)])
    found = UTILITIES["coherence"](view(must, [1, 1, 1], cannot=cannot))
    np.testing.assert_allclose(found, [2 / 3, 0, 2 / 3])
    assert found.mean() == pytest.approx(0.444444, abs=1e-6)
    other = UTILITIES["coherence"](view(cannot, [0, 0, 0], must=np.array(must)))
    assert other.mean() == pytest.approx(0.444444, abs=1e-6)
    assert UTILITIES["coherence"](view(must, [1, 1, 1], must=np.array(must))).tolist() == [1, 1, 1]


def test_cost_is_entropy_per_question():
    odds = np.tile([0.6, 0.3, 0.1], (8, 1))
    found = UTILITIES["cost"](view([(1, 0)], [0.6], chances=odds))
    # 1 question with 0.6, 2 with 0.3; a new kind is known after both.
    np.testing.assert_allclose(found, entropy([0.6, 0.4]) / (0.6 + 0.6 + 0.2))
    # Where a new kind is likeliest, it still takes a no to each of three neighborhoods.
    odds = np.tile([0.05, 0.4, 0.05, 0.5], (8, 1))
    found = UTILITIES["cost"](view([(1, 0)], [0.4], chances=odds))
    np.testing.assert_allclose(found, entropy([0.6, 0.4]) / (0.4 + 2 * 0.05 + 3 * 0.05 + 3 * 0.5))


def test_ranks():
    assert rank(np.array([3.0, 1.0, 3.0, 7.0])).tolist() == [0.5, 0, 0.5, 1]
    assert rank(np.array([4.0])).tolist() == [1]
    assert rank(np.array([])).tolist() == []
    assert rank(np.zeros(5)).tolist() == [0.5] * 5


@settings(max_examples=30, deadline=None)
@given(arrays(float, st.integers(2, 20), elements=st.integers(-5, 5)))
def test_ranks_lie_between_0_and_1_and_keep_the_order(values):
    found = rank(values)
    assert found.min() >= 0
    assert found.max() <= 1
    assert (np.sign(found[:, None] - found) == np.sign(values[:, None] - values)).all()
    np.testing.assert_array_equal(rank(np.exp(values)), found)


# --- EXP3 ------------------------------------------------------------------------------------------------------------


def test_exp3_step_by_step():
    """Auer et al.: p = (1 − γ) w / Σw + γ / K, w *= exp(γ reward / (p K))."""
    rate, rewards = 0.3, [1.0, 0.0, 1.0, 1.0]
    rng, w, expected = np.random.default_rng(5), np.ones(3), []
    for t in range(6):
        p = (1 - rate) * w / w.sum() + rate / 3
        expected.append(int(rng.choice(3, p=p)))
        if t < 4:
            w[expected[-1]] *= np.exp(rate * rewards[t] / (p[expected[-1]] * 3))
    assert arms(rewards, 3, 2, rate, np.random.default_rng(5)) == expected


def test_exp3_finds_the_arm_that_pays():
    rewards: list[float] = []
    for _ in range(300):
        rewards.append(float(arms(rewards, 4, 1, 0.2, np.random.default_rng(0))[-1] == 2))
    assert np.mean(rewards[-100:]) > 0.6


def test_adapted_weights_draw_utilities_by_what_they_taught():
    strategy = CompositeQuestions(3, weights="adapt")
    state = interview(strategy, X, SimulatedOracle(Y), budget=30, random_state=0)
    again = CompositeQuestions(3, weights="adapt")
    half = State.from_json(state.undone().undone().to_json())
    assert again.ask(half, X) == strategy.ask(half, X)
    assert len({answer.question.why for answer in state.answers}) > 3


# --- the strategy ----------------------------------------------------------------------------------------------------


def test_with_one_utility_its_best_row_is_asked():
    for name in ("density", "distance"):
        strategy = CompositeQuestions(3, weights={name: 1})
        state = strategy.start(X, budget=5, random_state=0)
        question = strategy.ask(state, X)[0]
        scene = strategy._scene(state, X)
        seen = strategy._view(scene, strategy._hoods(scene))
        assert question.rows[0] == scene.ready.rows[seen.pairs[np.argmax(UTILITIES[name](seen)), 0]]
        assert question.score == 1


def test_sum_and_product_by_hand():
    strategy = CompositeQuestions(3, weights={"density": 3, "uncertainty": 1})
    other = CompositeQuestions(3, weights={"density": 3, "uncertainty": 1}, combine="product")
    for one, combined in ((strategy, lambda a, b: (3 * a + b) / 4), (other, lambda a, b: (a**3 * b) ** 0.25)):
        scene = one._scene(one.start(X, budget=5, random_state=0), X)
        seen = one._view(scene, one._hoods(scene))
        a, b = (rank(UTILITIES[name](seen)) for name in ("density", "uncertainty"))
        np.testing.assert_allclose(one._scores(scene, seen, 0)[0], combined(a, b), atol=0.02)


def test_own_utility_joins_the_others_and_is_resumable():
    one = CompositeQuestions(3, utilities={"late": late_rows}, weights={"late": 1})
    state = one.start(X, budget=5, random_state=0)
    question = one.ask(state, X)[0]
    assert question.rows[0] == len(X) - 1
    assert question.why == "a row that is high in late."
    assert state.parameters["utilities"] == {"late": f"{__name__}.late_rows"}
    again = CompositeQuestions(3, utilities={"late": late_rows}, weights={"late": 1})
    assert again.ask(State.from_json(state.to_json()), X) == [question]
    both = CompositeQuestions(3, utilities={"late": late_rows})
    assert both.ask(both.start(X, budget=5, random_state=0), X)[0].rows[0] > len(X) // 3


def late_rows(seen):
    return seen.pairs[:, 0].astype(float)


def test_a_row_is_finished_before_another_is_begun():
    strategy = CompositeQuestions(3)
    state = strategy.start(X, budget=20, random_state=0)
    first = strategy.ask(state, X)[0]
    state = strategy.tell(state, Answer(Question("pair", (5, first.rows[1])), False))
    state = strategy.tell(state, Answer(first, False))
    row = state.answers[0].question.rows[0]
    # Rows 5 and the first one are apart from the first neighborhood: one founds the second, the other is compared.
    follow = strategy.ask(state, X)[0]
    assert {first.rows[0], row} & set(follow.rows)


def test_a_batch_is_about_different_rows_far_from_each_other():
    strategy = CompositeQuestions(3)
    state = interview(strategy, X, SimulatedOracle(Y), budget=30, random_state=0)
    state = _longer(state, 60)
    batch = strategy.ask(state, X, size=8)
    rows = [question.rows[0] for question in batch]
    assert len(set(rows)) == len(rows) == 8
    committee = strategy._scene(state, X).ready.committee
    pairs = np.array([(i, j) for a, i in enumerate(rows) for j in rows[:a]])
    greedy = np.array(rows)[np.argsort([-question.score for question in batch], kind="stable")]
    assert agreement(committee, pairs).max() < 1
    assert greedy[0] == rows[0]


def _longer(state, budget):
    return replace(state, budget=budget)


def test_pairs_across_a_boundary_are_candidates():
    strategy = CompositeQuestions(3, weights={"wide": 1}, utilities={"wide": lambda seen: 1.0 - seen.placing})
    state = _longer(interview(CompositeQuestions(3), X, SimulatedOracle(Y), budget=12, random_state=0), 30)
    state = State.from_json(strategy.start(X, budget=30, random_state=0).to_json()).plus(state.answers)
    scene = strategy._scene(state, X)
    seen = strategy._view(scene, strategy._hoods(scene))
    assert not seen.placing.all()
    own = seen.chances.argmax(axis=1)
    i, j = seen.pairs[~seen.placing].T
    assert (own[i] != own[j]).all()
    if not strategy._hoods(scene).placing:
        question = strategy.ask(state, X)[0]
        assert tuple(question.rows) in {tuple(pair) for pair in scene.ready.rows[seen.pairs[~seen.placing]].tolist()}


@pytest.mark.parametrize("kind", ["which", "label"])
def test_other_kinds_of_questions(kind):
    strategy = CompositeQuestions(3, questions=kind)
    state = interview(strategy, X, SimulatedOracle(Y), budget=25, random_state=0)
    assert state.asked == 25
    assert {answer.question.kind for answer in state.answers} <= {kind, "pair"}
    assert PCKMeans(3, random_state=0).fit(X, clues=state.clues).n_clusters_ == 3


def test_informativeness_looks_at_the_clustering_by_the_answers():
    strategy = CompositeQuestions(weights={"informativeness": 1})
    state = interview(strategy, X, SimulatedOracle(Y), budget=25, random_state=0)
    scene = strategy._scene(state, X)
    labels = strategy._clustering(scene, len(state.answers))
    assert len(labels) == len(X)
    fresh = CompositeQuestions(weights={"informativeness": 1})
    assert (fresh._clustering(fresh._scene(state, X), len(state.answers)) == labels).all()


def test_large_data_are_asked_about_through_a_pool(monkeypatch):
    monkeypatch.setattr(pool_module, "ROWS", 30)
    given = Clues(len(X), must=[(0, 1)], cannot=[(1, 2)])
    strategy = CompositeQuestions(3)
    state = strategy.start(X, given, budget=20, random_state=0)
    rows = strategy._scene(state, X).ready.rows
    assert 30 <= len(rows) <= 31
    assert {0, 1, 2} <= set(rows.tolist())
    outside = sorted(set(range(len(X))) - set(rows.tolist()))[:2]
    # Somebody speaks of rows that are not in the pool.
    state = strategy.tell(state, Answer(Question("pair", (outside[0], 0)), False))
    state = strategy.tell(state, Answer(Question("pair", (outside[1], outside[0])), False))
    while questions := strategy.ask(state, X):
        state = strategy.tell(state, SimulatedOracle(Y)(questions))
    assert state.asked == 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": {"beauty": 1}}, "there is no utility 'beauty'"),
        ({"weights": {"cost": -1}}, "the weight of 'cost' is -1"),
        ({"weights": {"cost": 0}}, "one of the weights is above 0"),
        ({"weights": {"cost": True}}, "the weight of 'cost' is True"),
        ({"utilities": {"mine": 3}}, "the utility 'mine' is a function"),
    ],
)
def test_parameters_are_checked_at_the_start(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        CompositeQuestions(3, **parameters).start(X, budget=1)


@pytest.mark.parametrize(
    ("utility", "message"),
    [
        (lambda view: np.ones(3), r"'mine' gave an array of shape \(3,\); it gives a number for each candidate"),
        (lambda view: np.full(len(view.pairs), np.nan), "'mine' gave nan"),
        (lambda view: 1.0, r"'mine' gave an array of shape \(\)"),
    ],
)
def test_what_an_own_utility_gives_is_checked(utility, message):
    with pytest.raises(ValueError, match=message):
        interview(CompositeQuestions(3, utilities={"mine": utility}), X, SimulatedOracle(Y), budget=1, random_state=0)


def likes(view, column, sign=1.0):
    return sign * view.X[view.pairs[:, 0], column]


class Likes:
    def __call__(self, view):
        return likes(view, 1)


@pytest.mark.parametrize("utility", [partial(likes, column=1), partial(likes, column=1, sign=1.0), Likes()])
def test_a_utility_may_be_anything_that_can_be_called(utility):
    """Two of them with other settings are two strategies."""
    strategy = CompositeQuestions(3, weights={"mine": np.float32(1)}, utilities={"mine": utility})
    state = interview(strategy, X, SimulatedOracle(Y), budget=3, random_state=0)
    again = State.from_json(state.to_json())
    assert strategy.tell(again, []) == state
    other = CompositeQuestions(3, weights={"mine": 1}, utilities={"mine": partial(likes, column=0)})
    with pytest.raises(ValueError, match="this conversation was started by"):
        other.tell(state, [])


def test_it_teaches_more_than_random_questions():
    """Four classes that overlap; the mean over three conversations of 60 questions."""
    rows, truth = make_blobs([60, 50, 40, 30], n_features=4, cluster_std=2.5, center_box=(-5, 5), random_state=1)
    found = {}
    for strategy in (CompositeQuestions(4), RandomPairs()):
        scores = []
        for seed in range(3):
            state = interview(strategy, rows, SimulatedOracle(truth), budget=60, random_state=seed)
            labels = PCKMeans(4, random_state=seed).fit(rows, clues=state.clues).labels_
            scores.append(adjusted_rand_score(truth, labels))
        found[type(strategy).__name__] = np.mean(scores)
    assert found["CompositeQuestions"] > found["RandomPairs"] + 0.02
