"""Sums, means, scatter, and what happens to a cluster that has lost all its rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cluewise.core.centers import Tally, distortion, group_means, means, refill, scatter, tally, tally_of, within
from cluewise.core.rows import Rows, rows_of


def plain_objective(X, labels, weight=None):
    """Σ w‖x − mean of its cluster‖², the slow way."""
    w = np.ones(len(X)) if weight is None else weight
    total = 0.0
    for h in np.unique(labels):
        mine = labels == h
        if w[mine].sum() > 0:
            mean = np.average(X[mine], axis=0, weights=w[mine])
            total += (w[mine, None] * (X[mine] - mean) ** 2).sum()
    return total


@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans(), st.booleans())
def test_objective_from_sums_alone(seed, k, weighted, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3)) + 5
    labels = rng.integers(k, size=20).astype(np.int32)
    weight = rng.random(20) if weighted else None
    rows = rows_of(csr_array(X) if sparse else X, weight)
    found = tally(rows, labels, k)
    expected = plain_objective(X, labels, weight)
    assert within(scatter(rows), found) == pytest.approx(expected, rel=1e-8, abs=1e-9)
    centers = means(found, np.zeros((k, 3)))
    assert distortion(rows, centers, labels) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_tally_of_some_rows():
    X = np.arange(12.0).reshape(6, 2)
    rows = rows_of(X)
    labels = np.array([0, 1, 0, 1, 0, 1], np.int32)
    some = tally_of(rows, labels, np.array([0, 1, 4]), 2)
    np.testing.assert_array_equal(some.sums, [X[0] + X[4] - 2 * rows.shift, X[1] - rows.shift])
    rest = tally_of(rows, labels, np.array([2, 3, 5]), 2)
    np.testing.assert_array_equal(some.plus(rest).sums, tally(rows, labels, 2).sums)


def test_an_empty_cluster_keeps_its_center():
    found = Tally(np.array([[2.0, 4.0], [0.0, 0.0]]), np.array([2.0, 0.0]))
    previous = np.array([[9.0, 9.0], [7.0, 7.0]])
    assert means(found, previous).tolist() == [[1, 2], [7, 7]]
    assert previous.tolist() == [[9, 9], [7, 7]]


def refilled(X, labels, k, free=None, weight=None):
    """Refill from the means of the labels; returns (new labels, tally, moved)."""
    rows = rows_of(np.asarray(X, float), weight)
    labels = np.array(labels, np.int32)
    found = tally(rows, labels, k)
    centers = means(found, np.zeros((k, rows.d)))
    new, moved = refill(rows, found, centers, labels, free)
    np.testing.assert_allclose(new.sums, tally(rows, labels, k).sums, atol=1e-9)
    np.testing.assert_allclose(new.mass, tally(rows, labels, k).mass)
    return labels, new, moved


LINE = [[0.0], [1], [2], [10], [12], [40]]


def test_the_worst_row_moves_into_the_empty_cluster():
    labels, _, moved = refilled(LINE, [0, 0, 0, 1, 1, 1], 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 2]
    assert moved == 1


def test_two_empty_clusters_take_the_two_worst_rows():
    labels, _, moved = refilled(LINE, [0, 0, 0, 0, 0, 0], 3)  # the mean is 10.8
    assert labels.tolist() == [1 + 1, 0, 0, 0, 0, 1]
    assert moved == 2


def test_only_free_rows_move():
    labels, _, _ = refilled(LINE, [0, 0, 0, 1, 1, 1], 3, free=np.array([0, 1]))
    assert labels.tolist() == [2, 0, 0, 1, 1, 1]
    labels, _, moved = refilled(LINE, [0, 0, 0, 1, 1, 1], 3, free=np.empty(0, np.int64))
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert moved == 0


def test_a_row_on_its_center_or_alone_in_its_cluster_stays():
    assert refilled([[0.0], [0], [5]], [0, 0, 1], 3)[2] == 0


def test_weights_make_a_row_worse():
    X = [[0.0], [1], [2], [10], [14]]
    weight = np.array([1.0, 1, 20, 1, 1]) / [1, 1, 1, 9, 9]
    assert refilled(X, [0, 0, 0, 1, 1], 3, weight=weight)[0].tolist() == [2, 0, 0, 1, 1]
    assert refilled(X, [0, 0, 0, 1, 1], 3)[0].tolist() == [0, 0, 0, 2, 1]


def test_the_last_row_with_weight_does_not_leave_its_cluster():
    """Otherwise its old cluster would be left with nothing but rounding errors for a mass."""
    X = [[0.0], [0.3], [0.7], [5.0]]
    weight = np.array([0.1, 0.2, 0.0, 1.0])
    labels, new, moved = refilled(X, [0, 0, 0, 1], 4, weight=weight)
    assert moved == 1
    assert sorted(new.mass) == pytest.approx([0, 0.1, 0.2, 1.0])
    assert labels[2] == 0


@given(st.integers(0, 10**6), st.integers(3, 6))
def test_refilling_never_raises_the_objective(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    labels = rng.integers(2, size=12).astype(np.int32)
    rows = rows_of(X)
    before = plain_objective(X, labels)
    new, _, moved = refilled(X, labels, k)
    assert moved == k - len(np.unique(labels))
    assert plain_objective(X, new) <= before + 1e-12
    assert len(np.unique(new)) == k
    assert rows.X is X


def test_group_means_are_weighted():
    rows = Rows(np.array([[0.0], [4], [10], [7]]), np.array([3.0, 1, 2, 5]))
    found, mass = group_means(rows, np.array([0, 0, 2, -1]), 3)
    assert (found + rows.shift)[[0, 2]].ravel().tolist() == [1, 10]
    assert mass.tolist() == [4, 0, 2]
