"""Conjugate priors: marginals, predictives and expectations against each other, SciPy and the specification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, invwishart, multivariate_normal, multivariate_t

from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart


def normal(d=2, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    return NormalInverseWishart(rng.normal(size=d), 0.7, root @ root.T + np.eye(d), d + 1.5)


def drawn(base, n, seed):
    """Rows for a base, and weights of three clusters, of which the last is empty."""
    rng = np.random.default_rng(seed)
    d = len(base.mean) if isinstance(base, NormalInverseWishart) else len(base.counts)
    X = rng.normal(size=(n, d)) if isinstance(base, NormalInverseWishart) else rng.poisson(1.5, size=(n, d)) * 1.0
    weight = np.zeros((n, 3))
    weight[:, :2] = rng.dirichlet([1, 1], size=n)
    return X, weight


BASES = [
    normal(1),
    normal(3),
    DirichletMultinomial(np.array([0.5, 2.0, 1.0])),
    DirichletMultinomial(np.array([0.3, 0.3])),
]


@pytest.mark.parametrize("base", BASES)
@given(n=st.integers(1, 12), seed=st.integers(0, 99))
def test_predictives_multiply_to_the_marginal(base, n, seed):
    X, _ = drawn(base, n, seed)
    seen, total = np.zeros((n, 1)), 0.0
    for i in range(n):
        posterior = base.posterior(base.statistics(X, seen))
        total += base.log_predictive(X[i : i + 1], posterior)[0, 0]
        seen[i] = 1.0
    assert total == pytest.approx(base.log_marginal(base.statistics(X, seen))[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("base", BASES)
@given(n=st.integers(1, 12), seed=st.integers(0, 99))
def test_expected_likelihood_less_divergence_is_the_marginal(base, n, seed):
    """In a conjugate family the bound is tight at the posterior: Σ w ⟨ln p(x)⟩ − KL = ln p(rows)."""
    X, weight = drawn(base, n, seed)
    statistics = base.statistics(X, weight)
    posterior = base.posterior(statistics)
    bound = (weight * base.expected_log_density(X, posterior)).sum(axis=0) - base.divergence(posterior)
    assert bound == pytest.approx(base.log_marginal(statistics), rel=1e-8, abs=1e-8)
    assert base.divergence(posterior)[2] == pytest.approx(0, abs=1e-9)
    assert (base.divergence(posterior) > -1e-9).all()


@pytest.mark.parametrize("base", BASES)
@given(seed=st.integers(0, 99))
def test_merged_statistics_are_those_of_the_union(base, seed):
    X, weight = drawn(base, 9, seed)
    joined = base.merge(base.statistics(X, weight), np.array([0, 2, 2]), np.array([1, 1, 2]))
    union = base.statistics(X, np.column_stack([weight[:, 0] + weight[:, 1], weight[:, 1], weight[:, 2]]))
    for mine, theirs in zip(base.posterior(joined), base.posterior(union), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_student_t_of_scipy():
    base = normal(3)
    X, weight = drawn(base, 8, 1)
    posterior = base.posterior(base.statistics(X, weight))
    for t in range(3):
        degrees = posterior.degrees[t] - 2
        kappa, scatter = posterior.strength[t], posterior.root[t] @ posterior.root[t].T
        shape = scatter * (kappa + 1) / (kappa * degrees)
        wanted = multivariate_t(posterior.mean[t], shape, df=degrees).logpdf(X)
        assert base.log_predictive(X, posterior)[:, t] == pytest.approx(wanted)


def test_expected_density_by_sampling():
    """⟨ln N(x)⟩ over draws of the posterior, by SciPy's inverse Wishart."""
    base = normal(2)
    X, weight = drawn(base, 6, 2)
    posterior = base.posterior(base.statistics(X, weight))
    rng = np.random.default_rng(0)
    covariances = invwishart(posterior.degrees[0], posterior.root[0] @ posterior.root[0].T).rvs(4000, random_state=rng)
    total = np.zeros(len(X))
    for covariance in covariances:
        mean = rng.multivariate_normal(posterior.mean[0], covariance / posterior.strength[0])
        total += multivariate_normal(mean, covariance).logpdf(X)
    assert base.expected_log_density(X, posterior)[:, 0] == pytest.approx(total / 4000, abs=0.08)


def test_words_by_integration():
    """Two words: φ ~ Beta. The marginal and the expectation as integrals."""
    base = DirichletMultinomial(np.array([0.7, 1.9]))
    X = np.array([[3.0, 1.0]])
    density = beta(0.7, 1.9).pdf
    marginal = quad(lambda f: f**3 * (1 - f) * density(f), 0, 1)[0]
    assert base.log_predictive(X, base.prior())[0, 0] == pytest.approx(np.log(marginal))
    expected = quad(lambda f: (3 * np.log(f) + np.log(1 - f)) * density(f), 0, 1)[0]
    assert base.expected_log_density(X, base.prior())[0, 0] == pytest.approx(expected, rel=1e-5)
    posterior = base.posterior(base.statistics(X, np.ones((1, 1))))
    after = beta(3.7, 2.9)
    divergence = quad(lambda f: after.pdf(f) * (after.logpdf(f) - beta(0.7, 1.9).logpdf(f)), 0, 1)[0]
    assert base.divergence(posterior)[0] == pytest.approx(divergence, rel=1e-6)
    assert base.means(posterior) == pytest.approx(np.array([[3.7, 2.9]]) / 6.6)


def test_worked_examples_of_the_specification():
    base = NormalInverseWishart(np.array([1.0, 0.0]), 0.5, np.eye(2), 4.0)
    X = np.array([[0.0, 0], [1, 0], [2, 0], [3, 1]])
    members = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1.0]])
    posterior = base.posterior(base.statistics(X, members))
    assert base.log_predictive(X[1:2], posterior)[0] == pytest.approx([-1.837877, -1.653214, -2.394849], abs=1e-6)
    words = DirichletMultinomial(np.full(3, 0.5))
    X = np.array([[4.0, 0, 1], [3, 1, 1], [0, 5, 0], [1, 4, 0]])
    posterior = words.posterior(words.statistics(X, members))
    assert words.log_predictive(X[1:2], posterior)[0] == pytest.approx([-6.541030, -5.836493, -8.853091], abs=1e-6)


@given(seed=st.integers(0, 99))
def test_blur_is_an_average_over_what_rows_may_stand_for(seed):
    """2d points around each row have its mean and the covariance of the blur: averages over them are exact."""
    base = normal(3)
    blur = np.array([0.3, 0.05, 0.8])
    blurred = NormalInverseWishart(base.mean, base.strength, base.scatter, base.degrees, blur)
    X, weight = drawn(base, 6, seed)
    offsets = np.vstack([np.diag(np.sqrt(3 * blur)), -np.diag(np.sqrt(3 * blur))])
    around = (X[:, None, :] + offsets).reshape(-1, 3)
    moments = blurred.statistics(X, weight)
    averaged = base.statistics(around, np.repeat(weight / 6, 6, axis=0))
    assert moments.scatter == pytest.approx(averaged.scatter, abs=1e-9)
    posterior = base.posterior(averaged)
    mean = base.expected_log_density(around, posterior).reshape(6, 6, 3).mean(axis=1)
    assert blurred.expected_log_density(X, posterior) == pytest.approx(mean, rel=1e-9, abs=1e-9)
    bound = (weight * blurred.expected_log_density(X, posterior)).sum(axis=0) - blurred.divergence(posterior)
    assert bound == pytest.approx(blurred.log_marginal(moments), rel=1e-9, abs=1e-9)


def test_prior_from_data_follows_units():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 2] = 4.0
    base = NormalInverseWishart.from_data(X, resolution=0.1)
    again = NormalInverseWishart.from_data(1e5 * X + 7, resolution=0.1)
    assert again.mean == pytest.approx(1e5 * base.mean + 7)
    assert again.scatter == pytest.approx(1e10 * base.scatter)
    assert again.blur == pytest.approx(1e10 * base.blur)
    assert base.degrees == 8
    assert np.diag(base.scatter)[:2] == pytest.approx(4 * 0.25 * X[:, :2].var(axis=0))
    assert NormalInverseWishart.from_data(np.ones((4, 2))).scatter == pytest.approx(0.75 * np.eye(2))
    weak = NormalInverseWishart.from_data(X, spread=1, degrees=3)
    assert np.diag(weak.scatter)[:2] == pytest.approx(X[:, :2].var(axis=0))
    assert DirichletMultinomial.from_data(X).counts == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scatter": np.eye(3)}, "shape"),
        ({"strength": 0.0}, "strength must be positive"),
        ({"degrees": 1.0}, "above d - 1 = 1"),
        ({"scatter": np.diag([1.0, -1])}, "positive definite"),
    ],
)
def test_impossible_priors_are_refused(wrong, message):
    right = {"mean": np.zeros(2), "strength": 1.0, "scatter": np.eye(2), "degrees": 3.0}
    with pytest.raises(ValueError, match=message):
        NormalInverseWishart(**(right | wrong))
    with pytest.raises(ValueError, match="positive and finite"):
        DirichletMultinomial(np.array([1.0, 0.0]))


def test_words_may_be_sparse():
    from scipy.sparse import csr_array

    base = DirichletMultinomial(np.array([0.5, 2.0, 1.0]))
    X, weight = drawn(base, 7, 0)
    sparse = csr_array(X)
    assert base.statistics(sparse, weight) == pytest.approx(base.statistics(X, weight))
    posterior = base.posterior(base.statistics(X, weight))
    for ask in (base.expected_log_density, base.log_predictive):
        assert ask(sparse, posterior) == pytest.approx(ask(X, posterior))
