"""BoundaryDBSCAN: the worked example of the specification, regions by brute force, and the questions about borders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from cluewise import Clues
from cluewise.active import Answer, SimulatedOracle, interview
from cluewise.active import _boundary as module
from cluewise.active._boundary import BoundaryDBSCAN, knee, regions

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
A8_TRUTH = [0, 0, 0, 1, 2, 2, 2, 1]
BLOBS, TRUTH = make_blobs([30, 25, 20], n_features=2, cluster_std=1.0, center_box=(-8, 8), random_state=1)


def log(state):
    return [[*answer.question.rows, int(answer.value)] for answer in state.answers]


def test_the_worked_example():
    """[active_selecting_dbscan]: Q=9, but the core rows are exhausted after five questions."""
    found = regions(A8, np.arange(8), 1.3, 3)
    assert found.core.tolist() == [0, 4]
    assert found.border.tolist() == [1, 2, 3, 5, 6, 7]
    one = BoundaryDBSCAN(eps=1.3, min_samples=3)
    state = interview(one, A8, SimulatedOracle(A8_TRUTH), budget=9, clues=[0, *[-1] * 7], random_state=0)
    assert log(state)[:5] == [[0, 2, 1], [0, 1, 1], [4, 0, 0], [4, 6, 1], [4, 5, 1]]
    assert all("random" in answer.question.why for answer in state.answers[5:])


def test_the_worked_example_in_one_batch():
    one = BoundaryDBSCAN(eps=1.3, min_samples=3)
    state = one.start(A8, [0, *[-1] * 7], budget=9, random_state=0)
    assert [question.rows for question in one.ask(state, A8, size=9)] == [(0, 2), (0, 1), (4, 0), (4, 6), (4, 5)]
    assert [question.rows for question in one.ask(state, A8, size=3)] == [(0, 2), (0, 1), (4, 0)]


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0.05, 3.0))
def test_core_rows_are_those_with_enough_neighbors(seed, min_samples, eps):
    X = np.random.default_rng(seed).normal(size=(10, 2))
    found = regions(X, np.arange(10), eps, min_samples)
    enough = (cdist(X, X) <= eps).sum(axis=1) >= min(min_samples, 10)
    assert found.core.tolist() == np.flatnonzero(enough).tolist()
    assert found.border.tolist() == np.flatnonzero(~enough).tolist()


def test_eps_is_the_knee_of_the_distances():
    assert knee(np.array([5.0, 1.0, 1.2, 1.1, 1.3, 9.0])) == 1.3
    assert knee(np.full(4, 2.0)) == 2.0
    assert knee(np.zeros(3)) == 0.0
    assert knee(np.arange(5.0)) == 4.0
    found = regions(BLOBS, np.arange(75), None, 5)
    away = NearestNeighbors(n_neighbors=5).fit(BLOBS).kneighbors(BLOBS)[0][:, -1]
    curve = np.sort(away)
    slope = (curve[-1] - curve[0]) / 74
    assert found.eps == pytest.approx(curve[np.argmin(curve - slope * np.arange(75))])
    assert 0 < len(found.border) < len(found.core)


@given(st.integers(0, 10**6))
def test_every_question_is_about_a_core_row_and_neighborhoods_are_pure(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=75)
    one = BoundaryDBSCAN()
    state = interview(one, BLOBS, SimulatedOracle(truth), budget=30, random_state=seed)
    core = set(one._kept[2].ready.core.tolist())
    asked = [answer for answer in state.answers if "random" not in answer.question.why]
    assert len(asked) == 30
    assert all(answer.question.rows[0] in core for answer in asked)
    for answer in asked:
        first, second = answer.question.rows
        if "border" in answer.question.why:
            border = one._kept[2].ready.border
            assert second in border[np.argsort(((BLOBS[border] - BLOBS[first]) ** 2).sum(axis=1))[:2]]
        else:
            assert "farthest" in answer.question.why


def test_core_rows_come_farthest_first():
    one = BoundaryDBSCAN()
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=40, random_state=3)
    core = one._kept[2].ready.core
    order = list(dict.fromkeys(answer.question.rows[0] for answer in state.answers))
    assert len(order) > 8
    taken = [order[0]]
    for row in order[1:]:
        away = cdist(BLOBS[core], BLOBS[taken]).min(axis=1)
        assert row == core[np.argmax(away)]
        taken.append(row)


def test_a_core_row_is_compared_with_the_nearest_neighborhood_first_and_with_no_more_than_needed():
    state = interview(BoundaryDBSCAN(), BLOBS, SimulatedOracle(TRUTH), budget=40, random_state=3)
    placing = [answer for answer in state.answers if "farthest" in answer.question.why]
    for row in {answer.question.rows[0] for answer in placing}:
        said = [answer for answer in placing if answer.question.rows[0] == row]
        assert [answer.value for answer in said[:-1]] == [False] * (len(said) - 1)
        away = [float(((BLOBS[row] - BLOBS[answer.question.rows[1]]) ** 2).sum()) for answer in said]
        assert away == sorted(away)
        assert len(said) <= 3


def test_the_other_reading_of_the_second_border_row():
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.4], [2.5], [9.0]])
    near, far = (BoundaryDBSCAN(eps=1.5, min_samples=5, second=second) for second in ("next", "farthest"))
    asked = []
    for one in (near, far):
        state = one.start(X, [-1, -1, 0, -1, -1, -1, -1], budget=9, random_state=0)
        scene = one._scene(state, X)
        assert scene.ready.core.tolist() == [0, 1, 2, 3, 4]
        asked.append([one._beside(scene, row) for row in (0, 4)])
    assert asked == [[[5, 6], [5, 6]], [[5], [5]]]


def test_the_farthest_border_row_within_eps():
    X = np.array([[0.0], [0.01], [-0.01], [0.8], [0.9], [-1.0], [5.0]])
    one = BoundaryDBSCAN(eps=1.0, min_samples=6, second="farthest")
    scene = one._scene(one.start(X, budget=3), X)
    assert scene.ready.core.tolist() == [0, 2]
    assert scene.ready.border.tolist() == [1, 3, 4, 5, 6]
    assert one._beside(scene, 0) == [1, 5]
    assert BoundaryDBSCAN(eps=1.0, min_samples=6)._beside(scene, 0) == [1, 5]  # kept from before
    scene.memo.clear()
    assert BoundaryDBSCAN(eps=1.0, min_samples=6)._beside(scene, 0) == [1, 3]


@pytest.mark.filterwarnings("ignore:no row has")
def test_without_core_rows_questions_are_drawn_at_random():
    one = BoundaryDBSCAN(eps=0.0, min_samples=2)
    state = one.start(A8, budget=2, random_state=0)
    with pytest.warns(UserWarning, match="no row has 2 rows within eps=0"):
        questions = one.ask(state, A8, size=2)
    assert len(questions) == 2
    assert all("random" in question.why for question in questions)


def test_without_border_rows_core_rows_are_compared():
    one = BoundaryDBSCAN(eps=100.0)
    state = interview(one, A8, SimulatedOracle(A8_TRUTH), budget=12, random_state=0)
    assert all("border" not in answer.question.why for answer in state.answers)
    assert len({row for answer in state.answers for row in answer.question.rows}) == 8


def test_equal_rows_are_asked_about_once():
    X = np.repeat([[0.0], [5.0], [9.0]], 6, axis=0)
    one = BoundaryDBSCAN()
    state = interview(one, X, SimulatedOracle(np.repeat([0, 1, 2], 6)), budget=10, random_state=0)
    chosen = [answer for answer in state.answers[:3] if "random" not in answer.question.why]
    assert len({float(X[row, 0]) for answer in chosen for row in answer.question.rows}) == 3
    assert len(chosen) == 3  # the second core row meets one neighborhood, the third one two of them
    assert "random" in state.answers[3].question.why
    assert state.asked == 10


def test_a_batch_that_is_answered_in_part():
    one = BoundaryDBSCAN()
    state = one.start(BLOBS, budget=20, random_state=0)
    questions = one.ask(state, BLOBS, size=12)
    assert len(questions) == 12
    later = one.tell(state, Answer(questions[0], True))
    fresh = BoundaryDBSCAN()
    assert one.ask(later, BLOBS, size=12) == fresh.ask(later, BLOBS.copy(), size=12)


@pytest.mark.parametrize("kind", ["which", "label"])
def test_other_kinds_of_questions(kind):
    one = BoundaryDBSCAN(questions=kind)
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=25, random_state=0)
    kinds = {answer.question.kind for answer in state.answers}
    assert kinds == ({"label"} if kind == "label" else {"pair", "which"})
    assert len(state.clues.tied) > 10


def test_given_neighborhoods_are_used():
    labels = np.where(np.arange(75) % 5 == 0, TRUTH, -1)
    one = BoundaryDBSCAN()
    state = one.start(BLOBS, labels, budget=40, random_state=0)
    first = one.ask(state, BLOBS)[0]
    assert labels[first.rows[0]] >= 0
    assert "border" in first.why
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=40, clues=labels, random_state=0)
    later = [answer.question.rows[0] for answer in state.answers if "farthest" in answer.question.why]
    assert later
    assert all(labels[row] < 0 for row in later)


def test_of_many_rows_a_sample_is_asked_about(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 30)
    one = BoundaryDBSCAN()
    state = interview(one, BLOBS, SimulatedOracle(TRUTH), budget=10, random_state=0)
    ready = one._kept[2].ready
    rows = {*ready.core.tolist(), *ready.border.tolist()}
    assert len(rows) == 30
    assert {row for answer in state.answers for row in answer.question.rows} <= rows


@pytest.mark.parametrize(("n", "d", "count"), [(400, 3, 6), (60, 5, 6), (9, 3, 4), (300, 1, 4)])
def test_how_many_neighbors_make_a_core_row(n, d, count):
    X = np.random.default_rng(0).normal(size=(n, d))
    auto, given = (BoundaryDBSCAN(min_samples=value) for value in ("auto", count))
    found, wanted = (one._scene(one.start(X, budget=1), X).ready for one in (auto, given))
    assert found.core.tolist() == wanted.core.tolist()
    assert found.eps == wanted.eps


def test_few_rows():
    one = BoundaryDBSCAN()
    assert not one.ask(one.start([[1.0]], budget=2), [[1.0]])
    state = interview(one, [[1.0], [2.0]], SimulatedOracle([0, 1]), budget=2)
    assert state.asked == 1


def test_clues_about_no_core_row_leave_the_beginning_to_the_seed():
    x = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) * 0.3, [[9.0, 9.0], [9.0, -9.0]]])
    strategy = BoundaryDBSCAN()
    first = {
        strategy.ask(strategy.start(x, Clues(62, must=[(60, 61)]), budget=5, random_state=seed), x)[0].rows[0]
        for seed in range(6)
    }
    assert len(first) > 2
