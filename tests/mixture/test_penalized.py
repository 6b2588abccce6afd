"""PenalizedGMM: worked examples, limits of its weights, enumeration of all labels, hard and soft clues mixed."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from cluewise import Clues
from cluewise.base import Problem
from cluewise.core.centers import scatter
from cluewise.core.loop import Limits
from cluewise.core.probability.gaussians import KINDS, prepared
from cluewise.core.rows import rows_of
from cluewise.exceptions import Contradiction, Infeasible, UnusedClueWarning
from cluewise.mixture._equivalence import EquivalenceGMM
from cluewise.mixture._gaussian_em import State, expect, labels_of, step
from cluewise.mixture._penalized import PenalizedGMM
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
PPC = Clues(8, must=[(3, 7)], cannot=[(0, 2)], must_weight=[2.0], cannot_weight=[1.0])
NO_DRAWS = np.random.default_rng(0)


def started(model, X, clues, means, covariances=None, weights=None):
    """Rows and a state with given parameters (equal weights and unit covariances, if nobody says)."""
    rows, k, d = rows_of(X), *np.shape(means)
    problem = Problem(rows, clues, k, scatter(rows), Limits(300, 1e-4), NO_DRAWS)
    covariances = np.array([np.eye(d)] * k) if covariances is None else covariances
    weights = np.full(k, 1 / k) if weights is None else weights
    first = prepared("full", means - rows.shift, covariances)
    return rows, State(weights, first, model._prepare(problem), -np.inf, None)


def enumerated(X, clues, penalty, weights, means, covariances):
    """log Σ_Z P(X, Z) g(Z) over all labels of rows, pair by pair, the memberships and the likeliest labels."""
    n, k = len(X), len(weights)
    density = np.column_stack([multivariate_normal(m, c).logpdf(X).reshape(n) for m, c in zip(means, covariances)])
    labels = np.array(list(itertools.product(range(k), repeat=n)))
    terms = (np.log(weights)[labels] + density[np.arange(n), labels]).sum(axis=1)
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    for (a, b), w in zip(must, must_weight):
        same = labels[:, a] == labels[:, b]
        # exp(∞ [same]) / exp(∞): only labels that keep certain links count, and for these they count 1.
        terms += np.where(same, 0.0, -np.inf) if np.isinf(w) else penalty * w * same
    for (a, b), w in zip(cannot, cannot_weight):
        terms += np.where(labels[:, a] == labels[:, b], -w if np.isinf(w) else -penalty * w, 0.0)
    total = logsumexp(terms)
    posterior = np.exp(terms - total)
    members = np.array([[posterior[labels[:, i] == h].sum() for h in range(k)] for i in range(n)])
    return total, members, terms, labels


def traced(model, case):
    """The trace of a fit without reg_covar, which is no part of the likelihood; collapsed clusters are left out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            trace = model.fit(case.X, clues=case.clues).trace_
    except ValueError as error:
        if "is singular" not in str(error) and "exact_size" not in str(error):
            raise
        reject()
    spread = model.covariances_
    assume((np.linalg.eigvalsh(spread) if model.covariance_type in ("full", "tied") else spread).min() > 1e-9)
    return trace


def test_worked_example():
    """[ppc]: the E-step sees the data (erratum E20)."""
    model = PenalizedGMM(2, penalty=1.0)
    rows, state = started(model, A8, PPC, A8[[0, 4]])
    found = expect(state, rows, NO_DRAWS)
    wanted = [
        [1.0, 0.0],
        [0.999996, 4e-06],
        [0.999977, 2.3e-05],
        [0.936002, 0.063998],
        [0.0, 1.0],
        [0.0, 1.0],
        [0.0, 1.0],
        [0.139368, 0.860632],
    ]
    np.testing.assert_allclose(found.members.T, wanted, atol=2e-6)
    assert found.bound == pytest.approx(-27.156063, abs=2e-6)
    new, info = step(state, rows=rows, kind="full", reg_covar=0.0, tol=0.0, rng=NO_DRAWS)
    assert info.objective == pytest.approx(27.156063 / 8, abs=2e-6)
    np.testing.assert_allclose(new.weights, [0.509418, 0.490582], atol=2e-6)
    np.testing.assert_allclose(
        new.gaussians.means + rows.shift, [[0.719469, 0.732864], [3.915736, 3.927306]], atol=2e-6
    )
    assert expect(new, rows, NO_DRAWS).bound == pytest.approx(-22.612104, abs=2e-6)


def test_worked_example_of_mean_field():
    """[ppc_mean_field]."""
    rows, state = started(PenalizedGMM(2, penalty=1.0, inference="mean-field"), A8, PPC, A8[[0, 4]])
    members = expect(state, rows, NO_DRAWS).members.T
    np.testing.assert_allclose(members[[3, 7]], [[0.95402, 0.04598], [0.12687, 0.87313]], atol=2e-5)
    np.testing.assert_allclose(members[[0, 2]], [[1.0, 0.0], [0.999977, 2.3e-05]], atol=2e-6)


@given(st.integers(0, 2**16), st.integers(2, 3), st.floats(0.1, 3.0))
def test_expectation_is_enumeration_over_all_labels(seed, k, penalty):
    """Soft and certain clues, wrong and contradictory soft ones among them."""
    rng = np.random.default_rng(seed)
    n = 7 if k == 2 else 6
    X = 2 * rng.normal(size=(n, 2))
    truth = rng.permutation(np.append(np.arange(k), rng.integers(k, size=n - k)))
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    told = [pairs[rng.random(len(pairs)) < 0.3] for _ in range(2)]
    right = [(truth[p[:, 0]] == truth[p[:, 1]]) == is_must for p, is_must in zip(told, (True, False))]
    weights = [
        np.where(r & (rng.random(len(r)) < 0.3), np.inf, rng.choice([0.0, 0.5, 2.0], size=len(r))) for r in right
    ]
    clues = Clues(n, must=told[0], cannot=told[1], must_weight=weights[0], cannot_weight=weights[1])
    means, shares = rng.normal(size=(k, 2)), rng.dirichlet(np.full(k, 3.0))
    covariances = np.array([np.eye(2) * rng.uniform(0.3, 2) for _ in range(k)])
    rows, state = started(PenalizedGMM(k, penalty=penalty), X, clues, means, covariances, shares)
    found = expect(state, rows, rng)
    total, members, terms, labels = enumerated(X, clues, penalty, shares, means, covariances)
    assert found.bound == pytest.approx(total, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(found.members.T, members, atol=1e-9)
    best = labels_of(state._replace(nodes=found.nodes), rows).labels
    assert terms[(labels == best).all(axis=1)][0] == pytest.approx(terms.max(), rel=1e-9, abs=1e-9)


def members_of(clues, penalty=1.0, model=PenalizedGMM, **params):
    rows, state = started(
        model(2, **({"penalty": penalty} if model is PenalizedGMM else {}), **params), A8, clues, A8[[0, 4]]
    )
    return expect(state, rows, NO_DRAWS)


def test_weights_run_from_nothing_to_certain():
    """w = 0: no clues; w → −∞: the cannot-links of EquivalenceGMM; w → ∞: its chunklets with prior "point"."""
    nothing = members_of(Clues(8))
    zero = members_of(Clues(8, must=[(3, 7)], cannot=[(0, 2)]), penalty=0.0)
    np.testing.assert_allclose(zero.members, nothing.members)
    assert zero.bound == pytest.approx(nothing.bound)
    for kind, sign in (("must", 1), ("cannot", -1)):
        hard = members_of(Clues(8, **{kind: [(3, 7)]}), model=EquivalenceGMM, prior="point")
        soft = members_of(Clues(8, **{kind: [(3, 7)]}), penalty=60.0)
        np.testing.assert_allclose(soft.members, hard.members, atol=1e-9)
        certain = members_of(Clues(8, **{kind: [(3, 7)], f"{kind}_weight": [np.inf]}), penalty=0.3)
        np.testing.assert_allclose(certain.members, hard.members, atol=1e-12)
        assert certain.bound == pytest.approx(hard.bound)
        assert soft.bound == pytest.approx(hard.bound + (60.0 if sign > 0 else 0.0))


def test_a_duplicated_clue_with_halved_weights_changes_nothing():
    once = members_of(Clues(8, cannot=[(3, 7)], cannot_weight=[2.0]))
    twice = Clues(8, cannot=[(3, 7)], source="a") | Clues(8, cannot=[(7, 3)], source="b")
    np.testing.assert_allclose(members_of(twice).members, once.members)


@given(cases(frozenset({"must", "cannot", "together"}), noise=0.2, max_rows=24, max_columns=2), st.sampled_from(KINDS))
def test_likelihood_never_falls_where_inference_is_exact(case, kind):
    model = PenalizedGMM(case.k, covariance_type=kind, reg_covar=0.0, inference="exact", exact_size=10**6)
    model.set_params(random_state=case.seed, tol=0.0, max_iter=30)
    trace = traced(model, case)
    assert np.diff(trace).max(initial=-1) <= 1e-9 * (1 + np.abs(trace).max())


@given(cases(PAIR_KINDS, noise=0.2, max_rows=24, max_columns=2), st.sampled_from(KINDS))
def test_bound_of_mean_field_never_falls(case, kind):
    """Each iteration goes on from the memberships of the one before."""
    model = PenalizedGMM(case.k, covariance_type=kind, reg_covar=0.0, inference="mean-field")
    model.set_params(random_state=case.seed, tol=0.0, max_iter=30)
    trace = traced(model, case)
    assert np.diff(trace).max(initial=-1) <= 1e-9 * (1 + np.abs(trace).max())


def test_without_clues_it_is_the_mixture_of_scikit_learn():
    X = load_iris().data
    resp = np.random.default_rng(0).dirichlet(np.ones(3), size=150)
    plain = GaussianMixture(3, max_iter=1)
    plain._initialize(X, resp)
    model = PenalizedGMM(3, init=resp, max_iter=1).fit(X)
    log_likelihood, log_members = plain._e_step(X)
    plain._m_step(X, log_members)
    assert model.lower_bound_ == pytest.approx(log_likelihood, abs=1e-8)
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-8)
    np.testing.assert_allclose(model.covariances_, plain.covariances_, atol=1e-8)
    np.testing.assert_allclose(model.weights_, plain.weights_, rtol=1e-8)


def test_certain_clues_hold_beside_soft_ones():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = 3 * np.eye(3)[y] + rng.normal(size=(90, 3))
    pairs = np.array(list(itertools.combinations(range(90), 2)))
    pairs = pairs[rng.permutation(len(pairs))[:300]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    lies = np.arange(300) % 5 == 0
    weight = np.where(lies, 1.0, rng.choice([1.0, np.inf], size=300))
    must, cannot = same ^ lies, ~(same ^ lies)
    clues = Clues(90, must=pairs[must], cannot=pairs[cannot], must_weight=weight[must], cannot_weight=weight[cannot])
    for inference in ("auto", "mean-field", "gibbs"):
        model = PenalizedGMM(3, inference=inference, random_state=0, max_iter=5).fit(X, clues=clues)
        broken = np.concatenate([model.broken_.must_weight, model.broken_.cannot_weight])
        assert np.isfinite(broken).all()
        assert 0 < len(broken) < 90
        assert adjusted_rand_score(y, model.labels_) > 0.95


def test_wrong_clues_are_outvoted():
    """A soft method breaks what the data speak against; EquivalenceGMM cannot."""
    X, y = load_iris(return_X_y=True)
    clues = Clues(150, must=[(0, 100), (1, 2)], cannot=[(3, 4)])
    model = PenalizedGMM(3, random_state=0).fit(X, clues=clues)
    assert model.broken_ == Clues(150, must=[(0, 100)], cannot=[(3, 4)])
    assert model.penalty_ == pytest.approx(np.log(9))
    assert adjusted_rand_score(y, model.labels_) > 0.85


def test_certain_contradictions_are_refused():
    with pytest.raises(Contradiction):
        PenalizedGMM(2).fit(
            A8, clues=Clues(8, must=[(0, 1)], cannot=[(0, 1)], must_weight=np.inf, cannot_weight=np.inf)
        )
    triangle = Clues(8, cannot=[(0, 1), (1, 2), (0, 2)], cannot_weight=np.inf)
    with pytest.raises(Infeasible):
        PenalizedGMM(2).fit(A8, clues=triangle)
    PenalizedGMM(2).fit(A8, clues=Clues(8, must=[(0, 1)], cannot=[(0, 1)]))
    one_way = Clues(8, must=[(0, 1)], cannot=[(0, 1)], must_weight=np.inf)
    labels = PenalizedGMM(2, random_state=0).fit(A8, clues=one_way).labels_
    assert labels[0] == labels[1]


def test_kinds_that_are_not_used_are_named():
    with pytest.warns(UnusedClueWarning, match="sizes"):
        PenalizedGMM(2, random_state=0).fit(A8, clues=Clues(8, sizes=(2, 6), must=[(0, 1)], must_weight=np.inf))


def test_golden_number():
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=60, noise=0.1, random_state=0)
    model = PenalizedGMM(3, random_state=0).fit(X, clues=clues)
    assert model.lower_bound_ == pytest.approx(-0.9392368, abs=1e-6)


DEGENERATE = {
    "one row": (np.array([[1.0, 2.0]]), 1, Clues(1)),
    "constant columns": (np.column_stack([np.arange(6.0), np.ones(6), np.zeros(6)]), 2, Clues(6, cannot=[(0, 1)])),
    "equal rows": (np.ones((5, 2)), 2, Clues(5, must=[(0, 1)], cannot=[(1, 2)])),
    "more columns than rows": (
        np.random.default_rng(0).normal(size=(6, 40)),
        2,
        Clues(6, must=[(0, 5)], cannot=[(0, 1)]),
    ),
    "only must-links": (A8, 2, Clues(8, must=list(itertools.combinations(range(8), 2)))),
    "only cannot-links": (A8, 2, Clues(8, cannot=list(itertools.combinations(range(8), 2)))),
    "one cluster": (A8, 1, Clues(8, cannot=list(itertools.combinations(range(8), 2)))),
    "all pairs wrong": (A8, 2, Clues(8, must=[(0, 4), (1, 5), (2, 6)], cannot=[(0, 1), (4, 5), (1, 2)])),
    "sure and wrong": (A8, 2, Clues(8, must=[(0, 4)], must_weight=[1e6], cannot=[(0, 1)], cannot_weight=[1e6])),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("inference", ["auto", "belief-propagation", "mean-field", "gibbs"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_input(name, inference):
    X, k, clues = DEGENERATE[name]
    model = PenalizedGMM(k, inference=inference, random_state=0, max_iter=5).fit(X, clues=clues)
    for value in (model.trace_, model.weights_, model.means_, model.covariances_, model.predict_proba(X)):
        assert np.isfinite(value).all()
    assert model.weights_.sum() == pytest.approx(1)
