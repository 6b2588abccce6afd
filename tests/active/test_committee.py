"""Constraint selection by committee: the worked example of the specification, half step by half step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from cluewise import Clues, PCKMeans
from cluewise.active import Answer, SimulatedOracle, interview
from cluewise.active._committee import imputed as module
from cluewise.active._committee.committee import Committee
from cluewise.active._committee.imputed import (
    Imputed,
    Sums,
    add_agreements,
    agreements,
    certainty,
    imputed_clues,
    limits,
)

# [committee] of the specification, section 10.8.
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
SHARES = (0.8, 0.2)
X8 = np.arange(8.0)[:, None]


class Given(Committee):
    """A committee whose clusterings are those of the example."""

    def _bases(self, X, state):
        return BASES


def table(bases):
    """A of Eq. (88), as it is defined: n × n."""
    return (bases[:, :, None] == bases[:, None, :]).mean(axis=0)


def test_agreements_of_the_example():
    np.testing.assert_allclose(agreements(BASES, 3) / 5, [0.6, 0.6, 0.6, 1, 0, 0, 0.2, 0.4])
    np.testing.assert_allclose(agreements(BASES, 7) / 5, [0, 0, 0, 0.4, 0.2, 0.2, 0.6, 1])


def test_imputed_pairs_of_the_example():
    clues = imputed_clues(BASES, SHARES, 0.1, 1000, np.random.default_rng(0))
    assert clues.must.tolist() == [[0, 1], [0, 2], [1, 2], [4, 5]]
    assert len(clues.cannot) == 17
    assert set(clues.must_weight) == set(clues.cannot_weight) == {0.1}
    assert set(clues.must_source) == {"imputed"}


def test_groups_and_representatives_of_the_example():
    imputed = Imputed(BASES, X8, SHARES, 3)
    assert imputed.component.tolist() == [0, 0, 0, 1, 2, 2, 3, 4]
    assert imputed.representatives == [0, 4, 7]


def test_certainty_of_the_example():
    home = np.array([0, 0, 0, -1, 1, 1, -1, 2])
    kept = Sums(8)
    kept.move(BASES, home, 3)
    S = kept.sums / (5 * np.array([3, 2, 1])[:, None])
    expected = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0.6, 0, 0.4], [0, 1, 0.2], [0, 1, 0.2], [0, 0.6, 0.6], [0, 0.2, 1]]
    np.testing.assert_allclose(S.T, expected)
    unweighted = [1, 1, 1, 0.2, 2 / 3, 2 / 3, 0, 2 / 3]
    np.testing.assert_allclose(certainty(np.round(S * 30).astype(int)), unweighted)
    weighted = [1, 1, 1, 0.636364, 0.818182, 0.818182, 0.333333, 0.428571]
    np.testing.assert_allclose(certainty(kept.sums), weighted, atol=1e-6)


def test_the_example_asks_about_row_6_next():
    strategy = Given(3, must_share=0.8, cannot_share=0.2)
    clues = Clues(8, labels=[0, -1, -1, -1, 1, -1, -1, 2])
    state = strategy.start(X8, clues, budget=9, random_state=0)
    (question,) = strategy.ask(state, X8)
    assert question.rows == (6, 4)
    assert question.score == pytest.approx(1 - 1 / 3)
    assert question.why == "a row on which the committee disagrees."
    state = strategy.tell(state, Answer(question, False))
    (question,) = strategy.ask(state, X8)
    assert question.rows == (6, 7)


def test_representatives_are_compared_first_and_the_last_place_is_inferred():
    strategy = Given(3, must_share=0.8, cannot_share=0.2)
    truth = [0, 0, 0, 1, 1, 1, 1, 2]
    state = interview(strategy, X8, SimulatedOracle(truth), budget=6, random_state=0)
    asked = [answer.question.rows for answer in state.answers]
    assert asked[:3] == [(4, 0), (7, 4), (7, 0)]  # S of row 7 is 0.2 for the group of row 4
    assert asked[3] == (6, 4)
    said = [(answer.question.rows, answer.value) for answer in state.answers if answer.who == "inferred"]
    assert asked[4:6] == [(3, 0), (3, 7)]
    assert said == [((3, 4), True)]


def test_a_placed_row_brings_its_group_and_rows_move_by_themselves():
    strategy = Given(3, must_share=0.8, cannot_share=0.2)
    clues = Clues(8, labels=[0, -1, 1, -1, 1, -1, -1, 2])  # row 2 is not of the class of its group
    state = strategy.start(X8, clues, budget=9, random_state=0)
    scene = strategy._scene(state, X8)
    hoods = strategy._hoods(scene)
    assert hoods.sets == [[2, 4], [0], [7]]
    # Row 2 was placed first and brings row 1; row 0 of the same group is known to be elsewhere.
    assert strategy._sums(scene, hoods).home.tolist() == [1, 0, 0, -1, 0, 0, -1, 2]


def test_thresholds_are_shares_in_spite_of_rounding():
    assert limits((0.95, 0.05), 100) == (95, 5)
    assert limits((0.7, 0.3), 10) == (7, 3)
    assert limits((0.95, 0.05), 5) == (5, 0)


committees = st.integers(1, 6).flatmap(
    lambda m: st.integers(1, 12).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 3), min_size=n, max_size=n).map(np.array), min_size=m, max_size=m
        ).map(lambda rows: np.array(rows, dtype=np.uint8))
    )
)


@given(committees, st.randoms())
@settings(max_examples=40)
def test_sums_are_those_of_the_table(bases, random):
    A = table(bases)
    n = bases.shape[1]
    assert (A == A.T).all()
    assert (np.diag(A) == 1).all()
    kept = Sums(n)
    for count in (3, 2, 4):
        home = np.array([random.randrange(-1, count) for _ in range(n)])
        kept.move(bases, home, count)
        expected = [A[:, home == t].sum(axis=1) for t in range(count)]
        np.testing.assert_allclose(kept.sums / len(bases), expected, atol=1e-12)
        w = certainty(kept.sums)
        assert ((w >= 0) & (w <= 1)).all()


@given(committees)
@settings(max_examples=40)
def test_groups_are_the_closure_of_imputed_must_links(bases):
    n = bases.shape[1]
    imputed = Imputed(bases, np.zeros((n, 1)), (0.6, 0.4), 3)
    pairs = np.argwhere(np.triu(table(bases) >= 0.6 - 1e-12, 1))
    assert Clues(n, must=pairs if len(pairs) else None).components.tolist() == imputed.component.tolist()
    A = table(bases)
    for c, medoid in enumerate(imputed.medoid):
        members = np.flatnonzero(imputed.component == c)
        inside = A[np.ix_(members, members)].sum(axis=1)
        assert inside[members == medoid][0] == pytest.approx(inside.max())


@given(committees, st.integers(2, 5))
@settings(max_examples=40)
def test_equal_sizes_weigh_nothing(bases, count):
    n = bases.shape[1] // count * count
    if not n:
        return
    sums = np.zeros((count, bases.shape[1]), dtype=np.int64)
    add_agreements(bases, np.arange(n), np.arange(n) % count, np.ones(n, dtype=int), sums)
    S = sums / (n // count)
    best, second = np.sort(S, axis=0)[[-1, -2]]
    w = np.divide(best - second, best + second, out=np.zeros_like(best), where=best + second > 0)
    np.testing.assert_allclose(certainty(sums), w)


def test_too_few_groups_apart_relax_the_threshold():
    """Groups {0, 1} and {2, 3} are together in 2 of 5 clusterings: apart only when that much is allowed."""
    bases = np.array([[0, 0, 1, 1]] * 3 + [[0, 0, 0, 0]] * 2, dtype=np.uint8)
    assert Imputed(bases, np.zeros((4, 1)), (0.95, 0.05), 1).representatives == [0]
    assert Imputed(bases, np.zeros((4, 1)), (0.95, 0.05), None).representatives == [0]
    assert Imputed(bases[:4], np.zeros((4, 1)), (0.95, 0.05), 2).representatives == [0, 2]  # 1 of 4
    always = np.zeros((5, 4), dtype=np.uint8)
    assert Imputed(always, np.zeros((4, 1)), (0.95, 0.05), 3).representatives == [0]  # goes on with fewer


def test_where_all_agree_the_farthest_row_is_asked_about():
    class Agreeing(Committee):
        def _bases(self, X, state):
            return np.tile(np.array([0, 0, 0, 1, 1, 1], dtype=np.uint8), (5, 1))

    X = np.array([[0.0], [1], [2], [10], [11], [19]])
    strategy = Agreeing(2)
    state = strategy.start(X, Clues(6, labels=[0, -1, -1, 1, -1, -1]), budget=5, random_state=0)
    (question,) = strategy.ask(state, X)
    assert question.rows == (5, 3)
    assert "certain about all rows" in question.why


def test_many_rows_are_joined_along_their_nearest(monkeypatch):
    """Beyond `EXACT` rows the groups are found without all pairs; on separated blobs they are the same."""
    X, y = make_blobs([60, 50, 40], n_features=2, cluster_std=0.5, center_box=(-20, 20), random_state=1)
    bases = np.array([KMeans(3, n_init=2, random_state=i).fit_predict(X) for i in range(10)]).astype(np.uint8)
    plain = Imputed(bases, X, (0.95, 0.05), 3)
    monkeypatch.setattr(module, "EXACT", 10)
    quick = Imputed(bases, X, (0.95, 0.05), 3)
    assert quick.component.tolist() == plain.component.tolist()
    assert quick.representatives == plain.representatives
    assert len(set(y[quick.representatives])) == 3


def test_nearest_rows_join_what_hashes_do_not(monkeypatch):
    monkeypatch.setattr(module, "EXACT", 1)
    bases = np.tile(np.repeat(np.arange(2, dtype=np.uint8), 15), (20, 1))
    bases[0, 3] = 1  # row 3 agrees with its neighbors in 19 of 20
    imputed = Imputed(bases, np.arange(30.0)[:, None], (0.95, 0.05), 2)
    assert imputed.component.tolist() == [0] * 15 + [1] * 15


def test_imputed_clues_of_many_rows_are_drawn():
    bases = np.repeat(np.arange(2, dtype=np.uint8), 50)[None]
    clues = imputed_clues(bases, (0.95, 0.05), 0.2, 300, np.random.default_rng(0))
    assert len(clues.must) + len(clues.cannot) == 300
    same = bases[0][clues.must]
    assert (same[:, 0] == same[:, 1]).all()
    other = bases[0][clues.cannot]
    assert (other[:, 0] != other[:, 1]).all()


def test_imputed_clues_are_soft_and_stay_out_of_the_state():
    X, y = make_blobs([30, 30], n_features=2, cluster_std=1.0, center_box=(-9, 9), random_state=2)
    strategy = Committee(2, n_partitions=20, base_clusters=2)
    state = interview(strategy, X, SimulatedOracle(y), budget=5, random_state=0)
    guesses = strategy.imputed(state, X)
    assert guesses == strategy.imputed(state, X)
    assert "imputed" not in {*state.clues.must_source, *state.clues.cannot_source}
    assert guesses.must_weight.max() == 0.01
    assert len(guesses.must) > 100
    wrong = sum(y[i] != y[j] for i, j in guesses.must) + sum(y[i] == y[j] for i, j in guesses.cannot)
    assert wrong == 0
    fitted = PCKMeans(2, random_state=0).fit(X, clues=state.clues | guesses)
    assert len(set(fitted.labels_[y == 0])) == 1


def test_numbers_of_clusters_of_the_committee():
    def counts(**parameters):
        X = np.random.default_rng(0).normal(size=(100, 2))
        strategy = Committee(n_partitions=40, **parameters)
        bases = strategy._bases(X, strategy.start(X, budget=1, random_state=0))
        assert bases.shape == (40, 100)
        found = [len(np.unique(base)) for base in bases]
        return min(found), max(found)

    assert counts(n_clusters=3) == (6, 9)
    assert counts(n_clusters=3, base_clusters=3) == (3, 3)
    assert counts(base_clusters=(4, 5)) == (4, 5)
    assert counts() == (5, 10)


@pytest.mark.parametrize("wrong", [(5, 4), (2, 3, 4), ("a", "b"), [0, 2], (2.0, 3.0)])
def test_base_clusters_are_checked_at_the_start(wrong):
    with pytest.raises(ValueError, match=r"base_clusters=.* is not a number of clusters or a range"):
        Committee(3, base_clusters=wrong).start(np.eye(9), budget=1)


def test_without_a_number_of_classes():
    X, y = make_blobs([40, 30, 30], n_features=2, cluster_std=0.4, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    strategy = Committee(n_partitions=30)
    state = interview(strategy, X, SimulatedOracle(y), budget=20, random_state=0)
    rows = {row for answer in state.answers for row in answer.question.rows}
    assert {y[row] for row in rows} == {0, 1, 2}


@pytest.mark.parametrize("questions", ["which", "label"])
def test_other_kinds_of_questions(questions):
    X, y = make_blobs([20, 20, 20], n_features=2, cluster_std=1.5, center_box=(-9, 9), random_state=3)
    strategy = Committee(3, n_partitions=20, questions=questions)
    state = interview(strategy, X, SimulatedOracle(y), budget=10, random_state=0)
    kinds = {answer.question.kind for answer in state.answers}
    assert questions in kinds <= {questions, "pair"}
    assert len({answer.question.rows[0] for answer in state.answers}) >= 9


def test_labels_may_be_asked_for_before_any_is_known():
    X, _ = make_blobs([20, 20, 20], n_features=2, cluster_std=1.5, center_box=(-9, 9), random_state=3)
    strategy = Committee(3, n_partitions=20, questions="label")
    questions = strategy.ask(strategy.start(X, budget=20, random_state=0), X, size=10)
    assert len({question.rows for question in questions}) == 10
    groups = strategy._kept[2].ready.representatives
    assert [question.rows[0] for question in questions[:3]] == groups


def test_a_batch_keeps_away_from_rows_that_agree():
    """Rows 6 and 7 have the same labels everywhere: a batch of two takes one of them and row 3."""
    bases = BASES.copy()
    bases[:, 7] = bases[:, 6]

    class Twins(Committee):
        def _bases(self, X, state):
            return bases

    strategy = Twins(2, must_share=0.8, cannot_share=0.2)
    state = strategy.start(X8, Clues(8, labels=[0, -1, -1, -1, 1, -1, -1, -1]), budget=9, random_state=0)
    rows = [question.rows[0] for question in strategy.ask(state, X8, size=2)]
    assert len(set(rows)) == 2
    assert set(rows) != {6, 7}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_and_equal_rows(n):
    X = np.ones((n, 2), dtype=np.float32)
    state = interview(Committee(5, n_partitions=3), X, SimulatedOracle(np.arange(n)), budget=10, random_state=0)
    assert state.asked == n * (n - 1) // 2


def test_golden_questions():
    X, _ = make_blobs([20, 15, 10], n_features=3, cluster_std=2.0, center_box=(-5, 5), random_state=3)
    strategy = Committee(3, n_partitions=50)
    state = strategy.start(X, budget=9, random_state=7)
    assert [question.rows for question in strategy.ask(state, X, size=3)] == [(1, 13), (3, 13), (42, 13)]
