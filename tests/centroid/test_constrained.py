"""ConstrainedKMeans: worked example, clamped labels, and a brute-force optimum."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import load_iris

from cluewise import Clues, ConstrainedKMeans, SeededKMeans
from cluewise.core import lloyd
from cluewise.core.centers import Tally, distortion, scatter, tally
from cluewise.core.rows import Rows
from strategies import cases

A8 = np.array([(0, 0.2), (1, 0), (0.1, 1.1), (1.6, 1.4), (4, 4.1), (5, 3.9), (4.2, 5), (2.4, 2.7)])
SEEDS = np.array([0, -1, -1, 1, -1, 1, -1, -1])


def test_worked_example():
    """[constrained_kmeans]: row 3 keeps its label."""
    model = ConstrainedKMeans(2).fit(A8, clues=SEEDS)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(model.cluster_centers_, [[0.366667, 0.433333], [3.44, 3.42]], atol=2e-6)
    np.testing.assert_allclose(model.trace_, [16.873333, 16.873333], atol=2e-6)
    assert not model.broken_.kinds
    assert model.margin_[3] < 0  # only the label keeps it there
    assert (np.delete(model.margin_, 3) > 0).all()


def test_worked_example_half_step_by_half_step():
    rows = Rows(A8)
    parked = tally(rows, np.where(SEEDS < 0, 2, SEEDS).astype(np.int32), 3)
    fixed = Tally(parked.sums[:2], parked.mass[:2])
    step = partial(lloyd.step, rows=rows, total=scatter(rows), free=np.flatnonzero(SEEDS < 0), fixed=fixed)
    state = lloyd.State(SEEDS.astype(np.int32), np.array([[0, 0.2], [3.3, 2.65]]) - rows.shift)
    found = []
    for _ in range(2):
        new, info = step(state)
        found += [distortion(rows, state.centers, new.labels), info.objective]
        state = new
    np.testing.assert_allclose(found, [20.5025, 16.873333, 16.873333, 16.873333], atol=2e-6)


@given(cases({"labels"}, noise=0.4))
def test_labels_are_kept_whatever_they_are(case):
    model = ConstrainedKMeans(case.k, random_state=0).fit(case.X, clues=case.clues)
    known = case.clues.labels >= 0
    given_labels = np.array(case.clues.classes_.tolist(), dtype=int)[case.clues.labels[known]]
    np.testing.assert_array_equal(model.labels_[known], given_labels)
    assert not model.broken_.kinds
    for c in np.unique(given_labels):
        assert (model.labels_ == c).any()


@given(cases({"labels"}))
def test_is_seeded_kmeans_where_labels_agree_with_the_result(case):
    free = SeededKMeans(case.k, random_state=0, tol=0).fit(case.X, clues=case.clues)
    if free.broken_.kinds:
        return
    clamped = ConstrainedKMeans(case.k, init=free.cluster_centers_, tol=0).fit(case.X, clues=case.clues)
    np.testing.assert_array_equal(clamped.labels_, free.labels_)


@given(cases({"labels"}, noise=0.4))
def test_free_rows_are_in_their_nearest_cluster(case):
    model = ConstrainedKMeans(case.k, random_state=0, tol=0).fit(case.X, clues=case.clues)
    free = case.clues.labels < 0
    np.testing.assert_array_equal(model.predict(case.X)[free], model.labels_[free])
    assert (model.margin_[free] >= 0).all()


def objective(X, labels):
    return sum(((X[labels == h] - X[labels == h].mean(axis=0)) ** 2).sum() for h in np.unique(labels))


def test_best_of_many_starts_is_the_optimum_among_labelings_that_keep_the_labels():
    shown = np.array([0, -1, -1, -1, 1, -1, 0, -1])
    every = [np.array(labels) for labels in itertools.product(range(3), repeat=8)]
    kept = [labels for labels in every if (labels[shown >= 0] == shown[shown >= 0]).all()]
    best = min(objective(A8, labels) for labels in kept)
    values = [
        ConstrainedKMeans(3, init="random", n_init=1, random_state=s).fit(A8, clues=shown).objective_ for s in range(40)
    ]
    assert min(values) == pytest.approx(best)
    assert min(values) >= min(objective(A8, labels) for labels in every)


@pytest.mark.filterwarnings("ignore:only 2 of 3 clusters")
def test_all_rows_labelled():
    labels = [1, 1, 0, 0, 1, 1, 0, 0]
    model = ConstrainedKMeans(3).fit(A8, clues=labels)
    assert model.labels_.tolist() == labels
    assert model.n_clusters_ == 2
    np.testing.assert_allclose(model.cluster_centers_[1], A8[[0, 1, 4, 5]].mean(axis=0))


def test_an_empty_cluster_takes_no_labelled_row():
    """The worst row is labeled, so the worst of the others has to go."""
    X = np.array([[0.0], [1], [3], [100]])
    start = [[0.0], [500], [1000]]
    model = ConstrainedKMeans(3, init=start, max_iter=1).fit(X, clues=[-1, -1, -1, 0])
    assert model.labels_[3] == 0
    assert model.n_clusters_ == 3


def test_words_as_labels():
    model = ConstrainedKMeans(2).fit(A8, clues=["near", "", "", "far", "", "far", "", ""])
    assert model.labels_.tolist() == [1, 1, 1, 0, 0, 0, 0, 0]  # far, near: in their order


def test_golden():
    X, y = load_iris(return_X_y=True)
    clues = Clues.sample(y, labels=0.2, random_state=0)
    model = ConstrainedKMeans(3, random_state=0).fit(X, clues=clues)
    assert model.objective_ == pytest.approx(82.0597887556, abs=1e-6)
