"""Rows are read in blocks, moved close to the origin, and measured without losing digits."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from cluewise.core import rows as module
from cluewise.core.rows import Rows, SparseRows, coarse_mean, rows_of, squared_distances

RNG = np.random.default_rng(0)
TOLERANCE = {np.float32: {"rtol": 1e-4, "atol": 1e-6}, np.float64: {"rtol": 1e-12, "atol": 1e-14}}


def exact(X, centers):
    """Squared distances in extended precision."""
    difference = np.asarray(X, np.longdouble)[None, :, :] - np.asarray(centers, np.longdouble)[:, None, :]
    return (difference**2).sum(axis=2)


@pytest.mark.parametrize("d", [1, 2, 8, 9, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_squared_distances(d, dtype, sparse):
    X = RNG.normal(size=(50, d)).astype(dtype)
    centers = RNG.normal(size=(3, d))
    rows = rows_of(csr_array(X) if sparse else X)
    table = rows.table(centers - rows.shift)
    found = rows.squared(rows.take(slice(0, 50)), table)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact(X, centers).astype(float), **TOLERANCE[dtype])
    own = rows.to_own(rows.take(slice(0, 50)), centers - rows.shift, np.zeros(50, np.int32))
    np.testing.assert_allclose(own, exact(X, centers)[0].astype(float), **TOLERANCE[dtype])


@pytest.mark.parametrize("d", [3, 20])
def test_scores_differ_from_half_distances_by_a_constant_of_the_row(d):
    X = RNG.normal(size=(30, d))
    centers = RNG.normal(size=(4, d))
    for rows in (Rows(X), SparseRows(csr_array(X))):
        table = rows.table(centers - rows.shift)
        half = rows.scores(rows.take(slice(0, 30)), table) + table.offset[:, None]
        np.testing.assert_allclose(half - half[0], (exact(X, centers) - exact(X, centers)[0]).astype(float) / 2)


@pytest.mark.parametrize("d", [2, 20])
def test_far_from_the_origin_no_digits_are_lost(d):
    """The expanded form without the shift would be wrong in the first digit."""
    X = 1e8 + RNG.normal(size=(40, d))
    centers = X[:2] + 0.5
    rows = Rows(X)
    found = rows.squared(rows.take(slice(0, 40)), rows.table(centers - rows.shift))
    np.testing.assert_allclose(found, exact(X, centers).astype(float), rtol=1e-6)


def test_the_shift_keeps_a_grid_exact():
    X = np.array([[1000.25, 5.0], [1003.5, 5.0], [1001.75, 5.0]])
    shift = coarse_mean(X)
    assert shift[1] == 5.0  # a constant column goes to the origin
    assert np.abs(X - shift).max() < 8
    assert ((X - shift) * 8 % 1 == 0).all()
    assert coarse_mean(X.astype(np.float32)).dtype == np.float32


def test_the_shift_survives_extremes():
    for scale in (1e-320, 1e-300, 1e300):
        assert np.isfinite(coarse_mean(scale * np.array([[1.0, 2.0], [3.0, -4.0]]))).all()


@pytest.mark.parametrize(("mean", "moved"), [(0.0, False), (3.0, False), (5.0, True), (1e4, True)])
def test_a_large_matrix_is_moved_only_when_that_saves_digits(mean, moved):
    X = np.random.default_rng(0).normal(size=(module.SMALL // 32 + 1, 9)).astype(np.float32)
    X[:, 4] += np.float32(mean)  # one column decides for all
    rows = Rows(X)
    assert rows.shift.any() == moved
    assert np.shares_memory(rows.take(slice(0, 9)), X) != moved
    centers = X[:3].astype(np.float64) - rows.shift
    exact = ((X[:100].astype(np.float64)[None] - X[:3].astype(np.float64)[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(rows.squared(rows.take(slice(0, 100)), rows.table(centers)), exact, atol=1e-4)


def test_a_constant_column_far_away_moves_a_large_matrix():
    X = np.random.default_rng(0).normal(size=(module.SMALL // 64 + 1, 9))
    X[:, 0] = 7.0
    assert Rows(X).shift[0] == 7.0


@pytest.mark.parametrize("k", [1, 50, 10**6])
def test_blocks_cover_every_row_once(k):
    rows = Rows(np.zeros((20000, 3)))
    assert np.concatenate([np.arange(20000)[b] for b in rows.blocks(k)]).tolist() == list(range(20000))
    which = RNG.permutation(20000)[:777]
    assert np.concatenate(rows.blocks(k, which)).tolist() == which.tolist()
    sizes = [b.stop - b.start for b in rows.blocks(k)]
    assert 64 <= max(sizes) <= 8192


def test_no_rows_no_blocks():
    assert Rows(np.zeros((5, 2))).blocks(3, np.empty(0, np.int64)) == []


def test_a_block_is_small():
    rows = Rows(np.zeros((3000, 500)))
    block = rows.blocks(100)[0]
    assert (block.stop - block.start) * 600 * 8 <= module.BLOCK_BYTES


def test_blocks_of_a_sparse_matrix_go_by_what_is_stored():
    wide = SparseRows(csr_array((5000, 10**6)))
    assert wide.blocks(10)[0] == slice(0, 5000)
    assert wide.big_blocks() == [slice(0, 5000)]


def test_a_wide_sparse_matrix_is_never_made_dense():
    """5,000 rows of 10⁶ columns would be 40 GB."""
    where = RNG.integers(5000, size=50_000), RNG.integers(10**6, size=50_000)
    X = csr_array((RNG.normal(size=50_000), where), shape=(5000, 10**6))
    rows = SparseRows(X)
    labels = np.zeros(5000, np.int32)
    block = rows.take(slice(0, 5000))
    own = rows.to_own(block, np.zeros((1, 10**6)), labels)
    np.testing.assert_allclose(own, (X * X).sum(axis=1))


@pytest.mark.parametrize("sparse", [False, True])
def test_sums_and_masses(sparse):
    X = RNG.normal(size=(30, 4)) * (RNG.random((30, 4)) < 0.5)
    weight, labels = RNG.random(30), RNG.integers(3, size=30).astype(np.int32)
    for w in (None, weight):
        rows = rows_of(csr_array(X) if sparse else X, w)
        sums, mass = np.zeros((3, 4)), np.zeros(3)
        for block in (slice(0, 11), slice(11, 30)):
            rows.add(rows.take(block), block, labels[block], sums, mass)
        each = np.ones(30) if w is None else w
        for h in range(3):
            mine = labels == h
            np.testing.assert_allclose(sums[h], each[mine] @ (X - rows.shift)[mine], atol=1e-12)
            assert mass[h] == pytest.approx(each[mine].sum())


def test_mass():
    X = np.zeros((3, 1))
    assert Rows(X).mass == 3
    assert Rows(X, np.array([0.5, 0, 2])).mass == 2.5


def test_rows_are_taken_contiguous_and_the_data_stay():
    X = np.asfortranarray(RNG.normal(size=(10, 3)))
    before = X.copy()
    taken = Rows(X).take(np.array([4, 2]))
    assert taken.flags.c_contiguous
    taken[:] = 0
    assert (before == X).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_the_smallest_numbers_are_moved_without_a_warning(dtype):
    X = np.zeros((6, 3), dtype=dtype)
    X[:, 0] = np.arange(6) * np.finfo(dtype).smallest_subnormal
    X[:, 1] = np.arange(6)
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(coarse_mean(X)).all()
        assert np.isfinite(Rows(X).take(slice(0, 6))).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("sparse", [False, True])
def test_distances_are_double_whatever_the_rows(dtype, columns, sparse):
    rng = np.random.default_rng(0)
    X = (100 + rng.normal(size=(300, columns))).astype(dtype)
    rows = rows_of(csr_array(X) if sparse else X)
    centers, which = rng.normal(size=(4, columns)), rng.permutation(300)[:100]
    found = squared_distances(rows, centers, which)
    expected = cdist((X.astype(float) - rows.shift)[which], centers, "sqeuclidean")
    # Rows are moved to the origin in their own precision; sparse ones stay where they are.
    np.testing.assert_allclose(found, expected, rtol=1e-9 if sparse or dtype == np.float64 else 1e-4)
    assert found.dtype == np.float64
