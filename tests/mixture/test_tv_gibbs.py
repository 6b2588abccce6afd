"""TVClust by Gibbs sampling: the sampler against exact posteriors, and against its own model."""

from __future__ import annotations

import json
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import betaln, digamma, gammaln, polygamma
from scipy.stats import dirichlet_multinomial, multivariate_normal
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from cluewise.clues import Clues
from cluewise.mixture import TVClust
from cluewise.mixture._tvclust import gibbs as _tv_gibbs
from cluewise.mixture._tvclust import gibbs_clusters as _gibbs_clusters
from cluewise.mixture._tvclust.gibbs import clusters_of, sample
from cluewise.mixture._tvclust.gibbs_draws import Rates, Record, renumber
from cluewise.mixture._tvclust.pair_evidence import Noise, gather_evidence
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart

NORMAL = NormalInverseWishart(np.array([1.0, 0.0]), 0.5, np.eye(2), 4.0)
COUNTS = DirichletMultinomial(np.full(3, 0.5))
BASES = [pytest.param(NORMAL, id="normal"), pytest.param(COUNTS, id="counts")]
ENGINES = [pytest.param(True, id="collapsed"), pytest.param(False, id="uncollapsed")]
SIX = {
    NORMAL: np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [2.5, -1.0], [0.5, 1.0]]),
    COUNTS: np.array([[4, 0, 1], [3, 1, 1], [0, 3, 0], [1, 2, 0], [0, 0, 0], [2, 2, 7]], dtype=float),
}
LEARNT = Noise(4.0, 1.0, 3.0, 1.0)
KNOWN = Rates(0.8, 0.7)


def six_clues():
    """Some that fit and some that do not, one of them counting for more."""
    must, cannot = [(0, 1), (2, 3), (1, 4)], [(1, 2), (0, 5), (3, 4)]
    return Clues(6, must=must, cannot=cannot, must_weight=[1.0, 1.0, 0.5])


def draws_of(X, pairs, prior, **changes):
    """`sample` with settings for small problems."""
    settings = {
        "sweeps": 50,
        "burn_in": 5,
        "thin": 1,
        "collapsed": True,
        "truncation": None,
        "concentration": 1.0,
        "rng": np.random.default_rng(0),
        "watch": lambda state, trace: False,
        "labels0": None,
    }
    return sample(X, pairs, prior, **(settings | changes))


# The oracle: textbook densities, chained row by row, over all partitions.


def partitions(n):
    """All partitions as labels renumber by first row."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*p, k) for p in found for k in range(max(p) + 2)]
    return np.array(found)


def log_density(x, members, base):
    """One row given the other rows of its cluster."""
    if isinstance(base, DirichletMultinomial):
        if not x.any():
            return 0.0  # SciPy 1.13 refuses rows without counts
        # Without the multinomial coefficient, which is the same in all clusters.
        same = dirichlet_multinomial.logpmf(x, base.counts + members.sum(axis=0), int(x.sum()))
        return same - (gammaln(x.sum() + 1) - gammaln(x + 1).sum())
    n, d = len(members), len(x)
    kappa, nu = base.strength + n, base.degrees + n
    average = members.mean(axis=0) if n else base.mean
    off = average - base.mean
    scatter = (
        base.scatter + (members - average).T @ (members - average) + base.strength * n / kappa * np.outer(off, off)
    )
    free = nu - d + 1
    shape = scatter * (kappa + 1) / (kappa * free)
    away = x - (base.strength * base.mean + n * average) / kappa
    # Student's t in d dimensions.
    value = gammaln((free + d) / 2) - gammaln(free / 2) - d / 2 * np.log(free * np.pi)
    value -= np.linalg.slogdet(shape)[1] / 2
    return value - (free + d) / 2 * np.log1p(away @ np.linalg.solve(shape, away) / free)


def log_joint(labels, X, clues, base, noise, concentration):
    """Restaurant process, rows and reports; p and q as `noise` says."""
    value = 0.0
    for i, k in enumerate(labels):
        members = X[:i][labels[:i] == k]
        value += np.log(len(members) or concentration) - np.log(concentration + i)
        value += log_density(X[i], members, base)
    counts = np.zeros((2, 2))
    for told, pairs, weights in ((1, clues.must, clues.must_weight), (0, clues.cannot, clues.cannot_weight)):
        for (i, j), weight in zip(pairs, weights):
            counts[told, int(labels[i] == labels[j])] += weight
    (n_00, n_01), (n_10, n_11) = counts
    if isinstance(noise, Rates):
        p, q = noise
        return value + n_11 * np.log(p) + n_01 * np.log(1 - p) + n_00 * np.log(q) + n_10 * np.log(1 - q)
    a, b, c, e = noise
    return value + betaln(a + n_11, b + n_01) - betaln(a, b) + betaln(c + n_00, e + n_10) - betaln(c, e)


def posterior(X, clues, base, noise, concentration=1.0, most=None):
    """All partitions (with at most ``most`` clusters) and their probabilities."""
    every = partitions(len(X))
    if most is not None:
        every = every[every.max(axis=1) < most]
    logs = np.array([log_joint(z, X, clues, base, noise, concentration) for z in every])
    weight = np.exp(logs - logs.max())
    return every, weight / weight.sum()


def scores(values, exact, batches=25):
    """How many standard errors the mean of each column is off, errors judged by the means of batches."""
    used = len(values) // batches * batches
    means = values[:used].reshape(batches, -1, *values.shape[1:]).mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(batches)
    return (means.mean(axis=0) - exact) / np.maximum(error, 1e-12)


def agree(draws, every, exact):
    """Frequencies of partitions, and of pairs being together, are those of the posterior within sampling error."""
    likely = exact > 0.01
    indicator = (draws.labels[:, None, :] == every[likely][None]).all(axis=2)
    assert np.abs(scores(indicator.astype(float), exact[likely])).max() < 4.5
    pairs = np.array([(i, j) for i, j in product(range(every.shape[1]), repeat=2) if i < j]).T
    near = (every[:, pairs[0]] == every[:, pairs[1]]).T @ exact
    found = (draws.labels[:, pairs[0]] == draws.labels[:, pairs[1]]).astype(float)
    assert np.abs(scores(found, near)).max() < 4.5
    # Far apart in total variation would be a bug that loud errors hide.
    assert np.abs(indicator.mean(axis=0) - exact[likely]).sum() < 0.25


@pytest.mark.parametrize("noise", [KNOWN, LEARNT], ids=["known", "learnt"])
@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize("base", BASES)
def test_posterior_of_six_rows(base, collapsed, noise, sweep, monkeypatch):
    """Partitions, p and q, doubt and the log joint, against enumeration of all 203 partitions.

    With known rates by single visits alone, with learnt ones by splits and merges as well.
    """
    monkeypatch.setattr(_tv_gibbs, "LEAPS", 0 if noise is KNOWN else 5)
    X, clues = SIX[base], six_clues()
    pairs = gather_evidence(clues)
    every, exact = posterior(X, clues, base, noise)
    draws = draws_of(X, pairs, (base, noise), sweeps=sweep(1200, 20000), collapsed=collapsed)
    agree(draws, every, exact)
    near = (every[:, pairs.first] == every[:, pairs.second]).T @ exact
    np.testing.assert_allclose(draws.pair_wrong, np.where(pairs.is_must, 1 - near, near), atol=0.03)
    for z, value in zip(draws.labels[:20], draws.log_joint[:20]):
        assert value == pytest.approx(log_joint(z, X, clues, base, noise, 1.0))
    np.testing.assert_array_equal(draws.n_clusters, draws.labels.max(axis=1) + 1)
    if noise is KNOWN:
        assert (draws.must_reliability == 0.8).all()
        assert (draws.cannot_reliability == 0.7).all()
        return
    after = [noise.update(pairs, (z[pairs.first] == z[pairs.second]).astype(float)).means() for z in every]
    p, q = exact @ np.array(after)
    assert abs(scores(draws.must_reliability, p)) < 4
    assert abs(scores(draws.cannot_reliability, q)) < 4


def test_rates_of_the_sampler_are_posterior_means(sweep):
    """Nine must-links between two triples that may be one cluster: p and q by enumeration of all 203 partitions.

    The partition is uncertain, so that rates at the expected number of right clues, (0.845, 0.152), are far off.
    """
    X = np.array([-0.1, 0, 0.1, 0.3, 0.4, 0.5])[:, None]
    base, flat = NormalInverseWishart(np.array([0.2]), 0.1, np.array([[0.1]]), 3.0), Noise(1.0, 1.0, 1.0, 1.0)
    clues = Clues(6, must=[(i, j) for i in range(3) for j in range(3, 6)])
    every, exact = posterior(X, clues, base, flat)
    first, second = clues.must.T
    right = (every[:, first] == every[:, second]).sum(axis=1)
    p, q, h = (right + 1) / (right + 2), 1 / (9 - right + 2), right / 9
    assert (exact @ p, exact @ q) == pytest.approx((0.746, 0.246), abs=5e-4)
    must, cannot = exact @ (p * h), exact @ (q * (1 - h))
    reliable = must / (must + exact @ ((1 - q) * (1 - h))), cannot / (cannot + exact @ ((1 - p) * h))
    settings = {"engine": "gibbs", "base": base, "must_prior": (1, 1), "cannot_prior": (1, 1), "burn_in": 50}
    found = np.empty((sweep(6, 60), 4))
    for seed, row in enumerate(found):
        model = TVClust(sweeps=500, random_state=seed, **settings).fit(X, clues=clues)
        row[:] = *model.report_rates_, model.must_reliability_, model.cannot_reliability_
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert error.max() < 0.025
    assert (np.abs(found.mean(axis=0) - (exact @ p, exact @ q, *reliable)) < 5 * error).all()


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize("base", BASES)
def test_no_clues_is_a_dirichlet_process_mixture(base, collapsed, sweep):
    X, clues = SIX[base], Clues(6)
    every, exact = posterior(X, clues, base, KNOWN, concentration=2.0)
    draws = draws_of(
        X, gather_evidence(clues), (base, LEARNT), sweeps=sweep(1200, 20000), collapsed=collapsed, concentration=2.0
    )
    agree(draws, every, exact)
    assert abs(scores(draws.must_reliability, 0.8)) < 4  # nothing was learnt: the prior mean
    assert draws.pair_wrong.shape == (0,)


@pytest.mark.parametrize("collapsed", ENGINES)
def test_clues_without_information(collapsed, sweep):
    """P(must | together) = P(must | apart) when p + q = 1."""
    X = SIX[NORMAL]
    every, exact = posterior(X, Clues(6), NORMAL, KNOWN)
    pairs = gather_evidence(six_clues())
    agree(draws_of(X, pairs, (NORMAL, Rates(0.9, 0.1)), sweeps=sweep(1200, 20000), collapsed=collapsed), every, exact)


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize("base", BASES)
def test_truncation_conditions_the_prior(base, collapsed, sweep):
    X, clues = SIX[base], six_clues()
    every, exact = posterior(X, clues, base, KNOWN, concentration=3.0, most=2)
    draws = draws_of(
        X,
        gather_evidence(clues),
        (base, KNOWN),
        sweeps=sweep(1200, 20000),
        collapsed=collapsed,
        truncation=2,
        concentration=3.0,
    )
    agree(draws, every, exact)
    assert draws.n_clusters.max() == 2


@pytest.mark.parametrize("collapsed", ENGINES)
def test_number_of_clusters_follows_the_restaurant_process(collapsed, sweep):
    """Rows without words say nothing: P(k clusters) = |s(n, k)| αᵏ Γ(α)/Γ(α + n)."""
    n, alpha = 9, 1.5
    stirling = np.zeros(n + 1)
    stirling[0] = 1
    for i in range(n):
        stirling = np.append(0.0, stirling[:-1]) + i * stirling
    exact = stirling * np.exp(np.arange(n + 1) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + n))
    assert exact.sum() == pytest.approx(1)
    draws = draws_of(
        np.zeros((n, 3)),
        gather_evidence(Clues(n)),
        (COUNTS, KNOWN),
        sweeps=sweep(1500, 40000),
        collapsed=collapsed,
        concentration=alpha,
    )
    likely = exact > 0.005
    found = (draws.n_clusters[:, None] == np.arange(n + 1)[likely]).astype(float)
    assert np.abs(scores(found, exact[likely])).max() < 4.5
    assert abs(scores((draws.labels[:, 2] == draws.labels[:, 7]).astype(float), 1 / (1 + alpha))) < 4


@pytest.mark.parametrize("opened", [False, True], ids=["drawn", "opened"])
def test_drawn_gaussians(opened):
    """Λ ~ Wishart(Ψ⁻¹, ν) and μ ~ N(m, (κΛ)⁻¹): first and second moments, and the density that they are used for."""
    rng = np.random.default_rng(0)
    X = np.array([[2.0, 1.0, 0.0], [4.0, 1.5, -1.0], [3.0, 3.0, 1.0]])[: 1 if opened else 3]
    base = NormalInverseWishart(np.array([1.0, 0.0, 0.0]), 0.5, np.diag([1.0, 2.0, 0.5]) + 0.2, 7.0)
    clusters = clusters_of(X, base, 1.0, 3)
    clusters.gather(np.zeros(len(X), np.int32))
    after = base.posterior(base.statistics(X, np.ones((len(X), 1))))
    psi, kappa, nu = after.root[0] @ after.root[0].T, after.strength[0], after.degrees[0]
    precision, mean = [], []
    for _ in range(4000):
        if opened:
            clusters.open(0, 0, rng)
        else:
            clusters.draw(rng)
        precision.append(clusters.whiten[0] @ clusters.whiten[0].T)
        mean.append(clusters.centers[0].copy())
    inverse = np.linalg.inv(psi)
    spread = nu * (np.outer(np.diag(inverse), np.diag(inverse)) + inverse**2)
    second = spread + nu**2 * inverse**2
    assert np.abs(scores(np.array(precision), nu * inverse)).max() < 4.5
    assert np.abs(scores(np.square(precision), second)).max() < 4.5
    away = np.array(mean) - after.mean[0]
    assert np.abs(scores(away, 0.0)).max() < 4.5
    assert np.abs(scores(away[:, :, None] * away[:, None, :], psi / (kappa * (nu - 4)))).max() < 4.5
    expected = multivariate_normal.logpdf(X, mean[-1], np.linalg.inv(precision[-1]))
    np.testing.assert_allclose(clusters.likelihood(np.arange(len(X)), np.array([0]))[:, 0], expected)


@pytest.mark.parametrize("opened", [False, True], ids=["drawn", "opened"])
def test_drawn_words(opened):
    """φ ~ Dirichlet(β + words): ⟨ln φ⟩ = ψ(a) − ψ(A), with variance ψ′(a) − ψ′(A), for tiny a as well."""
    rng = np.random.default_rng(0)
    X = np.array([[3.0, 0.0, 1.0], [2.0, 0.0, 0.0]])[: 1 if opened else 2]
    base = DirichletMultinomial(np.array([0.5, 0.01, 2.0]))
    clusters = clusters_of(X, base, 1.0, 3)
    clusters.gather(np.zeros(len(X), np.int32))
    logs = []
    for _ in range(4000):
        if opened:
            clusters.open(0, 0, rng)
        else:
            clusters.draw(rng)
        logs.append(clusters.log_share[0].copy())
    a = base.counts + X.sum(axis=0)
    exact = digamma(a) - digamma(a.sum())
    assert np.abs(scores(np.array(logs), exact)).max() < 4.5
    variance = polygamma(1, a) - polygamma(1, a.sum())
    assert np.abs(scores((np.array(logs) - exact) ** 2, variance)).max() < 4.5
    np.testing.assert_allclose(clusters.likelihood(np.arange(len(X)), np.array([0]))[:, 0], X @ logs[-1])


@pytest.mark.parametrize("base", BASES)
def test_splits_and_merges_alone_have_the_right_target(base, sweep):
    """Any partition can be reached by them, so they must find the posterior without help; four clusters at most."""
    X, clues, rng = SIX[base], six_clues(), np.random.default_rng(1)
    pairs = gather_evidence(clues)
    every, exact = posterior(X, clues, base, KNOWN, most=4)
    clusters = clusters_of(X, base, 1.0, 4)
    links = Record(pairs, 1, 6).links(KNOWN)
    labels, found, accepted = np.zeros(6, np.int32), [], 0
    clusters.gather(labels)
    for _ in range(sweep(2500, 20000)):
        accepted += _tv_gibbs._leap(clusters, pairs, labels, labels, links, 1.0, rng)
        found.append(renumber(labels))
        assert set(labels) == set(range(labels.max() + 1))
    assert accepted > 500
    agree(SimpleNamespace(labels=np.array(found)), every, exact)


@pytest.mark.parametrize("base", BASES)
def test_gain_of_two_clusters_is_that_of_their_rows(base):
    """What refuses a merger before the rows are visited is the gain that a visit to all of them adds up."""
    X, pairs = SIX[base], gather_evidence(six_clues())
    labels = np.array([0, 0, 2, 2, 0, 1], np.int32)
    clusters, links = clusters_of(X, base, 1.5, 6), Record(pairs, 1, 6).links(KNOWN)
    clusters.gather(labels)
    side, wanted = np.full(6, -1, np.int8), np.array([0, 0, 1], np.int8)
    _, exact = clusters.split(np.array([0, 2]), np.array([1, 4, 3]), wanted, np.zeros(3), side, links)
    numbers = renumber(labels)
    assert numbers.tolist() != labels.tolist()
    assert _tv_gibbs._gain(clusters, pairs, numbers, (0, 2), labels, links, 1.5) == pytest.approx(exact)


def test_gain_that_rounding_hides():
    """Rows on a line, far from the origin of the prior: the sum of squares is not positive definite any more."""
    X = np.array([[1e9, 1e9], [1e9 + 1, 1e9 + 1], [2e9, 2e9], [2e9 + 1, 2e9 + 1]])
    clusters = clusters_of(X, NormalInverseWishart(np.zeros(2), 1.0, np.eye(2), 4.0), 1.0, 4)
    clusters.gather(np.array([0, 0, 1, 1], np.int32))
    assert clusters.merging(0, 1) == np.inf


@pytest.mark.parametrize("collapsed", ENGINES)
def test_every_start_finds_the_same(collapsed):
    """Iris with one clue in five wrong: single visits stay with one or two clusters for ever, splits do not."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    clues = Clues.sample(y, pairs=0.05, noise=0.2, random_state=0)
    base = NormalInverseWishart(np.zeros(4), 1.0, np.eye(4), 6.0)
    found = [
        draws_of(X, gather_evidence(clues), (base, LEARNT), collapsed=collapsed, labels0=start, sweeps=60, burn_in=60)
        for start in (None, y, np.zeros(150, int), np.arange(150))
    ]
    for draws in found:
        assert draws.log_joint.mean() == pytest.approx(found[1].log_joint.mean(), abs=3)
        assert adjusted_rand_score(y, draws.labels[draws.log_joint.argmax()]) > 0.95
        assert draws.must_reliability.mean() == pytest.approx(0.8, abs=0.05)
        assert draws.cannot_reliability.mean() == pytest.approx(0.8, abs=0.05)


# Geweke's test: if rows and clues are drawn anew from the model after every sweep, everything has its prior.


def generate(z, rates, base, pairs, rng):
    """Rows and reports given a partition, p and q."""
    n = len(z)
    X = np.zeros((n, 2 if base is NORMAL else 3))
    for k in range(z.max() + 1):
        members = np.flatnonzero(z == k)
        if base is NORMAL:
            # Σ = inverse of the sum of ν outer products of N(0, Ψ⁻¹): the definition of the inverse Wishart.
            g = rng.normal(size=(int(base.degrees), 2)) @ np.linalg.cholesky(np.linalg.inv(base.scatter)).T
            cov = np.linalg.inv(g.T @ g)
            mu = rng.multivariate_normal(base.mean, cov / base.strength)
            X[members] = rng.multivariate_normal(mu, cov, size=len(members))
        else:
            X[members] = rng.multinomial(4, rng.dirichlet(base.counts), size=len(members))
    near = np.array([z[i] == z[j] for i, j in pairs])
    told = np.where(near, rng.random(len(pairs)) < rates.must, rng.random(len(pairs)) >= rates.cannot)
    return X, told


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize("base", BASES)
def test_geweke(base, collapsed, sweep):
    n, alpha, noise = 5, 1.0, Noise(3.0, 1.0, 2.0, 1.5)
    asked = [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)]
    rng = np.random.default_rng(7)
    z = np.zeros(n, dtype=int)
    for i in range(1, n):
        size = np.append(np.bincount(z[:i]), alpha)
        z[i] = rng.choice(len(size), p=size / size.sum())
    z = renumber(z)
    rates = Rates(rng.beta(3, 1), rng.beta(2, 1.5))
    rows = []
    for _ in range(sweep(800, 20000)):
        X, told = generate(z, rates, base, asked, rng)
        ends = np.array(asked)
        clues = Clues(n, must=ends[told], cannot=ends[~told])
        found = draws_of(
            X,
            gather_evidence(clues),
            (base, noise),
            sweeps=1,
            burn_in=0,
            collapsed=collapsed,
            concentration=alpha,
            rng=rng,
            labels0=z,
        )
        z, rates = found.labels[0], Rates(found.must_reliability[0], found.cannot_reliability[0])
        rows.append([z.max() + 1, z[0] == z[1], z[2] == z[4], *rates, *np.square(rates), (z == z[0]).sum()])
    p, q = np.array([3 / 4, 2 / 3.5])
    squares = p * (p + (1 - p) / 5), q * (q + (1 - q) / 4.5)
    clusters = sum(alpha / (alpha + i) for i in range(n))
    exact = np.array([clusters, 0.5, 0.5, p, q, *squares, 1 + (n - 1) / 2])
    assert np.abs(scores(np.array(rows, dtype=float), exact)).max() < 4.5


# The worked example, and what a user of the sampler relies on.


@pytest.mark.parametrize(("base", "name"), [(NORMAL, "niw"), (COUNTS, "dirichlet_multinomial")])
def test_oracle_agrees_with_the_specification(base, name, spec_folder):
    told = json.loads((spec_folder / "seeds-worked-examples.json").read_text())["tvclust_gibbs"]
    X = np.array(told[name]["data"], dtype=float)
    clues = Clues(4, must=[(0, 1), (2, 3)], cannot=[(1, 2)])
    every, exact = posterior(X, clues, base, Rates(told["p"], told["q"]), told["alpha"])
    assert every.tolist() == told[name]["partitions"]
    np.testing.assert_allclose(exact, told[name]["posterior"], atol=1e-9)


@pytest.mark.parametrize(
    ("base", "log_weights"),
    [(NORMAL, (-0.149137, -3.781143, -1.837877)), (COUNTS, (-4.332415, -10.239385, -6.541030))],
    ids=["normal", "counts"],
)
def test_conditional_of_the_worked_example(base, log_weights):
    """Row 1 at z = [0, ·, 1, 1]: each cluster is chosen on its own share of the unit interval."""
    X = np.array([[0, 0], [1, 0], [2, 0], [3, 1]] if base is NORMAL else [[4, 0, 1], [3, 1, 1], [0, 5, 0], [1, 4, 0]])
    pairs = gather_evidence(Clues(4, must=[(0, 1), (2, 3)], cannot=[(1, 2)]))
    weights = np.exp(log_weights)
    edges = np.append(0, np.cumsum(weights / weights.sum())[:2])
    for own in (0, 1, -1):  # whichever cluster it comes from
        for k, edge in enumerate(edges):
            for inside in (1e-6, -1e-6):
                if edge + inside < 0:
                    continue
                labels = np.array([0, own, 1, 1], dtype=np.int32)
                clusters = clusters_of(X.astype(float), base, 1.0, 4)
                clusters.gather(labels)
                links = Record(pairs, 1, 4).links(Rates(0.9, 0.8))
                clusters.visit(np.array([1]), 0, np.array([edge + inside]), labels, links)
                expected = k if inside > 0 else k - 1
                assert labels[1] == expected
                near = links.together[pairs.is_must][0]
                assert near == pytest.approx((weights / weights.sum())[0], abs=1e-6)


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize("base", BASES)
def test_equal_seeds_give_equal_draws(base, collapsed):
    X, pairs = SIX[base], gather_evidence(six_clues())
    one, two, other = (
        draws_of(X, pairs, (base, LEARNT), collapsed=collapsed, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    for a, b in zip(one, two):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.must_reliability, other.must_reliability)


def test_sparse_counts_are_the_same_counts():
    X, pairs = SIX[COUNTS], gather_evidence(six_clues())
    dense, sparse = (draws_of(data, pairs, (COUNTS, LEARNT)) for data in (X, csr_array(X)))
    np.testing.assert_array_equal(dense.labels, sparse.labels)


def test_inputs_stay_untouched():
    X, start = SIX[NORMAL].copy(), np.array([0, 0, 1, 1, 2, 2])
    for array in (X, start):
        array.flags.writeable = False
    draws_of(X, gather_evidence(six_clues()), (NORMAL, LEARNT), labels0=start)


def test_burn_in_and_thinning():
    """Every third draw of the sweeps that follow burn-in; the trace has all sweeps."""
    X, pairs, traces = SIX[NORMAL], gather_evidence(six_clues()), []

    def remember(state, trace):
        traces[:] = trace
        assert len(state.labels) == max(1, (len(trace) - 4) // 3)
        assert (state.pair_wrong >= 0).all()
        return False

    draws = draws_of(X, pairs, (NORMAL, LEARNT), burn_in=4, sweeps=10, thin=3, watch=remember)
    assert draws.labels.shape == (3, 6)
    assert draws.labels.dtype == np.int32
    assert len(traces) == 14
    np.testing.assert_array_equal(draws.log_joint, -np.array(traces)[[6, 9, 12]])


@pytest.mark.parametrize("after", [1, 6, 9])
def test_watch_stops_between_sweeps(after):
    states = []

    def stop(state, trace):
        states.append(state)
        return len(trace) == after

    draws = draws_of(SIX[NORMAL], gather_evidence(six_clues()), (NORMAL, LEARNT), watch=stop)
    assert len(states) == after
    assert len(draws.labels) == max(1, after - 5)
    for a, b in zip(states[-1], draws):
        np.testing.assert_array_equal(a, b)


def test_kept_draws_are_not_written_again():
    kept = []
    draws_of(
        SIX[NORMAL],
        gather_evidence(six_clues()),
        (NORMAL, LEARNT),
        watch=lambda state, trace: bool(kept.append((state, [a.copy() for a in state]))),
    )
    for state, copy in kept:
        for a, b in zip(state, copy):
            np.testing.assert_array_equal(a, b)


def test_settings_that_cannot_work():
    pairs = gather_evidence(six_clues())
    with pytest.raises(ValueError, match="thin=3 keeps none of 2 sweeps"):
        draws_of(SIX[NORMAL], pairs, (NORMAL, LEARNT), sweeps=2, thin=3)
    with pytest.raises(ValueError, match="labels0 has 3 clusters; truncation allows 2"):
        draws_of(SIX[NORMAL], pairs, (NORMAL, LEARNT), truncation=2, labels0=np.array([0, 0, 1, 1, 2, 2]))


@pytest.mark.parametrize("rates", [(1.0, 0.5), (0.5, 0.0)])
def test_certain_clues_are_refused(rates):
    with pytest.raises(ValueError, match="known reliabilities must be strictly between 0 and 1"):
        draws_of(SIX[NORMAL], gather_evidence(six_clues()), (NORMAL, Rates(*rates)))


def test_numbered():
    assert renumber(np.array([7, 7, 2, -1, 9, 2])).tolist() == [0, 0, 1, -1, 2, 1]
    assert renumber(np.array([-1, -1])).tolist() == [-1, -1]


# Numbers: long runs, bad scales, degenerate rows.


@pytest.mark.parametrize("base", BASES)
def test_updates_do_not_drift(base, monkeypatch, sweep):
    """A thousand sweeps of rank-one updates without a fresh start give what a fresh start gives."""
    monkeypatch.setattr(_tv_gibbs, "REFRESH", 10**9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)) * [1, 10, 0.1, 1] + [0, 100, 0, 0] if base is NORMAL else rng.poisson(1.5, (40, 3))
    mine = (
        base
        if base is COUNTS
        else NormalInverseWishart(np.array([0.0, 99, 0, 0]), 0.5, np.diag([1, 100, 0.01, 1]), 6.0)
    )
    clues = Clues.sample(np.arange(40) % 3, pairs=60, noise=0.3, random_state=0)
    seen = {}
    build = clusters_of

    def catch(*given):
        seen["clusters"] = build(*given)
        return seen["clusters"]

    monkeypatch.setattr(_tv_gibbs, "clusters_of", catch)
    draws = draws_of(
        X.astype(float), gather_evidence(clues), (mine, LEARNT), sweeps=sweep(1000, 10000), burn_in=0, concentration=5.0
    )
    assert len(np.unique(draws.n_clusters)) > 3  # clusters came and went
    z = draws.labels[-1]
    exact = log_joint(z, X.astype(float), clues, mine, LEARNT, 5.0)
    assert draws.log_joint[-1] == pytest.approx(exact, rel=1e-9)
    fresh = build(X.astype(float), mine, 5.0, 40)
    fresh.gather(z)
    assert seen["clusters"].log_evidence() == pytest.approx(fresh.log_evidence(), rel=1e-9)


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize(
    "X",
    [
        np.zeros((1, 2)),
        np.zeros((7, 2)),
        np.repeat([[1024.0, -0.5]], 8, axis=0),
        np.c_[np.arange(8.0), np.ones(8)],
        np.random.default_rng(0).normal(size=(4, 12)),
        np.array([[0.0], [1e6], [0.0], [-1e6], [1e-6]]),
        np.r_[np.zeros((6, 2)), [[1e7, 1e7]]],
    ],
    ids=["one row", "zeros", "equal rows", "constant column", "d > n", "wide range", "outlier"],
)
def test_degenerate_rows(X, collapsed):
    n, d = X.shape
    clues = Clues(n, must=[(0, n - 1)], cannot=[(0, 1)]) if n > 2 else Clues(n)
    for base in (NormalInverseWishart.from_data(X), NormalInverseWishart(np.zeros(d), 1e-3, np.eye(d), d - 0.5)):
        draws = draws_of(X, gather_evidence(clues), (base, LEARNT), collapsed=collapsed)
        assert all(np.isfinite(a).all() for a in draws)
        for z, value in zip(draws.labels[-3:], draws.log_joint[-3:]):
            assert value == pytest.approx(log_joint(z, X, clues, base, LEARNT, 1.0), rel=1e-4)


@pytest.mark.parametrize("collapsed", ENGINES)
@pytest.mark.parametrize(
    "X",
    [np.zeros((1, 2)), np.zeros((5, 3)), np.eye(6) * 400, np.full((6, 2), 0.25), np.array([[0, 0], [9, 0], [0, 1]])],
    ids=["one row", "no words", "own words", "fractions", "empty row"],
)
def test_degenerate_counts(X, collapsed):
    n = len(X)
    clues = Clues(n, must=[(0, n - 1)], cannot=[(0, 1)]) if n > 2 else Clues(n)
    for strength in (0.5, 1e-6):
        base = DirichletMultinomial.from_data(X, strength=strength)
        draws = draws_of(X.astype(float), gather_evidence(clues), (base, LEARNT), collapsed=collapsed)
        assert all(np.isfinite(a).all() for a in draws)


@pytest.mark.parametrize("collapsed", ENGINES)
def test_more_clusters_than_slots(collapsed):
    """Every row far from every other, and a tight prior: the tables grow."""
    X = 1e3 * np.arange(60.0)[:, None]
    base = NormalInverseWishart(np.array([0.0]), 1e-9, 50 * np.eye(1), 50.0)
    draws = draws_of(X, gather_evidence(Clues(60)), (base, LEARNT), collapsed=collapsed, concentration=100.0, sweeps=8)
    assert draws.n_clusters[-1] > 40
    together = draws_of(
        X, gather_evidence(Clues(60)), (base, LEARNT), collapsed=collapsed, labels0=np.zeros(60, int), sweeps=8
    )
    assert np.isfinite(together.log_joint).all()
    words = DirichletMultinomial(np.full(60, 1e-3))
    many = draws_of(100.0 * np.eye(60), gather_evidence(Clues(60)), (words, LEARNT), collapsed=collapsed, sweeps=8)
    assert many.n_clusters[-1] == 60


def test_large_problems_are_visited_in_slices(monkeypatch):
    """A slice of one row and a block of one row give the same draws: slicing is no part of the method."""
    X, pairs = SIX[NORMAL], gather_evidence(six_clues())
    whole = [draws_of(X, pairs, (NORMAL, LEARNT), collapsed=c).labels for c in (True, False)]
    counts = draws_of(SIX[COUNTS], pairs, (COUNTS, LEARNT)).labels
    monkeypatch.setattr(_gibbs_clusters, "SLICE", 1)
    np.testing.assert_array_equal(whole[0], draws_of(X, pairs, (NORMAL, LEARNT)).labels)
    np.testing.assert_array_equal(counts, draws_of(SIX[COUNTS], pairs, (COUNTS, LEARNT)).labels)
    monkeypatch.setattr(_tv_gibbs, "BLOCK", 1)
    np.testing.assert_array_equal(whole[1], draws_of(X, pairs, (NORMAL, LEARNT), collapsed=False).labels)
