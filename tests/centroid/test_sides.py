"""Labelings: prices, shares, impurity and first shares, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cluewise.centroid._sides import impurity, label_cost, nearest_with, prices, shares_of, shares_of_starts, side_of
from cluewise.core import assign
from cluewise.core.rows import Rows, rows_of


def problem(seed, n=40, d=3, k=4, sizes=(3, 5), weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    columns = [np.where(rng.random(n) < 0.6, rng.integers(size, size=n), -1).astype(np.int32) for size in sizes]
    sides = [side_of(column, size, float(rng.uniform(0, 5))) for column, size in zip(columns, sizes)]
    shares = [rng.dirichlet(np.ones(size), size=k) for size in sizes]
    shares[0][0] = 0  # a cluster that never held a label
    rows = Rows(X, rng.uniform(0.5, 2, size=n) if weighted else None)
    return rng, rows, columns, sides, shares


def one_hot(column, size):
    return np.eye(size + 1)[column, :size]


def costs(rows, centers, columns, sides, shares):
    """cost(i, k) of the specification, written out."""
    total = ((rows.X - rows.shift)[:, None] - centers) ** 2
    total = total.sum(axis=2)
    for column, side, share in zip(columns, sides, shares):
        apart = ((one_hot(column, side.size)[:, None] - share) ** 2).sum(axis=2)
        total += side.weight * np.where(column >= 0, 1, 0)[:, None] * apart
    return total


@given(st.integers(0, 2**16), st.sampled_from([3, 12]))
def test_rows_go_where_distance_and_labels_cost_least(seed, d):
    rng, rows, columns, sides, shares = problem(seed, d=d)
    centers = rng.normal(size=(4, d))
    labels = assign.no_labels(rows.n)
    found = nearest_with(rows, centers, labels, sides, shares)
    np.testing.assert_array_equal(labels, costs(rows, centers, columns, sides, shares).argmin(axis=1))
    assert found.moved == rows.n
    np.testing.assert_allclose(found.tally.mass, np.bincount(labels, minlength=4))


def test_blocks_begin_anywhere():
    """Several blocks, in several threads, and sparse rows: the labels of each are found."""
    rng, rows, columns, sides, shares = problem(1, n=3000, d=300, k=4)
    assert len(rows.blocks(4)) > 5
    centers = rng.normal(size=(4, 300))
    expected = costs(rows, centers, columns, sides, shares).argmin(axis=1)
    labels = assign.no_labels(rows.n)
    nearest_with(rows, centers, labels, sides, shares)
    np.testing.assert_array_equal(labels, expected)
    nearest_with(rows_of(csr_array(rows.X)), centers + rows.shift, labels, sides, shares)
    np.testing.assert_array_equal(labels, expected)


def test_prices_are_half_the_cost_above_the_least():
    side = side_of(np.array([0, 1, -1]), 2, 10.0)
    shares = np.array([[1.0, 0], [0.5, 0.5], [0, 0]])
    whole = 10 * np.array([[0.0, 2], [0.5, 0.5], [1, 1]])
    np.testing.assert_allclose(prices(side, shares), 0.5 * (whole - whole.min(axis=0)))


def test_a_huge_weight_leaves_the_digits_of_single_precision():
    """Both clusters cost the label the same, so the distance decides, at any weight."""
    rows = Rows(np.array([[0.0], [1.0], [0.4]], dtype=np.float32))
    labels = assign.no_labels(3)
    side = side_of(np.zeros(3, dtype=np.int32), 1, 1e12)
    nearest_with(rows, np.array([[0.0], [1.0]]) - rows.shift, labels, [side], [np.zeros((2, 1))])
    assert labels.tolist() == [0, 1, 0]


@given(st.integers(0, 2**16), st.booleans())
def test_shares_are_frequencies_and_impurity_is_what_they_leave(seed, weighted):
    """Invariants (d) and (f): Σ‖e(s) − g‖² = Σ_k m_k (1 − ‖g_k‖²) = m (1 − ‖P‖²) − m·U_c; kept rows stay."""
    rng, rows, columns, sides, before = problem(seed, n=25, weighted=weighted)
    labels = rng.integers(1, 4, size=25).astype(np.int32)  # cluster 0 is empty
    weight = np.ones(25) if rows.weight is None else rows.weight
    for column, side, previous in zip(columns, sides, before):
        shares, impure = shares_of(rows, side, labels, previous)
        known = column >= 0
        hot, w = one_hot(column, side.size)[known], weight[known]
        np.testing.assert_array_equal(shares[0], previous[0])
        for h in range(1, 4):
            own = labels[known] == h
            if own.any():
                np.testing.assert_allclose(shares[h], np.average(hot[own], axis=0, weights=w[own]))
        apart = (w * ((hot - shares[labels[known]]) ** 2).sum(axis=1)).sum()
        assert impure == pytest.approx(apart, abs=1e-9)
        assert label_cost(rows, side, labels, shares) == pytest.approx(apart, abs=1e-9)
        if known.any():
            overall = np.average(hot, axis=0, weights=w)
            mass = np.bincount(labels[known], weights=w, minlength=4)
            utility = (mass * (shares**2).sum(axis=1)).sum() / w.sum() - (overall**2).sum()
            assert impure == pytest.approx(w.sum() * (1 - (overall**2).sum()) - w.sum() * utility, abs=1e-9)


def test_impurity_of_pure_clusters_is_nothing():
    assert impurity(np.array([[0.3, 0], [0, 0.7]]), np.array([0.3, 0.7])) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_a_start_that_is_a_labelled_row_brings_its_label(dtype, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 10)).astype(dtype) + 5
    rows = rows_of(make(X))
    first, second = np.full(30, -1, dtype=np.int32), np.full(30, -1, dtype=np.int32)
    first[[3, 8, 20]], second[[8, 9]] = [1, 0, 1], [2, 0]
    sides = [side_of(first, 2, 1.0), side_of(second, 3, 1.0), side_of(np.full(30, -1), 0, 1.0)]
    centers = X[[3, 8, 9, 15, 20, 20]].astype(np.float64)
    centers[4] += 1e-3  # close to a labeled row, but not one
    found = shares_of_starts(rows, sides, centers - rows.shift)
    assert found[0].tolist() == [[0, 1], [1, 0], [0, 0], [0, 0], [0, 0], [0, 1]]
    assert found[1].tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert found[2].shape == (6, 0)
    assert [share.tolist() for share in shares_of_starts(rows, sides[2:], centers - rows.shift)] == [[[]] * 6]
