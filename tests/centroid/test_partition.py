"""PartitionKMeans: worked examples, reductions, a plain implementation to compare with, brute force, bad input."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues
from cluewise.centroid._partition import PartitionKMeans, State, step
from cluewise.centroid._sides import shares_of_starts, side_of
from cluewise.core import assign
from cluewise.core.centers import scatter
from cluewise.core.rows import Rows
from cluewise.metrics import nmi
from strategies import cases

TOY8 = np.array([[0.0, 0], [0, 1], [1, 0], [3, 0], [4, 1], [4, 0], [7, 0], [8, 1]])
START = TOY8[[0, 4, 6]]
SIDE = np.array([0, -1, 0, 0, -1, 1, 1, -1])
SECOND = np.array([-1, 0, -1, 1, 1, -1, -1, 2])
KINDS = frozenset({"labels", "partitions"})


def value(X, centers, labelings, shares, trust, labels, weight=None):
    """J of the specification, row by row."""
    weight = np.ones(len(X)) if weight is None else weight
    total = (weight * ((X - centers[labels]) ** 2).sum(axis=1)).sum()
    for s, g, price in zip(labelings, shares, trust):
        for i in np.flatnonzero(s >= 0):
            total += price * weight[i] * ((np.eye(g.shape[1])[s[i]] - g[labels[i]]) ** 2).sum()
    return total


def half_steps(labelings, trust, iterations=2):
    """J after every half-step of the real code on TOY8, and the last state."""
    rows = Rows(TOY8)
    sides = [side_of(s.astype(np.int32), s.max() + 1, price) for s, price in zip(labelings, trust)]
    state = State(assign.no_labels(8), START - rows.shift, shares_of_starts(rows, sides, START - rows.shift))
    trace = []
    for _ in range(iterations):
        new, info = step(state, rows=rows, sides=sides, free=np.arange(0), total=scatter(rows))
        trace.append(value(TOY8, state.centers + rows.shift, labelings, state.shares, trust, new.labels))
        trace.append(value(TOY8, new.centers + rows.shift, labelings, new.shares, trust, new.labels))
        assert trace[-1] == pytest.approx(info.objective)
        state = new
    return trace, state


@pytest.mark.parametrize(
    ("trust", "labels", "centers", "shares", "trace", "side"),
    [
        (
            0.0,
            [0, 0, 0, 1, 1, 1, 2, 2],
            [[1 / 3, 1 / 3], [11 / 3, 1 / 3], [7.5, 0.5]],
            [[1, 0], [0.5, 0.5], [0, 1]],
            [7.0, 3.6666666667],
            0.0,
        ),
        (
            2.0,
            [0, 0, 0, 1, 1, 1, 2, 2],
            [[1 / 3, 1 / 3], [11 / 3, 1 / 3], [7.5, 0.5]],
            [[1, 0], [0.5, 0.5], [0, 1]],
            [11.0, 5.6666666667],
            2.0,  # trust times the impurity of 1
        ),
        (
            20.0,
            [0, 0, 0, 0, 1, 2, 2, 2],
            [[1, 0.25], [4, 1], [6.3333333333, 0.3333333333]],
            [[1, 0], [0, 0], [0, 1]],
            [22.0, 16.0833333333],
            0.0,
        ),
    ],
)
def test_worked_examples(trust, labels, centers, shares, trace, side):
    model = PartitionKMeans(3, trust=trust, init=START).fit(TOY8, clues=SIDE)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-9)
    np.testing.assert_allclose(model.label_shares_[0], shares)
    np.testing.assert_allclose(model.trace_, [trace[1]] * len(model.trace_), atol=1e-9)
    assert model.objective_ == pytest.approx(trace[1])
    assert model.side_cost_ == pytest.approx(side)
    found, last = half_steps([SIDE], [trust])
    np.testing.assert_allclose(found, [*trace, trace[1], trace[1]], atol=1e-9)
    assert last.labels.tolist() == labels


def test_worked_example_with_two_labelings():
    clues = Clues(8, partitions=[SIDE, SECOND])
    for known, trust in ((clues, [2, 3]), (Clues(8, labels=SIDE, partitions=SECOND), np.array([2.0, 3.0]))):
        model = PartitionKMeans(3, trust=trust, init=START).fit(TOY8, clues=known)
        assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
        assert model.objective_ == pytest.approx(5.6666666667)
        np.testing.assert_allclose(model.label_shares_[0], [[1, 0], [0.5, 0.5], [0, 1]])
        np.testing.assert_allclose(model.label_shares_[1], np.eye(3))
    trace, _ = half_steps([SIDE, SECOND], [2.0, 3.0])
    np.testing.assert_allclose(trace, [17, 5.6666666667, 5.6666666667, 5.6666666667])


def test_worked_example_with_everything_labelled():
    s = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    model = PartitionKMeans(3, trust=5.0, init=START).fit(TOY8, clues=s)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert model.objective_ == pytest.approx(8.25)


def test_worked_examples_are_those_of_the_specification(spec_folder):
    found = json.loads((spec_folder / "seeds-worked-examples.json").read_text())["partition_level_kmeans"]
    assert found["side"] == SIDE.tolist()
    for run in found["runs"]:
        model = PartitionKMeans(3, trust=run["lam"], init=START).fit(TOY8, clues=SIDE)
        assert model.labels_.tolist() == run["labels"]
        np.testing.assert_allclose(model.label_shares_[0], run["G"])
        trace, _ = half_steps([SIDE], [run["lam"]])
        np.testing.assert_allclose(trace, run["objective_history"], atol=1e-9)


def plain(X, start, labelings, trust, iterations=60):
    """The algorithm as a few lines of NumPy, from starts that are no rows; None when a cluster runs empty."""
    k, centers = len(start), np.array(start)
    shares = [np.zeros((k, s.max(initial=-1) + 1)) for s in labelings]
    labels = np.full(len(X), -1)
    for _ in range(iterations):
        cost = ((X[:, None] - centers) ** 2).sum(axis=2)
        for s, g, price in zip(labelings, shares, trust):
            known = s >= 0
            cost[known] += price * (1 - 2 * g[:, s[known]] + (g**2).sum(axis=1)[:, None]).T
        new = cost.argmin(axis=1)
        if (new == labels).all():
            break
        labels = new
        for h in range(k):
            if not (labels == h).any():
                return None, None
            centers[h] = X[labels == h].mean(axis=0)
            for s, g in zip(labelings, shares):
                own = s[(labels == h) & (s >= 0)]
                if len(own):
                    g[h] = np.bincount(own, minlength=g.shape[1]) / len(own)
    return labels, value(X, centers, labelings, shares, trust, labels)


def near_rows(case):
    start = case.X[case.rng.choice(len(case.X), case.k, replace=False)]
    return start + 1e-3 * case.rng.normal(size=start.shape)


def codes_of(clues):
    columns = [clues.labels] if len(clues.classes_) else []
    return columns + [clues.partition_codes(t) for t in range(len(clues.partitions))]


@given(cases(KINDS, noise=0.3), st.sampled_from([0.5, 10.0, 1000.0]))
def test_like_the_plain_algorithm(case, trust):
    start, labelings = near_rows(case), codes_of(case.clues)
    labels, end = plain(case.X, start, labelings, [trust] * len(labelings))
    if labels is None:
        return
    model = PartitionKMeans(case.k, trust=trust, init=start, tol=0).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.objective_ == pytest.approx(end)


@given(cases(KINDS, noise=0.3), st.booleans())
def test_without_trust_it_is_kmeans(case, with_clues):
    """Invariant (a)."""
    start = near_rows(case)
    model = PartitionKMeans(case.k, trust=0.0 if with_clues else 7.0, init=start, tol=0)
    model.fit(case.X, clues=case.clues if with_clues else None)
    if plain(case.X, start, [], [])[0] is None:
        return
    anchor = KMeans(case.k, init=start, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    np.testing.assert_array_equal(model.labels_, anchor.labels_)
    assert model.objective_ == pytest.approx(anchor.inertia_)


@given(cases(frozenset()), st.integers(1, 5), st.sampled_from([0.5, 8.0, 200.0]), st.booleans())
def test_with_every_row_labelled_it_is_kmeans_with_more_columns(case, size, trust, weighted):
    """Invariant (b), from starts that are rows and so know their labels."""
    s = case.rng.integers(size, size=len(case.X))
    rows = case.rng.choice(len(case.X), case.k, replace=False)
    wide = np.hstack([case.X, np.sqrt(trust) * np.eye(size)[s]])
    if plain(wide, wide[rows], [], [])[0] is None:
        return  # what becomes of an empty cluster is a story of its own
    weight = np.full(len(case.X), 0.7) if weighted else None
    anchor = KMeans(case.k, init=wide[rows], n_init=1, tol=0, algorithm="lloyd").fit(wide, sample_weight=weight)
    model = PartitionKMeans(case.k, trust=trust, init=case.X[rows], tol=0)
    model.fit(case.X, clues=s, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, anchor.labels_)
    assert model.objective_ == pytest.approx(anchor.inertia_)
    frequencies = anchor.cluster_centers_[:, case.X.shape[1] :] / np.sqrt(trust)
    np.testing.assert_allclose(model.label_shares_[0], frequencies[:, np.unique(s)], atol=1e-9)


@given(cases(KINDS, noise=0.3))
def test_names_of_labels_carry_no_meaning(case):
    """Invariant (c)."""
    start, labelings = near_rows(case), codes_of(case.clues)
    renamed = []
    for s in labelings:
        names = np.append(case.rng.permutation(s.max(initial=-1) + 1), -1)
        renamed.append(names[s])
    a = PartitionKMeans(case.k, trust=5.0, init=start).fit(case.X, clues=Clues(len(case.X), partitions=labelings))
    b = PartitionKMeans(case.k, trust=5.0, init=start).fit(case.X, clues=Clues(len(case.X), partitions=renamed))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)


@given(cases({"labels"}, noise=0.3), st.floats(0.1, 200))
def test_a_labeling_in_two_halves_changes_nothing(case, trust):
    """Invariant (e); labels are one more partition."""
    start, s = near_rows(case), case.clues.labels
    whole = PartitionKMeans(case.k, trust=trust, init=start).fit(case.X, clues=s)
    twice = [Clues(len(s), partitions=[s, s])]
    if case.clues.kinds:  # labels that say nothing are no labeling, unlike a partition
        twice.append(Clues(len(s), labels=s, partitions=[s]))
    for both in twice:
        half = PartitionKMeans(case.k, trust=[trust / 2, trust / 2], init=start).fit(case.X, clues=both)
        np.testing.assert_array_equal(whole.labels_, half.labels_)
        assert whole.objective_ == pytest.approx(half.objective_)


@given(cases(KINDS, noise=0.4), st.sampled_from([0.1, 1000.0]))
def test_scaling_asks_for_trust_by_the_square(case, scale):
    start = near_rows(case)
    a = PartitionKMeans(case.k, trust=3.0, init=start).fit(case.X, clues=case.clues)
    b = PartitionKMeans(case.k, trust=3.0 * scale**2, init=scale * start).fit(scale * case.X, clues=case.clues)
    np.testing.assert_array_equal(a.labels_, b.labels_)


@given(cases(KINDS, noise=0.4), st.sampled_from([1e-9, 50.0, 1e12]), st.sampled_from([np.float32, np.float64]))
def test_the_objective_never_rises_and_is_what_it_says(case, trust, dtype):
    """Warnings of the class NotDescending are errors in the tests."""
    weight = case.rng.uniform(0.1, 2, size=len(case.X))
    X = case.X.astype(dtype)
    model = PartitionKMeans(case.k, trust=trust, n_init=2, tol=0, random_state=0)
    model.fit(X, clues=case.clues, sample_weight=weight)
    labelings = codes_of(case.clues)
    expected = value(
        X.astype(float), model.cluster_centers_, labelings, model.label_shares_, [trust] * 2, model.labels_, weight
    )
    assert model.objective_ == pytest.approx(expected, rel=1e-4 if dtype == np.float32 else 1e-9)
    assert model.objective_ == pytest.approx(model.trace_[-1], rel=1e-4 if dtype == np.float32 else 1e-9)
    for shares in model.label_shares_:
        sums = shares.sum(axis=1)
        assert (np.isclose(sums, 1) | (sums == 0)).all()


def best_of_all(X, s, k, trust):
    best = np.inf
    for labels in itertools.product(range(k), repeat=len(X)):
        labels = np.array(labels)
        hot = np.eye(s.max() + 1)
        total = 0.0
        for h in np.unique(labels):
            own, told = X[labels == h], hot[s[(labels == h) & (s >= 0)]]
            total += ((own - own.mean(axis=0)) ** 2).sum()
            total += trust * ((told - told.mean(axis=0)) ** 2).sum() if len(told) else 0
        best = min(best, total)
    return best


@pytest.mark.parametrize("trust", [0.5, 4.0, 100.0])
def test_best_of_many_starts_is_the_optimum(trust):
    best = best_of_all(TOY8, SIDE, 3, trust)
    values = [
        PartitionKMeans(3, trust=trust, init="random", n_init=1, random_state=seed).fit(TOY8, clues=SIDE).objective_
        for seed in range(60)
    ]
    assert min(values) == pytest.approx(best)
    assert all(v >= best - 1e-9 for v in values)


def test_ten_starts_and_given_centers_are_one():
    seen = []

    class Note:
        def setup(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def teardown(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            seen.append(context.task_name)

    PartitionKMeans(3, random_state=0).set_callbacks(Note()).fit(TOY8, clues=SIDE)
    assert seen.count("start") == 10
    seen.clear()
    PartitionKMeans(3, init=START).set_callbacks(Note()).fit(TOY8, clues=SIDE)
    assert seen.count("start") == 1


def test_an_empty_cluster_takes_a_row_without_clues():
    X = np.array([[0.0], [1.5], [2.0], [10.0], [11.0]])
    start = [[0.0], [10.5], [500.0]]
    clues = np.array([-1, -1, 0, 1, 1])
    model = PartitionKMeans(3, trust=1.0, init=start, max_iter=1).fit(X, clues=clues)
    assert model.labels_.tolist() == [0, 2, 0, 1, 1]  # row 2 lies farther out, but is labeled
    with pytest.warns(UserWarning, match="only 2 of 3 clusters have rows"):
        model = PartitionKMeans(3, trust=1.0, init=start, max_iter=1).fit(X, clues=[0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [3.5 / 3, 10.5, 500])


def test_as_many_clusters_as_rows_cost_nothing():
    model = PartitionKMeans(8, random_state=0).fit(TOY8, clues=SIDE)
    assert model.objective_ == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="n_clusters=9 is larger than the number of rows"):
        PartitionKMeans(9).fit(TOY8)


def test_more_labels_than_clusters_and_fewer():
    y = np.arange(8)
    assert PartitionKMeans(2, random_state=0).fit(TOY8, clues=y).side_cost_ > 0
    assert PartitionKMeans(3, random_state=0).fit(TOY8, clues=np.zeros(8, dtype=int)).side_cost_ == 0


def test_a_labeling_without_labels_says_nothing():
    nothing = np.full(8, -1)
    model = PartitionKMeans(3, init=START).fit(TOY8, clues=Clues(8, partitions=[nothing, SIDE]))
    assert [share.shape for share in model.label_shares_] == [(3, 0), (3, 2)]
    one = PartitionKMeans(3, init=START).fit(TOY8, clues=SIDE)
    assert model.labels_.tolist() == one.labels_.tolist()
    assert model.objective_ == pytest.approx(one.objective_)


def test_broken_are_labels_outside_the_majority():
    s = np.array([0, 0, 1, 2, 2, 2, 1, 1])
    model = PartitionKMeans(3, trust=1e-3, init=START).fit(TOY8, clues=Clues(8, partitions=s))
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert np.flatnonzero(model.broken_.partition_codes(0) >= 0).tolist() == [2]
    assert not PartitionKMeans(3, trust=1e6, random_state=0).fit(TOY8, clues=Clues(8, partitions=s)).broken_.kinds


def test_trust_is_checked():
    clues = Clues(8, labels=SIDE, partitions=[SECOND])
    with pytest.raises(ValueError, match=r"trust must be one number or one per labeling; it has shape \(3,\) for 2"):
        PartitionKMeans(3, trust=[1, 2, 3]).fit(TOY8, clues=clues)
    for bad in (-1.0, [1.0, -2.0], np.inf, [np.nan, 1.0]):
        with pytest.raises(ValueError, match="trust"):
            PartitionKMeans(3, trust=bad).fit(TOY8, clues=clues)
    sliced = clues[[1, 4, 6, 7]]  # no row of the second label is left, and the number of labelings is the same
    PartitionKMeans(2, trust=[1, 2], random_state=0).fit(TOY8[[1, 4, 6, 7]], clues=sliced)
    PartitionKMeans(3, trust=[1, 2], random_state=0).fit(TOY8)  # nobody to trust, nothing to refuse


@given(cases(frozenset()), st.integers(1, 4), st.floats(0.1, 50))
def test_categories_are_columns_of_zeros_and_ones(case, size, weight):
    """K-means on [X, √w·one-hot] is what Remark 1 asks for."""
    s = case.rng.integers(size, size=len(case.X))
    rows = case.rng.choice(len(case.X), case.k, replace=False)
    wide = np.hstack([case.X, np.sqrt(weight) * np.eye(size)[s]])
    if plain(wide, wide[rows], [], [])[0] is None:
        return
    anchor = KMeans(case.k, init=wide[rows], n_init=1, tol=0, algorithm="lloyd").fit(wide)
    model = PartitionKMeans(case.k, categorical_features=[0], categorical_weight=weight, init=case.X[rows], tol=0).fit(
        np.column_stack([s, case.X])
    )
    np.testing.assert_array_equal(model.labels_, anchor.labels_)
    assert model.objective_ == pytest.approx(anchor.inertia_)


def test_weights_multiply_both_terms():
    """Whole weights are repeated rows, labels and all; a weight common to all rows changes only the scale."""
    weight = np.array([1, 2, 3, 1, 2, 2, 1, 3])
    again = np.repeat(np.arange(8), weight)
    model = PartitionKMeans(3, trust=2.0, init=START, tol=0)
    a = clone(model).fit(TOY8, clues=SIDE, sample_weight=weight)
    b = clone(model).fit(TOY8[again], clues=SIDE[again])
    np.testing.assert_array_equal(a.labels_[again], b.labels_)
    assert a.objective_ == pytest.approx(b.objective_)
    np.testing.assert_allclose(a.label_shares_[0], b.label_shares_[0])
    five = clone(model).fit(TOY8, clues=SIDE, sample_weight=np.full(8, 5.0))
    assert five.objective_ == pytest.approx(5 * clone(model).fit(TOY8, clues=SIDE).objective_)


def test_golden():
    X, y = load_iris(return_X_y=True)
    shown = np.where(np.random.default_rng(0).random(150) < 0.2, y, -1)
    model = PartitionKMeans(3, random_state=0).fit(X, clues=shown)
    assert model.objective_ == pytest.approx(81.6557898817, abs=1e-6)
    assert nmi(y, model.labels_) == pytest.approx(0.7756574037, abs=1e-6)
