"""What scikit-learn documents of its KMeans, asked of every variant of K-means that has no clues."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances

from peers.kmeans import VARIANTS, Peer

# Groups that overlap: iterations go on for a while, and a fit that ends early differs from one that does not.
X, _ = make_blobs(600, 5, centers=8, cluster_std=4.0, random_state=3)

pytestmark = pytest.mark.parametrize("name", VARIANTS)


@pytest.mark.parametrize("max_iter", [1, 2, 100])
@pytest.mark.parametrize("tol", [0.05, 1e-4, 0.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_labels_are_predictions(name, form, dtype, tol, max_iter):
    """labels_, fit_predict and predict say the same of the training rows, however a fit ends."""
    rows = form(X.astype(dtype))
    model = Peer(name, 8, init="random", n_init=1, tol=tol, max_iter=max_iter, random_state=7).fit(rows)
    np.testing.assert_array_equal(model.labels_, model.predict(rows))
    np.testing.assert_array_equal(model.labels_, model.fit_predict(rows))
    assert model.cluster_centers_.dtype == dtype


@pytest.mark.parametrize("max_iter", [1, 3, 300])
@pytest.mark.parametrize("tol", [0.05, 1e-4, 0.0])
def test_the_same_as_kmeans_from_the_same_start(name, tol, max_iter):
    """Labels, centers, number of iterations and inertia, with any tolerance and number of iterations."""
    settings = {"init": X[:8], "n_init": 1, "tol": tol, "max_iter": max_iter}
    theirs = KMeans(8, algorithm="lloyd", **settings).fit(X)
    ours = Peer(name, 8, **settings).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(theirs.inertia_)


def test_inertia_belongs_to_the_labels_and_centers(name):
    model = Peer(name, 8, n_init=1, max_iter=2, random_state=0).fit(X)
    distances = pairwise_distances(X, model.cluster_centers_) ** 2
    assert model.inertia_ == pytest.approx(distances.min(axis=1).sum())
    assert model.inertia_ == pytest.approx(model.unit * model.trace_[-1])


def test_strict_convergence_without_tolerance(name):
    model = Peer(name, 8, init=X[:8], n_init=1, tol=0.0, max_iter=300).fit(X)
    assert model.n_iter_ < 300
    again = Peer(name, 8, init=model.cluster_centers_, n_init=1, tol=0.0, max_iter=300).fit(X)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    for h in range(8):
        np.testing.assert_allclose(model.cluster_centers_[h], X[model.labels_ == h].mean(axis=0))


def test_distances_to_centers(name):
    model = Peer(name, 8, n_init=1, random_state=0).fit(X)
    distances = model.transform(X)
    np.testing.assert_allclose(distances, pairwise_distances(X, model.cluster_centers_), atol=1e-6)
    np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(model.cluster_centers_), np.arange(8))


def test_more_starts_are_not_worse(name):
    inertia = [
        np.mean([Peer(name, 8, init="random", n_init=n, max_iter=2, random_state=s).fit(X).inertia_ for s in range(5)])
        for n in (1, 5, 10)
    ]
    assert inertia[0] >= inertia[1] >= inertia[2]


def test_fewer_distinct_rows_than_clusters(name):
    rows = np.repeat([[1.0, 2.0], [1.0, 3.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="2 of 4 clusters|distinct"):
        model = Peer(name, 4, random_state=0).fit(rows)
    assert len(np.unique(model.labels_)) == 2
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)


def test_an_empty_cluster_is_filled(name):
    rows = np.array([[-1.0], [-0.9], [-0.8], [1.0], [1.1], [1.2]])
    model = Peer(name, 3, init=np.array([[-1.0], [1.0], [500.0]]), n_init=1).fit(rows)
    assert len(np.unique(model.labels_)) == 3


def test_weights(name):
    """Equal weights change nothing; a weight counts as so many rows; a weight of zero counts as none."""
    settings = {"init": X[:8], "n_init": 1, "tol": 0.0}
    plain = Peer(name, 8, **settings).fit(X)
    even = Peer(name, 8, **settings).fit(X, sample_weight=np.full(len(X), 0.5))
    np.testing.assert_array_equal(plain.labels_, even.labels_)
    assert even.inertia_ == pytest.approx(0.5 * plain.inertia_)
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = Peer(name, 8, **settings).fit(X, sample_weight=weight)
    repeated = Peer(name, 8, **settings).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(np.sort(weighted.cluster_centers_, axis=0), np.sort(repeated.cluster_centers_, axis=0))
    np.testing.assert_array_equal(weighted.labels_, weighted.predict(X))


def test_input_stays_as_it_is_and_may_be_whole_numbers(name):
    rows = np.asfortranarray(X)
    before = rows.copy()
    Peer(name, 4, random_state=0).fit(rows)
    np.testing.assert_array_equal(rows, before)
    whole = np.round(10 * X).astype(int)
    settings = {"init": whole[:4].astype(float), "n_init": 1}
    given, floats = (Peer(name, 4, **settings).fit(part) for part in (whole, whole.astype(float)))
    np.testing.assert_array_equal(given.labels_, floats.labels_)


def test_equal_seeds_and_other_seeds(name):
    first, again = (Peer(name, 8, init="random", n_init=1, max_iter=1, random_state=1).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    other = Peer(name, 8, init="random", n_init=1, max_iter=1, random_state=2).fit(X)
    assert (first.labels_ != other.labels_).any()


@pytest.mark.parametrize("init", [np.zeros((7, 5)), np.zeros((8, 4)), "k-means--"])
def test_a_start_that_is_none(name, init):
    with pytest.raises(ValueError, match="init"):
        Peer(name, 8, init=init).fit(X)


def test_not_fitted_and_too_many_clusters(name):
    with pytest.raises(NotFittedError):
        Peer(name, 8).predict(X)
    with pytest.raises(ValueError, match="n_clusters=601"):
        Peer(name, 601).fit(X)


def test_a_fit_that_converges_is_silent(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Peer(name, 8, random_state=0).fit(X)
