"""Evidence: groups as pairs, worked by hand; held-out pairs that say something new."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.front import _evidence
from cluewise.front._choice import divide_clues, make_folds
from cluewise.front._evidence import gather

PLACE = np.arange(12)


def list_pairs(evidence):
    return {(*sorted(ends), bool(must)) for ends, must in zip(evidence.ends.tolist(), evidence.is_must)}


def test_links_come_first_and_in_order():
    clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(1, 2)], together=[-1, -1, -1, 0, 0, -1])
    evidence = gather(clues, 2, PLACE)
    assert evidence.ends.tolist() == [[0, 1], [2, 3], [1, 2], [3, 4]]
    assert evidence.is_must.tolist() == [True, True, False, True]


def test_together_is_a_chain():
    evidence = gather(Clues(6, together=[0, 1, 0, 1, 0, -1]), 2, PLACE)
    assert list_pairs(evidence) == {(0, 2, True), (2, 4, True), (1, 3, True)}
    other = gather(Clues(6, together=[0, 1, 0, 1, 0, -1]), 2, np.array([5, 0, 1, 2, 3, 4]))
    assert list_pairs(other) == {(2, 4, True), (0, 4, True), (1, 3, True)}  # in the order of places


def test_apart_is_all_pairs():
    evidence = gather(Clues(6, apart=[0, 0, 0, 1, 1, -1]), 3, PLACE)
    assert list_pairs(evidence) == {(0, 1, False), (0, 2, False), (1, 2, False), (3, 4, False)}


def test_a_partition_joins_within_and_separates_across():
    evidence = gather(Clues(6, partitions=[[0, 0, 1, 1, -1, -1]]), 2, PLACE)
    assert list_pairs(evidence) == {
        (0, 1, True), (2, 3, True), (0, 2, False), (1, 2, False), (1, 3, False), (0, 3, False),
    }  # fmt: skip


def test_one_group_separates_nothing():
    assert list_pairs(gather(Clues(4, partitions=[[0, 0, 0, -1]]), 2, PLACE)) == {(0, 1, True), (1, 2, True)}


def test_weights_are_relative_and_demands_heavy():
    clues = Clues(6, must=[(0, 1), (2, 3), (4, 5)], must_weight=[2.0, 6.0, np.inf])
    evidence = gather(clues, 2, PLACE)
    assert evidence.weights.tolist() == [0.5, 1.5, _evidence.HEAVY]
    assert evidence.demanded.tolist() == [False, False, True]
    assert evidence.doubtful.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["together", "apart", "partitions", "labels"])
def test_large_groups_do_not_explode(kind):
    n = 10_000
    column = np.zeros(n, dtype=int)
    evidence = gather(Clues(n, **{kind: [column] if kind == "partitions" else column}), 3, np.arange(n))
    assert evidence.total <= 1.1 * _evidence.PAIRS


@given(st.integers(0, 2**16))
def test_arranged_evidence_is_the_same_evidence(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=12)
    clues = Clues.sample(y, pairs=10, random_state=seed) | Clues(12, labels=np.where(rng.random(12) < 0.3, y, -1))
    evidence = gather(clues, 3, PLACE)
    arranged, numbers = evidence.arrange(rng.permutation(12))
    assert list_pairs(arranged) == list_pairs(evidence)
    assert sorted(numbers) == list(range(evidence.total))
    m = len(evidence.ends)
    assert (np.sort(evidence.ends[numbers[:m]]) == np.sort(arranged.ends)).all()
    assert (evidence.labeled[numbers[m:] - m] == arranged.labeled).all()


def entailed(ends, is_must, n):
    """(rows that are together, rows that are apart) by the closure of pairs, as two tables."""
    together = np.eye(n, dtype=bool)
    for (i, j), must in zip(ends, is_must):
        if must:
            together[i, j] = together[j, i] = True
    for middle in range(n):
        together |= np.outer(together[:, middle], together[middle])
    apart = np.zeros((n, n), dtype=bool)
    for (i, j), must in zip(ends, is_must):
        if not must:
            apart |= np.outer(together[i], together[j]) | np.outer(together[j], together[i])
    return together, apart


@settings(max_examples=40)
@given(st.integers(0, 2**16), st.integers(4, 40))
def test_a_fair_pair_does_not_follow_from_its_training_part(seed, pairs):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=12)
    evidence = gather(Clues.sample(y, pairs=pairs, random_state=seed), 3, PLACE)
    folds = make_folds(evidence, rng)
    for fold in folds:
        together, apart = entailed(fold.train.ends, fold.train.is_must, 12)
        for number, fair in zip(fold.held, fold.fair):
            (i, j), must = evidence.ends[number], evidence.is_must[number]
            assert fair == (not (together if must else apart)[i, j])


def test_clues_count_as_far_as_they_are_believed():
    clues = Clues(6, must=[(0, 1), (2, 3)], must_weight=[1.0, 3.0], labels=[-1, -1, -1, -1, 0, 1])
    evidence = gather(clues, 2, PLACE).heed(np.array([0.5, 1.0, 0.1, 1.0]))
    np.testing.assert_allclose(evidence.weights, [0.25, 1.5, 0.1, 1.0])
    np.testing.assert_allclose(evidence.take(np.array([1, 2])).weights, [1.5, 0.1])
    np.testing.assert_allclose(evidence.leave_out(np.array([0, 3])).weights, [1.5, 0.1])


def test_a_confidence_is_an_error_of_its_own_and_no_weight():
    clues = Clues(6, must=[(0, 1), (2, 3)], must_confidence=[0.98, 0.6], cannot=[(0, 4)], cannot_weight=[3.0])
    evidence = gather(clues, 2, PLACE)
    np.testing.assert_allclose(evidence.weights[:2], 1.0)
    np.testing.assert_allclose(evidence.find_errors(0.1), [0.02, 0.4, 0.1])
    assert evidence.worth[0] > 4 * evidence.worth[1]  # in starts


def test_sources_are_files_and_people():
    named = ["pairs.csv:3", "answer 2 (ann)", "pairs.csv:7", "answer 9 (ann)"]
    clues = Clues(8, must=[(0, 1), (2, 3), (4, 5), (6, 7)], must_source=named, labels=[0] + 7 * [-1])
    sources = gather(clues, 2, np.arange(8)).sources
    assert sources[0] == sources[2] != sources[1] == sources[3]
    assert len(set(sources)) == 3


def test_groups_are_held_out_whole():
    groups = np.repeat(np.arange(6), 4)
    evidence = gather(Clues(24, together=groups), 3, np.arange(24))
    held = divide_clues(evidence, 3, np.random.default_rng(0))
    assert sorted(np.concatenate(held)) == list(range(evidence.total))
    for some in held:
        rows = np.unique(evidence.ends[some])
        assert not np.isin(evidence.leave_out(some).ends, rows).any()
        assert set(np.bincount(groups[rows])) <= {0, 4}
