"""Bregman divergences: worked numbers, the definition by φ, the mean, and what lies outside their domains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cluewise.centroid._dp.divergences import EUCLIDEAN, NAMES, Divergence, divergence_of, pairwise, smooth

COUNTS = np.array([[4, 0, 1], [3, 1, 1], [0, 5, 0], [1, 4, 0]])

# φ and its gradient, from which D(x, y) = φ(x) − φ(y) − (x − y)·∇φ(y) follows.
PHI = {
    "sqeuclidean": (lambda x: (x**2).sum(), lambda y: 2 * y),
    "kl": (lambda x: (x * np.log(x)).sum(), lambda y: np.log(y) + 1),
    "generalized_i": (lambda x: (x * np.log(x) - x).sum(), np.log),
    "itakura_saito": (lambda x: -np.log(x).sum(), lambda y: -1 / y),
}


def one(name, x, y):
    return pairwise(np.array([x], dtype=float), np.array([y], dtype=float), divergence_of(name, len(x)))[0, 0]


def positive(rng, n, name, d=4):
    """Rows in the domain of the divergence."""
    x = rng.uniform(0.1, 3, size=(n, d))
    return x / x.sum(axis=1, keepdims=True) if name == "kl" else x


@pytest.mark.parametrize(
    ("name", "value"),
    [("generalized_i", 0.808865), ("itakura_saito", 0.526856), ("sqeuclidean", 3.0), (np.diag([1, 2, 0.5]), 3.5)],
    ids=str,
)
def test_worked_numbers(name, value):
    assert one(name, [2, 1, 5], [1, 2, 4]) == pytest.approx(value, abs=1e-6)


def test_worked_numbers_of_smoothed_counts():
    rows = smooth(COUNTS)
    np.testing.assert_allclose(rows[0], [0.728814, 0.050847, 0.220339], atol=1e-6)
    np.testing.assert_allclose(rows[2], [0.050847, 0.898305, 0.050847], atol=1e-6)
    assert one("kl", rows[0], rows[2]) == pytest.approx(2.117604, abs=1e-6)
    assert one("kl", rows[0], rows[:2].mean(axis=0)) == pytest.approx(0.040219, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_the_divergences_of_their_phi(name):
    rng = np.random.default_rng(0)
    x, y = positive(rng, 6, name), positive(rng, 5, name)
    phi, gradient = PHI[name]
    expected = [[phi(a) - phi(b) - (a - b) @ gradient(b) for a in x] for b in y]
    np.testing.assert_allclose(pairwise(x, y, divergence_of(name, 4)), expected, atol=1e-12)


@given(st.sampled_from([*NAMES, "mahalanobis"]), st.integers(0, 2**16))
def test_the_mean_is_best(name, seed):
    """Σ D(x_i, y) − Σ D(x_i, mean) = n·D(mean, y), whatever y."""
    rng = np.random.default_rng(seed)
    x, y = positive(rng, 7, name), positive(rng, 1, name)
    root = rng.normal(size=(3, 4))
    divergence = divergence_of(root.T @ root if name == "mahalanobis" else name, 4)
    mean = x.mean(axis=0, keepdims=True)
    gap = pairwise(x, y, divergence).sum() - pairwise(x, mean, divergence).sum()
    assert gap == pytest.approx(7 * pairwise(mean, y, divergence)[0, 0], rel=1e-9, abs=1e-9)


@given(st.sampled_from(NAMES), st.integers(0, 2**16))
def test_they_are_zero_only_between_equals(name, seed):
    x = positive(np.random.default_rng(seed), 5, name)
    table = pairwise(x, x, divergence_of(name, 4))
    assert (np.diag(table) == 0).all()
    assert (table[~np.eye(5, dtype=bool)] > 0).all()


def test_mahalanobis_is_a_squared_distance_in_other_coordinates():
    rng = np.random.default_rng(0)
    root, x, y = rng.normal(size=(4, 4)), rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    turned = pairwise(x @ root.T, y @ root.T, divergence_of("sqeuclidean", 4))
    np.testing.assert_allclose(pairwise(x, y, divergence_of(root.T @ root, 4)), turned, rtol=1e-10)


def test_euclidean_is_the_root():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    np.testing.assert_array_equal(
        pairwise(x, y, Divergence("euclidean", EUCLIDEAN)), np.sqrt(pairwise(x, y, divergence_of("sqeuclidean", 4)))
    )


@pytest.mark.parametrize("name", ["kl", "generalized_i"])
def test_zeros(name):
    """0·log 0 = 0; a zero in the center is infinitely far from everything that is none."""
    assert one(name, [0, 1], [0, 1]) == 0
    assert one(name, [0, 1], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert one(name, [0.5, 0.5], [0, 1]) == np.inf


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("kl", [0.5, 0.7, -0.2], r"divergence='kl' requires non-negative numbers, .* -0.2 in row 9, column 2"),
        ("kl", [0.5, 0.5, 0.5], r"row 9 of X sums to 1.5; smoothing=0.3"),
        ("generalized_i", [1, -1, 1], r"'generalized_i' requires non-negative numbers, .* -1.0 in row 9, column 1"),
        ("itakura_saito", [1, 1, 0], r"'itakura_saito' requires positive numbers, .* 0.0 in row 9, column 2"),
    ],
)
def test_rows_outside_the_domain_are_named(name, row, message):
    good = [0.2, 0.3, 0.5]
    with pytest.raises(ValueError, match=message):
        divergence_of(name, 3).check(np.array([good, row, row], dtype=float), np.array([7, 9, 8]))
    divergence_of(name, 3).check(np.array([good]), np.array([0]))


def test_smoothing():
    counts = divergence_of("kl", 3, smoothing=0.3)
    np.testing.assert_allclose(counts.read(COUNTS, np.arange(4)), smooth(COUNTS))
    np.testing.assert_allclose(counts.read(csr_array(COUNTS), np.arange(4)), smooth(COUNTS))
    shares = divergence_of("kl", 3, smoothing=0.0).read(COUNTS, np.arange(4))
    np.testing.assert_allclose(shares, COUNTS / 5)
    with pytest.raises(ValueError, match=r"smoothing requires counts, .* -1.0 in row 5, column 1"):
        counts.read(np.array([[1, -1, 0]]), np.array([5]))
    with pytest.raises(ValueError, match="row 5 of X is all zero; smoothing=0"):
        divergence_of("kl", 3, smoothing=0.0).read(np.zeros((1, 3)), np.array([5]))
    with pytest.raises(ValueError, match="smoothing turns counts into shares for divergence='kl'"):
        divergence_of("sqeuclidean", 3, smoothing=0.3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cosine", "'cosine' is not one of 'sqeuclidean'"),
        (np.eye(2), r"shape \(3, 3\), .* \(2, 2\)"),
        (np.triu(np.ones((3, 3))), "symmetric and finite"),
        (np.full((3, 3), np.nan), "symmetric and finite"),
        (np.diag([1, 1, -1]), "its smallest eigenvalue is -1.0"),
        (np.zeros((3, 3)), "positive semidefinite"),
    ],
    ids=str,
)
def test_what_is_no_divergence_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        divergence_of(given, 3)
