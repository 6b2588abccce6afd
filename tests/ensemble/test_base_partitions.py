"""Base partitions: reproducible, in few columns, independent of threads, blocks and the order of the rows."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MeanShift
from sklearn.datasets import make_circles
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cluewise import Clues
from cluewise.core.threads import threads
from cluewise.ensemble import SCSC, ApproxKernelKMeans, _partitions
from cluewise.ensemble._partitions import partitions
from cluewise.metrics import ari


def blobs(seed, n=90, d=4):
    rng = np.random.default_rng(seed)
    return np.repeat(rng.uniform(-9, 9, size=(3, d)), n // 3, axis=0) + rng.normal(size=(n, d))


@settings(max_examples=10)
@given(st.integers(0, 2**16))
def test_the_order_of_the_rows_changes_nothing(seed):
    X = blobs(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    first = partitions(X, n_partitions=7, n_clusters=3, n_columns=2, random_state=seed)
    second = partitions(X[order], n_partitions=7, n_clusters=3, n_columns=2, random_state=seed)
    np.testing.assert_array_equal(first[:, order], second)


def test_each_is_a_kmeans_in_its_columns():
    """Labels do not move when scikit-learn's k-means goes on from the means of the clusters."""
    X = blobs(1)
    found = partitions(X[:, :1], n_partitions=5, n_clusters=3, max_iter=300, random_state=0)
    for labels in found:
        used = np.unique(labels)
        means = np.array([X[labels == h, :1].mean(axis=0) for h in used])
        again = KMeans(len(used), init=means, n_init=1, tol=0).fit(X[:, :1])
        np.testing.assert_array_equal(used[again.labels_], labels)


def test_threads_blocks_and_kinds_of_input_change_nothing(monkeypatch):
    X = blobs(2)
    plain = partitions(X, n_partitions=20, n_clusters=4, n_columns=2, random_state=3)
    monkeypatch.setattr(_partitions, "BLOCK", 7)
    for n in (1, 3):
        with threads(n):
            again = partitions(X, n_partitions=20, n_clusters=4, n_columns=2, random_state=3)
            np.testing.assert_array_equal(plain, again)
    sparse = partitions(csr_array(X), n_partitions=20, n_clusters=4, n_columns=2, random_state=3)
    np.testing.assert_array_equal(plain, sparse)
    listed = partitions(X.tolist(), n_partitions=20, n_clusters=4, n_columns=2, random_state=3)
    np.testing.assert_array_equal(plain, listed)
    whole = np.round(X).astype(int)
    np.testing.assert_array_equal(
        partitions(whole, n_partitions=5, n_clusters=2, random_state=0),
        partitions(whole.astype(float), n_partitions=5, n_clusters=2, random_state=0),
    )


def test_a_file_holds_the_same(tmp_path):
    X = blobs(3)
    kept = partitions(X, n_partitions=4, n_clusters=3, random_state=0)
    mapped = partitions(X, n_partitions=4, n_clusters=3, random_state=0, out=tmp_path / "labels.npy")
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), kept)


def test_a_sample_of_the_rows_is_enough():
    X = blobs(4, n=600)
    found = partitions(X, n_partitions=6, n_clusters=3, n_columns=4, n_rows=60, random_state=0)
    assert found.shape == (6, 600)
    again = partitions(csr_array(X), n_partitions=6, n_clusters=3, n_columns=4, n_rows=60, random_state=0)
    np.testing.assert_array_equal(found, again)
    truth = np.repeat(np.arange(3), 200)
    assert max(len(np.unique(truth * 3 + labels)) for labels in found) <= 9
    assert min(len(np.unique(truth * 3 + labels)) for labels in found) == 3


def test_a_range_of_clusters():
    found = partitions(blobs(5), n_partitions=40, n_clusters=(2, 6), n_columns=4, random_state=0)
    sizes = {int(labels.max()) + 1 for labels in found}
    assert sizes <= {1, 2, 3, 4, 5, 6}
    assert len(sizes) > 3
    assert found.dtype == np.uint8


def test_a_twentieth_of_the_columns(monkeypatch):
    """d = 25 columns give d̃ = 2; the plan of each partition names them."""
    real, drawn = _partitions.draw_plan, []

    def watched(*arguments):
        drawn.append(real(*arguments))
        return drawn[-1]

    monkeypatch.setattr(_partitions, "draw_plan", watched)
    partitions(np.random.default_rng(0).normal(size=(30, 25)), n_partitions=3, n_clusters=2, random_state=0)
    assert [len(one.columns) for one in drawn] == [2, 2, 2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_clusters": 99}, "n_clusters=99 does not fit 30 rows"),
        ({"n_clusters": (3, 2)}, "does not fit"),
        ({"n_clusters": 2, "n_columns": 3}, "n_columns=3 does not fit 2 columns"),
        ({"n_clusters": 4, "n_rows": 3}, "n_rows=3 is too few rows to find 4 clusters in"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        partitions(np.zeros((30, 2)), **arguments)


def test_equal_rows_are_one_cluster():
    found = partitions(np.ones((9, 2)), n_partitions=3, n_clusters=3, random_state=0)
    assert all(len(np.unique(labels)) == 1 for labels in found)


def rings(seed, n=400):
    """A ring around another one, in the first two of four columns."""
    X, truth = make_circles(n, factor=0.3, noise=0.03, random_state=seed)
    return np.hstack([X, np.random.default_rng(seed).normal(size=(n, 2))]), truth


def test_any_estimator_is_cloned_seeded_and_fitted_in_its_columns(monkeypatch):
    """Each line is what scikit-learn's k-means finds, alone, in the columns and with the number and seed drawn."""
    X, calls = blobs(6), []
    real = _partitions.label_rows

    def watched(estimator, rows, by_column, plans, seeds, labels):
        calls.append((plans, seeds))
        real(estimator, rows, by_column, plans, seeds, labels)

    monkeypatch.setattr(_partitions, "label_rows", watched)
    given = KMeans(99, n_init=2)
    found = partitions(X, n_partitions=20, n_clusters=(2, 5), n_columns=2, estimator=given, random_state=0)
    ((plans, seeds),) = calls
    assert len(set(seeds)) == 20
    assert {len(plan.quantiles) for plan in plans} == {2, 3, 4, 5}
    for own, plan, seed in zip(found, plans, seeds):
        alone = KMeans(len(plan.quantiles), n_init=2, random_state=seed).fit(X[:, plan.columns])
        np.testing.assert_array_equal(own, alone.labels_)
    assert given.n_clusters == 99
    assert not hasattr(given, "labels_")


def test_an_estimator_learns_from_a_sample_and_labels_all_rows(monkeypatch):
    X = blobs(7, n=600)
    arguments = {"n_partitions": 18, "n_clusters": 3, "n_columns": 2, "n_rows": 60, "random_state": 1}
    estimator = KMeans(n_init=1)
    plain = partitions(X, **arguments, estimator=estimator)
    monkeypatch.setattr(_partitions, "PREDICTED", 13)
    monkeypatch.setattr(_partitions, "GROUP", 9)
    for n in (1, 3):
        with threads(n):
            np.testing.assert_array_equal(partitions(X, **arguments, estimator=estimator), plain)
    sparse = partitions(csr_array(X), **arguments, estimator=estimator)
    assert (sparse == plain).mean() > 0.999  # scikit-learn sums sparse rows in another order
    truth = np.repeat(np.arange(3), 200)
    assert min(len(np.unique(truth * 3 + labels)) for labels in plain) == 3


def test_kernel_kmeans_finds_rings_from_a_sample(tmp_path):
    """Which k-means itself cannot, whatever it starts from."""
    X, truth = rings(0)
    arguments = {"n_partitions": 9, "n_clusters": 2, "n_columns": 2, "n_rows": 150, "random_state": 0}
    estimator = ApproxKernelKMeans(gamma=5.0, landmarks=80, n_init=3)
    file = tmp_path / "labels.npy"
    assert partitions(X[:, :2], **arguments, estimator=estimator, out=file).dtype == np.uint8
    assert sum(ari(truth, labels) == 1.0 for labels in np.load(file)) >= 7
    assert max(ari(truth, labels) for labels in partitions(X[:, :2], **arguments)) < 0.1


def test_a_partial_is_a_partitioner_for_scsc():
    X, truth = rings(1)
    make = partial(partitions, estimator=ApproxKernelKMeans(landmarks=50, n_init=1), n_columns=2)
    model = SCSC(2, n_partitions=12, partitioner=make, random_state=0).fit(X)
    weights = model.update(Clues.sample(truth, pairs=60, random_state=0)).gamma_
    assert weights.shape == (12,)
    assert weights.max() > 1 / 12


def test_a_mixture_has_components_instead_of_clusters():
    X = blobs(8)
    found = partitions(X, n_partitions=4, n_clusters=3, n_columns=4, estimator=GaussianMixture(), random_state=0)
    assert found.dtype == np.uint8
    assert [len(np.unique(labels)) for labels in found] == [3] * 4


def test_without_predict_all_rows_are_seen():
    X = blobs(9)
    made = partitions(X, n_partitions=3, n_clusters=3, estimator=AgglomerativeClustering(), n_columns=4)
    alone = AgglomerativeClustering(3).fit(X)
    np.testing.assert_array_equal(made[0], alone.labels_)
    with pytest.raises(ValueError, match="AgglomerativeClustering has no predict, so it cannot learn from n_rows=50"):
        partitions(X, n_partitions=3, n_clusters=3, n_rows=50, estimator=AgglomerativeClustering())


def test_an_estimator_may_find_the_number_itself_but_every_row_needs_a_label():
    X = blobs(10)
    assert partitions(X, n_partitions=2, estimator=MeanShift(), random_state=0).dtype == np.uint16
    X[5] = 1e6
    with pytest.raises(ValueError, match="partition 0 gives row 5 the label -1"):
        partitions(X, n_partitions=2, n_columns=4, estimator=DBSCAN(eps=5), random_state=0)


class Thousand(BaseEstimator):
    """Labels larger than asked for."""

    def __init__(self, n_clusters=3):
        self.n_clusters = n_clusters

    def fit(self, X):
        return self

    def predict(self, X):
        return np.full(len(X), 1000)


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="partition 0 gives row 0 the label 1000; labels run from 0 to 254"):
        partitions(blobs(11), n_partitions=2, n_clusters=3, estimator=Thousand(), random_state=0)


def test_a_clusterer_inside_another_estimator_is_refused():
    pipe = make_pipeline(StandardScaler(), KMeans(5))
    with pytest.raises(ValueError, match="Pipeline has neither n_clusters nor n_components of its own, only kmeans__n"):
        partitions(blobs(12), n_partitions=2, n_clusters=2, estimator=pipe)
    free = make_pipeline(PCA(2), MeanShift(bandwidth=3.0))  # PCA's components are no clusters
    assert partitions(blobs(12), n_partitions=2, n_columns=2, estimator=free, random_state=0).shape == (2, 90)


def test_what_is_no_estimator_is_refused():
    with pytest.raises(TypeError, match="does not seem to be a scikit-learn estimator"):
        partitions(blobs(12), n_partitions=2, n_clusters=3, estimator="k-means")
