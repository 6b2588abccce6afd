"""Every kernel of `neighbors` does what its plain twin does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluewise.kernels import neighbors
from twins import neighbors as reference_neighbors


def points(rng, n, d, grid, dtype="d"):
    return (rng.integers(-2, 3, size=(n, d)) if grid else rng.normal(size=(n, d))).astype(dtype)


@given(st.integers(0, 2**16), st.integers(1, 12), st.integers(1, 150), st.integers(1, 7))
def test_select_lowest(seed, lines, width, m):
    rng = np.random.default_rng(seed)
    scores = rng.permutation(2 * lines * width).astype(np.float32).reshape(2, lines, width)  # no ties
    first, own = int(rng.integers(50)), int(rng.integers(60))
    found = []
    for module in (neighbors, reference_neighbors):
        best, who = np.full((lines, m), np.inf, dtype=np.float32), np.full((lines, m), -1, dtype=np.int32)
        for t in range(2):
            module.select_lowest(scores[t], first + t * width, own, best, who)
        order = np.argsort(best, axis=1, kind="stable")
        assert (best.max(axis=1) == best[:, 0]).all()
        found.append((np.take_along_axis(best, order, axis=1), np.take_along_axis(who, order, axis=1)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert not (found[0][1] == own + np.arange(lines)[:, None]).any()


@given(st.integers(0, 2**16), st.integers(5, 30), st.integers(1, 5), st.booleans(), st.sampled_from("fd"))
def test_recheck(seed, n, d, grid, dtype):
    rng = np.random.default_rng(seed)
    X = points(rng, n, d, grid, dtype)
    k, m, own, lines = 2, 6, 1, n - 3  # five rows do not fill the heap
    scores = (0.5 * (X**2).sum(axis=1) - X[own : own + lines] @ X.T).astype(np.float32)
    best, who = np.full((lines, m), np.inf, dtype=np.float32), np.full((lines, m), -1, dtype=np.int32)
    reference_neighbors.select_lowest(scores, 0, own, best, who)
    found = []
    for module in (neighbors, reference_neighbors):
        near, squared = np.full((lines, k), -7, dtype=np.int32), np.empty((lines, k))
        count = module.recheck(X, own, best, who, 1e-6, near, squared)
        assert count == np.count_nonzero(near[:, 0] < 0)
        found.append((near, squared))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)


@given(st.integers(0, 2**16), st.integers(2, 30), st.integers(1, 5), st.booleans(), st.sampled_from("fd"))
def test_nearest_exactly(seed, n, d, grid, dtype):
    rng = np.random.default_rng(seed)
    X = points(rng, n, d, grid, dtype)
    k = int(rng.integers(1, n))
    rows = rng.permutation(n)[: max(n // 2, 1)]
    found = []
    for module in (neighbors, reference_neighbors):
        near, squared = np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k))
        module.nearest_exactly(X, rows, near, squared)
        found.append((near, squared))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)


def test_rows_infinitely_far_away_are_neighbors_where_there_are_no_others():
    X = np.array([[0.0], [1e200], [-1e200], [1.0]])
    for module in (neighbors, reference_neighbors):
        near, squared = np.full((1, 3), 77, dtype=np.int32), np.empty((1, 3))
        with np.errstate(over="ignore"):
            module.nearest_exactly(X, np.array([0]), near, squared)
        assert near.tolist() == [[3, 1, 2]]
        assert squared.tolist() == [[1.0, np.inf, np.inf]]


@pytest.mark.parametrize("seed", range(8))
def test_nearest_listed_like_its_twin(seed):
    rng = np.random.default_rng(seed)
    n, d, m = 40, int(rng.integers(1, 4)), 9
    points, centers = rng.normal(size=(30, d)), rng.normal(size=(m, d))
    cell = np.sort(rng.integers(m, size=30))
    first = np.searchsorted(cell, np.arange(m + 1))
    listed = np.array([np.append(a, rng.permutation(np.delete(np.arange(m), a))[:6]) for a in range(m)])
    own = rng.choice(np.unique(cell), n)
    X = rng.normal(size=(n, d)).astype(rng.choice(["float32", "float64"]))
    found = []
    for module in (neighbors, reference_neighbors):
        near, squared = np.empty((n, 5), dtype=np.int32), np.empty((n, 5))
        module.nearest_listed(X, own, centers, listed, first, np.ascontiguousarray(points.T), 4, near, squared)
        found.append((near, squared))
    (near, squared), (near_of_twin, squared_of_twin) = found
    np.testing.assert_allclose(squared, squared_of_twin, rtol=1e-12)
    np.testing.assert_array_equal(near, near_of_twin)
