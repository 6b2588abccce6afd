"""XingMetric: worked examples step by step, optima against other solvers, and poor input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cluewise import Clues
from cluewise.core.distances import metric
from cluewise.exceptions import ClueError, ClueWarning
from cluewise.metric_learning import _lengths, _xing
from cluewise.metric_learning._lengths import Differences, Weights
from cluewise.metric_learning._xing import XingMetric

DIAGONAL = np.array([[0, 0], [1, 0.2], [4, 0], [4.3, 1], [0, 4], [-0.5, 4.8]])
SIX = Clues(6, must=[(0, 1), (2, 3), (4, 5)], cannot=[(0, 2), (0, 4), (1, 3), (2, 4), (3, 5)])
FULL = np.array([[0, 0], [4, 0], [0, 4], [4, 4], [0.5, 0.1], [3.9, 4.6]])
FOUR = Clues(6, must=[(0, 4), (3, 5)], cannot=[(0, 1), (0, 2), (0, 3), (1, 2)])
TOY8 = np.array([[0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]], dtype=float)


def parts(X, clues):
    """Differences and weights of must- and of cannot-links."""
    must, w, cannot, v = clues.pairs(expand=True)
    return X[must[:, 0]] - X[must[:, 1]], w, X[cannot[:, 0]] - X[cannot[:, 1]], v


def lengths(off, A):
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", off, A, off), 0))


def problem(seed, d=None):
    """Rows around three centers, with 25 links of each kind of different weights."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5)) if d is None else d
    y = rng.integers(3, size=40)
    X = 2 * rng.normal(size=(3, d))[y] + rng.normal(size=(40, d)) * rng.uniform(0.2, 3, size=d)
    ends = rng.integers(40, size=(200, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]]), axis=0)
    ends = ends[rng.permutation(len(ends))]
    same = y[ends[:, 0]] == y[ends[:, 1]]
    must, cannot = ends[same][:25], ends[~same][:25]
    weights = {"must_weight": rng.uniform(0.5, 2, len(must)), "cannot_weight": rng.uniform(0.5, 2, len(cannot))}
    return X, Clues(40, must=must, cannot=cannot, **weights)


def test_worked_diagonal_example_step_by_step():
    near, _, _, v = parts(DIAGONAL, SIX)
    apart, s = Differences(DIAGONAL, SIX.cannot, v), (near**2).sum(axis=0)
    state, trace = Weights(np.ones(2), s), []
    assert _lengths.cost(apart, state) == pytest.approx(-0.123054, abs=2e-6)
    for _ in range(8):
        state, info = _lengths.newton_step(state, apart=apart)
        trace.append(info.objective)
    np.testing.assert_allclose(trace[:5], [-1.348603, -1.757647, -1.780487, -1.818069, -1.822546], atol=2e-6)
    np.testing.assert_allclose(state.a, [0.332648, 0.032293], atol=2e-6)
    assert s @ state.a == pytest.approx(0.5)


def test_a_step_that_cannot_fall_stays(monkeypatch):
    near, _, _, v = parts(DIAGONAL, SIX)
    state = Weights(np.ones(2), (near**2).sum(axis=0))
    monkeypatch.setattr(_lengths, "cost", lambda apart, state: np.inf)
    new, info = _lengths.newton_step(state, apart=Differences(DIAGONAL, SIX.cannot, v))
    assert new is state
    assert info.moved == 0
    assert info.objective == pytest.approx(-0.123054, abs=2e-6)


def test_worked_diagonal_example():
    model = XingMetric(shape="diagonal", shrinkage=0).fit(DIAGONAL, clues=SIX)
    M = model.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, np.diag([0.332648, 0.032293]), atol=2e-6)
    assert model.objective_ == pytest.approx(-1.82262, abs=2e-6)
    np.testing.assert_allclose(model.transform(DIAGONAL), DIAGONAL * np.sqrt(np.diag(M)))


def test_diagonal_example_of_the_seed():
    """One column ends at zero: it is left out."""
    clues = Clues(8, must=[(0, 1), (0, 2), (4, 5)], cannot=[(2, 3), (5, 6)])
    model = XingMetric(shape="diagonal", shrinkage=0, tol=1e-14).fit(TOY8, clues=clues)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), np.diag([0.5, 0]), atol=2e-6)
    assert model.objective_ == pytest.approx(-0.762864, abs=2e-6)
    a = model.get_mahalanobis_matrix()[0, 0]
    assert a / model.pair_distance(TOY8[[2, 5]], TOY8[[3, 6]]).sum() ** 2 == pytest.approx(0.04)


def test_worked_full_example():
    model = XingMetric(shrinkage=0, tol=1e-14).fit(FULL, clues=FOUR)
    A = model.get_mahalanobis_matrix()
    np.testing.assert_allclose(A, [[2.98328, 0.213436], [0.213436, 0.617881]], atol=2e-6)
    np.testing.assert_allclose(np.linalg.eigvalsh(A), [0.598776, 3.002384], atol=2e-6)
    assert model.objective_ == pytest.approx(-25.207683, abs=2e-6)
    near, *_ = parts(FULL, FOUR)
    assert (lengths(near, A) ** 2).sum() == pytest.approx(1)


def by_projections(near, far, steps=4000):
    """Algorithm 10 with its errata: gradient steps along the must-links, projections on both sets, rescaled."""
    M, d = near.T @ near, near.shape[1]
    A, step, best = np.eye(d) / np.trace(M), 0.1, -np.inf
    good = A
    for _ in range(steps):
        for _ in range(100):
            f = (A * M).sum()
            if f > 1:
                A = A + (1 - f) * M / (M**2).sum()
            values, vectors = np.linalg.eigh((A + A.T) / 2)
            A = (vectors * np.maximum(values, 0)) @ vectors.T
            if (A * M).sum() <= 1 + 1e-10:
                break
        A = A / (A * M).sum()
        g = lengths(far, A).sum()
        if g > best:
            good, best, step = A, g, 1.05 * step
        else:
            step /= 2
        slope = 0.5 * (far.T / np.maximum(lengths(far, good), 1e-12)) @ far
        A = good + step * (slope - (slope * M).sum() * M / (M**2).sum())
    return good, best


def test_full_metric_is_that_of_the_published_algorithm():
    near, _, far, _ = parts(FULL, FOUR)
    A, g = by_projections(near, far)
    model = XingMetric(shrinkage=0, tol=1e-14).fit(FULL, clues=FOUR)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), A, atol=1e-3)
    assert -1e-9 * g <= -model.objective_ - g <= 1e-6 * g


@settings(max_examples=15)
@given(st.integers(0, 2**16))
def test_full_metric_is_the_optimum(seed):
    """The tangent of the concave g bounds all feasible metrics: λ_max of M^{−1/2} ∇g M^{−1/2} bounds g from above."""
    X, clues = problem(seed)
    near, w, far, v = parts(X, clues)
    model = XingMetric(shrinkage=0, tol=1e-13, max_iter=5000).fit(X, clues=clues)
    A = model.get_mahalanobis_matrix()
    assert (w @ lengths(near, A) ** 2) == pytest.approx(1)
    g = v @ lengths(far, A)
    assert -model.objective_ == pytest.approx(g)
    slope = 0.5 * (far.T * (v / lengths(far, A))) @ far
    white = metric.whitening((near.T * w) @ near)
    bound = g + np.linalg.eigvalsh(white @ slope @ white.T)[-1] - (slope * A).sum()
    assert bound - g <= 1e-4 * g
    assert (np.diff(model.trace_) <= 1e-9 * g).all()


@settings(max_examples=15)
@given(st.integers(0, 2**16))
def test_diagonal_metric_is_the_optimum(seed):
    """Against a general solver in the square roots of the weights."""
    X, clues = problem(seed)
    near, w, far, v = parts(X, clues)
    s = w @ near**2
    model = XingMetric(shape="diagonal", shrinkage=0, tol=1e-13).fit(X, clues=clues)
    a = np.diag(model.get_mahalanobis_matrix())
    assert s @ a == pytest.approx(0.5, rel=1e-4)  # stationary along its own direction

    def F(b):
        return s @ b**2 - np.log(v @ np.sqrt(far**2 @ b**2))

    other = minimize(F, np.sqrt(0.5 / s / len(s)), method="BFGS", options={"gtol": 1e-9})
    assert model.objective_ <= other.fun + 1e-7
    assert (np.diff(model.trace_) <= 1e-9).all()


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_units_do_not_matter(shape):
    X, clues = problem(5, d=3)
    units = np.array([1e-3, 1.0, 1e4])
    plain = XingMetric(shape=shape, shrinkage=0, tol=1e-12).fit(X, clues=clues)
    other = XingMetric(shape=shape, shrinkage=0, tol=1e-12).fit(X * units, clues=clues)
    expected = plain.get_mahalanobis_matrix() / np.outer(units, units)
    scale = 1 / np.outer(units, units)
    np.testing.assert_allclose(other.get_mahalanobis_matrix() / scale, expected / scale, atol=1e-4)


def test_full_metric_follows_any_change_of_columns():
    X, clues = problem(7, d=3)
    T = np.array([[1, 2, 0], [0, 1, -1], [3, 0, 1.0]])
    A, B = (XingMetric(shrinkage=0, tol=1e-13).fit(Z, clues=clues).get_mahalanobis_matrix() for Z in (X, X @ T))
    np.testing.assert_allclose(T @ B @ T.T, A, atol=1e-4 * np.abs(A).max())


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_weights_of_all_links_change_the_scale_only(shape):
    X, clues = problem(1, d=3)
    heavy = Clues(
        40,
        must=clues.must,
        cannot=clues.cannot,
        must_weight=4 * clues.must_weight,
        cannot_weight=3 * clues.cannot_weight,
    )
    one, two = (XingMetric(shape=shape).fit(X, clues=c).get_mahalanobis_matrix() for c in (clues, heavy))
    np.testing.assert_allclose(4 * two, one, rtol=1e-6, atol=1e-9)


def test_a_heavy_link_counts_more():
    """A must-link that weighs more gets shorter in the metric."""
    heavy = Clues(6, must=SIX.must, cannot=SIX.cannot, must_weight=[20, 1, 1])
    ratios = []
    for clues in (SIX, heavy):
        model = XingMetric(shrinkage=0, tol=1e-12).fit(DIAGONAL, clues=clues)
        first, *others = model.pair_distance(DIAGONAL[SIX.must[:, 0]], DIAGONAL[SIX.must[:, 1]])
        ratios.append(first / sum(others))
    assert ratios[1] < ratios[0]


def test_labels_are_their_pairs():
    X, _ = problem(2, d=3)
    y = np.where(np.arange(40) < 12, np.arange(40) % 3, -1)
    must, _, cannot, _ = Clues.from_labels(y).pairs(expand=True)
    by_labels = XingMetric().fit(X, clues=y).get_mahalanobis_matrix()
    np.testing.assert_allclose(
        XingMetric().fit(X, clues=Clues(40, must=must, cannot=cannot)).get_mahalanobis_matrix(), by_labels
    )


def test_more_pairs_than_the_limit_are_refused():
    X = np.random.default_rng(0).normal(size=(4500, 2))
    with pytest.raises(ClueError, match="10122750 links"):
        XingMetric().fit(X, clues=np.arange(4500) % 2)


def test_wide_data_find_the_same_weights(monkeypatch):
    X, clues = problem(4, d=4)
    newton = XingMetric(shape="diagonal", tol=1e-14).fit(X, clues=clues)
    monkeypatch.setattr(_xing, "WIDE", 3)
    wide = XingMetric(shape="diagonal", tol=1e-14, max_iter=20000).fit(X, clues=clues)
    assert wide.objective_ == pytest.approx(newton.objective_, abs=1e-8)
    np.testing.assert_allclose(wide.get_mahalanobis_matrix(), newton.get_mahalanobis_matrix(), atol=1e-4)


def test_blocks_are_one(monkeypatch):
    X, clues = problem(4, d=3)
    models = [XingMetric(), XingMetric(shape="diagonal")]
    whole = [model.fit(X, clues=clues).get_mahalanobis_matrix() for model in models]
    monkeypatch.setattr(metric, "BLOCK_BYTES", 8)
    monkeypatch.setattr(metric, "LEAST", 4)
    for model, M in zip(models, whole, strict=True):
        np.testing.assert_allclose(model.fit(X, clues=clues).get_mahalanobis_matrix(), M, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_fewer_must_links_than_columns(shape):
    """Unbounded as it stands; shrinkage bounds it, and without shrinkage those directions are left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)) * [1, 1, 1, 0]
    X[:, 3] = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]  # no must-link differs here
    clues = Clues(12, must=[(0, 1)], cannot=[(0, 4), (1, 8), (5, 9), (2, 7)])
    M = XingMetric(shape=shape).fit(X, clues=clues).get_mahalanobis_matrix()
    assert np.isfinite(M).all()
    assert M[3, 3] > 0
    bare = XingMetric(shape=shape, shrinkage=0).fit(X, clues=clues).get_mahalanobis_matrix()
    np.testing.assert_allclose(bare[3], 0, atol=1e-12)
    assert bare.any()


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_cannot_links_in_other_directions_than_must_links(shape):
    X = np.array([[0, 0], [1, 0], [0, 5], [3, 9.0]])
    clues = Clues(4, must=[(0, 1)], cannot=[(0, 2)])
    with pytest.warns(ClueWarning, match="cannot-links differ only where must-links do not; XingMetric keeps"):
        model = XingMetric(shape=shape, shrinkage=0).fit(X, clues=clues)
    np.testing.assert_array_equal(model.components_, np.eye(2))
    M = XingMetric(shape=shape).fit(X, clues=clues).get_mahalanobis_matrix()
    assert M[1, 1] > M[0, 0]


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_without_must_or_cannot_links(shape):
    model = XingMetric(shape=shape)
    with pytest.raises(ClueError, match="XingMetric needs a must-link between rows that differ"):
        model.fit(TOY8, clues=Clues(8, cannot=[(0, 3)]))
    with pytest.raises(ClueError, match="needs a must-link"):
        model.fit(TOY8[[0, 0, 1]], clues=Clues(3, must=[(0, 1)], cannot=[(0, 2)]))
    for clues in (None, Clues(8, must=[(0, 3)])):
        with pytest.warns(ClueWarning, match="no cannot-link parts two rows that differ; XingMetric keeps Euclidean"):
            np.testing.assert_array_equal(model.fit(TOY8, clues=clues).components_, np.eye(2))
        assert model.n_iter_ == 1
    with pytest.warns(ClueWarning, match="no cannot-link"):
        model.fit(TOY8[[0, 0, 1]], clues=Clues(3, must=[(0, 2)], cannot=[(0, 1)]))


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_equal_rows_and_constant_columns(shape):
    """A cannot-link between equal rows says nothing, and a constant column gets no weight."""
    X = np.column_stack([np.vstack([DIAGONAL, DIAGONAL[:1]]), np.full(7, 1e5)])
    clues = Clues(7, must=SIX.must, cannot=np.vstack([SIX.cannot, [(0, 6)]]))
    M = XingMetric(shape=shape, shrinkage=0, tol=1e-12).fit(X, clues=clues).get_mahalanobis_matrix()
    plain = XingMetric(shape=shape, shrinkage=0, tol=1e-12).fit(DIAGONAL, clues=SIX).get_mahalanobis_matrix()
    np.testing.assert_allclose(M[:2, :2], plain, atol=1e-6)
    assert not M[2].any()


def test_fewer_components_of_a_diagonal_metric_are_its_largest_weights():
    X, clues = problem(6, d=4)
    whole = np.diag(XingMetric(shape="diagonal").fit(X, clues=clues).get_mahalanobis_matrix())
    one = np.diag(XingMetric(1, shape="diagonal").fit(X, clues=clues).get_mahalanobis_matrix())
    np.testing.assert_allclose(one, np.where(whole == whole.max(), whole, 0))


def test_a_stop_and_ctrl_c_leave_a_metric():
    X, clues = problem(3, d=3)

    class Watch:
        def __init__(self, stop):
            self.seen, self.stop = 0, stop

        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name != "iteration":
                return False
            self.seen += 1
            if self.seen == 3 and not self.stop:
                raise KeyboardInterrupt
            return self.seen == 3

    model = XingMetric().set_callbacks(Watch(stop=True)).fit(X, clues=clues)
    assert model.n_iter_ == 3
    interrupted = XingMetric().set_callbacks(Watch(stop=False))
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(X, clues=clues)
    np.testing.assert_array_equal(interrupted.components_, model.components_)


def test_ctrl_c_before_the_first_step_leaves_nothing(monkeypatch):
    X, clues = problem(3, d=3)

    def interrupted(state, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(_xing, "full_step", interrupted)
    model = XingMetric()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, clues=clues)
    assert not hasattr(model, "components_")


def test_infinite_weights_are_refused():
    with pytest.raises(ClueError, match="cannot mix hard and soft"):
        XingMetric().fit(TOY8, clues=Clues(8, must=[(0, 1), (1, 2)], must_weight=[np.inf, 1], cannot=[(0, 3)]))


@pytest.mark.parametrize(
    ("params", "message"),
    [({"shape": "round"}, "shape"), ({"max_iter": 0}, "max_iter"), ({"tol": -1.0}, "tol"), ({"shrinkage": 2}, "shr")],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        XingMetric(**params).fit(FULL, clues=FOUR)
