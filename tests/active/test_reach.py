"""Reach: distances to what was asked about, batches, labels; asked through ExploreConsolidate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from cluewise import Clues
from cluewise.active import Answer, Question, SimulatedOracle, interview
from cluewise.active._explore import ExploreConsolidate
from cluewise.active._reach import Reach
from cluewise.core.rows import rows_of

A8 = np.array([[0, 0.2], [1, 0], [0.1, 1.1], [1.6, 1.4], [4, 4.1], [5, 3.9], [4.2, 5], [2.4, 2.7]])
TRUTH = [0, 0, 0, 1, 2, 2, 2, 1]
FIRST = Clues(8, labels=[0] + [-1] * 7)  # row 0 founds the first neighborhood


def test_an_unknown_label_founds_no_neighborhood():
    strategy = ExploreConsolidate(3, patience=None, questions="label")
    state = strategy.start(A8, budget=8, random_state=1)
    (first,) = strategy.ask(state, A8)
    state = strategy.tell(state, Answer(first, None))
    seen = []
    while questions := strategy.ask(state, A8):
        if "farthest" in questions[0].why:
            seen.append(TRUTH[questions[0].rows[0]])
        state = strategy.tell(state, SimulatedOracle(TRUTH)(questions))
    assert len(set(seen[:-1])) < len(set(seen)) == 3  # Explore ended with the third class


@pytest.mark.parametrize("order", ["random", "index", "smallest"])
def test_a_batch_before_anything_is_known_is_spread_out(order):
    """No class has a row yet, so that there is no smallest one: all rows of the batch are far ones."""
    strategy = ExploreConsolidate(order=order, questions="label")
    rows = [question.rows[0] for question in strategy.ask(strategy.start(A8, budget=5, random_state=0), A8, size=3)]
    far = rows[:1]
    while len(far) < 3:
        far.append(int(cdist(A8, A8[far]).min(axis=1).argmax()))
    assert rows == far


def test_pairs_that_somebody_told_do_not_replace_labels():
    strategy = ExploreConsolidate(3, questions="label", order="index")
    state = strategy.start(A8, FIRST, budget=9, random_state=0)
    state = strategy.tell(state, Answer(Question("pair", (6, 1)), False))
    state = strategy.tell(state, Answer(Question("pair", (0, 2)), True))
    while questions := strategy.ask(state, A8):
        if questions[0].kind == "pair":
            break
        state = strategy.tell(state, SimulatedOracle(TRUTH)(questions))
    assert sorted(answer.question.rows[0] for answer in state.answers[2:]) == [1, 3, 4, 5, 6, 7]


def test_a_memo_that_holds_too_much_is_not_believed():
    strategy = ExploreConsolidate(3)
    state = strategy.start(A8, FIRST, budget=9, random_state=0)
    right = strategy.ask(state, A8)
    scene = strategy._scene(state, A8)
    scene.memo["settled"].take([5, 6])
    assert strategy.ask(state, A8) == right


def test_a_batch_is_spread_out():
    strategy = ExploreConsolidate(5)
    state = strategy.start(A8, FIRST, budget=8, random_state=0)
    rows = [question.rows[0] for question in strategy.ask(state, A8, size=3)]
    assert rows == [6, 7, 3]  # farthest first, as if each had been placed (10.2, 10.3)
    assert rows == [question.rows[0] for question in strategy.ask(state, A8, size=3)]
    (one,) = strategy.ask(state, A8)
    state = strategy.tell(state, Answer(one, False))
    assert [question.rows[0] for question in strategy.ask(state, A8, size=2)] == [7, 3]


def test_rows_that_are_joined_by_clues_are_asked_about_once():
    """The must-linked rows found a neighborhood, as the largest; the labeled row has to be compared with it."""
    clues = Clues(8, labels=[0] + [-1] * 7, must=[(6, 5), (5, 4)])
    strategy = ExploreConsolidate(3, order="index")
    state = interview(strategy, A8, SimulatedOracle(TRUTH), budget=9, clues=clues, random_state=0)
    assert {answer.question.rows[0] for answer in state.answers} == {0, 1, 2, 3, 7}


@given(st.integers(0, 2**16), st.integers(2, 30), st.integers(1, 12), st.booleans())
def test_reach_is_the_distance_to_what_was_taken(seed, n, d, joined):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(2)
    must = rng.integers(n, size=(2, 2))
    clues = Clues(n, must=must[must[:, 0] != must[:, 1]] if joined else None)
    rows = rng.permutation(n)[: rng.integers(1, n)]
    reach = Reach(rows_of(X), clues)
    reach.take(reach.components(rows[:1]))
    other = reach.copy()
    reach.closest()
    reach.take(reach.components(rows) - reach.taken)
    taken = np.isin(clues.components, clues.components[rows])
    np.testing.assert_array_equal(reach.left, ~taken)
    np.testing.assert_allclose(reach.closest(), cdist(X, X[taken]).min(axis=1) ** 2, atol=1e-12)
    # In another order, or by way of a copy: the same digits.
    for row in rows[::-1]:
        other.take(other.components([row]) - other.taken)
    np.testing.assert_array_equal(other.closest(), reach.closest())
    left = np.flatnonzero(reach.left)
    assert reach.farthest() == (left[reach.closest()[left].argmax()] if len(left) else None)
