"""First centers: neighborhoods, farthest first, k-means++ given some, labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import chisquare

from cluewise import Clues, threads
from cluewise.core import seeding
from cluewise.core.rows import Rows, rows_of

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def absolute(rows, centers):
    return centers + rows.shift


@pytest.mark.parametrize("sparse", [False, True])
def test_worked_example_of_neighborhoods(sparse):
    """[neighbourhood_init]: two components, then row 7, which is apart from both."""
    clues = Clues(8, must=[(0, 1), (1, 2), (4, 5)], cannot=[(2, 7), (4, 7)])
    rows = rows_of(csr_array(A8) if sparse else A8)
    found = absolute(rows, seeding.neighborhoods(rows, clues, 3))
    np.testing.assert_allclose(found, [[0.366667, 0.433333], [4.5, 4], [2.4, 2.7]], atol=2e-6)
    assert seeding.cannot_linked_to_all(clues, np.array([0, 2])) == 7


def test_more_neighborhoods_than_clusters_take_the_largest():
    """E17: K centers, not λ; the larger component first, the smaller first row on ties."""
    clues = Clues(8, must=[(6, 7), (0, 1), (2, 3), (3, 4)])
    rows = Rows(A8)
    found = absolute(rows, seeding.neighborhoods(rows, clues, 2))
    np.testing.assert_allclose(found, [A8[2:5].mean(axis=0), A8[:2].mean(axis=0)])


def test_fewer_neighborhoods_than_clusters_leave_the_rest_to_others():
    """E18: λ means; no row is apart from all of them, so the caller fills up."""
    rows = Rows(A8)
    clues = Clues(8, must=[(0, 1), (4, 5)], cannot=[(2, 0)])
    assert len(seeding.neighborhoods(rows, clues, 4)) == 2
    assert seeding.neighborhoods(rows, Clues(8), 4).shape == (0, 2)
    assert seeding.cannot_linked_to_all(Clues(8), np.empty(0, np.int64)) is None


def test_a_row_may_be_apart_through_groups_and_labels():
    by_group = Clues(6, must=[(0, 1), (2, 3)], apart=[[0, -1, -1, -1, 0, -1], [-1, -1, 1, -1, 1, -1]])
    assert seeding.cannot_linked_to_all(by_group, np.array([0, 1])) == 4
    by_label = Clues(6, labels=[0, 0, 1, 1, 2, -1])
    assert seeding.cannot_linked_to_all(by_label, np.array([0, 1])) == 4
    nobody = Clues(6, must=[(0, 1), (2, 3)], cannot=[(0, 4)])
    assert seeding.cannot_linked_to_all(nobody, np.array([0, 1])) is None


def test_the_row_is_not_one_of_the_neighborhoods():
    clues = Clues(6, must=[(0, 1), (2, 3)], cannot=[(0, 2)])
    assert seeding.cannot_linked_to_all(clues, np.array([0])) == 2
    assert seeding.cannot_linked_to_all(clues, np.array([0, 1])) is None


def test_worked_example_of_weighted_farthest_first():
    means = np.array([[0.0, 0], [1, 1], [6, 0], [0, 5], [7, 1]])
    sizes = np.array([5, 2, 2, 3, 1])
    assert seeding.farthest_first(means, sizes, 3).tolist() == [0, 3, 2]
    scores = np.sqrt(sizes * sizes[0]) * np.linalg.norm(means - means[0], axis=1)
    np.testing.assert_allclose(scores, [0, 4.472136, 18.973666, 19.364917, 15.811388], atol=2e-6)


def test_farthest_first_never_repeats_a_mean():
    means = np.zeros((4, 2))
    assert sorted(seeding.farthest_first(means, np.ones(4), 9)) == [0, 1, 2, 3]


def test_far_neighborhoods():
    X = np.array([[0.0], [0], [1], [1], [9], [9], [0.5], [0.6], [0.5]])
    clues = Clues(9, must=[(0, 1), (2, 3), (4, 5), (6, 7), (7, 8)])
    rows = Rows(X)
    far = absolute(rows, seeding.neighborhoods(rows, clues, 2, far=True)).ravel()
    np.testing.assert_allclose(far, [(0.5 + 0.6 + 0.5) / 3, 9])
    largest = absolute(rows, seeding.neighborhoods(rows, clues, 2)).ravel()
    np.testing.assert_allclose(largest, [(0.5 + 0.6 + 0.5) / 3, 0])
    np.testing.assert_allclose(
        seeding.neighborhoods(rows, clues, 4, far=True), seeding.neighborhoods(rows, clues, 4)
    )  # not more than there are clusters: nothing to choose


def brute_plus_plus_chances(X, given, weight):
    squared = ((X[:, None] - given[None]) ** 2).sum(axis=2).min(axis=1) * weight
    return squared / squared.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_chances_of_one_more_center(weighted, monkeypatch):
    """With a single trial a row is drawn with probability proportional to its weighted squared distance."""
    monkeypatch.setattr(seeding, "log", lambda k: -1)  # one trial instead of 2 + log k
    X = np.array([[0.0, 0], [3, 0], [0, 4], [1, 1], [0, 0]])
    weight = np.array([1.0, 2, 1, 3, 5]) if weighted else None
    rows = Rows(X, weight)
    given = np.array([[0.0, 0.0]])
    rng = np.random.default_rng(0)
    count = np.zeros(5)
    for _ in range(4000):
        last = absolute(rows, seeding.plus_plus(rows, given - rows.shift, 2, rng))[1]
        count[np.flatnonzero((last == X).all(axis=1))[0]] += 1
    chance = brute_plus_plus_chances(X, given, np.ones(5) if weight is None else weight)
    assert count[chance == 0].sum() == 0
    assert chisquare(count[chance > 0], 4000 * chance[chance > 0]).pvalue > 1e-3


def test_the_first_center_is_drawn_by_weight():
    rows = Rows(np.arange(4.0)[:, None], np.array([0.0, 1, 0, 3]))
    rng = np.random.default_rng(0)
    drawn = [float(absolute(rows, seeding.plus_plus(rows, np.empty((0, 1)), 1, rng))[0, 0]) for _ in range(2000)]
    assert set(drawn) == {1.0, 3.0}
    assert np.mean(np.array(drawn) == 3) == pytest.approx(0.75, abs=0.04)


def test_the_best_of_several_candidates_wins():
    """Greedy: among enough candidates the middle of the far blob beats its edges."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), 50 + rng.normal(size=(30, 2))])
    rows = Rows(X)
    start = np.array([[0.0, 0.0]]) - rows.shift

    def left(center):
        return np.minimum((X**2).sum(axis=1), ((X - center) ** 2).sum(axis=1)).sum()

    drawn = [absolute(rows, seeding.plus_plus(rows, start, 2, rng))[1] for _ in range(300)]
    typical = np.mean([left(x) for x in X[30:]])
    assert np.mean([left(x) for x in drawn]) < 0.85 * typical


@given(st.integers(0, 10**6), st.integers(0, 3), st.booleans())
def test_given_centers_come_first_and_the_rest_are_rows(seed, known, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 2)) * (rng.random((15, 2)) < 0.8)
    rows = rows_of(csr_array(X) if sparse else X)
    first = rng.normal(size=(known, 2))
    found = seeding.plus_plus(rows, first, 5, rng)
    assert found.shape == (5, 2)
    np.testing.assert_array_equal(found[:known], first)
    far = np.abs(absolute(rows, found[known:])[:, None] - X[None]).max(axis=2).min(axis=1)
    assert (far < 1e-12).all()


def test_enough_given_centers_are_cut():
    rows = Rows(A8)
    assert len(seeding.plus_plus(rows, A8[:4], 2, np.random.default_rng(0))) == 2


def test_rows_that_all_lie_on_a_center():
    rows = Rows(np.ones((4, 2)))
    found = absolute(rows, seeding.plus_plus(rows, np.empty((0, 2)), 3, np.random.default_rng(0)))
    assert (found == 1).all()


def test_threads_draw_the_same():
    X = np.random.default_rng(0).normal(size=(30000, 3))
    rows = Rows(X)
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(seeding.plus_plus(rows, np.empty((0, 3)), 6, np.random.default_rng(1)))
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("sparse", [False, True])
def test_perturbed_mean(sparse):
    """x̄ + 0.35·s⊙u, u uniform in [−1, 1]: also for centered data, where scaling the mean would do nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1, 10]
    X -= X.mean(axis=0)
    rows = rows_of(csr_array(X) if sparse else X)
    found = absolute(rows, seeding.perturbed(rows, 3000, rng)) / (0.35 * X.std(axis=0))
    assert np.abs(found).max() <= 1
    assert np.abs(found.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(found.std(axis=0), 1 / np.sqrt(3), rtol=0.05)
