"""RCA: worked examples, whitening, shrinkage, fewer components, and poor input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from cluewise import Clues
from cluewise.core.distances import metric
from cluewise.core.rows import Rows
from cluewise.exceptions import ClueWarning, Contradiction, SoftClueWarning, UnusedClueWarning
from cluewise.metric_learning._rca import RCA

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
CHAINS = Clues(8, must=[(0, 1), (1, 2), (4, 5), (5, 6)])


def scatter(X, groups):
    """Covariance within groups, the obvious way."""
    off = np.vstack([X[g] - X[g].mean(axis=0) for g in groups])
    return off.T @ off / len(off)


def test_worked_example_of_the_survey():
    model = RCA(shrinkage=0).fit(A8, clues=CHAINS)
    C = metric.scatter(Rows(A8), metric.chunklets(Rows(A8), CHAINS), np.full(2, 1 / 6))
    np.testing.assert_allclose(C, [[0.194444, -0.111111], [-0.111111, 0.228889]], atol=2e-6)
    np.testing.assert_allclose(model.components_, [[2.574139, 0.700636], [0.700636, 2.356942]], atol=2e-6)
    M = [[7.117083, 3.454894], [3.454894, 6.046065]]
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), M, atol=2e-6)


def test_worked_example_of_the_seed():
    model = RCA(shrinkage=0).fit(TOY8, clues=[0, 0, 0, 1, 1, 1, -1, -1])
    np.testing.assert_allclose(model.components_, 2.121320 * np.eye(2), atol=2e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**16))
def test_covariance_within_chunklets_becomes_the_identity(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    X = rng.normal(size=(60, d)) @ rng.normal(size=(d, d)) * 10.0 ** rng.integers(-6, 7, size=d) + 1e3
    y = rng.integers(4, size=60)
    groups = [np.flatnonzero(y == c) for c in np.unique(y)]
    seen = RCA(shrinkage=0).fit(X, clues=y).transform(X)
    np.testing.assert_allclose(scatter(seen, groups), np.eye(d), atol=1e-5)


def test_all_kinds_that_join_rows_say_the_same():
    groups = [0, 0, 0, -1, 1, 1, 1, -1]
    M = RCA().fit(A8, clues=CHAINS).get_mahalanobis_matrix()
    for clues in (Clues(8, labels=groups), Clues(8, together=[None if g < 0 else g for g in groups])):
        np.testing.assert_allclose(RCA().fit(A8, clues=clues).get_mahalanobis_matrix(), M, rtol=1e-12)


def test_shrinkage_by_its_formula():
    """With 4 must-links that entail none of the others and 2 columns: a share of 2 / (2 + 2·4)."""
    s = A8.std(axis=0)
    C = scatter(A8 / s, [[0, 1, 2], [4, 5, 6]])
    mixed = 0.8 * C + 0.2 * np.trace(C) / 2 * np.eye(2)
    M = np.linalg.inv(mixed) / np.outer(s, s)
    np.testing.assert_allclose(RCA().fit(A8, clues=CHAINS).get_mahalanobis_matrix(), M)
    np.testing.assert_allclose(RCA(shrinkage=0.2).fit(A8, clues=CHAINS).get_mahalanobis_matrix(), M)
    one = RCA(shrinkage=1).fit(A8, clues=CHAINS).get_mahalanobis_matrix()
    np.testing.assert_allclose(one, np.diag(2 / np.trace(C) / s**2), atol=1e-12)


def test_many_clues_leave_nothing_of_the_shrinkage():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), np.arange(20_000) % 2
    exact = RCA(shrinkage=0).fit(X, clues=y).get_mahalanobis_matrix()
    np.testing.assert_allclose(RCA().fit(X, clues=y).get_mahalanobis_matrix(), exact, atol=1e-3)


def test_units_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.integers(3, size=30)
    units = np.array([1e-6, 1.0, 1e6, 3.0, 1e3, 1e-3])
    clues = np.where(np.arange(30) < 7, y, -1)  # so few that shrinkage decides
    plain, other = RCA().fit(X, clues=clues), RCA().fit(X * units, clues=clues)
    assert other.n_components_ == 6
    np.testing.assert_allclose(
        other.pair_distance(X[:15] * units, X[15:] * units), plain.pair_distance(X[:15], X[15:]), rtol=1e-6
    )


def test_fewer_components_are_those_of_fisher():
    """With all rows labeled the directions are those of linear discriminant analysis."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(3, 4))[y] * 3 + rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4))
    model = RCA(2, shrinkage=0).fit(X, clues=y)
    assert model.components_.shape == (2, 4)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    ours, theirs = (np.linalg.qr(L)[0] for L in (model.components_.T, lda.scalings_[:, :2]))
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)
    within = scatter(X, [np.flatnonzero(y == c) for c in range(3)])
    L = model.components_
    np.testing.assert_allclose(L @ within @ L.T, np.eye(2), atol=1e-10)
    ratio = eigh(within, np.cov(X.T, bias=True), eigvals_only=True)
    total = L @ np.cov(X.T, bias=True) @ L.T
    np.testing.assert_allclose(np.sort(1 / np.linalg.eigvalsh(total)), ratio[:2], rtol=1e-8)


def test_directions_without_scatter():
    """Both chunklets lie along the first column: the other one counts more with shrinkage, and nothing without."""
    X = np.array([[0, 0], [1, 0], [2, 0], [0, 5], [1, 5], [2, 5.0]])
    clues = [0, 0, 0, 1, 1, 1]
    M = RCA().fit(X, clues=clues).get_mahalanobis_matrix()
    np.testing.assert_allclose(M * X.var(axis=0), np.diag([1 / 0.9, 1 / 0.1]), atol=1e-12)  # a share of 0.2
    bare = RCA(shrinkage=0).fit(X, clues=clues)
    np.testing.assert_allclose(bare.get_mahalanobis_matrix(), [[1.5, 0], [0, 0]], atol=1e-12)
    assert bare.n_components_ == 1


def test_a_constant_column_gets_no_weight():
    X = np.column_stack([A8, np.full(8, 1e6)])
    model = RCA().fit(X, clues=CHAINS)
    assert model.n_components_ == 2
    M = model.get_mahalanobis_matrix()
    assert not M[2].any()
    np.testing.assert_allclose(M[:2, :2], RCA().fit(A8, clues=CHAINS).get_mahalanobis_matrix())


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 40))
    model = RCA().fit(X, clues=[0, 0, 0, 1, 1, 1, -1, -1, -1, -1])
    assert model.n_components_ == 40
    assert RCA(3).fit(X, clues=[0, 0, 0, 1, 1, 1, -1, -1, -1, -1]).n_components_ == 3


def test_nothing_to_learn_is_euclidean_distance():
    with pytest.warns(ClueWarning, match="no clue joins two rows; RCA keeps Euclidean distance"):
        np.testing.assert_array_equal(RCA().fit(A8).components_, np.eye(2))
    with pytest.warns(ClueWarning, match="rows that belong together are all equal"):
        same = RCA().fit(A8[[0, 0, 1, 1, 2, 3]], clues=[0, 0, 1, 1, -1, -1])
    np.testing.assert_array_equal(same.components_, np.eye(2))
    with pytest.warns(ClueWarning, match="no clue joins"):
        axis = RCA(1).fit(A8).components_
    _, values, rows = np.linalg.svd(A8 - A8.mean(axis=0))
    np.testing.assert_allclose(np.abs(axis), np.abs(rows[:1]), atol=1e-12)
    assert values[0] > values[1]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("count", [3, 6, 7, 20_000])
@pytest.mark.parametrize("offset", [0, 30, 1e4])
def test_the_mean_of_equal_rows_is_no_scatter(count, offset, dtype):
    """Their mean is off by rounding, which is no reason to divide by it."""
    X = offset + np.array([[0.1, 1.1]] * count + [[5, 2], [6.3, 4.4], [1.7, 9.1]], dtype=dtype)
    with pytest.warns(ClueWarning, match="rows that belong together are all equal; RCA keeps Euclidean distance"):
        model = RCA().fit(X, clues=[0] * count + [-1] * 3)
    np.testing.assert_array_equal(model.components_, np.eye(2))


def test_what_is_said_about_clues():
    with pytest.warns(UnusedClueWarning, match="RCA does not use clues of the kind cannot"):
        model = RCA().fit(A8, clues=CHAINS | Clues(8, cannot=[(0, 4)]))
    np.testing.assert_array_equal(model.components_, RCA().fit(A8, clues=CHAINS).components_)
    with pytest.warns(SoftClueWarning, match="the weights, which differ, are ignored"):
        RCA().fit(A8, clues=Clues(8, must=[(0, 1), (1, 2)], must_weight=[1, 3]))
    with pytest.raises(Contradiction, match="must be apart"):
        RCA().fit(A8, clues=Clues(8, labels=[0, 0, 1, 1, -1, -1, -1, -1], must=[(0, 2)]))


@pytest.mark.parametrize(
    ("params", "message"),
    [({"n_components": 0}, "n_components"), ({"shrinkage": 1.5}, "shrinkage"), ({"shrinkage": "much"}, "shrinkage")],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        RCA(**params).fit(A8, clues=CHAINS)


def test_many_blocks_are_one(monkeypatch):
    """Rows are read in blocks, and far from the origin."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)) + 1e4, rng.integers(2, size=500)
    whole = RCA(2).fit(X, clues=y).get_mahalanobis_matrix()
    monkeypatch.setattr(metric, "BLOCK_BYTES", 8)
    np.testing.assert_allclose(RCA(2).fit(X, clues=y).get_mahalanobis_matrix(), whole, rtol=1e-9)


def test_golden_number():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.where(np.arange(50) < 10, np.arange(50) % 2, -1)
    np.testing.assert_allclose(np.trace(RCA().fit(X, clues=y).get_mahalanobis_matrix()), 11.857873384, rtol=1e-9)
