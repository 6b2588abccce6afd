"""Free rows to the nearest center, tied rows by what breaking a clue costs, both into one tally."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from cluewise import Clues, threads
from cluewise.core import assign
from cluewise.core.assign import others
from cluewise.core.centers import tally
from cluewise.core.rows import Rows, rows_of
from cluewise.core.views import broken_weight, build_forces, count_members
from strategies import PAIR_KINDS, cases

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("sparse", [False, True])
def test_nearest(d, sparse):
    X, centers = RNG.normal(size=(500, d)), RNG.normal(size=(7, d))
    rows = rows_of(csr_array(X) if sparse else X)
    labels = assign.no_labels(500)
    found = assign.nearest(rows, centers - rows.shift, labels)
    assert (labels == cdist(X, centers).argmin(axis=1)).all()
    assert found.moved == 500
    np.testing.assert_allclose(found.tally.sums, tally(rows, labels, 7).sums, atol=1e-9)
    again = assign.nearest(rows, centers - rows.shift, labels)
    assert again.moved == 0
    assert (assign.find_nearest(rows, centers - rows.shift) == labels).all()


def test_only_some_rows():
    X = np.array([[0.0], [1], [9], [10]])
    rows = Rows(X)
    labels = assign.no_labels(4)
    found = assign.nearest(rows, np.array([[0.0], [10.0]]) - rows.shift, labels, np.array([3, 0]))
    assert labels.tolist() == [0, -1, -1, 1]
    assert found.moved == 2
    assert found.tally.mass.tolist() == [1, 1]


def test_clamped_rows_keep_their_labels_and_count():
    X = np.array([[0.0], [1], [9], [10]])
    rows = Rows(X)
    labels = np.array([1, -1, -1, 1], np.int32)
    fixed = tally(rows, np.array([1, 2, 2, 1], np.int32), 3)
    fixed = type(fixed)(fixed.sums[:2], fixed.mass[:2])
    found = assign.clamped(rows, np.array([[0.0], [10.0]]) - rows.shift, labels, np.array([1, 2]), fixed)
    assert labels.tolist() == [1, 0, 1, 1]
    assert found.moved == 2
    np.testing.assert_allclose(found.tally.sums, tally(rows, labels, 2).sums)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_free_rows_move_around_the_others_and_all_count(share):
    X, weight = RNG.normal(size=(3000, 12)), RNG.uniform(0.5, 2, size=3000)
    rows, free = Rows(X, weight), RNG.random(3000) >= share
    centers = X[:5] - rows.shift
    labels = RNG.integers(5, size=3000).astype(np.int32)
    near = assign.find_nearest(rows, centers)
    expected = np.where(free, near, labels)
    moved = int((expected != labels).sum())
    found = assign.around(rows, centers, labels, free)
    np.testing.assert_array_equal(labels, expected)
    assert found.moved == moved
    plain = tally(rows, expected, 5)
    np.testing.assert_allclose(found.tally.sums, plain.sums, atol=1e-9)
    np.testing.assert_allclose(found.tally.mass, plain.mass)


@pytest.mark.parametrize("d", [3, 12])
def test_threads_change_no_bit(d):
    """Many blocks, so that the threads really share the work."""
    X = RNG.normal(size=(40000, d))
    rows = Rows(X)
    found = []
    for n in (1, 3):
        labels = assign.no_labels(len(X))
        with threads(n):
            found.append((assign.nearest(rows, X[:9] - rows.shift, labels).tally.sums, labels))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def objective(X, centers, clues, labels, penalty):
    half = 0.5 * ((X - centers[labels]) ** 2).sum()
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    price = must_weight[labels[must[:, 0]] != labels[must[:, 1]]].sum()
    price += cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()
    return half + penalty * price


@given(cases(PAIR_KINDS, noise=0.3), st.sampled_from([0.3, 5.0]))
def test_every_move_of_a_sweep_lowers_the_objective(case, penalty):
    """Rows are visited one at a time here, and the objective is the sum over pairs written out."""
    X, k = case.X, case.k
    rng = case.rng
    rows = Rows(X)
    centers = X[rng.choice(len(X), k, replace=False)]
    pulls = build_forces(case.clues, k)
    labels = rng.integers(k, size=len(X)).astype(np.int32)
    counts = count_members(pulls, labels, k)
    value = objective(X, centers, case.clues, labels, penalty)
    for place in rng.permutation(len(pulls.rows)):
        row, old = pulls.rows[place], labels[pulls.rows[place]]
        choices = []
        for h in range(k):
            labels[row] = h
            choices.append(objective(X, centers, case.clues, labels, penalty))
        labels[row] = old
        broken = broken_weight(case.clues, labels)
        swept = assign.penalized(rows, centers - rows.shift, labels, np.array([place]), pulls, counts, penalty)
        new = objective(X, centers, case.clues, labels, penalty)
        assert new == pytest.approx(min(choices))
        assert new <= value + 1e-9
        assert broken + swept.broken == pytest.approx(broken_weight(case.clues, labels))
        value = new


def test_the_penalty_depends_on_the_cluster_that_is_tried():
    """E16: with the printed 1[y_i ≠ y_j] the penalty would be the same for every cluster, and row 1 would stay."""
    rows = Rows(np.array([[0.0], [4.0], [10.0]]))
    centers = np.array([[0.0], [10.0]]) - rows.shift
    pulls = build_forces(Clues(3, must=[(1, 2)]), 2)
    labels = np.array([0, 0, 1], np.int32)
    counts = count_members(pulls, labels, 2)
    swept = assign.penalized(rows, centers, labels, np.array([0, 1]), pulls, counts, 11.0)
    assert labels.tolist() == [0, 1, 1]  # ½·16 + 11 > ½·36
    assert swept.broken == -1


def test_a_row_stays_on_ties():
    rows = Rows(np.array([[0.0], [1.0], [2.0]]))
    centers = np.array([[0.0], [2.0]]) - rows.shift
    pulls = build_forces(Clues(3, must=[(0, 1), (1, 2)]), 2)
    for old in (0, 1):
        labels = np.array([0, old, 1], np.int32)
        assign.penalized(rows, centers, labels, np.array([1]), pulls, count_members(pulls, labels, 2), 1.0)
        assert labels[1] == old


def test_sample_weight_counts_for_the_distance_not_for_the_clue():
    X = np.array([[0.0], [4.0], [10.0]])
    pulls = build_forces(Clues(3, must=[(1, 2)]), 2)
    for weight, expected in ((1.0, 1), (2.0, 0)):  # w·8 + 11 against w·18
        rows = Rows(X, np.array([1.0, weight, 1.0]))
        labels = np.array([0, 0, 1], np.int32)
        counts = count_members(pulls, labels, 2)
        assign.penalized(rows, np.array([[0.0], [10.0]]) - rows.shift, labels, np.array([0]), pulls, counts, 11.0)
        assert labels[1] == expected


def test_costs():
    X, centers = RNG.normal(size=(30, 3)), RNG.normal(size=(4, 3))
    which = np.array([5, 0, 29])
    rows = Rows(X)
    np.testing.assert_allclose(assign.costs(rows, centers - rows.shift, which), cdist(X[which], centers, "sqeuclidean"))
    weight = RNG.random(30)
    rows = Rows(X, weight)
    weighted = weight[which, None] * cdist(X[which], centers, "sqeuclidean")
    np.testing.assert_allclose(assign.costs(rows, centers - rows.shift, which), weighted)


@pytest.mark.parametrize("d", [2, 12])
def test_lead(d):
    X, centers = RNG.normal(size=(50, d)), RNG.normal(size=(4, d))
    rows = Rows(X)
    labels = RNG.integers(4, size=50).astype(np.int32)
    half = 0.5 * cdist(X, centers, "sqeuclidean")
    own = half[np.arange(50), labels]
    half[np.arange(50), labels] = np.inf
    np.testing.assert_allclose(assign.lead(rows, centers - rows.shift, labels), half.min(axis=1) - own, atol=1e-9)


def test_with_one_cluster_the_lead_is_infinite():
    rows = Rows(np.zeros((3, 2)))
    assert np.isposinf(assign.lead(rows, np.zeros((1, 2)), np.zeros(3, np.int32))).all()


@given(cases(PAIR_KINDS, noise=0.3), st.sampled_from([0.3, 5.0]), st.booleans())
def test_one_pass_in_storage_order_is_the_sweep_in_that_order(case, penalty, weighted):
    """Free rows first and tied rows after them, or all in one pass over X: the same labels, sums and price."""
    rows = Rows(case.X, case.rng.random(len(case.X)) if weighted else None)
    centers = case.X[: case.k] - rows.shift
    pulls = build_forces(case.clues, case.k)
    free = others(pulls.rows, rows.n)
    old = case.rng.integers(case.k, size=rows.n).astype(np.int32)
    apart, once = old.copy(), old.copy()
    counts = count_members(pulls, old, case.k)
    freed = assign.nearest(rows, centers, apart, free)
    tied = assign.penalized(rows, centers, apart, np.arange(len(pulls.rows)), pulls, counts.copy(), penalty)
    swept = assign.sweep(rows, centers, once, free, np.arange(len(pulls.rows)), pulls, counts, penalty)
    np.testing.assert_array_equal(once, apart)
    np.testing.assert_array_equal(counts, count_members(pulls, once, case.k))
    np.testing.assert_allclose(swept.tally.sums, freed.tally.sums + tied.tally.sums, atol=1e-9)
    assert swept.moved == freed.moved + tied.moved == np.count_nonzero(old != once)
    assert swept.broken == pytest.approx(tied.broken)


@pytest.mark.parametrize("order", ["index", "random"])
def test_threads_change_no_bit_of_a_sweep(order):
    X = RNG.normal(size=(40000, 12))
    clues = Clues.sample(np.arange(40000) % 9, pairs=5000, random_state=0)
    rows, pulls = Rows(X), build_forces(clues, 9)
    places = np.arange(len(pulls.rows)) if order == "index" else RNG.permutation(len(pulls.rows))
    found = []
    for n in (1, 3):
        labels = assign.no_labels(len(X))
        assign.nearest(rows, X[:9] - rows.shift, labels)
        counts = count_members(pulls, labels, 9)
        with threads(n):
            swept = assign.sweep(
                rows, X[:9] - rows.shift, labels, others(pulls.rows, 40000), places, pulls, counts, 1.0
            )
        found.append((swept.tally.sums, labels, swept.broken))
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)


def test_a_margin_is_the_most_probable_minus_the_next():
    P = np.array([[0.2, 0.7, 0.1], [0.4, 0.2, 0.4]])
    np.testing.assert_allclose(assign.find_margin(P), [0.5, 0.0])
    assert assign.find_margin(np.ones((2, 1))).tolist() == [1.0, 1.0]
