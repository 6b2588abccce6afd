"""Affinities are symmetric, between 0 and 1, connected, and what scikit-learn makes of the same neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from cluewise import Clues
from cluewise.core.graphs import affinity
from cluewise.core.graphs.affinity import connect, dense_affinity, given_affinity, neighbor_affinity
from cluewise.metrics import ari
from cluewise.spectral import E2CP, FlexibleSpectral, SpectralKernelKMeans


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
    np.testing.assert_allclose(graph.toarray(), (1 - np.eye(30)) / 29)
    assert dense_affinity(np.ones((4, 2))).sum() == 12


def test_equal_rows_share_the_neighbors_of_one():
    """Weights of an edge add up to its own times the mean number of copies, and a row's own copies have one in all."""
    rows = np.random.default_rng(0).normal(size=(12, 2))
    count = np.array([1, 5, 1, 2, 1, 1, 3, 1, 1, 1, 1, 7])
    order = np.random.default_rng(1).permutation(count.sum())
    copy_of = np.repeat(np.arange(12), count)[order]
    alone, graph = neighbor_affinity(rows, 3).toarray(), neighbor_affinity(rows[copy_of], 3).toarray()
    expected = alone * (count + count[:, None]) / 2 / np.outer(count, count)
    expected[np.diag_indices(12)] = 1 / np.maximum(count - 1, 1)
    expected = expected[copy_of][:, copy_of]
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(graph, expected, rtol=1e-10)


def test_many_copies_have_few_edges(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(12, 2))
    X = np.repeat(rows, 40, axis=0)
    whole = neighbor_affinity(X, 3)
    monkeypatch.setattr(affinity, "EDGES", 100)
    graph = neighbor_affinity(X, 3)
    assert graph.nnz < whole.nnz / 3
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert connected_components(graph, directed=False)[0] == 1
    between = np.add.reduceat(np.add.reduceat(graph.toarray(), np.arange(0, 480, 40), 0), np.arange(0, 480, 40), 1)
    exact = np.add.reduceat(np.add.reduceat(whole.toarray(), np.arange(0, 480, 40), 0), np.arange(0, 480, 40), 1)
    np.testing.assert_allclose(between, exact)


@pytest.mark.parametrize("cls", [E2CP, FlexibleSpectral, SpectralKernelKMeans])
def test_rows_given_twice(cls):
    """Copies are in one cluster, and clusters are nearly those of the rows given once."""
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=150)
    X = (rng.random((150, 12)) < np.where(rng.random((3, 12)) < 0.5, 0.1, 0.9)[kind]).astype(float)
    assert len(np.unique(X, axis=0)) < 130
    clues = Clues.sample(kind, pairs=60, random_state=0)
    once = cls(3, random_state=0).fit(X, clues=clues).labels_
    twice = Clues(300, must=clues.must, cannot=clues.cannot)
    both = cls(3, random_state=0).fit(np.vstack([X, X]), clues=twice).labels_
    plain = cls(3, random_state=0).fit(np.vstack([X, X])).labels_
    np.testing.assert_array_equal(plain[:150], plain[150:])
    assert ari(once, both[:150]) > 0.9
    assert ari(plain[:150], cls(3, random_state=0).fit(X).labels_) > 0.9


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
