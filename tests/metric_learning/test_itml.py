"""ITML: projections against the specification, the dual, an independent solver, and odd input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.exceptions import ClueWarning, Contradiction
from cluewise.metric_learning import _itml
from cluewise.metric_learning._itml import ITML
from cluewise.metric_learning._pairs import any_pairs, sample_pairs

TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)


def random_case(seed, n=12, d=3, pairs=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, Clues.sample(rng.integers(3, size=n), pairs=pairs, random_state=seed)


def primal(A, xi, asked, trust):
    """D(A, I) + γ Σ (ξ/ξ₀ − log(ξ/ξ₀) − 1), as the paper has it."""
    ratio = xi / asked.bound
    return np.trace(A) - np.linalg.slogdet(A)[1] - len(A) + trust * (ratio - np.log(ratio) - 1).sum()


def solved(X, clues, trust, bounds, **settings):
    """A fitted model with the state that it ended in."""
    kept = {}

    class Watched(ITML):
        def _metric_of(self, state, dtype):
            kept["state"] = state
            return super()._metric_of(state, dtype)

    model = Watched(trust=trust, bounds=bounds, **settings).fit(X, clues=clues)
    return model, kept["state"]


# --- the specification ------------------------------------------------------------------------------------------------


def test_worked_example():
    clues = Clues(8, must=[(0, 2)], cannot=[(2, 3)])
    model = ITML(trust=1.0, bounds=(1, 9), max_iter=1).fit(TOY8, clues=clues)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), [[1.3846153846, 0], [0, 1]], atol=1e-9)


def test_half_steps_of_the_worked_example():
    clues = Clues(8, must=[(0, 2)], cannot=[(2, 3)])
    _, state = solved(TOY8, clues, 1.0, (1, 9), max_iter=1)
    np.testing.assert_allclose(state.multiplier, [0, 0.069444], atol=1e-6)  # the must-link already has its bound
    np.testing.assert_allclose(state.bound, [1, 5.538462], atol=1e-6)


def test_general_gamma_is_a_projection_and_the_printed_step_is_not():
    """Erratum: δ/2·(1/p − γ/ξ) agrees only for γ = 1; after a projection the pair has the distance of its bound."""
    clues = Clues(8, cannot=[(2, 3)])
    for trust in (0.2, 1.0, 5.0):
        model, state = solved(TOY8, clues, trust, (1, 9), max_iter=1)
        off = TOY8[2] - TOY8[3]
        np.testing.assert_allclose(off @ model.get_mahalanobis_matrix() @ off, state.bound[0])
        alpha = -trust / (trust + 1) * (1 / 4 - 1 / 9)
        np.testing.assert_allclose(state.multiplier, [-alpha])
        assert np.isclose(alpha, -0.5 * (1 / 4 - trust / 9)) == (trust == 1)


def test_default_bounds_are_percentiles_of_squared_distances_of_rows_that_differ():
    X = np.repeat(TOY8, 3, axis=0)
    squared = ((TOY8[:, None] - TOY8) ** 2).sum(axis=2)[np.triu_indices(8, 1)]
    model = ITML().fit(X, clues=Clues(24, must=[(0, 3)]))
    np.testing.assert_allclose(model.bounds_, np.percentile(np.repeat(squared, 9), [5, 95]))


# --- the objective ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**16), st.sampled_from([0.1, 1.0, 10.0]))
def test_dual_never_rises_and_the_matrix_stays_positive_definite(seed, trust):
    X, clues = random_case(seed)
    model, state = solved(X, clues, trust, None)
    assert (np.diff(model.trace_) <= 1e-9).all()
    np.testing.assert_array_equal(state.A, state.A.T)
    assert np.linalg.eigvalsh(state.A)[0] > 0
    assert (state.multiplier >= 0).all()
    # The matrix is what its multipliers say (stationarity of the Lagrangian).
    must, _, cannot, _ = clues.pairs(expand=True)
    pairs, sign = np.concatenate([must, cannot]), np.repeat([1, -1], [len(must), len(cannot)])
    off = X[pairs[:, 0]] - X[pairs[:, 1]]
    np.testing.assert_allclose(
        np.linalg.inv(state.A), np.eye(3) + (off.T * (sign * state.multiplier)) @ off, rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("seed", range(3))
def test_solution_is_that_of_a_general_solver(seed):
    X, clues = random_case(seed, d=2, pairs=5)
    trust, bounds = 0.7, (0.5, 4.0)
    model, state = solved(X, clues, trust, bounds, tol=1e-10, max_iter=20000)
    pairs = np.concatenate([clues.must, clues.cannot])
    sign = np.repeat([1.0, -1.0], [len(clues.must), len(clues.cannot)])
    asked = _itml.Bounds(pairs, sign, np.full(len(pairs), 1 / trust), np.where(sign > 0, *bounds), None)
    off = X[pairs[:, 0]] - X[pairs[:, 1]]

    def unpack(v):
        low = np.array([[v[0], 0], [v[1], v[2]]])
        return low @ low.T, v[3:]

    def room(v):
        A, xi = unpack(v)
        return sign * (xi - np.einsum("ij,jk,ik->i", off, A, off))

    start = np.concatenate([[1, 0, 1], np.einsum("ij,ij->i", off, off)])
    limits = [(1e-3, None), (None, None), (1e-3, None), *[(1e-3, None)] * len(pairs)]
    best = minimize(
        lambda v: primal(*unpack(v), asked, trust),
        start,
        bounds=limits,
        constraints={"type": "ineq", "fun": room},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert best.success
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), unpack(best.x)[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(-model.objective_, best.fun, rtol=1e-5)  # no gap between primal and dual
    np.testing.assert_allclose(primal(state.A, state.bound, asked, trust), best.fun, rtol=1e-4)


def test_hard_bounds_hold():
    clues = Clues(8, must=[(0, 1)], cannot=[(2, 3)])
    for trust, weight in ((np.inf, 1.0), (1.0, np.inf)):
        hard = Clues(8, must=clues.must, cannot=clues.cannot, must_weight=weight, cannot_weight=weight)
        model, state = solved(TOY8, hard, trust, (0.25, 9.0), tol=1e-12)
        np.testing.assert_allclose(model.pair_distance(TOY8[[0, 2]], TOY8[[1, 3]]) ** 2, [0.25, 9.0], rtol=1e-9)
        np.testing.assert_array_equal(state.bound, [0.25, 9.0])
        assert (np.diff(model.trace_) <= 1e-12).all()


def test_weight_is_the_price_of_slack():
    clues = Clues(8, must=[(0, 1)], cannot=[(2, 3)], must_weight=[3.0], cannot_weight=[3.0])
    weighted = ITML(trust=0.5).fit(TOY8, clues=clues)
    trusted = ITML(trust=1.5).fit(TOY8, clues=Clues(8, must=[(0, 1)], cannot=[(2, 3)]))
    np.testing.assert_allclose(weighted.components_, trusted.components_)


def test_stops_by_the_multipliers():
    X, clues = random_case(3)
    rough, fine = (ITML(trust=1.0, tol=tol).fit(X, clues=clues) for tol in (0.5, 1e-6))
    assert rough.n_iter_ < fine.n_iter_ < 1000
    assert len(fine.trace_) == fine.n_iter_
    assert fine.objective_ == fine.trace_[-1]


def test_prior_is_what_no_pair_speaks_against():
    X, clues = random_case(5)
    prior = np.diag([1.0, 2.0, 5.0])
    close = ITML(trust=1e-9, prior=prior).fit(X, clues=clues)
    np.testing.assert_allclose(close.get_mahalanobis_matrix(), prior, rtol=1e-6, atol=1e-6)
    nothing = ITML(prior=prior).fit(X)
    np.testing.assert_allclose(nothing.get_mahalanobis_matrix(), prior, rtol=1e-12, atol=1e-12)


def test_no_direction_is_lost_where_units_differ():
    """A positive definite matrix has full rank, whatever the ratio of its eigenvalues in raw units is."""
    X, clues = random_case(1, n=40, d=2)
    units = np.array([1.0, 1e6])
    with_clues = ITML(prior=np.diag(1 / units**2)).fit(X * units, clues=clues)
    assert with_clues.n_components_ == 2
    plain = ITML().fit(X, clues=clues).pair_distance(X[1:], X[:-1])
    np.testing.assert_allclose(with_clues.pair_distance(X[1:] * units, X[:-1] * units), plain, rtol=1e-6)
    assert ITML(prior=np.diag(1 / units**2)).fit(X * units).n_components_ == 2


def test_a_matrix_that_rounding_made_singular_is_published():
    model = ITML()
    model._write(model._metric_of(_itml.State(np.ones((2, 2)) * 2.0, np.zeros(1), np.ones(1)), np.float64))
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), 2 * np.ones((2, 2)))


def test_slices_and_rows_taken_anew_change_nothing(monkeypatch):
    X, clues = random_case(7)
    whole = ITML().fit(X, clues=clues)
    monkeypatch.setattr(_itml, "KEPT", 6)
    monkeypatch.setattr(_itml, "SLICE", 7)
    np.testing.assert_array_equal(ITML().fit(X, clues=clues).components_, whole.components_)


def test_golden_number():
    X = StandardScaler().fit_transform(load_iris().data)
    labels = np.where(np.arange(150) % 10 == 0, load_iris().target, -1)
    model = ITML(random_state=0).fit(X, clues=labels)
    np.testing.assert_allclose(model.objective_, -6.11856048, rtol=1e-6)


# --- pairs from labels ------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**16), st.integers(1, 4), st.integers(1, 400))
def test_pairs_drawn_from_labels(seed, k, limit):
    rng = np.random.default_rng(seed)
    y = rng.integers(-1, k, size=25)
    drawn = sample_pairs(Clues.from_labels(y), limit, rng)
    ends = drawn.ends
    rows = np.flatnonzero(y >= 0)
    every = len(rows) * (len(rows) - 1) // 2
    assert len(ends) == min(limit, every)
    assert len(np.unique(ends, axis=0)) == len(ends)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert (y[ends] >= 0).all()
    np.testing.assert_array_equal((y[ends[:, 0]] == y[ends[:, 1]]), drawn.is_must)
    same = sum(int((y == c).sum()) * (int((y == c).sum()) - 1) // 2 for c in range(k))
    must = len(drawn.must)
    if every > limit:  # half of each kind, unless there are not so many
        assert must == min(same, max(limit // 2, limit - (every - same)))


def test_drawn_pairs_are_drawn_alike():
    y = np.repeat([0, 1, 2], [2, 3, 5])
    clues = Clues.from_labels(y)
    counts = np.zeros((10, 10))
    for seed in range(4000):
        pairs = sample_pairs(clues, 6, np.random.default_rng(seed)).ends
        counts[pairs[:, 0], pairs[:, 1]] += 1
    same = (y[:, None] == y) & np.triu(np.ones((10, 10), bool), 1)
    other = ~(y[:, None] == y) & np.triu(np.ones((10, 10), bool), 1)
    for kind in (same, other):
        expected = 4000 * 3 / kind.sum()
        assert abs(counts[kind] - expected).max() < 5 * np.sqrt(expected)


def test_groups_are_drawn_with_their_weights_and_given_pairs_are_all_there():
    groups = np.repeat([0, 1], 20)
    clues = Clues(
        40,
        must=[(0, 39)],
        cannot=[(0, 1)],
        together=groups,
        together_weight=[2.0, 3.0],
        apart=np.tile(np.arange(20), 2),
        apart_weight=5.0,
    )
    drawn = sample_pairs(clues, 32, np.random.default_rng(0))
    assert len(drawn.ends) <= 32
    sign = np.where(drawn.is_must, 1.0, -1.0)
    listed = {(int(i), int(j), float(s)): w for (i, j), s, w in zip(drawn.ends, sign, drawn.weight)}
    assert (0, 39, 1.0) in listed
    assert (0, 1, -1.0) in listed
    for (i, j, sign), weight in listed.items():
        if (i, j) not in {(0, 39), (0, 1)}:
            assert weight == (5.0 if sign < 0 else 2.0 + groups[i])
            assert (groups[i] == groups[j]) == (sign > 0)
    every = sample_pairs(clues, 5, np.random.default_rng(0))
    assert {(0, 39), (0, 1)} <= set(map(tuple, every.ends.tolist()))


def test_fit_with_drawn_pairs_repeats():
    X, y = load_iris(return_X_y=True)
    fits = [ITML(max_pairs=200, random_state=seed).fit(X, clues=y) for seed in (0, 0, 1)]
    assert fits[0].n_pairs_ == 200
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    assert abs(fits[0].components_ - fits[2].components_).max() > 1e-3


def test_pairs_for_percentiles():
    assert len(any_pairs(5, 10, np.random.default_rng(0))) == 10
    drawn = any_pairs(1000, 500, np.random.default_rng(0))
    assert drawn.shape == (500, 2)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert drawn.max() < 1000


# --- odd input --------------------------------------------------------------------------------------------------------


def test_duplicates_are_left_out():
    X = np.vstack([TOY8, TOY8[2]])
    clues = Clues(9, must=[(0, 1)], cannot=[(2, 8), (2, 3)])
    model = ITML().fit(X, clues=clues)
    assert model.n_pairs_ == 2
    without = ITML(bounds=model.bounds_).fit(X, clues=Clues(9, must=[(0, 1)], cannot=[(2, 3)]))
    np.testing.assert_array_equal(model.components_, without.components_)


@pytest.mark.parametrize("kind", ["must", "cannot"])
def test_one_kind_of_links(kind):
    model = ITML(trust=1.0).fit(TOY8, clues=Clues(8, **{kind: [(0, 1), (2, 6), (3, 4)]}))
    M = model.get_mahalanobis_matrix()
    assert np.isfinite(M).all()
    assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize(
    ("X", "clues"),
    [
        (TOY8, None),
        (np.ones((4, 2)), Clues(4, must=[(0, 1)], cannot=[(1, 2)])),
        (np.ones((1, 3)), None),
        (TOY8, Clues(8, labels=[0, -1, -1, -1, -1, -1, -1, -1])),
    ],
)
def test_nothing_to_learn(X, clues):
    with pytest.warns(ClueWarning, match="no clue joins or parts"):
        model = ITML().fit(X, clues=clues)
    np.testing.assert_array_equal(model.get_mahalanobis_matrix(), np.eye(X.shape[1]))


def test_links_of_weight_zero_say_nothing():
    X, clues = random_case(4)
    free = next((0, j) for j in range(1, 12) if [0, j] not in clues.must.tolist() + clues.cannot.tolist())
    with np.errstate(all="raise"):
        model = ITML(bounds=(1, 4)).fit(X, clues=clues | Clues(12, must=[free], must_weight=[0.0]))
    plain = ITML(bounds=(1, 4)).fit(X, clues=clues)
    assert model.n_pairs_ == plain.n_pairs_
    np.testing.assert_array_equal(model.components_, plain.components_)


def test_certain_clues_must_not_contradict_each_other():
    certain = {"must": [(0, 1)], "must_weight": [np.inf], "cannot": [(0, 1)]}
    with pytest.raises(Contradiction, match="rows 0 and 1 must be apart"):
        ITML().fit(TOY8, clues=Clues(8, **certain, cannot_weight=[np.inf]))
    ITML().fit(TOY8, clues=Clues(8, **certain, cannot_weight=[1.0]))
    ITML().fit(TOY8, clues=Clues(8, labels=[0, 1, -1, -1, -1, -1, -1, -1], must=[(0, 1)], must_weight=[np.inf]))


def test_bounds_without_slack_that_no_metric_meets_are_named():
    X = np.array([[0.0], [1], [5], [6]])  # both pairs are one length apart, whatever the metric
    clues = Clues(4, must=[(0, 1)], must_weight=[np.inf], cannot=[(2, 3)], cannot_weight=[np.inf])
    with pytest.warns(ConvergenceWarning, match=r"the (must|cannot)-link of rows \d and \d, which has no slack"):
        ITML(bounds=(1, 9), max_iter=50).fit(X, clues=clues)


@pytest.mark.filterwarnings("ignore:the .* which has no slack")
@pytest.mark.parametrize("trust", [0.1, 10.0, np.inf])
def test_contradictory_and_awkward_rows_give_finite_metrics(trust):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(12, 30)), np.full(12, 3.0)])  # more columns than rows, a constant one
    X[5] = X[4] + 1e-9
    clues = Clues(12, must=[(0, 1), (4, 5)], cannot=[(0, 1), (4, 6), (4, 5)])
    model = ITML(trust=trust, max_iter=50).fit(X, clues=clues)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.trace_).all()


def test_single_precision_and_few_components():
    X, clues = random_case(2)
    single = ITML().fit(X.astype(np.float32), clues=clues)
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.components_, ITML().fit(X, clues=clues).components_, rtol=1e-3, atol=1e-4)
    few = ITML(n_components=2).fit(X, clues=clues)
    assert few.transform(X).shape == (12, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": (1,)}, "bounds must be two positive numbers"),
        ({"bounds": (0, 1)}, "bounds must be two positive numbers"),
        ({"bounds": ("near", "far")}, "bounds must be two positive numbers"),
        ({"prior": [["a", "b"], ["c", "d"]]}, "prior must be a symmetric matrix"),
        ({"prior": [[1, 0], [1]]}, "prior must be a symmetric matrix"),
        ({"prior": np.eye(3)}, r"prior must be a symmetric matrix of shape \(2, 2\)"),
        ({"prior": [[1, 1], [0, 1]]}, "prior must be a symmetric matrix"),
        ({"prior": [[1, 0], [0, 0]]}, "prior is not positive definite"),
        ({"trust": 0.0}, "'trust' parameter"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        ITML(**settings).fit(TOY8, clues=Clues(8, must=[(0, 1)]))


def test_interrupt_leaves_the_last_sweep(monkeypatch):
    class Stop:
        def setup(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context):
            if context.task_name == "iteration" and context.task_id == 2:
                raise KeyboardInterrupt

        def on_fit_task_end(self, estimator, context): ...

        def teardown(self, estimator, context): ...

    X, clues = random_case(1)
    model = ITML(tol=0.0).set_callbacks(Stop())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.components_, ITML(tol=0.0, max_iter=3).fit(X, clues=clues).components_)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_itml, "project_pairs", interrupted)
    early = ITML()
    with pytest.raises(KeyboardInterrupt):
        early.fit(X, clues=clues)
    assert not hasattr(early, "components_")
