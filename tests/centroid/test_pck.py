"""PCKMeans: worked examples, errata, a plain implementation to compare with, a brute-force optimum."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues, PCKMeans
from cluewise.centroid._pck import State, step
from cluewise.core import assign
from cluewise.core.assign import others
from cluewise.core.centers import scatter
from cluewise.core.rows import Rows
from cluewise.core.views import broken_weight, build_forces, count_members
from strategies import PAIR_KINDS, cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
CLUES_A8 = Clues(8, must=[(3, 7)], cannot=[(0, 2)])
CLUES_TOY8 = Clues(8, must=[(2, 3)], cannot=[(3, 4), (0, 1)])


def price(clues, labels):
    """Weight of the broken pairs, one by one."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    broken = must_weight[labels[must[:, 0]] != labels[must[:, 1]]].sum()
    return broken + cannot_weight[labels[cannot[:, 0]] == labels[cannot[:, 1]]].sum()


def value(X, centers, clues, labels, penalty):
    return 0.5 * ((X - centers[labels]) ** 2).sum() + penalty * price(clues, labels)


def by_hand(X, start, clues, penalty, iterations):
    """J after the nearest-center labels, and after every half-step of the real code."""
    rows, k = Rows(X), len(start)
    centers = np.asarray(start) - rows.shift
    labels = assign.no_labels(len(X))
    assign.nearest(rows, centers, labels)
    pulls = build_forces(clues, k)
    state = State(labels, centers, count_members(pulls, labels, k), broken_weight(clues, labels), penalty)
    trace = [value(X, start, clues, labels, penalty)]
    for _ in range(iterations):
        new, info = step(
            state,
            rows=rows,
            free=others(pulls.rows, len(X)),
            pulls=pulls,
            order=np.arange(len(pulls.rows)),
            total=scatter(rows),
        )
        trace.append(value(X, state.centers + rows.shift, clues, new.labels, penalty))
        trace.append(value(X, new.centers + rows.shift, clues, new.labels, penalty))
        assert trace[-1] == pytest.approx(info.objective)
        state = new
    return trace, state.labels.tolist()


@pytest.mark.parametrize(
    ("penalty", "labels", "centers", "trace"),
    [
        (1.0, [0, 0, 0, 0, 1, 1, 1, 1], [[0.675, 0.675], [3.9, 3.925]], [8.135, 8.135, 6.69125, 6.69125, 6.69125]),
        (4.0, [0, 0, 0, 0, 1, 1, 1, 0], [[1.02, 1.08], [4.4, 4.333333]], [14.135, 13.88, 9.021333, 9.021333, 9.021333]),
    ],
)
def test_worked_examples_of_the_survey(penalty, labels, centers, trace):
    """[pckmeans_w1], [pckmeans_w4]."""
    start = A8[[0, 4]]
    model = PCKMeans(2, penalty=penalty, init=start).fit(A8, clues=CLUES_A8)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6)
    np.testing.assert_allclose(model.trace_, trace[2::2], atol=2e-6)
    assert model.objective_ == pytest.approx(trace[-1], abs=2e-6)
    assert model.penalty_ == penalty
    found, last = by_hand(A8, start, CLUES_A8, penalty, 2)
    np.testing.assert_allclose(found, trace, atol=2e-6)
    assert last == labels


TOY8_RESULTS = [
    (1.0, [0, 0, 0, 1, 1, 1, 2, 2], [[1 / 3, 1 / 3], [11 / 3, 1 / 3], [7.5, 0.5]], 6.5, 4.8333333333),
    (5.0, [0, 0, 0, 0, 1, 1, 2, 2], [[1, 0.25], [4, 0.5], [7.5, 0.5]], 12.0, 9.125),
]


@pytest.mark.parametrize(("penalty", "labels", "centers", "sweep", "end"), TOY8_RESULTS)
def test_worked_examples_of_the_seed_paper(penalty, labels, centers, sweep, end):
    """The paper's first sweep skips rows without a label; its result is a fixed point of ours."""
    first, trace = plain_pck(TOY8, TOY8[[0, 4, 6]], CLUES_TOY8, penalty, range(8), reset=True, iterations=1)
    assert first.tolist() == labels
    assert value(TOY8, TOY8[[0, 4, 6]], CLUES_TOY8, first, penalty) == pytest.approx(sweep)
    assert trace[-1] == pytest.approx(end)
    rows, centers = Rows(TOY8), np.array(centers)
    pulls = build_forces(CLUES_TOY8, 3)
    state = State(
        first.astype(np.int32), centers - rows.shift, count_members(pulls, first, 3), price(CLUES_TOY8, first), penalty
    )
    more = {"free": others(pulls.rows, 8), "pulls": pulls, "order": np.arange(5), "total": scatter(rows)}
    new, info = step(state, rows=rows, **more)
    assert info.moved == 0
    assert info.objective == pytest.approx(end)
    np.testing.assert_allclose(new.centers + rows.shift, centers)


def test_the_seed_example_with_the_first_sweep_of_the_library():
    """From the nearest centers: the same end for w = 1, another fixed point for w = 5, where no clue is broken."""
    model = PCKMeans(3, penalty=1.0, init=TOY8[[0, 4, 6]]).fit(TOY8, clues=CLUES_TOY8)
    assert model.labels_.tolist() == TOY8_RESULTS[0][1]
    assert len(model.broken_.must) + len(model.broken_.cannot) == 3
    model = PCKMeans(3, penalty=5.0, init=TOY8[[0, 4, 6]]).fit(TOY8, clues=CLUES_TOY8)
    labels, trace = plain_pck(TOY8, TOY8[[0, 4, 6]], CLUES_TOY8, 5.0, range(8))
    assert model.labels_.tolist() == labels.tolist() == [1, 0, 1, 1, 2, 1, 2, 2]
    assert model.objective_ == pytest.approx(trace[-1])
    assert not model.broken_.kinds


def plain_pck(X, start, clues, penalty, order, reset=False, iterations=30):
    """The algorithm as a few lines of Python; ``reset`` forgets all labels before each sweep (the public ports)."""
    must, must_weight, cannot, cannot_weight = clues.pairs(expand=True)
    n, k = len(X), len(start)
    links = [[] for _ in range(n)]
    for pairs, weights, sign in ((must, must_weight, 1), (cannot, cannot_weight, 0)):
        for (i, j), w in zip(pairs.tolist(), weights.tolist()):
            links[i].append((j, w, sign))
            links[j].append((i, w, sign))
    centers, trace = np.array(start), []
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    before = None
    for _ in range(iterations):
        if before is not None and (labels == before).all():
            break
        before = labels.copy()
        if reset:
            labels = np.full(n, -1)
        free = [i for i in range(n) if not links[i]]
        for i in free + [i for i in order if links[i]]:
            cost = 0.5 * ((X[i] - centers) ** 2).sum(axis=1)
            for j, w, sign in links[i]:
                if labels[j] >= 0:
                    cost += penalty * w * ((np.arange(k) != labels[j]) == sign)
            best = cost.argmin()
            if labels[i] < 0 or cost[best] < cost[labels[i]] - 1e-12:
                labels[i] = best
        for h in range(k):
            if not (labels == h).any():
                return None, np.array(trace)  # what becomes of an empty cluster is a story of its own
            centers[h] = X[labels == h].mean(axis=0)
        trace.append(value(X, centers, clues, labels, penalty))
        if len(trace) == 1:
            before = None  # the first sweep may start from the labels of the very same centers
    return labels, np.array(trace)


@given(cases(PAIR_KINDS, noise=0.3), st.sampled_from([0.2, 2.0, 30.0]))
def test_like_the_plain_algorithm(case, penalty):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    order = case.rng.permutation(len(case.X))
    labels, trace = plain_pck(case.X, start, case.clues, penalty, order)
    if labels is None:
        return
    model = PCKMeans(case.k, penalty=penalty, init=start, order=order, tol=0).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.trace_[-1] == pytest.approx(trace[-1])


def random_problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 2))
    pairs = np.array([rng.choice(15, 2, replace=False) for _ in range(12)])
    kind = rng.random(12) < 0.5
    return X, Clues(15, must=pairs[kind], cannot=pairs[~kind]), X[rng.choice(15, 3, replace=False)]


def test_a_sweep_from_nobody_breaks_the_descent_and_ours_does_not():
    """F2 of the specification: 121 of 400 runs rose when every sweep forgot the labels, 0 of 400 otherwise."""
    rises = {True: 0, False: 0, "ours": 0}
    for seed in range(150):
        X, clues, start = random_problem(seed)
        for reset in (True, False):
            _, trace = plain_pck(X, start, clues, 1.0, range(15), reset)
            rises[reset] += bool((np.diff(trace) > 1e-9).any())
        trace = PCKMeans(3, penalty=1.0, init=start, tol=0).fit(X, clues=clues).trace_
        rises["ours"] += bool((np.diff(trace) > 1e-9).any())
    assert rises[True] > 15
    assert rises[False] == rises["ours"] == 0


@given(cases(PAIR_KINDS, noise=0.4), st.sampled_from(["index", "random"]))
def test_the_result_is_no_worse_than_the_start(case, order):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    model = PCKMeans(case.k, penalty=3.0, init=start, order=order, random_state=0).fit(case.X, clues=case.clues)
    nearest = ((case.X[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    assert model.objective_ <= value(case.X, start, case.clues, nearest, 3.0) + 1e-9
    assert model.objective_ == pytest.approx(
        value(case.X, model.cluster_centers_, case.clues, model.labels_, 3.0), rel=1e-9
    )


@given(cases(PAIR_KINDS, noise=0.4))
def test_a_penalty_of_zero_is_kmeans(case):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    if plain_pck(case.X, start, case.clues, 0.0, range(len(case.X)))[0] is None:
        return
    plain = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    model = PCKMeans(case.k, penalty=0.0, init=start, tol=0).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(0.5 * plain.inertia_)


@given(cases({"must", "cannot"}, noise=0.3), st.floats(0.1, 10))
def test_weights_of_pairs_multiply_the_penalty(case, weight):
    start = case.X[: case.k]
    clues = case.clues
    heavy = Clues(clues.n, must=clues.must, cannot=clues.cannot, must_weight=weight, cannot_weight=weight)
    a = PCKMeans(case.k, penalty=2.0, init=start, tol=0).fit(case.X, clues=heavy)
    b = PCKMeans(case.k, penalty=2.0 * weight, init=start, tol=0).fit(case.X, clues=clues)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


def test_a_clue_in_two_halves_changes_nothing():
    """T8: a duplicated constraint with halved weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = rng.integers(3, size=30)
    clues = Clues.sample(y, pairs=40, random_state=0)
    half = {"must": clues.must, "cannot": clues.cannot, "must_weight": 0.5, "cannot_weight": 0.5}
    twice = Clues(30, **half, source="first") | Clues(30, **half, source="second")
    a = PCKMeans(3, penalty=1.0, init=X[:3]).fit(X, clues=clues)
    b = PCKMeans(3, penalty=1.0, init=X[:3]).fit(X, clues=twice)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


def best_of_all(X, clues, k, penalty):
    best = np.inf
    for labels in itertools.product(range(k), repeat=len(X)):
        labels = np.array(labels)
        means = np.array([X[labels == h].mean(axis=0) if (labels == h).any() else X[0] for h in range(k)])
        best = min(best, value(X, means, clues, labels, penalty))
    return best


@pytest.mark.parametrize(("X", "clues"), [(A8, CLUES_A8), (TOY8, CLUES_TOY8)])
def test_best_of_many_starts_is_the_optimum(X, clues):
    best = best_of_all(X, clues, 3, 2.0)
    values = [
        PCKMeans(3, penalty=2.0, init="random", n_init=1, order="random", random_state=s).fit(X, clues=clues).objective_
        for s in range(60)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


@pytest.mark.parametrize("weight", [np.ones(8), np.arange(1.0, 9)])
def test_auto_penalty_is_the_variance_per_effective_dimension_times_log_nine(weight):
    """From the covariance inside the first clusters, built in full: (tr C)²/tr C² dimensions count."""
    start = A8[[0, 4]]
    labels = ((A8[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([np.average(A8[labels == h], axis=0, weights=weight[labels == h]) for h in range(2)])
    off = A8 - means[labels]
    covariance = (weight[:, None] * off).T @ off / weight.sum()
    dimensions = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    model = PCKMeans(2, init=start).fit(A8, clues=CLUES_A8, sample_weight=weight)
    assert model.penalty_ == pytest.approx(np.log(9) * np.trace(covariance) / dimensions)


def test_all_starts_pay_the_same_price():
    """Otherwise their objectives could not be compared: the winner is the one with the lowest objective."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    clues = Clues.sample(np.random.default_rng(1).integers(4, size=80), pairs=80, random_state=0)
    runs = []

    class Recorder(PCKMeans):
        def _solve(self, problem):
            runs.append(super()._solve(problem))
            return runs[-1]

    model = Recorder(4, n_init=6, random_state=0).fit(X, clues=clues)
    assert len(runs) == 6
    assert {run.state.penalty for run in runs} == {model.penalty_}
    assert model.objective_ == pytest.approx(min(run.trace[-1] for run in runs))


def test_rows_on_their_centers_still_have_a_price():
    X = np.array([[0.0], [0], [1], [1]])
    model = PCKMeans(2, init=[[0.0], [1.0]]).fit(X, clues=Clues(4, must=[(0, 2)]))
    assert model.penalty_ == 1.0


def test_a_high_price_keeps_all_clues_that_can_be_kept():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 3 * y[:, None]
    clues = Clues.sample(y, pairs=60, random_state=0)
    assert not PCKMeans(2, penalty=1e6, random_state=0).fit(X, clues=clues).broken_.kinds


@settings(max_examples=40)
@given(cases(PAIR_KINDS, noise=0.4), st.sampled_from([1e-9, 1e6, 1e12]))
def test_no_price_makes_rounding_look_like_a_rise(case, penalty):
    """Warnings of the class NotDescending are errors in the tests."""
    clues = case.clues
    odd = Clues(clues.n, must=clues.must, cannot=clues.cannot, must_weight=0.1, cannot_weight=0.7) | clues
    PCKMeans(case.k, penalty=penalty, random_state=0, tol=0).fit(case.X, clues=odd)
    PCKMeans(case.k, penalty=penalty, random_state=0, tol=0).fit(case.X.astype(np.float32), clues=odd)


def test_contradictory_clues_are_weighed():
    """One says together, two say apart."""
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    clues = Clues(4, must=[(0, 1)], cannot=[(0, 1)], cannot_weight=2.0)
    model = PCKMeans(2, penalty=100.0, init=[[0.0], [10.0]]).fit(X, clues=clues)
    assert model.labels_[0] != model.labels_[1]
    assert model.broken_ == Clues(4, must=[(0, 1)])


@pytest.mark.parametrize("init", ["neighborhoods", "farthest-first", "k-means++", "random"])
def test_starts(init):
    y = np.repeat([0, 1, 2], 20)
    X = np.random.default_rng(0).normal(size=(60, 2)) + 10 * np.column_stack([y, y == 1])
    clues = Clues.sample(y, pairs=40, random_state=1)
    model = PCKMeans(3, init=init, n_init=10, random_state=0).fit(X, clues=clues)
    assert not model.broken_.kinds


def test_neighborhoods_are_where_it_starts():
    """Three rows at the edge of a blob that must be together: one step from their mean, and they are a cluster."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 20, [[1.0, 4], [1.1, 4], [1.2, 4]]])
    clues = Clues(103, must=[(100, 101), (101, 102)])
    model = PCKMeans(3, n_init=1, max_iter=1, random_state=0).fit(X, clues=clues)
    assert set(model.labels_[100:]) == {0}


@pytest.mark.parametrize("order", [[0, 1, 2], "degeneracy"])
def test_a_bad_order_is_named(order):
    with pytest.raises(ValueError, match="order"):
        PCKMeans(2, order=order).fit(A8, clues=CLUES_A8)


def test_golden():
    X, y = load_iris(return_X_y=True)
    model = PCKMeans(3, random_state=0).fit(X, clues=Clues.sample(y, pairs=100, noise=0.1, random_state=0))
    assert model.objective_ == pytest.approx(88.537626329, abs=1e-6)
