"""Metrics of squared distances: closed form, floors, scores against the formula."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cluewise.centroid._hmrf.distortions import Metric, none_broken
from cluewise.centroid._hmrf.mahalanobis import FLOOR, SquaredEuclidean, inverse
from cluewise.core.rows import Rows, rows_of

KINDS = [(None, False), ("diagonal", False), ("full", False), ("diagonal", True), ("full", True)]


def drawn_metric(kind, per_cluster, d, k, rng):
    g = k if per_cluster else 1
    if kind == "full":
        roots = np.eye(d) + 0.3 * rng.normal(size=(g, d, d))
        return Metric(roots @ roots.transpose(0, 2, 1), roots, np.linalg.slogdet(roots @ roots.transpose(0, 2, 1))[1])
    weights = np.ones((g, d)) if kind is None else rng.uniform(0.2, 3, size=(g, d))
    return Metric(weights, np.sqrt(weights), np.log(weights).sum(axis=1))


@pytest.mark.parametrize("d", [3, 11])
@pytest.mark.parametrize("make", [np.asarray, csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize(("kind", "per_cluster"), KINDS)
def test_scores_and_distances_are_the_formula(kind, per_cluster, make, d):
    rng = np.random.default_rng(0)
    X, centers, k = rng.normal(size=(20, d)), rng.normal(size=(4, d)), 4
    rows = rows_of(make(X))
    metric = drawn_metric(kind, per_cluster, d, k, rng)
    given = SquaredEuclidean(rows, k, kind, per_cluster)
    A = metric.weights if kind == "full" else metric.weights[..., None] * np.eye(d)
    A = np.broadcast_to(A, (k, d, d))
    off = X[:, None] - centers
    squared = np.einsum("ihj,hjl,ihl->ih", off, A, off)
    expected = squared - (np.linalg.slogdet(A)[1] if per_cluster else 0)
    table = given.table(centers - rows.shift, metric)
    x = rows.take(slice(0, 20))
    found = given.unit * (given.scores(x, table) + table.offset[:, None]).T
    found = found - found[:, :1]  # up to a constant of the row
    tolerance = 1e-4 if rows.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(found, expected - expected[:, :1], atol=tolerance)
    labels = rng.integers(k, size=20).astype(np.int32)
    own = given.to_own(x, centers - rows.shift, metric, labels)
    np.testing.assert_allclose(own, squared[np.arange(20), labels], atol=tolerance)
    normalizer = -np.linalg.slogdet(A)[1][labels]
    np.testing.assert_allclose(given.normalizer(metric, labels), normalizer, atol=1e-9)
    first, second = rng.integers(20, size=(2, 6))
    between = np.einsum("ej,hjl,el->eh", X[first] - X[second], A, X[first] - X[second])
    np.testing.assert_allclose(given.between(first, second, metric), between[:, : given.g], atol=tolerance)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_inverse_is_the_minimum_and_has_no_gradient(kind):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 3))
    scatter = root.T @ root if kind == "full" else (root**2).sum(axis=0)
    one = drawn_metric(kind, False, 3, 1, rng)
    found = inverse(scatter[None], np.array([5.0]), np.array([1.0, 2, 0.5]), one)
    target = 5 * np.linalg.inv(scatter) if kind == "full" else 5 / scatter
    np.testing.assert_allclose(found.weights[0], target)
    A = found.weights[0] if kind == "full" else np.diag(found.weights[0])
    assert found.log_det[0] == pytest.approx(np.linalg.slogdet(A)[1])
    seen = np.eye(3) @ found.roots[0] if kind == "full" else np.diag(found.roots[0])
    np.testing.assert_allclose(seen @ seen.T, A)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_no_variance_below_the_floor_and_negative_ones_are_raised(kind):
    """Also what an indefinite scatter gets, which the published reference can make."""
    scale = np.array([1.0, 10.0])
    values = np.array([0.0, -3.0])
    scatter = np.diag(values) if kind == "full" else values
    found = inverse(scatter[None], np.array([2.0]), scale, drawn_metric(kind, False, 2, 1, np.random.default_rng(0)))
    weights = np.diag(found.weights[0]) if kind == "full" else found.weights[0]
    np.testing.assert_allclose(weights, 1 / (FLOOR * scale**2))


def test_a_metric_without_rows_stays():
    one = drawn_metric("diagonal", True, 2, 2, np.random.default_rng(0))
    found = inverse(np.ones((2, 2)), np.array([4.0, 0.0]), np.ones(2), one)
    np.testing.assert_array_equal(found.weights[1], one.weights[1])
    np.testing.assert_allclose(found.weights[0], 4)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize(("kind", "per_cluster"), KINDS[1:])
def test_settling_without_links_inverts_the_covariances(kind, per_cluster, make):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), rng.uniform(0.5, 2, size=40)
    labels = (np.arange(40) % 2).astype(np.int32)
    rows = rows_of(make(X), weight)
    given = SquaredEuclidean(rows, 2, kind, per_cluster)
    given.prepare(0.0, np.arange(40), 0.0)
    every = given.empty(2)
    given.add(rows.take(slice(0, 40)), slice(0, 40), labels, given.first_metric(), every)
    settled = given.settle(labels, every, np.zeros((2, 3)), given.first_metric(), none_broken(2), given.reference)
    covariances = [np.cov(X[labels == h].T, aweights=weight[labels == h], bias=True) for h in range(2)]
    mass = np.bincount(labels, weights=weight)
    pooled = covariances if per_cluster else [np.average(covariances, axis=0, weights=mass)]
    target = [np.linalg.inv(c) if kind == "full" else 1 / np.diag(c) for c in pooled]
    np.testing.assert_allclose(settled.metric.weights, target)
    means = [np.average(X[labels == h], axis=0, weights=weight[labels == h]) for h in range(2)]
    np.testing.assert_allclose(settled.centers + rows.shift, means)
    determinants = np.array([np.linalg.slogdet(c if kind == "full" else np.diag(np.diag(c)))[1] for c in pooled])
    assert settled.value == pytest.approx(
        3 * mass.sum() + np.atleast_1d(mass if per_cluster else mass.sum()) @ determinants
    )


def test_metrics_in_other_units():
    one = drawn_metric("full", False, 2, 1, np.random.default_rng(0))
    twice = one.times(4.0)
    np.testing.assert_allclose(twice.roots @ twice.roots.transpose(0, 2, 1), 4 * one.weights)
    assert twice.log_det[0] == pytest.approx(np.linalg.slogdet(twice.weights[0])[1])


def test_the_fixed_reference_bounds_every_pair():
    """7.3 of the specification: box for diagonal metrics, diameter for full ones."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    for kind in ("diagonal", "full"):
        given = SquaredEuclidean(Rows(X), 2, kind, False)
        given.prepare(0.0, np.arange(30), 0.0)
        for i in range(30):
            off = X - X[i]
            if kind == "diagonal":
                assert (given.reference[0] - off**2 >= -1e-12).all()
            else:
                rest = given.reference[0] - off[:, :, None] * off[:, None]
                assert (np.linalg.eigvalsh(rest) >= -1e-9).all()
