"""Cosine distortion: worked examples, exact centers, the gradient by finite differences, rows without direction."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cluewise.centroid._hmrf.directions import Cosine, unit_rows
from cluewise.centroid._hmrf.distortions import BrokenLinks, none_broken, weights_of
from cluewise.centroid._hmrf.fields import gather, total_cost

A = np.array([1.0, 0.5, 2.0])


def cosine(X, k=1, learns=True, make=np.asarray, weight=None):
    given = Cosine(unit_rows(make(np.asarray(X, dtype=float)), weight), k, learns)
    given.prepare(0.0, np.arange(len(X)), 0.0)
    return given


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_worked_example_of_the_distortion(make):
    """[hmrf_cosine]."""
    given = cosine([[1.0, 2, 0]], make=make)
    center = np.array([[2.0, 1, 1]])
    zero = np.zeros(1, dtype=np.int32)
    x = given.rows.take(slice(0, 1))
    assert given.to_own(x, center, weights_of(A), zero)[0] == pytest.approx(0.320634, abs=2e-6)
    table = given.table(center, weights_of(A))
    assert 1 + given.scores(x, table)[0, 0] == pytest.approx(0.320634, abs=2e-6)


def test_worked_example_of_the_gradient():
    """[hmrf_cosine]; the prior's part, n·(a − 1/a), is taken off."""
    given = cosine([[1.0, 2, 0]])
    metric, labels = weights_of(A), np.zeros(1, dtype=np.int32)
    center = np.array([[2.0, 1, 1]])
    center /= np.sqrt((center**2) @ A)[:, None]
    found = given._gradient(labels, gather(given, metric, labels, np.arange(1), 1), center, A, none_broken(1))
    found = found - given.strength * (A - 1 / A)
    np.testing.assert_allclose(found, [-0.130647, 0.052259, 0.052259], atol=2e-6)
    assert A @ found == pytest.approx(0)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_worked_example_of_the_center(make):
    """[hmrf_cosine_centroid]: rows of length 1 in the metric are summed, not rows as they are."""
    X = np.array([[1.0, 2, 0], [4, 1, 1], [0, 1, 3]])
    given, metric, labels = cosine(X, make=make), weights_of(A), np.zeros(3, dtype=np.int32)
    found = gather(given, metric, labels, np.arange(3), 1)
    center = found.tally.sums / np.sqrt((found.tally.sums**2) @ A)[:, None]
    np.testing.assert_allclose(center, [[0.653912, 0.702656, 0.403445]], atol=2e-6)
    assert total_cost(given, center, metric, labels) == pytest.approx(0.694902, abs=2e-6)
    plain = X.sum(axis=0, keepdims=True)
    assert total_cost(given, plain, metric, labels) == pytest.approx(0.740597, abs=2e-6)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_gradient_by_finite_differences(make):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(12, 4)), rng.uniform(0.5, 2, size=12)
    labels = (np.arange(12) % 3).astype(np.int32)
    given = cosine(X, 3, make=make, weight=weight)
    a = rng.uniform(0.5, 2, size=4)
    found = gather(given, weights_of(a), labels, np.arange(12), 3)
    centers = found.tally.sums / np.sqrt((found.tally.sums**2) @ a)[:, None]
    homes = labels[np.array([[0, 1], [2, 3], [0, 3]])]
    broken = BrokenLinks(
        np.array([0, 2, 0]), np.array([1, 3, 3]), np.array([0.7, 1.2, -0.4]), homes, np.array([0.4, 0, 0])
    )

    def value(a):
        metric = weights_of(a)
        return (
            total_cost(given, centers, metric, labels)
            + given._links(broken, metric)
            + given.prior_cost(metric, centers)
        )

    slope = given._gradient(labels, found, centers, a, broken)
    steps = 1e-6 * np.eye(4)
    np.testing.assert_allclose(slope, [(value(a + h) - value(a - h)) / 2e-6 for h in steps], rtol=1e-5, atol=1e-6)
    settled = given.settle(labels, found, centers, weights_of(a), broken, given.reference)
    assert settled.value < value(a)
    parts = given._links(broken, settled.metric), given.prior_cost(settled.metric, centers)
    assert settled.value == pytest.approx(total_cost(given, settled.centers, settled.metric, labels) + sum(parts))


def test_at_the_bottom_the_weights_stay():
    """One row per cluster: no distortion, so the prior is all there is, and a = 1 is best."""
    given = cosine([[1.0, 0], [0, 1]], 2)
    labels = np.arange(2, dtype=np.int32)
    metric = given.first_metric()
    settled = given.settle(
        labels, gather(given, metric, labels, np.arange(2), 2), np.eye(2), metric, none_broken(2), 1.0
    )
    assert settled.still
    np.testing.assert_array_equal(settled.metric.weights, [[1, 1]])
    assert settled.value == pytest.approx(0)


def test_lengths_of_rows_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 3))
    for make in (np.asarray, csr_array):
        first, second = (unit_rows(make(rows), None) for rows in (X, 7 * X))
        a, b = (np.asarray(rows.dense(np.arange(10))) for rows in (first, second))
        np.testing.assert_allclose(a, b)
        np.testing.assert_allclose(np.linalg.norm(a, axis=1), 1)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_rows_of_zeros_are_remarked_upon_and_cost_one(make):
    X = np.array([[0.0, 0], [1, 2], [3, 1]])
    given = Cosine(unit_rows(make(X), None), 1, True)
    with pytest.warns(UserWarning, match="rows of zeros"):
        given.prepare(0.0, np.arange(3), 0.0)
    own = given.to_own(
        given.rows.take(slice(0, 3)), np.array([[1.0, 2]]), weights_of(np.ones(2)), np.zeros(3, np.int32)
    )
    assert own[0] == 1
    assert own[1] == 0
    np.testing.assert_allclose(given.start(np.zeros((1, 2))), [[0.5**0.5] * 2])


@pytest.mark.parametrize(("X", "largest"), [([[1.0, 0], [2, 3]], 1.0), ([[1.0, -1], [2, 3]], 2.0)])
def test_the_largest_distance(X, largest):
    given = cosine(X)
    assert given.ceiling(given.first_metric(), given.reference).tolist() == [largest]
