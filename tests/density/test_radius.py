"""Neighborhoods: whoever looks for them, and in how many pieces, they are those of plain distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from cluewise.core.threads import threads
from cluewise.density import _radius as radius
from cluewise.density._radius import close_pairs, neighbors_from_distances, neighbors_within, reorder

seeds = st.integers(0, 2**16)


def plain(X, r):
    """Lists of neighbors from all distances, squared and summed column by column."""
    x = np.asarray(X, dtype=np.float64)
    near = sum((x[:, None, c] - x[None, :, c]) ** 2 for c in range(x.shape[1])) <= r * r
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


def lists(found):
    return [part.tolist() for part in np.split(found.indices, found.indptr[1:-1])]


@given(seeds, st.integers(1, 60), st.integers(1, 12), st.booleans(), st.sampled_from("fd"))
def test_neighbors_are_those_of_plain_distances(seed, n, d, grid, dtype):
    """On a grid many rows are exactly at the radius, and many are equal."""
    rng = np.random.default_rng(seed)
    X = (rng.integers(0, 3, size=(n, d)) if grid else 3 * rng.normal(size=(n, d))).astype(dtype)
    for r in (0.0, 1.0, 2.0):
        found = neighbors_within(X, r)
        assert lists(found) == plain(X, r)
        assert found.mass(None).tolist() == [1 + len(row) for row in plain(X, r)]


@pytest.mark.parametrize("d", [2, 8])
@pytest.mark.parametrize("away", [0.0, 1e6])
def test_leaves_and_tree_agree_far_from_the_origin_and_among_clusters(monkeypatch, d, away):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(900, d)) + 6 * rng.integers(3, size=(900, 1)) + away
    pairs = []
    for columns in (0, 99):
        monkeypatch.setattr(radius, "TREE", columns)
        pairs.append(np.sort(close_pairs(X, 0.3 * d), axis=1))
    found, expected = ({*map(tuple, p.tolist())} for p in pairs)
    assert found == expected
    assert len(pairs[0]) == len(found) > 900


@pytest.mark.parametrize("wide", [1e6, 0.0])
def test_products_in_double_precision_find_the_same(monkeypatch, wide):
    X = np.random.default_rng(0).integers(0, 3, size=(300, 8)).astype(float)
    monkeypatch.setattr(radius, "WIDE", wide)
    assert lists(neighbors_within(X, 2.0)) == plain(X, 2.0)


def test_an_outlier_does_not_spoil_the_others():
    """A row a billion radii away, where single precision would say nothing about the rest."""
    X = np.random.default_rng(0).normal(size=(200, 9))
    X[7] = 1e9
    assert lists(neighbors_within(X, 2.0)) == plain(X, 2.0)


def test_threads_change_nothing():
    X = np.random.default_rng(0).normal(size=(3000, 8))
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(close_pairs(X, 1.0))
    np.testing.assert_array_equal(*found)


def test_leaves_are_small_and_hold_every_row():
    X = np.random.default_rng(0).normal(size=(2000, 9))
    X[:700] = 0  # equal rows are cut somewhere, too
    order, cuts = radius.leaves(X)
    assert sorted(order) == list(range(2000))
    assert 0 < np.diff(cuts).min() <= np.diff(cuts).max() <= radius.LEAF


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_sparse_rows(kind):
    X = np.random.default_rng(0).integers(0, 3, size=(50, 9)) * (np.random.default_rng(1).random((50, 9)) < 0.3)
    assert lists(neighbors_within(kind(X.astype(float)), 2.0)) == plain(X, 2.0)


@pytest.mark.parametrize("away", [0.0, 2.0**10, 2.0**30])
@pytest.mark.parametrize("block", [1, 2**20])
def test_sparse_rows_far_from_the_origin(monkeypatch, away, block):
    """On a grid many are exactly at the radius; where norms are large the products say nothing about that."""
    monkeypatch.setattr(radius, "BLOCK", block)
    monkeypatch.setattr(radius, "DOUBTFUL", 7)
    X = np.random.default_rng(0).integers(0, 4, size=(60, 3)).astype(float) + np.array([away, -away, 0])
    assert lists(neighbors_within(csr_array(X), 2.0)) == plain(X, 2.0)
    assert lists(neighbors_within(csr_array(X / 7), 0.3)) == plain(X / 7, 0.3)


@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_too_many_pairs_are_refused(d, kind):
    X = kind(np.random.default_rng(0).normal(size=(2000, d)))
    few = 24 * 2000 * 1999 / 2 / 2**30
    assert len(neighbors_within(X, 1e3, few).indices) == 2000 * 1999
    with pytest.raises(MemoryError, match=r"pairs of rows within eps=1000 need .*; use a smaller eps"):
        neighbors_within(X, 1e3, 0.999 * few)
    assert len(neighbors_within(X, 1e-9, few / 10).indices) == 0


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_too_many_given_distances_are_refused(kind):
    ones = kind(np.ones((300, 300)) - np.eye(300))
    few = 24 * 300 * 299 / 2 / 2**30
    assert len(neighbors_from_distances(ones, 1.0, few).indices) == 300 * 299
    with pytest.raises(MemoryError, match="use a smaller eps"):
        neighbors_from_distances(ones, 1.0, 0.99 * few)


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix])
@pytest.mark.parametrize("block", [1, 2**20])
def test_given_distances(monkeypatch, kind, block):
    """Row i of the matrix is the neighborhood of row i; zeros beside the diagonal need to be stored."""
    monkeypatch.setattr(radius, "BLOCK", block)
    X = np.random.default_rng(0).normal(size=(40, 2))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert lists(neighbors_from_distances(kind(distances), 0.7)) == plain(X, 0.7)


def test_what_is_not_stored_is_far_and_order_of_storage_does_not_matter():
    stored = csr_array((np.array([2.0, 1.0, 0.0]), np.array([3, 1, 2]), np.array([0, 3, 3, 3, 3])), shape=(4, 4))
    assert lists(neighbors_from_distances(stored, 1.5)) == [[1, 2], [], [], []]


def test_negative_distances_are_refused():
    with pytest.raises(ValueError, match="negative distance"):
        neighbors_from_distances(np.array([[0.0, -1.0], [-1.0, 0.0]]), 1.0)


def test_weighted_mass_counts_the_row_itself():
    found = neighbors_within(np.array([[0.0], [1.0], [5.0]]), 1.0)
    assert found.mass(np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 3.0, 4.0]


@given(seeds, st.integers(1, 30))
def test_reorder_rows_have_reorder_neighbors(seed, n):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(n, 2)), rng.permutation(n)
    assert lists(reorder(neighbors_within(X, 1.0), order)) == plain(X[order], 1.0)
