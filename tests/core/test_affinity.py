"""Affinities are symmetric, between 0 and 1, connected, and what scikit-learn makes of the same neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from cluewise.core.graphs import affinity
from cluewise.core.graphs.affinity import connect, dense_affinity, given_affinity, neighbor_affinity


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(80, 3))


def test_equal_weights_are_those_of_scikit_learn(X):
    half = kneighbors_graph(X, 6, include_self=False).toarray()
    np.testing.assert_array_equal(neighbor_affinity(X, 6, "equal").toarray(), (half + half.T) / 2)


def test_local_weights(X):
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    scale = np.sqrt(np.sort(squared, axis=1)[:, 6])  # the first is the row itself
    near = np.argsort(squared, axis=1)[:, 1:7]
    half = np.zeros((80, 80))
    for i in range(80):
        half[i, near[i]] = np.exp(-squared[i, near[i]] / (scale[i] * scale[near[i]]))
    np.testing.assert_allclose(neighbor_affinity(X, 6).toarray(), (half + half.T) / 2, rtol=1e-10)


@pytest.mark.parametrize("gamma", [None, 0.7])
def test_global_weights(X, gamma):
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    used = 1 / np.median(np.sort(squared, axis=1)[:, 6]) if gamma is None else gamma
    half = kneighbors_graph(X, 6, include_self=False).toarray() * np.exp(-used * squared)
    np.testing.assert_allclose(neighbor_affinity(X, 6, "global", gamma).toarray(), (half + half.T) / 2, rtol=1e-10)


@pytest.mark.parametrize("gamma", [None, 0.7])
def test_dense(X, gamma):
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    used = 1 / np.median(np.sort(squared, axis=1)[:, 7]) if gamma is None else gamma
    expected = rbf_kernel(X, gamma=used)
    np.fill_diagonal(expected, 0)
    found = dense_affinity(X + 100, gamma)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("away", [1e3, 1e8])
def test_dense_of_groups_that_are_far_apart(X, away):
    moved = X + away * (np.arange(80) % 2)[:, None]
    squared = ((moved[:, None] - moved) ** 2).sum(axis=2)
    expected = np.exp(-0.7 * squared) - np.eye(80)
    np.testing.assert_allclose(dense_affinity(moved, 0.7), expected, rtol=1e-8)


def test_too_many_rows_for_a_table(X, monkeypatch):
    monkeypatch.setattr(affinity, "DENSE", 1000)
    with pytest.raises(ValueError, match=r'affinity="rbf" needs a matrix of all pairs.*80 rows.*"nearest_neighbors"'):
        dense_affinity(X)


@settings(max_examples=30)
@given(st.integers(0, 2**16), st.integers(1, 60), st.integers(1, 4), st.sampled_from(["equal", "local", "global"]))
def test_a_graph_in_one_piece(seed, n, k, weights):
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 20, size=(n, 2)).astype(float)  # some rows are equal
    X[: n // 3] *= 1000
    graph = neighbor_affinity(X, k, weights)
    assert connected_components(graph, directed=False)[0] == 1
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    if graph.nnz:
        assert graph.data.min() > 0
        assert graph.data.max() <= 1


def test_all_rows_equal():
    graph = neighbor_affinity(np.ones((30, 2)), 3)
    assert connected_components(graph)[0] == 1
    assert set(graph.data) == {0.5, 1.0}
    assert dense_affinity(np.ones((4, 2))).sum() == 12


def test_pieces_are_joined_where_they_are_closest():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [31.0]])
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]
    table = np.zeros((8, 8))
    for i, j in pairs:
        table[i, j] = table[j, i] = 0.8
    new = connect(csr_array(table), X).toarray() - table
    assert np.argwhere(np.triu(new)).tolist() == [[2, 3], [5, 6]]
    np.testing.assert_allclose(new[[2, 5], [3, 6]], 0.4)


def test_given():
    table = np.array([[5.0, 1.0, 0.0], [3.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    expected = [[0, 2, 0], [2, 0, 2], [0, 2, 0]]
    for kind in (np.array, csr_array):
        found = given_affinity(kind(table))
        np.testing.assert_array_equal(found if kind is np.array else found.toarray(), expected)
        with pytest.raises(ValueError, match="Negative values in data"):
            given_affinity(kind(-table))
        with pytest.raises(ValueError, match=r"must be square; X has shape \(2, 3\)"):
            given_affinity(kind(table[:2]))
