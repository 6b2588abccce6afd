"""The pencil of Laplacian and links, against SciPy's solver for general pencils."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eig

from cluewise.clues import Pairs
from cluewise.core.graphs.laplacian import degrees, leading, normalized
from cluewise.spectral._pencil import feasible_vectors, required_level


def problem(seed, n=12, links=6):
    """A random connected graph and random links."""
    rng = np.random.default_rng(seed)
    table = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    table[np.arange(n - 1), np.arange(1, n)] += 0.1
    table += table.T
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(links)])
    weight = rng.uniform(0.5, 2, size=links)
    half = links // 2
    return table, Pairs(pairs[:half], weight[:half], pairs[half:], weight[half:]).to_matrix(n)


@settings(max_examples=40)
@given(st.integers(0, 2**16), st.integers(2, 4), st.sampled_from([-0.5, 0.3, 0.5, 0.9]))
def test_all_eigenvectors_solve_the_pencil_as_scipy_does(seed, k, level):
    table, Q = problem(seed)
    n = len(table)
    found = feasible_vectors(leading(table, n), Q, k, level)
    degree = degrees(table)
    volume = degree.sum()
    L = np.eye(n) - normalized(table, degree)
    Qbar = Q.toarray() / np.sqrt(degree) / np.sqrt(degree)[:, None]
    M = Qbar - found.threshold / volume * np.eye(n)
    values, vectors = eig(L, M)
    real = np.flatnonzero((np.abs(values.imag) < 1e-9 * np.abs(values)) & (values.real > 1e-8) & (values.real < 1e8))
    solutions = vectors[:, real].real
    solutions *= np.sqrt(volume) / np.linalg.norm(solutions, axis=0)
    costs = np.einsum("ij,ij->j", solutions, L @ solutions)
    order = np.argsort(costs)[: k - 1]
    np.testing.assert_allclose(found.costs, costs[order], rtol=1e-6)
    if len(order) and np.diff(np.append(np.sort(costs), np.inf)).min() > 1e-4:
        close = np.abs(found.vectors.T @ solutions[:, order]) / volume
        np.testing.assert_allclose(np.diag(close), 1, atol=1e-6)
    # What the method is about: links are satisfied to the level asked for.
    satisfied = np.einsum("ij,ij->j", found.vectors, Qbar @ found.vectors)
    assert (satisfied > found.threshold - 1e-9 * abs(found.threshold)).all()
    np.testing.assert_allclose((found.vectors**2).sum(axis=0), volume)


@settings(max_examples=20)
@given(st.integers(0, 2**16), st.integers(3, 9))
def test_a_span_restricts_the_pencil(seed, m):
    """In a span of few eigenvectors solutions are those of the pencil pressed into it."""
    table, Q = problem(seed)
    spectrum = leading(table, m)
    found = feasible_vectors(spectrum, Q, 3, 0.5)
    root = np.sqrt(spectrum.degrees)
    U = spectrum.vectors
    inside = U @ (U.T @ found.vectors)
    np.testing.assert_allclose(inside, found.vectors, atol=1e-8 * np.sqrt(root @ root))
    Qbar = Q.toarray() / root / root[:, None]
    M = U.T @ Qbar @ U - found.threshold / spectrum.degrees.sum() * np.eye(m)
    c = U.T @ found.vectors
    left, right = (1 - spectrum.values)[:, None] * c, M @ c
    ratio = np.einsum("ij,ij->j", c, left) / np.einsum("ij,ij->j", c, right)
    assert (ratio > 0).all()
    np.testing.assert_allclose(left, ratio * right, atol=1e-7 * np.abs(left).max())


def test_level_by_hand():
    Q = np.diag([-1.0, 4.0, 3.0, 2.0])  # the trivial vector satisfies nothing
    assert required_level(Q, 2, 0.5) == (2.0, 4.0)  # half of the largest
    assert required_level(Q, 3, 0.5) == (1.5, 4.0)  # half of the second
    assert required_level(Q, 3, 0.0) == (0.0, 4.0)
    assert required_level(Q, 99, 0.5) == (-1.5, 4.0)  # below a negative one
    assert required_level(np.diag([-9.0, 1.0, 0.0]), 3, 0.5) == (-4.5, 1.0)  # nothing to take a share of
    trivial = np.diag([4.0, 3.0, 2.0, -1.0])  # here it satisfies most, so that there has to be one more
    assert required_level(trivial, 2, 0.5) == (1.5, 4.0)
    assert required_level(trivial, 3, 0.9) == (1.8, 4.0)


def test_pieces_cost_nothing_to_part():
    table = np.zeros((6, 6))
    table[:3, :3] = table[3:, 3:] = 1
    np.fill_diagonal(table, 0)
    Q = Pairs(np.array([[0, 1]]), np.ones(1), np.array([[0, 5]]), np.ones(1)).to_matrix(6)
    found = feasible_vectors(leading(table, 6), Q, 2, 0.5)
    assert found.costs[0] == pytest.approx(0, abs=1e-6)
    v = found.vectors[:, 0]
    np.testing.assert_allclose(v, np.repeat([v[0], v[5]], 3), atol=1e-5)
    assert v[0] * v[5] < 0
