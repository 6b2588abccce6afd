"""SeededKMeans: worked example, k-means from the seed means, and which cluster a class becomes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from cluewise import Clues, SeededKMeans
from cluewise.core import assign, lloyd
from cluewise.core.centers import distortion, scatter
from cluewise.core.rows import Rows
from cluewise.exceptions import Infeasible
from strategies import cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
SEEDS = [0, -1, -1, 1, -1, 1, -1, -1]


def test_worked_example():
    """[seeded_kmeans]: the wrong seed in row 3 is corrected."""
    model = SeededKMeans(2).fit(A8, clues=SEEDS)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(model.cluster_centers_, [[0.675, 0.675], [3.9, 3.925]], atol=2e-6)
    np.testing.assert_allclose(model.trace_, [9.3825, 9.3825], atol=2e-6)
    assert model.objective_ == pytest.approx(9.3825)
    assert np.flatnonzero(model.broken_.labels >= 0).tolist() == [3]


def test_worked_example_half_step_by_half_step():
    rows = Rows(A8)
    state = lloyd.State(assign.no_labels(8), np.array([[0, 0.2], [3.3, 2.65]]) - rows.shift)
    found = []
    for _ in range(2):
        new, info = lloyd.step(state, rows=rows, total=scatter(rows))
        found += [distortion(rows, state.centers, new.labels), info.objective]
        state = new
    np.testing.assert_allclose(found, [20.05, 9.3825, 9.3825, 9.3825], atol=2e-6)


@given(cases({"labels"}))
def test_is_kmeans_from_the_seed_means(case):
    shown = np.where(case.rng.random(len(case.y)) < 0.5, case.y, -1)
    shown[[np.flatnonzero(case.y == c)[0] for c in range(case.k)]] = range(case.k)
    means = np.array([case.X[shown == c].mean(axis=0) for c in range(case.k)])
    plain = KMeans(case.k, init=means, n_init=1, tol=0, algorithm="lloyd").fit(case.X)
    model = SeededKMeans(case.k, tol=0).fit(case.X, clues=shown)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.objective_ == pytest.approx(plain.inertia_)


def test_complete_and_right_labels_need_one_iteration_and_without_tolerance_one_to_see_it():
    fixed = SeededKMeans(2, random_state=0).fit(A8).labels_
    for tol, iterations in ((1e-4, 1), (0, 2)):
        model = SeededKMeans(2, tol=tol).fit(A8, clues=fixed)
        assert model.n_iter_ == iterations
        np.testing.assert_array_equal(model.labels_, fixed)


def test_fewer_classes_than_clusters():
    """Class 2 starts cluster 2; the other two start elsewhere."""
    X = np.array([[0.0], [1], [50], [51], [100], [101]])
    model = SeededKMeans(3, random_state=0).fit(X, clues=[-1, -1, 2, -1, -1, -1])
    assert model.labels_[2] == model.labels_[3] == 2
    assert len(set(model.labels_)) == 3


@pytest.mark.parametrize("init", ["k-means++", "random", "perturbed"])
def test_starts_of_the_clusters_without_a_seed(init):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = SeededKMeans(4, init=init, random_state=0).fit(X, clues=[3] + [-1] * 49)
    assert model.n_clusters_ == 4
    again = SeededKMeans(4, init=init, random_state=0).fit(X, clues=[3] + [-1] * 49)
    np.testing.assert_array_equal(model.labels_, again.labels_)


def test_an_unknown_start_is_named():
    with pytest.raises(ValueError, match="init='neighborhoods' is not one of 'k-means\\+\\+', 'random', 'perturbed'"):
        SeededKMeans(2, init="neighborhoods").fit(A8)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, None, 0, None], [1, 1, 0, 0]),  # whole numbers below k keep their number
        (["b", None, "a", None], [1, 1, 0, 0]),  # others go by their order
        ([30, None, 20, None], [1, 1, 0, 0]),
        ([("x", 2), None, ("x", 1), None], [1, 1, 0, 0]),
        ([None, None, 1, None], [0, 0, 1, 1]),
        (np.array([2.0, np.nan, 0.0, np.nan]), [2, 2, 0, 0]),
    ],
)
def test_which_cluster_a_class_becomes(labels, expected):
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    k = max(expected) + 1
    model = SeededKMeans(k, random_state=0, max_iter=1).fit(X, clues=Clues(4, labels=labels))
    known = [i for i, label in enumerate(labels) if label is not None and label == label]
    assert [model.labels_[i] for i in known] == [expected[i] for i in known]


def test_too_many_classes():
    with pytest.raises(Infeasible, match="the labels have 3 classes, more than n_clusters=2") as caught:
        SeededKMeans(2).fit(A8, clues=["a", "b", "c"] + [None] * 5)
    assert caught.value.witness.kinds == {"labels"}


def test_a_slice_may_have_lost_classes():
    """Three classes, but the rows at hand show only two of them: that fits into two clusters."""
    clues = Clues(9, labels=["a", "b", "c"] + [None] * 6)[np.array([0, 2, 3, 4, 5, 6, 7, 8])]
    X = A8[[0, 4, 1, 2, 3, 5, 6, 7]]  # the two labeled rows are far apart
    model = SeededKMeans(2, max_iter=1).fit(X, clues=clues)
    assert model.labels_[:2].tolist() == [0, 1]


def objective(X, labels, k):
    return sum(((X[labels == h] - X[labels == h].mean(axis=0)) ** 2).sum() for h in range(k) if (labels == h).any())


def test_best_of_many_starts_is_the_optimum():
    best = min(objective(A8, np.array(labels), 3) for labels in itertools.product(range(3), repeat=8))
    values = [SeededKMeans(3, init="random", n_init=1, random_state=s).fit(A8).objective_ for s in range(40)]
    assert min(values) == pytest.approx(best)
    assert SeededKMeans(3, init="random", n_init=40, random_state=0).fit(A8).objective_ == pytest.approx(best)
    assert all(value >= best - 1e-9 for value in values)


@given(st.integers(0, 1000))
def test_wrong_labels_may_be_overruled_and_are_named(seed):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(8) < 0.6, rng.integers(2, size=8), -1)
    model = SeededKMeans(2, random_state=0).fit(A8, clues=labels)
    overruled = (labels >= 0) & (labels != model.labels_)
    np.testing.assert_array_equal(np.flatnonzero(model.broken_.labels >= 0), np.flatnonzero(overruled))


def test_golden():
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, labels=10, random_state=0)
    model = SeededKMeans(3, random_state=0).fit(X, clues=clues)
    assert model.objective_ == pytest.approx(78.855665826, abs=1e-6)
    assert sorted(np.bincount(model.labels_)) == [39, 50, 61]
