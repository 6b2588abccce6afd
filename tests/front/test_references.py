"""References: nearest rows among the grains around, and features that walk along them."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from cluewise import Clues, Cluewise
from cluewise.front import _references
from cluewise.front._ground import Ground
from cluewise.front._references import References, choose_references
from cluewise.metrics import ari
from cluewise.sketch import Grains


def choose(X, weight, seed):
    return choose_references(len(X), weight, np.random.default_rng(seed))


def prepare(X, grains=60, seed=0):
    found = Grains(grains, random_state=0).fit(X)
    marks = np.arange(len(found.centers_), dtype=float)[:, None]
    return found, References(X, found.labels_, found.centers_.astype(float), marks, choose(X, None, seed))


def draw(n=1200, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_nearest_references_are_those_of_an_exhaustive_search():
    X = draw()
    found, references = prepare(X)
    near, share = references.find(X, found.labels_)
    for one, other in zip(references.find_all(X, found.labels_), (near, share)):
        np.testing.assert_array_equal(one, other)
    order = np.argsort(found.labels_, kind="stable")
    exact = NearestNeighbors(n_neighbors=near.shape[1]).fit(X).kneighbors(X, return_distance=False)
    # All grains are listed, and 24 of 60 are visited: enough to miss nearly nothing.
    shared = [len(np.intersect1d(order[a], b)) / len(b) for a, b in zip(near, exact)]
    assert np.mean(shared) > 0.99
    np.testing.assert_array_equal(order[near[:, 0]], np.arange(len(X)))  # a reference is its own nearest
    np.testing.assert_allclose(share.sum(axis=1), 1, rtol=1e-5)
    assert (share > 0).all()


def test_features_become_smooth():
    X = draw()
    found, references = prepare(X)
    order = np.argsort(found.labels_, kind="stable")
    walked = np.empty(len(X))
    walked[order] = references.features[:, 0]
    near = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X, return_distance=False)[:, 1]
    before, after = (np.abs(marks - marks[near]).mean() for marks in (found.labels_, walked))
    assert after < before / 3
    np.testing.assert_allclose(references.of_grains()[3, 0], walked[found.labels_ == 3].mean(), rtol=1e-5)


def test_a_constant_feature_stays_as_it_is():
    X = draw()
    found = Grains(60, random_state=0).fit(X)
    ones = np.ones((len(found.centers_), 1))
    references = References(X, found.labels_, found.centers_.astype(float), ones, choose(X, None, 0))
    np.testing.assert_allclose(references.features, 1, rtol=1e-5)


def test_a_sample_has_a_row_of_each_grain(monkeypatch):
    monkeypatch.setattr(_references, "MOST", 100)
    X = draw()
    found, references = prepare(X)
    assert 100 <= len(references.grain) <= 160
    assert set(references.grain) == set(found.labels_)
    near, share = references.find_all(X, found.labels_)
    for one, other in zip(references.find(X, found.labels_), (near, share)):
        np.testing.assert_array_equal(one, other)
    assert near.max() < len(references.grain)
    assert np.isfinite(share).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_do_not_matter(scale):
    X = draw()
    one, other = (prepare(X * unit)[1] for unit in (1.0, scale))
    np.testing.assert_allclose(one.features, other.features, rtol=1e-4)


def test_equal_rows():
    X = np.repeat(draw(40), 50, axis=0)
    X[:10] += 1e-3  # else each distinct row is a grain
    found, references = prepare(X, grains=30)
    assert np.isfinite(references.features).all()
    assert np.isfinite(references.find(X, found.labels_)[1]).all()


def test_rows_within_a_grain_can_differ():
    """Two bands so close that grains have rows of both, and the features still tell them apart."""
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    X = np.column_stack([rng.uniform(0, 40, 4000), 0.3 * rng.uniform(size=4000) + y * 0.7])
    clues = Clues.sample(y, pairs=400, random_state=0)
    model = Cluewise(2, random_state=0).fit(X, clues=clues)
    assert ari(y, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_grains_are_references_where_each_row_is_one():
    ground = Ground(draw(100), None, np.random.default_rng(0))
    np.testing.assert_array_equal(ground.reference_grain, np.arange(ground.m))


def test_shares_by_hand():
    """Three points on a line, each with its own scale: the distance to the farthest of its references."""
    X = np.array([[0.0], [1.0], [3.0]])
    references = References(X, np.zeros(3, dtype=int), X[:1], np.ones((1, 1)), choose(X, None, 0))
    near, share = references.find(X, np.zeros(3, dtype=int))
    np.testing.assert_array_equal(near, [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    expected = np.exp(-np.array([[0, 1 / (3 * 2), 9 / (3 * 3)], [0, 1 / (2 * 3), 4 / (2 * 3)], [0, 4 / 6, 9 / 9]]))
    np.testing.assert_allclose(share, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)


def test_a_row_far_from_all_belongs_to_the_nearest():
    y = np.arange(1700) % 2
    X = draw(1700, 2) + 10 * y[:, None]
    model = Cluewise(2, random_state=0).fit(X)
    found = model.predict_proba([[-1e4, -1e4], [1e4, 1e4]])
    assert np.isfinite(found).all()
    assert found.argmax(axis=1).tolist() == [model.labels_[0], model.labels_[1]]


def test_rows_without_weight_are_no_references():
    X = draw()
    found = Grains(60, random_state=0).fit(X)
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    marks = np.ones((len(found.centers_), 1))
    references = References(X, found.labels_, found.centers_.astype(float), marks, choose(X, weight, 0))
    lonely = np.setdiff1d(found.labels_, found.labels_[weight > 0])
    assert len(references.grain) == (weight > 0).sum() + len(lonely)
