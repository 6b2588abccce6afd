"""SizedKMeans: worked examples, an erratum, a plain implementation to compare with, a brute-force optimum, laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._sized import flow
from cluewise.centroid._sized.sized import SizedKMeans, State, step
from cluewise.centroid._sized.sizes import bounds_of
from cluewise.core import assign
from cluewise.core.centers import scatter
from cluewise.core.rows import Rows
from cluewise.exceptions import Infeasible
from strategies import cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])


def squared(X, centers):
    return ((X[:, None] - centers) ** 2).sum(axis=2)


def inertia(X, centers, labels):
    return ((X - centers[labels]) ** 2).sum()


def by_hand(X, start, clues, iterations):
    """The objective after every half-step of the real code."""
    rows = Rows(X)
    bounds = bounds_of(clues, len(start), rows)
    state = State(assign.no_labels(len(X)), start - rows.shift, None, 0.0)
    trace = []
    for _ in range(iterations):
        new, info = step(state, rows=rows, bounds=bounds, total=scatter(rows))
        trace.append(inertia(X, state.centers + rows.shift, new.labels))
        trace.append(inertia(X, new.centers + rows.shift, new.labels))
        assert trace[-1] == pytest.approx(info.objective)
        state = new
    return trace


@pytest.mark.parametrize(
    ("sizes", "rows", "labels", "centers", "trace"),
    [
        (
            [(1, 3), (1, 6)],
            [0, 4],
            [0, 0, 0, 1, 1, 1, 1, 1],
            [[0.366667, 0.433333], [3.44, 3.42]],
            [21.32, 16.873333, 16.873333, 16.873333],
        ),
        (
            (2, None),
            [0, 1, 2],
            [0, 0, 0, 1, 2, 2, 2, 1],
            [[0.366667, 0.433333], [2.0, 2.05], [4.4, 4.333333]],
            [98.43, 22.156667, 7.609444, 3.705, 3.705, 3.705],
        ),
    ],
)
def test_worked_examples(sizes, rows, labels, centers, trace):
    """[size_constrained_kmeans], [size_constrained_kmeans_k3]."""
    clues = Clues(8, sizes=sizes)
    model = SizedKMeans(len(rows), init=A8[rows]).fit(A8, clues=clues)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6)
    np.testing.assert_allclose(model.trace_, trace[1::2], atol=2e-6)
    assert model.objective_ == pytest.approx(trace[-1], abs=2e-6)
    assert model.gap_ <= 1e-14
    assert not model.broken_.kinds
    np.testing.assert_allclose(by_hand(A8, A8[rows], clues, len(trace) // 2), trace, atol=2e-6)


def test_erratum_33():
    """Eq. 44 prints Σ T ≤ τ; "at least τ_h" is meant. Lower bounds of 3 and 3 leave two rows to go anywhere."""
    model = SizedKMeans(2, random_state=0).fit(A8, clues=Clues(8, sizes=(3, None)))
    assert np.bincount(model.labels_).min() >= 3
    with pytest.raises(Infeasible, match="upper bounds on sizes add up to 6, but there are 8"):
        SizedKMeans(2).fit(A8, clues=Clues(8, sizes=(0, 3)))


def plain_sized(X, start, lower, iterations=50):
    """The algorithm in a few lines, for sizes that are exact: one slot for each place, the Hungarian method."""
    centers, before, trace = np.array(start), None, []
    cluster = np.repeat(np.arange(len(lower)), lower)
    for _ in range(iterations):
        rows, slots = linear_sum_assignment(squared(X, centers)[:, cluster])
        labels = cluster[slots[np.argsort(rows)]]
        centers = np.array([X[labels == h].mean(axis=0) for h in range(len(lower))])
        trace.append(inertia(X, centers, labels))
        if before is not None and (labels == before).all():
            break
        before = labels
    return labels, np.array(trace)


@given(cases(frozenset(), max_rows=60))
def test_like_the_plain_algorithm(case):
    n, k = len(case.X), case.k
    sizes = 1 + case.rng.multinomial(n - k, np.full(k, 1 / k))
    start = case.X[case.rng.choice(n, k, replace=False)]
    labels, trace = plain_sized(case.X, start, sizes)
    model = SizedKMeans(k, init=start, tol=0).fit(case.X, clues=Clues(n, sizes=np.column_stack([sizes, sizes])))
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.trace_, trace)
    assert (np.diff(model.trace_) <= 1e-9 * (1 + trace[0])).all()


@given(cases(frozenset()), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_bounds_hold_and_the_objective_falls(case, below, above, single):
    """A rise of the objective is an error in the tests."""
    n, k = len(case.X), case.k
    sizes = np.bincount(case.y, minlength=k)
    bounds = np.column_stack([np.maximum(sizes - below, 0), sizes + above])
    X = case.X.astype(np.float32) if single else case.X
    weight = case.rng.uniform(0, 2, size=n)
    model = SizedKMeans(k, n_init=2, random_state=0, tol=0).fit(X, clues=Clues(n, sizes=bounds), sample_weight=weight)
    count = np.bincount(model.labels_, minlength=k)
    assert ((bounds[:, 0] <= count) & (count <= bounds[:, 1])).all()
    assert not model.broken_.kinds
    assert model.gap_ <= 1e-12


@given(cases(frozenset()), st.booleans())
def test_bounds_that_bind_nobody_are_kmeans(case, some):
    """τ = 0, κ = n, and bounds that the result keeps anyway."""
    n, k = len(case.X), case.k
    start = case.X[case.rng.choice(n, k, replace=False)]
    plain = KMeans(k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    model = SizedKMeans(k, init=start, tol=0).fit(case.X, clues=Clues(n, sizes=(0, n)) if some else None)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(plain.inertia_)
    assert model.gap_ <= 1e-15


@pytest.mark.parametrize("sizes", [(4, 4), (3, None), (None, 5), [(2, 3), (5, 6)]])
def test_best_of_many_starts_is_the_optimum(sizes):
    clues = Clues(8, sizes=sizes)
    lower, upper = np.broadcast_to(clues.sizes, (2, 2)).T
    best = np.inf
    for labels in itertools.product(range(2), repeat=8):
        labels = np.array(labels)
        count = np.bincount(labels, minlength=2)
        if ((lower <= count) & (count <= upper)).all():
            means = np.array([A8[labels == h].mean(axis=0) for h in range(2)])
            best = min(best, inertia(A8, means, labels))
    values = [
        SizedKMeans(2, init="random", n_init=1, random_state=s).fit(A8, clues=clues).objective_ for s in range(40)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


def test_prices_of_the_last_iteration_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    clues = Clues(400, sizes=(80, 80))
    warm = SizedKMeans(5, init=X[:5], tol=0).fit(X, clues=clues)
    cheapest = flow.cheapest
    monkeypatch.setattr(flow, "cheapest", lambda costs, bounds, prices: cheapest(costs, bounds))
    cold = SizedKMeans(5, init=X[:5], tol=0).fit(X, clues=clues)
    np.testing.assert_array_equal(warm.labels_, cold.labels_)
    np.testing.assert_array_equal(warm.trace_, cold.trace_)


def test_infeasible_bounds_raise_before_any_work():
    def never(*_, **__):
        raise AssertionError("a start was made")

    for n, sizes, unit, why in (
        (8, (5, None), "points", "lower bounds on sizes add up to 10, but there are only 8"),
        (8, [(1, 8), (1, 8), (1, 8)], "points", "sizes are given for 3 clusters, but there are 2"),
        (8, (0, 3), "weight", "from 0 to 6 rows, but there are 8"),
    ):
        model = SizedKMeans(2, init=never)
        with pytest.raises(Infeasible, match=why) as caught:
            model.fit(A8, clues=Clues(n, sizes=sizes, size_unit=unit))
        assert caught.value.witness is not None or unit == "points"
        assert not hasattr(model, "labels_")


def test_capacities_of_rows_that_weigh_the_same():
    """Summed weight is a number of rows then."""
    clues = Clues(8, sizes=(0, 2.0), size_unit="weight")
    model = SizedKMeans(2, random_state=0).fit(A8, clues=clues, sample_weight=np.full(8, 0.5))
    assert np.bincount(model.labels_).tolist() == [4, 4]
    assert not model.broken_.kinds
    assert model.objective_ == pytest.approx(
        0.5 * SizedKMeans(2, random_state=0).fit(A8, clues=Clues(8, sizes=(4, 4))).objective_
    )


def test_capacities_of_rows_that_weigh_differently():
    """The best of many starts is the optimum by enumeration; loads are within the bounds."""
    weight = np.array([3.0, 1, 4, 1, 5, 9, 2, 6])
    clues = Clues(8, sizes=(15, 16), size_unit="weight")
    best = np.inf
    for labels in itertools.product(range(2), repeat=8):
        labels = np.array(labels)
        load = np.bincount(labels, weights=weight, minlength=2)
        if ((load >= 15) & (load <= 16)).all():
            means = np.array([np.average(A8[labels == h], axis=0, weights=weight[labels == h]) for h in range(2)])
            best = min(best, weight @ ((A8 - means[labels]) ** 2).sum(axis=1))
    values = []
    for seed in range(15):
        model = SizedKMeans(2, init="random", n_init=1, random_state=seed, tol=0)
        model.fit(A8, clues=clues, sample_weight=weight)
        assert set(np.bincount(model.labels_, weights=weight)) == {15, 16}
        assert (np.diff(model.trace_) <= 1e-9).all()
        assert not model.broken_.kinds
        assert model.gap_ <= 2e-6
        values.append(model.objective_)
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


def test_capacities_that_no_rows_fit():
    """Three heavy rows, none two of which fit into one cluster: enough room in all, but not for whole rows."""
    clues = Clues(8, sizes=(0, 4.4), size_unit="weight")
    with pytest.raises(Infeasible, match="no clustering of these rows has summed weights within the bounds"):
        SizedKMeans(2).fit(A8, clues=clues, sample_weight=np.array([3.0, 3, 2.1, 0.1, 0.1, 0.1, 0.1, 0.1]))


def test_points_are_counted_whatever_they_weigh():
    weight = np.array([1, 1, 1, 1, 1, 1, 1, 50.0])
    model = SizedKMeans(2, random_state=0).fit(A8, clues=Clues(8, sizes=(4, 4)), sample_weight=weight)
    assert np.bincount(model.labels_).tolist() == [4, 4]
    for h in range(2):
        mine = model.labels_ == h
        np.testing.assert_allclose(model.cluster_centers_[h], np.average(A8[mine], axis=0, weights=weight[mine]))


def test_prediction_is_the_nearest_center():
    """Bounds are a property of the rows that were fitted."""
    model = SizedKMeans(2, random_state=0).fit(A8, clues=Clues(8, sizes=(4, 4)))
    np.testing.assert_array_equal(model.predict(A8), squared(A8, model.cluster_centers_).argmin(axis=1))
    assert (model.margin_ < 0).sum() == (model.predict(A8) != model.labels_).sum()


def test_equal_rows_are_shared_out():
    """Eight times the same row, a row that is the only other one: sizes hold, nothing is NaN."""
    X = np.array([[1.0, 1]] * 7 + [[2.0, 2]])
    model = SizedKMeans(4, random_state=0).fit(X, clues=Clues(8, sizes=(2, 2)))
    assert np.bincount(model.labels_).tolist() == [2, 2, 2, 2]
    assert np.isfinite(model.cluster_centers_).all()
    again = SizedKMeans(4, random_state=0).fit(X, clues=Clues(8, sizes=(2, 2)))
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.filterwarnings("ignore:only 2 of 3 clusters")
def test_a_cluster_that_may_have_no_rows_stays_empty():
    model = SizedKMeans(3, init=A8[:3]).fit(A8, clues=Clues(8, sizes=[(0, 8), (0, 0), (0, 8)]))
    assert np.bincount(model.labels_, minlength=3)[1] == 0
    np.testing.assert_array_equal(model.cluster_centers_[1], A8[1])
    assert not model.broken_.kinds


def test_one_cluster_and_as_many_as_rows():
    one = SizedKMeans(1).fit(A8, clues=Clues(8, sizes=(8, 8)))
    np.testing.assert_allclose(one.cluster_centers_[0], A8.mean(axis=0))
    every = SizedKMeans(8, random_state=0).fit(A8, clues=Clues(8, sizes=(1, 1)))
    assert every.objective_ == pytest.approx(0, abs=1e-12)


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 30)) < 0.8, 0, rng.normal(size=(200, 30)))
    clues = Clues(200, sizes=(50, 50))
    dense = SizedKMeans(4, init=X[:4], tol=0).fit(X, clues=clues)
    sparse = SizedKMeans(4, init=X[:4], tol=0).fit(csr_array(X), clues=clues)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = SizedKMeans(3, random_state=0).fit(X, clues=Clues(150, sizes=(50, 50)))
    assert model.objective_ == pytest.approx(81.2778, abs=1e-6)
    assert (model.labels_[y == 0] == model.labels_[0]).all()
