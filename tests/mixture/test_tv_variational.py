"""Variational inference of TVClust: the worked example, exact evidence by enumeration, a bound that never falls."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln
from scipy.special import softmax as scipy_softmax

from cluewise import Clues
from cluewise.mixture._tvclust import variational as vi
from cluewise.mixture._tvclust.moves import begin, merge, merge_gains, plain_step, reorder, step
from cluewise.mixture._tvclust.pair_evidence import Noise, gather_evidence
from cluewise.mixture._tvclust.priors import DirichletMultinomial, NormalInverseWishart
from strategies import PAIR_KINDS, cases

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)
TRUST = Noise(10.0, 1.0, 10.0, 1.0)


def toy():
    """The worked example of the specification and its first memberships."""
    X = (TOY8 - TOY8.mean(axis=0)) / TOY8.std(axis=0, ddof=1)
    clues = Clues(8, must=[(2, 3), (4, 6), (0, 1)], cannot=[(3, 5), (1, 6)])
    base = NormalInverseWishart(np.zeros(2), 1.0, np.eye(2), 3.0)
    first = np.full((8, 3), 0.1)
    first[np.arange(8), [0, 0, 0, 1, 1, 1, 2, 2]] = 0.8
    return vi.model_of(X, gather_evidence(clues), base, TRUST, 1.0), first


HALF_STEPS = [
    (-40.20548901, -37.7428362709),
    (-36.728677491, -35.4581061401),
    (-34.5453826358, -33.7639694091),
    (-33.3997477085, -33.2741686463),
    (-33.2139051725, -33.1828499853),
]
AFTER_FIRST = [
    [0.9172508477, 0.0567438497, 0.0260053026],
    [0.970233492, 0.0268814471, 0.0028850609],
    [0.4365611329, 0.5046003386, 0.0588385285],
    [0.6291176966, 0.2238785919, 0.1470037115],
    [0.176679965, 0.3326543465, 0.4906656885],
    [0.140665249, 0.5728739889, 0.2864607621],
    [0.0098540674, 0.2020624345, 0.7880834981],
    [0.0199242681, 0.0787203234, 0.9013554085],
]


def test_worked_example_with_half_steps():
    model, r = toy()
    for number, (after_globals, after_locals) in enumerate(HALF_STEPS):
        beliefs = vi.globals_of(r, model)
        scores = vi.scores_of(beliefs, model)
        assert vi.bound(r, scores, beliefs, model) == pytest.approx(after_globals, abs=1e-8)
        r = vi.locals_of(r, scores, beliefs, model)
        assert vi.bound(r, scores, beliefs, model) == pytest.approx(after_locals, abs=1e-8)
        if number == 0:
            assert beliefs.noise == pytest.approx((11.0, 1.83, 11.17, 3.0))
            assert r == pytest.approx(np.array(AFTER_FIRST), abs=1e-9)


def test_worked_example_to_the_limit():
    model, r = toy()
    state = begin(r)
    for _ in range(200):
        state, info = plain_step(state, model)
    assert -info.objective == pytest.approx(-33.1552974006, abs=1e-7)
    assert state.membership.argmax(axis=1).tolist() == [0, 0, 0, 0, 2, 2, 2, 2]


def exact(model, T):
    """Log evidence of the truncated model and the probability that each report is wrong, over all T^n labelings."""
    n = len(model.X)
    logs, near = [], []
    for labels in product(range(T), repeat=n):
        z = np.array(labels)
        members = np.eye(T)[z]
        mass = members.sum(axis=0)
        after = np.append(np.cumsum(mass[::-1])[::-1][1:], 0)[: T - 1]
        value = (betaln(1 + mass[:-1], model.concentration + after) - betaln(1, model.concentration)).sum()
        value += model.base.log_marginal(model.base.statistics(model.X, members)).sum()
        same = (z[model.pairs.first] == z[model.pairs.second]) * 1.0
        now, prior = model.noise.update(model.pairs, same), model.noise
        value += betaln(*now[:2]) - betaln(*prior[:2]) + betaln(*now[2:]) - betaln(*prior[2:])
        logs.append(value)
        near.append(same)
    weight = scipy_softmax(logs)
    together = weight @ np.array(near)
    return np.logaddexp.reduce(logs), np.where(model.pairs.is_must, 1 - together, together)


def small(base, n, seed, T):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * 2 if base == "normal" else rng.poisson(2.0, size=(n, 3)) * 1.0
    prior = NormalInverseWishart.from_data(X) if base == "normal" else DirichletMultinomial.from_data(X)
    clues = Clues.sample(rng.integers(2, size=n), pairs=4, noise=0.25, random_state=seed)
    model = vi.model_of(X, gather_evidence(clues), prior, Noise(3.0, 1.0, 4.0, 2.0), 0.8)
    return model, rng.dirichlet(np.ones(T), size=n)


@pytest.mark.parametrize("base", ["normal", "words"])
@settings(max_examples=8)
@given(seed=st.integers(0, 999), T=st.integers(1, 3))
def test_bound_is_below_the_exact_evidence(base, seed, T):
    model, r = small(base, 5, seed, T)
    evidence, _ = exact(model, T)
    state = begin(r)
    for _ in range(30):
        state, info = step(state, model, 1e-9)
    assert -info.objective <= evidence + 1e-9
    if T == 1:  # one cluster: the factors are exact
        assert -info.objective == pytest.approx(evidence, abs=1e-8)


def test_doubt_is_close_to_the_exact_posterior():
    """Two far groups of three, one report of six wrong; the mean field has little to be wrong about."""
    X = np.array([[0.0, 0], [0.3, 0.1], [0.1, -0.2], [9, 9], [9.2, 8.9], [8.9, 9.1]])
    clues = Clues(6, must=[(0, 1), (3, 4), (1, 3)], cannot=[(0, 3), (2, 5), (1, 4)])
    model = vi.model_of(
        X, gather_evidence(clues), NormalInverseWishart(np.full(2, 4.5), 0.05, np.eye(2), 4.0), TRUST, 1.0
    )
    evidence, wrong = exact(model, 3)
    state = begin(np.full((6, 3), 0.1) + 0.7 * np.eye(3)[[0, 0, 0, 1, 1, 1]])
    for _ in range(50):
        state, info = step(state, model, 1e-9)
    assert vi.doubts(state.membership, state.beliefs.noise, model.pairs) == pytest.approx(wrong, abs=0.03)
    assert evidence - np.log(6) < -info.objective < evidence  # one of the orders of three clusters
    assert wrong[2] > 0.9  # (1, 3), sorted third


@pytest.mark.parametrize("base", ["normal", "blurred", "words"])
@settings(max_examples=15)
@given(case=cases(PAIR_KINDS, noise=0.3), T=st.integers(1, 6))
def test_bound_never_falls(base, case, T):
    X = case.X if base != "words" else np.round(np.abs(case.X))
    if base == "words":
        prior = DirichletMultinomial.from_data(X)
    else:
        prior = NormalInverseWishart.from_data(X, resolution=0.2 if base == "blurred" else 0.0)
    model = vi.model_of(X, gather_evidence(case.clues), prior, TRUST, 1.0)
    r = case.rng.dirichlet(np.full(T, 0.3), size=len(X))
    for move in (partial(plain_step, model=model), partial(step, model=model, tol=1e-3)):
        state = begin(r)
        values = []
        for _ in range(8):
            state, info = move(state)
            values.append(-info.objective)
            assert state.membership.sum(axis=1) == pytest.approx(np.ones(len(X)))
            assert (state.membership >= 0).all()
        assert np.isfinite(values).all()
        assert (np.diff(values) >= -1e-8 * np.abs(values[-1])).all()


@settings(max_examples=15)
@given(case=cases(PAIR_KINDS, noise=0.3))
def test_gain_of_a_merger_is_the_change_of_the_bound(case):
    model = vi.model_of(case.X, gather_evidence(case.clues), NormalInverseWishart.from_data(case.X), TRUST, 0.7)
    r = case.rng.dirichlet(np.full(4, 0.5), size=len(case.X))
    r[:, 3] = 0  # nothing to join
    r /= r.sum(axis=1, keepdims=True)

    def value(membership):
        membership = membership[:, np.argsort(-membership.sum(axis=0))]
        beliefs = vi.globals_of(membership, model)
        return vi.bound(membership, vi.scores_of(beliefs, model), beliefs, model)

    first, second, gain = merge_gains(r, model)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    for t, u, expected in zip(first, second, gain, strict=True):
        joined = r.copy()
        joined[:, t] += joined[:, u]
        joined[:, u] = 0
        assert value(joined) - value(r) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    merged = merge(begin(r), model)
    if gain.max() <= 0:
        assert merged is None
    else:
        assert value(merged.membership) >= value(r) + gain.max() - 1e-6


def test_order_of_clusters_is_by_size():
    r = np.eye(3)[[2, 2, 2, 1, 1, 0]]
    state = reorder(begin(r), 1.0)
    assert state.membership.sum(axis=0).tolist() == [3, 2, 1]
    assert state.names.tolist() == [2, 1, 0]
    assert reorder(state, 1.0) is state


def naive_dp_mixture(X, r, prior, alpha, iterations):
    """An independent mixture without clues: loops, explicit inverses, formulas of Blei and Jordan."""
    from scipy.special import digamma

    n, d = X.shape
    T = r.shape[1]
    for _ in range(iterations):
        scores = np.empty((n, T))
        counts = r.sum(axis=0)
        for t in range(T):
            N = counts[t]
            mean = (r[:, t] @ X) / N
            S = sum(r[i, t] * np.outer(X[i] - mean, X[i] - mean) for i in range(n))
            beta, nu = prior.strength + N, prior.degrees + N
            m = (prior.strength * prior.mean + N * mean) / beta
            inverse = prior.scatter + S + prior.strength * N / beta * np.outer(mean - prior.mean, mean - prior.mean)
            W = np.linalg.inv(inverse)
            log_det = sum(digamma((nu + 1 - j) / 2) for j in range(1, d + 1)) + d * np.log(2) + np.log(np.linalg.det(W))
            stick = digamma(1 + N) - digamma(1 + N + alpha + counts[t + 1 :].sum()) if t < T - 1 else 0.0
            for u in range(t):
                later = alpha + counts[u + 1 :].sum()
                stick += digamma(later) - digamma(1 + counts[u] + later)
            for i in range(n):
                away = (X[i] - m) @ W @ (X[i] - m)
                scores[i, t] = stick + 0.5 * (log_det - d / beta - nu * away - d * np.log(2 * np.pi))
        r = scipy_softmax(scores, axis=1)
    return r


@settings(max_examples=5)
@given(seed=st.integers(0, 99))
def test_without_clues_it_is_a_plain_mixture(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2)) + rng.integers(2, size=(12, 1)) * 4
    prior = NormalInverseWishart.from_data(X)
    model = vi.model_of(X, gather_evidence(Clues(12)), prior, TRUST, 1.3)
    r = rng.dirichlet(np.ones(3), size=12)
    state = begin(r)
    for _ in range(4):
        state, _ = plain_step(state, model)
    assert state.membership == pytest.approx(naive_dp_mixture(X, r, prior, 1.3, 4), abs=1e-9)


def test_a_report_that_says_nothing_changes_nothing():
    """p + q = 1: pairs carry no information."""
    model, r = toy()
    beliefs = vi.globals_of(r, model)._replace(noise=Noise(6e9, 4e9, 4e9, 6e9))
    scores = vi.scores_of(beliefs, model)
    assert vi.locals_of(r, scores, beliefs, model) == pytest.approx(scipy_softmax(scores, axis=1), abs=1e-7)


def test_number_of_clusters_by_enumeration():
    """One row that wavers: 1 cluster or 2."""
    r = np.array([[1.0, 0, 0], [1, 0, 0], [0.7, 0.3, 0]])
    assert vi.occupied(r) == pytest.approx([0, 0.7, 0.3, 0], abs=1e-12)
    assert vi.occupied(np.full((4, 5), 0.2)).sum() == pytest.approx(1)


def test_slices_of_the_sweep_change_nothing(monkeypatch):
    model, r = toy()
    beliefs = vi.globals_of(r, model)
    scores = vi.scores_of(beliefs, model)
    whole = vi.locals_of(r, scores, beliefs, model)
    monkeypatch.setattr(vi, "SLICE", 7)
    monkeypatch.setattr(vi, "BLOCK", 7)
    assert np.array_equal(vi.locals_of(r, scores, beliefs, model), whole)
    assert vi.together(model.pairs, r) == pytest.approx(
        np.einsum("et,et->e", r[model.pairs.first], r[model.pairs.second])
    )
