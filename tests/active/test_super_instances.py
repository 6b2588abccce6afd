"""Super-instances in rounds: splitting level, splits, merges, the last complete round."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cluewise import Clues
from cluewise.active import Answer, FunctionOracle, Question, SimulatedOracle, State, interview
from cluewise.active._super_instances import DEEPEST, Procedure, SuperInstances
from cluewise.datasets import load

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
SIDES = np.array([0, 0, 0, 1, 1, 1])


def told(procedure: Procedure, pair: tuple[int, int], value: bool | None) -> None:
    procedure.learn(Answer(Question("pair", pair), value))


def clusters(procedure: Procedure) -> list[int]:
    return procedure.labels().tolist()


def test_a_round_by_hand():
    # 2-means halves the line at 6; the medoids of the halves are the rows 1 and 4 in the middle of each.
    procedure = Procedure(LINE, Clues(6), seed=0)
    assert clusters(procedure) == [0] * 6
    assert set(procedure.wanted[0][0]) == {1, 4}
    # After "no" one of the halves (both have three rows) is halved in turn: a row at the end against the other two.
    told(procedure, (1, 4), False)
    first, second = sorted(procedure.wanted[0][0])
    assert {first, second} <= {0, 1, 2} or {first, second} <= {3, 4, 5}
    # "Yes" ends the search after one "no": 2¹ super-instances, whose medoids are known apart, which ends the round.
    told(procedure, (first, second), True)
    assert clusters(procedure) == [0, 0, 0, 1, 1, 1]
    # The next round is about one of the two halves.
    assert set(procedure.wanted[0][0]) <= {0, 1, 2} or set(procedure.wanted[0][0]) <= {3, 4, 5}


def test_the_level_counts_the_noes_and_2_to_its_power_are_made():
    x = np.concatenate([np.arange(4), np.arange(100, 104), np.arange(300, 304), np.arange(900, 904)])[:, None] * 1.0
    procedure = Procedure(x, Clues(16), seed=0)
    groups = np.repeat(np.arange(4), 4)
    refusals = 0
    while len(procedure._row) == 1:
        i, j = procedure.wanted[0][0]
        refusals += groups[i] != groups[j]
        told(procedure, (i, j), bool(groups[i] == groups[j]))
    assert len(procedure._row) - 1 == 2 ** max(refusals, 1)


def test_a_direct_yes_still_splits_in_two():
    procedure = Procedure(LINE, Clues(6), seed=0)
    told(procedure, (1, 4), True)
    # Both halves, whose medoids belong together, are merged again for nothing: one cluster, two super-instances.
    assert len(procedure._row) == 3
    assert procedure._complete == [[1, 2]]
    assert clusters(procedure) == [0] * 6


def test_dont_know_is_no_merge_and_no_cannot():
    procedure = Procedure(LINE, Clues(6), seed=0)
    told(procedure, (1, 4), None)
    assert clusters(procedure) == [0, 0, 0, 1, 1, 1]
    assert procedure.known.same(1, 4) is None


def test_the_closest_clusters_come_first_and_their_closest_rows_are_shown():
    procedure = Procedure(np.array([[0.0], [1.0], [3.0], [7.0], [15.0]]), Clues(5), seed=0)
    procedure._row, procedure._clusters = [0, 1, 2, 3, 4], [[0, 1], [2], [3, 4]]
    # Mean distances of representatives: {0, 1}–{3}: 2.5; {3}–{7, 15}: 8; {0, 1}–{7, 15}: 10.5.
    assert procedure._closest(set()) == [(0, 1, (1, 2)), (1, 2, (2, 3)), (0, 2, (1, 3))]
    assert procedure._closest({(1, 2)}) == [(1, 2, (2, 3)), (0, 2, (1, 3))]


def test_entailed_no_between_clusters_is_not_listed():
    procedure = Procedure(np.arange(4.0)[:, None], Clues(4, must=[(0, 1)], cannot=[(1, 2)]), seed=0)
    procedure._row, procedure._clusters = [0, 1, 2, 3], [[0, 1], [2], [3]]
    assert [(a, b) for a, b, _ in procedure._closest(set())] == [(1, 2), (0, 2)]


def test_inside_a_round_the_clustering_is_that_of_the_round_before():
    x = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0)
    y = np.random.default_rng(1).integers(3, size=60)  # no structure: rounds take many questions
    strategy = SuperInstances()
    state = strategy.start(x, budget=60, random_state=0)
    seen = []
    while questions := strategy.ask(state, x):
        state = strategy.tell(state, SimulatedOracle(y)(questions))
        strategy.clustering(state, x)
        procedure = strategy._procedure(strategy._scene(state, x))
        seen.append((procedure._complete, strategy.clustering(state, x).tolist()))
    for (before, labels), (after, later) in pairwise(seen):
        if before and before == after:
            assert labels == later
    assert any(before and before == after for (before, _), (after, _) in pairwise(seen))
    assert len({str(complete) for complete, _ in seen}) > 2


def test_a_batch_in_the_merging_phase_asks_about_different_clusters():
    y = np.arange(16) // 2
    x = np.random.default_rng(0).normal(size=(16, 2)) * 9
    strategy = SuperInstances()
    state = strategy.start(x, budget=120, random_state=0)
    sizes = []
    while questions := strategy.ask(state, x, size=3):
        rows = [row for question in questions for row in question.rows]
        assert len(set(rows)) == len(rows)
        sizes.append(len(questions))
        state = strategy.tell(state, SimulatedOracle(y)(questions))
    assert max(sizes) == 3
    assert adjusted_rand_score(y, strategy.clustering(state, x)) == 1.0


def test_another_object_after_json_goes_on_in_the_same_way_after_a_late_answer():
    """An answer that decides an earlier "don't know" must not change what was done then."""
    x = np.random.default_rng(3).normal(size=(40, 2))
    oracle = SimulatedOracle(x[:, 0] > 0, unknown_rate=0.3, random_state=0)
    strategy = SuperInstances()
    state = strategy.start(x, budget=60, random_state=1)
    while questions := strategy.ask(state, x, size=2):
        if state.asked % 15 == 0:
            assert SuperInstances().ask(State.from_json(state.to_json()), x, size=2) == questions
        state = strategy.tell(state, oracle(questions))
    assert np.array_equal(SuperInstances().clustering(state, x), strategy.clustering(state, x))


def test_everybody_apart_ends_at_the_deepest_level():
    x = np.arange(3000.0)[:, None]
    procedure = Procedure(x, Clues(3000), seed=0)
    depth = 0
    while len(procedure._row) == 1:
        told(procedure, procedure.wanted[0][0], False)
        depth += 1
    assert depth <= DEEPEST
    assert len(procedure._row) - 1 == 2**depth


def test_equal_rows_are_never_asked_about_by_the_procedure():
    assert Procedure(np.zeros((5, 2)), Clues(5), seed=0).wanted == []
    assert Procedure(np.zeros((1, 2)), Clues(1), seed=0).labels().tolist() == [0]


def test_given_labels_save_questions():
    y = SIDES
    strategy = SuperInstances()
    state = interview(
        strategy, LINE, FunctionOracle(lambda _: pytest.fail("asked")), clues=Clues(6, labels=y), budget=9
    )
    assert state.asked == 0
    assert strategy.clustering(state, LINE).tolist() == y.tolist()


@pytest.mark.needs_data
def test_digits_after_200_questions():
    data = load("digits", standardize=True)
    strategy = SuperInstances()
    state = interview(strategy, data.X, SimulatedOracle(data.y), budget=200, random_state=0)
    assert adjusted_rand_score(data.y, strategy.clustering(state, data.X)) > 0.65
