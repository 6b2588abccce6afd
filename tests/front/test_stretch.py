"""Stretched grains: a small example by hand, what rotations do, and columns that say nothing."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from cluewise import Clues, Cluewise
from cluewise.front._evidence import gather
from cluewise.front._ground import Ground
from cluewise.front._starts import AGAIN, PROPAGATION, Starts
from cluewise.front._stretch import stretch
from cluewise.metrics import ari


def make_blurred(n=240, noise=12, seed=0):
    """Three groups in two columns, and columns that say nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 2 + noise))
    X[:, :2] += np.array([(0.0, 0.0), (4.0, 0.0), (2.0, 3.5)])[y]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_four_points_by_hand():
    """Of the variance, 16/17 is along x and between clusters, 1/17 along y and within them."""
    points = np.array([(0.0, 0.0), (0.0, 1.0), (4.0, 0.0), (4.0, 1.0)])
    found = stretch(points, np.ones(4), np.array([0, 0, 1, 1]))
    added = 0.1 / 2
    share = added / (16 / 17 + added)
    scatter = added + 1 / 34  # mean of both directions
    column = np.sqrt(((share + 0.1) ** -2 - 1) * scatter) * np.sqrt(16 / 17 / added)
    np.testing.assert_allclose(found[:, :2], (points - [2, 0.5]) / np.sqrt(17 / 4))
    np.testing.assert_allclose(np.abs(found[:, 2]), column)
    assert found[0, 2] == pytest.approx(found[1, 2]) == pytest.approx(-found[2, 2])


def test_position_direction_and_unit_do_not_matter():
    X, y = make_blurred()
    weight = np.random.default_rng(1).uniform(1, 3, size=len(X))
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1],) * 2))[0]
    expected = pdist(stretch(X, weight, y))
    for other in (X @ turned, X + 100, 1e-170 * X):
        np.testing.assert_allclose(pdist(stretch(other, weight, y)), expected, rtol=1e-6)


def test_weight_counts_as_repeated_points():
    X, y = make_blurred(60)
    twice = np.repeat(X, 2, axis=0)
    expected = pdist(stretch(X, np.full(60, 2.0), y))
    np.testing.assert_allclose(pdist(stretch(twice, np.ones(120), np.repeat(y, 2))[::2]), expected)


def test_points_without_weight_are_none():
    points = np.array([(0.0, 0.0), (0.0, 0.0), (5.0, 1.0)])
    np.testing.assert_array_equal(stretch(points, np.array([1.0, 1.0, 0.0]), np.array([0, 1, 2])), points)


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.arange(10.0).reshape(5, 2)])
def test_one_cluster_or_one_point_changes_nothing(points):
    labels = np.zeros(5, dtype=int) if points.any() else np.arange(5)
    np.testing.assert_array_equal(stretch(points, np.ones(5), labels), points)


def test_clusters_that_do_not_differ_stretch_little():
    X, y = make_blurred()
    mixed = np.random.default_rng(0).permutation(y)
    before, after = pdist(X), pdist(stretch(X, np.ones(len(X)), mixed))
    assert np.corrcoef(before, after)[0, 1] > 0.95
    assert np.corrcoef(before, pdist(stretch(X, np.ones(len(X)), y)))[0, 1] < 0.8


def find_starts(X, y, **clues):
    ground = Ground(X, None, np.random.default_rng(0))
    known = Clues(len(y), **clues) if clues else Clues.sample(y, pairs=60, random_state=0)
    evidence = gather(known, 3, ground.place.grain)
    starts = Starts(ground, 3, 0)
    first = starts.find(PROPAGATION, evidence)
    again = starts.find(AGAIN, evidence)
    np.testing.assert_array_equal(starts.find(AGAIN, evidence, first), again)
    return first[ground.place.grain], again[ground.place.grain]


def test_columns_that_say_nothing_matter_less_the_second_time():
    X, y = make_blurred()
    first, again = find_starts(X, y)
    assert ari(y, again) > ari(y, first) + 0.1


def test_clues_within_a_grain_do_not_propagate():
    X, y = make_blurred(60)
    X[1] = X[0]
    first, again = find_starts(X, y, must=[(0, 1)])
    np.testing.assert_array_equal(first, again)


def test_cluewise_takes_the_second_propagation_where_columns_say_nothing():
    X, y = make_blurred(noise=10)
    clues = Clues.sample(y, pairs=40, random_state=0)
    model = Cluewise(3, random_state=0).fit(X, clues=clues)
    assert model.choice_.plan.start == AGAIN
    assert ari(y, model.labels_) > 0.75  # .71 without it
