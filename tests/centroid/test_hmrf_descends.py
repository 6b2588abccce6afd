"""HMRFKMeans never raises its objective: every distortion, every metric, every half step."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluewise import Clues
from cluewise.centroid._hmrf import fields
from cluewise.centroid._hmrf.hmrf import HMRFKMeans
from cluewise.core import loop
from strategies import PAIR_KINDS, cases

EXISTING = [
    ("sqeuclidean", None, False),
    ("sqeuclidean", "diagonal", False),
    ("sqeuclidean", "full", False),
    ("sqeuclidean", "diagonal", True),
    ("sqeuclidean", "full", True),
    ("cosine", None, False),
    ("cosine", "diagonal", False),
    ("generalized_i", None, False),
    ("generalized_i", "diagonal", False),
]


class Recorder(HMRFKMeans):
    """Keeps all states of one start."""

    def _solve(self, problem):
        plain = loop.run

        def run(move, state, limits, slack):
            self.states = [state]

            def watch(state, trace):
                self.states.append(state)
                return False

            return plain(move, state, limits._replace(watch=watch))

        with patch.object(loop, "run", run):
            return super()._solve(problem)


def value_of(state, **changes):
    """The objective by code of its own: row by row and link by link."""
    state = state._replace(**changes)
    given, metric = state.rules.distortion, state.metric
    value = fields.total_cost(given, state.centers, metric, state.labels)
    value += state.rules.field.cost(given, metric, state.reference, state.labels)
    return value + given.prior_cost(metric, state.centers)


def fitted(case, distortion, metric, per_cluster, **params):
    X = np.abs(case.X) if distortion == "generalized_i" else case.X
    rng = case.rng
    start = X[rng.choice(len(X), case.k, replace=False)]
    weight = rng.uniform(0.2, 3, size=len(X)) if rng.random() < 0.3 else None
    model = Recorder(
        case.k, distortion=distortion, metric=metric, per_cluster=per_cluster, init=start, tol=0, max_iter=30, **params
    )
    with np.errstate(all="raise", under="ignore"):
        return model.fit(X, clues=case.clues, sample_weight=weight)


@pytest.mark.parametrize("link_cost", ["distance", "constant"])
@pytest.mark.parametrize(("distortion", "metric", "per_cluster"), EXISTING)
@given(
    case=cases(PAIR_KINDS, noise=0.4, max_rows=25, max_columns=6),
    penalty=st.sampled_from(["auto", 0.01, 1.0, 100.0]),
    prior_rows=st.sampled_from([0.0, 1.0, 20.0]),
)
@settings(max_examples=12)
@pytest.mark.filterwarnings("ignore:only . of . clusters")
def test_no_half_step_raises_the_objective(distortion, metric, per_cluster, link_cost, case, penalty, prior_rows):
    """E, M1 and M2, each judged by the objective written out; the trace is that of whole steps."""
    model = fitted(case, distortion, metric, per_cluster, link_cost=link_cost, penalty=penalty, prior_rows=prior_rows)
    slack = 1e-9 * (1 + np.abs(model.trace_).max())
    for before, after in zip(model.states, model.states[1:]):
        start = value_of(before)
        swept = value_of(before, labels=after.labels)
        moved = value_of(before, labels=after.labels, centers=after.centers)
        end = value_of(after)
        assert moved <= swept + slack, "M1"
        refilled = (np.bincount(after.labels) == 1).any()  # a row in an empty cluster gains when the center follows
        assert swept <= start + slack or (refilled and end <= start + slack), "E"
        assert end <= moved + slack, "M2"
    values = [value_of(state) for state in model.states[1:]]
    np.testing.assert_allclose(model.trace_, values, rtol=1e-8, atol=slack)
    assert (np.diff(model.trace_) <= slack).all()
    assert model.objective_ == pytest.approx(values[-1])


@pytest.mark.parametrize(
    ("metric", "per_cluster"), [("diagonal", False), ("full", False), ("diagonal", True), ("full", True)]
)
@given(case=cases(PAIR_KINDS, noise=0.4, max_rows=40, max_columns=4))
@settings(max_examples=10)
@pytest.mark.filterwarnings("ignore:only . of . clusters")
def test_the_metric_is_where_the_gradient_vanishes(metric, per_cluster, case):
    """⟨A_h, S_h⟩ = n_h·d where no variance was raised: 7.3 of the specification; A is positive definite."""
    model = fitted(case, "sqeuclidean", metric, per_cluster, penalty=0.5, prior_rows=3.0)
    given, weights = model.states[-1].rules.distortion, model.states[-1].metric.weights
    matrices = weights if metric == "full" else weights[..., None] * np.eye(weights.shape[-1])
    assert (np.linalg.eigvalsh(matrices) > 0).all()
    np.testing.assert_allclose(matrices, matrices.transpose(0, 2, 1))
    # J is 3·g·d more than the rows' share of it when every direction of every metric costs its mass.
    rows = len(case.X) if given.rows.weight is None else given.rows.mass
    mass = np.bincount(model.labels_, weights=given.rows.weight, minlength=case.k) if per_cluster else np.array([rows])
    determinants = np.linalg.slogdet(matrices)[1]
    expected = (mass + 3).sum() * case.X.shape[1] - (mass + 3) @ determinants
    assert model.objective_ == pytest.approx(expected, rel=1e-7)


@given(case=cases(PAIR_KINDS, noise=0.4), penalty=st.sampled_from([1e-9, 1e6]))
@settings(max_examples=15)
@pytest.mark.filterwarnings("ignore:only . of . clusters")
def test_no_price_makes_rounding_look_like_a_rise(case, penalty):
    """Warnings of the class NotDescending are errors in the tests."""
    for kind in ("diagonal", "full"):
        for X in (case.X, case.X.astype(np.float32)):
            HMRFKMeans(case.k, metric=kind, penalty=penalty, random_state=0, tol=0, n_init=2).fit(X, clues=case.clues)


def settled(X, clues, k, metric):
    """The metric that is best for some labels."""
    model = Recorder(k, metric=metric, per_cluster=True, penalty=0.3, init=X[:k], max_iter=1)
    state = model.fit(X, clues=clues).states[0]
    given, labels = state.rules.distortion, (np.arange(len(X)) % k).astype(np.int32)
    every = fields.gather(given, state.metric, labels, np.arange(len(X)), k)
    broken = state.rules.field.broken(labels, k)
    return given.settle(labels, every, state.centers, state.metric, broken, given.reference).metric.weights


@given(case=cases(PAIR_KINDS, noise=0.3, max_columns=5), factor=st.sampled_from([1e-3, 50.0]))
@settings(max_examples=10)
@pytest.mark.filterwarnings("ignore:only . of . clusters")
def test_a_column_in_another_unit_weighs_accordingly(case, factor):
    """7.3 of the specification: a column times s weighs 1/s² as much (full metrics: without links)."""
    unit = np.append(factor, np.ones(case.X.shape[1] - 1))
    first, second = (settled(X, case.clues, case.k, "diagonal") for X in (case.X, case.X * unit))
    np.testing.assert_allclose(second, first / unit**2, rtol=1e-6)
    nothing = Clues(len(case.X))
    first, second = (settled(X, nothing, case.k, "full") for X in (case.X, case.X * unit))
    np.testing.assert_allclose(second * np.outer(unit, unit), first, rtol=1e-4, atol=1e-6 * np.abs(first).max())
