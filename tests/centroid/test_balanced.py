"""BalancedKMeans: the worked example, sizes, a plain implementation to compare with, samples, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.base import Problem
from cluewise.centroid._sized import balance
from cluewise.centroid._sized.balanced import BalancedKMeans, step
from cluewise.centroid._sized.flow import Bounds
from cluewise.centroid._sized.sized import SizedKMeans
from cluewise.core import assign, loop
from cluewise.core.centers import scatter
from cluewise.core.lloyd import State
from cluewise.core.loop import Limits
from cluewise.core.rows import Rows
from cluewise.exceptions import Infeasible
from strategies import cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def inertia(X, centers, labels):
    return ((X - centers[labels]) ** 2).sum()


def test_worked_example():
    """[balanced_populate]: one step gives the refined labels and their means."""
    rows = Rows(A8)
    bounds = Bounds(np.array([3, 3]), np.array([8, 8]))
    start = State(assign.no_labels(8), A8[:2] - rows.shift)
    new, info = step(start, rows=rows, bounds=bounds, total=scatter(rows))
    assert new.labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert inertia(A8, A8[:2], new.labels) == pytest.approx(105.69)
    means = np.array([A8[:3].mean(axis=0), A8[3:].mean(axis=0)])
    np.testing.assert_allclose(new.centers + rows.shift, means)
    assert info.objective == pytest.approx(inertia(A8, means, new.labels))
    model = BalancedKMeans(2, init=A8[:2], max_iter=1).fit(A8, clues=Clues(8, sizes=(3, None)))
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


@given(cases(frozenset()), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_bounds_hold_and_the_objective_falls(case, below, above, single):
    """A rise of the objective is an error in the tests."""
    n, k = len(case.X), case.k
    sizes = np.bincount(case.y, minlength=k)
    bounds = np.column_stack([np.maximum(sizes - below, 0), sizes + above])
    X = case.X.astype(np.float32) if single else case.X
    weight = case.rng.uniform(0, 2, size=n)
    model = BalancedKMeans(k, sample_size=k + 3, n_init=2, random_state=0, tol=0)
    model.fit(X, clues=Clues(n, sizes=bounds), sample_weight=weight)
    count = np.bincount(model.labels_, minlength=k)
    assert ((bounds[:, 0] <= count) & (count <= bounds[:, 1])).all()
    assert not model.broken_.kinds


@given(cases(frozenset()), st.booleans())
def test_bounds_that_bind_nobody_are_kmeans(case, some):
    n, k = len(case.X), case.k
    start = case.X[case.rng.choice(n, k, replace=False)]
    plain = KMeans(k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    model = BalancedKMeans(k, init=start, tol=0).fit(case.X, clues=Clues(n, sizes=(0, n)) if some else None)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(plain.inertia_)


@given(cases(frozenset()))
def test_fixed_sizes_give_what_the_exact_method_gives(case):
    """Where no exchange along a cycle gains and sizes are fixed, the assignment is the cheapest: one step of both."""
    n, k = len(case.X), case.k
    sizes = 1 + case.rng.multinomial(n - k, np.full(k, 1 / k))
    clues = Clues(n, sizes=np.column_stack([sizes, sizes]))
    start = case.X[case.rng.choice(n, k, replace=False)]
    found = [cls(k, init=start, max_iter=1).fit(case.X, clues=clues) for cls in (BalancedKMeans, SizedKMeans)]
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)


@pytest.mark.parametrize(("share", "least"), [(1.0, 37), (0.5, 18), (0.0, 0)])
def test_balance(share, least):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(140, 2)), rng.normal(size=(10, 2)) + 30])
    model = BalancedKMeans(4, balance=share, random_state=0).fit(X)
    assert np.bincount(model.labels_).min() >= least
    assert share > 0 or np.bincount(model.labels_).min() <= 10
    given = BalancedKMeans(4, balance=1.0, random_state=0).fit(X, clues=Clues(150, sizes=(3, None)))
    assert np.bincount(given.labels_).min() < 37  # clues come first


def test_the_sample_is_as_large_as_it_is_told(monkeypatch):
    seen = []
    run = loop.run
    monkeypatch.setattr(loop, "run", lambda step, state, *etc: seen.append(len(state.labels)) or run(step, state, *etc))
    X = np.random.default_rng(0).normal(size=(3000, 2))
    clues = Clues(3000, sizes=(500, None))
    BalancedKMeans(5, n_init=1, random_state=0).fit(X, clues=clues)
    BalancedKMeans(5, n_init=1, random_state=0, sample_size=17).fit(X, clues=clues)
    BalancedKMeans(5, n_init=1, random_state=0, sample_size=1).fit(X, clues=clues)
    BalancedKMeans(5, n_init=1, random_state=0, sample_size=10**6).fit(X, clues=clues)
    assert seen == [balance.sample_size(5), 3000, 17, 3000, 5, 3000, 3000, 3000]


def test_rows_without_weight_are_not_sampled():
    """They lie far away; centers in the sample would be drawn there."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(450, 2)) + 1000])
    weight = np.repeat([1.0, 0.0], [50, 450])
    model = BalancedKMeans(2, sample_size=20, n_init=1, random_state=0)
    model.fit(X, clues=Clues(500, sizes=(10, None)), sample_weight=weight)
    assert np.abs(model.cluster_centers_).max() < 10


def test_centers_of_a_sample_are_put_back_in_their_place():
    """A sample has a shift of its own: one row far away moves that of all rows, and is not in the sample."""
    rng = np.random.default_rng(0)
    rows = Rows(np.vstack([rng.uniform(100, 101, size=(400, 2)), [[9e6, 9e6]]]))
    model = BalancedKMeans(3, sample_size=20)
    problem = Problem(rows, Clues(401), 3, scatter(rows), Limits(300, 1e-4), np.random.default_rng(1))
    assert (model._sample(problem).shift != rows.shift).all()
    found = model._start(problem._replace(rng=np.random.default_rng(1))) + rows.shift
    assert ((found > 99) & (found < 102)).all()


def test_infeasible_bounds_raise_before_any_work():
    def never(*_, **__):
        raise AssertionError("a start was made")

    model = BalancedKMeans(2, init=never)
    with pytest.raises(Infeasible, match="lower bounds on sizes add up to 10, but there are only 8"):
        model.fit(A8, clues=Clues(8, sizes=(5, None)))
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("name", "bad"), [("balance", 1.5), ("balance", -0.1), ("sample_size", 0), ("sample_size", "all")]
)
def test_bad_parameters_are_named(name, bad):
    with pytest.raises(ValueError, match=name):
        BalancedKMeans(2, **{name: bad}).fit(A8)


def test_equal_rows_are_shared_out():
    X = np.array([[1.0, 1]] * 7 + [[2.0, 2]])
    model = BalancedKMeans(4, random_state=0).fit(X, clues=Clues(8, sizes=(2, 2)))
    assert np.bincount(model.labels_).tolist() == [2, 2, 2, 2]
    assert np.isfinite(model.cluster_centers_).all()


def test_golden():
    """Sizes of 50 each: the same optimum that SizedKMeans reaches."""
    X, _ = load_iris(return_X_y=True)
    model = BalancedKMeans(3, balance=1.0, random_state=0).fit(X)
    assert model.objective_ == pytest.approx(81.2778, abs=1e-6)
