"""ExploreConsolidate: the worked example of the specification, its bounds, and what happens when k is not known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from cluewise import Clues
from cluewise.active import Answer, Question, SimulatedOracle, State, interview
from cluewise.active._explore import ExploreConsolidate

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
TRUTH = [0, 0, 0, 1, 2, 2, 2, 1]
FIRST = Clues(8, labels=[0] + [-1] * 7)  # row 0 founds the first neighborhood


def log(state: State) -> list[list[int]]:
    """Pairs and answers, as the specification writes them."""
    return [[*answer.question.rows, int(answer.value)] for answer in state.answers]


def separated(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes whose rows are closer to each other than to any row of another class."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=5 * k)])
    centers = 10 * rng.permutation(np.eye(k + 1)[:k])
    return centers[y] + rng.uniform(-0.5, 0.5, size=(len(y), k + 1)), y


def test_the_worked_example():
    strategy = ExploreConsolidate(3, order="index")
    state = interview(strategy, A8, SimulatedOracle(TRUTH), budget=8, clues=FIRST, random_state=0)
    explore, consolidate = log(state)[:3], log(state)[3:]
    assert explore == [[6, 0, 0], [7, 6, 0], [7, 0, 0]]
    assert consolidate == [[1, 0, 1], [2, 0, 1], [3, 7, 1], [4, 6, 1], [5, 6, 1]]
    assert state.clues.components.tolist() == [0, 0, 0, 1, 2, 2, 2, 1]
    assert strategy.ask(state, A8) == []


def test_half_a_step_of_the_worked_example():
    """A row on its way keeps its place in the queue, and reasons are given."""
    strategy = ExploreConsolidate(3, order="index")
    state = strategy.start(A8, FIRST, budget=8, random_state=0)
    for rows in [(6, 0), (7, 6)]:
        (question,) = strategy.ask(state, A8)
        assert question.rows == rows
        assert "farthest" in question.why
        state = strategy.tell(state, Answer(question, False))
    (question,) = strategy.ask(state, A8)
    assert question.rows == (7, 0)
    (question,) = strategy.ask(strategy.tell(state, Answer(question, False)), A8)
    assert question.rows == (1, 0)
    assert "comes next" in question.why


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_separated_classes_need_at_most_half_of_k_squared_pairs(k, seed):
    X, y = separated(k, seed)
    strategy, oracle = ExploreConsolidate(k), SimulatedOracle(y)
    state = interview(strategy, X, oracle, budget=k * (k - 1) // 2, random_state=seed)
    found = {row for answer in state.answers for row in answer.question.rows}
    assert {y[row] for row in found} == set(range(k))
    # From then on every row is placed by at most k − 1 pairs.
    state = interview(strategy, X, oracle, budget=400, random_state=seed)
    assert state.asked <= k * (k - 1) // 2 + (len(y) - k) * (k - 1)
    assert state.clues.n_components == k


@pytest.mark.parametrize("seed", range(4))
def test_without_k_separated_classes_are_all_found(seed):
    """Each class costs a row; then as many rows as there are classes join, and Consolidate begins."""
    k = 4
    X, y = separated(k, seed)
    strategy, oracle = ExploreConsolidate(order="index"), SimulatedOracle(y)
    state = strategy.start(X, budget=100, random_state=seed)
    explored = []
    while (question := strategy.ask(state, X)[0]).why.startswith("the row farthest"):
        explored.append(question.rows[0])
        state = strategy.tell(state, oracle([question]))
    rows = list(dict.fromkeys(explored))
    assert len(rows) == 2 * k - 1
    assert len({y[row] for row in rows[: k - 1]}) == k - 1


def test_without_k_a_new_class_sets_explore_going_again():
    """Two far rows join what is known, which ends Explore; then Consolidate meets a third class in row 1."""
    X = np.array([[0.0], [0.1], [0.2], [9.8], [9.9], [10.0], [5.0], [0.3], [9.7]])
    oracle = SimulatedOracle([0, 2, 0, 1, 1, 1, 0, 0, 1])
    strategy = ExploreConsolidate(order="index")
    state = strategy.start(X, Clues(9, labels=[0, *[-1] * 4, 1, -1, -1, -1]), budget=30, random_state=0)
    asked = {}
    while state.left and (questions := strategy.ask(state, X)):
        asked[questions[0].rows[0]] = "farthest" in questions[0].why
        state = strategy.tell(state, oracle(questions))
    assert list(asked)[:4] == [6, 8, 1, 7]
    assert list(asked.values()) == [True, True, False, True, True, True, False]


@pytest.mark.parametrize(("patience", "far"), [(0, 0), (1, 2), (2.5, 5), (None, 8)])
def test_explore_gives_up_on_classes_that_are_not_there(patience, far):
    """k = 5, but there are two classes, both known: two rows for each unit of patience, or all rows in the paper."""
    X = np.linspace(0, 9, 10)[:, None]
    strategy = ExploreConsolidate(5, patience=patience, questions="label")
    clues = Clues(10, labels=[0, *[-1] * 8, 1])
    state = interview(strategy, X, SimulatedOracle(np.repeat([0, 1], 5)), budget=8, clues=clues, random_state=0)
    assert ["farthest" in answer.question.why for answer in state.answers] == [True] * far + [False] * (8 - far)


def test_the_last_neighborhood_is_inferred():
    """1 is of the farthest of three classes: two answers are "no", the third follows (10.2)."""
    X = np.array([[0.0], [4.9], [5.0], [9.0]])
    y = [0, 0, 1, 2]
    clues = Clues(4, labels=[0, -1, 1, 2])
    state = interview(ExploreConsolidate(3), X, SimulatedOracle(y), budget=9, clues=clues, random_state=0)
    assert log(state) == [[1, 2, 0], [1, 3, 0], [1, 0, 1]]
    assert [answer.inferred for answer in state.answers] == [False, False, True]
    plain = ExploreConsolidate(3, infer_last=False)
    state = interview(plain, X, SimulatedOracle(y), budget=9, clues=clues, random_state=0)
    assert log(state) == [[1, 2, 0], [1, 3, 0], [1, 0, 1]]
    assert state.asked == 3


def test_the_smallest_neighborhood_is_fed_first():
    X = np.array([[0.0], [0.3], [0.4], [9.0], [8.0], [6.0], [1.0]])
    strategy = ExploreConsolidate(2, order="smallest")
    clues = Clues(7, labels=[0, 0, -1, 1, -1, -1, -1])
    state = strategy.start(X, clues, budget=5, random_state=0)
    assert [question.rows for question in strategy.ask(state, X, size=2)] == [(4, 3), (2, 0)]  # in turn
    state = interview(strategy, X, SimulatedOracle([0, 0, 0, 1, 1, 1, 0]), budget=5, clues=clues, random_state=0)
    # 4 makes it two against two: the first one's turn, then the second's, whose center is 8.5.
    assert [answer.question.rows[0] for answer in state.answers] == [4, 2, 5, 6]


def test_labels_are_asked_of_the_first_row_too():
    state = interview(
        ExploreConsolidate(3, patience=None, questions="label"), A8, SimulatedOracle(TRUTH), budget=8, random_state=1
    )
    assert sorted(answer.question.rows[0] for answer in state.answers) == list(range(8))
    assert state.clues.labels.tolist() == TRUTH
    rows = [answer.question.rows[0] for answer in state.answers]
    far = [rows[0]]
    while len({TRUTH[row] for row in far}) < 3:  # farthest first, as brute force has it
        far.append(int(cdist(A8, A8[far]).min(axis=1).argmax()))
    assert rows[: len(far)] == far


def test_which_shows_one_row_of_each_neighborhood():
    strategy = ExploreConsolidate(3, questions="which", order="index")
    state = interview(strategy, A8, SimulatedOracle(TRUTH), budget=20, clues=FIRST, random_state=0)
    asked = [answer.question.rows for answer in state.answers]
    assert asked[:3] == [(6, 0), (7, 6, 0), (1, 0, 7, 6)]
    assert state.clues.components.tolist() == [0, 0, 0, 1, 2, 2, 2, 1]


def test_sparse_rows_are_asked_about_like_dense_ones():
    for order in ("random", "index", "smallest"):
        states = [
            interview(ExploreConsolidate(3, order=order), X, SimulatedOracle(TRUTH), budget=8, random_state=5)
            for X in (A8, csr_array(A8))
        ]
        assert log(states[0]) == log(states[1])


def test_when_all_rows_are_placed_pairs_at_random_follow():
    X = [[0.0], [0.0], [0.0]]
    strategy = ExploreConsolidate(5)
    state = strategy.start(X, budget=9, random_state=0)
    for _ in range(2):
        (question,) = strategy.ask(state, X)
        state = strategy.tell(state, Answer(question, None))
    (question,) = strategy.ask(state, X)
    assert question.why.startswith("the strategy has no more questions")


def test_a_draw_finds_the_last_rows():
    """When hardly any row is left, drawing blindly would take for ever."""
    n = 3000
    X = np.arange(n, dtype=float)[:, None]
    labels = np.where(np.arange(n) < n // 2, 0, 1)
    labels[[7, n - 7]] = -1
    strategy = ExploreConsolidate(2)
    state = strategy.start(X, Clues(n, labels=labels), budget=5, random_state=0)
    assert {question.rows[0] for question in strategy.ask(state, X, size=4)} == {7, n - 7}


@given(st.integers(0, 2**16), st.integers(1, 6), st.one_of(st.none(), st.integers(1, 6)))
def test_neighborhoods_are_pure(seed, classes, k):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.integers(classes, size=20)
    strategy = ExploreConsolidate(k, infer_last=k is not None and k >= classes)
    state = interview(strategy, X, SimulatedOracle(y), budget=30, random_state=seed)
    for answer in state.answers:
        i, j = answer.question.rows
        assert answer.value == (y[i] == y[j])
    assert state.asked == 30 or not strategy.ask(state, X)


def test_one_conversation_is_pinned():
    """120 rows of four classes that overlap: few pairs are asked in vain."""
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(4), 30)
    X = 2.5 * np.eye(4)[y] + rng.normal(size=(120, 4))
    state = interview(ExploreConsolidate(4), X, SimulatedOracle(y), budget=500, random_state=7)
    assert [answer.question.rows for answer in state.answers[:4]] == [(11, 53), (51, 53), (93, 11), (93, 53)]
    assert state.asked == 136
    assert state.clues.n_components == 4


def test_a_question_is_what_somebody_can_read():
    (question,) = ExploreConsolidate(3).ask(ExploreConsolidate(3).start(A8, budget=1, random_state=0), A8)
    assert isinstance(question, Question)
    assert str(question).startswith("Do rows ")


@pytest.mark.parametrize(
    ("parameters", "name"), [({"n_clusters": 0}, "n_clusters"), ({"order": "best"}, "order"), ({"questions": 1}, "que")]
)
def test_bad_parameters_are_named(parameters, name):
    with pytest.raises(ValueError, match=name):
        ExploreConsolidate(**parameters).start(A8, budget=1)
