"""EquivalenceGMM: worked examples, scikit-learn's mixture without clues, enumeration of all labels, hard means hard."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from cluewise import Clues
from cluewise.core.loop import Limits
from cluewise.core.probability.gaussians import KINDS, prepared
from cluewise.core.rows import rows_of
from cluewise.exceptions import Contradiction, Infeasible
from cluewise.mixture._equivalence import EquivalenceGMM
from cluewise.mixture._gaussian_em import State, expect, step
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def started(model, X, clues, means, covariances=None):
    """Rows and the state of the worked examples: equal weights, given means, unit covariances."""
    from cluewise.base import Problem
    from cluewise.core.centers import scatter

    rows, k, d = rows_of(X), *np.shape(means)
    problem = Problem(rows, clues, k, scatter(rows), Limits(300, 1e-4), np.random.default_rng(0))
    covariances = np.array([np.eye(d)] * k) if covariances is None else covariances
    first = prepared("full", means - rows.shift, covariances)
    return rows, State(np.full(k, 1 / k), first, model._prepare(problem), -np.inf, None)


def one_step(rows, state):
    new, _ = step(state, rows=rows, kind="full", reg_covar=0.0, tol=0.0, rng=np.random.default_rng(0))
    return new


def likelihood_by_enumeration(X, clues, weights, means, covariances, one_draw):
    """log Σ over all labels of rows that break no clue, one by one, and the memberships that follow."""
    n, k = len(X), len(weights)
    must, _, cannot, _ = clues.pairs(expand=True)
    density = np.column_stack([multivariate_normal(m, c).logpdf(X).reshape(n) for m, c in zip(means, covariances)])
    first = np.unique(clues.components, return_index=True)[1]
    terms, labels = [], []
    for y in itertools.product(range(k), repeat=n):
        y = np.array(y)
        if (y[must[:, 0]] != y[must[:, 1]]).any() or (y[cannot[:, 0]] == y[cannot[:, 1]]).any():
            continue
        draws = np.log(weights)[y[first] if one_draw else y].sum()
        terms.append(draws + density[np.arange(n), y].sum())
        labels.append(y)
    terms, labels = np.array(terms), np.array(labels)
    total = logsumexp(terms)
    posterior = np.exp(terms - total)
    members = np.array([[posterior[labels[:, i] == h].sum() for h in range(k)] for i in range(n)])
    return total, members, labels[terms.argmax()]


def test_worked_example_of_must_links():
    """[chunklet_em]."""
    clues = Clues(8, must=[(3, 7), (4, 5)])
    rows, state = started(EquivalenceGMM(2), A8, clues, A8[[0, 4]])
    found = expect(state, rows, np.random.default_rng(0))
    assert found.bound == pytest.approx(-28.364543, abs=2e-6)
    wanted = [
        [1, 0],
        [0.999996, 4e-06],
        [0.999992, 8e-06],
        [0.68568, 0.31432],
        [0, 1],
        [0, 1],
        [0, 1],
        [0.68568, 0.31432],
    ]
    np.testing.assert_allclose(found.members.T, wanted, atol=2e-6)
    new = one_step(rows, state)
    np.testing.assert_allclose(new.weights, [0.614278, 0.385722], atol=2e-6)
    np.testing.assert_allclose(
        new.gaussians.means + rows.shift, [[0.879069, 0.940506], [3.984202, 3.937748]], atol=2e-6
    )
    np.testing.assert_allclose(
        new.gaussians.covariances,
        [[[0.763344, 0.566194], [0.566194, 0.852334]], [[1.007096, 0.747308], [0.747308, 1.009212]]],
        atol=2e-6,
    )
    assert expect(new, rows, np.random.default_rng(0)).bound == pytest.approx(-21.818196, abs=2e-6)


def test_worked_example_of_rows_as_draws():
    """[chunklet_em_pointprior]."""
    clues = Clues(8, must=[(3, 7), (4, 5)])
    rows, state = started(EquivalenceGMM(2, prior="point"), A8, clues, A8[[0, 4]])
    found = expect(state, rows, np.random.default_rng(0))
    assert found.bound == pytest.approx(-29.750837, abs=2e-6)
    np.testing.assert_allclose(found.members[:, 3], [0.68568, 0.31432], atol=2e-6)
    new = one_step(rows, state)
    np.testing.assert_allclose(new.weights, [0.546418, 0.453582], atol=2e-6)
    np.testing.assert_allclose(
        new.gaussians.means + rows.shift, [[0.879069, 0.940506], [3.984202, 3.937748]], atol=2e-6
    )
    assert expect(new, rows, np.random.default_rng(0)).bound == pytest.approx(-23.352894, abs=2e-6)


def test_worked_example_of_a_cannot_link():
    """[cl_markov_exact]."""
    rows, plain = started(EquivalenceGMM(2), A8, Clues(8), A8[[0, 4]])
    before = expect(plain, rows, np.random.default_rng(0)).members
    np.testing.assert_allclose(before[:, [3, 7]].T, [[0.989281, 0.010719], [0.02309, 0.97691]], atol=2e-6)
    rows, state = started(EquivalenceGMM(2), A8, Clues(8, cannot=[(3, 7)]), A8[[0, 4]])
    found = expect(state, rows, np.random.default_rng(0))
    np.testing.assert_allclose(found.members[:, [3, 7]].T, [[0.999744, 0.000256], [0.000256, 0.999744]], atol=2e-6)
    assert found.bound == pytest.approx(-26.382925, abs=2e-6)
    new = one_step(rows, state)
    np.testing.assert_allclose(new.weights, [0.499998, 0.500002], atol=2e-6)
    np.testing.assert_allclose(
        new.gaussians.means + rows.shift, [[0.675052, 0.675083], [3.899938, 3.924907]], atol=2e-6
    )
    assert expect(new, rows, np.random.default_rng(0)).bound == pytest.approx(-21.881695, abs=2e-6)


@pytest.mark.parametrize("data", [load_iris, load_wine])
@pytest.mark.parametrize("kind", KINDS)
def test_without_clues_it_is_the_mixture_of_scikit_learn(kind, data):
    X = data().data
    labels = KMeans(3, n_init=1, random_state=0).fit(X).labels_  # the start of GaussianMixture(random_state=0)
    scale = np.abs(X).max()
    for iterations in (1, 2, 7, 30):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            plain = GaussianMixture(3, covariance_type=kind, random_state=0, max_iter=iterations, tol=0).fit(X)
        model = EquivalenceGMM(3, covariance_type=kind, init=np.eye(3)[labels], max_iter=iterations, tol=0).fit(X)
        np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-8, atol=1e-8 * scale)
        np.testing.assert_allclose(model.covariances_, plain.covariances_, rtol=1e-8, atol=1e-8 * scale**2)
        np.testing.assert_allclose(model.weights_, plain.weights_, rtol=1e-8, atol=1e-10)
        assert model.lower_bound_ == pytest.approx(plain.lower_bound_, abs=1e-8)
        assert model.objective_ == -model.lower_bound_
        np.testing.assert_array_equal(model.labels_, plain.predict(X))
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-7)
        np.testing.assert_allclose(model.score_samples(X), plain.score_samples(X), rtol=1e-7)
    assert model.inference_ == {}


def test_stops_where_scikit_learn_stops():
    X = load_iris().data
    labels = KMeans(3, n_init=1, random_state=0).fit(X).labels_
    plain = GaussianMixture(3, random_state=0).fit(X)
    model = EquivalenceGMM(3, init=np.eye(3)[labels]).fit(X)
    assert model.n_iter_ == plain.n_iter_
    assert len(model.trace_) == model.n_iter_


@given(st.integers(0, 2**16), st.sampled_from(["chunklet", "point"]), st.integers(2, 3))
def test_expectation_is_enumeration_over_all_labels(seed, prior, k):
    rng = np.random.default_rng(seed)
    n = 7 if k == 2 else 6
    X = 2 * rng.normal(size=(n, 2))
    truth = rng.permutation(np.append(np.arange(k), rng.integers(k, size=n - k)))
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    pairs = pairs[rng.random(len(pairs)) < 0.35]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    clues = Clues(n, must=pairs[same], cannot=pairs[~same])
    means = rng.normal(size=(k, 2))
    covariances = np.array([np.eye(2) * rng.uniform(0.3, 2) for _ in range(k)])
    model = EquivalenceGMM(k, prior=prior)
    rows, state = started(model, X, clues, means, covariances)
    state = state._replace(weights=rng.dirichlet(np.full(k, 3.0)))
    found = expect(state, rows, rng)
    total, members, best = likelihood_by_enumeration(
        X, clues, state.weights, means, covariances, one_draw=prior == "chunklet"
    )
    assert found.bound == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(found.members.T, members, atol=1e-9)
    from cluewise.mixture._gaussian_em import labels_of

    np.testing.assert_array_equal(labels_of(state._replace(nodes=found.nodes), rows).labels, best)


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


@given(cases(PAIR_KINDS, max_columns=2), st.sampled_from(KINDS), st.sampled_from(["chunklet", "point"]))
def test_likelihood_never_falls_where_inference_is_exact(case, kind, prior):
    model = EquivalenceGMM(
        case.k, covariance_type=kind, prior=prior, inference="exact", reg_covar=0, tol=0, max_iter=40
    )
    model.set_params(random_state=case.seed, exact_size=10**6)
    trace = traced(model, case)
    assert np.diff(trace).max(initial=-1) <= 1e-9 * (1 + np.abs(trace).max())


@given(cases(PAIR_KINDS, max_columns=3), st.sampled_from(["auto", "belief-propagation", "mean-field", "gibbs"]))
def test_every_clue_holds_however_it_was_inferred(case, inference):
    model = EquivalenceGMM(case.k, inference=inference, exact_size=50, max_iter=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(case.X, clues=case.clues).labels_
    must, _, cannot, _ = case.clues.pairs(expand=True)
    assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
    assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
    assert np.isfinite(model.trace_).all()
    assert not model.broken_.kinds


def test_labels_of_single_rows_would_break_a_cannot_link():
    """Two rows in one place: the likelier cluster of each is the same, the likeliest labels of both are not."""
    X = np.array([[0.0], [0.1], [-0.1], [0.05], [-0.05], [9.0], [9.2], [8.8]])
    clues = Clues(8, cannot=[(3, 4)])
    model = EquivalenceGMM(2, init=[[0.0], [9.0]], max_iter=1).fit(X, clues=clues)
    assert model.predict(X)[3] == model.predict(X)[4]
    assert model.labels_[3] != model.labels_[4]
    assert model.inference_ == {"exact": 1}


def test_large_components_are_approximated_and_say_so():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = 4 * np.eye(3)[y] + rng.normal(size=(60, 3))
    pairs = np.array([(a, b) for a, b in itertools.combinations(range(60), 2) if y[a] != y[b] and rng.random() < 0.3])
    clues = Clues(60, cannot=pairs)
    model = EquivalenceGMM(3, random_state=0).fit(X, clues=clues)
    assert set(model.inference_) <= {"belief-propagation", "mean-field"}
    assert sum(model.inference_.values()) == 1
    assert adjusted_rand_score(y, model.labels_) == 1
    with pytest.raises(ValueError, match="exact_size"):
        EquivalenceGMM(3, inference="exact", random_state=0).fit(X, clues=clues)


def test_members_of_a_chunklet_have_equal_memberships():
    """Even where their densities disagree; and a chunklet is one draw, so that it does not make its cluster large."""
    X = load_iris().data
    clues = Clues(150, together=np.where(np.arange(150) < 40, 0, -1))
    rows, state = started(EquivalenceGMM(3), X, clues, X[[0, 60, 120]])
    found = expect(state, rows, np.random.default_rng(0))
    assert np.ptp(found.members[:, :40], axis=1).max() == 0
    counts = {}
    for prior in ("chunklet", "point"):
        model = EquivalenceGMM(3, prior=prior, init=X[[0, 60, 120]]).fit(X, clues=clues)
        counts[prior] = model.weights_[model.labels_[0]]
    assert counts["chunklet"] < 0.15
    assert counts["point"] == pytest.approx(1 / 3, abs=0.01)


def test_labels_are_chunklets_that_exclude_each_other():
    X, y = load_iris(return_X_y=True)
    told = np.where(np.arange(150) % 5 == 0, y, -1)
    model = EquivalenceGMM(3, random_state=0).fit(X, clues=told)
    assert len(set(zip(told[told >= 0], model.labels_[told >= 0]))) == 3
    assert model.inference_ == {"exact": 1}
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_golden_number():
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=60, random_state=0)
    model = EquivalenceGMM(3, random_state=0).fit(X, clues=clues)
    assert model.lower_bound_ == pytest.approx(-1.0637447, abs=1e-6)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) + 3])
    weight = rng.integers(0, 4, size=30)
    weight[[0, 1, 20, 21]] = 1
    clues = Clues(30, must=[(0, 1)], cannot=[(20, 21), (1, 20)])
    rows = np.repeat(np.arange(30), weight)
    place = {row: int(np.flatnonzero(rows == row)[0]) for row in (0, 1, 20, 21)}
    again = Clues(len(rows), must=[(place[0], place[1])], cannot=[(place[20], place[21]), (place[1], place[20])])
    first = EquivalenceGMM(2, init=[[0.0, 0], [3, 3]], max_iter=5, tol=0)
    second = EquivalenceGMM(2, init=[[0.0, 0], [3, 3]], max_iter=5, tol=0)
    first.fit(X, clues=clues, sample_weight=weight.astype(float))
    second.fit(X[rows], clues=again)
    np.testing.assert_allclose(first.weights_, second.weights_)
    np.testing.assert_allclose(first.means_, second.means_)
    np.testing.assert_allclose(first.covariances_, second.covariances_)
    np.testing.assert_allclose(first.trace_, second.trace_)


@pytest.mark.parametrize("init", ["k-means", "k-means++", "random"])
@pytest.mark.parametrize("clued", [False, True])
def test_named_starts(init, clued):
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=30, random_state=0) if clued else None
    model = EquivalenceGMM(3, init=init, n_init=5, random_state=0).fit(X, clues=clues)
    again = EquivalenceGMM(3, init=init, n_init=5, random_state=0).fit(X, clues=clues)
    np.testing.assert_array_equal(model.trace_, again.trace_)
    assert adjusted_rand_score(y, model.labels_) > 0.5
    with pytest.raises(ValueError, match="init='nowhere' is not one of"):
        EquivalenceGMM(3, init="nowhere").fit(X, clues=clues)


def test_given_memberships_are_checked():
    X = load_iris().data
    bad = np.full((150, 3), 0.5)
    with pytest.raises(ValueError, match="memberships that are negative or rows that do not sum to 1"):
        EquivalenceGMM(3, init=bad).fit(X)
    with pytest.raises(ValueError, match="init needs shape"):
        EquivalenceGMM(3, init=bad[:5]).fit(X)


def test_a_callable_start():
    X = load_iris().data

    def first_rows(X, k, random_state):
        return X[[0, 60, 120]]

    one = EquivalenceGMM(3, init=first_rows).fit(X)
    two = EquivalenceGMM(3, init=X[[0, 60, 120]]).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_contradictions_and_too_few_clusters_are_refused():
    X = A8
    with pytest.raises(Contradiction, match="0 - 1 - 2"):
        EquivalenceGMM(3).fit(X, clues=Clues(8, must=[(0, 1), (1, 2)], cannot=[(0, 2)]))
    with pytest.raises(Infeasible, match="needs 3 clusters"):
        EquivalenceGMM(2).fit(X, clues=Clues(8, cannot=[(0, 1), (1, 2), (0, 2)]))
    with pytest.raises(Infeasible):
        EquivalenceGMM(1).fit(X, clues=Clues(8, cannot=[(0, 1)]))


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
    "only cannot-links": (A8, 8, Clues(8, cannot=list(itertools.combinations(range(8), 2)))),
    "all pairs wrong": (A8, 2, Clues(8, must=[(0, 4), (1, 5), (2, 6)], cannot=[(0, 1), (4, 5), (1, 2)])),
    "as many clusters as rows": (A8, 8, Clues(8)),
    "far away": (A8 * 1e-3 + 1e5, 2, Clues(8, must=[(3, 7)])),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("kind", KINDS)
def test_degenerate_input(name, kind):
    X, k, clues = DEGENERATE[name]
    model = EquivalenceGMM(k, covariance_type=kind, random_state=0).fit(X, clues=clues)
    for value in (model.trace_, model.weights_, model.means_, model.covariances_, model.predict_proba(X)):
        assert np.isfinite(value).all()
    assert model.weights_.sum() == pytest.approx(1)
    assert not model.broken_.kinds


def test_without_regularization_a_collapse_is_an_error():
    with pytest.raises(ValueError, match="is singular: its rows are too few"):
        EquivalenceGMM(2, reg_covar=0.0, random_state=0).fit(np.ones((5, 2)))


def test_an_interrupted_fit_leaves_a_model():
    class Interrupt:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "iteration" and context.task_id == 2:
                raise KeyboardInterrupt

    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, pairs=40, random_state=1)
    model = EquivalenceGMM(3, tol=0, random_state=0).set_callbacks(Interrupt())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert model.n_iter_ == 3
    short = EquivalenceGMM(3, tol=0, max_iter=3, random_state=0).fit(X, clues=clues)
    np.testing.assert_array_equal(model.labels_, short.labels_)
    np.testing.assert_array_equal(model.means_, short.means_)
