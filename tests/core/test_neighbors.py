"""The nearest rows are those that sorting all distances finds, whichever way they are looked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cluewise as cw
from cluewise.core.graphs import neighbors
from cluewise.core.graphs.neighbors import nearest_rows


def sorted_out(X, k):
    squared = np.zeros((len(X), len(X)))
    for column in X.astype(np.float64).T:
        squared += (column[:, None] - column) ** 2
    np.fill_diagonal(squared, np.inf)
    rows = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return rows, np.take_along_axis(squared, rows, axis=1)


@pytest.mark.parametrize("d", [2, 7, 9, 20])
@pytest.mark.parametrize("kind", ["normal", "grid", "far", "copies", "outlier", "float32"])
def test_the_same_as_sorting(d, kind, monkeypatch):
    monkeypatch.setattr(neighbors, "LINES", 64)
    monkeypatch.setattr(neighbors, "COLUMNS", 128)
    rng = np.random.default_rng(d)
    X = rng.normal(size=(600, d))
    if kind == "grid":
        X = np.round(2 * X)
    if kind == "far":
        X = X / 16 + 4096
    if kind == "copies":
        X[100:] = X[rng.integers(100, size=500)]
    if kind == "outlier":
        X[17] = 1e9
    X = np.round(2**16 * X) / 2**16  # so that moving the rows is exact
    if kind == "float32":
        X = X.astype(np.float32)
    rows, squared = sorted_out(X, 5)
    found = nearest_rows(X, 5)
    np.testing.assert_allclose(found.squared, squared, rtol=1e-9)
    np.testing.assert_array_equal(found.rows, rows)


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.integers(1, 30), st.integers(1, 12), st.integers(1, 40))
def test_few_rows(seed, n, d, k):
    X = np.random.default_rng(seed).integers(-3, 4, size=(n, d)).astype(float)
    found = nearest_rows(X, k)
    rows, squared = sorted_out(X, min(k, n - 1))
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.squared, squared)


@pytest.mark.parametrize("power", [-190, -100, -70, 100, 190])
@pytest.mark.parametrize("d", [3, 10])
def test_numbers_beyond_single_precision(power, d):
    X = np.random.default_rng(0).normal(size=(600, d))
    np.testing.assert_array_equal(nearest_rows(np.ldexp(X, power), 3).rows, nearest_rows(X, 3).rows)


def test_rows_beside_one_that_is_far_away():
    X = np.random.default_rng(0).normal(size=(600, 10))
    far = np.vstack([np.ldexp(X, -90), np.full((1, 10), -1.0), np.full((1, 10), 1.0)])
    np.testing.assert_array_equal(nearest_rows(far, 3).rows[:600], nearest_rows(X, 3).rows)


@pytest.mark.parametrize("n", [20, 600])
@pytest.mark.parametrize("X", [0.0, 1.0, 5e-324])
def test_equal_rows_have_neighbors(n, X):
    for d in (3, 10):
        rows = np.full((n, d), X)
        rows[::2] = 0
        found = nearest_rows(rows, 3)
        assert found.rows.min() >= 0
        assert found.rows.max() < n
        np.testing.assert_array_equal(found.squared, 0)


@pytest.mark.parametrize("d", [3, 12])
def test_threads_change_nothing(d):
    X = np.random.default_rng(0).normal(size=(3000, d))
    found = []
    for n in (1, 3):
        with cw.threads(n):
            found.append(nearest_rows(X, 4))
    np.testing.assert_array_equal(found[0].rows, found[1].rows)
    np.testing.assert_array_equal(found[0].squared, found[1].squared)
