"""Leading eigenvectors are those of a dense solver, in whatever way they are found."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from cluewise.core.graphs import laplacian as laplacian
from cluewise.core.graphs.affinity import neighbor_affinity
from cluewise.core.graphs.laplacian import degrees, leading, normalized


def check(affinity, m, tol=1e-7):
    found = leading(affinity, m)
    table = affinity if isinstance(affinity, np.ndarray) else affinity.toarray()
    N = normalized(table, degrees(table))
    isolated = table.sum(axis=1) == 0
    N[isolated, isolated] = 1  # by convention: a row without neighbors is a piece of its own
    expected = np.linalg.eigvalsh(N)[::-1][:m]
    np.testing.assert_allclose(found.values, expected, atol=tol)
    np.testing.assert_allclose(N @ found.vectors, found.vectors * found.values, atol=tol)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(len(found.values)), atol=tol)
    far = found.vectors[np.abs(found.vectors).argmax(axis=0), np.arange(m)]
    assert (far > 0).all()
    return found


@pytest.fixture
def graph():
    return neighbor_affinity(np.random.default_rng(0).normal(size=(150, 2)), 6)


@pytest.mark.parametrize("small", [500, 0])
@pytest.mark.parametrize("m", [1, 2, 7])
def test_sparse_and_dense(graph, m, small, monkeypatch):
    monkeypatch.setattr(laplacian, "SMALL", small)
    found = check(graph, m)
    np.testing.assert_allclose(check(graph.toarray(), m).vectors, found.vectors, atol=1e-7)
    np.testing.assert_allclose(found.vectors[:, 0] ** 2, found.degrees / found.degrees.sum())


def test_all_of_them(graph):
    check(graph, 150)
    check(np.array([[0.0, 1.0], [1.0, 0.0]]), 2)  # bipartite: the eigenvalue −1 is there, too
    assert leading(graph, 10**6).vectors.shape == (150, 150)


def test_a_factor_where_lanczos_is_slow(monkeypatch):
    """A long path: without the factor 300 restarts are not enough for so small a gap."""
    monkeypatch.setattr(laplacian, "RESTARTS", 2)
    n = 2000
    path = csr_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    check(csr_array(path + path.T), 3)


def test_pieces():
    rng = np.random.default_rng(0)
    parts = [neighbor_affinity(rng.normal(size=(n, 2)), 4).toarray() for n in (20, 30, 12)]
    table = block_diag([*parts, np.zeros((1, 1))]).toarray()
    found = check(table, 6)
    np.testing.assert_allclose(found.values[:4], 1)
    # One indicator for each piece, the largest first.
    sizes = np.count_nonzero(found.vectors[:, :4], axis=0)
    assert sizes.tolist() == [30, 20, 12, 1]
    check(csr_array(table), 6)


def test_no_edges_at_all():
    found = leading(np.zeros((4, 4)), 2)
    assert found.degrees.tolist() == [1, 1, 1, 1]
    assert np.count_nonzero(found.vectors, axis=0).tolist() == [1, 1]
