"""Gaussians against scipy's densities, and their estimates against sums written out."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from cluewise.core import threads
from cluewise.core.probability.gaussians import KINDS, block_log_densities, estimate, log_densities, normalize, prepared
from cluewise.core.rows import Rows, rows_of


def problem(n=200, d=3, k=4, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, rng.dirichlet(np.ones(k), size=n).T.copy()


def written_out(X, members, kind, reg, weight):
    """Moments, one cluster at a time."""
    members = members * weight
    mass = members.sum(axis=1)
    means = members @ X / mass[:, None]
    full = np.array([(r * (X - m).T) @ (X - m) for r, m in zip(members, means)])
    if kind == "tied":
        return means, full.sum(axis=0) / mass.sum() + reg * np.eye(X.shape[1])
    full = full / mass[:, None, None] + reg * np.eye(X.shape[1])
    diagonal = np.einsum("hjj->hj", full)
    return means, {"full": full, "diag": diagonal, "spherical": diagonal.mean(axis=1)}[kind]


def covariance_of(kind, covariances, h, d):
    if kind in ("full", "diag"):
        return covariances[h] if kind == "full" else np.diag(covariances[h])
    return covariances if kind == "tied" else covariances[h] * np.eye(d)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_estimates_are_weighted_moments(kind, weighted):
    X, members = problem()
    weight = np.random.default_rng(1).uniform(0, 2, size=len(X)) if weighted else np.ones(len(X))
    rows = Rows(X, weight if weighted else None)
    found = estimate(rows, members, kind, 0.01)
    means, covariances = written_out(X, members, kind, 0.01, weight)
    np.testing.assert_allclose(found.means + rows.shift, means, rtol=1e-12)
    np.testing.assert_allclose(found.covariances, covariances, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_log_densities_are_those_of_scipy(kind):
    X, members = problem(offset=7.0)
    rows = rows_of(X)
    found = estimate(rows, members, kind, 1e-6)
    out = np.empty((4, len(X)))
    log_densities(rows, found, out)
    for h in range(4):
        covariance = covariance_of(kind, found.covariances, h, 3)
        want = multivariate_normal(found.means[h] + rows.shift, covariance).logpdf(X)
        np.testing.assert_allclose(out[h], want, rtol=1e-10)
    some = np.array([5, 3, 150])
    part = np.empty((4, 3))
    block_log_densities(rows, found, some, part)
    np.testing.assert_allclose(part, out[:, some])


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_worked_out_in_double(kind):
    X, members = problem()
    single = X.astype(np.float32)
    narrow, wide = (estimate(rows_of(rows), members, kind, 1e-6) for rows in (single, single.astype(np.float64)))
    assert narrow.covariances.dtype == np.float64
    np.testing.assert_allclose(narrow.covariances, wide.covariances, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_number_of_threads_changes_no_bit(kind, monkeypatch):
    X, members = problem(n=5000)
    monkeypatch.setattr("cluewise.core.rows.BLOCK_BYTES", 2**14)  # many blocks
    found = []
    for n in (1, 3):
        with threads.threads(n):
            fitted = estimate(rows_of(X), members, kind, 1e-6)
            out = np.empty(members.shape)
            log_densities(rows_of(X), fitted, out)
            found.append((fitted.means, fitted.covariances, out))
    for one, three in zip(*found):
        np.testing.assert_array_equal(one, three)


def test_far_from_the_origin_variances_stay_positive():
    """The mean of squares less the square of the mean would be lost in rounding."""
    X, members = problem(offset=1e7)
    near, far = (estimate(rows_of(x), members, "diag", 0.0) for x in (X - 1e7, X))
    np.testing.assert_allclose(far.covariances, near.covariances, rtol=1e-6)


def test_normalize():
    joint = np.array([[0.0, -1e5, 3.0], [np.log(3), -1e5 - 2, -np.inf]])
    logs = normalize(joint)
    np.testing.assert_allclose(logs, [np.log(4), -1e5 + np.log1p(np.exp(-2.0)), 3.0])
    np.testing.assert_allclose(joint, [[0.25, 1 / (1 + np.exp(-2)), 1], [0.75, 1 / (1 + np.exp(2)), 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_cluster_lies_in_the_middle(kind):
    X, members = problem(offset=3.0)
    members[3] += members[2]
    members[2] = 0
    rows = rows_of(X)
    found = estimate(rows, members, kind, 1e-6)
    np.testing.assert_allclose(found.means[2] + rows.shift, X.mean(axis=0))
    assert np.isfinite(found.factors).all()


@pytest.mark.parametrize("kind", KINDS)
def test_singular_covariances_are_named(kind):
    X = np.zeros((6, 2))
    with pytest.raises(ValueError, match=r"covariance of cluster 0 is singular.*reg_covar"):
        estimate(rows_of(X), np.full((2, 6), 0.5), kind, 0.0)
    assert np.isfinite(estimate(rows_of(X), np.full((2, 6), 0.5), kind, 1e-6).log_dets).all()


def test_overflow_is_named():
    with pytest.raises(ValueError, match="too large for floating point"):
        prepared("diag", np.zeros((1, 2)), np.array([[1.0, np.inf]]))
