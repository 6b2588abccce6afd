"""The price of a broken link: from the eigenvalues of the covariance inside clusters, by numpy."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import ortho_group

from cluewise.core import centers
from cluewise.core.rows import rows_of


def prices(X, labels, weight=None):
    """(effective dimension, price) of rows around the means of their clusters."""
    rows, labels = rows_of(X, weight), np.asarray(labels, np.int32)
    k = labels.max() + 1
    tally = centers.tally(rows, labels, k)
    means = centers.means(tally, np.zeros((k, rows.d)))
    within = centers.within(centers.scatter(rows), tally)
    return centers.effective_dimension(rows, means, labels), centers.typical_price(rows, means, labels, within)


def expected(X, labels, weight=None):
    """The same from the eigenvalues of numpy's covariance: tr C/((tr C)²/tr C²) = Σλ²/Σλ."""
    weight = np.ones(len(X)) if weight is None else weight
    off = np.array(X, float)
    for h in np.unique(labels):
        mine = labels == h
        if weight[mine].any():
            off[mine] -= np.average(X[mine], axis=0, weights=weight[mine])
    values = np.linalg.eigvalsh(np.atleast_2d(np.cov(off, rowvar=False, aweights=weight, ddof=0)))
    return values.sum() ** 2 / (values**2).sum(), log(9) * (values**2).sum() / values.sum()


@st.composite
def clouds(draw):
    """Rows in a few clusters, stretched along some columns; weights, of which some are 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16), label="seed"))
    n, d, k = draw(st.integers(6, 40)), draw(st.integers(1, 12)), draw(st.integers(1, 3))
    labels = np.append(np.arange(k), rng.integers(k, size=n - k))
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 5, size=d) + rng.uniform(-9, 9, size=(k, d))[labels]
    weight = rng.integers(0, 4, size=n)
    weight[rng.choice(n, size=4, replace=False)] = 1  # something varies
    return X, labels, weight


@given(clouds(), st.booleans(), st.booleans())
def test_from_the_eigenvalues(cloud, weighted, sparse):
    X, labels, weight = cloud
    weight = weight.astype(float) if weighted else None
    found = prices(csr_array(X) if sparse else X, labels, weight)
    assert found == pytest.approx(expected(X, labels, weight), rel=1e-6)


@given(clouds(), st.sampled_from([1e-3, 1.0, 1e4]), st.integers(0, 100))
def test_turning_and_moving_change_nothing_and_scaling_squares(cloud, scale, seed):
    X, labels, weight = cloud
    rng = np.random.default_rng(seed)
    turn = ortho_group.rvs(X.shape[1], random_state=rng) if X.shape[1] > 1 else np.eye(1)
    dimension, cost = prices(X, labels, weight.astype(float))
    moved = prices(scale * (X @ turn + rng.uniform(-100, 100, size=X.shape[1])), labels, weight.astype(float))
    assert moved == pytest.approx((dimension, scale**2 * cost), rel=1e-6)


@given(clouds())
def test_a_weight_is_a_repetition(cloud):
    X, labels, weight = cloud
    rows = np.repeat(np.arange(len(X)), weight)
    again = np.unique(labels[rows], return_inverse=True)[1]
    assert prices(X[rows], again) == pytest.approx(prices(X, labels, weight.astype(float)), rel=1e-6)


@pytest.mark.parametrize(
    ("deviations", "dimension", "variance"),
    [([1, 1, 1], 3, 1), ([2, 2], 2, 4), ([3, 0, 0], 1, 9), ([3**0.5, 1], 1.6, 2.5), ([5], 1, 25)],
)
def test_by_hand(deviations, dimension, variance):
    """Two rows on each axis, d·deviation² of squared distance each: variance deviation² along it."""
    axes = np.sqrt(len(deviations)) * np.diag(np.array(deviations, float))
    X = 7 + np.concatenate([axes, -axes])
    assert prices(X, np.zeros(len(X))) == pytest.approx((dimension, log(9) * variance))
    both = np.concatenate([X, X + 100])  # clusters far apart cost no more
    assert prices(both, np.repeat([0, 1], len(X))) == pytest.approx((dimension, log(9) * variance))


def test_more_columns_of_noise_do_not_raise_the_price_and_copies_of_one_do():
    """Why the price is per dimension: links are worth no less where a row is described by more columns."""
    X = np.random.default_rng(0).normal(size=(400, 20))
    few, many, copies = (prices(A, np.zeros(400))[1] for A in (X[:, :2], X, np.tile(X[:, :2], 10)))
    assert many == pytest.approx(few, rel=0.1)
    assert copies == pytest.approx(10 * few)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_when_nothing_varies(dtype, sparse):
    X = np.repeat(np.array([[0, 2], [4, 1]], dtype), 3, axis=0)
    X = csr_array(X) if sparse else X
    assert prices(X, np.repeat([0, 1], 3)) == (1, 1)
    assert prices(X[:1], [0]) == (1, 1)


def test_rounding_is_no_variation():
    rows = rows_of(np.repeat([[0.1, 0.2], [0.3, 0.4]], 3, axis=0))
    assert centers.typical_price(rows, np.zeros((1, 2)), np.zeros(6, np.int32), 1e-15, rounding=1e-12) == 1


def test_single_precision_is_enough():
    X = np.random.default_rng(0).normal(size=(60, 5)) + 1000
    labels = np.arange(60) % 3
    assert prices(X.astype(np.float32), labels) == pytest.approx(prices(X, labels), rel=1e-3)


@given(clouds(), st.booleans(), st.booleans())
def test_from_inner_products_of_rows(cloud, weighted, sparse):
    X, labels, weight = cloud
    weight = weight.astype(float) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(centers, "COLUMNS", 0)
        found = prices(csr_array(X) if sparse else X, labels, weight)
    assert found == pytest.approx(expected(X, labels, weight), rel=1e-6)


def test_of_many_rows_with_many_columns_some_are_looked_at(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 3))
    rows, labels, center = rows_of(X), np.zeros(20, np.int32), np.zeros((1, 3))
    monkeypatch.setattr(centers, "COLUMNS", 2)
    monkeypatch.setattr(centers, "ROWS", 7)
    found = centers.effective_dimension(rows, center - rows.shift, labels)
    values = np.linalg.eigvalsh(X[::3].T @ X[::3])  # rows 0, 3, … 18
    assert found == pytest.approx(values.sum() ** 2 / (values**2).sum())


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(5000, 20)) * rng.uniform(1, 9, 20), rng.integers(3, size=5000)
    order = rng.permutation(5000)
    assert prices(X[order], labels[order]) == pytest.approx(prices(X, labels), rel=1e-9)
