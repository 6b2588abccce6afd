"""I-divergence: worked examples, the closed form of the weights, background, zeros."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array

from cluewise.centroid._hmrf.counts import GeneralizedI, rayleigh, unmoved_rows
from cluewise.centroid._hmrf.distortions import none_broken, weights_of
from cluewise.centroid._hmrf.fields import gather, total_cost

X2 = np.array([[0.5, 0.5, 0], [0.1, 0.3, 0.6]])
A = np.array([1.0, 2, 0.5])


def divergence(X, k=1, learns=True, make=np.asarray, weight=None):
    given = GeneralizedI(unmoved_rows(make(np.asarray(X, dtype=float)), weight), k, learns)
    given.prepare(0.0, np.arange(len(X)), 0.0)
    return given


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_worked_example(make):
    """[hmrf_idiv]."""
    given, zero = divergence(X2, make=make), np.zeros(2, dtype=np.int32)
    own = given.to_own(given.rows.take(slice(0, 2)), X2[1:], weights_of(A), zero)
    np.testing.assert_allclose(own, [0.815545, 0], atol=2e-6)
    terms = given.terms(np.array([0]), np.array([1]))
    terms = terms if make is np.asarray else terms.toarray()
    np.testing.assert_allclose(terms, [[0.145552, 0.025267, 0.415888]], atol=2e-6)
    between = given.between(np.array([0]), np.array([1]), weights_of(A))
    assert between[0, 0] == pytest.approx(0.40403, abs=2e-6)


def test_the_ceiling_is_the_largest_divergence_in_the_box():
    """No pair of numbers between the lowest and the highest of a column is farther apart than those two."""
    given = divergence(X2)
    x, z = np.random.default_rng(0).uniform(X2.min(axis=0), X2.max(axis=0), size=(2, 200, 3))
    inside = divergence(np.vstack([x, z])).terms(np.arange(200), np.arange(200, 400))
    assert (inside <= given.reference).all()
    np.testing.assert_allclose(given.reference, given.terms(np.array([0]), np.array([1])))
    bound = np.log(2) * X2.sum(axis=0)  # [hmrf_idiv] has this looser one
    assert bound @ A == pytest.approx(1.732868, abs=2e-6)
    assert (given.reference <= bound).all()


def test_worked_example_of_the_weights():
    """[rayleigh_weight_update]."""
    slope = np.array([0.8, -0.3, 2])
    found = rayleigh(slope, 1.0)
    np.testing.assert_allclose(found, [0.677033, 1.161187, 0.414214], atol=2e-6)
    np.testing.assert_allclose(slope - 1 / found + found, 0, atol=1e-12)


@pytest.mark.parametrize("spread", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("slope", [-5.0, 0.0, 1e-9, 3.0, 1e12])
def test_the_weights_are_the_minimum(slope, spread):
    found = float(rayleigh(np.array([slope]), spread)[0])
    assert slope - 1 / found + found / spread**2 == pytest.approx(0, abs=1e-6 * (abs(slope) + 1 / found))
    if abs(slope) < 10:
        best = minimize_scalar(lambda b: slope * np.exp(b) - b + np.exp(2 * b) / (2 * spread**2))
        assert found == pytest.approx(np.exp(best.x), rel=1e-4)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_scores_are_divergences_up_to_a_constant_of_the_row(make):
    rng = np.random.default_rng(0)
    X, centers, a = rng.poisson(2, size=(15, 4)).astype(float), rng.uniform(0.5, 4, size=(3, 4)), rng.uniform(0.5, 2, 4)
    given = divergence(X, 3, make=make)
    table = given.table(centers, weights_of(a))
    x = given.rows.take(slice(0, 15))
    scores = (given.scores(x, table) + table.offset[:, None]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(X[:, None] > 0, X[:, None] * np.log(X[:, None] / centers), 0)
    expected = (logs - X[:, None] + centers) @ a
    np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1])
    labels = rng.integers(3, size=15).astype(np.int32)
    np.testing.assert_allclose(given.to_own(x, centers, weights_of(a), labels), expected[np.arange(15), labels])


@pytest.mark.parametrize("learns", [False, True])
def test_settling_gives_means_with_a_little_of_all_rows(learns):
    rng = np.random.default_rng(0)
    X, weight = rng.poisson(1, size=(30, 4)).astype(float), rng.uniform(0.5, 2, size=30)
    X[:, 3] = 0  # nobody counts here, and still no center is zero
    labels = (np.arange(30) % 2).astype(np.int32)
    given = divergence(X, 2, learns, weight=weight)
    metric = given.first_metric()
    settled = given.settle(
        labels,
        gather(given, metric, labels, np.arange(30), 2),
        np.ones((2, 4)),
        metric,
        none_broken(2),
        given.reference,
    )
    means = np.array([np.average(X[labels == h], axis=0, weights=weight[labels == h]) for h in range(2)])
    np.testing.assert_allclose(settled.centers, means, atol=0.01)
    assert (settled.centers > 0).all()
    value = total_cost(given, settled.centers, settled.metric, labels) + given.prior_cost(
        settled.metric, settled.centers
    )
    assert settled.value == pytest.approx(value)
    assert learns == bool((settled.metric.weights != 1).any())


def test_another_unit_changes_the_weights_and_nothing_else():
    """The spread of the prior is in units of the data."""
    X = np.random.default_rng(0).poisson(3, size=(30, 4)).astype(float)
    labels = (np.arange(30) % 2).astype(np.int32)
    found = []
    for unit in (1.0, 100.0):
        given = divergence(unit * X, 2)
        metric = given.first_metric()
        every = gather(given, metric, labels, np.arange(30), 2)
        found.append(
            given.settle(labels, every, np.ones((2, 4)), metric, none_broken(2), given.reference).metric.weights
        )
    np.testing.assert_allclose(found[1] * 100, found[0])
